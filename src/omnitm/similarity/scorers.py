"""The metrics by name: how near two words are. A metric is one class; all else reads the registry below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from omnitm.errors import ParameterError
from omnitm.parameters import check_choice
from omnitm.similarity.combined import Combined
from omnitm.similarity.nearest import best
from omnitm.similarity.question import weighted_mean, weighted_parts
from omnitm.similarity.row_products import can_prune, highest_cosines, row_dots
from omnitm.similarity.row_profile import unit, unit_rows
from omnitm.similarity.word_rows import Part, WordRows

Metric = Literal["similarity", "related", "alike", "association", "association-symmetric", "cosine"]


class Scorer(Protocol):
    """A metric. Scores are for words, or for a query of weighted words and vectors; higher is nearer."""

    name: str
    digits: int
    """Digits after the point when a score is printed."""

    def problem(self, rows: WordRows) -> str | None:
        """Say why these vectors do not have this metric; None if they have."""

    def candidates(self, rows: WordRows) -> Sequence[str]:
        """Words that can be found, in the order of the scores."""

    def features(self, rows: WordRows) -> Sequence[str]:
        """Names of the coordinates that contributions are about."""

    def scores(self, rows: WordRows, parts: Sequence[Part]) -> NDArray[Any]:
        """Score every candidate, as lists do."""

    def scores_as_pairs(self, rows: WordRows, item: str | NDArray[Any]) -> NDArray[Any]:
        """Score every candidate with a word or vector, as `pairs` does."""

    @property
    def of_factors(self) -> Scorer:
        """What the parts of a query with negative weights are scored by."""

    def joined(
        self, rows: WordRows, scores: Sequence[NDArray[Any]], weights: Sequence[float]
    ) -> NDArray[Any]:
        """Make the scores of a query from those of its parts."""

    def pairs(self, rows: WordRows, first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
        """Score many pairs of trained words, given by their rows."""

    def nearest(
        self, rows: WordRows, parts: Sequence[Part], count: int
    ) -> tuple[NDArray[np.intp], NDArray[Any]]:
        """Find the candidates with the highest scores, and their scores."""

    def contributions(self, rows: WordRows, first: int, second: int) -> NDArray[np.float64] | None:
        """Take the score of two rows apart into a number per feature; None if it is no such sum."""

    def distances(self, rows: WordRows, scores: NDArray[Any]) -> NDArray[np.float64]:
        """Turn scores into distances: never negative, and 0 for a word and itself, but for associations."""


class _Plain:
    """What most metrics do: trained words are found, all are scored, and parts of a query are averaged."""

    def candidates(self, rows: WordRows) -> Sequence[str]:
        """All trained words."""
        return rows.index_to_key

    def features(self, rows: WordRows) -> Sequence[str]:
        """Columns."""
        return rows.feature_names

    def scores_as_pairs(self: Scorer, rows: WordRows, item: str | NDArray[Any]) -> NDArray[Any]:
        """Score as for lists, which have the scores of pairs."""
        return self.scores(rows, [(item, 1.0)])

    @property
    def of_factors(self: Scorer) -> Scorer:
        """Parts are scored as any words are."""
        return self

    def joined(
        self,
        rows: WordRows,  # noqa: ARG002
        scores: Sequence[NDArray[Any]],
        weights: Sequence[float],
    ) -> NDArray[np.float64]:
        """Average."""
        return weighted_mean(scores, weights)


class Association(_Plain):
    """The coordinate: how strongly the machine of one word leans on the other word.

    Every feature can be found, trained or not. A query of several parts has their weighted mean.
    """

    name = "association"
    digits = 0

    def problem(self, rows: WordRows) -> str | None:
        """Columns must be words."""
        if rows.has_named_features:
            return None
        return (
            f"The metric {self.name!r} reads the coordinate of a word, but the coordinates of these vectors "
            "are not words; use metric='cosine'."
        )

    def candidates(self, rows: WordRows) -> Sequence[str]:
        """All features."""
        return rows.feature_names

    def scores(self, rows: WordRows, parts: Sequence[Part]) -> NDArray[Any]:
        """Take the row of the word, or the weighted mean of rows."""
        if len(parts) == 1 and parts[0][1] == 1.0:
            return rows.part_vector(parts[0][0])
        total = np.zeros(rows.vector_size)
        for item, weight in parts:
            total += weight * rows.part_vector(item).astype(np.float64)
        return total / weighted_parts(parts)

    def pairs(self, rows: WordRows, first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.float64]:
        """Read the coordinates of the second words in the vectors of the first."""
        found: NDArray[np.float64] = rows.matrix[first, rows.row_features[second]].astype(np.float64)
        return found

    def nearest(
        self, rows: WordRows, parts: Sequence[Part], count: int
    ) -> tuple[NDArray[np.intp], NDArray[Any]]:
        """Score all."""
        scores = self.scores(rows, parts)
        found = best(scores, count)
        return found, scores[found]

    def contributions(self, rows: WordRows, first: int, second: int) -> None:  # noqa: ARG002
        """Return None: a coordinate is a sum over clauses, not over features."""
        return

    def distances(self, rows: WordRows, scores: NDArray[Any]) -> NDArray[np.float64]:  # noqa: ARG002
        """Return how far scores are below the highest of them; associations have no natural upper end."""
        values = scores.astype(np.float64)
        return np.max(values, initial=_LARGEST_STATE) - values


class SymmetricAssociation(Association):
    """The mean of both words' coordinates; both words must be trained."""

    name = "association-symmetric"
    digits = 1

    candidates = _Plain.candidates

    def scores(self, rows: WordRows, parts: Sequence[Part]) -> NDArray[Any]:
        """Average what the query leans on with what leans on it."""
        leans_on = super().scores(rows, parts)[rows.row_features]
        leaned_on = np.zeros(len(rows.index_to_key))
        for item, weight in parts:
            leaned_on += weight * rows.matrix[:, self._column(rows, item)].astype(np.float64)
        return (leans_on + leaned_on / weighted_parts(parts)) / 2

    def pairs(self, rows: WordRows, first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.float64]:
        """Average the two coordinates."""
        return (super().pairs(rows, first, second) + super().pairs(rows, second, first)) / 2

    @staticmethod
    def _column(rows: WordRows, item: str | NDArray[Any]) -> int:
        if isinstance(item, str):
            return rows.feature_index(item)
        raise ParameterError(
            "The 'metric' parameter cannot be 'association-symmetric' for a vector, only for words; "
            "use 'association' or 'cosine'."
        )


