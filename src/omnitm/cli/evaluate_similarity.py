"""`omnitm evaluate similarity`: models against human judgements of word pairs, in one table."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omnitm.cli.options import add_data, add_models, add_output_options, option
from omnitm.cli.reports import emit, working
from omnitm.errors import ParameterError
from omnitm.evaluation.datasets import PAIR_SETS, PAPER_SETS

if TYPE_CHECKING:
    from omnitm.vectors import WordVectors

EXAMPLE = """\
  omnitm evaluate similarity news-model --data wordsim/ --baseline paper
several models and metrics on the same pairs, as Markdown:
  omnitm evaluate similarity news-model other-model --metric default cosine --format markdown -o table.md
five seeds of a model as one row: mean, and interval over words and seeds
  omnitm evaluate similarity omni=seed-0 omni=seed-1 omni=seed-2 omni=seed-3 omni=seed-4 ppmi-model
pairs of your own, two words and a score per line:
  omnitm evaluate similarity news-model --sets pairs.tsv SimLex-999"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    from omnitm.similarity.scorers import SCORERS

    add_models(parser, "; several folders of one NAME are seeds of one model")
    option(
        parser,
        "--sets SET...",
        f"published sets ({'; '.join(PAIR_SETS)}) or files of pairs (default: the paper's five)",
        default=list(PAPER_SETS),
    )
    option(
        parser,
        "--metric",
        "how pairs are scored; 'default': as `similarity` does, 'all': every metric that a model has",
        dest="metrics",
        nargs="+",
        choices=("default", "all", *SCORERS),
        default=["default"],
    )
    option(parser, "--baseline", "add the rows of the paper's Table 1", choices=("paper",))
    add_data(parser, download=True)
    option(parser, "--index INDEX", "index of the corpus: adds results by word frequency")
    option(parser, "--reduce N...", "add rows: reduced to N dimensions")
    option(parser, "--sparsify K...", "add rows: K coordinates per word")
    bootstrap = parser.add_argument_group("confidence intervals")
    option(bootstrap, "--resamples N", "bootstrap resamples", default=1000)
    option(bootstrap, "--seed N", "seed of the resamples", default=0)
    add_output_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Score all models and print one table."""
    from omnitm.evaluation.similarity import evaluate_similarity
    from omnitm.paper.published import published_rows
    from omnitm.similarity.scorers import SCORERS

    models = with_compact_forms(open_trainings(arguments.models), arguments.reduce, arguments.sparsify)
    metrics = [*SCORERS] if "all" in arguments.metrics else arguments.metrics
    with working(arguments, "reading") as status:
        report = evaluate_similarity(
            models,
            arguments.sets,
            metrics=metrics,
            data=arguments.data,
            frequencies=word_frequencies(arguments),
            n_resamples=arguments.resamples,
            seed=arguments.seed,
            download=arguments.download,
            on_row=lambda text: status.update(f"scoring {text}"),
        )
    if arguments.baseline:
        report = replace(report, rows=(*published_rows(), *report.rows))
    emit(arguments, report)
    return 0


def open_models(sources: list[str]) -> dict[str, WordVectors]:
    """Open models by folder, each under the name given before `=` or that of its folder."""
    models = open_trainings(sources)
    for name, trainings in models.items():
        if len(trainings) > 1:
            raise ParameterError(f"Two models are called {name!r}; give them names: NAME=FOLDER")
    return {name: trainings[0] for name, trainings in models.items()}


def open_trainings(sources: list[str]) -> dict[str, list[WordVectors]]:
    """Open models by folder; folders that are given the same name are trainings of one model."""
    from omnitm.vectors import WordVectors

    models: dict[str, list[WordVectors]] = {}
    for source in sources:
        name, given, folder = source.partition("=")
        if not given or Path(source).exists():
            name, folder = Path(source).resolve().name, source
            if name in models:
                raise ParameterError(f"Two models are called {name!r}; give them names: NAME={source}")
        models.setdefault(name, []).append(WordVectors.load(folder))
    return models


def with_compact_forms(
    models: Mapping[str, list[WordVectors]], sizes: list[int] | None, counts: list[int] | None
) -> dict[str, list[Any]]:
    """Add reduced and sparse forms of every training of a model with named features."""
    every: dict[str, list[Any]] = dict(models)
    for name, trainings in models.items():
        if trainings[0].has_named_features:
            for size in sizes or ():
                every[f"{name}, {size} dimensions"] = [one.reduce(size) for one in trainings]
            for count in counts or ():
                every[f"{name}, {count} coordinates"] = [one.sparsify(count) for one in trainings]
    return every


def word_frequencies(arguments: argparse.Namespace) -> dict[str, int] | None:
    """Read document frequencies from the index given, or from one inside a model's folder."""
    from omnitm.corpus import DocumentIndex
    from omnitm.files.kinds import kind_of

    inside = (Path(source.rpartition("=")[2]) / "index" for source in arguments.models)
    path = arguments.index or next((folder for folder in inside if kind_of(folder) == "index"), None)
    if path is None:
        return None
    index = DocumentIndex.open(path)
    return dict(zip(index.vocabulary, index.document_frequencies.tolist(), strict=True))
