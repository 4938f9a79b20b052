"""Why two words are similar: which words or clauses the score is made of, and the documents behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from omnitm.explain.contributions import (
    BY_CLAUSES,
    ClauseShare,
    clause_shares,
    coordinate_contributions,
    total,
)
from omnitm.explain.evidence import Together, together
from omnitm.explain.records import Record

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex
    from omnitm.embedding import WordVectors
    from omnitm.explain.machines import Machines


@dataclass(frozen=True)
class Contribution(Record):
    """What one coordinate, which is about a word, adds to a score.

    Attributes
    ----------
    feature
        The word that the coordinate is about.
    share
        What it adds; the shares of all coordinates add up to the score.
    first_value, second_value
        The coordinate in the vectors of the two words.
    with_first, with_second
        In how many documents the feature occurs with each of the two; None without an index.
    """

    feature: str
    share: float
    first_value: float
    second_value: float
    with_first: Together | None = None
    with_second: Together | None = None


@dataclass(frozen=True)
class Comparison(Record):
    """Why two words are similar.

    Attributes
    ----------
    score
        `similarity(word, other)` by the metric.
    total_for, total_against
        Sums of all positive and of all negative shares; with `rounding` they add up to the score.
    contributions_for, contributions_against
        The largest shares of coordinates, for metrics that compare whole vectors.
    n_for, n_against
        How many coordinates speak for and against, shown or not.
    clauses
        The shares of clauses, for metrics that read a single coordinate. All of them.
    rounding
        Associations are rounded down to integers; what that took away.
    together
        In how many documents the two words occur together; None without an index.
    """

    word: str
    other: str
    metric: str
    score: float
    total_for: float
    total_against: float
    rounding: float
    n_for: int
    n_against: int
    contributions_for: tuple[Contribution, ...] = ()
    contributions_against: tuple[Contribution, ...] = ()
    clauses: tuple[ClauseShare, ...] = ()
    together: Together | None = None


def compare_by_clauses(
    machines: Machines, word: str, other: str, metric: str, *, n_documents: int = 2
) -> Comparison:
    """Explain an association: the states of one literal in each clause."""
    vectors, index = machines.vectors, machines.index
    clauses: list[ClauseShare] = []
    for (first, second), factor in zip(((word, other), (other, word)), BY_CLAUSES[metric], strict=True):
        if factor:
            clauses += clause_shares(machines[first], vectors.feature_index(second), factor)
    score = vectors.similarity(word, other, metric=metric)  # type: ignore[arg-type]
    shares = np.array([part.share for part in clauses])
    return Comparison(
        word=word,
        other=other,
        metric=metric,
        score=score,
        total_for=total(shares[shares > 0]),
        total_against=total(shares[shares < 0]),
        rounding=score - total(shares),
        n_for=int((shares > 0).sum()),
        n_against=int((shares < 0).sum()),
        clauses=tuple(clauses),
        together=together(index, word, other, n_documents),
    )


def compare_by_coordinates(
    vectors: WordVectors,
    index: DocumentIndex | None,
    word: str,
    other: str,
    metric: str,
    *,
    n: int = 10,
    n_documents: int = 2,
) -> Comparison:
    """Explain a score that is a sum over all coordinates."""
    shares = coordinate_contributions(vectors, word, other, metric)
    order = np.argsort(-shares, kind="stable")
    largest = [k for k in order[:n].tolist() if shares[k] > 0]
    smallest = [k for k in order[::-1][:n].tolist() if shares[k] < 0]
    make = _ContributionMaker(vectors, index, word, other, n_documents)
    return Comparison(
        word=word,
        other=other,
        metric=metric,
        score=vectors.similarity(word, other, metric=metric),  # type: ignore[arg-type]
        total_for=total(shares[shares > 0]),
        total_against=total(shares[shares < 0]),
        rounding=0.0,
        n_for=int((shares > 0).sum()),
        n_against=int((shares < 0).sum()),
        contributions_for=tuple(make(shares, k) for k in largest),
        contributions_against=tuple(make(shares, k) for k in smallest),
        together=None if index is None else together(index, word, other, n_documents),
    )


class _ContributionMaker:
    """Names a coordinate's share and finds its evidence."""

    def __init__(
        self, vectors: WordVectors, index: DocumentIndex | None, word: str, other: str, n_documents: int
    ) -> None:
        self.vectors, self.index, self.pair, self.n_documents = vectors, index, (word, other), n_documents

    def __call__(self, shares: NDArray[np.float64], column: int) -> Contribution:
        feature = self.vectors.feature_names[column]
        values = [float(self.vectors.get_vector(word)[column]) for word in self.pair]
        found: list[Together | None] = [None, None]
        if self.index is not None:
            found = [together(self.index, word, feature, self.n_documents) for word in self.pair]
        return Contribution(feature, float(shares[column]), values[0], values[1], found[0], found[1])
