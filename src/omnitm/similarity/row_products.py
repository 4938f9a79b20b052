"""Dot products with every row, and rows of the highest cosines: exact, and without a second copy."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from omnitm import _native
from omnitm.similarity.row_matrix import RowMatrix, plain_array, row_blocks

Reals = NDArray[np.float64]


_STEPS = 32_767  # a vector of real numbers is cut into two int16 vectors: coarse steps, and steps of steps

_EDGES = (0, 4096, 8192, 16384)  # of blocks of columns; frequent words, which vary most, come first


class RowLengths(NamedTuple):
    """What is known about the rows of a matrix after reading it once."""

    norms: NDArray[np.float64]
    """Euclidean length of every row."""
    largest: int
    """Largest magnitude in the matrix."""
    edges: NDArray[np.int64]
    """Where blocks of columns begin, and the last one ends; none for real numbers."""
    sums: NDArray[np.int64]
    """Sum of every block, rows x blocks."""
    squares: NDArray[np.int64]
    """Sum of the squares of every block, rows x blocks."""


def row_lengths(matrix: NDArray[Any]) -> RowLengths:
    """Measure every row, and blocks of columns of integers."""
    n_rows, n_columns = matrix.shape
    edges = np.array([*(edge for edge in _EDGES if edge < n_columns), n_columns], dtype=np.int64)
    if matrix.dtype != np.int16:
        edges = edges[:0]
    shape = n_rows, max(0, len(edges) - 1)
    sums, squares, norms = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64), np.empty(n_rows)
    largest = 0
    for start, block in row_blocks(matrix):
        part = slice(start, start + len(block))
        if block.dtype != np.int16:
            norms[part] = np.sqrt(np.einsum("ij,ij->i", block, block, dtype=np.float64))
            continue
        found = _native.block_sums(block, edges, sums[part].reshape(-1), squares[part].reshape(-1))
        largest = max(largest, found)
        norms[part] = np.sqrt(squares[part].sum(axis=1))
    return RowLengths(norms, largest, edges, sums, squares)


def row_dots(matrix: NDArray[Any], largest: int, vector: NDArray[Any]) -> NDArray[np.float64]:
    """Multiply every row with a vector: exactly if both are int16, else to 9 digits of its largest number.

    A float32 matrix is multiplied as numpy does it.
    """
    if matrix.dtype != np.int16:
        parts = [block @ vector.astype(matrix.dtype) for _, block in row_blocks(matrix)]
        return np.asarray(np.concatenate([np.zeros(0), *parts]), dtype=np.float64)
    if vector.dtype == np.int16:
        return _integer_dots(matrix, largest, vector[None])[:, 0].astype(np.float64)
    magnitude = float(np.abs(vector).max(initial=0.0))
    if magnitude == 0:
        return np.zeros(len(matrix))
    scaled = vector.astype(np.float64) / magnitude * _STEPS
    coarse = np.rint(scaled)
    fine = np.rint((scaled - coarse) * _STEPS)
    dots = _integer_dots(matrix, largest, np.stack([coarse, fine]).astype(np.int16))
    return (dots[:, 0] + dots[:, 1] / _STEPS) * (magnitude / _STEPS)


def _integer_dots(
    matrix: NDArray[np.int16] | RowMatrix, largest: int, queries: NDArray[np.int16]
) -> NDArray[np.int64]:
    queries = np.ascontiguousarray(queries)
    if not isinstance(matrix, np.ndarray):
        return matrix.dots(largest, queries)
    dots = np.empty((len(matrix), len(queries)), dtype=np.int64)
    _native.row_dots(matrix, largest, queries, dots.reshape(-1))
    return dots


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
            limit = search.lowest_of_best(rows[largest_places(likely, count)], count)
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


def largest_places(values: NDArray[Any], count: int) -> NDArray[np.intp]:
    """Return the places of the largest values, ascending."""
    if count >= len(values):
        return np.arange(len(values), dtype=np.intp)
    return np.sort(np.argpartition(-values, count)[:count])
