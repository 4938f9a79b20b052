"""`omnitm similar`: the neighbours of words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, cast

from omnitm.errors import ParameterError

if TYPE_CHECKING:
    import argparse

    Neighbours = list[tuple[str, float]]

EXAMPLE = """\
  omnitm similar news-model road car
  omnitm similar news-model road -n 20 --metric cosine --json
one list for several words together, away from others:
  omnitm similar news-model king woman --together --minus man"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("model", metavar="MODEL", type=Path, help="folder of a trained model")
    parser.add_argument("words", metavar="WORD", nargs="+", help="words to look up")
    parser.add_argument(
        "-n", metavar="N", dest="count", type=int, default=10, help="neighbours per word (default: 10)"
    )
    parser.add_argument(
        "--metric",
        choices=("similarity", "association", "association-symmetric", "cosine"),
        help="similarity: words that occur together or keep the same company (default from 100 words on); "
        "association: how much a word's machine leans on another word; cosine: of vectors (default where "
        "coordinates are not words)",
    )
    parser.add_argument("--together", action="store_true", help="one list for all words together")
    parser.add_argument("--minus", metavar="WORD", nargs="+", help="with --together: away from these words")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Look the words up and print their neighbours."""
    from omnitm.vectors import WordVectors

    if arguments.minus and not arguments.together:
        raise ParameterError("--minus needs --together.")
    vectors = WordVectors.load(arguments.model)
    queries = (
        [(arguments.words, arguments.minus)] if arguments.together else [([w], None) for w in arguments.words]
    )
    found = {}
    for plus, minus in queries:
        name = " ".join([*plus, *(f"-{word}" for word in minus or ())])
        neighbours = vectors.most_similar(plus, minus, topn=arguments.count, metric=arguments.metric)
        found[name] = cast("Neighbours", neighbours)
    if arguments.json:
        rows = {
            name: [{"word": word, "score": score} for word, score in pairs] for name, pairs in found.items()
        }
        print(json.dumps(rows, ensure_ascii=False, indent=2))
    else:
        print_neighbours(found, vectors.usable_metric(arguments.metric))
    return 0


def print_neighbours(found: dict[str, Neighbours], metric: str) -> None:
    """Print one table per query."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    digits = {"cosine": 3, "similarity": 2, "association": 0}.get(metric, 1)
    console = Console(highlight=False)
    for name, pairs in found.items():
        table = Table(title=Text(name, style="bold"), title_justify="left", box=None, pad_edge=False)
        table.add_column("word")
        table.add_column(metric, justify="right")
        for word, score in pairs:
            table.add_row(Text(word), f"{score:.{digits}f}")
        console.print(table)
