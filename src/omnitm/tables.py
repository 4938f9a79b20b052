"""Tables that people read: on a terminal, in notebooks, and as data frames."""

from __future__ import annotations

from abc import ABC, abstractmethod
from html import escape
from typing import Any

from omnitm.errors import needs_extra

_SHOWN = 20  # rows that `print` shows
_WIDEST = 60  # characters of a cell
_LARGE = 1_000  # from here on numbers are written without a fraction


class Table(ABC):
    """What can be read as rows: `print`, notebooks and pandas show it as a table."""

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """Rows of the table: names of columns and plain values."""

    def shown_rows(self) -> list[dict[str, Any]]:
        """Rows that are printed and shown in notebooks: fewer columns, if some say little to a reader."""
        return self.rows()

    def caption(self) -> str:
        """Return what is said above the table."""
        return ""

    def __str__(self) -> str:
        """Write a table with aligned columns."""
        shown = self.shown_rows()
        rows = [{name: cell(value) for name, value in row.items()} for row in shown]
        names = list(dict.fromkeys(name for row in rows for name in row))
        lines = [names, *([row.get(name, "") for name in names] for row in rows[:_SHOWN])]
        widths = [max(len(line[k]) for line in lines) for k in range(len(names))]
        numbers = [all(_is_number(row.get(name)) for row in shown) for name in names]
        aligned = [str.rjust if of_numbers else str.ljust for of_numbers in numbers]
        written = [
            "  ".join(
                align(text, width) for align, text, width in zip(aligned, line, widths, strict=True)
            ).rstrip()
            for line in lines
        ]
        rest = [f"... and {len(rows) - _SHOWN} more"] if len(rows) > _SHOWN else []
        return "\n".join([*filter(None, [self.caption()]), *(written if rows else []), *rest])

    def _repr_html_(self) -> str:
        """Write the table for a notebook."""
        rows = self.shown_rows()
        names = list(dict.fromkeys(name for row in rows for name in row))
        head = "".join(f"<th>{escape(name)}</th>" for name in names)
        lines = ([_html_cell(row.get(name)) for name in names] for row in rows)
        body = "".join(f"<tr>{''.join(line)}</tr>" for line in lines)
        caption = f"<caption>{escape(self.caption())}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame."""
        with needs_extra("to_frame", "frames"):
            import pandas as pd  # type: ignore[import-untyped]
        return pd.DataFrame(self.rows())


def cell(value: Any) -> str:
    """Write a value in a few characters."""
    if value is None:
        return "-"
    if isinstance(value, Percent):
        return f"{value:.1%}"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < _LARGE else f"{value:,.0f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    text = " ".join(str(value).split())
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 4]} ..."


class Percent(float):
    """A share that tables write in percent.

    >>> cell(Percent(0.0123)), cell(0.0123)
    ('1.2%', '0.0123')
    """


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _html_cell(value: Any) -> str:
    side = "right" if _is_number(value) else "left"
    return f"<td style='text-align: {side}'>{escape(cell(value))}</td>"
