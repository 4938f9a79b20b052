"""The default similarity: words that occur with each other, and words that keep the same company.

Three parts, each in units of its spread over random pairs of words, are added:

- association: how much more than usual the machines of both words lean on each other,
  `(log((x_a[b] + 0.1) / (mean[b] + 0.1)) + log((x_b[a] + 0.1) / (mean[a] + 0.1))) / 2`,
- company: the cosine of what stands out in both vectors,
- smoothed company: the same in the space of the 300 strongest common patterns, where words need not share
  the very features.

The forms of a word count with it, see `omnitm.similarity.word_forms`: association is the weighted mean over
the forms of both words, company compares weighted means of rows.

Every part is a sum over features, which are words: see `contributions`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.similarity.part_scales import PARTS, spreads_over_random_pairs
from omnitm.similarity.row_profile import Company, gain_of, log_ratio
from omnitm.similarity.word_forms import Families

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from omnitm.similarity.scorers import Part
    from omnitm.vectors.word_vectors import WordVectors

    Reals = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Likeness:
    """Company, families, and the weight of each part: 1 / its spread over random pairs, 1 if it has none."""

    company: Company
    families: Families
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, vectors: WordVectors) -> Likeness:
        """Read the vectors once, and measure the spread of each part."""
        company = Company.of(vectors)
        families = Families.of(vectors.index_to_key, company)
        spreads = spreads_over_random_pairs(vectors, company, families)
        weights = np.divide(1, spreads, out=np.ones_like(spreads), where=spreads > 1e-9)
        return cls(company, families, weights)


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
    association = sum(share for _, share in _association_shares(a, b))
    values = (association, float(a.unit_row.astype(np.float64) @ b.unit_row), float(a.smooth @ b.smooth))
    return dict(zip(PARTS, (vectors.likeness.weights * values).tolist(), strict=True))


def contributions(vectors: WordVectors, first: str, second: str) -> Reals:
    """Return how much each feature gives to the similarity of two words; the sum is the similarity.

    Association is credited to the two words themselves, or to those of their forms that it is about. A
    feature's share of the smoothed company is the mean of what it brings into either word's smoothed row.
    """
    a, b = _Word(vectors, first), _Word(vectors, second)
    association, company, smoothed = vectors.likeness.weights
    shares: Reals = company * a.unit_row.astype(np.float64) * b.unit_row
    shares += smoothed / 2 * (a.shares_of(b.smooth) + b.shares_of(a.smooth))
    for feature, share in _association_shares(a, b):
        shares[feature] += association * share
    return shares


def _association_shares(a: _Word, b: _Word) -> Iterator[tuple[int, float]]:
    """Go through the association of two words: a feature, and how much machines lean on it."""
    for one, other in ((a, b), (b, a)):
        for form, weight in other.forms:
            yield form.feature, weight * one.leaning(form.feature) / 2


def unit_row(vectors: WordVectors, word: str) -> NDArray[np.float32]:
    """Return what stands out in a word's vector, at length 1: a number per feature, most of them 0."""
    return _Form(vectors, vectors.get_index(word)).unit_row


def deviations(vectors: WordVectors, word: str) -> Reals:
    """Return how far each coordinate of a word stands out: deviations above the mean of all words.

    0 for the word's own coordinate, and for those that are the same for all words.
    """
    company = vectors.likeness.company
    found = _Form(vectors, vectors.get_index(word))
    values: Reals = (found.relative.astype(np.float64) - company.mean) * company.inverse_deviations
    values[found.feature] = 0.0
    return values


