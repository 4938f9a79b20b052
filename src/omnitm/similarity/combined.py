"""Three questions about two words: are they related, are they alike, and both together: similarity.

Five parts, each in units of its spread over random pairs of words, are added:

- association: how much more than usual the machines of both words lean on each other,
  `(log((x_a[b] + 0.1) / (mean[b] + 0.1)) + log((x_b[a] + 0.1) / (mean[a] + 0.1))) / 2`,
- topic profile: the cosine of what stands out in both vectors; smoothed: the same in the space of the
  strongest common patterns, where words need not share the very features,
- place profile, and smoothed: the same of the coordinates that say where words stand.

Some words, such as names of months, have many near words, others have hardly any. So the parts of a pair
are measured by the closeness of both words: how near the second to eighth nearest of the best known words
are, beside the usual. Topics are divided by the root of the mean closeness (geometric), places by itself.

The rows of rare words are less certain than those of the best known words, so the sum is multiplied by the
trust in both words: 1, or `(8000 / place in the vocabulary) ** 0.25` for words after the first 8,000.

*Related* words share topics (the first three parts), *alike* words can stand in each other's place (the
last two). *Similarity*, the default, is related + alike * emphasis, where the emphasis is `alike / 45`,
between 0 and 2: words that are barely alike, as all nouns are, say little, and clearly alike words lead the
lists. The forms of a word (`omnitm.similarity.word_forms`)
count with it: association is the weighted mean over the forms of both words, profiles are weighted means;
only smoothed place profiles are the word's own, since forms stand in different places.

Every part is a sum over named features, see `Combined.contributions`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from omnitm import _native
from omnitm.files import available_cores
from omnitm.similarity.row_profile import Recipe, RowProfile, baseline_of, unit_rows
from omnitm.similarity.truncated_svd import in_parts
from omnitm.similarity.word_forms import PATTERNS_FOR_FORMS, WordForms
from omnitm.similarity.word_rows import Part, WordRows

Reals = NDArray[np.float64]

PARTS = ("association", "topic profile", "smoothed topic profile", "place profile", "smoothed place profile")
# Of all numbers of this module, row_profile and word_forms; what was stored by another is made again.
RECIPE = 10
TOPIC = Recipe(stands_out=1.0, power=0.25, n_patterns=500)
PLACE = Recipe(stands_out=0.5, power=0.0, n_patterns=1_000)
# In units of the spreads; chosen on development data: benchmarks/similarity_weights.py, with its log.
WEIGHTS_OF_PARTS = np.array([1.5, 0.5, 1.5, 2.5, 3.0])
_FIRST_OF_PLACE = 3  # of the parts
_SMOOTHED = [2, 4]  # of the parts, by kind
_QUESTIONS = {
    "similarity": np.array([True, True, True, True, True]),
    "related": np.array([True, True, True, False, False]),
    "alike": np.array([False, False, False, True, True]),
}
# In `similarity` an `alike` of 45 counts as it is, less counts less, more up to twice: chosen as the weights.
CLEARLY_ALIKE = 45.0
_MOST_EMPHASIS = 2.0
_FLOOR = 0.1  # of a baseline: differences between small associations are noise
_MOST_ASSOCIATION = 5.0  # a logarithm; more than words reach, so that a word is nearest to itself
# Rows of rare words would make every coordinate look unusual: means over the 8,000 most frequent of 40,000
# words give smoothed place profiles 0.366 on SimLex-999, means over all of them 0.323.
_BEST_KNOWN = 8_000
_FLOOR_OF_SHARES = 0.1  # of the largest score, in products: small scores differ by chance
# Analogies ask for small differences, which many patterns of places hide: 0.68 of 150 questions, not 0.57.
_WEIGHTS_IN_PRODUCTS = np.array([1.0, 1.0, 1.0, 0.8, 1 / 3])
LESS_TRUST = 0.25  # chosen with the weights: lists name rare words less often
# Of the closeness of two words (their geometric mean), per part: chosen with the weights.
POWERS_OF_CLOSENESS = np.array([0.5, 0.5, 0.5, 1.0, 1.0])
_NEAREST = 8  # words that closeness is about, without the first of them, which may be a form
_LEAST_CLOSENESS = 0.6  # so that no score exceeds that of a word with itself
_RANDOM_PAIRS = 50_000  # for spreads and percentiles
_PAIRS_AT_A_TIME = 2_000  # bounds memory: means of profiles are sparse rows per pair
_SCORED_IN_FULL = 4_000  # words; among more, the likely ones are found first
_CANDIDATES = 150  # per word of a query; with 2,500, all of 200 lists of ten are the same
_WORTH_THREADS = 8  # queries at once; for fewer, starting threads takes too long
_CODE = 127.0  # the largest code of a byte with a sign
_CODED_AT_ONCE = 500  # rows, so that they stay in the processor's cache
MOST_UNITS = _LEAST_CLOSENESS**-POWERS_OF_CLOSENESS  # of a pair, per part


class _Kind(NamedTuple):
    """Profiles of one kind of coordinates, and their weighted means over the forms of each word."""

    profile: RowProfile
    lengths: NDArray[np.float32]
    rows: NDArray[np.float32]
    codes: NDArray[np.int8]
    step: float
    part: int
    """The first of its two parts: the profile, and then the smoothed one."""
    has_own_rows: bool
    """Whether smoothed rows are those of the word alone, not means over its forms."""

    def means(self, rows: NDArray[np.intp], weights: Any, forms: NDArray[np.intp]) -> Any:
        """Weighted means of the profiles of forms, at length 1, as a sparse matrix: rows x features."""
        found = weights.astype(np.float64) @ self.profile.some(forms).astype(np.float64)
        found.data /= np.repeat(self.lengths[rows].astype(np.float64), np.diff(found.indptr))
        return found

    def mean(self, row: int, forms: Sequence[tuple[int, float]]) -> Reals:
        """Weighted mean of the profiles of a word's forms, at length 1: a number per feature."""
        found = np.zeros(self.profile.n_features)
        for form, weight in forms:
            found += weight * self.profile.of_row(form)
        return found / float(self.lengths[row])


