"""A similarity taken apart: numbers that belong to named words, or to clauses, and add up to the score."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from omnitm.errors import UnknownWordError
from omnitm.explain.records import Record
from omnitm.parameters import check_choice
from omnitm.similarity.combined import deviations, similarity_parts
from omnitm.similarity.scorers import SCORERS, unit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from omnitm.explain.machines import TrainedMachine
    from omnitm.vectors import WordVectors

    Contributions = Callable[[WordVectors, str, str], NDArray[np.float64]]

SIMILARITY = "similarity"
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
    two vectors that were compared; `forms` are the other forms that speak for each of the two words.
    """

    metric: str
    score: float
    shares: NDArray[np.float64]
    feature_names: Sequence[str]
    first: NDArray[Any]
    second: NDArray[Any]
    parts: Mapping[str, float] = field(default_factory=dict)
    forms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def column(self, feature: str) -> int:
        """Find the place of a feature."""
        if feature not in self.feature_names:
            raise UnknownWordError(feature, self.feature_names)
        return list(self.feature_names).index(feature)


def take_apart(vectors: WordVectors, word: str, other: str, metric: str) -> TakenApart:
    """Take a metric's score apart into a number per feature."""
    taken = _contributions(metric)
    score = vectors.similarity(word, other, metric=cast("Any", metric))
    shares = taken(vectors, word, other)
    names, shares = vectors.feature_names, np.asarray(shares, dtype=np.float64)
    if metric == SIMILARITY:
        rows = deviations(vectors, word), deviations(vectors, other)
        parts = similarity_parts(vectors, word, other)
        forms = {name: tuple(form for form, _ in vectors.family(name)[1:]) for name in (word, other)}
        return TakenApart(metric, score, shares, names, *rows, parts, forms)
    return TakenApart(metric, score, shares, names, vectors.get_vector(word), vectors.get_vector(other))


def _contributions(metric: str) -> Contributions:
    own = {name: found.contributions for name, found in SCORERS.items() if hasattr(found, "contributions")}
    known: dict[str, Contributions] = {"cosine": _cosine_contributions, **own}
    check_choice("why", "metric", metric, [*known, *BY_CLAUSES])
    return known[metric]


def _cosine_contributions(vectors: WordVectors, word: str, other: str) -> NDArray[np.float64]:
    return unit(vectors.get_vector(word)) * unit(vectors.get_vector(other))


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
