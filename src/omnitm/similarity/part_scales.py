"""How much each part of the default similarity varies over random pairs of words: its unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.similarity.row_profile import Company, log_ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from omnitm.similarity.word_forms import Families
    from omnitm.vectors.word_vectors import WordVectors

    Reals = NDArray[np.float64]

PARTS = ("association", "company", "smoothed company")
_RANDOM_PAIRS = 20_000
_PAIRS_AT_A_TIME = 2_000


def spreads_over_random_pairs(vectors: WordVectors, company: Company, families: Families) -> Reals:
    """Measure the standard deviation of each part."""
    first, second = _random_pairs(len(vectors))
    if len(first) == 0:
        return np.zeros(len(PARTS))
    speakers, rows = families.matrix, company.by_word()
    blocks = []
    for start in range(0, len(first), _PAIRS_AT_A_TIME):
        a, b = (speakers[part[start : start + _PAIRS_AT_A_TIME]] for part in (first, second))
        shared = np.asarray((a @ rows).multiply(b @ rows).sum(axis=1)).ravel()
        smoothed = np.einsum("ij,ij->i", a @ company.smooth, b @ company.smooth)
        blocks.append(np.stack([_associations(vectors, company, a, b), shared, smoothed]))
    parts = np.concatenate(blocks, axis=1)
    parts[1] /= families.company_lengths[first] * families.company_lengths[second]
    parts[2] /= families.smooth_lengths[first] * families.smooth_lengths[second]
    return np.asarray(parts.std(axis=1, dtype=np.float64))


def _associations(vectors: WordVectors, company: Company, a: Any, b: Any) -> Reals:
    """Average the association over the forms of both words; a pair is a row of a and the same row of b."""
    n_a, n_b = np.diff(a.indptr), np.diff(b.indptr)
    pair = np.repeat(np.arange(len(n_a)), n_a * n_b)
    place = np.arange(len(pair)) - np.repeat(np.cumsum(n_a * n_b) - n_a * n_b, n_a * n_b)
    in_a, in_b = a.indptr[pair] + place // n_b[pair], b.indptr[pair] + place % n_b[pair]
    first, second = a.indices[in_a], b.indices[in_b]
    leaning = (_leaning(vectors, company, first, second) + _leaning(vectors, company, second, first)) / 2
    weights = a.data[in_a] * b.data[in_b] * (first != second)
    return np.bincount(pair, weights=weights * leaning, minlength=len(n_a)).astype(np.float64)


def _leaning(
    vectors: WordVectors, company: Company, rows: NDArray[np.int32], others: NDArray[np.int32]
) -> Any:
    columns = vectors.row_features[others]
    values = vectors.matrix[rows, columns].astype(np.float32) - company.baseline[rows]
    return log_ratio(values * company.gain[rows], company.mean[columns])


def _random_pairs(n_words: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    if n_words * (n_words - 1) // 2 <= _RANDOM_PAIRS:
        first, second = np.triu_indices(n_words, k=1)
        return first, second
    drawn = np.random.default_rng(0).integers(0, n_words, size=(2, _RANDOM_PAIRS))
    kept = drawn[0] != drawn[1]
    return drawn[0][kept].astype(np.intp), drawn[1][kept].astype(np.intp)
