"""What the three questions need to know about a model: computed once, and kept beside it.

For what it is computed is said in `omnitm.similarity.combined`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from omnitm import _native
from omnitm.similarity.question import (
    FIRST_OF_PLACE,
    LEAST_CLOSENESS,
    MOST_UNITS,
    PARTS,
    QUESTIONS,
    SMOOTHED,
    WEIGHTS_OF_PARTS,
    Question,
)
from omnitm.similarity.row_matrix import ColumnRange
from omnitm.similarity.row_profile import Recipe, RowProfile, unit_rows
from omnitm.similarity.truncated_svd import in_parts
from omnitm.similarity.word_forms import PATTERNS_FOR_FORMS, WordForms
from omnitm.similarity.word_rows import WordRows

Reals = NDArray[np.float64]

# Of all numbers of this module, question, row_profile and word_forms; what was stored by another is made
# again.
RECIPE = 16
TOPIC = Recipe(stands_out=1.0, power=0.25, n_patterns=800)
PLACE = Recipe(stands_out=0.5, power=0.0, n_patterns=1_000)
# Joined words are not smoothed: that raised same-category neighbours a little, and lowered MEN.
JOINED = Recipe(stands_out=0.5, power=0.0, n_patterns=0)
_FLOOR = 0.1  # of a baseline: differences between small associations are noise
_MOST_ASSOCIATION = 5.0  # a logarithm; more than words reach, so that a word is nearest to itself
# Rows of rare words would make every coordinate look unusual: means over the 8,000 most frequent of 40,000
# words give smoothed place profiles 0.366 on SimLex-999, means over all of them 0.323.
_BEST_KNOWN = 8_000
# Patterns fit the words that they are found from better than others: smoothed profiles of these are twice as
# long, and two words of which only one is among them are hard to compare. With 16,000 instead of 8,000 words
# MEN's odd lines rise from 0.773 to 0.781 and same-category neighbours stay as they are.
PATTERNED = 16_000
LESS_TRUST = 0.25  # chosen with the weights: lists name rare words less often
_NEAREST = 8  # words that closeness is about, without the first of them, which may be a form
_RANDOM_PAIRS = 50_000  # for spreads and percentiles
_PAIRS_AT_A_TIME = 2_000  # bounds memory: means of profiles are sparse rows per pair
LARGEST_CODE = 127.0  # of a byte with a sign
_CODED_AT_ONCE = 500  # rows, so that they stay in the processor's cache


class Kind(NamedTuple):
    """Profiles of one kind of coordinates, and their weighted means over the forms of each word."""

    profile: RowProfile
    lengths: NDArray[np.float32]
    rows: NDArray[np.float32]
    codes: NDArray[np.int8]
    step: float
    part: int
    """The part that profiles make; the smoothed ones make the next part, if there are any."""
    has_own_rows: bool
    """Whether smoothed rows are those of the word alone, not means over its forms."""

    @property
    def is_smoothed(self) -> bool:
        """Whether there are smoothed profiles; of joined words there are none."""
        return self.part + 1 in SMOOTHED

    def means(self, rows: NDArray[np.intp], weights: Any, forms: NDArray[np.intp]) -> Any:
        """Weighted means of the profiles of forms, at length 1, as a sparse matrix: rows x features."""
        found = weights.astype(np.float64) @ self.profile.some(forms).astype(np.float64)
        found.data /= np.repeat(self.lengths[rows].astype(np.float64), np.diff(found.indptr))
        return found

    def mean(self, row: int, forms: WordForms) -> NDArray[np.float32]:
        """Weighted mean of the profiles of a word's forms, at length 1: a number per feature."""
        part = slice(int(forms.starts[row]), int(forms.starts[row + 1]))
        return self.profile.weighted_sum(forms.members[part], forms.weights[part] / self.lengths[row])

    def smooth_products(self, smooth: NDArray[Any], words: NDArray[np.intp]) -> NDArray[np.float32]:
        """Multiply a smoothed profile with those of some words."""
        found = np.empty(len(words), dtype=np.float32)
        _native.chosen_products(self.rows, words.astype(np.int64), smooth.astype(np.float32), found)
        return found


