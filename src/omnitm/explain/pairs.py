"""Why two words are similar: which words or clauses the score is made of, and the documents behind them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from omnitm.explain.contributions import BY_CLAUSES, ClauseShare, clause_shares, total
from omnitm.explain.evidence import Together, together
from omnitm.explain.records import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnitm.corpus import DocumentIndex
    from omnitm.explain.contributions import TakenApart
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
        The coordinate in the vectors of the two words; for "similarity" how far it stands out there, in
        deviations from the mean of all words.
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
        The similarity of the two words by the metric.
    total_for, total_against
        Sums of all positive and of all negative shares; with `rounding` they add up to the score.
    contributions_for, contributions_against
        The largest shares of coordinates, for metrics that compare whole vectors.
    contributions_asked
        The shares of features that were asked about, whatever their size.
    n_for, n_against
        How many coordinates speak for and against, shown or not.
    clauses
        The shares of clauses, for metrics that read a single coordinate. All of them.
    parts
        What the parts of the metric "similarity" give: association, company, smoothed company; they add up
        to the score as well. Empty for other metrics.
    forms
        The other forms that speak for each of the two words in the metric "similarity".
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
    contributions_asked: tuple[Contribution, ...] = ()
    clauses: tuple[ClauseShare, ...] = ()
    together: Together | None = None
    parts: dict[str, float] = field(default_factory=dict)
    forms: dict[str, tuple[str, ...]] = field(default_factory=dict)


def compare_by_clauses(
    machines: Machines, word: str, other: str, metric: str, *, n_documents: int = 1
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
    taken_apart: TakenApart,
    index: DocumentIndex | None,
    word: str,
    other: str,
    *,
    n: int = 10,
    n_documents: int = 1,
    through: Sequence[str] = (),
) -> Comparison:
    """Explain a score that is a sum over all coordinates."""
    asked = [taken_apart.column(feature) for feature in through]
    shares = taken_apart.shares
    order = np.argsort(-shares, kind="stable")
    largest = [k for k in order[:n].tolist() if shares[k] > 0]
    smallest = [k for k in order[::-1][:n].tolist() if shares[k] < 0]
    evidence = _Evidence(taken_apart, index, (word, other), n_documents)
    return Comparison(
        word=word,
        other=other,
        metric=taken_apart.metric,
        score=taken_apart.score,
        total_for=total(shares[shares > 0]),
        total_against=total(shares[shares < 0]),
        rounding=0.0,
        n_for=int((shares > 0).sum()),
        n_against=int((shares < 0).sum()),
        contributions_for=tuple(map(evidence.of, largest)),
        contributions_against=tuple(map(evidence.of, smallest)),
        contributions_asked=tuple(map(evidence.of, asked)),
        together=None if index is None else together(index, word, other, n_documents),
        parts=dict(taken_apart.parts),
        forms=dict(taken_apart.forms),
    )


@dataclass(frozen=True, eq=False)
class _Evidence:
    """Names a coordinate's share and finds the documents behind it."""

    taken_apart: TakenApart
    index: DocumentIndex | None
    pair: tuple[str, str]
    n_documents: int

    def of(self, column: int) -> Contribution:
        parts = self.taken_apart
        feature = parts.feature_names[column]
        found: list[Together | None] = [None, None]
        if self.index is not None:
            found = [together(self.index, word, feature, self.n_documents) for word in self.pair]
        values = float(parts.first[column]), float(parts.second[column])
        return Contribution(feature, float(parts.shares[column]), *values, *found)
