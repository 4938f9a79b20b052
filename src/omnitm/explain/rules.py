"""The clauses of a word as rules that people can read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from omnitm.explain.records import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from omnitm.explain.machines import TrainedMachine


@dataclass(frozen=True)
class Literal(Record):
    """A word that must, or must not, occur; with the state of its automaton.

    Attributes
    ----------
    word, negated
        "word occurs", or "word does not occur".
    state
        The state of one clause's automaton, or the mean over several clauses.
    distance
        State minus the threshold N: the literal is included from 0 on.

    >>> str(Literal("film", negated=True, state=130, distance=2))
    'NOT film'
    """

    word: str
    negated: bool
    state: float
    distance: float

    def __str__(self) -> str:
        return f"NOT {self.word}" if self.negated else self.word


@dataclass(frozen=True)
class Rule(Record):
    """What one clause, or several that are the same, ask of a document.

    Attributes
    ----------
    clauses
        Numbers of the clauses that say this.
    weight
        Sum of their weights.
    literals
        Words that must occur, then words that must not; strongest first.

    >>> pattern, widget = Literal("pattern", False, 140, 12), Literal("widget", True, 129, 1)
    >>> str(Rule((3,), 90, (pattern, widget)))
    'pattern AND NOT widget'
    """

    clauses: tuple[int, ...]
    weight: int
    literals: tuple[Literal, ...]

    @property
    def present(self) -> tuple[str, ...]:
        """Words that must occur."""
        return tuple(literal.word for literal in self.literals if not literal.negated)

    @property
    def absent(self) -> tuple[str, ...]:
        """Words that must not occur."""
        return tuple(literal.word for literal in self.literals if literal.negated)

    def __str__(self) -> str:
        return self.shortened(len(self.literals))

    def shortened(self, n_literals: int) -> str:
        """Write the rule with at most so many literals."""
        shown = " AND ".join(map(str, self.literals[:n_literals]))
        rest = len(self.literals) - n_literals
        return f"{shown} AND {rest:,} more" if rest > 0 else shown


def rules_of(machine: TrainedMachine) -> list[Rule]:
    """Rules of the positive clauses, those of the highest weight first.

    Clauses that are the same become one rule; clauses without an included literal say nothing and are left
    out.
    """
    same: dict[bytes, list[int]] = {}
    for clause in machine.positive_clauses:
        included = np.flatnonzero(machine.states[clause] >= machine.include_from)
        if len(included):
            same.setdefault(included.tobytes(), []).append(clause)
    rules = [_rule(machine, clauses, np.frombuffer(key, dtype=np.intp)) for key, clauses in same.items()]
    return sorted(rules, key=lambda rule: -rule.weight)


def strongest_first(
    machine: TrainedMachine, included: NDArray[np.intp], clauses: Sequence[int]
) -> list[Literal]:
    """Literals by their mean state over clauses: words that must occur, then words that must not."""
    states = machine.states[clauses][:, included].mean(axis=0)
    n_words = machine.n_words
    order = np.lexsort((-states, included >= n_words))
    return [machine.literal(int(included[k]), float(states[k])) for k in order.tolist()]


def _rule(machine: TrainedMachine, clauses: list[int], included: NDArray[np.intp]) -> Rule:
    literals = strongest_first(machine, included, clauses)
    return Rule(tuple(clauses), int(machine.weights[clauses].sum()), tuple(literals))
