"""`omnitm explore`: a local web page to look at a model with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from omnitm.errors import FileError

if TYPE_CHECKING:
    import argparse

    from omnitm.explain import Explainer

EXAMPLE = """\
  omnitm explore news-model
  omnitm explore news-model --map          compute the map of the vocabulary first
  omnitm explore news-model --groups my-groups.txt
  omnitm explore news-model --port 9000 --no-browser"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("model", metavar="MODEL", type=Path, help="folder of a trained model")
    parser.add_argument(
        "--index", metavar="INDEX", type=Path, help="the index that it was trained from, if it was moved"
    )
    parser.add_argument(
        "--port", metavar="N", type=int, default=8765, help="default: 8765; 0: any that is free"
    )
    parser.add_argument(
        "--map", action="store_true", help="compute and store the map of the vocabulary first"
    )
    parser.add_argument(
        "--groups",
        metavar="FILE",
        type=Path,
        help="colour the map by groups: lines `name: word word ...`, as for `plot tsne`",
    )
    parser.add_argument("--no-browser", action="store_true", help="only print the address")


def run(arguments: argparse.Namespace) -> int:
    """Open the model, then serve the page until Ctrl-C."""
    from omnitm.evaluation.word_maps import read_groups
    from omnitm.explain import Explainer
    from omnitm.explorer import ExplorerSettings, serve

    settings = ExplorerSettings(port=arguments.port)
    found = read_groups(arguments.groups) if arguments.groups else {}
    groups = "\n".join(f"{name}: {' '.join(words)}" for name, words in found.items())
    explainer = Explainer.open(arguments.model, arguments.index)
    if arguments.map:
        compute_map(explainer, arguments.model)
    if not explainer.has_index:
        print("The index is not there: rules, evidence and traces need it; give it with --index INDEX.")

    def ready(address: str) -> None:
        print(f"Exploring {arguments.model} at {address}  (Ctrl-C ends it)", flush=True)
        if not arguments.no_browser:
            import webbrowser

            webbrowser.open(address)

    serve(explainer, settings, ready=ready, groups=groups)
    return 0


def compute_map(explainer: Explainer, model: Path) -> None:
    """Compute the full map, with a progress bar, unless it is there."""
    from rich.progress import Progress

    from omnitm.explorer.vocabulary_map.keeper import MapWork
    from omnitm.explorer.vocabulary_map.stored import read_map

    if read_map(model) is not None:
        print("The map is already there.")
        return
    work = MapWork(model)
    try:
        with Progress(transient=True) as bar:
            task = bar.add_task(work.stage, total=1.0)
            while not work.wait(0.2):
                bar.update(task, description=work.stage, completed=work.done)
    finally:
        work.stop()
    if work.problem:
        raise FileError(model, work.problem)
    print(f"The map of {len(explainer.vectors):,} words is in {work.stored}")
