"""Rows of integers that are mostly zeros: only what is not zero is stored.

The file, little-endian:

```text
row      positions (4 each)   values (2 each, signed)   two bytes 0 if the number of values is odd
...
starts   where each row begins, and the last one ends (8 each)
```

Positions ascend, and values are not 0. How many there are follows from the size of a row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm import _native
from omnitm.errors import FileError
from omnitm.similarity.row_matrix import RowMatrix

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from omnitm.files.checked import CheckedFile

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
        found[positions] = self._values[start // 2 + 2 * count :][:count]
        return found

    def read_column(self, column: int) -> NDArray[np.int16]:
        """Look the column up in all rows, halving what is left of each until its place is found."""
        self._check(np.zeros(1, dtype=np.int64), len(self._content))
        first = self._starts[:-1] // 4
        low, high = first.copy(), first + self._counts
        while (open_rows := np.flatnonzero(low < high)).size:
            middle = (low[open_rows] + high[open_rows]) // 2
            before = self._positions[middle] < column
            low[open_rows[before]] = middle[before] + 1
            high[open_rows[~before]] = middle[~before]
        found = np.zeros(len(self), dtype=np.int16)
        rows = np.flatnonzero(low < first + self._counts)
        rows = rows[self._positions[low[rows]] == column]
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
