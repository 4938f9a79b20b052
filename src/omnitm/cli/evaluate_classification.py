"""`omnitm evaluate classification`: how much replaced words cost classifiers. The paper's Table 2."""

from __future__ import annotations

import argparse
from dataclasses import replace

from omnitm.cli.evaluate_similarity import open_models, with_compact_forms
from omnitm.cli.options import add_data, add_fields, add_models, add_output_options, option
from omnitm.cli.reports import emit, working

EXAMPLE = """\
  omnitm evaluate classification news-model --data data/ --baseline paper
a quick look, with some of the classifiers:
  omnitm evaluate classification news-model --data data/ --limit 2000 --classifiers LR NB TM
documents of your own, with the fields text, label (two of them) and split (train, test):
  omnitm evaluate classification news-model --set reviews.csv --keep figures/"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    from omnitm.evaluation.classification import CLASSIFIERS, READINGS
    from omnitm.similarity.scorers import SCORERS

    add_models(parser)
    option(parser, "--set SET", "IMDb, or a file", default="IMDb")
    add_data(parser, "documents/")
    add_fields(parser)
    option(parser, "--classifiers", "default: all", nargs="+", choices=CLASSIFIERS, default=list(CLASSIFIERS))
    option(
        parser,
        "--reading",
        "what a word of a negative document becomes: one of the least similar of its 400 most similar "
        "words (text, the default), or of all words (notebook)",
        choices=READINGS,
        default="text",
    )
    option(parser, "--share X", "share of words to replace", default=0.05)
    option(parser, "--draws N", "repeat with other words and take means", default=1)
    option(parser, "--metric", "how words are compared (default: the model's)", choices=SCORERS)
    option(parser, "--reduce N...", "add rows: reduced to N dimensions")
    option(parser, "--limit N", "draw N documents to train and N to test")
    option(parser, "--keep DIR", "keep figures here, to go on after a stop")
    option(parser, "--threads N", "threads of RF and TM", default=1)
    option(parser, "--baseline", "add the rows of the paper's Table 2", choices=("paper",))
    add_output_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Measure all sources and print the table."""
    from omnitm.evaluation.classification import Perturbation, evaluate_classification
    from omnitm.evaluation.labelled import load_documents
    from omnitm.paper.published import published_classification

    perturbation = Perturbation(share=arguments.share, reading=arguments.reading)
    opened = {name: [vectors] for name, vectors in open_models(arguments.models).items()}
    models = {name: found[0] for name, found in with_compact_forms(opened, arguments.reduce, None).items()}
    with working(arguments, "reading documents") as status:
        documents = load_documents(
            arguments.set, arguments.data, text_field=arguments.text_field, label_field=arguments.label_field
        )
        report = evaluate_classification(
            models,
            documents,
            classifiers=arguments.classifiers,
            perturbation=perturbation,
            n_draws=arguments.draws,
            metric=arguments.metric,
            limit=arguments.limit,
            folder=arguments.keep,
            n_jobs=arguments.threads,
            on_step=status.update,
        )
    if arguments.baseline:
        report = replace(report, rows=(*published_classification(arguments.classifiers), *report.rows))
    emit(arguments, report)
    return 0
