"""What a word's machine has learned: rules, how true they are of the corpus, and its strongest literals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from omnitm.corpus.cooccurrence import shared
from omnitm.explain.evidence import Document, read_documents, spread
from omnitm.explain.matching import matching_documents
from omnitm.explain.records import Record
from omnitm.explain.rules import Literal, Rule, rules_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex
    from omnitm.explain.machines import TrainedMachine


@dataclass(frozen=True)
class MeasuredRule(Record):
    """A rule, and what it is worth on the corpus.

    Attributes
    ----------
    support
        Documents that satisfy the rule.
    hits
        Those of them that contain the word.
    precision
        hits / support; None when no document satisfies the rule.
    lift
        Precision divided by the share of all documents that contain the word.
    examples, counterexamples
        Documents that satisfy the rule, with the word and without it.
    """

    rule: Rule
    text: str
    support: int
    hits: int
    precision: float | None
    lift: float | None
    examples: tuple[Document, ...] = ()
    counterexamples: tuple[Document, ...] = ()


@dataclass(frozen=True)
class WordExplanation(Record):
    """What a word's machine has learned.

    Attributes
    ----------
    n_documents, document_frequency
        Documents of the corpus, and those with the word.
    n_clauses, n_positive, n_empty
        Clauses; those with a positive weight; those of them that include no literal, and so say nothing.
    include_from, max_state
        The threshold N from which a literal is included, and the highest state.
    rules
        Rules of the positive clauses, the highest weight first.
    strongest, weakest
        Literals by their mean state over the positive clauses.
    """

    word: str
    n_documents: int
    document_frequency: int
    n_clauses: int
    n_positive: int
    n_empty: int
    include_from: int
    max_state: int
    rules: tuple[MeasuredRule, ...]
    strongest: tuple[Literal, ...]
    weakest: tuple[Literal, ...]


@dataclass(frozen=True, eq=False)
class ClauseStates(Record):
    """All states of one clause: `present[k]` of "word k occurs", `absent[k]` of "word k does not"."""

    word: str
    clause: int
    weight: int
    include_from: int
    max_state: int
    present: NDArray[np.uint8]
    absent: NDArray[np.uint8]
    strongest: tuple[Literal, ...]


def explain_word(
    machine: TrainedMachine, index: DocumentIndex, *, n_literals: int = 10, n_documents: int = 1
) -> WordExplanation:
    """Turn a machine into rules measured on the corpus."""
    rules = rules_of(machine)
    n_said = sum(len(rule.clauses) for rule in rules)
    strongest, weakest = _extreme_literals(machine, n_literals)
    measured = [measure_rule(index, rule, machine.word) for rule in rules]
    return WordExplanation(
        word=machine.word,
        n_documents=index.n_documents,
        document_frequency=len(index.documents_with(index.word_id(machine.word))),
        n_clauses=len(machine.weights),
        n_positive=len(machine.positive_clauses),
        n_empty=len(machine.positive_clauses) - n_said,
        include_from=machine.include_from,
        max_state=machine.settings.max_state,
        rules=tuple(_with_documents(index, found, n_documents) for found in measured),
        strongest=strongest,
        weakest=weakest,
    )


def measure_rule(index: DocumentIndex, rule: Rule, word: str) -> _Found:
    """Find the documents that satisfy a rule, and those of them that contain the word."""
    present, absent = ([index.word_id(name) for name in names] for names in (rule.present, rule.absent))
    documents = matching_documents(index, present, absent)
    mine = index.documents_with(index.word_id(word))
    hits = shared(documents, mine)
    precision = len(hits) / len(documents) if len(documents) else None
    base = len(mine) / max(index.n_documents, 1)
    lift = precision / base if precision is not None and base else None
    return _Found(MeasuredRule(rule, str(rule), len(documents), len(hits), precision, lift), documents, hits)


@dataclass(frozen=True, eq=False)
class _Found:
    measured: MeasuredRule
    documents: NDArray[np.uint32]
    hits: NDArray[np.uint32]


def _with_documents(index: DocumentIndex, found: _Found, count: int) -> MeasuredRule:
    misses = np.setdiff1d(found.documents, found.hits, assume_unique=True) if count else found.hits[:0]
    examples = read_documents(index, spread(found.hits, count))
    return replace(
        found.measured,
        examples=examples,
        counterexamples=read_documents(index, spread(misses, count)),
    )


def clause_states(machine: TrainedMachine, clause: int, n_literals: int = 10) -> ClauseStates:
    """Read all states of one clause."""
    states = machine.states[clause]
    strongest = np.argsort(-states.astype(np.int16), kind="stable")[:n_literals].tolist()
    return ClauseStates(
        word=machine.word,
        clause=clause,
        weight=int(machine.weights[clause]),
        include_from=machine.include_from,
        max_state=machine.settings.max_state,
        present=states[: machine.n_words],
        absent=states[machine.n_words :],
        strongest=tuple(machine.literal(k, float(states[k])) for k in strongest),
    )


def _extreme_literals(machine: TrainedMachine, count: int) -> tuple[tuple[Literal, ...], tuple[Literal, ...]]:
    """Find the literals of the highest and of the lowest mean state; the word's own two are left out."""
    means, own = machine.mean_states, list(machine.vocabulary).index(machine.word)
    order = np.argsort(-means, kind="stable")
    order = order[(order != own) & (order != own + machine.n_words)]
    ends = order[:count], order[::-1][:count]
    strongest, weakest = (tuple(machine.literal(k, float(means[k])) for k in end.tolist()) for end in ends)
    return strongest, weakest
