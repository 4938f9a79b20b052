"""From vectors to a map: neighbours, then points; clusters with names; honesty."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from omnitm.explorer.vocabulary_map.arranging import N_NEIGHBOURS, arranged
from omnitm.explorer.vocabulary_map.neighbours import map_metric, true_neighbours
from omnitm.explorer.vocabulary_map.reduction import main_axes
from omnitm.explorer.vocabulary_map.stored import VocabularyMap
from omnitm.explorer.vocabulary_map.trustworthiness import NEIGHBOURS, share_kept

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from omnitm.vectors import WordVectors

    Progress = Callable[[str, float], None]

N_CLUSTERS = 7  # as many as there are colours that everybody can tell apart
_AXES = 50
_FEW = 6  # words; too few for a layout of neighbourhoods


def first_map(vectors: WordVectors) -> VocabularyMap:
    """Lay the words out along the two main axes: a second's work, with little honesty."""
    axes = _axes(vectors)
    clusters, names = _clusters(axes, vectors.index_to_key)
    return VocabularyMap(_square(axes), None, clusters, names, "PCA", map_metric(vectors))


def full_map(vectors: WordVectors, progress: Progress) -> VocabularyMap:
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
        return main_axes(vectors.likeness.company.smooth, _AXES)
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
