"""Matrices whose rows are made when they are read: packed ones, and those that keep few coordinates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from omnitm import _native

_BLOCK_BYTES = 1 << 25
_COLUMNS_KEPT = 32


class RowMatrix(ABC):
    """A matrix that is read like a numpy array, by rows or by single columns; each read decodes anew.

    Attributes
    ----------
    shape, dtype
        As in numpy.
    stored_bytes
        What the rows take on the disk.
    """

    ndim = 2

    def __init__(self, shape: tuple[int, int], dtype: DTypeLike, stored_bytes: int) -> None:
        self.shape, self.dtype, self.stored_bytes = shape, np.dtype(dtype), stored_bytes

    @cached_property
    def _column(self) -> Callable[[int], NDArray[Any]]:
        """Read a column, or find it among the last ones that were read."""
        return lru_cache(_COLUMNS_KEPT)(self.read_column)

    @abstractmethod
    def read_row(self, row: int) -> NDArray[Any]:
        """Decode one row, `0 <= row < shape[0]`."""

    @abstractmethod
    def read_column(self, column: int) -> NDArray[Any]:
        """Decode one column."""

    def whole(self) -> NDArray[Any] | None:
        """Return the matrix as an array if it is stored as one; None if rows must be decoded."""
        return None

    def dots(self, largest: int, queries: NDArray[np.int16]) -> NDArray[np.int64]:
        """Multiply every row with every query, all integers; `largest` is the rows' largest magnitude."""
        dots = np.empty((len(self), len(queries)), dtype=np.int64)
        for start, block in row_blocks(self):
            _native.row_dots(block, largest, queries, dots[start : start + len(block)].reshape(-1))
        return dots

    @property
    def size(self) -> int:
        """Number of numbers."""
        return self.shape[0] * self.shape[1]

    @property
    def nbytes(self) -> int:
        """Size of the whole matrix in bytes, decoded."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        whole: NDArray[Any] = self[:]
        return whole if dtype is None else whole.astype(dtype, copy=bool(copy))

    def astype(self, dtype: DTypeLike) -> NDArray[Any]:
        """Decode all rows, as numbers of another type."""
        whole: NDArray[Any] = self[:]
        return whole.astype(dtype)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            return self._cells(*key)
        rows = np.arange(len(self))[key]  # numpy's own rules and errors for indices
        if rows.ndim == 0:
            return self.read_row(int(rows))
        found = np.empty((len(rows), self.shape[1]), dtype=self.dtype)
        for place, row in enumerate(rows.tolist()):
            found[place] = self.read_row(row)
        return found

    def _cells(self, rows: Any, columns: Any) -> Any:
        if isinstance(rows, slice) and np.ndim(columns) == 0 and not isinstance(columns, slice):
            return self._column(int(np.arange(self.shape[1])[columns]))[rows]
        if isinstance(rows, slice) and np.ndim(columns) == 1 and not isinstance(columns, slice):
            return self._columns(np.arange(len(self))[rows].tolist(), np.asarray(columns))
        if np.ndim(rows) == 0 or isinstance(rows, slice) or isinstance(columns, slice):
            return self[rows][..., columns]
        wanted, others = np.broadcast_arrays(np.arange(len(self))[rows], np.asarray(columns))
        found = np.empty(wanted.shape, dtype=self.dtype)
        for row in np.unique(wanted).tolist():
            here = wanted == row
            found[here] = self.read_row(row)[others[here]]
        return found

    def _columns(self, rows: list[int], columns: NDArray[Any]) -> NDArray[Any]:
        """Take some columns, holding one row at a time."""
        found = np.empty((len(rows), len(np.arange(self.shape[1])[columns])), dtype=self.dtype)
        for place, row in enumerate(rows):
            found[place] = self.read_row(row)[columns]
        return found


class ColumnRange(RowMatrix):
    """Some successive columns of a matrix."""

    def __init__(self, matrix: Any, start: int, stop: int) -> None:
        self._matrix, self._start, self._stop = matrix, start, stop
        n_rows = len(matrix)
        super().__init__(
            (n_rows, stop - start), matrix.dtype, n_rows * (stop - start) * matrix.dtype.itemsize
        )

    def read_row(self, row: int) -> NDArray[Any]:
        """Cut a row."""
        found: NDArray[Any] = self._matrix[row][self._start : self._stop]
        return found

    def read_column(self, column: int) -> NDArray[Any]:
        """Find a column by its number in the matrix."""
        found: NDArray[Any] = self._matrix[:, self._start + column]
        return found


def row_blocks(matrix: Any) -> Iterator[tuple[int, NDArray[Any]]]:
    """Go through a matrix as arrays of successive rows, each with the number of its first row."""
    whole = plain_array(matrix)
    if whole is not None:
        yield 0, whole
        return
    rows = max(1, _BLOCK_BYTES // max(1, matrix.shape[1] * matrix.dtype.itemsize))
    for start in range(0, len(matrix), rows):
        yield start, matrix[start : start + rows]


def plain_array(matrix: Any) -> NDArray[Any] | None:
    """Return a matrix as an array if that costs nothing; None if its rows must be decoded."""
    return matrix if isinstance(matrix, np.ndarray) else matrix.whole()
