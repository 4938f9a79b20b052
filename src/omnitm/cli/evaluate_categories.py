"""`omnitm evaluate categories`: are the nearest words of the same kind? Lists, clusters, odd ones out."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from omnitm.cli.evaluate_similarity import open_models
from omnitm.cli.options import add_data, add_models, add_output_options, option
from omnitm.cli.reports import emit, working
from omnitm.errors import ParameterError
from omnitm.evaluation.datasets import CATEGORY_SETS

EXAMPLE = """\
  omnitm evaluate categories news-model --data data/
several models, each read its own way:
  omnitm evaluate categories news-model other-model --metric similarity other-model=cosine
categories of your own, a category and a word per line with a tab between:
  omnitm evaluate categories news-model --sets animals.tsv"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_models(parser)
    option(
        parser,
        "--sets SET...",
        f"published sets ({', '.join(CATEGORY_SETS)}) or files (default: all of these)",
        default=list(CATEGORY_SETS),
    )
    option(
        parser,
        "--metric METRIC...",
        "how words are compared, for all models or NAME=METRIC (default: each model's own)",
        default=[],
    )
    option(
        parser, "--words N", "ask for at most N words of a set, the same for all models; 0: all", default=1000
    )
    add_data(parser)
    option(parser, "--resamples N", "for the intervals", default=1000)
    add_output_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Measure all models on all sets and print a table per set."""
    from omnitm.evaluation.categories import evaluate_categories

    models = open_models(arguments.models)
    metrics = metrics_by_model(arguments.metric, list(models))
    with working(arguments, "reading") as status:
        report = evaluate_categories(
            models,
            arguments.sets,
            metrics=metrics,
            most_words=arguments.words or None,
            n_resamples=arguments.resamples,
            data=arguments.data,
            on_row=status.update,
        )
    emit(arguments, report)
    return 0


def metrics_by_model(given: Sequence[str], models: Sequence[str]) -> dict[str, str]:
    """Read METRIC for all models and NAME=METRIC for one, which goes before."""
    found: dict[str, str] = {}
    for text in given:
        name, named, metric = text.rpartition("=")
        if named and name not in models:
            raise ParameterError(f"--metric {text}: there is no model {name!r}, only {', '.join(models)}.")
        found |= {name: metric} if named else {model: text for model in models if model not in found}
    return found
