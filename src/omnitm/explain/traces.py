"""How a literal's state moved during training, and which documents moved it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus import DocumentIndex
from omnitm.explain.evidence import Document, read_documents
from omnitm.explain.matches import carriers
from omnitm.explain.records import Record
from omnitm.machine import (
    Autoencoder,
    Examples,
    Feedback,
    Recording,
    running_of,
    training_examples,
    word_key,
)
from omnitm.store import TrainingRecord

_PER_CLAUSE = ("states", "opposite", "feedback", "weights")


@dataclass(frozen=True)
class TraceEvent(Record):
    """An example that moved the literal.

    Attributes
    ----------
    example
        Its number, from 0.
    label
        Whether it was made of documents that contain the word.
    occurs
        Whether the literal's word occurs in it.
    rewarded, penalised
        Positive clauses in which the literal's state rose, and fell.
    gain
        Change of the mean state minus that of the negation: what the example did to the coordinate.
    mean
        Mean state over the positive clauses, after the example.
    n_carriers
        How many of its documents contain the literal's word.
    documents
        Some of those; of all its documents if there are none.
    """

    example: int
    label: bool
    occurs: bool
    rewarded: int
    penalised: int
    gain: float
    mean: float
    n_carriers: int
    documents: tuple[Document, ...] = ()


@dataclass(frozen=True, eq=False)
class Trace(Record):
    """How a literal moved while a word was trained, example by example.

    Attributes
    ----------
    literal, negated
        "literal occurs" or "literal does not occur".
    include_from
        The threshold N from which the literal is included.
    positive
        Clauses with a positive weight at the end: those that the embedding is read from.
    coordinate
        The literal's number in the word's vector.
    labels, occurs
        Of every example: does it show the word; does the literal's word occur in it.
    mean, opposite_mean
        Mean state over the positive clauses after every example, of the literal and of its negation.
    rewarded, penalised
        In how many positive clauses the state rose, and fell, with every example.
    rewards, penalties
        The examples that moved the coordinate most, up and down.
    states, opposite, feedback, weights
        Examples x clauses: states of the literal and of its negation, kind of feedback
        (`omnitm.machine.Feedback`), weights.
    """

    TABLE = ("rewards", "penalties")

    word: str
    literal: str
    negated: bool
    include_from: int
    max_state: int
    positive: tuple[int, ...]
    coordinate: int
    labels: NDArray[np.bool_]
    occurs: NDArray[np.bool_]
    mean: NDArray[np.float64]
    opposite_mean: NDArray[np.float64]
    rewarded: NDArray[np.int64]
    penalised: NDArray[np.int64]
    rewards: tuple[TraceEvent, ...]
    penalties: tuple[TraceEvent, ...]
    states: NDArray[np.uint8]
    opposite: NDArray[np.uint8]
    feedback: NDArray[np.uint8]
    weights: NDArray[np.int32]

    @property
    def n_examples(self) -> int:
        """How many examples the word was trained on."""
        return len(self.labels)

    def feedback_counts(self) -> dict[str, int]:
        """How often the positive clauses were told to remember, to forget and to reject."""
        kinds = self.feedback[:, list(self.positive)]
        return {kind.name.lower(): int((kinds == kind).sum()) for kind in Feedback if kind}

    def to_dict(self, *, clauses: bool = False) -> dict[str, Any]:
        """Return everything as plain Python objects; numbers of single clauses only if asked for."""
        content = super().to_dict()
        return content if clauses else {name: content[name] for name in content if name not in _PER_CLAUSE}


def trace_literal(
    index: DocumentIndex,
    record: TrainingRecord,
    word: str,
    literal: str,
    *,
    negated: bool,
    n_events: int,
    n_documents: int,
) -> Trace:
    """Train a word once more and write down what becomes of one literal."""
    target, column, key = index.word_id(word), index.word_id(literal), word_key(record.seed, word)
    recording = Autoencoder(index, record.settings).record(target, key, column)
    examples = training_examples(index, record.settings, target, key)
    history = _History.of(recording, negated, record.settings.include_from - 1)
    if record.settings.passage_reach:
        reach = record.settings.passage_reach
        has_literal = carriers(index, examples.documents, [column], target, reach)[:, :, 0]
        examples = _with_documents(index, examples)
    else:
        has_literal = np.isin(examples.documents, index.documents_with(column))
    events = _EventReader(index, examples, has_literal, history, n_documents)
    rewards, penalties = (events.strongest(sign, n_events) for sign in (1, -1))
    sums = recording.present[-1].astype(np.int64) - recording.absent[-1]
    return Trace(
        word=word,
        literal=literal,
        negated=negated,
        include_from=record.settings.include_from,
        max_state=record.settings.max_state,
        positive=tuple(history.positive),
        # The read-out: mean over positive clauses of state(occurs) - state(does not), rounded down.
        coordinate=int(sums[history.positive].sum() // max(len(history.positive), 1)),
        labels=examples.labels,
        occurs=np.asarray(has_literal.any(axis=1)),
        mean=history.mean,
        opposite_mean=history.opposite_mean,
        rewarded=history.rewarded,
        penalised=history.penalised,
        rewards=rewards,
        penalties=penalties,
        states=history.states,
        opposite=history.opposite,
        feedback=recording.feedback,
        weights=recording.weights,
    )


def _with_documents(index: DocumentIndex, examples: Examples) -> Examples:
    """Replace the places of passages by the documents that they are in."""
    places, which = np.unique(examples.documents, return_inverse=True)
    found = running_of(index).documents_of(places.astype(np.uint32))[which]
    return examples._replace(documents=found.reshape(examples.documents.shape))


@dataclass(frozen=True, eq=False)
class _History:
    """States of a literal and of its negation, and how they moved in the clauses that count."""

    positive: list[int]
    states: NDArray[np.uint8]
    opposite: NDArray[np.uint8]
    mean: NDArray[np.float64]
    opposite_mean: NDArray[np.float64]
    rewarded: NDArray[np.int64]
    penalised: NDArray[np.int64]

    @property
    def gains(self) -> NDArray[np.float64]:
        """Change of the difference between the two means, with every example."""
        return np.diff(self.mean - self.opposite_mean, prepend=0.0)

    @classmethod
    def of(cls, recording: Recording, negated: bool, start: int) -> _History:
        states, opposite = recording.present, recording.absent
        if negated:
            states, opposite = opposite, states
        positive = np.flatnonzero(recording.weights[-1] > 0).tolist()
        # Signed, since states may fall; the first example moves from the start state.
        moves = np.diff(states[:, positive].astype(np.int16), axis=0, prepend=np.int16(start))
        return cls(
            positive,
            states,
            opposite,
            _mean(states, positive, start),
            _mean(opposite, positive, start),
            (moves > 0).sum(axis=1),
            (moves < 0).sum(axis=1),
        )


def _mean(states: NDArray[np.uint8], clauses: Sequence[int], start: int) -> NDArray[np.float64]:
    if not len(clauses):
        return np.full(len(states), float(start))
    means: NDArray[np.float64] = states[:, clauses].mean(axis=1)
    return means


@dataclass(frozen=True, eq=False)
class _EventReader:
    """Finds the examples that moved a literal most, and reads their documents."""

    index: DocumentIndex
    examples: Examples
    carriers: NDArray[np.bool_]
    history: _History
    n_documents: int

    def strongest(self, sign: int, count: int) -> tuple[TraceEvent, ...]:
        moved = sign * self.history.gains
        order = np.argsort(-moved, kind="stable")[:count]
        return tuple(self._event(int(example)) for example in order if moved[example] > 0)

    def _event(self, example: int) -> TraceEvent:
        drawn, carries = self.examples.documents[example], self.carriers[example]
        chosen = list(dict.fromkeys((drawn[carries] if carries.any() else drawn).tolist()))
        return TraceEvent(
            example=example,
            label=bool(self.examples.labels[example]),
            occurs=bool(carries.any()),
            rewarded=int(self.history.rewarded[example]),
            penalised=int(self.history.penalised[example]),
            gain=float(self.history.gains[example]),
            mean=float(self.history.mean[example]),
            n_carriers=len(set(drawn[carries].tolist())),
            documents=read_documents(self.index, chosen[: self.n_documents]),
        )
