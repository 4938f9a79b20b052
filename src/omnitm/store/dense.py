"""Rows of plain numbers in a file: mapped, and checked when they are first read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from omnitm import _native
from omnitm.similarity.row_matrix import RowMatrix

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from omnitm.files.checked import CheckedFile


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
        if not self._file.is_sound:
            self._check(*key if isinstance(key, tuple) else (key,))
        return self._rows[key]

    def _check(self, rows: Any, *others: Any) -> None:
        one_column = len(others) == 1 and isinstance(others[0], (int, np.integer))
        if one_column and isinstance(rows, slice) and rows == slice(None):
            column = int(others[0])
            if -self.shape[1] <= column < self.shape[1]:  # else numpy says what is wrong
                self.read_column(column % self.shape[1])
        else:
            starts = np.ascontiguousarray(self._starts[rows]).reshape(-1)  # numpy's own rules for indices
            self._file.check_spans(starts, self._row_size)

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
