"""How honest a map is at each point: the share of a word's true neighbours that are near it on the map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEIGHBOURS = 10


def share_kept(true: NDArray[np.int64], positions: NDArray[np.float32]) -> NDArray[np.float32]:
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
