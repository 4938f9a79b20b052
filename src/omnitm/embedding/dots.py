"""Dot products with every row of an integer matrix, in row chunks, so that no second copy is held."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_CHUNK_BYTES = 1 << 22


def row_dots(matrix: NDArray[np.int16], vector: NDArray[np.floating]) -> NDArray[np.float32]:
    """Multiply every row with a vector of real numbers."""
    query = vector.astype(np.float32)
    dots = np.empty(len(matrix), dtype=np.float32)
    for rows in _chunks(matrix):
        dots[rows] = matrix[rows].astype(np.float32) @ query
    return dots


def row_norms(matrix: NDArray[np.int16]) -> NDArray[np.float32]:
    """Return the Euclidean length of every row."""
    norms = np.empty(len(matrix), dtype=np.float32)
    for rows in _chunks(matrix):
        chunk = matrix[rows].astype(np.float32)
        norms[rows] = np.sqrt(np.einsum("ij,ij->i", chunk, chunk))
    return norms


def _chunks(matrix: NDArray[np.int16]) -> Iterator[slice]:
    step = max(1, _CHUNK_BYTES // (4 * max(1, matrix.shape[1])))
    return (slice(start, start + step) for start in range(0, len(matrix), step))