@dataclass(frozen=True, eq=False)
class Profiles:
    """What the three questions need to know about a model: computed once, and kept beside it.

    Attributes
    ----------
    topic, place, joined
        Profiles of the coordinates about words that occur with a word, which have no features if only places
        were trained, about places, and about words that are joined with it; None: not trained.
    forms
        Which words are forms of each other.
    topic_lengths, place_lengths, joined_lengths
        Per word: length of the weighted mean of its forms' profiles; 1 where that is 0.
    topic_rows, place_rows
        words x dimensions, at length 1: weighted means of the forms' smoothed topic profiles, and a word's
        own smoothed place profile; no dimensions without places.
    trust
        Per word: what its scores are multiplied by in lists; 1 for the best known words.
    topic_codes, place_codes, code_steps
        The rows in 255 steps, of one size per kind: enough to find words that may be nearest.
    closeness
        words x 2: how near the nearest words are by topic and by place, beside the usual, which is 1.
    scales
        Per part: its weight / its spread over random pairs of well known words.
    random_scores, random_shares
        Scores of random pairs by each question, ascending, and the share of pairs below each.
    """

    topic: RowProfile
    place: RowProfile | None
    joined: RowProfile | None
    forms: WordForms
    topic_lengths: NDArray[np.float32]
    topic_rows: NDArray[np.float32]
    place_lengths: NDArray[np.float32]
    place_rows: NDArray[np.float32]
    joined_lengths: NDArray[np.float32]
    topic_codes: NDArray[np.int8]
    place_codes: NDArray[np.int8]
    code_steps: Reals
    trust: NDArray[np.float32]
    closeness: NDArray[np.float32]
    scales: Reals
    random_scores: dict[str, Reals]
    random_shares: Reals

    @classmethod
    def of(cls, rows: WordRows) -> Profiles:
        """Read the vectors once."""
        known, patterned = best_known(rows), most_frequent(rows, PATTERNED)
        topic = RowProfile.of_nothing(len(rows.index_to_key))
        if rows.has_named_features:
            topic = RowProfile.of(rows.matrix, rows.row_features, known, patterned, TOPIC)
        place, joined = (
            None if matrix is None else RowProfile.of(matrix, None, known, patterned, recipe)
            for matrix, recipe in zip(_matrices_of_place(rows), (PLACE, JOINED), strict=True)
        )
        forms = WordForms.of(rows.index_to_key, unit_rows(topic.smooth[:, :PATTERNS_FOR_FORMS]))
        lengths = [_mean_lengths(forms, kind) for kind in (topic, place, joined)]
        topic_rows = unit_rows(forms.matrix @ topic.smooth)
        # Smoothed places are the word's own: means over forms raised SimLex-999 by 0.005 and lowered
        # same-category neighbours by 0.022.
        place_rows = np.zeros((len(topic_rows), 0), np.float32) if place is None else place.smooth
        (topic_codes, topic_step), (place_codes, place_step) = coded(topic_rows), coded(place_rows)
        plain = cls(
            *(topic, place, joined, forms, lengths[0], topic_rows, lengths[1], place_rows, lengths[2]),
            *(topic_codes, place_codes, np.array([topic_step, place_step]), trust_in(rows)),
            closeness=np.stack([closeness_of(codes, known) for codes in (topic_codes, place_codes)], axis=1),
            scales=np.ones(len(PARTS)),
            random_scores={},
            random_shares=np.zeros(0),
        )
        first, second = _random_pairs(known)
        values = plain.pairs(rows, first, second)
        spreads = values.std(axis=0) if len(values) else np.zeros(len(PARTS))
        # Each part in units of its deviation over random pairs, then weighted.
        scales = WEIGHTS_OF_PARTS * np.divide(1, spreads, out=np.zeros_like(spreads), where=spreads > 1e-9)
        shares = _shares_to_keep(len(values))
        places = (shares * len(values)).astype(np.intp)
        values *= plain.units_of_pairs(first, second)
        scores = {
            name: np.sort(Question(name).total(values, scales))[places] if len(values) else np.zeros(0)
            for name in QUESTIONS
        }
        return replace(plain, scales=scales, random_scores=scores, random_shares=shares)

    @cached_property
    def kinds(self) -> list[Kind]:
        """Topics, and places and joined words if they were trained."""
        topic_step, place_step = self.code_steps.tolist()
        rows = self.topic_lengths, self.topic_rows, self.topic_codes, topic_step
        found = [Kind(self.topic, *rows, part=1, has_own_rows=False)]
        if self.place is not None:
            rows = self.place_lengths, self.place_rows, self.place_codes, place_step
            found.append(Kind(self.place, *rows, part=3, has_own_rows=True))
        if self.joined is not None:
            nothing = self.joined.smooth, np.zeros(self.joined.smooth.shape, np.int8), 1.0
            found.append(Kind(self.joined, self.joined_lengths, *nothing, part=5, has_own_rows=True))
        return found

    @cached_property
    def units(self) -> NDArray[np.float32]:
        """What the parts of each word's scores are multiplied by: below 1 if it has many near words."""
        of_parts = np.repeat(self.closeness, (FIRST_OF_PLACE, len(PARTS) - FIRST_OF_PLACE), axis=1)
        # A pair is divided by the geometric mean of both words.
        return np.asarray(of_parts**-0.5, dtype=np.float32)

    @cached_property
    def units_by_part(self) -> NDArray[np.float32]:
        """The units of all words, a row per part: one part of them all is read for every query."""
        return np.ascontiguousarray(self.units.T)

    def units_of_pairs(self, first: NDArray[Any], second: NDArray[Any]) -> Reals:
        """Return what parts of pairs are multiplied by: most of all for a word with itself."""
        both = self.units[first].astype(np.float64) * self.units[second]
        return np.where(np.equal(first, second)[..., None], MOST_UNITS, both)

    def pairs(self, rows: WordRows, first: NDArray[Any], second: NDArray[Any]) -> Reals:
        """Measure the parts of many pairs of words, in their own units: pairs x parts."""
        blocks = [np.zeros((0, len(PARTS)))]
        for start in range(0, len(first), _PAIRS_AT_A_TIME):
            a, b = (side[start : start + _PAIRS_AT_A_TIME].astype(np.intp) for side in (first, second))
            found = np.zeros((len(a), len(PARTS)))
            if self.has_topics:
                found[:, 0] = self._associations(rows, a, b)
            weights = [self.forms.weights_of(side) for side in (a, b)]
            for kind in self.kinds:
                means = [kind.means(side, *of_forms) for side, of_forms in zip((a, b), weights, strict=True)]
                # The cosine of two sparse means: both have length 1.
                found[:, kind.part] = np.asarray(means[0].multiply(means[1]).sum(axis=1)).ravel()
                if kind.is_smoothed:
                    both = kind.rows[a], kind.rows[b]
                    found[:, kind.part + 1] = np.einsum("ij,ij->i", *both, dtype=np.float64)
            # A word with itself: its own coordinate is 0, so computed values would be too small.
            found[a == b] = self.most
            blocks.append(found)
        return np.concatenate(blocks)

    @property
    def most(self) -> Reals:
        """The largest value of each part before closeness: that of a word with itself."""
        has_topics, has_place = float(self.has_topics), float(self.place is not None)
        most = [_MOST_ASSOCIATION * has_topics, has_topics, has_topics, has_place, has_place]
        return np.array([*most, float(self.joined is not None)])

    @property
    def has_topics(self) -> bool:
        """Whether words were trained on documents, and not on places alone."""
        return self.topic.n_features > 0

    def _associations(self, rows: WordRows, a: NDArray[np.intp], b: NDArray[np.intp]) -> Reals:
        """Average the association over the forms of both words; a pair is a place in a and the same in b."""
        n_a, n_b = (np.diff(self.forms.starts)[side] for side in (a, b))
        # All combinations of a form of the one word with a form of the other, n_a * n_b per pair of words.
        pair = np.repeat(np.arange(len(a)), n_a * n_b)
        # The number of a combination within its pair: place = i n_b + j for form i of a and form j of b.
        place = np.arange(len(pair)) - np.repeat(np.cumsum(n_a * n_b) - n_a * n_b, n_a * n_b)
        in_a = self.forms.starts[a][pair] + place // n_b[pair]
        in_b = self.forms.starts[b][pair] + place % n_b[pair]
        first, second = self.forms.members[in_a], self.forms.members[in_b]
        leaning = (self.leaning(rows, first, second) + self.leaning(rows, second, first)) / 2
        weights = self.forms.weights[in_a].astype(np.float64) * self.forms.weights[in_b] * (first != second)
        return np.asarray(np.bincount(pair, weights=weights * leaning, minlength=len(a)), dtype=np.float64)

    def leaning(self, rows: WordRows, words: NDArray[Any], others: NDArray[Any]) -> Any:
        """How much more than usual the machines of some words lean on others, one for one."""
        columns = rows.row_features[others]
        values = rows.matrix[words, columns].astype(np.float32) - self.topic.baseline[words]
        return log_ratio(values * self.topic.gain[words], self.topic.mean[columns]).astype(np.float64)