@dataclass(frozen=True, eq=False)
class Profiles:
    """What the three questions need to know about a model: computed once, and kept beside it.

    Attributes
    ----------
    topic, place
        Profiles of the coordinates about words that occur with a word, and about places; None: not trained.
    forms
        Which words are forms of each other.
    topic_lengths, place_lengths
        Per word: length of the weighted mean of its forms' profiles; 1 where that is 0.
    topic_rows, place_rows
        words x dimensions, at length 1: weighted means of the forms' smoothed topic profiles, and a word's
        own smoothed place profile; no dimensions without places.
    trust
        Per word: what its scores are multiplied by; 1 for the best known words.
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
    forms: WordForms
    topic_lengths: NDArray[np.float32]
    topic_rows: NDArray[np.float32]
    place_lengths: NDArray[np.float32]
    place_rows: NDArray[np.float32]
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
        known = best_known(rows)
        topic = RowProfile.of(rows.matrix, rows.row_features, known, TOPIC)
        place = None if rows.place is None else RowProfile.of(rows.place.matrix, None, known, PLACE)
        forms = WordForms.of(rows.index_to_key, unit_rows(topic.smooth[:, :PATTERNS_FOR_FORMS]))
        topic_lengths, topic_rows = _mean_lengths(forms, topic), unit_rows(forms.matrix @ topic.smooth)
        n_words = len(rows.index_to_key)
        place_lengths, place_rows = np.ones(n_words, np.float32), np.zeros((n_words, 0), np.float32)
        if place is not None:
            # Means over forms raised SimLex-999 by 0.005 and lowered same-category neighbours by 0.022.
            place_lengths, place_rows = _mean_lengths(forms, place), place.smooth
        (topic_codes, topic_step), (place_codes, place_step) = coded(topic_rows), coded(place_rows)
        plain = cls(
            *(topic, place, forms, topic_lengths, topic_rows, place_lengths, place_rows),
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
        places = np.minimum((shares * len(values)).astype(np.intp), max(0, len(values) - 1))
        values *= plain.units_of_pairs(first, second)
        scores = {
            name: np.sort(Combined(name).total(values, scales))[places] if len(values) else np.zeros(0)
            for name in _QUESTIONS
        }
        return replace(plain, scales=scales, random_scores=scores, random_shares=shares)

    @cached_property
    def kinds(self) -> list[_Kind]:
        """Topics, and places if they were trained."""
        topic_step, place_step = self.code_steps.tolist()
        rows = self.topic_lengths, self.topic_rows, self.topic_codes, topic_step
        found = [_Kind(self.topic, *rows, part=1, has_own_rows=False)]
        if self.place is not None:
            rows = self.place_lengths, self.place_rows, self.place_codes, place_step
            found.append(_Kind(self.place, *rows, part=3, has_own_rows=True))
        return found

    @cached_property
    def units(self) -> NDArray[np.float32]:
        """What the parts of each word's scores are multiplied by: below 1 if it has many near words."""
        of_parts = np.repeat(self.closeness, (_FIRST_OF_PLACE, len(PARTS) - _FIRST_OF_PLACE), axis=1)
        # Half of the power for each of the two words.
        return np.asarray(of_parts ** (-POWERS_OF_CLOSENESS / 2), dtype=np.float32)

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
            found[:, 0] = self._associations(rows, a, b)
            weights = [self.forms.weights_of(side) for side in (a, b)]
            for kind in self.kinds:
                means = [kind.means(side, *of_forms) for side, of_forms in zip((a, b), weights, strict=True)]
                # The cosine of two sparse means: both have length 1.
                found[:, kind.part] = np.asarray(means[0].multiply(means[1]).sum(axis=1)).ravel()
                found[:, kind.part + 1] = np.einsum("ij,ij->i", kind.rows[a], kind.rows[b], dtype=np.float64)
            # A word with itself: its own coordinate is 0, so computed values would be too small.
            found[a == b] = self.most
            blocks.append(found)
        return np.concatenate(blocks)

    def trust_in_pairs(self, first: NDArray[Any], second: NDArray[Any]) -> Reals:
        """Return what scores of pairs are multiplied by; a word is nearest to itself, however rare it is."""
        both = self.trust[first].astype(np.float64) * self.trust[second]
        return np.where(first == second, 1.0, both)

    @property
    def most(self) -> Reals:
        """The largest value of each part before closeness: that of a word with itself."""
        has_place = float(self.place is not None)
        return np.array([_MOST_ASSOCIATION, 1.0, 1.0, has_place, has_place])

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
        return _log_ratio(values * self.topic.gain[words], self.topic.mean[columns]).astype(np.float64)


