"""The words nearest to a query: likely ones are found from rows in few steps, then scored exactly."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitm import _native
from omnitm.files import available_cores
from omnitm.similarity.profiles import LARGEST_CODE, Kind, log_ratio
from omnitm.similarity.question import PARTS, SMOOTHED, Question, weighted_mean
from omnitm.similarity.row_profile import baseline_of
from omnitm.similarity.truncated_svd import in_parts
from omnitm.similarity.word_rows import Part, WordRows

Reals = NDArray[np.float64]

_SCORED_IN_FULL = 4_000  # words; among more, the likely ones are found first
_CANDIDATES = 150  # per word of a query; with 2,500, all of 200 lists of ten are the same
_WORTH_THREADS = 8  # queries at once; for fewer, starting threads takes too long


class Query:
    """Words and vectors with weights, prepared to be compared with all words; see `Combined.joined`."""

    def __init__(self, rows: WordRows, parts: Sequence[Part], question: Question) -> None:
        self._rows, self._profiles, self._question = rows, rows.profiles, question
        self._weights = [weight for _, weight in parts]
        asked = question.of_factors if len(parts) > 1 and min(self._weights) < 0 else question
        self.asked = asked
        self._items = [
            _WordItem(rows, item, asked) if isinstance(item, str) else VectorItem(rows, item, asked)
            for item, _ in parts
        ]
        # Sums of smoothed rows find likely words; these are then scored.
        by_kind = zip(*(item.smooth for item in self._items), strict=True)
        self.smooth = [weighted_mean(rows_of_kind, self._weights) for rows_of_kind in by_kind]

    def scores_of(self, wanted: NDArray[np.intp]) -> Reals:
        """Score some words."""
        scores = [item.scores_of(wanted) for item in self._items]
        return self._question.joined(self._rows, scores, self._weights)

    def nearest(self, count: int, likely: NDArray[Any] | None = None) -> tuple[NDArray[np.intp], Reals]:
        """Find the highest scores among all words, the highest first."""
        n_words = len(self._rows.index_to_key)
        if n_words <= max(_SCORED_IN_FULL, 4 * count):
            scores = self.scores_of(np.arange(n_words))
            found = best(scores, count)
            return found, scores[found]
        likely = next(likely_of(self._rows, [self])) if likely is None else likely
        # Smoothed rows find the likely words; the exact score, which reads whole rows, is for these only.
        candidates = _highest(likely, max(_CANDIDATES * len(self._items), 2 * count))
        words = [item.row for item in self._items if isinstance(item, _WordItem)]
        candidates = np.union1d(candidates, np.array(words, dtype=np.intp))
        scores = self.scores_of(candidates)
        order = best(scores, count)
        return candidates[order], scores[order]


class _Item(ABC):
    """A word or a vector: its profile and smoothed profile of each kind, and what it leans on."""

    trust = 1.0

    def __init__(self, rows: WordRows, question: Question) -> None:
        self._rows, self._profiles, self._question = rows, rows.profiles, question
        self._scales, self._units = question.scales(rows), np.ones(len(PARTS))
        kinds = self._profiles.kinds
        self._means = [np.zeros(kind.profile.n_features) for kind in kinds]
        self._smooth = [np.zeros(kind.rows.shape[1]) for kind in kinds]

    @property
    def smooth(self) -> list[Reals]:
        """Smoothed profiles of each kind, weighted as all parts of the kind are."""
        scales = (self._scales * self._units)[SMOOTHED] * self._question.stands_for * self.trust
        return [scale * row for scale, row in zip(scales.tolist(), self._smooth, strict=False)]

    @abstractmethod
    def leanings(self, forms: NDArray[np.intp]) -> Reals:
        """Associate the item with single words."""

    def scores_of(self, wanted: NDArray[np.intp]) -> Reals:
        """Add the parts of some words."""
        profiles = self._profiles
        word, members, weights = profiles.forms.of_rows(wanted)
        forms, places = np.unique(members, return_inverse=True)

        def means(values: NDArray[Any]) -> Reals:
            """Average what single forms have over the forms of each word."""
            found = np.bincount(word, weights * values[places.reshape(-1)], minlength=len(wanted))
            return np.asarray(found, dtype=np.float64)

        parts = np.zeros((len(wanted), len(PARTS)))
        for kind, mean, smooth in zip(profiles.kinds, self._means, self._smooth, strict=True):
            if self._scales[kind.part]:
                products = means(kind.profile.products(mean.astype(np.float32), forms))
                parts[:, kind.part] = products / kind.lengths[wanted]
                parts[:, kind.part + 1] = kind.rows[wanted] @ smooth.astype(np.float32)
        if self._scales[0]:
            parts[:, 0] = means(self.leanings(forms))
        parts *= self._units.astype(np.float64) * self._question.units_of_words(self._rows, wanted)
        scores: Reals = self._question.total(parts, profiles.scales) * self.trust * profiles.trust[wanted]
        return scores


class _WordItem(_Item):
    """A trained word, with its forms."""

    def __init__(self, rows: WordRows, word: str, question: Question) -> None:
        super().__init__(rows, question)
        self.row = rows.get_index(word)
        profiles = self._profiles
        self.trust = float(profiles.trust[self.row])
        self._units = question.units_of_words(self._rows, self.row)
        self._forms = profiles.forms.of_row(self.row)
        self._means = [kind.mean(self.row, self._forms) for kind in profiles.kinds]
        self._smooth = [kind.rows[self.row] for kind in profiles.kinds]

    def leanings(self, forms: NDArray[np.intp]) -> Reals:
        """Average how much both lean on each other over the forms of the word."""
        found = np.zeros(len(forms))
        for form, share in self._forms:
            one = np.full(len(forms), form)
            leaning = self._profiles.leaning(self._rows, one, forms)
            leaning = leaning + self._profiles.leaning(self._rows, forms, one)
            found += share / 2 * np.where(forms == form, 0.0, leaning)
        return found

    def scores_of(self, wanted: NDArray[np.intp]) -> Reals:
        """Score some words; the word itself has the highest score there is."""
        found = super().scores_of(wanted)
        # Its own coordinate is 0 by definition, so the computed score of a word with itself is too small.
        found[wanted == self.row] = self._question.most(self._rows)
        return found


class VectorItem(_Item):
    """A vector of topics, or of topics and places; a kind whose numbers are all equal says nothing."""

    def __init__(self, rows: WordRows, item: NDArray[Any], question: Question) -> None:
        super().__init__(rows, question)
        sizes = [kind.profile.n_features for kind in self._profiles.kinds]
        vector = np.asarray(item) if np.shape(item) == (sum(sizes),) else rows.part_vector(item)
        self._relative = np.zeros(sizes[0], dtype=np.float32)
        self._says_topics = False
        for number, values in enumerate(np.split(vector, np.cumsum(sizes)[:-1])):
            if len(values) and values.min() < values.max():
                profile = self._profiles.kinds[number].profile
                relative = profile.relative(values, baseline_of(values))
                self._means[number] = profile.of_vector(relative)
                self._smooth[number] = profile.smoothed(self._means[number])
                if number == 0:
                    self._relative, self._says_topics = relative, True

    def score_with(self, other: VectorItem) -> float:
        """Add the parts that two vectors have."""
        parts = np.zeros(len(PARTS))
        for number, kind in enumerate(self._profiles.kinds):
            parts[kind.part] = self._means[number] @ other._means[number]
            parts[kind.part + 1] = self._smooth[number] @ other._smooth[number]
        return float(self._question.total(parts, self._profiles.scales))

    def leanings(self, forms: NDArray[np.intp]) -> Reals:
        """Measure how much the vector leans on words; nobody leans on a vector."""
        if not self._says_topics:
            return np.zeros(len(forms))
        columns = self._rows.row_features[forms]
        return np.asarray(log_ratio(self._relative[columns], self._profiles.topic.mean[columns]), np.float64)


def likely_of(rows: WordRows, queries: Sequence[Query]) -> Iterator[NDArray[np.float32]]:
    """Score all words roughly: smoothed rows, in few steps, stand for all parts of their kind."""
    profiles = rows.profiles
    by_kind = [
        _code_products(kind, [query.smooth[number] for query in queries])
        for number, kind in enumerate(profiles.kinds)
    ]
    for number, query in enumerate(queries):
        units = query.asked.units_of_words(rows, slice(None))
        likely = [
            products[number].astype(np.float32) * (np.float32(step[number]) * units[..., kind.part])
            for kind, (products, step) in zip(profiles.kinds, by_kind, strict=True)
        ]
        found = likely[0]
        for alike in likely[1:]:
            found = found + alike * query.asked.emphasis(alike)
        yield found * profiles.trust


def _code_products(kind: Kind, rows: Sequence[Reals]) -> tuple[NDArray[np.int32], Reals]:
    """Multiply rows in few steps with those of all words, and return the size of a step of each product."""
    asked = np.array(rows)
    largest = np.maximum(np.abs(asked).max(axis=1, initial=0), 1e-12)
    # Products of bytes in 32-bit sums: 1,000 dimensions x 127 x 127 are far below 2**31.
    codes = np.rint(asked * (LARGEST_CODE / largest)[:, None]).astype(np.int8)
    products = np.empty((len(rows), len(kind.codes)), dtype=np.int32)

    def multiply(part: slice) -> None:
        _native.code_products(kind.codes, codes[part], products[part])

    if len(rows) < _WORTH_THREADS:
        multiply(slice(None))
    else:
        in_parts(len(rows), multiply, available_cores())
    return products, largest / LARGEST_CODE * kind.step


def best(scores: NDArray[Any], count: int) -> NDArray[np.intp]:
    """Positions of the highest scores, highest first; of equal ones the first come first."""
    count = min(count, len(scores))
    if count == 0:
        return np.zeros(0, dtype=np.intp)
    # The count-th highest score; of those equal to it only the first are taken, so that lists are the same
    # everywhere.
    limit = np.partition(scores, len(scores) - count)[len(scores) - count]
    above = np.flatnonzero(scores > limit)
    equal = np.flatnonzero(scores == limit)[: count - len(above)]
    above = above[np.argsort(-scores[above].astype(np.float64), kind="stable")]
    return np.concatenate([above, equal])


def _highest(scores: NDArray[Any], count: int) -> NDArray[np.intp]:
    """Positions of the highest scores in any order; every sixteenth score says below which none are."""
    step = 16
    sample = scores[::step]
    likely = min(len(sample), 2 * count // step + 1)  # twice as many as are wanted, about
    above = np.flatnonzero(scores >= np.partition(sample, len(sample) - likely)[len(sample) - likely])
    if len(above) < count:
        above = np.arange(len(scores))
    return above[np.argpartition(scores[above], len(above) - count)[len(above) - count :]]
