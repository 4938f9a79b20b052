"""From vectors to a map: few dimensions, then two; clusters with names; honesty."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from omnitm.explorer.vocabulary_map.honesty import share_kept, true_neighbours
from omnitm.explorer.vocabulary_map.reduction import main_axes, unit_rows
from omnitm.explorer.vocabulary_map.stored import VocabularyMap

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from omnitm.embedding import WordVectors

    Progress = Callable[[str, float], None]

N_CLUSTERS = 7  # as many as there are colours that everybody can tell apart
_AXES, _FIRST_AXES = 50, 10
_SAMPLE = 400  # rows that are enough for the axes of a first map
_PERPLEXITY = 30.0
_ITERATIONS = 1_000
_FEW = 6  # words; too few for a layout of neighbourhoods


def first_map(vectors: WordVectors) -> VocabularyMap:
    """Lay the words out along the two main axes: a second's work, with little honesty."""
    matrix = vectors.matrix
    rows = np.linspace(0, max(len(matrix) - 1, 0), min(_SAMPLE, len(matrix)), dtype=np.intp)
    sample = unit_rows(matrix[rows])
    mean = sample.mean(axis=0) if len(sample) else np.zeros(matrix.shape[1], dtype=np.float32)
    axes = _sample_axes(sample - mean)
    scores = np.concatenate(
        [(unit_rows(matrix[start : start + 512]) - mean) @ axes.T for start in range(0, len(matrix), 512)]
        or [np.zeros((0, 2), dtype=np.float32)]
    )
    clusters, names = _clusters(scores, vectors.index_to_key)
    return VocabularyMap(_square(scores), None, clusters, names, "PCA")


def full_map(vectors: WordVectors, progress: Progress) -> VocabularyMap:
    """Lay the words out so that neighbours stay together (t-SNE), and measure how well that went."""
    matrix = vectors.matrix
    reduced = main_axes(matrix, _AXES, progress=lambda done: progress("reading the vectors", done))
    true = true_neighbours(matrix, reduced, lambda done: progress("finding true neighbours", done))
    progress("arranging the words", 0.0)
    positions = _square(_arranged(reduced))
    clusters, names = _clusters(reduced, vectors.index_to_key)
    return VocabularyMap(positions, share_kept(true, positions), clusters, names, "t-SNE")


def _arranged(reduced: NDArray[np.float32]) -> NDArray[np.float32]:
    if len(reduced) <= _FEW:
        return reduced
    from sklearn.manifold import TSNE

    perplexity = min(_PERPLEXITY, (len(reduced) - 1) / 3)
    # verbose: scikit-learn prints every 50th iteration, which the parent process reads as progress
    layout = TSNE(
        perplexity=perplexity, init="pca", random_state=0, verbose=2, n_jobs=-1, max_iter=_ITERATIONS
    )
    positions: NDArray[np.float32] = layout.fit_transform(reduced)
    return positions


def _sample_axes(centred: NDArray[np.float32]) -> NDArray[np.float32]:
    """Find the main axes of a sample by way of the small matrix of its rows' products."""
    if not len(centred):
        return np.zeros((0, centred.shape[1]), dtype=np.float32)
    values, vectors = np.linalg.eigh(centred @ centred.T)
    axes = vectors[:, np.argsort(-values)[:_FIRST_AXES]].T @ centred
    lengths = np.linalg.norm(axes, axis=1, keepdims=True)
    scaled: NDArray[np.float32] = (axes / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return scaled


def _square(positions: NDArray[np.float32]) -> NDArray[np.float32]:
    """Move and scale the first two dimensions into -1..1."""
    flat = np.zeros((len(positions), 2), dtype=np.float32)
    flat[:, : min(2, positions.shape[1])] = positions[:, :2]
    if len(flat):
        flat -= (flat.max(axis=0) + flat.min(axis=0)) / 2
        flat /= max(float(np.abs(flat).max()), 1e-12)
    return flat


def _clusters(reduced: NDArray[np.float32], words: list[str]) -> tuple[NDArray[np.uint8], list[str]]:
    """Group the words by direction; a group is named after the words nearest to its middle."""
    n_clusters = min(N_CLUSTERS, len(reduced))
    if n_clusters == 0:
        return np.zeros(0, dtype=np.uint8), []
    from sklearn.cluster import MiniBatchKMeans

    lengths = np.linalg.norm(reduced, axis=1, keepdims=True)
    unit = reduced / np.where(lengths > 0, lengths, 1)
    found = MiniBatchKMeans(n_clusters, random_state=0, n_init=3, batch_size=4096).fit(unit)
    return found.labels_.astype(np.uint8), [
        _cluster_name(unit @ found.cluster_centers_[k], found.labels_ == k, words) for k in range(n_clusters)
    ]


def _cluster_name(closeness: NDArray[np.float32], members: NDArray[np.bool_], words: list[str]) -> str:
    order = np.argsort(-np.where(members, closeness, -np.inf))[: min(3, int(members.sum()))]
    return ", ".join(words[k] for k in order.tolist())
