"""The true neighbours of every word: those that the model's own metric finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from omnitm.explorer.vocabulary_map.reduction import unit_rows
from omnitm.similarity.nearest_rows import NeighbourLists, highest, neighbour_lists

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnitm.vectors import WordVectors

    Progress = Callable[[float], None]

_ROWS_AT_A_TIME = 512


def map_metric(vectors: WordVectors) -> str:
    """Name the metric whose neighbours a map tries to keep: the default, if it compares trained words."""
    return "similarity" if vectors.default_metric == "similarity" else "cosine"


def true_neighbours(vectors: WordVectors, count: int, progress: Progress | None = None) -> NeighbourLists:
    """Find the nearest words of every word by the metric of the map."""
    if map_metric(vectors) == "similarity":
        return neighbour_lists(vectors, count, progress)
    return _by_cosine(vectors, min(count, max(len(vectors) - 1, 0)), progress)


def _by_cosine(vectors: WordVectors, count: int, progress: Progress | None) -> NeighbourLists:
    """Compare all pairs: these are few words, or few dimensions."""
    units = unit_rows(vectors.matrix)
    rows, values = np.zeros((len(units), count), np.int64), np.zeros((len(units), count), np.float32)
    for start in range(0, len(units) if count else 0, _ROWS_AT_A_TIME):
        scores = units[start : start + _ROWS_AT_A_TIME] @ units.T
        end, own = start + len(scores), np.arange(len(scores))
        scores[own, start + own] = -np.inf
        likely = highest(scores, count)
        near = np.take_along_axis(scores, likely, axis=1)
        order = np.argsort(-near, axis=1, kind="stable")
        rows[start:end] = np.take_along_axis(likely, order, axis=1)
        values[start:end] = np.take_along_axis(near, order, axis=1)
        if progress is not None:
            progress(end / len(units))
    return NeighbourLists(rows, values)
