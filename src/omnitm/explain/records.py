"""Results as plain data: every explanation is a dataclass that turns into JSON, and into a table to read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar, TypeVar, cast

import numpy as np

from omnitm.tables import Percent, Table, cell

DOCUMENTS = "documents"
_LISTED = 6  # words of a cell


class Record(Table):
    """A dataclass with a `to_dict` that `json.dumps` takes as it is.

    As a table it has one row; or, where `TABLE` names fields, a row for each record in these. Where `SHOWN`
    names columns, and what is written above them, only these are printed; those in `SHARES` in percent.
    """

    TABLE: ClassVar[tuple[str, ...]] = ()
    SHOWN: ClassVar[Mapping[str, str]] = {}
    SHARES: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return names and values, nested records and arrays included, as plain Python objects.

        A `unit` is named only if it is not "documents", which everything is counted in that names none.
        """
        return {name: _plain(getattr(self, name)) for name in _names(self)}

    def rows(self) -> list[dict[str, Any]]:
        """Rows of the table: names of columns and plain values."""
        if not self.TABLE:
            return [_row(self)]
        several = len(self.TABLE) > 1
        return [
            {**({"list": name.replace("_", " ")} if several else {}), **_row(record)}
            for name in self.TABLE
            for record in getattr(self, name)
        ]

    def shown_rows(self) -> list[dict[str, Any]]:
        """Rows that are printed and shown in notebooks."""
        if not self.SHOWN:
            return self.rows()
        found = [
            {
                self._heading(heading, row): self._shown(name, row[name])
                for name, heading in self.SHOWN.items()
                if name in row
            }
            for row in self.rows()
        ]
        return found if all(found) else self.rows()

    @staticmethod
    def _heading(heading: str, row: Mapping[str, Any]) -> str:
        """Write the unit above what is counted in it."""
        return str(row.get("unit", heading)) if heading == DOCUMENTS else heading

    def _shown(self, name: str, value: Any) -> Any:
        return Percent(value) if name in self.SHARES and value is not None else value

    def caption(self) -> str:
        """Return the single values, which stand above the table of a record that has one."""
        if not self.TABLE:
            return ""
        values = {name: getattr(self, name) for name in _names(self)}
        named = ((name.replace("_", " "), value) for name, value in values.items() if _is_single(value))
        return ", ".join(f"{name} {cell(value)}" for name, value in named)


Item = TypeVar("Item", bound=Record)


class RecordList(list[Item], Table):
    """A list of records, which is a table."""

    __str__ = Table.__str__

    def rows(self) -> list[dict[str, Any]]:
        """Rows of the table: names of columns and plain values."""
        return [row for record in self for row in record.rows()]

    def shown_rows(self) -> list[dict[str, Any]]:
        """Rows that are printed and shown in notebooks."""
        return [row for record in self for row in record.shown_rows()]


def _names(record: Record) -> list[str]:
    """Names of the fields; without the unit where it is the usual one."""
    names = [field.name for field in fields(cast("Any", record))]
    return [name for name in names if name != "unit" or getattr(record, name) != DOCUMENTS]


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
