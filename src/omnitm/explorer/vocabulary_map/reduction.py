"""Vectors in few dimensions: the main axes of unit rows, found in a few passes over a matrix on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Progress = Callable[[float], None]

_ROWS_AT_A_TIME = 512
_PASSES = 3


def main_axes(
    matrix: NDArray[np.int16], n_axes: int, *, seed: int = 0, progress: Progress | None = None
) -> NDArray[np.float32]:
    """Project unit rows, less their mean, on the axes along which they differ most.

    Subspace iteration on the features' covariance: the matrix is read `_PASSES` + 2 times, by blocks of rows.
    """
    n_axes = min(n_axes, *matrix.shape)
    if n_axes == 0:
        return np.zeros((len(matrix), 0), dtype=np.float32)
    tell = _Teller(_PASSES + 2, progress)
    mean = sum(block.sum(axis=0, dtype=np.float64) for block in tell.reading(matrix)) / len(matrix)
    mean = np.asarray(mean, dtype=np.float32)
    start = np.random.default_rng(seed).standard_normal((matrix.shape[1], n_axes))
    axes, _ = np.linalg.qr(start.astype(np.float32))
    for _ in range(_PASSES):
        image = np.zeros_like(axes)
        for block in tell.reading(matrix):
            centred = block - mean
            image += centred.T @ (centred @ axes)
        axes, _ = np.linalg.qr(image)
    scores = np.concatenate([(block - mean) @ axes for block in tell.reading(matrix)])
    left, lengths, _ = np.linalg.svd(scores, full_matrices=False)
    signs = np.sign(left[np.abs(left).argmax(axis=0), np.arange(n_axes)])  # a mirror image is the same map
    reduced: NDArray[np.float32] = left * lengths * signs
    return reduced


class _Teller:
    """Reads the matrix and tells how much of all reading is done."""

    def __init__(self, n_passes: int, progress: Progress | None) -> None:
        self._n_passes, self._done, self._progress = n_passes, 0.0, progress

    def reading(self, matrix: NDArray[np.int16]) -> Iterator[NDArray[np.float32]]:
        for start in range(0, len(matrix), _ROWS_AT_A_TIME):
            block = unit_rows(matrix[start : start + _ROWS_AT_A_TIME])
            yield block
            self._done += len(block) / len(matrix) / self._n_passes
            if self._progress is not None:
                self._progress(min(self._done, 1.0))


def unit_rows(rows: NDArray[np.int16]) -> NDArray[np.float32]:
    """Scale rows to length 1, except those of zeros."""
    block = rows.astype(np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", block, block))
    block /= np.where(lengths > 0, lengths, 1)[:, None]
    return block