class _Form:
    """A trained word's own row as the parts need it."""

    def __init__(self, vectors: WordVectors, row: int) -> None:
        self.row, self._company = row, vectors.likeness.company
        company = self._company
        self.feature = int(vectors.row_features[row])
        self.relative = company.relative(
            vectors.matrix[row], company.baseline[row], company.gain[row], self.feature
        )
        self.unit_row = company.unit_row(self.relative)
        self.smooth = company.smooth[row].astype(np.float64)

    def leaning(self, features: Any) -> Any:
        """How much more than usual the machine leans on features; not at all on its own."""
        found = log_ratio(self.relative[features], self._company.mean[features])
        return np.where(np.asarray(features) == self.feature, 0.0, found.astype(np.float64))

    def leaned_on(self, vectors: WordVectors) -> Any:
        """How much more than usual the machines of all words lean on this one."""
        company = self._company
        others = (vectors.matrix[:, self.feature].astype(np.float32) - company.baseline) * company.gain
        found = log_ratio(others, company.mean[self.feature])
        found[self.row] = 0
        return found

    def shares_of(self, other: Reals) -> Reals:
        """Return what each feature brings to the product of the smoothed row with another one."""
        features = np.flatnonzero(self.unit_row)  # a few of a hundred
        shares = np.zeros(len(self.unit_row))
        shares[features] = self.unit_row[features] * (self._company.projection[features] @ other)
        total = float(shares.sum())
        wanted = float(self.smooth @ other)
        return shares * (wanted / total) if total else shares


class _Word:
    """A trained word, for which its family speaks: forms with weights that add up to 1."""

    def __init__(self, vectors: WordVectors, word: str) -> None:
        row, families = vectors.get_index(word), vectors.likeness.families
        self.forms = [(_Form(vectors, member), weight) for member, weight in families.of_row(row)]
        self._smooth_length = float(families.smooth_lengths[row])
        mean = self._mean(lambda form: form.unit_row)
        self.unit_row: NDArray[np.float32] = (mean / families.company_lengths[row]).astype(np.float32)
        self.smooth: Reals = self._mean(lambda form: form.smooth) / self._smooth_length

    def leaning(self, features: Any) -> Any:
        """How much more than usual the machines of the family lean on features."""
        return self._mean(lambda form: form.leaning(features))

    def leaned_on(self, vectors: WordVectors) -> Any:
        """How much more than usual the machines of all words lean on the family."""
        return self._mean(lambda form: form.leaned_on(vectors))

    def shares_of(self, other: Reals) -> Reals:
        """Return what each feature brings to the product of the smoothed row with another one."""
        shares: Reals = self._mean(lambda form: form.shares_of(other)) / self._smooth_length
        return shares

    def _mean(self, of: Callable[[_Form], Any]) -> Any:
        return sum(weight * of(form) for form, weight in self.forms)


def _all_parts(vectors: WordVectors, item: str | NDArray[Any]) -> Reals:
    """Score all words by each part: words x parts."""
    company, columns = vectors.likeness.company, vectors.row_features
    if isinstance(item, str):
        word = _Word(vectors, item)
        unit_row, smooth = word.unit_row, word.smooth
        association = (word.leaning(columns) + word.leaned_on(vectors)) / 2
    else:
        vector = vectors.part_vector(item)
        baseline = _baseline_of(vector)
        relative = company.relative(vector, baseline, float(gain_of(np.array([baseline]))[0]), None)
        unit_row = company.unit_row(relative)
        smooth = _unit(unit_row @ company.projection)
        association = log_ratio(relative[columns], company.mean[columns])  # nobody leans on a vector
    by_form = np.stack(
        [association, company.shared(unit_row), company.smooth @ smooth.astype(np.float32)], axis=1
    )
    return _by_family(vectors.likeness.families, by_form)


def _by_family(families: Families, by_form: NDArray[Any]) -> Reals:
    """Turn the scores of single words into those of their families: words x parts."""
    scores: Reals = families.matrix @ by_form
    scores[:, 1] /= families.company_lengths
    scores[:, 2] /= families.smooth_lengths
    return scores


def _baseline_of(vector: NDArray[Any]) -> float:
    """Find the most frequent value, to the nearest integer."""
    values, counts = np.unique(np.rint(vector), return_counts=True)
    return float(values[np.argmax(counts)])


def _unit(vector: NDArray[Any]) -> Reals:
    length = float(np.linalg.norm(vector))
    return vector.astype(np.float64) / length if length > 0 else vector.astype(np.float64)
