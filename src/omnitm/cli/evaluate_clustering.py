"""`omnitm evaluate clustering`: do clusters of documents agree with their labels? The paper's Table 3."""

from __future__ import annotations

import argparse
from dataclasses import replace

from omnitm.cli.evaluate_similarity import open_models
from omnitm.cli.options import add_data, add_fields, add_models, add_output_options, option
from omnitm.cli.reports import emit, working
from omnitm.evaluation.labelled import CLUSTERING_SETS

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
    sets = f"{', '.join(CLUSTERING_SETS)}, or files (default: all)"
    option(parser, "--sets SET...", sets, default=list(CLUSTERING_SETS))
    add_data(parser, "documents/")
    add_fields(parser)
    option(parser, "--limit N", "draw at most N documents of each set")
    option(
        parser,
        "--weighting",
        "how much a word counts: alike (mean), by the length of its vector (length, the default), or "
        "more if it is rare in the set (idf); raw: the mean of vectors as they are, as in the paper",
        dest="weightings",
        nargs="+",
        choices=WEIGHTINGS,
        default=["length"],
    )
    option(parser, "--seeds N", "runs of K-means per figure", default=3)
    option(parser, "--components N", "longest vectors (default: 300 numbers)", default=300)
    option(
        parser,
        "--axes N",
        "main axes of a set's documents to cluster (default: 30; 0: the vectors themselves)",
        default=30,
    )
    option(parser, "--baseline", "add the rows of the paper's Table 3", choices=("paper",))
    add_output_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Cluster all sets with all models and print the tables."""
    from omnitm.errors import ParameterError
    from omnitm.evaluation.clustering import evaluate_clustering
    from omnitm.evaluation.labelled import load_documents
    from omnitm.paper.published import published_clusterings

    if arguments.seeds < 1:
        raise ParameterError(f"--seeds must be at least 1. Got {arguments.seeds} instead.")
    fields = {"text_field": arguments.text_field, "label_field": arguments.label_field}
    with working(arguments, "reading documents") as status:
        report = evaluate_clustering(
            open_models(arguments.models),
            [load_documents(source, arguments.data, **fields) for source in arguments.sets],
            weightings=arguments.weightings,
            seeds=range(arguments.seeds),
            n_components=arguments.components,
            n_axes=arguments.axes or None,
            limit=arguments.limit,
            on_row=status.update,
        )
    if arguments.baseline:
        report = replace(report, rows=(*published_clusterings(), *report.rows))
    emit(arguments, report)
    return 0
