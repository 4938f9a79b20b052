"""What a set of words has in common: their mean similarity, taken apart into coordinates."""

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


def in_common(vectors: WordVectors, words: Sequence[str], count: int) -> dict[str, Any]:
    """Take the mean cosine of all pairs of words apart.

    Coordinate c of unit vectors u_i adds ((sum u_i[c])^2 - sum u_i[c]^2) / (n (n - 1)): these numbers, one
    per word of the vocabulary, add up to the mean cosine of all pairs.
    """
    rows = np.array([vectors.get_index(word) for word in dict.fromkeys(words)], dtype=np.intp)
    sums, squares, positive = _sums(vectors, rows)
    n_pairs = len(rows) * (len(rows) - 1)
    shares = (sums**2 - squares) / n_pairs if n_pairs else squares
    order = best(shares, count).tolist()
    return {
        "n_words": len(rows),
        "mean_cosine": float(shares.sum()) if n_pairs else None,
        "shares": [
            {
                "feature": vectors.feature_names[k],
                "share": float(shares[k]),
                "mean": float(sums[k] / max(len(rows), 1)),
                "n_positive": int(positive[k]),
            }
            for k in order
            if shares[k] > 0
        ],
        "central": _central(vectors, rows, sums, min(count, 10)),
    }


def _sums(
    vectors: WordVectors, rows: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    sums, squares = np.zeros(vectors.vector_size), np.zeros(vectors.vector_size)
    positive = np.zeros(vectors.vector_size, dtype=np.int64)
    for start in range(0, len(rows), _ROWS_AT_A_TIME):
        block = unit_rows(vectors.matrix[rows[start : start + _ROWS_AT_A_TIME]])
        sums += block.sum(axis=0, dtype=np.float64)
        squares += np.einsum("ij,ij->j", block, block, dtype=np.float64)
        positive += (block > 0).sum(axis=0)
    return sums, squares, positive


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