class Cosine(_Plain):
    """The cosine of the angle between two vectors; 0 if one of them is all zeros."""

    name = "cosine"
    digits = 3

    def problem(self, rows: WordRows) -> None:  # noqa: ARG002
        """All vectors have it."""
        return

    def scores(self, rows: WordRows, parts: Sequence[Part]) -> NDArray[Any]:
        """Compare every row with the word, or with the sum of the parts' unit vectors."""
        query = rows.part_vector(parts[0][0])
        if len(parts) > 1 or parts[0][1] != 1.0:
            units = (weight * unit(rows.part_vector(item)) for item, weight in parts)
            query = sum(units, np.zeros(len(query)))
        lengths = rows.lengths.norms * np.linalg.norm(query.astype(np.float64))
        dots = row_dots(rows.matrix, rows.lengths.largest, query)
        return np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0)

    def pairs(self, rows: WordRows, first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.float64]:
        """Multiply unit vectors; every row is read once."""
        found = np.empty(len(first))
        words, sides = np.unique(np.concatenate([first, second]), return_inverse=True)
        per_block = max(1, _PAIR_NUMBERS // max(1, rows.vector_size))
        if len(words) <= per_block:
            units = unit_rows(rows.matrix[words], np.float64)
            found[:] = np.einsum("ij,ij->i", units[sides[: len(first)]], units[sides[len(first) :]])
            return found
        for start in range(0, len(first), per_block // 2 or 1):
            part = slice(start, start + (per_block // 2 or 1))
            a, b = (unit_rows(rows.matrix[side[part]], np.float64) for side in (first, second))
            found[part] = np.einsum("ij,ij->i", a, b)
        return found

    def nearest(
        self, rows: WordRows, parts: Sequence[Part], count: int
    ) -> tuple[NDArray[np.intp], NDArray[Any]]:
        """Find the nearest rows, without scoring all where bounds can be had."""
        query = rows.part_vector(parts[0][0])
        is_plain = len(parts) == 1 and parts[0][1] == 1.0 and query.dtype == np.int16
        if is_plain and can_prune(rows.matrix):
            places, scores = highest_cosines(rows.matrix, rows.lengths, query, count)
        else:
            scores = self.scores(rows, parts)
            places = np.arange(len(scores))
        order = best(scores, count)
        return places[order], scores[order]

    def contributions(self, rows: WordRows, first: int, second: int) -> NDArray[np.float64]:
        """Multiply coordinate by coordinate."""
        return unit(rows.matrix[first]) * unit(rows.matrix[second])

    def distances(self, rows: WordRows, scores: NDArray[Any]) -> NDArray[np.float64]:  # noqa: ARG002
        """Return 1 - cosine."""
        return np.maximum(1 - scores.astype(np.float64), 0.0)


_LARGEST_STATE = 255.0  # no coordinate is larger: a difference of two states of 8 bits
_PAIR_NUMBERS = 1 << 26  # at most so many numbers are held at once


SCORERS: dict[str, Scorer] = {
    found.name: found
    for found in (
        Combined("similarity"),
        Combined("related"),
        Combined("alike"),
        Association(),
        SymmetricAssociation(),
        Cosine(),
    )
}


def scorer(metric: str) -> Scorer:
    """Find the scorer of a metric."""
    return SCORERS[check_choice("WordVectors", "metric", metric, SCORERS)]


def usable_scorer(rows: WordRows, metric: str) -> Scorer:
    """Find the scorer of a metric, and refuse one that these vectors do not have."""
    found = scorer(metric)
    problem = found.problem(rows)
    if problem is not None:
        raise ParameterError(problem)
    return found
