"""How commands show results: tables, JSON, Markdown or CSV, to a file if wanted; and options for that."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omnitm.errors import FileError

if TYPE_CHECKING:
    from rich.console import Console, JustifyMethod
    from rich.status import Status
    from rich.table import Table
    from rich.text import Text

    from omnitm.evaluation.results import Report
    from omnitm.explain import Document


def print_json(content: Any) -> None:
    """Print a result for programs."""
    print(json.dumps(content, ensure_ascii=False, indent=2))


def make_console(width: int | None = None) -> Console:
    """Make a console that shows all texts as they are: a word such as [x] or :smile: is no markup."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, width=width)


def make_table(title: str, *columns: str, numbers: Sequence[str] = ()) -> Table:
    """Make a plain table; columns of numbers are aligned to the right."""
    from rich.table import Table
    from rich.text import Text

    shown = Text(title, style="bold") if title else None
    table = Table(title=shown, title_justify="left", box=None, pad_edge=False)
    for name in columns:
        is_number = name in numbers
        justify: JustifyMethod = "right" if is_number else "left"
        table.add_column(name, justify=justify, no_wrap=is_number, overflow="fold")
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


class Bar:
    """A bar on standard error, shown when it is first told how far the work is: refusals show none."""

    def __init__(self, *, quiet: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        texts = TextColumn("{task.description}"), TextColumn("{task.fields[details]}")
        columns = texts[0], BarColumn(), texts[1], TimeRemainingColumn()
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True, disable=quiet)
        self._task = self._bar.add_task("", total=None, details="")

    def __call__(self, stage: str, done: float, total: float | None, details: str = "") -> None:
        """Say what is done, how much of it is finished, and of how much; None: nobody knows."""
        self._bar.start()
        self._bar.update(self._task, description=stage, completed=done, total=total, details=details)

    def __enter__(self) -> Bar:  # noqa: PYI034 - typing.Self came with Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar.live.is_started:
            self._bar.stop()


def percent(share: float | None, digits: int = 1) -> str:
    """Write a share as a percentage; one that would be rounded to nothing with its first digit."""
    if share is None:
        return "-"
    written = f"{share:.{digits}%}"
    return f"{100 * share:.1g}%" if share and not float(written[:-1]) else written


def times(lift: float | None) -> str:
    """Write how many times more than by chance."""
    return "-" if lift is None else f"{lift:,.1f}x"


_WIDTH_OF_A_FILE = 200  # a pipe or a file folds no lines
_BY_ENDING = {".md": "markdown", ".json": "json", ".csv": "csv"}


def working(arguments: argparse.Namespace, text: str) -> Status:
    """Say on standard error what is done, unless --quiet; `update` says what is done next."""
    from rich.console import Console

    return Console(stderr=True, quiet=arguments.quiet).status(text)


def emit(arguments: argparse.Namespace, report: Report) -> None:
    """Write a report in the form that was asked for."""
    from omnitm.evaluation.results import to_markdown
    from omnitm.files.kinds import refuse_to_replace

    output: Path | None = arguments.output
    form = arguments.format or (_BY_ENDING.get(output.suffix, "table") if output else "table")
    if form == "table":
        text = _as_text(report)
    elif form == "markdown":
        text = to_markdown(report.tables(), report.notes)
    else:
        text = report.to_json() + "\n" if form == "json" else report.to_csv()
    if output is None:
        sys.stdout.write(text)
        return
    refuse_to_replace(output, "text")
    write_text(output, text)


def write_text(path: Path, text: str) -> None:
    """Write a file that a user named."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(path, f"cannot be written: {error.strerror}") from None


def _as_text(report: Report) -> str:
    console = make_console(None if sys.stdout.isatty() else _WIDTH_OF_A_FILE)
    with console.capture() as capture:
        for table in report.tables():
            table.show(console)
            console.print()
        for note in report.notes:
            console.print(f"note: {note}")
    return "".join(line.rstrip() + "\n" for line in capture.get().splitlines())
