"""What `omnitm explain`, `why` and `trace` have in common: options, JSON, a way to show things."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from omnitm.explain import Document, Explainer


def add_common_options(parser: argparse.ArgumentParser) -> None:
    """Add the model and what all commands that explain it understand."""
    parser.add_argument("model", metavar="MODEL", type=Path, help="folder of a trained model")
    parser.add_argument(
        "--index",
        metavar="INDEX",
        type=Path,
        help="the index that the model was trained from, if it is not where it was, in MODEL or next to it",
    )
    parser.add_argument(
        "--documents", metavar="N", type=int, default=1, help="documents to read for each fact (default: 1)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def open_explainer(arguments: argparse.Namespace) -> Explainer:
    """Open the model and its index."""
    from omnitm.explain import Explainer

    return Explainer.open(arguments.model, arguments.index)


def print_json(content: dict[str, Any]) -> None:
    """Print a result for programs."""
    print(json.dumps(content, ensure_ascii=False, indent=2))


def make_console() -> Console:
    """Make a console that shows words as they are."""
    from rich.console import Console

    return Console(highlight=False)


def make_table(title: str, *columns: str, numbers: Sequence[str] = ()) -> Table:
    """Make a plain table; columns of numbers are aligned to the right."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title, style="bold"), title_justify="left", box=None, pad_edge=False)
    for name in columns:
        is_number = name in numbers
        table.add_column(name, justify="right" if is_number else "left", no_wrap=is_number, overflow="fold")
    return table


def print_document(console: Console, name: str, document: Document, marked: Sequence[str]) -> None:
    """Print the part of a document that matters, with words marked."""
    from rich.text import Text

    width = max(2 * console.width - len(name) - 4, 80)
    console.print(Text.assemble((f"{name} ", "dim"), marked_text(document.excerpt(marked, width), marked)))


def marked_text(text: str, words: Sequence[str]) -> Text:
    """Make words of a text bold."""
    from rich.text import Text

    shown = Text(text)
    for word in words:
        shown.highlight_words([word], "bold", case_sensitive=False)
    return shown


def percent(share: float | None, digits: int = 1) -> str:
    """Write a share as a percentage."""
    return "-" if share is None else f"{share:.{digits}%}"


def times(lift: float | None) -> str:
    """Write how many times more than by chance."""
    return "-" if lift is None else f"{lift:,.1f}x"
