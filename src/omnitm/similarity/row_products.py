"""Dot products with every row of a matrix: exact and native for integers, and without a second copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from omnitm import _native
from omnitm.similarity.row_matrix import RowMatrix, row_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
