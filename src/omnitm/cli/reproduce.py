"""`omnitm reproduce paper`: everything that the data allows, in one report."""

from __future__ import annotations

import argparse

from omnitm.cli.options import option
from omnitm.errors import ParameterError

EXAMPLE = """\
  omnitm reproduce paper --corpus wikipedia.txt --data data/ -o paper
stopped? the same command goes on; models that are trained already are taken as they are:
  omnitm reproduce paper --corpus wiki.idx --data data/ -o paper --use omni=models/omni glove=models/glove
a quick look:
  omnitm reproduce paper --corpus news.txt --data data/ -o look --quick --models omni glove --limit 1000"""
_MODELS = ("omni", "word2vec", "fasttext", "glove")
_PARTS = ("similarity", "classification", "clustering", "tsne", "clause")


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    option(parser, "WHAT", "what to reproduce: paper (Omni TM-AE)", choices=("paper",))
    option(parser, "--corpus CORPUS", "text, or folder of an index, to train on", required=True)
    option(parser, "--data DIR", "folder with wordsim/ and documents/")
    option(parser, "-o --output DIR", "folder for models, figures and report", required=True)
    option(
        parser, "--models [NAME...]", f"models to train (default: {' '.join(_MODELS)})", default=list(_MODELS)
    )
    option(parser, "--use NAME=DIR...", "take these models, which are trained already", default=[])
    option(
        parser,
        "--reviewers NAME=DIR...",
        "for Table 2, take these models, which are trained on IMDb's training reviews already",
        default=[],
    )
    option(
        parser, "--only PART...", f"make only these parts (default: {' '.join(_PARTS)})", default=list(_PARTS)
    )
    option(parser, "--limit N", "use at most N documents of each set, drawn at random")
    option(parser, "--seeds N", "runs of K-means per figure", default=3)
    option(parser, "--word WORD", "word whose clause is drawn", default="happy")
    option(parser, "--threads N", "number of threads", default=1)
    option(parser, "--quick", "leave out what takes longest: Omni with the paper's settings, and raw vectors")
    option(parser, "--quiet", "no progress on standard error")


def run(arguments: argparse.Namespace) -> None:
    """Run what is missing and write the report."""
    from rich.console import Console

    from omnitm.files.kinds import refuse_other_kinds, refuse_to_replace
    from omnitm.paper.report import write_report
    from omnitm.paper.reproduction import Reproduction

    refuse_other_kinds(arguments.corpus, "text", "index")
    refuse_to_replace(arguments.output, "folder")
    console = Console(stderr=True, quiet=arguments.quiet)
    reproduction = Reproduction(
        arguments.corpus,
        arguments.output,
        data=arguments.data,
        models=arguments.models,
        trained=dict(_pair("--use", text) for text in arguments.use),
        reviewers=dict(_pair("--reviewers", text) for text in arguments.reviewers),
        steps=arguments.only,
        limit=arguments.limit,
        n_seeds=arguments.seeds,
        word=arguments.word,
        quick=arguments.quick,
        n_jobs=arguments.threads,
        progress=not arguments.quiet,
        on_step=lambda text: console.print(text, style="dim", markup=False, highlight=False),
    )
    results = reproduction.run()
    page, text = write_report(results, arguments.output)
    missing = [result for result in results if result.not_run is not None]
    print(f"{len(results) - len(missing)} of {len(results)} parts are in {page} and {text}")
    for result in missing:
        print(f"not run: {result.title}: {result.not_run}")


def _pair(option: str, text: str) -> tuple[str, str]:
    name, equals, folder = text.partition("=")
    if not equals or not name or not folder:
        raise ParameterError(
            f"{option} must be NAME=FOLDER, such as {option} omni=models/omni. Got {text!r}."
        )
    return name, folder
