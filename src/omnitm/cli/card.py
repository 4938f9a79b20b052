"""`omnitm card`: what is said about a model, in the README.md beside its files."""

from __future__ import annotations

import argparse
from pathlib import Path

from omnitm.cli.options import option
from omnitm.errors import FileError, ParameterError

EXAMPLE = """\
  omnitm card news-model --license cc-by-4.0 --language en --corpus "News of 2024, a sentence per line."
with the scores of an evaluation:
  omnitm evaluate similarity news-model --format json -o scores.json
  omnitm card news-model --scores scores.json"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    option(parser, "MODEL", "folder of a trained model")
    option(parser, "--corpus TEXT", "what the model was trained on, in a sentence")
    option(parser, "--license ID", "licence of the model, such as mit or cc-by-sa-4.0")
    option(parser, "--language CODE", "language of the words, such as en")
    option(
        parser,
        "--scores FILE",
        "scores to add, written by `omnitm evaluate similarity --format json -o FILE`",
    )
    option(parser, "--force", "replace a card that was edited by hand")


def run(arguments: argparse.Namespace) -> None:
    """Write the card anew; what is not said stays as it was."""
    from omnitm.files.kinds import refuse_other_kinds
    from omnitm.sharing.card import kept_facts, make_card, updated_facts
    from omnitm.vectors import WordVectors

    refuse_other_kinds(arguments.model, "model")
    vectors = WordVectors.load(arguments.model)
    scores = None if arguments.scores is None else read_scores(arguments.scores, arguments.model)
    facts = updated_facts(
        kept_facts(arguments.model),
        corpus=arguments.corpus,
        license=arguments.license,
        language=arguments.language,
        scores=scores,
    )
    print(f"the card is {make_card(vectors, arguments.model, facts, force=arguments.force)}")


def read_scores(path: Path, model: Path) -> dict[str, float]:
    """Take a model's scores from a report: its row by name, or the only one that was measured."""
    from omnitm.evaluation.results import MEASURED, SimilarityReport

    try:
        report = SimilarityReport.from_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}") from None
    except (ParameterError, ValueError, TypeError, KeyError) as error:
        problem = f"is not a report of `omnitm evaluate similarity --format json` ({error})"
        raise FileError(path, problem) from None
    measured = [row for row in report.rows if row.source == MEASURED]
    row = measured[0] if len(measured) == 1 else report.row(model.resolve().name)
    name = f"Spearman, {row.metric}"
    scores = {f"{part.name} ({name})": part.agreement.spearman for part in row.sets}
    scores[f"mean of the five sets ({name})"] = row.average.spearman if row.average else None
    return {name: score for name, score in scores.items() if score is not None}
