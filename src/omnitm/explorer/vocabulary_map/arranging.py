"""Points on a plane whose neighbours are those of a list: t-SNE, by openTSNE's interpolated gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from omnitm.similarity.nearest_rows import NeighbourLists

    Progress = Callable[[float], None]

PERPLEXITY = 30
N_NEIGHBOURS = 3 * PERPLEXITY  # what t-SNE looks at for this perplexity
_EARLY, _LATE = 250, 500  # iterations: first with attraction exaggerated, then as it is
_EXAGGERATION = 12
_TOLD_EVERY = 10
_MANY = 5_000  # points from which a grid is quicker than a tree
_START = 1e-4  # deviation of the first positions, as t-SNE wants it


def arranged(
    neighbours: NeighbourLists, start: NDArray[np.float32], progress: Progress | None = None
) -> NDArray[np.float32]:
    """Arrange points so that neighbours stay together.

    The same bits for the same input: nothing is drawn at random, and one thread works.

    Parameters
    ----------
    neighbours
        Nearest rows and their scores; differences of scores count as differences of squared distances.
    start
        Points x 2: where they begin, at any scale.
    """
    try:
        from openTSNE import TSNEEmbedding, affinity
        from openTSNE.nearest_neighbors import PrecomputedNeighbors
    except ImportError:
        raise MissingExtraError("The map of the vocabulary", "explorer") from None
    distances = np.sqrt(np.maximum(neighbours.scores[:, :1] - neighbours.scores, 0)).astype(np.float64)
    known = PrecomputedNeighbors(neighbours.rows, distances)
    perplexity = min(PERPLEXITY, max(neighbours.rows.shape[1] / 3, 1))
    attraction = affinity.PerplexityBasedNN(knn_index=known, perplexity=perplexity, n_jobs=1)
    scale = _START / max(float(start[:, 0].std()), 1e-12)
    points = TSNEEmbedding(
        start.astype(np.float64) * scale,
        attraction,
        negative_gradient_method="fft" if len(start) > _MANY else "bh",
        n_jobs=1,
        random_state=0,
    )
    for done, iterations, pull in ((0, _EARLY, _EXAGGERATION), (_EARLY, _LATE, None)):
        tell = _teller(done, progress)
        points = points.optimize(
            n_iter=iterations,
            exaggeration=pull,
            momentum=0.5 if pull else 0.8,
            learning_rate="auto",
            callbacks=tell,
            callbacks_every_iters=_TOLD_EVERY,
        )
    return np.asarray(points, dtype=np.float32)


def _teller(before: int, progress: Progress | None) -> Any:
    def tell(iteration: int, _error: float, _points: object) -> None:
        if progress is not None:
            progress((before + iteration) / (_EARLY + _LATE))

    return tell
