"""Why two words are similar: numbers that belong to named words, or to clauses, and add up to the score.

With the documents in which both words occur.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus.passages import Counted, counted_in
from omnitm.corpus.running import JOINED, JOINED_COLUMN, PATTERNS, parted
from omnitm.errors import ParameterError, UnknownWordError
from omnitm.explain.evidence import Together, standing, together
from omnitm.explain.records import Record
from omnitm.explain.rules import Machines, TrainedMachine
from omnitm.parameters import check_choice
from omnitm.similarity.combined import Combined
from omnitm.similarity.scorers import SCORERS
from omnitm.store.record import joiners_of
from omnitm.tables import Percent, cell
from omnitm.vectors import WordVectors

BY_CLAUSES = {"association": (1.0, 0.0), "association-symmetric": (0.5, 0.5)}  # weight of each direction


@dataclass(frozen=True)
class ClauseShare(Record):
    """What one clause adds to an association.

    Attributes
    ----------
    machine
        The word whose machine the clause belongs to.
    present_state, absent_state
        States of "the other word occurs" and "the other word does not occur" in this clause.
    share
        (present_state - absent_state) / number of positive clauses: the shares of all clauses and the
        rounding add up to the score.
    """

    machine: str
    clause: int
    weight: int
    present_state: int
    absent_state: int
    share: float


@dataclass(frozen=True, eq=False)
class TakenApart:
    """A score as a sum over features.

    `shares` add up to `score`, and so do `parts`, where the metric has several; `first` and `second` are the
    two vectors that were compared; `forms` are the other forms of the two words that were compared with them;
    `own` are the features that are about the two words themselves.
    """

    metric: str
    score: float
    shares: NDArray[np.float64]
    feature_names: Sequence[str]
    first: NDArray[Any]
    second: NDArray[Any]
    parts: Mapping[str, float] = field(default_factory=dict)
    forms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    own: Sequence[str] = ()
    joiners: Sequence[int] = ()
    """Numbers of the words by which others are joined with a word."""

    @cached_property
    def columns(self) -> dict[str, int]:
        """Places of the features."""
        return {feature: column for column, feature in enumerate(self.feature_names)}

    def column(self, feature: str) -> int:
        """Find the place of a feature."""
        if feature not in self.columns:
            raise UnknownWordError(feature, self.feature_names)
        return self.columns[feature]


def take_apart(vectors: WordVectors, word: str, other: str, metric: str) -> TakenApart:
    """Take a metric's score apart into a number per feature."""
    check_choice("why", "metric", metric, SCORERS)
    scorer = vectors.scorer(cast("Any", metric))
    rows = vectors.get_index(word), vectors.get_index(other)
    shares = scorer.contributions(vectors, *rows)
    if shares is None:
        raise ParameterError(f"The metric {metric!r} is one coordinate, not a sum over features.")
    score, names = vectors.similarity(word, other, metric=cast("Any", metric)), scorer.features(vectors)
    if isinstance(scorer, Combined):
        first, second = (scorer.deviations(vectors, row) for row in rows)
        forms = {name: tuple(vectors.forms(name)) for name in (word, other)}
        own = [name for found in forms.items() for name in (found[0], *found[1])]
        parts = scorer.parts(vectors, *rows)
        joiners = joiners_of(vectors.training)
        return TakenApart(metric, score, shares, names, first, second, parts, forms, own, joiners)
    first, second = vectors.get_vector(word), vectors.get_vector(other)
    own = [word, other] if vectors.has_named_features else []
    return TakenApart(metric, score, shares, names, first, second, own=own)


def clause_shares(machine: TrainedMachine, column: int, factor: float = 1.0) -> list[ClauseShare]:
    """Take a coordinate of a word's vector apart: a number per positive clause, the largest first."""
    clauses = machine.positive_clauses
    found = [_clause_share(machine, clause, column, factor / len(clauses)) for clause in clauses]
    return sorted(found, key=lambda part: -part.share)


def _clause_share(machine: TrainedMachine, clause: int, column: int, factor: float) -> ClauseShare:
    present, absent = (int(machine.states[clause, column + half]) for half in (0, machine.n_words))
    weight = int(machine.weights[clause])
    return ClauseShare(machine.word, clause, weight, present, absent, (present - absent) * factor)


