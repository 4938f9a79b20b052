"""The clauses of a word as rules: its machine is trained again, which gives the same machine, bit for bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from omnitm.embedding.store import omni_record
from omnitm.machine import word_key
from omnitm.machine.autoencoder import Autoencoder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex
    from omnitm.embedding.store import AnyRecord


@dataclass(frozen=True)
class Rule:
    """A clause: its weight, and the words that must and must not occur, strongest first.

    >>> str(Rule(90, ("pattern", "match"), ("widget",)))
    'pattern AND match AND NOT widget'
    """

    weight: int
    present: tuple[str, ...]
    absent: tuple[str, ...]

    def __str__(self) -> str:
        return self.shortened(len(self.present) + len(self.absent))

    def shortened(self, n_literals: int) -> str:
        """Write the rule with at most so many literals."""
        literals = [*self.present, *(f"NOT {word}" for word in self.absent)]
        shown = " AND ".join(literals[:n_literals])
        rest = len(literals) - n_literals
        return f"{shown} AND {rest:,} more" if rest > 0 else shown


def trained_rules(index: DocumentIndex, record: AnyRecord | None, word: str) -> list[Rule]:
    """Train a word again and return the rules of its positive clauses, those of the highest weight first.

    Clauses without an included literal say nothing and are left out.
    """
    record = omni_record(record, "be explained")
    machine = Autoencoder(index, record.settings)
    machine.train(index.word_id(word), word_key(record.seed, word))
    states, weights = machine.states, machine.weights
    order = np.argsort(-weights, kind="stable")
    rules = [
        _rule(index, states[clause], int(weights[clause]), record.settings.include_from)
        for clause in order.tolist()
        if weights[clause] > 0
    ]
    return [rule for rule in rules if rule.present or rule.absent]


def _rule(index: DocumentIndex, states: NDArray[np.uint8], weight: int, include_from: int) -> Rule:
    halves = states.reshape(2, index.n_words).astype(np.int16)
    present, absent = (tuple(_included(index, half, include_from)) for half in halves)
    return Rule(weight, present, absent)


def _included(index: DocumentIndex, states: NDArray[np.int16], include_from: int) -> list[str]:
    included = np.flatnonzero(states >= include_from)
    strongest = included[np.argsort(-states[included], kind="stable")]
    return [index.vocabulary[k] for k in strongest.tolist()]
