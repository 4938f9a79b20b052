r"""A model as one small file that opens directly: every row is compressed in pieces of its own.

```text
"OMNITMP\x01"           8 bytes
blocks                  raw deflate, row by row, each row in segments of `segment` columns
texts                   settings.json, features.txt, words.txt and, if there are any, places.txt, each as zlib
blocks table            per block: size (4), CRC-32 of its bytes (4)
rows table              per row: lowest value (2, signed), bytes per number (2)
header                  JSON: the model's manifest, shape, segment, and the sections with size and SHA-256
length of the header (8)   SHA-256 of the header (32)   "OMNITMP\x01" (8)
```

Numbers are little-endian. A block holds the values of its segment minus the row's lowest, as bytes: the low
bytes of all, then the next ones if a row needs more than one byte per number. Real numbers are not changed
before they are taken apart into bytes. The coordinates of place of a row follow those of topic.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from omnitm.errors import FileError
from omnitm.files.checked import FileEntry
from omnitm.files.kinds import PACKED_MAGIC
from omnitm.files.manifest import json_object
from omnitm.files.plain import open_regular, words_from_bytes
from omnitm.similarity.row_matrix import RowMatrix
from omnitm.store.manifest import (
    COORDINATES,
    FEATURES,
    PLACE_VECTORS,
    PLACES,
    SETTINGS,
    WORDS,
    manifest_entries,
    vectors_name,
)
from omnitm.store.record import AnyRecord, is_place_only, keep_places_of, record_from_bytes
from omnitm.store.rows import RowEncoder, SparseEncoder, place_encoder, row_encoder
from omnitm.vectors.named_rows import PlaceVectors

FORMAT, VERSION = "omnitm packed model", 1
TRAILER = 8 + 32 + len(PACKED_MAGIC)  # length of the header, its SHA-256, magic bytes
BLOCK = np.dtype([("size", "<u4"), ("crc", "<u4")])
ROW = np.dtype([("lowest", "<i2"), ("itemsize", "<u2")])
BLOCKS, TABLE, ROWS = "blocks", "blocks table", "rows table"
_LONGEST_HEADER = 1 << 20  # bytes
_MOST_WORDS = 1 << 28  # more than any text has; forged sizes end here, before memory is asked for
_DAMAGED = "the file is damaged; fetch it again or pack the model again"


@dataclass(frozen=True, eq=False)
class StoredModel:
    """The content of a model's folder or of a packed model.

    Attributes
    ----------
    matrix
        A numpy array, or a `RowMatrix` where rows are made when they are read.
    is_named
        Whether columns are words.
    places
        Coordinates of place, and their names; None: they were not trained.
    """

    words: list[str]
    features: list[str]
    matrix: NDArray[Any]
    record: AnyRecord
    is_named: bool = True
    places: PlaceVectors | None = None


@dataclass(frozen=True, eq=False)
class PackedModel(StoredModel):
    """The content of a packed file: with the manifest of the folder, and what its card says."""

    manifest: dict[str, FileEntry] = field(default_factory=dict)
    card: dict[str, Any] = field(default_factory=dict)


class PackedMatrix(RowMatrix):
    """The rows of a packed file, or some columns of them; a block is checked whenever it is read."""

    def __init__(
        self,
        path: Path,
        buffer: mmap.mmap,
        header: dict[str, Any],
        blocks: NDArray[Any],
        rows: NDArray[Any],
        *,
        columns: tuple[int, int],
    ) -> None:
        self._path, self._buffer = path, buffer
        self._n_stored: int = header["columns"]
        self._first, last = columns
        shape = (header["rows"], last - self._first)
        self._segment: int = header["segment"]
        self._crcs = blocks["crc"].reshape(shape[0], -(-self._n_stored // self._segment))
        ends = np.cumsum(blocks["size"], dtype=np.int64) + len(PACKED_MAGIC)
        # Only sizes are stored; blocks follow one another from the magic bytes on.
        self._starts = np.concatenate([[len(PACKED_MAGIC)], ends])
        self._rows = rows
        super().__init__(shape, header["type"], int(self._starts[-1]) - len(PACKED_MAGIC))

    def read_row(self, row: int) -> NDArray[Any]:
        """Decode the blocks of a row that hold its columns."""
        # Segments from the one that holds the first column to the one that holds the last; ends are cut off
        # below.
        low, high = self._first // self._segment, -(-(self._first + self.shape[1]) // self._segment)
        n_segments = self._crcs.shape[1]
        bounds = self._starts[row * n_segments : (row + 1) * n_segments + 1].tolist()
        lowest, itemsize = self._rows[row].tolist()
        found = [np.empty(0, dtype=self.dtype)]
        for segment in range(low, high):
            crc = int(self._crcs[row, segment])
            content = self._block(row, segment, bounds[segment : segment + 2], crc, itemsize)
            found.append(from_bytes(content, self.dtype, lowest, itemsize))
        start = self._first - low * self._segment
        return np.concatenate(found)[start : start + self.shape[1]]

    def read_column(self, column: int) -> NDArray[Any]:
        """Decode one block of every row, and of that block only the bytes of one number."""
        segment, place = divmod(self._first + column, self._segment)
        n_segments, count = self._crcs.shape[1], self._width(segment)
        bounds = zip(
            self._starts[segment:-1:n_segments].tolist(),
            self._starts[segment + 1 :: n_segments].tolist(),
            strict=True,
        )
        found = np.empty(len(self), dtype=self.dtype)
        crcs, facts = self._crcs[:, segment].tolist(), self._rows.tolist()
        for row, (block, crc, (lowest, itemsize)) in enumerate(zip(bounds, crcs, facts, strict=True)):
            content = self._block(row, segment, block, crc, itemsize)
            if itemsize == 1:
                found[row] = content[place] + lowest
            else:
                # Low bytes of all numbers come first, then the high bytes.
                found[row] = from_bytes(content[place::count], self.dtype, lowest, itemsize)[0]
        return found

    def _width(self, segment: int) -> int:
        """Count the columns of a segment; the last one may be shorter."""
        return min(self._segment, self._n_stored - segment * self._segment)

    def _block(self, row: int, segment: int, bounds: Sequence[int], crc: int, itemsize: int) -> bytes:
        data: bytes = self._buffer[bounds[0] : bounds[1]]
        if zlib.crc32(data) != crc:
            raise FileError(self._path, f"row {row:,} does not fit its checksum; {_DAMAGED}")
        return inflated(self._path, data, self._width(segment) * itemsize, -zlib.MAX_WBITS)


def from_bytes(content: bytes, dtype: np.dtype[Any], lowest: int, itemsize: int) -> NDArray[Any]:
    """Put numbers together again; the inverse of `to_bytes`."""
    planes: NDArray[Any] = np.frombuffer(content, dtype=np.uint8).reshape(itemsize, -1)
    if itemsize == 1:
        narrow: NDArray[Any] = planes[0].astype(dtype) + dtype.type(lowest)
        return narrow
    whole = np.ascontiguousarray(planes.T).view(f"<u{itemsize}")[:, 0]
    if dtype.kind == "f":
        reals: NDArray[Any] = whole.view("<f4")
        return reals
    # In 32 bits: an unsigned 16-bit difference plus a negative lowest value would not fit into 16.
    return (whole.astype(np.int32) + lowest).astype(dtype)


def to_bytes(values: NDArray[Any], lowest: int, itemsize: int) -> bytes:
    """Take numbers apart into bytes: the low byte of each, then the next of each."""
    if itemsize == 1:
        narrow: NDArray[np.uint8] = (values - values.dtype.type(lowest)).astype(np.uint8)
        return narrow.tobytes()
    if values.dtype.kind == "f":
        whole = np.ascontiguousarray(values, dtype="<f4").view(np.uint8)
    else:
        whole = (values.astype(np.int32) - lowest).astype("<u2").view(np.uint8)
    return np.ascontiguousarray(whole.reshape(-1, itemsize).T).tobytes()


def inflated(path: Path, data: bytes, size: int, window: int) -> bytes:
    """Decompress to exactly `size` bytes, and never to more."""
    try:
        inflater = zlib.decompressobj(window)
        # One byte more than expected shows that there is too much, without unpacking all of it.
        content: bytes = inflater.decompress(data, size + 1)
    except zlib.error as error:
        raise FileError(path, f"cannot be decompressed ({error}); {_DAMAGED}") from None
    if len(content) != size or not inflater.eof or inflater.unused_data:
        raise FileError(path, f"has a block that does not hold {size:,} bytes; {_DAMAGED}")
    return content


def is_packed(path: Path) -> bool:
    """Whether a path is a file, as packed models are, and not a folder."""
    return path.is_file() and not path.is_symlink()


def read_packed(path: Path, *, verify: bool = False) -> PackedModel:
    """Open a packed model: header, names and tables are checked now, rows when they are read.

    `verify` reads every row and compares all of them with the model that was packed.
    """
    buffer = _mapped(path)
    header = _header(path, buffer)
    manifest = manifest_entries(path, header["manifest"])
    sections = _sections(path, buffer, header)
    names = FEATURES if FEATURES in manifest else COORDINATES
    listed = (SETTINGS, names, WORDS, *({PLACES} & set(manifest)))
    if not set(listed) <= set(sections) or (PLACES in sections) != (PLACES in manifest):
        raise FileError(path, f"has other sections than its manifest says; {_DAMAGED}")
    texts = {name: _text(path, sections[name], manifest[name]) for name in listed}
    record = record_from_bytes(path, texts[SETTINGS])
    words, features = words_from_bytes(path, texts[WORDS]), words_from_bytes(path, texts[names])
    place_names = words_from_bytes(path, texts.get(PLACES, b""))
    if (keep_places_of(record) is not None) != (PLACES in texts):
        raise FileError(path, f"does not say the same of 'keep_places' everywhere; {_DAMAGED}")
    if (len(words), len(features) + len(place_names)) != (header["rows"], header["columns"]):
        raise FileError(path, f"has names for another number of rows or columns; {_DAMAGED}")
    if names == FEATURES and not set(words).issubset(features) and not is_place_only(record):
        raise FileError(path, f"has words that its features do not have; {_DAMAGED}")
    tables = _tables(path, header, sections)
    middle = len(features)
    matrix = PackedMatrix(path, buffer, header, *tables, columns=(0, middle))
    places = None
    if place_names:
        place_rows = PackedMatrix(path, buffer, header, *tables, columns=(middle, header["columns"]))
        places = PlaceVectors(cast("NDArray[Any]", place_rows), place_names)
    if verify:
        _verify(path, matrix, row_encoder(record, matrix.dtype), manifest[vectors_name(manifest)])
        if places is not None:
            _verify(path, place_rows, place_encoder(record), manifest[PLACE_VECTORS])
    card = header.get("card")
    facts = card if isinstance(card, dict) else {}
    rows = cast("NDArray[Any]", matrix)  # it answers what is asked of arrays
    return PackedModel(words, features, rows, record, names == FEATURES, places, manifest, facts)


def _mapped(path: Path) -> mmap.mmap:
    descriptor = open_regular(path)
    try:
        size = os.fstat(descriptor).st_size
        if size < len(PACKED_MAGIC) + TRAILER:
            raise FileError(path, f"is too short for a packed model; {_DAMAGED}")
        return mmap.mmap(descriptor, size, access=mmap.ACCESS_READ)
    finally:
        os.close(descriptor)


def _header(path: Path, buffer: mmap.mmap) -> dict[str, Any]:
    if buffer[: len(PACKED_MAGIC)] != PACKED_MAGIC:
        raise FileError(path, f"does not begin as a packed model does; {_DAMAGED}")
    trailer = buffer[-TRAILER:]
    if trailer[40:] != PACKED_MAGIC:
        raise FileError(path, f"is cut off, or has something after its end; {_DAMAGED}")
    length = int.from_bytes(trailer[:8], "little")
    if not 0 < length <= min(_LONGEST_HEADER, len(buffer) - TRAILER - len(PACKED_MAGIC)):
        raise FileError(path, f"has a header of impossible length; {_DAMAGED}")
    content = buffer[len(buffer) - TRAILER - length : len(buffer) - TRAILER]
    if hashlib.sha256(content).digest() != trailer[8:40]:
        raise FileError(path, f"has a header that does not fit its checksum; {_DAMAGED}")
    header = json_object(path, content)
    if header.get("format") != FORMAT or header.get("version") != VERSION:
        found = f"{str(header.get('format'))[:40]!r} version {str(header.get('version'))[:20]}"
        raise FileError(path, f"is {found}; this omnitm reads {FORMAT!r} version {VERSION}")
    _check_shape(path, header)
    return {**header, "length": length}


def _check_shape(path: Path, header: dict[str, Any]) -> None:
    limits = {"rows": (0, _MOST_WORDS), "columns": (0, _MOST_WORDS), "segment": (1, _MOST_WORDS)}
    for name, (low, high) in limits.items():
        value = header.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise FileError(path, f"has a header with impossible {name!r}: {str(value)[:40]}")
    if header.get("type") not in {"<i2", "<f4"} or not isinstance(header.get("manifest"), dict):
        raise FileError(path, "has a header without the type of its numbers, or without a manifest")


def _sections(path: Path, buffer: mmap.mmap, header: dict[str, Any]) -> dict[str, memoryview]:
    """Find the sections; all of them together, the header and both ends must make up the file."""
    listed, place, found = header.get("sections"), len(PACKED_MAGIC), {}
    if not isinstance(listed, list) or len(listed) not in {6, 7}:
        raise FileError(path, "has a header that does not list its six sections")
    whole, end = memoryview(buffer), len(buffer) - TRAILER - header["length"]
    for entry in listed:
        values = entry if isinstance(entry, list) and len(entry) == 3 else [None] * 3
        name, size, sha256 = values
        if not isinstance(name, str) or not isinstance(size, int) or not 0 <= size <= end - place:
            raise FileError(path, f"has a section of impossible size; {_DAMAGED}")
        found[name] = whole[place : place + size]
        if name != BLOCKS and hashlib.sha256(found[name]).hexdigest() != sha256:
            raise FileError(path, f"has a section {name[:40]!r} that does not fit its checksum; {_DAMAGED}")
        place += size
    names = {BLOCKS, SETTINGS, WORDS, TABLE, ROWS, *({FEATURES, COORDINATES, PLACES} & set(found))}
    if place != end or set(found) != names or listed[0][0] != BLOCKS:
        raise FileError(path, f"has sections that do not make up the file; {_DAMAGED}")
    return found


def _text(path: Path, section: memoryview, entry: FileEntry) -> bytes:
    if entry.size > _MOST_WORDS:
        raise FileError(path, f"has a text of {entry.size:,} bytes, which is more than any model needs")
    content = inflated(path, bytes(section), entry.size, zlib.MAX_WBITS)
    if hashlib.sha256(content).hexdigest() != entry.sha256:
        raise FileError(path, f"has a text that differs from the manifest; {_DAMAGED}")
    return content


def _tables(
    path: Path, header: dict[str, Any], sections: dict[str, memoryview]
) -> tuple[NDArray[Any], NDArray[Any]]:
    n_blocks = header["rows"] * -(-header["columns"] // header["segment"])
    if (
        len(sections[TABLE]) != n_blocks * BLOCK.itemsize
        or len(sections[ROWS]) != header["rows"] * ROW.itemsize
    ):
        raise FileError(path, f"has tables of the wrong size; {_DAMAGED}")
    blocks = np.frombuffer(sections[TABLE], dtype=BLOCK)
    rows = np.frombuffer(sections[ROWS], dtype=ROW)
    allowed = (4,) if header["type"] == "<f4" else (1, 2)
    if (
        int(blocks["size"].sum(dtype=np.int64)) != len(sections[BLOCKS])
        or not np.isin(rows["itemsize"], allowed).all()
    ):
        raise FileError(path, f"has tables that do not fit its blocks; {_DAMAGED}")
    return blocks, rows


def _verify(
    path: Path, matrix: PackedMatrix, encode: RowEncoder | SparseEncoder, expected: FileEntry
) -> None:
    digest = hashlib.sha256()
    for row in range(len(matrix)):
        digest.update(encode(matrix.read_row(row)))
    digest.update(encode.end())
    if digest.hexdigest() != expected.sha256:
        raise FileError(path, f"has vectors that differ from the manifest; {_DAMAGED}")
