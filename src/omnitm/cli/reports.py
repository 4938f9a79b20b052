"""How commands hand over results: a table on the screen, Markdown, JSON or CSV, to a file if wanted."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from omnitm.errors import FileError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from omnitm.evaluation.tables import PlainTable

_WIDTH_OF_A_FILE = 200  # a pipe or a file folds no lines
_BY_ENDING = {".md": "markdown", ".json": "json", ".csv": "csv"}


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Add --format, -o and --quiet."""
    parser.add_argument(
        "--format",
        choices=("table", "markdown", "json", "csv"),
        help="default: by the ending of FILE, else a table",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="write to a file instead of the screen"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")


def emit(
    arguments: argparse.Namespace,
    tables: Sequence[PlainTable],
    notes: Sequence[str],
    *,
    to_json: Callable[[], str],
    to_csv: Callable[[], str],
) -> None:
    """Write results in the form that was asked for."""
    from omnitm.evaluation.tables import to_markdown
    from omnitm.files.kinds import refuse_to_replace

    output: Path | None = arguments.output
    form = arguments.format or (_BY_ENDING.get(output.suffix, "table") if output else "table")
    if form == "table":
        text = _as_text(tables, notes)
    elif form == "markdown":
        text = to_markdown(tables, notes)
    else:
        text = to_json() + "\n" if form == "json" else to_csv()
    if output is None:
        sys.stdout.write(text)
        return
    refuse_to_replace(output, "text")
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(output, f"cannot be written: {error.strerror}") from None


def _as_text(tables: Sequence[PlainTable], notes: Sequence[str]) -> str:
    from rich.console import Console

    console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH_OF_A_FILE)
    with console.capture() as capture:
        for table in tables:
            table.show(console)
            console.print()
        for note in notes:
            console.print(f"note: {note}", markup=False)
    return "".join(line.rstrip() + "\n" for line in capture.get().splitlines())
