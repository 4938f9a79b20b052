"""What a set of words has in common, and other words have not: a mean similarity taken apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.explorer.vocabulary_map.neighbours import map_metric
from omnitm.explorer.vocabulary_map.reduction import unit_rows
from omnitm.similarity.combined import unit_row
from omnitm.similarity.scorers import best

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from omnitm.vectors import WordVectors

    Rows = Callable[[NDArray[np.intp]], NDArray[np.float32]]

_ROWS_AT_A_TIME = 128
_SAMPLE = 500  # words that are enough for the mean of all


def in_common(vectors: WordVectors, words: Sequence[str], count: int) -> dict[str, Any]:
    """Take the mean similarity of all pairs of words apart.

    Compared is what stands out in each vector, at length 1, as in the default similarity; in models with too
    few words for that, unit vectors less the mean of all words. Coordinate c of such vectors u_i adds
    ((sum u_i[c])^2 - sum u_i[c]^2) / (n (n - 1)): these numbers, one per word of the vocabulary, add up to
    the mean of u_i @ u_j over all pairs. Reported are those where the words lie above the mean.
    """
    rows = np.array([vectors.get_index(word) for word in dict.fromkeys(words)], dtype=np.intp)
    read = _reader(vectors)
    sums, squares = np.zeros(vectors.vector_size), np.zeros(vectors.vector_size)
    for block in _blocks(rows):
        values = read(block)
        sums += values.sum(axis=0, dtype=np.float64)
        squares += np.square(values).sum(axis=0, dtype=np.float64)
    shares = (sums**2 - squares) / max(len(rows) * (len(rows) - 1), 1)
    above = np.where(sums > 0, shares, 0.0)
    closeness = np.concatenate([read(block) @ sums for block in _blocks(rows)] or [np.zeros(0)])
    return {
        "n_words": len(rows),
        "mean_similarity": float(shares.sum()),
        "shares": [
            {"feature": vectors.feature_names[k], "share": float(shares[k])}
            for k in best(above, count).tolist()
            if above[k] > 0
        ],
        "central": [vectors.index_to_key[rows[k]] for k in best(closeness, min(count, 8)).tolist()],
    }


def _blocks(rows: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    return [rows[start : start + _ROWS_AT_A_TIME] for start in range(0, len(rows), _ROWS_AT_A_TIME)]


def _reader(vectors: WordVectors) -> Rows:
    """Choose how rows are read."""
    if map_metric(vectors) == "similarity":
        return lambda rows: np.stack([unit_row(vectors, vectors.index_to_key[row]) for row in rows])
    mean = common_mean(vectors)
    return lambda rows: unit_rows(vectors.matrix[rows]) - mean


def common_mean(vectors: WordVectors) -> NDArray[np.float32]:
    """Estimate the mean unit vector of all words from evenly chosen ones."""
    n_words = len(vectors)
    rows = np.unique(np.linspace(0, max(n_words - 1, 0), min(n_words, _SAMPLE), dtype=np.intp))
    mean: NDArray[np.float32] = unit_rows(vectors.matrix[rows]).mean(axis=0)
    return mean
