"""The default similarity: words that occur with each other, and words that keep the same company.

Three parts, each in units of its spread over random pairs of words, are added:

- association: how much more than usual the machines of both words lean on each other,
  `(log((x_a[b] + 0.1) / (mean[b] + 0.1)) + log((x_b[a] + 0.1) / (mean[a] + 0.1))) / 2`,
- company: the cosine of what stands out in both vectors,
- smoothed company: the same in the space of the 300 strongest common patterns, where words need not share
  the very features.

Every part is a sum over features, which are words: see `contributions`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.embedding.company import Company, gain_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from omnitm.embedding.metrics import Part
    from omnitm.embedding.word_vectors import WordVectors

    Reals = NDArray[np.float64]

PARTS = ("association", "company", "smoothed company")
FLOOR = 0.1  # of a baseline: differences between small associations are noise
_RANDOM_PAIRS = 20_000


@dataclass(frozen=True, eq=False)
class Likeness:
    """A company with the weight of each part: 1 / its spread over random pairs, 1 if it has none."""

    company: Company
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, vectors: WordVectors) -> Likeness:
        """Read the vectors once, and measure the spread of each part."""
        company = Company.of(vectors)
        spreads = _spreads(vectors, company)
        weights = np.divide(1, spreads, out=np.ones_like(spreads), where=spreads > 1e-9)
        return cls(company, weights)


class Similarity:
    """The default similarity of integer vectors; trained words can be found."""

    def candidates(self, vectors: WordVectors) -> Sequence[str]:
        """All trained words."""
        return vectors.index_to_key

    def scores(self, vectors: WordVectors, parts: Sequence[Part]) -> Reals:
        """Score every word; a query of several parts has the weighted mean of their scores."""
        total = np.zeros(len(vectors))
        for item, weight in parts:
            total += weight * _all_parts(vectors, item) @ vectors.likeness.weights
        return total / (sum(abs(weight) for _, weight in parts) or 1.0)

    def pair(self, vectors: WordVectors, first: str, second: str) -> float:
        """Add the parts of one pair."""
        return float(sum(similarity_parts(vectors, first, second).values()))

    def contributions(self, vectors: WordVectors, first: str, second: str) -> Reals:
        """Take the similarity of one pair apart into a number per feature."""
        return contributions(vectors, first, second)

    def distances(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Negate: there is no natural upper end."""
        return -scores.astype(np.float64)


def similarity_parts(vectors: WordVectors, first: str, second: str) -> dict[str, float]:
    """Return what each part gives to the similarity of two words; their sum is the similarity."""
    a, b = _Word(vectors, first), _Word(vectors, second)
    association = (a.log_ratio(b.feature) + b.log_ratio(a.feature)) / 2
    values = (association, float(a.unit_row @ b.unit_row), float(a.smooth @ b.smooth))
    return dict(zip(PARTS, (vectors.likeness.weights * values).tolist(), strict=True))


def contributions(vectors: WordVectors, first: str, second: str) -> Reals:
    """Return how much each feature gives to the similarity of two words; the sum is the similarity.

    Association is credited to the two words themselves. A feature's share of the smoothed company is the
    mean of what it brings into either word's smoothed row.
    """
    a, b = _Word(vectors, first), _Word(vectors, second)
    association, company, smoothed = vectors.likeness.weights
    shares: Reals = company * a.unit_row.astype(np.float64) * b.unit_row
    shares += smoothed / 2 * (a.shares_of(b.smooth) + b.shares_of(a.smooth))
    shares[b.feature] += association / 2 * a.log_ratio(b.feature)
    shares[a.feature] += association / 2 * b.log_ratio(a.feature)
    return shares


def unit_row(vectors: WordVectors, word: str) -> NDArray[np.float32]:
    """Return what stands out in a word's vector, at length 1: a number per feature, most of them 0."""
    return _Word(vectors, word).unit_row


def deviations(vectors: WordVectors, word: str) -> Reals:
    """Return how far each coordinate of a word stands out: deviations above the mean of all words.

    0 for the word's own coordinate, and for those that are the same for all words.
    """
    company = vectors.likeness.company
    found = _Word(vectors, word)
    values: Reals = (found.relative.astype(np.float64) - company.mean) * company.inverse_deviations
    values[found.feature] = 0.0
    return values


