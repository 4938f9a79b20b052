"""A similarity taken apart: numbers that belong to named words, or to clauses, and add up to the score."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from omnitm.embedding.metrics import SCORERS, scorer, unit
from omnitm.errors import ParameterError
from omnitm.explain.records import Record

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from omnitm.embedding import WordVectors
    from omnitm.explain.machines import TrainedMachine

    Contributions = Callable[[WordVectors, str, str], NDArray[np.float64]]

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


def coordinate_contributions(vectors: WordVectors, word: str, other: str, metric: str) -> NDArray[np.float64]:
    """Take a score apart: a number per feature; they add up to `vectors.similarity(word, other)`."""
    find = getattr(scorer(metric), "contributions", None)
    if find is None and metric == "cosine":
        find = _cosine_contributions
    if find is None:
        able = ["cosine", *(name for name, found in SCORERS.items() if hasattr(found, "contributions"))]
        names = ", ".join(map(repr, dict.fromkeys([*able, *BY_CLAUSES])))
        raise ParameterError(f"The 'metric' parameter of why must be one of {names}. Got {metric!r} instead.")
    return np.asarray(cast("Contributions", find)(vectors, word, other), dtype=np.float64)


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
