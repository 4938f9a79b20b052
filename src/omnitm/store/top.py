"""Rows that keep their baseline and the k coordinates that differ most from it.

That is for vocabularies so large that a number per pair of words cannot be stored.
A row on the disk, little-endian, always of the same length for a given k:

```text
baseline (2, signed)   0 (2)   number kept (4)   positions (4 each, k of them)   values (2 each, k of them)
```

Positions ascend; what is not used is 0. A coordinate that is not kept reads as the baseline.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from omnitm import _native
from omnitm.errors import FileError, ParameterError
from omnitm.similarity.row_matrix import RowMatrix
from omnitm.store.manifest import PLACE_VECTORS, TOP, VECTORS
from omnitm.store.record import is_sparse, keep_places_of, keep_top_of
from omnitm.store.sparse import SparseEncoder

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from omnitm.files.checked import CheckedFile
    from omnitm.store.record import AnyRecord, TrainingRecord


# Of the 40,000 coordinates of place of a word of Wikipedia 500 to 5,300 differ from the baseline, fewer than
# 700 of them by more than 5 steps.
PLACES_KEPT = 2_000


def row_type(keep_top: int) -> np.dtype[Any]:
    """Layout of a row on the disk."""
    return np.dtype(
        [
            ("baseline", "<i2"),
            ("unused", "<u2"),
            ("count", "<u4"),
            ("positions", "<u4", (keep_top,)),
            ("values", "<i2", (keep_top,)),
        ]
    )


def encode_top(vector: NDArray[np.int16], keep_top: int) -> bytes:
    """Keep the baseline, which is the most frequent value, and what differs most; of equals the first."""
    values = np.ascontiguousarray(vector, dtype=np.int16)
    baseline = np.empty(1, dtype=np.int16)
    _native.row_modes(values[None], baseline)
    distance = np.abs(values.astype(np.int32) - int(baseline[0]))
    kept = np.flatnonzero(distance)
    if len(kept) > keep_top:
        at_least = np.cumsum(np.bincount(distance[kept])[::-1])[::-1]  # how many differ by so much or more
        limit = int(np.flatnonzero(at_least > keep_top)[-1])
        above = np.flatnonzero(distance > limit)
        equal = np.flatnonzero(distance == limit)[: keep_top - len(above)]
        kept = np.sort(np.concatenate([above, equal]))
    row = np.zeros(1, dtype=row_type(keep_top))
    row["baseline"], row["count"] = baseline, len(kept)
    row["positions"][0, : len(kept)], row["values"][0, : len(kept)] = kept, values[kept]
    return row.tobytes()


def as_stored(vector: NDArray[np.int16], keep_top: int | None) -> NDArray[np.int16]:
    """Return a vector as it is read back from a model whose rows keep so many coordinates; None: all."""
    file = RowFile("vectors in memory", slice(0, len(vector)), keep_top)
    return file.decode(Path(file.name), file.encode(vector))


class RowFile(NamedTuple):
    """A file of rows of one length: which columns of a word's coordinates it holds, and how many it keeps."""

    name: str
    columns: slice
    keep_top: int | None

    @property
    def n_columns(self) -> int:
        """How many coordinates a row stands for."""
        return int(self.columns.stop - self.columns.start)

    @property
    def row_size(self) -> int:
        """Bytes of a row."""
        return 2 * self.n_columns if self.keep_top is None else row_type(self.keep_top).itemsize

    def encode(self, vector: NDArray[np.int16]) -> bytes:
        """Bytes of the row of a word, given all of its coordinates."""
        values = vector[self.columns]
        if self.keep_top is None:
            return np.ascontiguousarray(values, dtype="<i2").tobytes()
        return encode_top(values, self.keep_top)

    def decode(self, path: Path, content: bytes) -> NDArray[np.int16]:
        """Coordinates of a row; the inverse of `encode`, as far as they were kept."""
        if self.keep_top is None:
            return np.frombuffer(content, dtype="<i2")
        rows = np.frombuffer(content, dtype=row_type(self.keep_top))
        return TopMatrix(path, rows, self.n_columns).read_row(0)


