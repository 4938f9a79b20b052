"""Results as plain data: every explanation is a dataclass that turns into JSON, and into a table to read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from html import escape
from typing import Any, ClassVar, TypeVar, cast

import numpy as np

from omnitm.errors import MissingExtraError

_SHOWN = 20  # rows that `print` shows
_LISTED = 6  # words of a cell
_WIDEST = 60  # characters of a cell


class Table(ABC):
    """What can be read as rows: `print`, notebooks and pandas show it as a table."""

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """Rows of the table: names of columns and plain values."""

    def caption(self) -> str:
        """Return what is said above the table."""
        return ""

    def __str__(self) -> str:
        """Write a table with aligned columns."""
        rows = [{name: _cell(value) for name, value in row.items()} for row in self.rows()]
        names = list(dict.fromkeys(name for row in rows for name in row))
        lines = [names, *([row.get(name, "") for name in names] for row in rows[:_SHOWN])]
        widths = [max(len(line[k]) for line in lines) for k in range(len(names))]
        written = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        rest = [f"... and {len(rows) - _SHOWN} more"] if len(rows) > _SHOWN else []
        return "\n".join([*filter(None, [self.caption()]), *(written if rows else []), *rest])

    def _repr_html_(self) -> str:
        """Write the table for a notebook."""
        rows = self.rows()
        names = list(dict.fromkeys(name for row in rows for name in row))
        head = "".join(f"<th>{escape(name)}</th>" for name in names)
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(_cell(row.get(name)))}</td>' for name in names)}</tr>"
            for row in rows
        )
        caption = f"<caption>{escape(self.caption())}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame."""
        try:
            import pandas as pd  # type: ignore[import-untyped]
        except ImportError:
            raise MissingExtraError("to_frame", "frames") from None
        return pd.DataFrame(self.rows())


class Record(Table):
    """A dataclass with a `to_dict` that `json.dumps` takes as it is.

    As a table it has one row; or, where `TABLE` names fields, a row for each record in these.
    """

    TABLE: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return names and values, nested records and arrays included, as plain Python objects."""
        return {name: _plain(getattr(self, name)) for name in _names(self)}

    def rows(self) -> list[dict[str, Any]]:
        """Rows of the table: names of columns and plain values."""
        if not self.TABLE:
            return [_row(self)]
        several = len(self.TABLE) > 1
        return [
            {**({"list": name} if several else {}), **_row(record)}
            for name in self.TABLE
            for record in getattr(self, name)
        ]

    def caption(self) -> str:
        """Return the single values, which stand above the table of a record that has one."""
        if not self.TABLE:
            return ""
        values = {name: getattr(self, name) for name in _names(self)}
        return ", ".join(f"{name} {_cell(value)}" for name, value in values.items() if _is_single(value))


Item = TypeVar("Item", bound=Record)


class RecordList(list[Item], Table):
    """A list of records, which is a table."""

    __str__ = Table.__str__

    def rows(self) -> list[dict[str, Any]]:
        """Rows of the table: names of columns and plain values."""
        return [row for record in self for row in record.rows()]


def _names(record: Record) -> list[str]:
    return [field.name for field in fields(cast("Any", record))]


def _is_single(value: Any) -> bool:
    return isinstance(value, (str, bool, int, float))


def _row(record: Record) -> dict[str, Any]:
    """Values of a record in one row; those of records in it under their own names, or both if these clash."""
    row: dict[str, Any] = {}
    if type(record).__str__ is not Table.__str__:
        row["text"] = str(record)
    for name in _names(record):
        value = getattr(record, name)
        if isinstance(value, Record):
            inner = _row(value)
            row.update({f"{name} {key}" if key in row else key: inner[key] for key in inner})
        elif value is None or _is_single(value):
            row[name] = value
        elif isinstance(value, tuple) and value and all(map(_is_word, value)):
            row[name] = ", ".join(_word(item) for item in value[:_LISTED])
    return row


def _is_word(item: Any) -> bool:
    return isinstance(item, str) or (isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str))


def _word(item: Any) -> str:
    return item if isinstance(item, str) else str(item[0])


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}"
    text = " ".join(str(value).split())
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 4]} ..."


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return value
