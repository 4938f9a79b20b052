"""Groups of documents, such as years or newspapers: which document is in which, kept beside the index."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus import storage
from omnitm.corpus.documents import SourceTexts, values_of
from omnitm.corpus.index import DocumentIndex
from omnitm.corpus.reading import STANDARD_INPUT, Reading, SourceStream
from omnitm.corpus.storage import GROUPS
from omnitm.errors import CorpusError, FileError, ParameterError
from omnitm.files.checked import read_container, write_container
from omnitm.files.kinds import shell_name

FILE, FOLDER = "file", "folder"
UNITS = ("year", "decade", "month")
MOST_GROUPS = 10_000
NO_GROUP = 2**32 - 1
_FORMAT = "omnitm groups"
_SHOWN = 8
# 2015, 2015-05, 2015-05-21, 2015/05/21, 2015.05.21, 20150521; a time may follow.
_DATE = re.compile(r"(\d{4})(?:[-/.](\d{1,2})|(\d{2})\d{2})?(?!\d)")


@dataclass(frozen=True, eq=False)
class Grouping:
    """Which group every document is in.

    Attributes
    ----------
    name
        What `by` calls it.
    labels
        Names of the groups.
    numbers
        Per document: the position of its group in `labels`, or `NO_GROUP`.
    is_ordered
        Whether the order of the labels means something, as that of years does.
    """

    name: str
    labels: tuple[str, ...]
    numbers: NDArray[np.uint32]
    is_ordered: bool = False

    @classmethod
    def of(cls, values: Iterable[Any], name: str = "groups", unit: str | None = None) -> Grouping:
        """Group documents by their values: a label, a date or a number each; None, NaN and "" have no group.

        Parameters
        ----------
        unit
            "year", "decade" or "month" of dates; a number such as "4": so many equal parts of numbers.

        Examples
        --------
        >>> grouping = Grouping.of(["2015-03-01", "1998", "2016"], unit="decade")
        >>> grouping.labels, grouping.numbers.tolist()
        (('1990s', '2010s'), [1, 0, 1])
        """
        if unit is not None and unit.isdigit() and 1 < int(unit) <= MOST_GROUPS:
            return _equal_parts(values, name, int(unit))
        if unit is not None and unit not in UNITS:
            raise ParameterError(
                f"Groups can be made by {', '.join(UNITS)}, or by a number of equal parts from 2 to "
                f"{MOST_GROUPS:,}. Got {unit!r} instead."
            )
        found: dict[str, int] = {}
        numbers = []
        for document, value in enumerate(values):
            label = _label(value, unit, f"document {document}")
            numbers.append(NO_GROUP if label is None else found.setdefault(label, len(found)))
            if len(found) > MOST_GROUPS:
                raise CorpusError(
                    f"{name!r} has more than {MOST_GROUPS:,} different values, which are too many groups; "
                    "group dates by --group-by year (unit='year'), numbers by --group-by 4 (unit='4')."
                )
        return _in_order(name, list(found), np.array(numbers, dtype=np.uint32), is_date=unit is not None)

    def number_of(self, label: object) -> int:
        """Position of a group by its label."""
        if str(label) not in self.labels:
            raise ParameterError(f"{self.name!r} has no group {str(label)!r}; there are {self.listed}.")
        return self.labels.index(str(label))

    @property
    def listed(self) -> str:
        """The labels for a message, the first ones if there are many."""
        more = f" and {len(self.labels) - _SHOWN:,} more" if len(self.labels) > _SHOWN else ""
        return ", ".join(map(repr, self.labels[:_SHOWN])) + more


def _in_order(name: str, labels: list[str], numbers: NDArray[np.uint32], *, is_date: bool) -> Grouping:
    """Sort the groups: numbers and dates by value, other labels by spelling."""
    if not labels:
        raise CorpusError(f"No document has a value of {name!r}, so there are no groups.")
    values = [_number(label) for label in labels]
    is_number = None not in values
    order = sorted(range(len(labels)), key=lambda k: (values[k] if is_number else 0, labels[k]))
    places = np.empty(len(labels), dtype=np.uint32)
    # The inverse of the order: from old group numbers to new ones.
    places[order] = np.arange(len(labels), dtype=np.uint32)
    has_group = numbers != NO_GROUP
    numbers[has_group] = places[numbers[has_group]]
    return Grouping(name, tuple(labels[k] for k in order), numbers, is_date or is_number)


def _is_missing(value: Any) -> bool:
    """Whether there is no value: also NaN, and what pandas has for missing dates and numbers."""
    if isinstance(value, (float, np.floating)):
        return bool(np.isnan(value))
    return value is None or str(value).strip() in {"", "NaT", "<NA>"}


def _number(text: Any) -> float | None:
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if np.isfinite(value) else None


def _label(value: Any, unit: str | None, where: str) -> str | None:
    if _is_missing(value):
        return None
    if unit is None:
        if isinstance(value, (list, dict)):
            raise CorpusError(f"{where}: a group must be a text or a number, not a {type(value).__name__}.")
        # Whole numbers are stored as 2015.0 where others of the column are missing.
        is_whole = isinstance(value, (float, np.floating)) and float(value).is_integer()
        return str(int(value)) if is_whole else str(value).strip()
    text = value.isoformat() if isinstance(value, date) else str(value).strip()
    found = _DATE.match(text)
    month = int(found[2] or found[3] or 0) if found else 0
    if found is None or (unit == "month" and not 1 <= month <= 12):
        form = "dates must look like 2015-05-21 or 2015, and are left empty where they are not known"
        raise CorpusError(f"{where}: {text[:40]!r} has no {unit}; {form}.")
    if unit == "month":
        return f"{found[1]}-{month:02}"
    return found[1] if unit == "year" else f"{found[1][:3]}0s"


def _equal_parts(values: Iterable[Any], name: str, n_parts: int) -> Grouping:
    """Cut numbers into parts with equally many documents, as far as equal numbers allow."""
    numbers = []
    for document, value in enumerate(values):
        number = np.nan if _is_missing(value) else _number(value)
        if number is None:
            raise CorpusError(f"document {document}: {name!r} is {str(value)[:40]!r}, which is no number.")
        numbers.append(number)
    found = np.array(numbers)
    has_value = np.isfinite(found)
    if not has_value.any():
        raise CorpusError(f"No document has a value of {name!r}, so there are no groups.")
    # Edges are values that occur ("higher"), so that equal numbers are never in two groups.
    edges = np.quantile(found[has_value], np.arange(1, n_parts) / n_parts, method="higher")
    # An edge at the smallest value would leave the first group empty: the next value begins the second.
    values = np.unique(found[has_value])
    edges = np.unique(np.maximum(edges, values[1])) if len(values) > 1 else values[:0]
    parts = np.searchsorted(edges, found[has_value], side="right")
    labels = []
    for part in range(len(edges) + 1):
        inside = found[has_value][parts == part]
        first, last = (f"{value:.12g}" for value in (inside.min(), inside.max()))
        labels.append(first if first == last else f"{first} to {last}")
    groups = np.full(len(found), NO_GROUP, dtype=np.uint32)
    groups[has_value] = parts
    return Grouping(name, tuple(labels), groups, is_ordered=True)


def group_sources(paths: Sequence[Path], reading: Reading, field: str, unit: str | None = None) -> Grouping:
    """Group the documents of tables by one of their fields, which are read again."""
    return Grouping.of(_values(paths, [reading] * len(paths), field), field, unit)


def _values(paths: Sequence[Path], readings: Sequence[Reading], field: str) -> Iterator[Any]:
    for path, reading in zip(paths, readings, strict=True):
        if str(path) == STANDARD_INPUT:
            problem = "can be read once only, so its fields make no groups; write it to a file first"
            raise FileError("standard input", problem)
        if reading.format_of(path) == "text":
            problem = f"is plain text and has no field {field!r}; group by --group file or --group folder"
            raise FileError(path, problem)
        with SourceStream(path) as stream:
            yield from values_of(stream, reading, field)


def group_index(path: str | Path, field: str, unit: str | None = None) -> Grouping:
    """Group the documents of an index by a field of its sources, or by "file" or "folder" they are from."""
    texts = SourceTexts(Path(path))
    if texts.n_sources == 0:
        problem = "does not know its text; give a file with a group per document: omnitm group"
        raise FileError(path, f"{problem} {shell_name(Path(path))} NAME --from FILE")
    if field in {FILE, FOLDER}:
        values = _short_names(texts.paths, field)
        return Grouping.of((values[k] for k in texts.sources_of_documents()), field, unit)
    texts.check_sources()
    readings = [texts.reading(source) for source in range(texts.n_sources)]
    return Grouping.of(_values(texts.paths, readings, field), field, unit)


def _short_names(sources: Sequence[Path], field: str) -> list[str]:
    """Name files, or their folders; by the path below the folder they share if some have the same name."""
    paths = [source if field == FILE else source.parent for source in sources]
    if len({path.name for path in paths}) == len(set(paths)):
        return [path.name for path in paths]
    shared = os.path.commonpath([path.parent for path in paths])
    return [path.relative_to(shared).as_posix() for path in paths]


def read_groupings(path: Path) -> dict[str, Grouping]:
    """Read the groupings that are kept beside an index, by name."""
    file = path / GROUPS
    if not file.exists():
        return {}
    facts, arrays = read_container(file)
    if facts.get("format") != _FORMAT:
        raise FileError(file, "does not hold groups; remove it, and make them again: omnitm group --help")
    found = {}
    for k, (name, is_ordered) in enumerate(facts["groupings"]):
        labels = json.loads(arrays[f"labels_{k}"].tobytes())
        found[name] = Grouping(name, tuple(labels), arrays[f"numbers_{k}"], is_ordered)
    return found


def keep_grouping(path: str | Path, grouping: Grouping) -> None:
    """Write a grouping beside an index; another one of the same name is replaced."""
    path = Path(path)
    n_documents = storage.open_folder(path).facts["n_documents"]
    if len(grouping.numbers) != n_documents:
        problem = f"has {n_documents:,} documents, but there are groups for {len(grouping.numbers):,}"
        raise FileError(path, f"{problem}; give one line or value per document")
    groupings = {**read_groupings(path), grouping.name: grouping}
    arrays: dict[str, NDArray[Any]] = {}
    for k, kept in enumerate(groupings.values()):
        labels = json.dumps(kept.labels).encode()
        arrays[f"numbers_{k}"] = np.array(kept.numbers, dtype="<u4")
        arrays[f"labels_{k}"] = np.frombuffer(labels, dtype=np.uint8)
    listed = [(kept.name, kept.is_ordered) for kept in groupings.values()]
    write_container(path / GROUPS, {"format": _FORMAT, "groupings": listed}, arrays)


def grouping_for(index: DocumentIndex, by: str | Sequence[Any] | Grouping) -> Grouping:
    """Find a grouping by name, or make one of a label per document."""
    if isinstance(by, str):
        kept = {} if index.path is None else read_groupings(index.path)
        if by not in kept:
            where = "INDEX" if index.path is None else shell_name(index.path)
            there = f"there are {', '.join(map(repr, kept))}" if kept else "it has no groups yet"
            raise CorpusError(
                f"The index has no groups {by!r}: {there}; make them of a field of its files, or of the "
                f"files themselves: omnitm group {where} {by} (in Python give a label per document)."
            )
        return kept[by]
    grouping = by if isinstance(by, Grouping) else Grouping.of(by)
    if len(grouping.numbers) != index.n_documents:
        raise ParameterError(
            f"'by' must have one label for each of the {index.n_documents:,} documents. "
            f"Got {len(grouping.numbers):,} instead."
        )
    return grouping