def total(values: Any) -> float:
    """Add numbers without rounding errors."""
    return math.fsum(np.asarray(values, dtype=np.float64).tolist())


@dataclass(frozen=True)
class Contribution(Record):
    """What one coordinate, which is about a word, adds to a score.

    Attributes
    ----------
    feature
        The word that the coordinate is about; or where the two words stand, such as `to _`.
    share
        What it adds; the shares of all coordinates add up to the score.
    first_value, second_value
        The coordinate in the vectors of the two words; for "similarity" how far it stands out there, in
        deviations from the mean of all words.
    with_first, with_second
        In how many documents, or passages, the feature occurs with each of the two; None without an index.
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
    share_together
        The sum of the shares of coordinates that are about the two words themselves, about forms that are
        compared with them, or about places next to these: that they occur together. They are not among the
        contributions.
    contributions_for, contributions_against
        The largest shares of the other coordinates, for metrics that compare whole vectors.
    contributions_asked
        The shares of features that were asked about, whatever their size.
    n_for, n_against
        How many coordinates raise and lower the score, shown or not; those of `share_together` count as one.
    clauses
        The shares of clauses, for metrics that read a single coordinate. All of them.
    parts
        What the parts of the metric "similarity" give, such as association and topic profile; they add up
        to the score as well. Empty for other metrics.
    forms
        The other forms of the two words that the metric "similarity" compares with them.
    rounding
        Associations are rounded down to integers; what that took away.
    together
        In how many documents, or passages where topics were learned from these, the two words occur together;
        None without an index. All documents that a comparison shows are different ones.
    """

    TABLE = ("contributions_for", "contributions_against", "contributions_asked", "clauses")
    SHOWN: ClassVar[Mapping[str, str]] = {
        "list": "list",
        "feature": "feature",
        "machine": "machine",
        "clause": "clause",
        "weight": "weight",
        "present_state": "state",
        "absent_state": "state of NOT",
        "share": "share",
        "first_value": "first word",
        "second_value": "second word",
        "lift": "lift with first",
        "with_second lift": "lift with second",
    }

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
    share_together: float = 0.0

    def shown_rows(self) -> list[dict[str, Any]]:
        """Rows that are printed and shown in notebooks: shares of the score, and the two words by name."""
        headings = {
            "first word": f"in {self.word}",
            "second word": f"in {self.other}",
            "lift with first": f"lift with {self.word}",
            "lift with second": f"lift with {self.other}",
        }
        together = {"list": "for", "feature": "they occur together", "share": self.share_together}
        rows = [{headings.get(name, name): row[name] for name in row} for row in Record.shown_rows(self)]
        rows = [{**row, "list": row["list"].removeprefix("contributions ")} for row in rows]
        scale = abs(self.score) or 1.0
        rows = [*([together] if self.share_together else []), *rows]
        return [{**row, "share": Percent(row["share"] / scale)} for row in rows]

    def caption(self) -> str:
        """Return the sum that the table takes apart."""
        rounded = f" - {cell(-self.rounding)} rounded off" if self.rounding else ""
        return (
            f"{self.metric} of {self.word} and {self.other}: {cell(self.score)} = {cell(self.total_for)} for "
            f"- {cell(abs(self.total_against))} against{rounded}"
        )

    @property
    def sentence(self) -> str:
        """The strongest reasons in one sentence: where both words stand, and what both occur with."""
        features = [part.feature for part in self.contributions_for]
        words = [feature for feature in features if not is_place(feature)]
        places = [parted(feature) for feature in features if is_place(feature)]
        stands = [(column, word) for column, word in places if column != JOINED_COLUMN]
        joined = [word for column, word in places if column == JOINED_COLUMN]
        reasons = {
            "stand": _where(stands[:_IN_A_SENTENCE]),
            "are joined with": _listed(joined[:_IN_A_SENTENCE]),
            "occur with": _listed(words[:_IN_A_SENTENCE]),
        }
        return "; ".join(f"both {verb} {named}" for verb, named in reasons.items() if named)


_IN_A_SENTENCE = 3
_WHERE = ("two places after", "after", "before", "two places before")


