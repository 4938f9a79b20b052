"""How honest a map is at each point: the share of a word's true neighbours that are near it on the map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from omnitm.explorer.vocabulary_map.reduction import unit_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Progress = Callable[[float], None]

NEIGHBOURS = 10
_CANDIDATES = 40  # compared exactly, when comparing all pairs would take too long
_EXACT_WORK = 4e11  # multiplications; about ten seconds
_ROWS_AT_A_TIME = 256


def true_neighbours(
    matrix: NDArray[np.int16], reduced: NDArray[np.float32], progress: Progress | None = None
) -> NDArray[np.intp]:
    """Rows nearest to each row by cosine in the original space.

    Of a small model all pairs are compared; of a large one the pairs that are near along the main axes.
    """
    count = min(NEIGHBOURS, max(len(matrix) - 1, 0))
    if count == 0:
        return np.zeros((len(matrix), 0), dtype=np.intp)
    if len(matrix) ** 2 * float(matrix.shape[1]) <= _EXACT_WORK:
        return _nearest_of_all(matrix, count, progress)
    return _nearest_of_candidates(matrix, reduced, count, progress)


def share_kept(true: NDArray[np.intp], positions: NDArray[np.float32]) -> NDArray[np.float32]:
    """Share of the true neighbours among as many neighbours on the map, for each point."""
    from scipy.spatial import cKDTree

    n_points, count = true.shape
    if count == 0:
        return np.ones(n_points, dtype=np.float32)
    _, near = cKDTree(positions).query(positions, k=count + 1)
    kept = [
        len(set(mine.tolist()).intersection(drawn.tolist()) - {k}) / count
        for k, (mine, drawn) in enumerate(zip(true, near, strict=True))
    ]
    return np.array(kept, dtype=np.float32)


def _nearest_of_all(matrix: NDArray[np.int16], count: int, progress: Progress | None) -> NDArray[np.intp]:
    unit = unit_rows(matrix)
    found = []
    for start in range(0, len(unit), _ROWS_AT_A_TIME):
        scores = unit[start : start + _ROWS_AT_A_TIME] @ unit.T
        scores[np.arange(len(scores)), np.arange(start, start + len(scores))] = -np.inf
        found.append(np.argpartition(-scores, count - 1, axis=1)[:, :count])
        if progress is not None:
            progress((start + len(scores)) / len(unit))
    return np.concatenate(found)


def _nearest_of_candidates(
    matrix: NDArray[np.int16], reduced: NDArray[np.float32], count: int, progress: Progress | None
) -> NDArray[np.intp]:
    lengths = np.linalg.norm(reduced, axis=1, keepdims=True)
    unit = reduced / np.where(lengths > 0, lengths, 1)
    found = np.empty((len(matrix), count), dtype=np.intp)
    for start in range(0, len(unit), _ROWS_AT_A_TIME):
        scores = unit[start : start + _ROWS_AT_A_TIME] @ unit.T
        scores[np.arange(len(scores)), np.arange(start, start + len(scores))] = -np.inf
        likely = np.argpartition(-scores, _CANDIDATES - 1, axis=1)[:, :_CANDIDATES]
        for k, rows in enumerate(likely, start):
            block = unit_rows(matrix[np.append(rows, k)])
            exact = block[:-1] @ block[-1]
            found[k] = rows[np.argpartition(-exact, count - 1)[:count]]
        if progress is not None:
            progress((start + len(scores)) / len(unit))
    return found
