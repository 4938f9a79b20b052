"""Vectors in few dimensions: the main axes of unit rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def main_axes(matrix: NDArray[Any], n_axes: int) -> NDArray[np.float32]:
    """Project unit rows, less their mean, on the axes along which they differ most; longest axis first."""
    n_axes = min(n_axes, *matrix.shape)
    if n_axes == 0:
        return np.zeros((len(matrix), 0), dtype=np.float32)
    rows = unit_rows(matrix)
    rows -= rows.mean(axis=0)
    if rows.shape[1] <= rows.shape[0]:
        _, axes = np.linalg.eigh(rows.T @ rows)
        scores = rows @ axes[:, : -n_axes - 1 : -1]
    else:
        squares, turns = np.linalg.eigh(rows @ rows.T)
        lengths = np.sqrt(np.maximum(squares, 0))
        scores = (turns * lengths)[:, : -n_axes - 1 : -1]
    # a mirror image is the same map
    signs = np.sign(scores[np.abs(scores).argmax(axis=0), np.arange(n_axes)])
    return np.ascontiguousarray(scores * np.where(signs == 0, 1, signs), dtype=np.float32)


def unit_rows(rows: NDArray[Any]) -> NDArray[np.float32]:
    """Scale rows to length 1, except those of zeros."""
    block = np.array(rows[:], dtype=np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", block, block))
    block /= np.where(lengths > 0, lengths, 1)[:, None]
    return block