def _where(places: Sequence[tuple[int, str]]) -> str:
    """Say where a word stands, each offset once.

    >>> _where([(1, "to"), (2, "from"), (1, "into")]), _where([(1, "to"), (2, "from")])
    ('after to and into, and before from', 'after to and before from')
    """
    by_offset: dict[int, list[str]] = {}
    for column, word in places:
        by_offset.setdefault(column, []).append(word)
    phrases = [f"{_WHERE[column]} {_listed(words)}" for column, words in by_offset.items()]
    has_lists = len(phrases) < len(places)
    return ", and ".join(phrases) if has_lists else _listed(phrases)


def is_place(feature: str) -> bool:
    """Whether a coordinate is about where a word stands, as `to _` is.

    >>> is_place("_ * of"), is_place("road")
    (True, False)
    """
    return feature.startswith("_ ") or feature.endswith(" _")


def _listed(names: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def compare_by_clauses(
    machines: Machines, word: str, other: str, metric: str, *, n_documents: int = 1
) -> Comparison:
    """Explain an association: the states of one literal in each clause."""
    vectors = machines.vectors
    index = counted_in(machines.index, machines.record.settings.passage_reach)
    clauses: list[ClauseShare] = []
    for (first, second), factor in zip(((word, other), (other, word)), BY_CLAUSES[metric], strict=True):
        if factor:
            clauses += clause_shares(machines[first], vectors.feature_index(second), factor)
    score = vectors.similarity(word, other, metric=metric)  # type: ignore[arg-type]
    # The coordinate is the mean rounded down, so clauses add up to a little more: `rounding` is the
    # difference.
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
    index: Counted | None,
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
    # The words, and places next to them: to stand after "car" is to occur with it.
    named = [form.format(name) for name in taken_apart.own for form in ("{}", *PATTERNS, JOINED)]
    own = [taken_apart.column(name) for name in named if name in taken_apart.columns]
    others = shares.copy()
    # What is about the two words themselves is one line, "they occur together".
    others[own] = 0.0
    share_together = total(shares[own])
    lines = np.append(others, share_together)
    order = np.argsort(-others, kind="stable")
    largest = _largest(others, order, taken_apart.feature_names, n)
    smallest = [k for k in order[::-1][:n].tolist() if others[k] < 0]
    evidence = _Evidence(taken_apart, index, (word, other), n_documents, set())
    both = None if index is None else together(index, word, other, n_documents, evidence.seen)
    return Comparison(
        word=word,
        other=other,
        metric=taken_apart.metric,
        score=taken_apart.score,
        total_for=total(lines[lines > 0]),
        total_against=total(lines[lines < 0]),
        rounding=0.0,
        n_for=int((lines > 0).sum()),
        n_against=int((lines < 0).sum()),
        contributions_asked=tuple(map(evidence.of, asked)),
        contributions_for=tuple(map(evidence.of, largest)),
        contributions_against=tuple(map(evidence.of, smallest)),
        together=both,
        parts=dict(taken_apart.parts),
        forms=dict(taken_apart.forms),
        share_together=share_together,
    )


def _largest(shares: NDArray[np.float64], order: NDArray[np.intp], names: Sequence[str], n: int) -> list[int]:
    """Choose the largest shares, of words and of places half each where there are both."""
    positive = [k for k in order.tolist() if shares[k] > 0]
    words, places = ([k for k in positive if is_place(names[k]) == kind] for kind in (False, True))
    # Half of them places; more if there are too few words, fewer if there are too few places.
    n_places = min(len(places), max(n // 2, n - len(words)))
    return sorted([*words[: n - n_places], *places[:n_places]], key=lambda k: -shares[k])


@dataclass(frozen=True, eq=False)
class _Evidence:
    """Names a coordinate's share and finds the documents behind it."""

    taken_apart: TakenApart
    index: Counted | None
    pair: tuple[str, str]
    n_documents: int
    seen: set[int]

    def of(self, column: int) -> Contribution:
        parts = self.taken_apart
        feature = parts.feature_names[column]
        found: list[Together | None] = [None, None]
        if self.index is not None:
            count = partial(standing, joiners=parts.joiners) if is_place(feature) else together
            found = [count(self.index, word, feature, self.n_documents, self.seen) for word in self.pair]
        values = float(parts.first[column]), float(parts.second[column])
        return Contribution(feature, float(parts.shares[column]), *values, *found)
