"""What a word's machine has learned: rules, how true they are of the corpus, and its strongest literals."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus import DocumentIndex
from omnitm.corpus.index import Unit
from omnitm.corpus.passages import counted_in
from omnitm.explain.matches import (
    Match,
    Rates,
    RuledOut,
    evidence_of,
    firing_rates,
    match_rule,
    ruled_out_documents,
)
from omnitm.explain.places import match_place_rule, place_rates, ruled_out_places
from omnitm.explain.records import Record
from omnitm.explain.rules import Literal, Rule, TrainedMachine, rules_of
from omnitm.machine import AutoencoderSettings, Examples, Kind, running_of, training_examples, training_places

_LITERALS = 4  # of a rule in a table
_TELLING = 0.05  # of the documents with the words that must occur: what a telling negation rules out


@dataclass(frozen=True)
class MeasuredRule(Record):
    """A rule of a word's machine, and what it is worth on the corpus.

    Attributes
    ----------
    text, rule
        The rule to read, and in parts.
    match
        Single documents, or passages, that satisfy it.
    fires_with, fires_without
        In what share of fresh examples, drawn as in training, the rule holds: those made of documents with
        the word, and those without. This is what the machine was trained for; None: there were none.
    examples_support, examples_precision
        In how many of these examples it holds, and the share of them that was made of documents with the
        word; half of all examples are.
    evidence
        How much single documents, or passages, bear the rule out, see `evidence_of`; 0 if none satisfies it.
    says_new
        Whether it asks for other words than the rules before it, and not only for forms of the word.
    n_telling
        How many literals, from the first, tell documents apart: words that must occur, and those that must
        not and rule out a twentieth of the documents with these words. All, if no word must occur.
    """

    text: str
    rule: Rule
    match: Match
    fires_with: float | None
    fires_without: float | None
    examples_support: int
    examples_precision: float | None
    evidence: float
    says_new: bool = True
    n_telling: int = 0

    def shortened(self, n_literals: int | None = None) -> str:
        """Write the rule with at most so many literals, or the first four that tell; the rest are counted."""
        if n_literals is not None:
            return self.rule.shortened(n_literals)
        # A single literal that does not tell is no longer than "1 other".
        n_telling, n_all = self.n_telling, len(self.rule.literals)
        return self.rule.shortened(min(_LITERALS, n_all if n_all == n_telling + 1 else n_telling))


@dataclass(frozen=True)
class WordExplanation(Record):
    """What a word's machine has learned.

    Attributes
    ----------
    n_documents, document_frequency
        Documents of the corpus, and those with the word; passages if topics were learned from these; words of
        the running text, and places of the word, if `kind` is "place". Rules are measured on the same.
    n_clauses, n_positive, n_empty
        Clauses; those with a positive weight; those of them that include no literal, and so say nothing.
    include_from, max_state
        The threshold N from which a literal is included, and the highest state.
    rules
        Rules of the positive clauses, the highest weight x squared evidence first; then those that ask for
        no word, or for all words of one before them and more; then those that ask for the same words as one
        before them, or only for other forms of the word; then those that no document bears out, the highest
        weight first.
    strongest, weakest, strongest_negated
        Literals "word occurs", and "word does not occur", by their mean state over the positive clauses.
    unit
        What rules about topics are measured on: "documents" or "passages".
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
    SHARES = ("precision", "examples_precision")

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
    unit: Unit = "documents"

    @property
    def measured_on(self) -> str:
        """What rules are measured on: documents, passages, or places of the running text."""
        return self.unit if self.kind == "topic" else "places"

    @property
    def first_rules(self) -> tuple[MeasuredRule, ...]:
        """The rules that documents bear out, without those that ask for the same words as one before.

        All rules if there are none.
        """
        borne_out = tuple(rule for rule in self.rules if rule.evidence)
        return tuple(rule for rule in borne_out if rule.says_new) or borne_out or self.rules

    def shown_rows(self) -> list[dict[str, Any]]:
        """Rows that are printed and shown in notebooks: the first rules, with a few literals each."""
        short = [replace(rule, text=rule.shortened()) for rule in self.first_rules]
        return Record.shown_rows(replace(self, rules=tuple(short)))

    def caption(self) -> str:
        """Return how frequent the word is, and how many clauses speak for it."""
        n_others = len(self.rules) - len(self.first_rules)
        others = f"; to_frame() has {n_others} more rules" if n_others else ""
        return (
            f"{self.word}: in {self.document_frequency:,} of {self.n_documents:,} {self.measured_on}; "
            f"{self.n_positive} of {self.n_clauses} clauses are positive{others}"
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
    counted = counted_in(index, machine.settings.passage_reach)
    if machine.kind == "place":
        running = running_of(index)
        joiners = machine.settings.joiners
        rates = place_rates(running, rules, examples, joiners)
        match: Callable[..., Match] = partial(match_place_rule, joiners=joiners)
        ruled_out: Callable[..., RuledOut] = partial(ruled_out_places, running, joiners=joiners)
        sizes = running.n_running_words, len(running.places_of(target))
    else:
        reach = machine.settings.passage_reach
        rates, match = firing_rates(index, rules, examples, target, reach), match_rule
        ruled_out = partial(ruled_out_documents, counted)
        sizes = counted.n_documents, len(counted.documents_with(target))
    measured = [
        _most_telling_first(_measured(rule, found, rate, examples.labels), ruled_out)
        for rule, rate in zip(rules, rates, strict=True)
        for found in [match(counted, machine.word, rule.present, rule.absent, n_documents)]
    ]
    # Rules with weight and evidence first; of those without evidence the weightiest. Squared, so that rules
    # with a lift of 2 or 3, which general words have with each other, don't come before better ones.
    measured.sort(key=lambda found: (-found.rule.weight * found.evidence**2, -found.rule.weight))
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
        unit=counted.unit,
    )


