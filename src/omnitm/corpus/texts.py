"""The text behind an index, as long as it is still where it was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus import storage
from omnitm.corpus.documents import Document, decoded, records_of, utf8_stream
from omnitm.corpus.reading import (
    PACKED_SUFFIXES,
    Reading,
    SourceStream,
    cut_text,
    skip_bytes,
    split_documents,
)
from omnitm.errors import FileError


class SourceTexts:
    """Finds documents in the sources that an index was built from.

    `positions` has a row (source, offset, first document) per block; from there on documents are counted.
    """

    def __init__(self, path: Path) -> None:
        manifest = storage.open_folder(path)
        facts = storage.read_json(manifest, "sources.json", dict)
        self._files: list[dict[str, Any]] = facts["files"]
        self._readings: list[dict[str, Any]] = facts["reading"]
        self.n_sources = len(self._files)
        self._n_documents: int = manifest.facts["n_documents"]
        self._positions = storage.array(manifest, "positions").reshape(-1, 3)

    def source_problem(self, source: int) -> str | None:
        """Why a source cannot be used any more, or None."""
        path, size = Path(self._files[source]["path"]), self._files[source]["size"]
        if not path.is_file():
            return "the text of the index is not there any more"
        found = path.stat().st_size
        return (
            None if found == size else f"the text has changed: {size} bytes when it was indexed, {found} now"
        )

    def find(self, numbers: Iterable[int]) -> dict[int, Document]:
        """Documents by number, as far as their sources are there and have the same size."""
        found: dict[int, Document] = {}
        walk: _Walk | None = None
        for number in sorted(set(numbers)):
            for row in self._rows_before(number):
                walk = self._walk_to(row, number, walk)
                document = None if walk is None else walk.document(number)
                if document is not None:
                    found[number] = document
                    break
        if walk is not None:
            walk.close()
        return found

    def _walk_to(self, row: int, number: int, walk: _Walk | None) -> _Walk | None:
        """Go on with a walk if it leads to the document, else begin at the block; None: the text is gone."""
        source, offset, first = (int(value) for value in self._positions[row])
        if walk is not None:
            if walk.reaches(source, number, first):
                return walk
            walk.close()
        if self.source_problem(source) is not None:
            return None
        return _Walk(self._path(source), self.reading(source), source, offset=offset, first=first)

    def _rows_before(self, number: int) -> Iterable[int]:
        """Rows where the document may begin: the last one before it; more if nothing begins in a block."""
        firsts = self._positions[:, 2]
        # A block whose first document is that of the next block too holds no beginning: the document is long,
        # and may begin in any of them.
        last = int(np.searchsorted(firsts, number, side="right")) - 1
        return range(int(np.searchsorted(firsts, firsts[last], side="left")), last + 1)

    def all_documents(self) -> Iterator[Document]:
        """Every document in order; an error names the first source that is gone or has changed."""
        self.check_sources()
        for source in range(len(self._files)):
            with SourceStream(self._path(source)) as stream:
                yield from _documents_from(stream, self.reading(source), 0)

    def check_sources(self) -> None:
        """Refuse if a source is gone or has changed."""
        for source in range(len(self._files)):
            problem = self.source_problem(source)
            if problem is not None:
                raise FileError(self._path(source), problem)

    def sources_of_documents(self) -> NDArray[np.int64]:
        """Find the source that each document is from."""
        sources, first_rows = np.unique(self._positions[:, 0], return_index=True)
        firsts = self._positions[first_rows, 2].astype(np.int64)
        # A source has the documents up to the first one of the next source.
        counts = np.diff(np.append(firsts, self._n_documents))
        return np.repeat(sources.astype(np.int64), counts)

    @property
    def paths(self) -> list[Path]:
        """The files that the index was made from."""
        return [self._path(source) for source in range(self.n_sources)]

    def _path(self, source: int) -> Path:
        return Path(self._files[source]["path"])

    def reading(self, source: int) -> Reading:
        """How a source is read."""
        options = [reading for reading in self._readings if reading["first_source"] <= source][-1]
        return Reading(**{name: value for name, value in options.items() if name != "first_source"})


class _Walk:
    """Goes through the documents of one source, forwards only."""

    def __init__(self, path: Path, reading: Reading, source: int, *, offset: int, first: int) -> None:
        self.source, self.next_number = source, first
        is_table = reading.format_of(path) != "text"
        self.is_seekable = (
            not is_table and path.suffix.lower() not in PACKED_SUFFIXES and reading.is_plain_utf8
        )
        self._stream = SourceStream(path)
        self._documents = _documents_from(self._stream, reading, offset)

    def reaches(self, source: int, number: int, block: int) -> bool:
        """Whether going on is possible, and no slower than beginning again at the block of the document."""
        return (
            self.source == source
            and self.next_number <= number
            and (not self.is_seekable or block <= self.next_number)
        )

    def document(self, number: int) -> Document | None:
        try:
            document = next(islice(self._documents, number - self.next_number, None), None)
        except FileError:  # no longer the text that was indexed
            document = None
        self.next_number = number + 1
        return document

    def close(self) -> None:
        self._stream.close()


def _documents_from(stream: SourceStream, reading: Reading, offset: int) -> Iterator[Document]:
    """Documents from a block on: `offset` counts bytes of UTF-8, or records of a table."""
    if reading.format_of(stream.path) != "text":
        yield from islice(records_of(stream, reading), offset, None)
        return
    source = utf8_stream(stream, reading)
    if source is stream:
        stream.seek(offset)
    else:
        skip_bytes(source, offset)
    for data, _, start in cut_text(source, reading.document, stream.path, whole_documents=True):
        for part in split_documents(bytes(data), reading.document):
            yield decoded(stream.path, part, offset + start)


def as_text(document: Document) -> str:
    """Text of a document; a token list is joined by blanks."""
    return document if isinstance(document, str) else " ".join(document)


def prepared(document: Document, prepare: Any) -> Sequence[str]:
    """Words of a document; a token list is taken as it is."""
    words: Sequence[str] = prepare(document) if isinstance(document, str) else document
    return words
