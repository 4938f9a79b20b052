"""What a set of words has in common, and other words have not: a mean similarity taken apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.embedding.metrics import best
from omnitm.explorer.vocabulary_map.reduction import unit_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from omnitm.embedding import WordVectors

_ROWS_AT_A_TIME = 128
_SAMPLE = 500  # words that are enough for the mean of all


def in_common(vectors: WordVectors, words: Sequence[str], count: int) -> dict[str, Any]:
    """Take the mean similarity of all pairs of words apart.

    Vectors are scaled to length 1, less the mean of all words, which all share. Coordinate c of such vectors
    u_i adds ((sum u_i[c])^2 - sum u_i[c]^2) / (n (n - 1)): these numbers, one per word of the vocabulary, add
    up to the mean of u_i @ u_j over all pairs. Reported are those where the words lie above the mean.
    """
    rows = np.array([vectors.get_index(word) for word in dict.fromkeys(words)], dtype=np.intp)
    sums, squares = _sums(vectors, rows, common_mean(vectors))
    shares = (sums**2 - squares) / max(len(rows) * (len(rows) - 1), 1)
    above = np.where(sums > 0, shares, 0.0)
    return {
        "n_words": len(rows),
        "mean_similarity": float(shares.sum()),
        "shares": [
            {"feature": vectors.feature_names[k], "share": float(shares[k])}
            for k in best(above, count).tolist()
            if above[k] > 0
        ],
        "central": _central(vectors, rows, sums, min(count, 8)),
    }


def common_mean(vectors: WordVectors) -> NDArray[np.float32]:
    """Estimate the mean unit vector of all words from evenly chosen ones."""
    n_words = len(vectors)
    rows = np.unique(np.linspace(0, max(n_words - 1, 0), min(n_words, _SAMPLE), dtype=np.intp))
    mean: NDArray[np.float32] = unit_rows(vectors.matrix[rows]).mean(axis=0)
    return mean


def _sums(
    vectors: WordVectors, rows: NDArray[np.intp], mean: NDArray[np.float32]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    sums, squares = np.zeros(vectors.vector_size), np.zeros(vectors.vector_size)
    for start in range(0, len(rows), _ROWS_AT_A_TIME):
        block = unit_rows(vectors.matrix[rows[start : start + _ROWS_AT_A_TIME]]) - mean
        sums += block.sum(axis=0, dtype=np.float64)
        squares += np.square(block).sum(axis=0, dtype=np.float64)
    return sums, squares


def _central(
    vectors: WordVectors, rows: NDArray[np.intp], sums: NDArray[np.float64], count: int
) -> list[str]:
    """Words nearest to the mean of all."""
    scores = np.concatenate(
        [
            unit_rows(vectors.matrix[rows[start : start + _ROWS_AT_A_TIME]]) @ sums
            for start in range(0, len(rows), _ROWS_AT_A_TIME)
        ]
        or [np.zeros(0)]
    )
    return [vectors.index_to_key[rows[k]] for k in best(scores, count).tolist()]
