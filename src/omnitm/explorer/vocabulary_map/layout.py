"""From vectors to a map of the vocabulary.

True neighbours by the model's own metric, a first layout along the main axes, points arranged by t-SNE,
clusters with names, and how far each point can be trusted: the share of a word's true neighbours that are
near it on the map.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from omnitm.errors import MissingExtraError
from omnitm.explorer.vocabulary_map.stored import VocabularyMap
from omnitm.similarity.combined import Combined

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from omnitm.vectors import WordVectors

    Progress = Callable[[float], None]

    StepProgress = Callable[[str, float], None]


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


_ROWS_AT_A_TIME = 512
_WORDS_AT_A_TIME = 64
_NEAR_AXES = 256


class NeighbourLists(NamedTuple):
    """The nearest rows of every row, nearest first, and their scores; words x neighbours."""

    rows: NDArray[np.int64]
    scores: NDArray[np.float32]


def map_metric(vectors: WordVectors) -> str:
    """Name the metric whose neighbours a map tries to keep: the default, if it compares trained words."""
    return "similarity" if vectors.default_metric == "similarity" else "cosine"


def true_neighbours(vectors: WordVectors, count: int, progress: Progress | None = None) -> NeighbourLists:
    """Find the nearest words of every word by the metric of the map."""
    if map_metric(vectors) == "similarity":
        return _by_similarity(vectors, min(count, max(len(vectors) - 1, 0)), progress)
    return _by_cosine(vectors, min(count, max(len(vectors) - 1, 0)), progress)


def _by_similarity(vectors: WordVectors, count: int, progress: Progress | None) -> NeighbourLists:
    if len(vectors) > _MANY:
        return _nearest(_smoothed_axes(vectors), count, progress)
    found = NeighbourLists(
        np.zeros((len(vectors), count), np.int64), np.zeros((len(vectors), count), np.float32)
    )
    similarity = Combined("similarity")
    for start in range(0, len(vectors) if count else 0, _WORDS_AT_A_TIME):
        rows = np.arange(start, min(start + _WORDS_AT_A_TIME, len(vectors)))
        found.rows[rows], found.scores[rows] = similarity.nearest_of_rows(vectors, rows, count)
        if progress is not None:
            progress((rows[-1] + 1) / len(vectors))
    return found


def _by_cosine(vectors: WordVectors, count: int, progress: Progress | None) -> NeighbourLists:
    """Compare all pairs: these are few words, or few dimensions."""
    return _nearest(unit_rows(vectors.matrix), count, progress)


def _smoothed_axes(vectors: WordVectors) -> NDArray[np.float32]:
    """Rows whose products are about the similarity of words: its two smoothed parts, on the main axes.

    Comparing all pairs of 40,000 words exactly takes 200 CPU seconds, this 40; of the ten nearest words
    about seven are among the ninety found so.
    """
    profiles, scales = vectors.profiles, np.sqrt(Combined("similarity").scales(vectors))
    parts = [profiles.topic_rows * np.float32(scales[2])]
    if profiles.place is not None:
        parts.append(profiles.place.smooth * np.float32(scales[4]))
    rows = np.concatenate(parts, axis=1)
    _, axes = np.linalg.eigh(rows.T @ rows)
    return np.ascontiguousarray(rows @ axes[:, ::-1][:, :_NEAR_AXES])


def _nearest(units: NDArray[np.float32], count: int, progress: Progress | None) -> NeighbourLists:
    """Find the rows with the highest products with every row."""
    rows, values = np.zeros((len(units), count), np.int64), np.zeros((len(units), count), np.float32)
    for start in range(0, len(units) if count else 0, _ROWS_AT_A_TIME):
        scores = units[start : start + _ROWS_AT_A_TIME] @ units.T
        end, own = start + len(scores), np.arange(len(scores))
        scores[own, start + own] = -np.inf
        likely = np.argpartition(scores, len(units) - count, axis=1)[:, len(units) - count :]
        near = np.take_along_axis(scores, likely, axis=1)
        order = np.argsort(-near, axis=1, kind="stable")
        rows[start:end] = np.take_along_axis(likely, order, axis=1)
        values[start:end] = np.take_along_axis(near, order, axis=1)
        if progress is not None:
            progress(end / len(units))
    return NeighbourLists(rows, values)


PERPLEXITY = 30
N_NEIGHBOURS = 3 * PERPLEXITY  # what t-SNE looks at for this perplexity
_ITERATIONS = 250, 500  # first with attraction exaggerated, then as it is
_ITERATIONS_OF_MANY = 150, 350  # many points cost a tenth of a CPU second each time
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
    early, late = _ITERATIONS_OF_MANY if len(start) > _MANY else _ITERATIONS
    for done, iterations, pull in ((0, early, _EXAGGERATION), (early, late, None)):
        tell = _teller(done, early + late, progress)
        points = points.optimize(
            n_iter=iterations,
            exaggeration=pull,
            momentum=0.5 if pull else 0.8,
            learning_rate="auto",
            callbacks=tell,
            callbacks_every_iters=_TOLD_EVERY,
        )
    return np.asarray(points, dtype=np.float32)


def _teller(before: int, total: int, progress: Progress | None) -> Any:
    def tell(iteration: int, _error: float, _points: object) -> None:
        if progress is not None:
            progress((before + iteration) / total)

    return tell


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


N_CLUSTERS = 7  # as many as there are colours that everybody can tell apart
_AXES = 50
_FEW = 6  # words; too few for a layout of neighbourhoods


def first_map(vectors: WordVectors) -> VocabularyMap:
    """Lay the words out along the two main axes: quick, but neighbours are often torn apart."""
    axes = _axes(vectors)
    clusters, names = _clusters(axes, vectors.index_to_key)
    return VocabularyMap(_square(axes), None, clusters, names, "PCA", map_metric(vectors))


def full_map(vectors: WordVectors, progress: StepProgress) -> VocabularyMap:
    """Lay the words out so that neighbours stay together (t-SNE), and measure how well that went."""
    progress("reading the vectors", 0.0)
    axes = _axes(vectors)
    true = true_neighbours(vectors, N_NEIGHBOURS, lambda done: progress("finding true neighbours", done))
    points = axes
    if len(axes) > _FEW:
        points = arranged(true, _plane(axes), lambda done: progress("arranging the words", done))
    positions = _square(points)
    clusters, names = _clusters(axes, vectors.index_to_key)
    kept = share_kept(true.rows[:, :NEIGHBOURS], positions)
    return VocabularyMap(positions, kept, clusters, names, "t-SNE", map_metric(vectors))


def _axes(vectors: WordVectors) -> NDArray[np.float32]:
    """Find the main axes of the space in which the model's metric compares words: words x axes."""
    if map_metric(vectors) == "similarity":
        return main_axes(vectors.profiles.smooth, _AXES)
    return main_axes(vectors.matrix, _AXES)


