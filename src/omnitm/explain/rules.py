"""The machine of a word, trained again from its seed, and its clauses as rules that people can read.

Training again gives the same bits as when the model was made, so a model need not store its clauses.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus import DocumentIndex
from omnitm.corpus.running import parted
from omnitm.errors import CorpusError, ParameterError
from omnitm.explain.records import Record
from omnitm.machine import Autoencoder, AutoencoderSettings, Kind, kind_key, word_key
from omnitm.store import TrainingRecord
from omnitm.store.rows import as_stored, n_joined_of
from omnitm.vectors import WordVectors


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
class PlaceLiteral(Literal):
    """A word that must, or must not, stand next to another; `word` is a coordinate such as `was _`.

    >>> print(PlaceLiteral("was _", False, 130, 2), "AND", PlaceLiteral("_ * of", True, 129, 1))
    follows was AND NOT two before of
    """

    def __str__(self) -> str:
        column, word = parted(self.word)
        phrase = f"{_PHRASES[column]} {word}"
        return f"NOT {phrase}" if self.negated else phrase


_PHRASES = ("two after", "follows", "precedes", "two before", "joined with")


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
        Words that must occur, then words that must not; strongest first. In a measured rule, words that must
        not occur come in the order of how many documents they rule out.

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
        """Write the rule with at most so many literals; of the rest, `NOT 3 others` if all are negated."""
        shown, rest = self.literals[:n_literals], self.literals[n_literals:]
        others = f"{len(rest):,} {'other' if len(rest) == 1 else 'others'}"
        counted = [f"NOT {others}" if all(literal.negated for literal in rest) else others] if rest else []
        return " AND ".join([*map(str, shown), *counted])


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
    # Last key first: words that must occur before those that must not, each strongest first.
    order = np.lexsort((-states, included >= n_words))
    return [machine.literal(int(included[k]), float(states[k])) for k in order.tolist()]


def _rule(machine: TrainedMachine, clauses: list[int], included: NDArray[np.intp]) -> Rule:
    literals = strongest_first(machine, included, clauses)
    return Rule(tuple(clauses), int(machine.weights[clauses].sum()), tuple(literals))


_KEPT = 8  # machines, so that several questions about a word train it once


@dataclass(frozen=True, eq=False)
class TrainedMachine:
    """States and weights of one word's machine.

    `states` is clauses x literals: first "word k occurs", then "word k does not".
    """

    word: str
    key: int
    vocabulary: Sequence[str]
    settings: AutoencoderSettings
    states: NDArray[np.uint8]
    weights: NDArray[np.int32]
    kind: Kind = "topic"

    @property
    def n_words(self) -> int:
        """Size of the vocabulary."""
        return len(self.vocabulary)

    @property
    def include_from(self) -> int:
        """The threshold N: a literal is included from this state on."""
        return self.settings.include_from

    @cached_property
    def positive_clauses(self) -> list[int]:
        """Numbers of the clauses with a positive weight, the highest weight first."""
        order = np.argsort(-self.weights, kind="stable")
        return [clause for clause in order.tolist() if self.weights[clause] > 0]

    @property
    def telling_clause(self) -> int | None:
        """The positive clause with the highest state of a word; None if no weight is positive."""
        return max(
            self.positive_clauses, key=lambda k: int(self.states[k, : self.n_words].max()), default=None
        )

    @cached_property
    def mean_states(self) -> NDArray[np.float64]:
        """Mean state of each literal over the positive clauses; the start if there are none."""
        if not self.positive_clauses:
            return np.full(2 * self.n_words, self.include_from - 1.0)
        means: NDArray[np.float64] = self.states[self.positive_clauses].mean(axis=0)
        return means

    def literal(self, number: int, state: float) -> Literal:
        """Name a literal."""
        negated = number >= self.n_words
        word = self.vocabulary[number - self.n_words * negated]
        form = PlaceLiteral if self.kind == "place" else Literal
        return form(word, negated, state, state - self.include_from)


class Machines:
    """Trains words of a model again; safe to use from several threads."""

    def __init__(self, vectors: WordVectors, index: DocumentIndex) -> None:
        if not isinstance(vectors.training, TrainingRecord):
            raise ParameterError(
                "Vectors of another model or of unknown origin cannot be explained by clauses: they have no "
                "settings and seed of Omni TM-AE to train a word again with."
            )
        self.vectors, self.index, self.record = vectors, index, vectors.training
        self._native: dict[Kind, Autoencoder] = {}
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, Kind], TrainedMachine] = OrderedDict()

    def __getitem__(self, word: str) -> TrainedMachine:
        return self.of(word, self.record.settings.kinds[0])

    def of(self, word: str, kind: Kind) -> TrainedMachine:
        """Train a word again on topic or on place."""
        if kind not in self.record.settings.kinds:
            trained = self.record.settings.contexts
            raise ParameterError(
                f"The model was trained on {trained} only, so there is nothing to say on {kind}."
            )
        row = self.vectors.get_index(word)
        with self._lock:
            if (word, kind) not in self._kept:
                self._kept[word, kind] = self._train(word, row, kind)
                if len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end((word, kind))
            return self._kept[word, kind]

    def check_once(self, word: str) -> None:
        """Check, unless that is known, that the index is the one that the model was trained from."""
        if not self._kept:
            self[word]

    def _train(self, word: str, row: int, kind: Kind) -> TrainedMachine:
        settings, place = self.record.settings, self.vectors.place
        if kind not in self._native:
            self._native[kind] = Autoencoder(self.index, settings, kind=kind)
        machine, key = self._native[kind], kind_key(word_key(self.record.seed, word), kind)
        machine.train(self.index.word_id(word), key)
        matrix, kept, names = self.vectors.matrix, self.record.keep_top, self.index.vocabulary
        n_joined = 0
        if kind == "place" and place is not None:
            matrix, kept, names = place.matrix, self.record.keep_places, place.feature_names
            n_joined = n_joined_of(self.record, len(names))
        if len(names) != machine.n_features or not np.array_equal(
            as_stored(machine.embedding(), kept, n_joined), matrix[row]
        ):
            raise CorpusError(other_corpus(self.index))
        return TrainedMachine(word, key, names, settings, machine.states, machine.weights, kind)


def other_corpus(index: DocumentIndex) -> str:
    """Say that an index does not belong to a model."""
    return (
        f"{index.path or 'the index'}: is not the index that the model was trained from (its vocabulary, or "
        "a word trained again from it, is not the model's); give that one, or train a model from this one"
    )
