"""What a word's machine has learned: rules, how true they are of the corpus, and its strongest literals."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus import DocumentIndex
from omnitm.corpus.cooccurrence import shared
from omnitm.explain.evidence import Document, read_documents, spread
from omnitm.explain.matching import (
    firing_rates,
    fresh_examples,
    matching_documents,
    matching_places,
    place_rates,
)
from omnitm.explain.records import Record
from omnitm.explain.rules import Literal, Rule, TrainedMachine, rules_of
from omnitm.machine import running_of


@dataclass(frozen=True)
class Match(Record):
    """What a rule is worth on the corpus.

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
        Some documents that satisfy the rule, with the word and without it.
    """

    support: int
    hits: int
    precision: float | None
    lift: float | None
    examples: tuple[Document, ...] = ()
    counterexamples: tuple[Document, ...] = ()


@dataclass(frozen=True)
class MeasuredRule(Record):
    """A rule of a word's machine, and what it is worth on the corpus.

    Attributes
    ----------
    text, rule
        The rule to read, and in parts.
    match
        Single documents that satisfy it.
    fires_with, fires_without
        In what share of fresh examples, drawn as in training, the rule holds: those made of documents with
        the word, and those without. This is what the machine was trained for; None: there were none.
    examples_support, examples_precision
        In how many of these examples it holds, and the share of them that was made of documents with the
        word; half of all examples are.
    evidence
        How much single documents bear the rule out, see `evidence_of`; 0 if none satisfies it.
    """

    text: str
    rule: Rule
    match: Match
    fires_with: float | None
    fires_without: float | None
    examples_support: int
    examples_precision: float | None
    evidence: float


@dataclass(frozen=True)
class WordExplanation(Record):
    """What a word's machine has learned.

    Attributes
    ----------
    n_documents, document_frequency
        Documents of the corpus, and those with the word; words of the running text, and places of the word,
        if `kind` is "place". Then rules are measured on places, too.
    n_clauses, n_positive, n_empty
        Clauses; those with a positive weight; those of them that include no literal, and so say nothing.
    include_from, max_state
        The threshold N from which a literal is included, and the highest state.
    rules
        Rules of the positive clauses, the highest weight x evidence first; then those that ask for the same
        words as one before them, or only for other forms of the word; then those that no document bears out,
        the highest weight first.
    strongest, weakest, strongest_negated
        Literals "word occurs", and "word does not occur", by their mean state over the positive clauses.
    """

    TABLE = ("rules",)
    SHOWN: ClassVar[Mapping[str, str]] = {
        "text": "rule",
        "weight": "weight",
        "support": "documents",
        "precision": "with the word",
        "lift": "lift",
        "examples_support": "examples",
        "examples_precision": "of the word",
    }

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
    strongest_negated: tuple[Literal, ...]
    kind: str = "topic"

    def caption(self) -> str:
        """Return how frequent the word is, and how many clauses speak for it."""
        counted = "documents" if self.kind == "topic" else "places"
        return (
            f"{self.word}: in {self.document_frequency:,} of {self.n_documents:,} {counted}; "
            f"{self.n_positive} of {self.n_clauses} clauses are positive"
        )


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
    machine: TrainedMachine,
    index: DocumentIndex,
    forms: Collection[str] = (),
    *,
    n_literals: int = 10,
    n_documents: int = 1,
) -> WordExplanation:
    """Turn a machine into rules measured on the corpus; `forms` are other forms of the word."""
    rules = rules_of(machine)
    n_said = sum(len(rule.clauses) for rule in rules)
    strongest, weakest, strongest_negated = extreme_literals(machine, n_literals)
    target = index.word_id(machine.word)
    examples = fresh_examples(index, machine.settings, target, machine.key, machine.kind)
    sizes = index.n_documents, len(index.documents_with(target))
    if machine.kind == "place":
        running = running_of(index)
        rates, match = place_rates(running, rules, examples), match_place_rule
        sizes = running.n_running_words, len(running.places_of(target))
    else:
        rates, match = firing_rates(index, rules, examples), match_rule
    measured = [
        _measured(
            rule, match(index, machine.word, rule.present, rule.absent, n_documents), rate, examples.labels
        )
        for rule, rate in zip(rules, rates, strict=True)
    ]
    # Rules with weight and evidence first; of those without evidence the weightiest.
    measured.sort(key=lambda found: (-found.rule.weight * found.evidence, -found.rule.weight))
    measured = new_words_first(measured, forms)
    return WordExplanation(
        word=machine.word,
        n_documents=sizes[0],
        document_frequency=sizes[1],
        n_clauses=len(machine.weights),
        n_positive=len(machine.positive_clauses),
        n_empty=len(machine.positive_clauses) - n_said,
        include_from=machine.include_from,
        max_state=machine.settings.max_state,
        rules=tuple(measured),
        strongest=strongest,
        weakest=weakest,
        strongest_negated=strongest_negated,
        kind=machine.kind,
    )


def new_words_first(rules: Sequence[MeasuredRule], forms: Collection[str] = ()) -> list[MeasuredRule]:
    """Put rules that say little new after the others that documents bear out.

    They ask for the same words as one before them, or only for other forms of the word: `cars` of *car*.
    """
    firsts: dict[frozenset[str], MeasuredRule] = {}
    for found in rules:
        if not found.rule.present or {*found.rule.present} - {*forms}:
            firsts.setdefault(frozenset(found.rule.present), found)
    shown = {id(found) for found in firsts.values()}
    return sorted(rules, key=lambda found: (not found.evidence, id(found) not in shown))


def evidence_of(match: Match) -> float:
    """Measure the evidence for a rule: log2 of its lift, drawn to 0 where there are few documents.

    `log2((hits + 1) / (expected + 1))`, at least 0; expected are the hits of a rule that knows nothing of the
    word, `hits / lift`.

    >>> counts = ((50, 31), (1, 500), (9, 1))
    >>> [round(evidence_of(Match(9000, hits, hits / 9000, lift)), 1) for hits, lift in counts]
    [4.3, 1.0, 0.0]
    """
    if not match.hits or not match.lift:
        return 0.0
    # hits / lift are the hits expected by chance; adding 1 to both draws small numbers towards 0.
    return max(0.0, math.log2((match.hits + 1) / (match.hits / match.lift + 1)))


def _measured(
    rule: Rule, match: Match, rates: tuple[float | None, float | None], labels: NDArray[np.bool_]
) -> MeasuredRule:
    n_with = int(labels.sum())
    with_word, without = (
        round((rate or 0.0) * count)
        for rate, count in zip(rates, (n_with, len(labels) - n_with), strict=True)
    )
    support = with_word + without
    precision = with_word / support if support else None
    evidence = evidence_of(match)
    return MeasuredRule(str(rule), rule, match, *rates, support, precision, evidence)


def match_place_rule(
    index: DocumentIndex, word: str, present: Sequence[str], absent: Sequence[str], n_documents: int = 1
) -> Match:
    """Find the places that satisfy a rule of coordinates such as `was _`, and those where the word stands."""
    running, number = running_of(index), index.word_id(word)
    places = matching_places(running, present, absent)
    is_hit = running.tokens[places] == number
    n_hits, n_mine = int(is_hit.sum()), len(running.places_of(number))
    precision = n_hits / len(places) if len(places) else None
    lift = precision * running.n_running_words / n_mine if precision is not None and n_mine else None
    match = Match(len(places), n_hits, precision, lift)
    if not n_documents:
        return match
    examples, counterexamples = (
        read_documents(
            index, sorted({running.document_of(int(place)) for place in spread(found, n_documents)})
        )
        for found in (places[is_hit], places[~is_hit])
    )
    return replace(match, examples=examples, counterexamples=counterexamples)


def match_rule(
    index: DocumentIndex, word: str, present: Sequence[str], absent: Sequence[str], n_documents: int = 1
) -> Match:
    """Find the documents that satisfy a rule, and those of them that contain the word."""
    wanted, unwanted = ([index.word_id(name) for name in names] for names in (present, absent))
    documents = matching_documents(index, wanted, unwanted)
    mine = index.documents_with(index.word_id(word))
    hits = shared(documents, mine)
    precision = len(hits) / len(documents) if len(documents) else None
    # Precision divided by the share of all documents that have the word.
    lift = precision * index.n_documents / len(mine) if precision is not None and len(mine) else None
    match = Match(len(documents), len(hits), precision, lift)
    return _with_documents(index, match, documents, hits, n_documents) if n_documents else match


def _with_documents(
    index: DocumentIndex, match: Match, documents: NDArray[np.uint32], hits: NDArray[np.uint32], count: int
) -> Match:
    misses = np.setdiff1d(documents, hits, assume_unique=True)
    examples, counterexamples = (read_documents(index, spread(found, count)) for found in (hits, misses))
    return replace(match, examples=examples, counterexamples=counterexamples)


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


def extreme_literals(machine: TrainedMachine, count: int) -> tuple[tuple[Literal, ...], ...]:
    """Find, by mean state, the strongest words, the weakest words and the strongest negated words.

    The word's own two literals, which a machine of topic has, never move and are left out.
    """
    own = list(machine.vocabulary).index(machine.word) if machine.kind == "topic" else -1
    present, absent = (
        np.delete(np.argsort(-half, kind="stable"), _place(half, own))
        for half in machine.mean_states.reshape(2, machine.n_words)
    )
    ends = present[:count], present[::-1][:count], absent[:count] + machine.n_words
    means = machine.mean_states
    return tuple(tuple(machine.literal(k, float(means[k])) for k in end.tolist()) for end in ends)


def _place(values: NDArray[np.float64], position: int) -> NDArray[np.intp]:
    """Where a position stands in the descending order of values."""
    return np.flatnonzero(np.argsort(-values, kind="stable") == position)