def _mean_lengths(forms: WordForms, profile: RowProfile | None) -> NDArray[np.float32]:
    """Length of the weighted mean of the profiles of each word's forms; 1 where it is 0, to divide by."""
    found = np.ones(len(forms.starts) - 1, dtype=np.float32)  # a profile alone has length 1
    if profile is None:
        return found
    several = np.flatnonzero(np.diff(forms.starts) > 1)
    for start in range(0, len(several), _PAIRS_AT_A_TIME):
        part = several[start : start + _PAIRS_AT_A_TIME]
        weights, members = forms.weights_of(part)
        mean = weights.astype(np.float64) @ profile.some(members).astype(np.float64)
        found[part] = np.sqrt(np.asarray(mean.multiply(mean).sum(axis=1)).ravel())
    found[found == 0] = 1
    return found


def _matrices_of_place(rows: WordRows) -> tuple[Any, Any]:
    """Matrices about places and about joined words; None if they were not trained."""
    if rows.place is None:
        return None, None
    matrix, n_joined = rows.place.matrix, rows.place.n_joined
    if not n_joined:
        return matrix, None
    end = len(rows.place.feature_names)
    return ColumnRange(matrix, 0, end - n_joined), ColumnRange(matrix, end - n_joined, end)


def log_ratio(relative: Any, mean: Any) -> Any:
    """Compare how much a machine leans on a feature with what is usual for that feature."""
    ratio = np.log((np.maximum(relative, 0) + _FLOOR) / (np.maximum(mean, 0) + _FLOOR))
    return np.minimum(ratio, _MOST_ASSOCIATION)


