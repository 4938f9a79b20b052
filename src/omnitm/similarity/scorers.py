"""How near two words are: by our own similarity, by association (a coordinate) or by cosine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from omnitm.errors import ParameterError
from omnitm.parameters import check_choice
from omnitm.similarity.combined import Similarity
from omnitm.similarity.highest_cosines import can_prune, highest_cosines
from omnitm.similarity.row_products import row_dots

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from omnitm.vectors.word_vectors import WordVectors

Metric = Literal["similarity", "association", "association-symmetric", "cosine"]
Part = tuple["str | NDArray[Any]", float]  # a word or a vector, and its weight in a query


class Scorer(Protocol):
    """Scores words against a query made of weighted words and vectors; higher is nearer."""

    def candidates(self, vectors: WordVectors) -> Sequence[str]:
        """Words that can be found, in the order of the scores."""

    def scores(self, vectors: WordVectors, parts: Sequence[Part]) -> NDArray[Any]:
        """Score every candidate."""

    def pair(self, vectors: WordVectors, first: str, second: str) -> float:
        """Score one pair of words."""

    def distances(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Turn scores into distances."""


class Association:
    """The coordinate: how strongly the machine of one word leans on the other word.

    Every feature can be found, trained or not. A query of several parts has their weighted mean.
    """

    def candidates(self, vectors: WordVectors) -> Sequence[str]:
        """All features."""
        return vectors.feature_names

    def scores(self, vectors: WordVectors, parts: Sequence[Part]) -> NDArray[Any]:
        """Take the row of the word, or the weighted mean of rows."""
        if len(parts) == 1 and parts[0][1] == 1.0:
            return vectors.part_vector(parts[0][0])
        return weighted_mean(vectors, parts)

    def pair(self, vectors: WordVectors, first: str, second: str) -> float:
        """Read the coordinate of `second` in the vector of `first`."""
        return float(vectors.get_vector(first)[vectors.feature_index(second)])

    def distances(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Negate: associations have no natural upper end."""
        return -scores.astype(np.float64)


class SymmetricAssociation(Association):
    """The mean of both words' coordinates; both words must be trained."""

    def candidates(self, vectors: WordVectors) -> Sequence[str]:
        """All trained words."""
        return vectors.index_to_key

    def scores(self, vectors: WordVectors, parts: Sequence[Part]) -> NDArray[Any]:
        """Average row and column of each word."""
        rows = weighted_mean(vectors, parts)[vectors.row_features]
        columns = np.zeros(len(vectors))
        for item, weight in parts:
            columns += weight * vectors.matrix[:, self._column(vectors, item)].astype(np.float64)
        return (rows + columns / total_weight(parts)) / 2

    def pair(self, vectors: WordVectors, first: str, second: str) -> float:
        """Average the two coordinates."""
        return (super().pair(vectors, first, second) + super().pair(vectors, second, first)) / 2

    @staticmethod
    def _column(vectors: WordVectors, item: str | NDArray[Any]) -> int:
        if isinstance(item, str):
            return vectors.feature_index(item)
        raise ParameterError(
            "The 'metric' parameter cannot be 'association-symmetric' for a vector, only for words; "
            "use 'association' or 'cosine'."
        )


class Cosine:
    """The cosine of the angle between two vectors; 0 if one of them is all zeros."""

    def candidates(self, vectors: WordVectors) -> Sequence[str]:
        """All trained words."""
        return vectors.index_to_key

    def scores(self, vectors: WordVectors, parts: Sequence[Part]) -> NDArray[Any]:
        """Compare every row with the word, or with the sum of the parts' unit vectors."""
        query = vectors.part_vector(parts[0][0])
        if len(parts) > 1 or parts[0][1] != 1.0:
            query = sum(
                (weight * unit(vectors.part_vector(item)) for item, weight in parts), np.zeros(len(query))
            )
        lengths = vectors.lengths.norms * np.linalg.norm(query.astype(np.float64))
        dots = row_dots(vectors.matrix, vectors.lengths.largest, query)
        return np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0)

    def nearest(
        self, vectors: WordVectors, parts: Sequence[Part], count: int
    ) -> tuple[NDArray[np.intp], NDArray[Any]] | None:
        """Find the nearest rows without scoring all; None where that saves nothing."""
        query = vectors.part_vector(parts[0][0])
        is_plain = len(parts) == 1 and parts[0][1] == 1.0 and query.dtype == np.int16
        if not is_plain or not can_prune(vectors.matrix):
            return None
        rows, scores = highest_cosines(vectors.matrix, vectors.lengths, query, count)
        order = best(scores, count)
        return rows[order], scores[order]

    def pair(self, vectors: WordVectors, first: str, second: str) -> float:
        """Multiply the two unit vectors."""
        return float(unit(vectors.get_vector(first)) @ unit(vectors.get_vector(second)))

    def distances(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return 1 - cosine."""
        return 1 - scores


SCORERS: dict[str, Scorer] = {
    "similarity": Similarity(),
    "association": Association(),
    "association-symmetric": SymmetricAssociation(),
    "cosine": Cosine(),
}


def scorer(metric: str) -> Scorer:
    """Find the scorer of a metric."""
    return SCORERS[check_choice("WordVectors", "metric", metric, SCORERS)]


def nearest(
    score: Scorer, vectors: WordVectors, parts: Sequence[Part], count: int
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Find the candidates with the highest scores, and their scores."""
    found = score.nearest(vectors, parts, count) if isinstance(score, Cosine) else None
    if found is not None:
        return found
    scores = score.scores(vectors, parts)
    places = best(scores, count)
    return places, scores[places]


def unit(vector: NDArray[Any]) -> NDArray[np.float64]:
    """Scale a vector to length 1, unless it is all zeros."""
    values = vector.astype(np.float64)
    length = float(np.linalg.norm(values))
    return values / length if length > 0 else values


def weighted_mean(vectors: WordVectors, parts: Sequence[Part]) -> NDArray[np.float64]:
    """Average the parts' vectors by weight."""
    total = np.zeros(vectors.vector_size)
    for item, weight in parts:
        total += weight * vectors.part_vector(item).astype(np.float64)
    return total / total_weight(parts)


def total_weight(parts: Sequence[Part]) -> float:
    """Sum the absolute weights; 1 if all are zero."""
    return sum(abs(weight) for _, weight in parts) or 1.0


def best(scores: NDArray[Any], count: int) -> NDArray[np.intp]:
    """Positions of the highest scores, highest first; of equal ones the first come first."""
    count = min(count, len(scores))
    if count == 0:
        return np.zeros(0, dtype=np.intp)
    limit = np.partition(scores, len(scores) - count)[len(scores) - count]
    above = np.flatnonzero(scores > limit)
    equal = np.flatnonzero(scores == limit)[: count - len(above)]
    above = above[np.argsort(-scores[above].astype(np.float64), kind="stable")]
    return np.concatenate([above, equal])
