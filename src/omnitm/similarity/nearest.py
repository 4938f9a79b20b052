"""The words nearest to a query: likely ones are found from rows in few steps, then scored exactly."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitm import _native
from omnitm.files import available_cores
from omnitm.similarity.profiles import LARGEST_CODE, Kind, Profiles, log_ratio
from omnitm.similarity.question import FIRST_OF_PLACE, PARTS, SMOOTHED, Question, weighted_mean
from omnitm.similarity.row_profile import baseline_of
from omnitm.similarity.truncated_svd import in_parts
from omnitm.similarity.word_rows import Part, WordRows

Reals = NDArray[np.float64]

_SCORED_IN_FULL = 1_000  # words; among more, the likely ones are found first
_FEW = 4_000  # words; up to so many, topics alone are scored in full, which takes 3 ms
# Per word of a query. Of 150 random words of 40,000, 128 have the list of ten that exact scores of all
# words give, and 97 % of the neighbours are the same.
_CANDIDATES = 150
# Of 300 lists of ten among 1,000 and 3,000 words, by similarity or alike, all are those of all scores.
_CANDIDATES_OF_FEW = 300
_AS_NEAR = 0.7  # of the score of a word's nearest form, so that its first form is shown; chosen on SEMCAT
_FORMS_PER_WORD = 4  # words to look at for each that is shown: most are no forms of another
_WORTH_THREADS = 8  # queries at once; for fewer, starting threads takes too long
_WORDS_AT_ONCE = 1 << 15  # scored, for all queries together: bounds memory where each scores many
_USUAL_UNITS = np.ones(len(PARTS))


class Query:
    """Words and vectors with weights, prepared to be compared with all words; see `Combined.joined`."""

    def __init__(self, rows: WordRows, parts: Sequence[Part], question: Question) -> None:
        self._rows, self._question = rows, question
        self._weights = [weight for _, weight in parts]
        asked = question.of_factors if len(parts) > 1 and min(self._weights) < 0 else question
        self.asked = asked
        self.items: list[_Item] = [
            _WordItem(rows, item, asked) if isinstance(item, str) else VectorItem(rows, item, asked)
            for item, _ in parts
        ]
        # Sums of smoothed rows find likely words; these are then scored.
        by_kind = zip(*(item.smooth for item in self.items), strict=True)
        self.smooth = [weighted_mean(rows_of_kind, self._weights) for rows_of_kind in by_kind]

    def scores_of(self, wanted: NDArray[np.intp]) -> Reals:
        """Score some words."""
        return self.joined(scores_of_items(self.items, [wanted] * len(self.items)))

    def in_lists(self, wanted: NDArray[np.intp], scores: Reals) -> Reals:
        """Multiply scores of some words by the trust in these; a word asked about stays the nearest."""
        asked = [item.row for item in self.items if isinstance(item, _WordItem)]
        return np.where(np.isin(wanted, asked), scores, scores * self.asked.trust(self._rows)[wanted])

    def joined(self, scores: Sequence[Reals]) -> Reals:
        """Make the scores of the query from those of its items."""
        return self._question.joined(self._rows, scores, self._weights)

    def nearest(self, count: int) -> tuple[NDArray[np.intp], Reals]:
        """Find the highest scores among all words, the highest first."""
        return nearest_of_queries(self._rows, [self], count)[0]

    def nearest_folded(self, wanted: int, first: NDArray[Any] | None = None) -> list[tuple[int, float]]:
        """List one form of each word, and look at more words until there are as many as wanted.

        Parameters
        ----------
        first
            The scores of the first words in lists, if only these may be listed.
        """
        n_words = len(self._rows.index_to_key) if first is None else len(first)
        count = _FORMS_PER_WORD * wanted + len(self.items)
        while True:
            if first is None:
                places, values = self.nearest(count)
            else:
                places = best(first, count)
                values = first[places]
            found = self.folded(places, values)[:wanted]
            if len(found) == wanted or len(places) == n_words:
                return found
            count *= 2

    def folded(self, places: NDArray[np.intp], values: NDArray[Any]) -> list[tuple[int, float]]:
        """Let one form of each word stand for all, without forms of the words asked about.

        It is the first one, unless it is much less near than the nearest: `kill` is like `destroy`, not like
        the more frequent `destroyed`.
        """
        forms = self._rows.profiles.forms
        asked = [item.row for item in self.items if isinstance(item, _WordItem)]
        seen = {form for row in asked for form, _ in forms.of_row(row)}
        nearest: list[tuple[int, float]] = []
        first: list[int] = []
        for row, value in zip(places.tolist(), values.tolist(), strict=True):
            forms_of_row = {form for form, _ in forms.of_row(row)}
            if row not in seen:
                nearest.append((row, value))
                first.append(min(forms_of_row - seen))
            seen |= forms_of_row
        rows = np.array(first, dtype=np.intp)
        scores = self.in_lists(rows, self.scores_of(rows)).tolist()
        shown = [
            (row, score) if score >= _AS_NEAR * near[1] else near
            for row, score, near in zip(first, scores, nearest, strict=True)
        ]
        shown.sort(key=lambda one: -one[1])
        return shown

    def candidates(self, likely: NDArray[Any], count: int) -> NDArray[np.intp]:
        """Choose the words that may have the highest scores; words asked about are among them."""
        per_item = _CANDIDATES_OF_FEW if len(likely) <= _FEW else _CANDIDATES
        found = _highest(likely, min(len(likely), max(per_item * len(self.items), 2 * count)))
        words = [item.row for item in self.items if isinstance(item, _WordItem)]
        return np.union1d(found, np.array(words, dtype=np.intp))


def nearest_of_queries(
    rows: WordRows, queries: Sequence[Query], count: int
) -> list[tuple[NDArray[np.intp], Reals]]:
    """Find the highest scores among all words for several queries that are `asked` the same question."""
    if not queries:
        return []
    n_words, asks_for_places = len(rows.index_to_key), queries[0].asked.scales(rows)[FIRST_OF_PLACE:].any()
    if n_words <= max(_SCORED_IN_FULL if asks_for_places else _FEW, 4 * count):
        candidates = [np.arange(n_words)] * len(queries)
    else:
        # Smoothed rows find the likely words; the exact score, which reads whole rows, is for these only.
        likely = likely_of(rows, queries)
        candidates = [query.candidates(next(likely), count) for query in queries]
    found: list[tuple[NDArray[np.intp], Reals]] = []
    at_once = max(1, _WORDS_AT_ONCE // max(1, *map(len, candidates)))
    wanted = list(zip(queries, candidates, strict=True))
    for start in range(0, len(queries), at_once):
        asked = wanted[start : start + at_once]
        items = [(item, words) for query, words in asked for item in query.items]
        scores = iter(scores_of_items([item for item, _ in items], [words for _, words in items]))
        for query, words in asked:
            of_query = query.in_lists(words, query.joined([next(scores) for _ in query.items]))
            order = best(of_query, count)
            found.append((words[order], of_query[order]))
    return found


class _Item(ABC):
    """A word or a vector: its profile and smoothed profile of each kind, and what it leans on."""

    def __init__(self, rows: WordRows, question: Question) -> None:
        self.rows, self.question, self.units = rows, question, _USUAL_UNITS
        self.smooth_rows: list[NDArray[Any]] = []

    @property
    def smooth(self) -> list[Reals]:
        """Smoothed profiles of each kind, weighted as all parts of the kind are."""
        question = self.question
        scales = (question.scales(self.rows) * self.units)[SMOOTHED] * question.stands_for
        return [scale * row for scale, row in zip(scales.tolist(), self.smooth_rows, strict=False)]

    @abstractmethod
    def profile(self, kind: int) -> NDArray[np.float32]:
        """Return the profile of a kind: a number per feature."""


class _WordItem(_Item):
    """A trained word, with its forms."""

    def __init__(self, rows: WordRows, word: str, question: Question) -> None:
        super().__init__(rows, question)
        self.row = rows.get_index(word)
        profiles: Profiles = rows.profiles
        self.units = question.units_of_words(rows, self.row)
        self.smooth_rows = [kind.rows[self.row] for kind in profiles.kinds]

    def profile(self, kind: int) -> NDArray[np.float32]:
        """Average the profiles of its forms, unless the question is about the word alone."""
        profiles: Profiles = self.rows.profiles
        if self.question.compares_own_profiles:
            return profiles.kinds[kind].profile.of_row(self.row)
        return profiles.kinds[kind].mean(self.row, profiles.forms)


class VectorItem(_Item):
    """A vector of topics, or of topics and places; a kind whose numbers are all equal says nothing."""

    def __init__(self, rows: WordRows, item: NDArray[Any], question: Question) -> None:
        super().__init__(rows, question)
        kinds = rows.profiles.kinds
        sizes = [kind.profile.n_features for kind in kinds]
        vector = np.asarray(item) if np.shape(item) == (sum(sizes),) else rows.part_vector(item)
        self._profiles = [np.zeros(size, dtype=np.float32) for size in sizes]
        self.smooth_rows = [np.zeros(kind.rows.shape[1]) for kind in kinds]
        self._relative = np.zeros(sizes[0], dtype=np.float32)
        self._says_topics = False
        for number, values in enumerate(np.split(vector, np.cumsum(sizes)[:-1])):
            if len(values) and values.min() < values.max():
                profile = kinds[number].profile
                relative = profile.relative(values, baseline_of(values))
                self._profiles[number] = profile.of_vector(relative)
                self.smooth_rows[number] = profile.smoothed(self._profiles[number])
                if number == 0:
                    self._relative, self._says_topics = relative, True

    def profile(self, kind: int) -> NDArray[np.float32]:
        """Return what was found from the vector."""
        return self._profiles[kind]

    def score_with(self, other: VectorItem) -> float:
        """Add the parts that two vectors have."""
        parts = np.zeros(len(PARTS))
        for number, kind in enumerate(self.rows.profiles.kinds):
            parts[kind.part] = self.profile(number).astype(np.float64) @ other.profile(number)
            if kind.is_smoothed:
                parts[kind.part + 1] = self.smooth_rows[number] @ other.smooth_rows[number]
        return float(self.question.total(parts, self.rows.profiles.scales))

    def leanings(self, forms: NDArray[np.intp]) -> Reals:
        """Measure how much the vector leans on words; nobody leans on a vector."""
        if not self._says_topics:
            return np.zeros(len(forms))
        columns = self.rows.row_features[forms]
        mean = self.rows.profiles.topic.mean[columns]
        return np.asarray(log_ratio(self._relative[columns], mean), np.float64)


def scores_of_items(items: Sequence[_Item], wanted: Sequence[NDArray[np.intp]]) -> list[Reals]:
    """Score some words for each of several items of one question.

    All at once, since for a hundred words numpy takes longer to begin than to compute.
    """
    rows, question = items[0].rows, items[0].question
    profiles: Profiles = rows.profiles
    scales, is_own = question.scales(rows), question.compares_own_profiles
    compared = _Compared(profiles, wanted)
    parts = np.zeros((len(compared.words), len(PARTS)))
    for number, kind in enumerate(profiles.kinds):
        if scales[kind.part]:
            products = np.concatenate(
                [
                    kind.profile.products(item.profile(number), compared_with)
                    for item, compared_with in zip(
                        items, wanted if is_own else compared.forms_of_items, strict=True
                    )
                ]
            )
            parts[:, kind.part] = (
                products if is_own else compared.means(products) / kind.lengths[compared.words]
            )
        if kind.is_smoothed and scales[kind.part + 1]:
            smooth = [
                kind.smooth_products(item.smooth_rows[number], words)
                for item, words in zip(items, wanted, strict=True)
            ]
            parts[:, kind.part + 1] = np.concatenate(smooth)
    if scales[0]:
        parts[:, 0] = compared.means(_leanings(items, compared))
    own_units = np.array([item.units for item in items], dtype=np.float64)[compared.items]
    parts *= own_units * question.units_of_words(rows, compared.words)
    scores = question.total(parts, profiles.scales)
    # The own coordinate of a word is 0 by definition, so its computed score with itself is too small.
    own_rows = np.array([item.row if isinstance(item, _WordItem) else -1 for item in items])
    scores[compared.words == own_rows[compared.items]] = question.most(rows)
    return np.split(scores, compared.ends[:-1])


class _Compared:
    """Words that each of several items is compared with, and the forms of these: each once per item.

    Attributes
    ----------
    words, items
        All words, those of the first item first, and the number of the item that each is compared with.
    ends
        Where the words of each item end.
    forms, edges
        All forms, and where those of each item begin and end.
    """

    def __init__(self, profiles: Profiles, wanted: Sequence[NDArray[np.intp]]) -> None:
        n_words = len(profiles.trust)
        sizes = [len(words) for words in wanted]
        self.words, self.ends = np.concatenate(wanted), np.cumsum(sizes)
        self.items = np.repeat(np.arange(len(wanted)), sizes)
        self._word, members, self._weights = profiles.forms.of_rows(self.words)
        # A form of an item as one number.
        numbers, places = np.unique(self.items[self._word] * n_words + members, return_inverse=True)
        self._places = places.reshape(-1)
        self.forms = numbers % n_words
        self.edges = np.searchsorted(numbers, np.arange(len(wanted) + 1) * n_words)

    @property
    def forms_of_items(self) -> list[NDArray[np.intp]]:
        """The forms of the words of each item."""
        return np.split(self.forms, self.edges[1:-1])

    def means(self, values: NDArray[Any]) -> Reals:
        """Average what single forms have over the forms of each word."""
        found = np.bincount(self._word, self._weights * values[self._places], minlength=len(self.words))
        return np.asarray(found, dtype=np.float64)


def _leanings(items: Sequence[_Item], compared: _Compared) -> Reals:
    """Associate items with single forms: of a word, average how much both lean on each other."""
    rows, profiles = items[0].rows, items[0].rows.profiles
    found = np.zeros(len(compared.forms))
    for number, item in enumerate(items):
        if isinstance(item, VectorItem):
            part = slice(*compared.edges[number : number + 2])
            found[part] = item.leanings(compared.forms[part])
    numbers = np.array([k for k, item in enumerate(items) if isinstance(item, _WordItem)], dtype=np.intp)
    words = np.array([item.row for item in items if isinstance(item, _WordItem)], dtype=np.intp)
    word, own, shares = profiles.forms.of_rows(words)
    first, last = compared.edges[numbers[word]], compared.edges[numbers[word] + 1]
    counts = last - first
    # Every form of a word with every form of the words that it is compared with.
    places = np.arange(counts.sum()) + np.repeat(first - (np.cumsum(counts) - counts), counts)
    one, other = np.repeat(own, counts), compared.forms[places]
    leaning = profiles.leaning(rows, np.concatenate([one, other]), np.concatenate([other, one]))
    leaning = np.where(one == other, 0.0, leaning[: len(one)] + leaning[len(one) :])
    return found + np.bincount(places, np.repeat(shares / 2, counts) * leaning, minlength=len(found))


def likely_of(rows: WordRows, queries: Sequence[Query]) -> Iterator[NDArray[np.float32]]:
    """Score all words roughly: smoothed rows, in few steps, stand for all parts of their kind."""
    profiles = rows.profiles
    smoothed = [kind for kind in profiles.kinds if kind.is_smoothed]
    by_kind = [
        _code_products(kind, [query.smooth[number] for query in queries])
        for number, kind in enumerate(smoothed)
    ]
    for number, query in enumerate(queries):
        likely = []
        for kind, (products, step) in zip(smoothed, by_kind, strict=True):
            of_kind = products[number].astype(np.float32)
            of_kind *= np.float32(step[number])
            of_kind *= query.asked.units_of_part(rows, kind.part)
            likely.append(of_kind)
        found = likely[0]
        for alike in likely[1:]:
            found += alike * query.asked.emphasis(alike)
        found *= query.asked.trust(rows)
        yield found


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