def closeness_of(codes: NDArray[np.int8], known: NDArray[np.intp]) -> NDArray[np.float32]:
    """How near the second to eighth nearest of the best known words are to each word, beside the usual."""
    n_words, n_known = len(codes), len(known)
    if codes.shape[1] == 0 or n_known <= _NEAREST:
        return np.ones(n_words, dtype=np.float32)
    found, best, place_among_known = np.empty(n_words), codes[known], np.full(n_words, -1)
    place_among_known[known] = np.arange(n_known)

    def measure(part: slice) -> None:
        # Whole numbers, so that the sums are the same on every machine.
        products = np.empty((part.stop - part.start, n_known), dtype=np.int32)
        _native.code_products(best, codes[part], products)
        own = np.flatnonzero(place_among_known[part] >= 0)
        products[own, place_among_known[part][own]] = np.iinfo(np.int32).min
        products.partition(n_known - _NEAREST, axis=1)
        nearest = products[:, n_known - _NEAREST :].astype(np.float64)
        found[part] = (nearest.sum(axis=1) - nearest.max(axis=1)) / (_NEAREST - 1)

    in_parts(n_words, measure, -(-n_words // _CODED_AT_ONCE))
    usual = float(np.median(found[known]))
    beside = found / usual if usual > 0 else np.ones(n_words)
    return np.maximum(beside, LEAST_CLOSENESS).astype(np.float32)


def coded(rows: NDArray[np.float32]) -> tuple[NDArray[np.int8], float]:
    """Write rows in 255 steps; return also the size of a step."""
    step = max(float(rows.max(initial=0)), -float(rows.min(initial=0)), 1e-9) / LARGEST_CODE
    codes = np.empty(rows.shape, dtype=np.int8)
    for start in range(0, len(codes), _CODED_AT_ONCE):
        part = slice(start, start + _CODED_AT_ONCE)
        codes[part] = np.rint(rows[part] / np.float32(step))
    return codes, step


def most_frequent(rows: WordRows, count: int) -> NDArray[np.intp]:
    """Rows of the words that come first in the vocabulary, in the order of rows."""
    return np.sort(np.argsort(rows.row_features, kind="stable")[:count])


def best_known(rows: WordRows) -> NDArray[np.intp]:
    """Rows of the most frequent words, about which most is known."""
    return most_frequent(rows, _BEST_KNOWN)


def places_in_vocabulary(row_features: NDArray[Any]) -> Reals:
    """Which of the trained words each one is in the order of the vocabulary, from 1 on."""
    places = np.empty(len(row_features))
    places[np.argsort(row_features, kind="stable")] = np.arange(1, len(places) + 1)
    return places


def trust_in(rows: WordRows) -> NDArray[np.float32]:
    """How much the row of each word is trusted: 1 for the best known words, less the later a word comes."""
    places = places_in_vocabulary(rows.row_features)
    return (np.minimum(1, _BEST_KNOWN / places) ** LESS_TRUST).astype(np.float32)


def _random_pairs(known: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pairs of different words, of those about which most is known; all pairs if there are few."""
    if len(known) * (len(known) - 1) // 2 <= _RANDOM_PAIRS:
        first, second = np.triu_indices(len(known), k=1)
        return known[first], known[second]
    drawn = np.random.default_rng(0).integers(0, len(known), size=(2, _RANDOM_PAIRS))
    kept = drawn[0] != drawn[1]
    return known[drawn[0][kept]], known[drawn[1][kept]]


def _shares_to_keep(n_pairs: int) -> Reals:
    """Shares of random pairs whose scores are kept: the nearer, the finer."""
    tail = 1 - np.geomspace(0.1, 1 / max(n_pairs, 10), 160)
    return np.concatenate([np.linspace(0, 0.9, 91)[:-1], tail])
