"""Rows of vectors in a file, in three formats: little-endian, mapped, and checked when first read.

Plain: every number of every row.

Sparse, for rows of integers that are mostly zeros: only what is not zero is stored.

```text
row      positions (4 each)   values (2 each, signed)   two bytes 0 if the number of values is odd
...
starts   where each row begins, and the last one ends (8 each)
```

Positions ascend, and values are not 0. How many there are follows from the size of a row.

Top, for vocabularies so large that a number per pair of words cannot be stored: the baseline of a row, and
the k coordinates that differ most from it. A row has always the same length for a given k:

```text
baseline (2, signed)   0 (2)   number kept (4)   positions (4 each, k of them)   values (2 each, k of them)
```

Positions ascend; what is not used is 0. A coordinate that is not kept reads as the baseline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import DTypeLike, NDArray

from omnitm import _native
from omnitm.errors import FileError, ParameterError
from omnitm.files.checked import CheckedFile
from omnitm.similarity.row_matrix import RowMatrix
from omnitm.store.manifest import PLACE_VECTORS, TOP, VECTORS
from omnitm.store.record import AnyRecord, TrainingRecord, is_sparse, keep_places_of, keep_top_of

_START = np.dtype("<u8")
_PAIR = 6  # bytes of a position and its value
_DAMAGED = "restore it from a copy or train the model again"


class SparseEncoder:
    """Turns vectors into the bytes of their rows, one after the other, and knows what comes at the end."""

    def __init__(self) -> None:
        self._starts = [0]

    def __call__(self, vector: NDArray[Any]) -> bytes:
        """Encode the next row."""
        positions = np.flatnonzero(vector)
        content = positions.astype("<u4").tobytes() + vector[positions].astype("<i2").tobytes()
        # Rows begin at multiples of 4, so that positions can be viewed as 32-bit numbers.
        content += bytes(-len(content) % 4)
        self._starts.append(self._starts[-1] + len(content))
        return content

    def end(self) -> bytes:
        """Return what follows the last row."""
        return np.array(self._starts, dtype=_START).tobytes()


class SparseMatrix(RowMatrix):
    """Rows of which all but a few numbers are 0.

    Parameters
    ----------
    content
        Bytes as in the file; they may be memory-mapped.
    file
        The file that they are mapped from, which is checked when rows are read; None: they are sound.
    """

    def __init__(
        self, content: NDArray[np.uint8], n_rows: int, n_columns: int, file: CheckedFile | None = None
    ) -> None:
        self._file, size = file, len(content) - (n_rows + 1) * _START.itemsize
        if size < 0 or size % 4:
            raise self._damage("has a size that no rows have")
        self._check(np.array([size]), len(content) - size)
        self._starts = np.frombuffer(content[size:].tobytes(), dtype=_START).astype(np.int64)
        sizes = np.diff(self._starts)
        if self._starts[0] != 0 or self._starts[-1] != size or (sizes < 0).any():
            raise self._damage("has rows that do not make up the file")
        self._counts = sizes // _PAIR
        # A count follows from the size: 6 bytes per value, filled up to a multiple of 4.
        if ((self._counts * _PAIR + 3) // 4 * 4 != sizes).any() or (self._counts > n_columns).any():
            raise self._damage("has rows of impossible length")
        self._content = content[:size]
        self._positions, self._values = self._content.view("<u4"), self._content.view("<i2")
        super().__init__((n_rows, n_columns), np.int16, len(content))

    @classmethod
    def of(cls, rows: Iterable[NDArray[np.int16]], n_columns: int) -> SparseMatrix:
        """Keep rows in memory."""
        encode, content, n_rows = SparseEncoder(), bytearray(), 0
        for row in rows:
            content += encode(row)
            n_rows += 1
        content += encode.end()
        return cls(np.frombuffer(content, dtype=np.uint8), n_rows, n_columns)

    def read_row(self, row: int) -> NDArray[np.int16]:
        """Fill a row with zeros and put in what is not zero."""
        start, count = int(self._starts[row]), int(self._counts[row])
        self._check(self._starts[row : row + 1], int(self._starts[row + 1]) - start)
        positions = self._positions[start // 4 : start // 4 + count]
        if count and (int(positions[-1]) >= self.shape[1] or not (positions[1:] > positions[:-1]).all()):
            raise self._damage(f"row {row:,} is damaged")
        found = np.zeros(self.shape[1], dtype=np.int16)
        # In units of 2 bytes: the row begins at start / 2, its values after `count` positions of 4 bytes.
        found[positions] = self._values[start // 2 + 2 * count :][:count]
        return found

    def read_column(self, column: int) -> NDArray[np.int16]:
        """Look the column up in all rows, halving what is left of each until its place is found."""
        self._check(np.zeros(1, dtype=np.int64), len(self._content))
        first = self._starts[:-1] // 4
        # Bisection in all rows at once: positions of a row ascend.
        low, high = first.copy(), first + self._counts
        while (open_rows := np.flatnonzero(low < high)).size:
            middle = (low[open_rows] + high[open_rows]) // 2
            before = self._positions[middle] < column
            low[open_rows[before]] = middle[before] + 1
            high[open_rows[~before]] = middle[~before]
        found = np.zeros(len(self), dtype=np.int16)
        rows = np.flatnonzero(low < first + self._counts)
        rows = rows[self._positions[low[rows]] == column]
        # first + counts is the end of the positions in units of 4 bytes; values begin there, in units of 2.
        found[rows] = self._values[2 * (first + self._counts)[rows] + (low - first)[rows]]
        return found

    def dots(self, largest: int, queries: NDArray[np.int16]) -> NDArray[np.int64]:
        """Multiply what is not zero."""
        del largest  # sums have 64 bits
        self._check(np.zeros(1, dtype=np.int64), len(self._content))
        dots = np.empty((len(self), len(queries)), dtype=np.int64)
        try:
            _native.sparse_dots(self._content, self._starts, queries, dots.reshape(-1))
        except ValueError as error:
            raise self._damage(f"is damaged ({error})") from None
        return dots

    def _check(self, starts: NDArray[np.int64], size: int) -> None:
        if self._file is not None:
            self._file.check_spans(starts, size)

    def _damage(self, problem: str) -> FileError:
        path = "vectors in memory" if self._file is None else self._file.path
        return FileError(path, f"{problem}; {_DAMAGED}")


class MappedMatrix(RowMatrix, NDArrayOperatorsMixin):
    """A matrix in a file; rows and columns are views of the mapped file.

    What rows and columns cannot answer is asked of the whole matrix, after all of it was checked: arithmetic
    and every other method that arrays have.
    """

    def __init__(self, file: CheckedFile, shape: tuple[int, int], dtype: DTypeLike) -> None:
        self._file = file
        self._rows: NDArray[Any] = file.content.view(dtype).reshape(shape)
        self._row_size = shape[1] * self._rows.itemsize
        self._starts = np.arange(shape[0], dtype=np.int64) * self._row_size
        super().__init__(shape, self._rows.dtype, self._rows.nbytes)

    def whole(self) -> NDArray[Any]:
        """Check all rows; they are an array already."""
        self._file.check()
        return self._rows

    def read_row(self, row: int) -> NDArray[Any]:
        """Check one row."""
        self._file.check_spans(self._starts[row : row + 1], self._row_size)
        found: NDArray[Any] = self._rows[row]
        return found

    def read_column(self, column: int) -> NDArray[Any]:
        """Check the blocks that hold a number of this column."""
        self._file.check_column(column * self._rows.itemsize, self._row_size, self._rows.itemsize)
        return self._rows[:, column]

    def dots(self, largest: int, queries: NDArray[np.int16]) -> NDArray[np.int64]:
        """Multiply all rows where they are."""
        dots = np.empty((len(self), len(queries)), dtype=np.int64)
        _native.row_dots(self.whole(), largest, queries, dots.reshape(-1))
        return dots

    def __getitem__(self, key: Any) -> Any:
        found = self._rows[key]  # numpy's own rules and errors for indices come first
        if not self._file.is_sound:
            self._check(*key if isinstance(key, tuple) else (key,))
        return found

    def _check(self, rows: Any, *others: Any) -> None:
        """Check what was read: a column, single numbers (of some rows, a column each), or whole rows."""
        columns = np.asarray(others[0]) if len(others) == 1 and not isinstance(others[0], slice) else None
        starts = self._starts[rows]
        if columns is not None and columns.dtype.kind in "iu":
            # Negative columns count from the end, as numpy has it; those out of range were refused above.
            columns = columns.astype(np.int64) % self.shape[1]
            if columns.ndim == 0 and isinstance(rows, slice) and rows == slice(None):
                self.read_column(int(columns))
                return
            if not isinstance(rows, slice):
                cells = starts + columns * self._rows.itemsize
                self._file.check_cells(np.ascontiguousarray(cells).reshape(-1), self._rows.itemsize)
                return
        self._file.check_spans(np.ascontiguousarray(starts).reshape(-1), self._row_size)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        whole = self.whole() if dtype is None else self.whole().astype(dtype, copy=False)
        return whole.copy() if copy else whole

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        arrays = [item.whole() if isinstance(item, MappedMatrix) else item for item in inputs]
        return getattr(ufunc, method)(*arrays, **options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.whole(), name)

    def __reduce__(self) -> Any:
        return np.array, (self.whole(),)


# Of the 40,000 coordinates of place of a word of Wikipedia 500 to 5,300 differ from the baseline, fewer than
# 700 of them by more than 5 steps.
PLACES_KEPT = 2_000
# Words that are joined with a word are fewer and differ less, so that they are chosen by themselves.
JOINED_KEPT = 500


def n_places_kept(n_places: int, n_joined: int) -> int:
    """How many coordinates of place a row keeps; so many of them say what is joined with the word."""
    return min(PLACES_KEPT, n_places - n_joined) + min(JOINED_KEPT, n_joined)


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


def encode_top(vector: NDArray[np.int16], keep_top: int, n_joined: int = 0) -> bytes:
    """Keep the baseline, which is the most frequent value, and what differs most; of equals the first.

    The last `n_joined` coordinates, words that are joined with the word, are chosen by themselves.
    """
    values = np.ascontiguousarray(vector, dtype=np.int16)
    baseline = np.empty(1, dtype=np.int16)
    _native.row_modes(values[None], baseline)
    distance = np.abs(values.astype(np.int32) - int(baseline[0]))
    first_joined = len(values) - n_joined
    # As `n_places_kept` shares them out; older models keep fewer that are joined.
    n_kept_places = min(PLACES_KEPT, first_joined) if n_joined else keep_top
    kept = np.concatenate(
        [
            _largest(distance[:first_joined], n_kept_places),
            first_joined + _largest(distance[first_joined:], keep_top - n_kept_places),
        ]
    )
    row = np.zeros(1, dtype=row_type(keep_top))
    row["baseline"], row["count"] = baseline, len(kept)
    row["positions"][0, : len(kept)], row["values"][0, : len(kept)] = kept, values[kept]
    return row.tobytes()


def _largest(distance: NDArray[np.int32], count: int) -> NDArray[np.intp]:
    """Positions of the largest distances that are not 0, at most so many, ascending; of equals the first."""
    kept = np.flatnonzero(distance)
    if len(kept) <= count:
        return kept
    # The smallest distance of which fewer than `count` lie above; of those at it the first fill up.
    at_least = np.cumsum(np.bincount(distance[kept])[::-1])[::-1]  # how many differ by so much or more
    limit = int(np.flatnonzero(at_least > count)[-1])
    above = np.flatnonzero(distance > limit)
    equal = np.flatnonzero(distance == limit)[: count - len(above)]
    return np.sort(np.concatenate([above, equal]))


def as_stored(vector: NDArray[np.int16], keep_top: int | None, n_joined: int = 0) -> NDArray[np.int16]:
    """Return a vector as it is read back from a model whose rows keep so many coordinates; None: all."""
    file = RowFile("vectors in memory", slice(0, len(vector)), keep_top, n_joined)
    return file.decode(Path(file.name), file.encode(vector))


class RowFile(NamedTuple):
    """A file of rows of one length: which columns of a word's coordinates it holds, and how many it keeps."""

    name: str
    columns: slice
    keep_top: int | None
    n_joined: int = 0
    """How many of the columns, the last ones, say what is joined with a word."""

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
        return encode_top(values, self.keep_top, self.n_joined)

    def decode(self, path: Path, content: bytes) -> NDArray[np.int16]:
        """Coordinates of a row; the inverse of `encode`, as far as they were kept."""
        if self.keep_top is None:
            return np.frombuffer(content, dtype="<i2")
        rows = np.frombuffer(content, dtype=row_type(self.keep_top))
        return TopMatrix(path, rows, self.n_columns).read_row(0)


def n_joined_of(record: AnyRecord, n_places: int) -> int:
    """How many coordinates of place, the last ones, say what is joined with a word."""
    return record.settings.n_joined_of(n_places) if isinstance(record, TrainingRecord) else 0


def row_files(record: TrainingRecord, n_features: int, n_places: int) -> list[RowFile]:
    """Files that the rows of an Omni model are in: topic, and place if that is trained."""
    name = VECTORS if record.keep_top is None else TOP
    files = [RowFile(name, slice(0, n_features), record.keep_top)]
    if record.keep_places is not None:
        columns = slice(n_features, n_features + n_places)
        files.append(RowFile(PLACE_VECTORS, columns, record.keep_places, n_joined_of(record, n_places)))
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
    return RowEncoder(lambda vector: encode_top(vector, kept, n_joined_of(record, len(vector))))


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
