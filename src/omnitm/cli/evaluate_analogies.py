"""`omnitm evaluate analogies`: a is to b as c is to which word? Asked of several models."""

from __future__ import annotations

import argparse

from omnitm.cli.evaluate_similarity import open_models
from omnitm.cli.options import add_data, add_models, add_output_options, option
from omnitm.cli.reports import emit, working

EXAMPLE = """\
  omnitm evaluate analogies news-model --data wordsim/
  omnitm evaluate analogies news-model other-model --metric cosine --restrict 20000
questions of your own, four words per line, ': name' before a section:
  omnitm evaluate analogies news-model --questions mine.txt"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    from omnitm.similarity.scorers import SCORERS

    add_models(parser)
    option(parser, "--questions SET", "a file (default: Google's set)", default="Google analogies")
    option(parser, "--metric", "how words are compared (default: the model's own)", choices=tuple(SCORERS))
    option(parser, "--restrict N", "only the first N words of each model")
    add_data(parser, "sets", download=True)
    add_output_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Answer the questions with every model."""
    from omnitm.evaluation.analogies import AnalogyComparison, evaluate_analogies, load_questions

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
    emit(arguments, AnalogyComparison(tuple(reports)))
    return 0