class Combined:
    """One of the three questions; trained words can be found."""

    digits = 1

    def __init__(self, name: str, *, is_factor: bool = False, is_emphasised: bool = True) -> None:
        self.name, self._asked, self._is_factor = name, _QUESTIONS[name], is_factor
        if is_factor:
            self._asked = self._asked * _WEIGHTS_IN_PRODUCTS
        weights = WEIGHTS_OF_PARTS * self._asked
        whole = np.array([weights[:_FIRST_OF_PLACE].sum(), weights[_FIRST_OF_PLACE:].sum()])
        # What a smoothed part is multiplied by to stand for all parts of its kind.
        self.stands_for = whole / np.where(whole, weights[_SMOOTHED], 1.0)
        self._is_emphasised = is_emphasised and name == "similarity" and not is_factor

    @property
    def of_factors(self) -> Combined:
        """What the parts of a query with negative words are scored by: no emphasis, places count less."""
        return Combined(self.name, is_factor=True)

    def units_of_words(self, profiles: Profiles, words: Any) -> Any:
        """Return what parts are multiplied by for some words: 1 in products, which compare ratios."""
        return np.ones(len(PARTS)) if self._is_factor else profiles.units[words]

    def units(self, profiles: Profiles, first: Any, second: Any) -> Any:
        """Return what parts of pairs are multiplied by: 1 in products, which compare ratios."""
        return np.ones(len(PARTS)) if self._is_factor else profiles.units_of_pairs(first, second)

    def problem(self, rows: WordRows) -> str | None:
        """Say why these vectors have no answer; None if they have."""
        if not rows.has_named_features:
            return (
                f"The metric {self.name!r} reads the coordinate of a word, but the coordinates of these "
                "vectors are not words; use metric='cosine'."
            )
        if not rows.has_profiles:
            return f"The metric {self.name!r} is for integers; use metric='association' or 'cosine'."
        if self.name == "alike" and rows.place is None:
            return (
                "The metric 'alike' needs vectors that know where words stand, and these do not; make them "
                "with `omnitm index TEXT -o INDEX` and `omnitm train INDEX -o MODEL`."
            )
        return None

    def candidates(self, rows: WordRows) -> Sequence[str]:
        """All trained words."""
        return rows.index_to_key

    def features(self, rows: WordRows) -> list[str]:
        """Names of the coordinates that contributions are about: words, then places."""
        return [*rows.feature_names, *(() if rows.place is None else rows.place.feature_names)]

    def scales(self, rows: WordRows) -> Reals:
        """Weigh the parts; those that were not asked for count 0."""
        found: Reals = rows.profiles.scales * self._asked
        return found

    def emphasis(self, alike: Any) -> Any:
        """By what `alike` is multiplied: 1, but for `similarity` the more, the more alike two words are."""
        return np.clip(alike / CLEARLY_ALIKE, 0.0, _MOST_EMPHASIS) if self._is_emphasised else 1.0

    def total(self, parts: NDArray[Any], scales: Reals) -> Reals:
        """Make scores of the parts, which are in the last dimension, by the scales of all of them."""
        asked = parts * (scales * self._asked)
        related, alike = asked[..., :_FIRST_OF_PLACE].sum(-1), asked[..., _FIRST_OF_PLACE:].sum(-1)
        return np.asarray(related + alike * self.emphasis(alike), dtype=np.float64)

    def most(self, rows: WordRows) -> float:
        """Return the score of a word with itself, which no other pair exceeds."""
        largest = 1.0 if self._is_factor else MOST_UNITS
        return float(self.total(rows.profiles.most * largest, rows.profiles.scales))

    def scores(self, rows: WordRows, parts: Sequence[Part]) -> Reals:
        """Score every word; a query of several parts has the mean of their scores, see also `joined`."""
        return self.query(rows, parts).scores_of(np.arange(len(rows.index_to_key)))

    def joined(self, rows: WordRows, scores: Sequence[NDArray[Any]], weights: Sequence[float]) -> Reals:
        """Average the scores of the parts of a query; with negative weights multiply those by `of_factors`.

        In a sum, one part that is very near outweighs the others: `king - man + woman` is a monarch. In a
        product (3CosMul of Levy & Goldberg 2014) each part counts by its ratio.
        """
        if min(weights) >= 0 or len(weights) == 1:
            return weighted_mean(scores, weights)
        largest = self.of_factors.most(rows) or 1.0
        return products_of_shares([score / largest for score in scores], weights)

    def query(self, rows: WordRows, parts: Sequence[Part]) -> Query:
        """Prepare a query, to be asked more than once."""
        return Query(rows, parts, self)

    def pairs(self, rows: WordRows, first: NDArray[Any], second: NDArray[Any]) -> Reals:
        """Score pairs of rows."""
        profiles = rows.profiles
        # Trust in both words times the sum over parts of weight * value / spread.
        values = profiles.pairs(rows, first, second) * self.units(profiles, first, second)
        scores = self.total(values, profiles.scales)
        found: Reals = scores * profiles.trust_in_pairs(first, second)
        return found

    def between(self, rows: WordRows, first: str | NDArray[Any], second: str | NDArray[Any]) -> float:
        """Score two words or vectors; nothing is known about how vectors lean on each other."""
        if isinstance(second, str):
            return float(self.query(rows, [(first, 1.0)]).scores_of(np.array([rows.get_index(second)]))[0])
        if isinstance(first, str):
            return self.between(rows, second, first)
        return _Vector(rows, first, self).score_with(_Vector(rows, second, self))

    def parts(self, rows: WordRows, first: int, second: int) -> dict[str, float]:
        """Return what each part gives to the score of two words; their sum is the score."""
        profiles, pair = rows.profiles, (np.array([first]), np.array([second]))
        values = (profiles.pairs(rows, *pair) * self.units(profiles, *pair))[0] * self.scales(rows)
        values[_FIRST_OF_PLACE:] *= self.emphasis(values[_FIRST_OF_PLACE:].sum())
        values *= profiles.trust_in_pairs(*pair)
        return {
            name: value
            for name, value, asked in zip(PARTS, values.tolist(), self._asked, strict=True)
            if asked
        }

    def nearest(
        self, rows: WordRows, parts: Sequence[Part], count: int
    ) -> tuple[NDArray[np.intp], NDArray[Any]]:
        """Find the highest scores: the words that smoothed rows favour, then exactly among these."""
        return self.query(rows, parts).nearest(count)

    def nearest_of_rows(
        self, rows: WordRows, wanted: NDArray[np.intp], count: int
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Find the nearest words of several words at once, themselves left out: words x neighbours each."""
        queries = [self.query(rows, [(rows.index_to_key[row], 1.0)]) for row in wanted.tolist()]
        # All queries together: the smoothed rows are read once instead of once per word.
        likely = likely_of(rows.profiles, queries)
        count = min(count, len(rows.index_to_key) - 1)
        places, scores = np.empty((len(wanted), count), np.intp), np.empty((len(wanted), count))
        for number, (row, query, scores_of_all) in enumerate(
            zip(wanted.tolist(), queries, likely, strict=True)
        ):
            # One more than wanted: the word itself is nearest, and is left out.
            found, values = query.nearest(count + 1, scores_of_all)
            others = found != row
            places[number], scores[number] = found[others][:count], values[others][:count]
        return places, scores

    def contributions(self, rows: WordRows, first: int, second: int) -> Reals:
        """Return how much each feature gives to the score of two words; the sum is the score.

        Association is credited to the two words themselves, or to those of their forms that it is about. A
        feature's share of a smoothed profile is the mean of what it brings into either word's smoothed row.
        """
        profiles = rows.profiles
        scales = self.scales(rows) * self.units(profiles, first, second)
        shares = []
        for kind in profiles.kinds:
            means = [kind.mean(row, profiles.forms.of_row(row)) for row in (first, second)]
            sources = [kind.profile.of_row(row) for row in (first, second)] if kind.has_own_rows else means
            smooth = _smooth_shares(kind.profile, sources, [kind.rows[row] for row in (first, second)])
            shares.append(scales[kind.part] * means[0] * means[1] + scales[kind.part + 1] * smooth)
        shares[1:] = [places * self.emphasis(places.sum()) for places in shares[1:]]
        for one, other in ((first, second), (second, first)):
            for form, weight in profiles.forms.of_row(one):
                for leaned_on, share in profiles.forms.of_row(other):
                    if form != leaned_on:
                        leaning = profiles.leaning(rows, np.array([form]), np.array([leaned_on]))[0]
                        column = rows.row_features[leaned_on]
                        # The association counts for the word that is leaned on, half in each direction.
                        shares[0][column] += scales[0] * weight * share * float(leaning) / 2
        trust = profiles.trust_in_pairs(np.array([first]), np.array([second]))
        return np.asarray(np.concatenate(shares) * trust, dtype=np.float64)

    def deviations(self, rows: WordRows, row: int) -> Reals:
        """How far each feature stands out in a word's vector, in deviations; 0 for the word's own."""
        profiles = rows.profiles
        own = int(rows.row_features[row])
        relative = profiles.topic.relative(rows.matrix[row], float(profiles.topic.baseline[row]), own)
        found = profiles.topic.deviations(relative)
        found[own] = 0.0
        if profiles.place is None or rows.place is None:
            return np.asarray(found, dtype=np.float64)
        relative = profiles.place.relative(rows.place.matrix[row], float(profiles.place.baseline[row]))
        return np.concatenate([found, profiles.place.deviations(relative)], dtype=np.float64)

    def distances(self, rows: WordRows, scores: NDArray[Any]) -> Reals:
        """Return how far scores are below that of a word with itself."""
        found: Reals = np.maximum(self.most(rows) - scores.astype(np.float64), 0.0)
        return found

    def percentiles(self, rows: WordRows, scores: NDArray[Any]) -> Reals:
        """Return the percentage of random pairs of words that are less near."""
        profiles = rows.profiles
        shares = np.interp(scores, profiles.random_scores[self.name], profiles.random_shares)
        return np.asarray(100 * shares, dtype=np.float64)


class Query:
    """Words and vectors with weights, prepared to be compared with all words; see `Combined.joined`."""

    def __init__(self, rows: WordRows, parts: Sequence[Part], question: Combined) -> None:
        self._rows, self._profiles, self._question = rows, rows.profiles, question
        self._weights = [weight for _, weight in parts]
        asked = question.of_factors if len(parts) > 1 and min(self._weights) < 0 else question
        self.asked = asked
        self._items = [
            _Word(rows, item, asked) if isinstance(item, str) else _Vector(rows, item, asked)
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
        likely = next(likely_of(self._profiles, [self])) if likely is None else likely
        # Smoothed rows find the likely words; the exact score, which reads whole rows, is for these only.
        candidates = _highest(likely, max(_CANDIDATES * len(self._items), 2 * count))
        words = [item.row for item in self._items if isinstance(item, _Word)]
        candidates = np.union1d(candidates, np.array(words, dtype=np.intp))
        scores = self.scores_of(candidates)
        order = best(scores, count)
        return candidates[order], scores[order]


class _Item(ABC):
    """A word or a vector: its profile and smoothed profile of each kind, and what it leans on."""

    trust = 1.0

    def __init__(self, rows: WordRows, question: Combined) -> None:
        self._rows, self._profiles, self._question = rows, rows.profiles, question
        self._scales, self._units = question.scales(rows), np.ones(len(PARTS))
        kinds = self._profiles.kinds
        self._means = [np.zeros(kind.profile.n_features) for kind in kinds]
        self._smooth = [np.zeros(kind.rows.shape[1]) for kind in kinds]

    @property
    def smooth(self) -> list[Reals]:
        """Smoothed profiles of each kind, weighted as all parts of the kind are."""
        scales = (self._scales * self._units)[_SMOOTHED] * self._question.stands_for * self.trust
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
        parts *= self._units.astype(np.float64) * self._question.units_of_words(profiles, wanted)
        scores: Reals = self._question.total(parts, profiles.scales) * self.trust * profiles.trust[wanted]
        return scores


class _Word(_Item):
    """A trained word, with its forms."""

    def __init__(self, rows: WordRows, word: str, question: Combined) -> None:
        super().__init__(rows, question)
        self.row = rows.get_index(word)
        profiles = self._profiles
        self.trust = float(profiles.trust[self.row])
        self._units = question.units_of_words(profiles, self.row)
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


class _Vector(_Item):
    """A vector of topics, or of topics and places; a kind whose numbers are all equal says nothing."""

    def __init__(self, rows: WordRows, item: NDArray[Any], question: Combined) -> None:
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

    def score_with(self, other: _Vector) -> float:
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
        return np.asarray(_log_ratio(self._relative[columns], self._profiles.topic.mean[columns]), np.float64)


def likely_of(profiles: Profiles, queries: Sequence[Query]) -> Iterator[NDArray[np.float32]]:
    """Score all words roughly: smoothed rows, in few steps, stand for all parts of their kind."""
    by_kind = [
        _code_products(kind, [query.smooth[number] for query in queries])
        for number, kind in enumerate(profiles.kinds)
    ]
    for number, query in enumerate(queries):
        units = query.asked.units_of_words(profiles, slice(None))
        likely = [
            products[number].astype(np.float32) * (np.float32(step[number]) * units[..., kind.part])
            for kind, (products, step) in zip(profiles.kinds, by_kind, strict=True)
        ]
        found = likely[0]
        for alike in likely[1:]:
            found = found + alike * query.asked.emphasis(alike)
        yield found * profiles.trust


def _code_products(kind: _Kind, rows: Sequence[Reals]) -> tuple[NDArray[np.int32], Reals]:
    """Multiply rows in few steps with those of all words, and return the size of a step of each product."""
    asked = np.array(rows)
    largest = np.maximum(np.abs(asked).max(axis=1, initial=0), 1e-12)
    # Products of bytes in 32-bit sums: 1,000 dimensions x 127 x 127 are far below 2**31.
    codes = np.rint(asked * (_CODE / largest)[:, None]).astype(np.int8)
    products = np.empty((len(rows), len(kind.codes)), dtype=np.int32)

    def multiply(part: slice) -> None:
        _native.code_products(kind.codes, codes[part], products[part])

    if len(rows) < _WORTH_THREADS:
        multiply(slice(None))
    else:
        in_parts(len(rows), multiply, available_cores())
    return products, largest / _CODE * kind.step


def weighted_mean(scores: Sequence[NDArray[Any]], weights: Sequence[float]) -> Reals:
    """Average the scores of the parts of a query."""
    total = sum(map(abs, weights)) or 1.0
    parts = [score * (weight / total) for score, weight in zip(scores, weights, strict=True)]
    return np.asarray(np.sum(parts, axis=0), dtype=np.float64)


def products_of_shares(shares: Sequence[NDArray[Any]], weights: Sequence[float]) -> Reals:
    """Multiply what each part of a query has of the largest score, to the power of its weight."""
    parts = zip(shares, weights, strict=True)
    # prod (max(share, 0) + 0.1)**weight, as a sum of logarithms.
    logarithms = [weight * np.log(np.maximum(share, 0) + _FLOOR_OF_SHARES) for share, weight in parts]
    return np.asarray(np.exp(np.sum(logarithms, axis=0)), dtype=np.float64)


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


def _smooth_shares(
    profile: RowProfile, rows: Sequence[NDArray[Any]], smooth: Sequence[NDArray[Any]]
) -> Reals:
    """Share the product of two smoothed rows among the features of the rows that they were made of."""
    product = float(smooth[0].astype(np.float64) @ smooth[1])
    total = np.zeros(profile.n_features)
    for row, other in ((rows[0], smooth[1]), (rows[1], smooth[0])):
        shares = profile.shares_of_smoothed(row, other)
        whole = float(shares.sum())
        total += shares * (product / whole / 2) if whole else shares
    return total


def _mean_lengths(forms: WordForms, profile: RowProfile) -> NDArray[np.float32]:
    """Length of the weighted mean of the profiles of each word's forms; 1 where it is 0, to divide by."""
    found = np.ones(len(profile.lengths), dtype=np.float32)  # a profile alone has length 1
    several = np.flatnonzero(np.diff(forms.starts) > 1)
    for start in range(0, len(several), _PAIRS_AT_A_TIME):
        part = several[start : start + _PAIRS_AT_A_TIME]
        weights, members = forms.weights_of(part)
        mean = weights.astype(np.float64) @ profile.some(members).astype(np.float64)
        found[part] = np.sqrt(np.asarray(mean.multiply(mean).sum(axis=1)).ravel())
    found[found == 0] = 1
    return found


def _log_ratio(relative: Any, mean: Any) -> Any:
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
    return np.maximum(beside, _LEAST_CLOSENESS).astype(np.float32)


def coded(rows: NDArray[np.float32]) -> tuple[NDArray[np.int8], float]:
    """Write rows in 255 steps; return also the size of a step."""
    step = max(float(rows.max(initial=0)), -float(rows.min(initial=0)), 1e-9) / _CODE
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


def weighted_parts(parts: Iterable[Part]) -> float:
    """Sum the absolute weights of a query; 1 if all are zero."""
    return sum(abs(weight) for _, weight in parts) or 1.0