class _Word:
    """A trained word's row as the parts need it."""

    def __init__(self, vectors: WordVectors, word: str) -> None:
        row = vectors.get_index(word)
        self._company = company = vectors.likeness.company
        self.feature = int(vectors.row_features[row])
        self.relative = company.relative(
            vectors.matrix[row], company.baseline[row], company.gain[row], self.feature
        )
        self.unit_row = company.unit_row(self.relative)
        self.smooth = company.smooth[row].astype(np.float64)

    def log_ratio(self, feature: int) -> float:
        return float(_log_ratio(self.relative[feature], self._company.mean[feature]))

    def shares_of(self, other: Reals) -> Reals:
        """Return what each feature brings to the product of the smoothed row with another one."""
        shares = self.unit_row * (self._company.projection @ other)
        total = float(shares.sum())
        wanted = float(self.smooth @ other)
        return shares * (wanted / total) if total else shares


def _log_ratio(relative: Any, mean: Any) -> Any:
    return np.log((np.maximum(relative, 0) + FLOOR) / (np.maximum(mean, 0) + FLOOR))


def _all_parts(vectors: WordVectors, item: str | NDArray[Any]) -> Reals:
    """Score all words by each part: words x parts."""
    company, columns = vectors.likeness.company, vectors.row_features
    if isinstance(item, str):
        word = _Word(vectors, item)
        relative, unit_row, smooth = word.relative, word.unit_row, word.smooth
        others = vectors.matrix[:, word.feature].astype(np.float32) - company.baseline
        backward = _log_ratio(others * company.gain, company.mean[word.feature])
    else:
        vector = vectors.part_vector(item)
        baseline = _baseline_of(vector)
        relative = company.relative(vector, baseline, float(gain_of(np.array([baseline]))[0]), None)
        unit_row = company.unit_row(relative)
        smooth = _unit(unit_row @ company.projection)
        backward = None  # a vector is no word, so nobody leans on it
    forward = _log_ratio(relative[columns], company.mean[columns])
    association = forward if backward is None else (forward + backward) / 2
    return np.stack(
        [association, company.shared(unit_row), company.smooth @ smooth.astype(np.float32)], axis=1
    )


def _baseline_of(vector: NDArray[Any]) -> float:
    """Find the most frequent value, to the nearest integer."""
    values, counts = np.unique(np.rint(vector), return_counts=True)
    return float(values[np.argmax(counts)])


def _unit(vector: NDArray[Any]) -> Reals:
    length = float(np.linalg.norm(vector))
    return vector.astype(np.float64) / length if length > 0 else vector.astype(np.float64)


def _spreads(vectors: WordVectors, company: Company) -> Reals:
    """Measure the standard deviation of each part over random pairs of words."""
    first, second = _random_pairs(len(vectors))
    if len(first) == 0:
        return np.zeros(len(PARTS))
    columns = vectors.row_features

    def forward(rows: NDArray[np.intp], others: NDArray[np.intp]) -> Any:
        values = vectors.matrix[rows, columns[others]].astype(np.float32) - company.baseline[rows]
        return _log_ratio(values * company.gain[rows], company.mean[columns[others]])

    rows = company.by_word()
    parts = (
        (forward(first, second) + forward(second, first)) / 2,
        np.asarray(rows[first].multiply(rows[second]).sum(axis=1)).ravel(),
        np.einsum("ij,ij->i", company.smooth[first], company.smooth[second]),
    )
    return np.array([float(np.std(part, dtype=np.float64)) for part in parts])


def _random_pairs(n_words: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    if n_words * (n_words - 1) // 2 <= _RANDOM_PAIRS:
        first, second = np.triu_indices(n_words, k=1)
        return first, second
    drawn = np.random.default_rng(0).integers(0, n_words, size=(2, _RANDOM_PAIRS))
    kept = drawn[0] != drawn[1]
    return drawn[0][kept].astype(np.intp), drawn[1][kept].astype(np.intp)
