"""How parts make a score: those of a pair of words by one of three questions, and those of a query.

What the parts of a pair are, and why they are added so, is said in `omnitm.similarity.combined`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from omnitm.similarity.word_rows import Part, WordRows

Reals = NDArray[np.float64]
_Asked = TypeVar("_Asked", bound="Question")

PARTS = (
    *("association", "topic profile", "smoothed topic profile"),
    *("place profile", "smoothed place profile", "joined profile"),
)
FIRST_OF_PLACE = 3  # of the parts; from here on they say how alike two words are
SMOOTHED = [2, 4]  # of the parts, by kind
# In units of the spreads; chosen on development data: benchmarks/similarity_weights.py, with its log.
WEIGHTS_OF_PARTS = np.array([1.0, 0.5, 2.5, 2.5, 3.0, 1.5])
QUESTIONS = {
    "similarity": np.arange(len(PARTS)) >= 0,
    "related": np.arange(len(PARTS)) < FIRST_OF_PLACE,
    "alike": np.arange(len(PARTS)) >= FIRST_OF_PLACE,
}
# In `similarity` an `alike` of 50 counts as it is, less counts less, more up to twice: chosen as the weights.
CLEARLY_ALIKE = 50.0
_MOST_EMPHASIS = 2.0
_FLOOR_OF_SHARES = 0.1  # of the largest score, in products: small scores differ by chance
# Analogies ask for small differences, also between forms of a word, which patterns and means over forms hide:
# chosen with every second question (benchmarks/analogies.py).
_WEIGHTS_IN_PRODUCTS = np.array([1.4, 7.0, 0.85, 1.6, 0.1, 0.0])
LEAST_CLOSENESS = 0.6  # so that no score exceeds that of a word with itself
MOST_UNITS = 1 / LEAST_CLOSENESS  # of a pair


class Question:
    """One of the three questions: which parts count, and what score they make."""

    def __init__(self, name: str, *, is_factor: bool = False, is_emphasised: bool = True) -> None:
        self.name, self._asked, self._is_factor = name, QUESTIONS[name], is_factor
        if is_factor:
            self._asked = self._asked * _WEIGHTS_IN_PRODUCTS
        weights = WEIGHTS_OF_PARTS * self._asked
        whole = np.array([weights[:FIRST_OF_PLACE].sum(), weights[FIRST_OF_PLACE:].sum()])
        # What a smoothed part is multiplied by to stand for all parts of its kind.
        self.stands_for = whole / np.where(whole, weights[SMOOTHED], 1.0)
        self._is_emphasised = is_emphasised and name == "similarity" and not is_factor

    @property
    def of_factors(self: _Asked) -> _Asked:  # noqa: PYI019 - typing.Self came with Python 3.11
        """What the parts of a query with negative words are scored by: no emphasis, and own profiles."""
        return type(self)(self.name, is_factor=True)

    def scales(self, rows: WordRows) -> Reals:
        """Weigh the parts; those that were not asked for count 0."""
        found: Reals = rows.profiles.scales * self._asked
        return found

    @property
    def compares_own_profiles(self) -> bool:
        """Whether profiles are those of the word alone, as in products: `walked` is not `walking`."""
        return self._is_factor

    def trust(self, rows: WordRows) -> NDArray[Any]:
        """Return the trust in every word: 1 in products, where a rare word is as good an answer as any."""
        found: NDArray[Any] = rows.profiles.trust
        return np.ones_like(found) if self._is_factor else found

    def units_of_words(self, rows: WordRows, words: Any) -> Any:
        """Return what parts are multiplied by for some words: 1 in products, which compare ratios."""
        return np.ones(len(PARTS)) if self._is_factor else rows.profiles.units[words]

    def units_of_part(self, rows: WordRows, part: int) -> Any:
        """Return what one part is multiplied by for all words, or 1."""
        return np.float32(1) if self._is_factor else rows.profiles.units_by_part[part]

    def units(self, rows: WordRows, first: Any, second: Any) -> Any:
        """Return what parts of pairs are multiplied by: 1 in products, which compare ratios."""
        return np.ones(len(PARTS)) if self._is_factor else rows.profiles.units_of_pairs(first, second)

    def emphasis(self, alike: Any) -> Any:
        """By what `alike` is multiplied: 1, but for `similarity` the more, the more alike two words are."""
        return np.clip(alike / CLEARLY_ALIKE, 0.0, _MOST_EMPHASIS) if self._is_emphasised else 1.0

    def total(self, parts: NDArray[Any], scales: Reals) -> Reals:
        """Make scores of the parts, which are in the last dimension, by the scales of all of them."""
        asked = parts * (scales * self._asked)
        related, alike = asked[..., :FIRST_OF_PLACE].sum(-1), asked[..., FIRST_OF_PLACE:].sum(-1)
        return np.asarray(related + alike * self.emphasis(alike), dtype=np.float64)

    def most(self, rows: WordRows) -> float:
        """Return the score of a word with itself, which no other pair exceeds."""
        largest = 1.0 if self._is_factor else MOST_UNITS
        return float(self.total(rows.profiles.most * largest, rows.profiles.scales))

    def joined(self, rows: WordRows, scores: Sequence[NDArray[Any]], weights: Sequence[float]) -> Reals:
        """Average the scores of the parts of a query; with negative weights multiply those by `of_factors`.

        In a sum, one part that is very near outweighs the others: `king - man + woman` is a monarch. In a
        product (3CosMul of Levy & Goldberg 2014) each part counts by its ratio.
        """
        if min(weights) >= 0 or len(weights) == 1:
            return weighted_mean(scores, weights)
        largest = self.of_factors.most(rows) or 1.0
        return products_of_shares([score / largest for score in scores], weights)


def weighted_mean(scores: Sequence[NDArray[Any]], weights: Sequence[float]) -> Reals:
    """Average the scores of the parts of a query."""
    total = sum(map(abs, weights)) or 1.0
    parts = [score * (weight / total) for score, weight in zip(scores, weights, strict=True)]
    return np.asarray(sum(parts[1:], parts[0]), dtype=np.float64)


def products_of_shares(shares: Sequence[NDArray[Any]], weights: Sequence[float]) -> Reals:
    """Multiply what each part of a query has of the largest score, to the power of its weight."""
    parts = zip(shares, weights, strict=True)
    # prod (max(share, 0) + 0.1)**weight, as a sum of logarithms.
    logarithms = [weight * np.log(np.maximum(share, 0) + _FLOOR_OF_SHARES) for share, weight in parts]
    return np.asarray(np.exp(np.sum(logarithms, axis=0)), dtype=np.float64)


def weighted_parts(parts: Iterable[Part]) -> float:
    """Sum the absolute weights of a query; 1 if all are zero."""
    return sum(abs(weight) for _, weight in parts) or 1.0
