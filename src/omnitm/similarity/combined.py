"""Three questions about two words: are they related, are they alike, and both together: similarity.

Six parts, each in units of its spread over random pairs of words, are added:

- association: how much more than usual the machines of both words lean on each other,
  `(log((x_a[b] + 0.1) / (mean[b] + 0.1)) + log((x_b[a] + 0.1) / (mean[a] + 0.1))) / 2`,
- topic profile: the cosine of what stands out in both vectors; smoothed: the same in the space of the
  strongest common patterns, where words need not share the very features,
- place profile, and smoothed: the same of the coordinates that say where words stand,
- joined profile: the same of the words that *and*, *or* or a comma joins with them.

Some words, such as names of months, have many near words, others have hardly any. So the parts of a pair
are measured by the closeness of both words: how near the second to eighth nearest of the best known words
are, beside the usual. They are divided by the geometric mean of both.

The rows of rare words are less certain than those of the best known words, and would fill lists of the
nearest words. So scores in lists are multiplied by the trust in the word that is listed: 1, or
`(8000 / place in the vocabulary) ** 0.25` for words after the first 8,000. Scores of pairs are not.

*Related* words share topics (the first three parts), *alike* words can stand in each other's place (the
last three). *Similarity*, the default, is related + alike * emphasis, where the emphasis is `alike / 50`,
between 0 and 2: words that are barely alike, as all nouns are, say little, and clearly alike words lead the
lists. The forms of a word (`omnitm.similarity.word_forms`)
count with it: association is the weighted mean over the forms of both words, profiles are weighted means;
only smoothed place profiles are the word's own, since forms stand in different places.

Every part is a sum over named features, see `Combined.contributions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitm.similarity.nearest import Query, VectorItem, nearest_of_queries
from omnitm.similarity.question import FIRST_OF_PLACE, PARTS, Question
from omnitm.similarity.row_profile import RowProfile
from omnitm.similarity.word_rows import Part, WordRows

Reals = NDArray[np.float64]


class Combined(Question):
    """One of the three questions, asked about the words of a model; trained words can be found."""

    digits = 1

    def problem(self, rows: WordRows) -> str | None:
        """Say why these vectors have no answer; None if they have."""
        if rows.place is not None and not rows.has_named_features:
            if self.name == "alike":
                return None
            return (
                f"The metric {self.name!r} needs vectors that know topics, and these were trained on place "
                "only; use metric='alike'."
            )
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
        topics = rows.feature_names if rows.has_named_features else ()
        return [*topics, *(() if rows.place is None else rows.place.feature_names)]

    def scores(self, rows: WordRows, parts: Sequence[Part]) -> Reals:
        """Score every word as in lists; a query of several parts has the mean of scores, see `joined`."""
        query, words = self.query(rows, parts), np.arange(len(rows.index_to_key))
        return query.in_lists(words, query.scores_of(words))

    def scores_as_pairs(self, rows: WordRows, item: str | NDArray[Any]) -> Reals:
        """Score every word with a word or vector; rare words count as any others."""
        return self.query(rows, [(item, 1.0)]).scores_of(np.arange(len(rows.index_to_key)))

    def query(self, rows: WordRows, parts: Sequence[Part]) -> Query:
        """Prepare a query, to be asked more than once."""
        return Query(rows, parts, self)

    def pairs(self, rows: WordRows, first: NDArray[Any], second: NDArray[Any]) -> Reals:
        """Score pairs of rows."""
        profiles = rows.profiles
        # The sum over parts of weight * value / spread.
        values = profiles.pairs(rows, first, second) * self.units(rows, first, second)
        return self.total(values, profiles.scales)

    def between(self, rows: WordRows, first: str | NDArray[Any], second: str | NDArray[Any]) -> float:
        """Score two words or vectors; nothing is known about how vectors lean on each other."""
        if isinstance(second, str):
            return float(self.query(rows, [(first, 1.0)]).scores_of(np.array([rows.get_index(second)]))[0])
        if isinstance(first, str):
            return self.between(rows, second, first)
        return VectorItem(rows, first, self).score_with(VectorItem(rows, second, self))

    def parts(self, rows: WordRows, first: int, second: int) -> dict[str, float]:
        """Return what each part gives to the score of two words; their sum is the score."""
        profiles, pair = rows.profiles, (np.array([first]), np.array([second]))
        values = (profiles.pairs(rows, *pair) * self.units(rows, *pair))[0] * self.scales(rows)
        values[FIRST_OF_PLACE:] *= self.emphasis(values[FIRST_OF_PLACE:].sum())
        known = profiles.most > 0
        return {
            name: value
            for name, value, asked in zip(PARTS, values.tolist(), self._asked * known, strict=True)
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
        count = min(count, len(rows.index_to_key) - 1)
        places, scores = np.empty((len(wanted), count), np.intp), np.empty((len(wanted), count))
        # One more than wanted: the word itself is nearest, and is left out.
        for number, (found, values) in enumerate(nearest_of_queries(rows, queries, count + 1)):
            others = found != wanted[number]
            places[number], scores[number] = found[others][:count], values[others][:count]
        return places, scores

    def contributions(self, rows: WordRows, first: int, second: int) -> Reals:
        """Return how much each feature gives to the score of two words; the sum is the score.

        Association is credited to the two words themselves, or to those of their forms that it is about. A
        feature's share of a smoothed profile is the mean of what it brings into either word's smoothed row.
        """
        profiles = rows.profiles
        scales = self.scales(rows) * self.units(rows, first, second)
        shares = []
        for kind in profiles.kinds:
            means = [kind.mean(row, profiles.forms).astype(np.float64) for row in (first, second)]
            sources = [kind.profile.of_row(row) for row in (first, second)] if kind.has_own_rows else means
            shares.append(scales[kind.part] * means[0] * means[1])
            if kind.is_smoothed:
                smooth = _smooth_shares(kind.profile, sources, [kind.rows[row] for row in (first, second)])
                shares[-1] += scales[kind.part + 1] * smooth
        emphasis = self.emphasis(sum(float(of_kind.sum()) for of_kind in shares[1:]))
        shares[1:] = [of_kind * emphasis for of_kind in shares[1:]]
        for one, other in ((first, second), (second, first)) if profiles.has_topics else ():
            for form, weight in profiles.forms.of_row(one):
                for leaned_on, share in profiles.forms.of_row(other):
                    if form != leaned_on:
                        leaning = profiles.leaning(rows, np.array([form]), np.array([leaned_on]))[0]
                        column = rows.row_features[leaned_on]
                        # The association counts for the word that is leaned on, half in each direction.
                        shares[0][column] += scales[0] * weight * share * float(leaning) / 2
        return np.asarray(np.concatenate(shares), dtype=np.float64)

    def deviations(self, rows: WordRows, row: int) -> Reals:
        """How far each feature stands out in a word's vector, in deviations; 0 for the word's own."""
        profiles = rows.profiles
        found = np.zeros(0)
        if profiles.has_topics:
            own = int(rows.row_features[row])
            relative = profiles.topic.relative(rows.matrix[row], float(profiles.topic.baseline[row]), own)
            found = profiles.topic.deviations(relative)
            found[own] = 0.0
        if profiles.place is None or rows.place is None:
            return np.asarray(found, dtype=np.float64)
        kinds = [kind for kind in (profiles.place, profiles.joined) if kind is not None]
        parts = np.split(rows.place.matrix[row], [profiles.place.n_features])
        relative = [
            kind.relative(part, float(kind.baseline[row])) for kind, part in zip(kinds, parts, strict=False)
        ]
        deviations = [kind.deviations(part) for kind, part in zip(kinds, relative, strict=True)]
        return np.concatenate([found, *deviations], dtype=np.float64)

    def distances(self, rows: WordRows, scores: NDArray[Any]) -> Reals:
        """Return how far scores are below that of a word with itself."""
        found: Reals = np.maximum(self.most(rows) - scores.astype(np.float64), 0.0)
        return found

    def percentiles(self, rows: WordRows, scores: NDArray[Any]) -> Reals:
        """Return the percentage of random pairs of words that are less near."""
        profiles = rows.profiles
        shares = np.interp(scores, profiles.random_scores[self.name], profiles.random_shares)
        return np.asarray(100 * shares, dtype=np.float64)


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
