"""Dot products with every row of a matrix: exact and native for integers, and without a second copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from omnitm import _native
from omnitm.embedding.rows import row_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STEPS = 32_767  # a vector of real numbers is cut into two int16 vectors: coarse steps, and steps of steps


class RowLengths(NamedTuple):
    """What is known about the rows of a matrix after reading it once."""

    norms: NDArray[np.float64]
    """Euclidean length of every row."""
    largest: int
    """Largest magnitude in the matrix."""


def row_lengths(matrix: NDArray[Any]) -> RowLengths:
    """Measure every row."""
    norms, largest = np.empty(len(matrix)), 0
    for start, block in row_blocks(matrix):
        if block.dtype != np.int16:
            norms[start : start + len(block)] = np.sqrt(np.einsum("ij,ij->i", block, block, dtype=np.float64))
            continue
        squares = np.empty(len(block), dtype=np.int64)
        largest = max(largest, _native.row_squares(block, squares))
        norms[start : start + len(block)] = np.sqrt(squares)
    return RowLengths(norms, largest)


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


def _integer_dots(matrix: NDArray[np.int16], largest: int, queries: NDArray[np.int16]) -> NDArray[np.int64]:
    dots = np.empty((len(matrix), len(queries)), dtype=np.int64)
    queries = np.ascontiguousarray(queries)
    for start, block in row_blocks(matrix):
        _native.row_dots(block, largest, queries, dots[start : start + len(block)].reshape(-1))
    return dots
