"""`omnitm evaluate analogies`: a is to b as c is to which word? Asked of several models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnitm.cli.evaluate_similarity import open_models
from omnitm.cli.reports import add_data, add_models, add_output_options, emit, working

if TYPE_CHECKING:
    import argparse


EXAMPLE = """\
  omnitm evaluate analogies news-model --data wordsim/
  omnitm evaluate analogies news-model other-model --metric cosine --restrict 20000
questions of your own, four words per line, ': name' before a section:
  omnitm evaluate analogies news-model --questions mine.txt"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    from omnitm.similarity.scorers import SCORERS

    add_models(parser)
    parser.add_argument(
        "--questions", metavar="SET", default="Google analogies", help="a file (default: Google's set)"
    )
    parser.add_argument(
        "--metric", choices=tuple(SCORERS), help="how words are compared (default: the model's own)"
    )
    parser.add_argument("--restrict", metavar="N", type=int, help="only the first N words of each model")
    add_data(parser, "the set")
    parser.add_argument(
        "--download", action="store_true", help="fetch the set if it is not in DIR from the network"
    )
    add_output_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Answer the questions with every model."""
    from omnitm.evaluation.analogies import (
        analogies_csv,
        analogies_json,
        analogy_table,
        evaluate_analogies,
        load_questions,
    )

    questions = load_questions(arguments.questions, arguments.data, download=arguments.download)
    with working(arguments, "reading") as status:
        reports = [
            evaluate_analogies(
                vectors,
                questions,
                name=name,
                metric=arguments.metric,
                restrict_vocab=arguments.restrict,
                on_section=status.update,
            )
            for name, vectors in open_models(arguments.models).items()
        ]
    emit(
        arguments,
        [analogy_table(reports)],
        (),
        to_json=lambda: analogies_json(reports),
        to_csv=lambda: analogies_csv(reports),
    )
    return 0
