"""The rows with the highest cosines, exactly, but without reading most of a large matrix of integers.

Columns are read block by block. What the blocks that are still unread can add to a dot product is bounded:
with every block cut into its mean and what deviates from it, `a @ b` is at most
`length * mean_a * mean_b + |a - mean_a| * |b - mean_b|`. A row whose bound lies below the lowest of the best
rows found so far is not read any further. Frequent words come first and vary most, so that of 40,000 rows a
few hundred are read to the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from omnitm import _native
from omnitm.similarity.row_matrix import plain_array
from omnitm.similarity.row_products import RowLengths, row_lengths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

_MARGIN = 1e-9  # of a cosine: bounds are real numbers, dot products are not
_FEWEST_COLUMNS = 8192  # below, reading everything takes no longer


def can_prune(matrix: NDArray[np.int16]) -> bool:
    """Whether a matrix is large enough, and stored so that skipping parts of rows saves time."""
    if matrix.dtype != np.int16 or matrix.shape[1] < _FEWEST_COLUMNS:
        return False
    return plain_array(matrix) is not None  # rows that are decoded first cost more than they save


def highest_cosines(
    matrix: NDArray[np.int16], lengths: RowLengths, query: NDArray[np.int16], count: int
) -> tuple[NDArray[np.intp], Reals]:
    """Find the rows with the highest cosines to a query, in ascending order, and their cosines.

    All rows that may be among the first `count` are returned: a few more, if several are equal.
    """
    search = _Search(np.asarray(matrix), lengths, query)
    rows = np.arange(len(matrix), dtype=np.int64)
    dots = np.zeros(len(matrix), dtype=np.int64)
    n_blocks = len(lengths.edges) - 1
    for block in range(n_blocks):
        search.read(rows, dots, block)
        if block + 1 < n_blocks:
            likely, possible = search.bounds(rows, dots, block + 1)
            # At least `count` rows reach this cosine; a row whose bound is below it cannot be among the best.
            limit = search.lowest_of_best(rows[_largest(likely, count)], count)
            kept = possible >= limit - _MARGIN
            rows, dots = rows[kept], dots[kept]
    return rows.astype(np.intp), search.cosines(rows, dots.astype(np.float64))


class _Search:
    """A query, what is known of its blocks, and the matrix."""

    def __init__(self, matrix: NDArray[np.int16], lengths: RowLengths, query: NDArray[np.int16]) -> None:
        self._matrix, self._lengths, self._query = matrix, lengths, np.ascontiguousarray(query)
        self._own = row_lengths(self._query[None])
        self._norm = float(self._own.norms[0])

    def read(self, rows: NDArray[np.int64], dots: NDArray[np.int64], block: int) -> None:
        first, last = self._lengths.edges[block : block + 2].tolist()
        _native.add_dots(self._matrix, self._lengths.largest, rows, self._query, first, last, dots)

    def bounds(self, rows: NDArray[np.int64], dots: NDArray[np.int64], block: int) -> tuple[Reals, Reals]:
        """Guess the cosines from the blocks before `block`, and say how high they can be at most."""
        means, deviations = self._rest(self._lengths, block, rows)
        own_means, own_deviations = self._rest(self._own, block, np.zeros(1, dtype=np.int64))
        guess = dots + (means * own_means).sum(axis=1)
        # Cauchy and Schwarz: unread parts, each less its mean, have at most the product of their lengths.
        most = guess + (deviations * own_deviations).sum(axis=1)
        return self.cosines(rows, guess), self.cosines(rows, most)

    @staticmethod
    def _rest(lengths: RowLengths, block: int, rows: NDArray[np.int64]) -> tuple[Reals, Reals]:
        """Cut unread blocks into means, times the root of their width, and lengths of what deviates."""
        # A block of width w and mean m has length m * sqrt(w) along the constant vector; the rest is at right
        # angles to it.
        means = lengths.sums[rows, block:] / np.sqrt(np.diff(lengths.edges)[block:])
        deviations = np.sqrt(np.maximum(lengths.squares[rows, block:] - means**2, 0))
        return means, deviations

    def lowest_of_best(self, rows: NDArray[np.int64], count: int) -> float:
        """Read the likely best rows to the end; so high a true neighbour must be at least."""
        if len(rows) < count:
            return -np.inf
        dots = np.zeros(len(rows), dtype=np.int64)
        last = int(self._lengths.edges[-1])
        _native.add_dots(self._matrix, self._lengths.largest, rows, self._query, 0, last, dots)
        return float(self.cosines(rows, dots.astype(np.float64)).min(initial=np.inf))

    def cosines(self, rows: NDArray[np.int64], dots: Reals) -> Reals:
        lengths = self._lengths.norms[rows] * self._norm
        return np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0)


def _largest(values: Reals, count: int) -> NDArray[np.intp]:
    if count >= len(values):
        return np.arange(len(values), dtype=np.intp)
    return np.sort(np.argpartition(-values, count)[:count])
