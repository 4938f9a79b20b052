"""`omnitm explore`: a local web page to look at a model with."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from omnitm.cli.options import option
from omnitm.cli.reports import Bar
from omnitm.errors import FileError, ParameterError
from omnitm.files.kinds import shell_name

if TYPE_CHECKING:
    from omnitm.explain import Explainer

EXAMPLE = """\
  omnitm explore news-model
  omnitm explore news-model --map          compute the map of the vocabulary first
  omnitm explore news-model --groups my-groups.txt
  omnitm explore news-model --comparison change.json     words compared by: omnitm compare ... -o change.json
  omnitm explore news-model --port 9000 --no-browser
  omnitm explore news-model --export site      files for any web server; to look at them:
  python -m http.server --directory site"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    option(parser, "MODEL", "folder of a trained model, or a packed model")
    option(parser, "--index INDEX", "index that the model was trained from, if it was moved")
    option(parser, "--port N", "port of the page; 0: any that is free (default: 8765)", default=8765)
    option(parser, "--map", "make the map of the vocabulary before the page opens")
    option(parser, "--groups FILE", "colour the map by groups of words, lines such as `name: word word ...`")
    option(parser, "--comparison FILE", "show the words that `omnitm compare -o change.json` has compared")
    option(parser, "--export FOLDER", "write the page as files for any web server instead")
    option(
        parser,
        "--words N",
        "with --export: how many of the most frequent words (default: all, but at most 2,000)",
    )
    option(parser, "--no-browser", "print the address only, and open no browser")


def run(arguments: argparse.Namespace) -> None:
    """Open the model, then serve the page until Ctrl-C."""
    from omnitm.evaluation.word_maps import read_groups
    from omnitm.explain import Explainer
    from omnitm.explorer import ExplorerSettings, serve

    if arguments.words is not None and arguments.export is None:
        raise ParameterError("--words is for --export: it says how many words are written.")
    settings = ExplorerSettings(port=arguments.port)
    found = read_groups(arguments.groups) if arguments.groups else {}
    groups = "\n".join(f"{name}: {' '.join(words)}" for name, words in found.items())
    explainer = Explainer.open(arguments.model, arguments.index)
    if explainer.vectors.default_metric == "similarity":
        _ = explainer.vectors.profiles  # prepared once, and said; the page would wait for it without a word
    if arguments.map:
        from omnitm.explorer.map_file import read_map

        if read_map(arguments.model) is None and (problem := compute_map(arguments.model)):
            raise FileError(arguments.model, problem)
        print(f"The map of {len(explainer.vectors):,} words is there.")
    if arguments.export is not None:
        _export(explainer, groups, arguments)
        return
    if not explainer.has_index and arguments.comparison is not None:
        raise ParameterError("--comparison needs the index that was compared; give it with --index INDEX.")
    if not explainer.has_index:
        print("The index is not there: rules, evidence and traces need it; give it with --index INDEX.")

    def ready(address: str) -> None:
        print(f"Exploring {arguments.model} at {address}  (Ctrl-C ends it)", flush=True)
        if not arguments.no_browser:
            import webbrowser

            webbrowser.open(address)

    serve(explainer, settings, ready=ready, groups=groups, comparison=arguments.comparison)


def _export(explainer: Explainer, groups: str, arguments: argparse.Namespace) -> None:
    """Say how large the files will be, and write them."""
    from rich.console import Console

    from omnitm.explorer.answers import Answers
    from omnitm.explorer.export import Export
    from omnitm.explorer.map_file import read_map
    from omnitm.explorer.map_keeper import MapKeeper

    answers, model, folder = Answers(explainer, groups), arguments.model, arguments.export
    is_rich = explainer.vectors.default_metric == "similarity"
    if is_rich and model.is_dir() and read_map(model) is None and (problem := compute_map(model)):
        raise FileError(model, problem)
    if is_rich:
        with Console(stderr=True).status("reading or finding themes"):
            answers.theme_work.start()
            answers.theme_work.wait()
    export = Export(answers, MapKeeper(explainer).points(), arguments.words)
    n_words = f"{len(export.rows):,} of {len(explainer.vectors):,} words"
    n_bytes, seconds = export.cost()
    duration = f"{seconds / 60:.0f} minutes" if seconds > 90 else f"{max(seconds, 1):.0f} seconds"
    print(f"Exporting {n_words}: about {n_bytes / 1e6:.1f} MB in {folder}, {duration} of work", flush=True)
    with Bar(quiet=False) as bar:
        n_bytes = export.write(folder, lambda done: bar("writing words", done, len(export.rows)))
    look = f"python -m http.server --directory {shell_name(folder)}"
    print(f"{folder}: {n_bytes / 1e6:.1f} MB; to look at it: {look}")


def compute_map(model: Path, *, quiet: bool = False) -> str:
    """Compute and keep the map of a model, with a bar that tells the time left; return what went wrong."""
    from omnitm.explorer.map_keeper import MapWork

    work = MapWork(model)
    try:
        with Bar(quiet=quiet) as bar:
            while not work.wait(0.2):
                bar(f"map: {work.stage}", work.done, 1.0)
    finally:
        work.stop()
    return work.problem