def row_files(record: TrainingRecord, n_features: int, n_places: int) -> list[RowFile]:
    """Files that the rows of an Omni model are in: topic, and place if that is trained."""
    name = VECTORS if record.keep_top is None else TOP
    files = [RowFile(name, slice(0, n_features), record.keep_top)]
    if record.keep_places is not None:
        files.append(RowFile(PLACE_VECTORS, slice(n_features, n_features + n_places), record.keep_places))
    return files


class RowEncoder:
    """Turns vectors into the bytes of their rows; nothing follows the last row."""

    def __init__(self, encode: Callable[[NDArray[Any]], bytes]) -> None:
        self._encode = encode

    def __call__(self, vector: NDArray[Any]) -> bytes:
        """Encode the next row."""
        return self._encode(vector)

    def end(self) -> bytes:
        """Return what follows the last row."""
        return b""


def row_encoder(record: AnyRecord, dtype: np.dtype[Any]) -> RowEncoder | SparseEncoder:
    """Return what turns vectors, one after the other, into the bytes of a model's file of vectors."""
    keep_top = keep_top_of(record)
    if keep_top is not None:
        return RowEncoder(lambda vector: encode_top(vector, keep_top))
    if is_sparse(record) and dtype == np.int16:
        return SparseEncoder()
    kind = "<i2" if dtype == np.int16 else "<f4"
    return RowEncoder(lambda vector: np.ascontiguousarray(vector, dtype=kind).tobytes())


def place_encoder(record: AnyRecord) -> RowEncoder:
    """Return what turns coordinates of place into the bytes of their rows."""
    kept = keep_places_of(record)
    if kept is None:
        raise ParameterError("Coordinates of place need a record that says how many of each word are kept.")
    return RowEncoder(lambda vector: encode_top(vector, kept))


class TopMatrix(RowMatrix):
    """Rows of which only the coordinates that differ most are known; the others read as the baseline.

    Parameters
    ----------
    file
        The file that rows lie in, which is checked when they are read; None: they are sound.
    """

    def __init__(
        self, path: Path, rows: NDArray[Any], n_columns: int, file: CheckedFile | None = None
    ) -> None:
        self._path, self._rows, self._file = path, rows, file
        self._starts = np.arange(len(rows), dtype=np.int64) * rows.dtype.itemsize
        self.keep_top = int(rows.dtype["positions"].shape[0])
        super().__init__((len(rows), n_columns), np.int16, rows.nbytes)

    @property
    def rows(self) -> NDArray[Any]:
        """The rows as they are stored."""
        return self._rows

    def read_row(self, row: int) -> NDArray[np.int16]:
        """Fill a row with its baseline and put in what is kept."""
        baseline, positions, values = self.kept(row)
        found = np.full(self.shape[1], baseline, dtype=np.int16)
        found[positions] = values
        return found

    def read_column(self, column: int) -> NDArray[np.int16]:
        """Look the column up in every row."""
        if self._file is not None:
            self._file.check()
        found = np.array(self._rows["baseline"], dtype=np.int16)
        for row in range(len(self)):
            _, positions, values = self.kept(row)
            place = int(np.searchsorted(positions, column))
            if place < len(positions) and positions[place] == column:
                found[row] = values[place]
        return found

    def kept(self, row: int) -> tuple[int, NDArray[np.uint32], NDArray[np.int16]]:
        """Return the baseline of a row, the positions that are kept, and their values."""
        if self._file is not None:
            self._file.check_spans(self._starts[row : row + 1], self._rows.dtype.itemsize)
        stored = self._rows[row]
        count = int(stored["count"])
        positions = stored["positions"][:count]
        ascends = count < 2 or bool((positions[1:] > positions[:-1]).all())
        if count > self.keep_top or not ascends or (count and int(positions[-1]) >= self.shape[1]):
            raise FileError(self._path, f"row {row:,} is damaged; restore it from a copy or train again")
        return int(stored["baseline"]), positions, stored["values"][:count]
