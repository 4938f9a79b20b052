"""`omnitm evaluate clustering`: do clusters of documents agree with their labels? The paper's Table 3."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omnitm.cli.evaluate_similarity import open_models
from omnitm.cli.reports import add_data, add_fields, add_models, add_output_options, emit, working
from omnitm.evaluation.labelled import CLUSTERING_SETS

if TYPE_CHECKING:
    import argparse

    from omnitm.evaluation.labelled import LabelledDocuments

EXAMPLE = """\
  omnitm evaluate clustering news-model --data data/ --baseline paper
several models, weightings and some of the sets:
  omnitm evaluate clustering news-model other-model --weighting mean idf --sets 20news agnews --seeds 5
documents of your own, a CSV, TSV or JSON Lines file with a text and a label per row:
  omnitm evaluate clustering news-model --sets tickets.csv --text-field body --label-field team"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    from omnitm.evaluation.clustering import WEIGHTINGS

    add_models(parser)
    add_document_options(parser, list(CLUSTERING_SETS))
    parser.add_argument(
        "--weighting",
        dest="weightings",
        nargs="+",
        choices=WEIGHTINGS,
        default=["length"],
        help="how much a word counts: alike (mean), by the length of its vector (length, the default), or "
        "more if it is rare in the set (idf); raw: the mean of vectors as they are, as in the paper",
    )
    parser.add_argument(
        "--seeds", metavar="N", type=int, default=3, help="runs of K-means per figure (default: 3)"
    )
    parser.add_argument(
        "--components", metavar="N", type=int, default=300, help="longest vectors (default: 300 numbers)"
    )
    parser.add_argument(
        "--axes",
        metavar="N",
        type=int,
        default=30,
        help="main axes of a set's documents to cluster (default: 30; 0: the vectors themselves)",
    )
    parser.add_argument("--baseline", choices=("paper",), help="add the rows of the paper's Table 3")
    add_output_options(parser)


def add_document_options(parser: argparse.ArgumentParser, sets: list[str]) -> None:
    """Add the options that say which labelled documents are read."""
    parser.add_argument(
        "--sets", metavar="SET", nargs="+", default=sets, help=f"{', '.join(sets)}, or files (default: all)"
    )
    add_data(parser, "documents/")
    add_fields(parser)
    parser.add_argument("--limit", metavar="N", type=int, help="draw at most N documents of each set")


def read_sets(arguments: argparse.Namespace) -> list[LabelledDocuments]:
    """Read the documents that the options name."""
    from omnitm.evaluation.labelled import load_documents

    fields = {"text_field": arguments.text_field, "label_field": arguments.label_field}
    return [load_documents(source, arguments.data, **fields) for source in arguments.sets]


def run(arguments: argparse.Namespace) -> int:
    """Cluster all sets with all models and print the tables."""
    from omnitm.errors import ParameterError
    from omnitm.evaluation.clustering import (
        clustering_csv,
        clustering_tables,
        evaluate_clustering,
    )
    from omnitm.paper.published import published_clusterings

    if arguments.seeds < 1:
        raise ParameterError(f"--seeds must be at least 1. Got {arguments.seeds} instead.")
    with working(arguments, "reading documents") as status:
        report = evaluate_clustering(
            open_models(arguments.models),
            read_sets(arguments),
            weightings=arguments.weightings,
            seeds=range(arguments.seeds),
            n_components=arguments.components,
            n_axes=arguments.axes or None,
            limit=arguments.limit,
            on_row=status.update,
        )
    if arguments.baseline:
        report = replace(report, rows=(*published_clusterings(), *report.rows))
    emit(
        arguments,
        clustering_tables(report),
        report.notes,
        to_json=report.to_json,
        to_csv=lambda: clustering_csv(report),
    )
    return 0
