"""Labelled documents: read from CSV, TSV or JSON Lines, packed or not, or found by name."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.corpus.streams import PACKED_SUFFIXES, SourceStream
from omnitm.errors import FileError, ParameterError
from omnitm.evaluation.datasets import DATA_VARIABLE, data_folder
from omnitm.evaluation.document_sets import FIRST_TOPIC, document_set, known_document_set
from omnitm.parameters import check_integer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnitm.evaluation.document_sets import DocumentSet

_SUBFOLDERS = ("", "documents")
_WANTED = "expected CSV or TSV with a header, or JSON Lines, with a text and a label in each row"
_PIECE = 1 << 20


@dataclass(frozen=True, eq=False)
class LabelledDocuments:
    """Texts with a label each.

    Attributes
    ----------
    name
        What tables call the set.
    texts, labels
        One of each per document.
    splits
        "train" or "test" for each document, if the file says so; else None.
    notes
        What a reader of the results should know about the set.
    """

    name: str
    texts: tuple[str, ...]
    labels: tuple[str, ...]
    splits: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def n_labels(self) -> int:
        """Number of different labels."""
        return len(set(self.labels))

    def part(self, split: str) -> LabelledDocuments:
        """Return the documents of a split."""
        kept = [k for k, name in enumerate(self.splits or ()) if name == split]
        if not kept:
            there = ", ".join(map(repr, sorted(set(self.splits or ())))) or "no splits"
            raise ParameterError(
                f"{self.name} has no documents of the split {split!r} (it has {there}); a field 'split' with "
                "'train' and 'test' must say which documents are for testing."
            )
        return self._only(kept)

    def sample(self, limit: int | None, seed: int = 0) -> LabelledDocuments:
        """Draw at most `limit` documents, in their order; None: all."""
        if limit is None or len(self) <= check_integer("sample", "limit", limit, 1):
            return self
        kept = np.sort(np.random.default_rng(seed).permutation(len(self))[:limit])
        drawn = self._only(kept.tolist())
        note = f"{self.name}: {limit:,} of its {len(self):,} documents were drawn at random (seed {seed})"
        return replace(drawn, notes=(*drawn.notes, note))

    def _only(self, kept: list[int]) -> LabelledDocuments:
        return replace(
            self,
            texts=tuple(self.texts[k] for k in kept),
            labels=tuple(self.labels[k] for k in kept),
            splits=None if self.splits is None else tuple(self.splits[k] for k in kept),
        )


def load_documents(
    source: str | Path,
    data: str | Path | None = None,
    *,
    text_field: str = "text",
    label_field: str | None = None,
) -> LabelledDocuments:
    """Read a published set by its name, or any file of labelled documents.

    Parameters
    ----------
    source
        Name of a set, such as "20news", or the path of a CSV, TSV or JSON Lines file, packed or not.
    data
        Folder with the published sets, or whose sub-folder `documents` has them; None: $OMNITM_DATA.
    text_field, label_field
        Fields of a file; the label's is "label" if none is named.
    """
    known = known_document_set(str(source))
    if known is None and Path(source).is_file():
        return read_documents(Path(source), text_field=text_field, label_field=label_field or "label")
    known = document_set(str(source))
    found = read_documents(locate_documents(known, data), label_field=known.label, name=known.name)
    return replace(found, notes=(_described(known, found), *found.notes))


def read_documents(
    path: str | Path, *, text_field: str = "text", label_field: str = "label", name: str | None = None
) -> LabelledDocuments:
    """Read labelled documents; rows without a label are left out and counted in the notes."""
    path = Path(path)
    rows = list(_rows(path))
    if not rows:
        raise FileError(path, f"has no documents; {_WANTED}")
    fields = {"labels" if label_field == FIRST_TOPIC else label_field, text_field}
    missing = sorted(fields - set(rows[0]))
    if missing:
        raise FileError(path, f"has no field {missing[0]!r}, only {', '.join(map(repr, rows[0]))}; {_WANTED}")
    labels = _first_topics(rows) if label_field == FIRST_TOPIC else [_label(row, label_field) for row in rows]
    kept = [k for k, label in enumerate(labels) if label]
    name = name or path.name.split(".")[0]
    if len({labels[k] for k in kept}) < 2:
        found = f"only the label {labels[kept[0]]!r}" if kept else "no labels"
        raise FileError(path, f"has {found} in {label_field!r}; at least two different ones are needed")
    dropped = len(rows) - len(kept)
    return LabelledDocuments(
        name,
        tuple(str(rows[k].get(text_field) or "") for k in kept),
        tuple(labels[k] for k in kept),
        tuple(str(rows[k].get("split") or "") for k in kept) if "split" in rows[0] else None,
        (f"{name}: {dropped:,} documents without a label that counts are left out",) if dropped else (),
    )


def locate_documents(known: DocumentSet, data: str | Path | None = None) -> Path:
    """Find the file of a published set; an error says where to put it."""
    folder = data_folder(data)
    names = [known.file + ending for ending in ("", *PACKED_SUFFIXES)]
    if folder is not None:
        for place in (folder / sub / name for sub in _SUBFOLDERS for name in names):
            if place.is_file():
                return place
    where = (
        f"in {folder} or {folder}/documents" if folder else f"here: no --data, and {DATA_VARIABLE} is not set"
    )
    raise FileError(
        known.file,
        f"the documents {known.name} are not {where}; get them from {known.home}, write a JSON object "
        f"with 'text' and '{'labels' if known.label == FIRST_TOPIC else known.label}' per line into "
        f"DIR/documents/{known.file}, and add --data DIR",
    )


def _described(known: DocumentSet, found: LabelledDocuments) -> str:
    ours = f"{known.name}: {known.what}; {len(found):,} documents, {found.n_labels:,} labels"
    paper = f" (paper: {known.paper[1]:,}, {known.paper[0]:,})" if known.paper else ""
    return f"{ours}{paper}; {known.difference}"


def _label(row: dict[str, Any], field: str) -> str:
    value = row.get(field)
    return "" if value is None else str(value).strip()


def _first_topics(rows: list[dict[str, Any]]) -> list[str]:
    """Label Reuters documents: see `DocumentSet.what`."""
    used: dict[str, Counter[str]] = {"train": Counter(), "test": Counter()}
    for row in rows:
        if row.get("split") in used:
            used[row["split"]].update(_topics(row))
    both = set(used["train"]) & set(used["test"])
    return [
        min((topic for topic in _topics(row) if topic in both), default="")
        if row.get("split") in used
        else ""
        for row in rows
    ]


def _topics(row: dict[str, Any]) -> list[str]:
    return [str(topic) for topic in row.get("labels") or ()]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    text = _text_of(path)
    endings = [suffix for suffix in path.suffixes if suffix.lower() not in PACKED_SUFFIXES]
    kind = endings[-1].lower() if endings else ""
    if kind in {".csv", ".tsv", ".tab"}:
        csv.field_size_limit(sys.maxsize)
        yield from csv.DictReader(io.StringIO(text), delimiter="," if kind == ".csv" else "\t")
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield _json_row(path, number, line)


def _json_row(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise FileError(path, f"line {number}: {line[:60]!r} is not a JSON object; {_WANTED}")
    return row


def _text_of(path: Path) -> str:
    parts = []
    with SourceStream(path) as stream:
        while n := stream.readinto(piece := memoryview(bytearray(_PIECE))):
            parts.append(bytes(piece[:n]))
    try:
        return b"".join(parts).decode("utf-8-sig")  # with or without the mark that Excel puts first
    except UnicodeDecodeError as error:
        raise FileError(
            path, f"is not UTF-8 at byte {error.start}; convert it: iconv -f LATIN1 -t UTF-8 OLD > NEW"
        ) from None