def new_words_first(rules: Sequence[MeasuredRule], forms: Collection[str] = ()) -> list[MeasuredRule]:
    """Put rules that say little new after the others that documents bear out.

    First come those that ask for no word, or for more than all words of one before (`flying AND monty` after
    `monty`), then, as saying nothing new, those that ask for the same words, or only for other forms of the
    word (`cars` of *car*).
    """
    asked: list[set[str]] = []  # the words of each rule that says something new
    found: list[tuple[bool, MeasuredRule]] = []
    for rule in rules:
        present = {*rule.rule.present}
        says_new = present not in asked and not (present and present <= {*forms})
        says_little = not present or any(words and words < present for words in asked)
        if says_new:
            asked.append(present)
        found.append((says_little, replace(rule, says_new=says_new)))
    found.sort(key=lambda one: (not one[1].evidence, not one[1].says_new, one[0]))
    return [rule for _, rule in found]


def _measured(rule: Rule, match: Match, rates: Rates, labels: NDArray[np.bool_]) -> MeasuredRule:
    n_with = int(labels.sum())
    with_word, without = (
        round((rate or 0.0) * count)
        for rate, count in zip(rates, (n_with, len(labels) - n_with), strict=True)
    )
    support = with_word + without
    precision = with_word / support if support else None
    evidence = evidence_of(match)
    return MeasuredRule(str(rule), rule, match, *rates, support, precision, evidence)


def _most_telling_first(found: MeasuredRule, ruled_out: Callable[..., RuledOut]) -> MeasuredRule:
    """Put the negations that rule out most first, and count the literals that tell documents apart."""
    rule, literals = found.rule, found.rule.literals
    if not rule.present or not rule.absent:
        return replace(found, n_telling=len(literals))
    present, absent = literals[: len(rule.present)], literals[len(rule.present) :]
    candidates, counts = ruled_out(rule.present, rule.absent)
    # A stable sort: negations that rule out as many stay in the order of their strength.
    order = sorted(range(len(absent)), key=lambda k: -counts[k])
    rule = replace(rule, literals=(*present, *(absent[k] for k in order)))
    n_telling = len(present) + sum(count >= max(1, _TELLING * candidates) for count in counts)
    return replace(found, rule=rule, text=str(rule), n_telling=n_telling)


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
    halves = machine.mean_states.reshape(2, machine.n_words)
    present, absent = (order[order != own] for order in np.argsort(-halves, kind="stable"))
    ends = present[:count], present[::-1][:count], absent[:count] + machine.n_words
    means = machine.mean_states
    return tuple(tuple(machine.literal(k, float(means[k])) for k in end.tolist()) for end in ends)


_MOST_EXAMPLES = 1_000


def fresh_examples(
    index: DocumentIndex, settings: AutoencoderSettings, target: int, key: int, kind: Kind = "topic"
) -> Examples:
    """Draw examples as training does, but others."""
    count = min(settings.total_examples, _MOST_EXAMPLES)
    examples = training_examples if kind == "topic" else training_places
    # Another key, so other draws than those of training, but the same at each call.
    return examples(index, replace(settings, n_examples=count, n_epochs=1), target, key ^ 1)