def _plane(points: NDArray[np.float32]) -> NDArray[np.float32]:
    flat = np.zeros((len(points), 2), dtype=np.float32)
    flat[:, : min(2, points.shape[1])] = points[:, :2]
    return flat


def _square(points: NDArray[np.float32]) -> NDArray[np.float32]:
    """Move and scale the first two dimensions into -1..1."""
    flat = _plane(points)
    if len(flat):
        flat -= (flat.max(axis=0) + flat.min(axis=0)) / 2
        flat /= max(float(np.abs(flat).max()), 1e-12)
    return flat


def _clusters(axes: NDArray[np.float32], words: list[str]) -> tuple[NDArray[np.uint8], list[str]]:
    """Group the words by direction; a group is named after frequent words near its middle."""
    n_clusters = min(N_CLUSTERS, len(axes))
    if n_clusters == 0:
        return np.zeros(0, dtype=np.uint8), []
    if not axes.any():  # all words are the same, so they are one group
        return np.zeros(len(axes), dtype=np.uint8), [", ".join(words[:3])]
    from sklearn.cluster import MiniBatchKMeans

    lengths = np.linalg.norm(axes, axis=1, keepdims=True)
    unit = axes / np.where(lengths > 0, lengths, 1)
    found = MiniBatchKMeans(n_clusters, random_state=0, n_init=3, batch_size=4096).fit(unit)
    return found.labels_.astype(np.uint8), [
        _cluster_name(unit @ found.cluster_centers_[k], found.labels_ == k, words) for k in range(n_clusters)
    ]


def _cluster_name(closeness: NDArray[np.float32], members: NDArray[np.bool_], words: list[str]) -> str:
    n_members = int(members.sum())
    near = np.argsort(-np.where(members, closeness, -np.inf))[: min(n_members, max(3, n_members // 20))]
    return ", ".join(words[k] for k in np.sort(near)[:3].tolist())
