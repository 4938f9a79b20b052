"""Dot products with every row of a matrix: exact and native for integers, and without a second copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from omnitm import _native

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
    if matrix.dtype != np.int16:
        norms = np.sqrt(np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64))
        nothing = np.zeros((n_rows, 0), dtype=np.int64)
        return RowLengths(norms, 0, np.zeros(0, dtype=np.int64), nothing, nothing)
    edges = np.array([*(edge for edge in _EDGES if edge < n_columns), n_columns], dtype=np.int64)
    shape = n_rows, len(edges) - 1
    sums, squares = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    largest = _native.block_sums(matrix, edges, sums.reshape(-1), squares.reshape(-1))
    return RowLengths(np.sqrt(squares.sum(axis=1)), largest, edges, sums, squares)


def row_dots(matrix: NDArray[Any], largest: int, vector: NDArray[Any]) -> NDArray[np.float64]:
    """Multiply every row with a vector: exactly if both are int16, else to 9 digits of its largest number.

    A float32 matrix is multiplied as numpy does it.
    """
    if matrix.dtype != np.int16:
        return np.asarray(matrix @ vector.astype(matrix.dtype), dtype=np.float64)
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


def _integer_dots(matrix: NDArray[np.int16], largest: int, queries: NDArray[np.int16]) -> NDArray[np.int64]:
    dots = np.empty(len(matrix) * len(queries), dtype=np.int64)
    _native.row_dots(matrix, largest, np.ascontiguousarray(queries), dots)
    return dots.reshape(len(matrix), len(queries))
