"""Rules about single documents, distilled from a word's machine and measured on documents set aside.

A clause learns from merged documents, so its literals together may hold in no single one. What it learned is
which words to look for: its highest positive literals, included or not, and what stands out in the word's
vector. From these, conjunctions of at most three literals are chosen by exact counts on four fifths of the
documents, and measured on the last fifth. Where topics were learned from passages, conjunctions are counted
in passages, and those of a fifth of the documents are set aside.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus.cooccurrence import shared
from omnitm.corpus.passages import Counted
from omnitm.explain.evidence import spread_over_documents
from omnitm.explain.matches import Match
from omnitm.explain.records import Record
from omnitm.explain.rules import TrainedMachine

Numbers = NDArray[np.uint32]

FEWEST_DOCUMENTS = 5
MOST_LITERALS = 3
_OF_EACH_CLAUSE = 3  # highest literals
_CANDIDATES = 60
_PAIRED = 30  # the best candidates are combined with each other, and the best pairs with a third
_NEGATED = 20  # negations that are tried
_GAIN = 1.2  # a literal must raise the bound of the precision by a fifth, or it is dropped
_ERRORS = 2.0  # standard errors below the estimate: a bound that holds in 98 of 100 cases
_ENOUGH = 20  # documents: more don't make a rule more certain, and frequent words have little lift
_PARTS = 5  # one of them is set aside
_HASH = np.uint32(2_654_435_761)  # Knuth's multiplicative hash: 2**32 / golden ratio


@dataclass(frozen=True)
class DocumentRule(Record):
    """A rule about single documents, or passages.

    Attributes
    ----------
    present, absent
        Words that must occur, and words that must not.
    match
        What it is worth on the documents that were set aside: one of five, by a hash of their number; or on
        the passages of these.
    recall
        The share of the word's documents, of those set aside, that satisfy the rule; None if there are none.
    chosen
        The same counts on the documents that the rule was chosen by.
    """

    SHOWN: ClassVar[Mapping[str, str]] = {
        "text": "rule",
        "support": "documents",
        "hits": "with the word",
        "precision": "precision",
        "recall": "recall",
        "lift": "lift",
    }
    SHARES = ("precision", "recall")

    present: tuple[str, ...]
    absent: tuple[str, ...]
    match: Match
    recall: float | None
    chosen: Match

    def __str__(self) -> str:
        return " AND ".join([*self.present, *(f"NOT {word}" for word in self.absent)])


def document_rules(
    machine: TrainedMachine,
    index: Counted,
    standing_out: Sequence[str] = (),
    forms: Sequence[str] = (),
    *,
    n: int = 5,
    n_documents: int = 1,
) -> list[DocumentRule]:
    """Choose rules about single documents, each of which covers documents that those before it don't.

    They don't ask for other `forms` of the word, which say nothing new.
    """
    left_out = {index.word_id(form) for form in forms}
    candidates = [word for word in _candidates(machine, index, standing_out) if word not in left_out]
    counts = _Counts(index, index.word_id(machine.word))
    rules = _conjunctions(counts, candidates)
    negated = machine.mean_states[machine.n_words :].copy()
    # A rule for a word must not forbid the word.
    negated[index.word_id(machine.word)] = -1
    negations = np.argsort(-negated, kind="stable")[:_NEGATED].tolist()
    chosen = [_with_negations(counts, rule, negations) for rule in _covering(counts, rules, n)]
    return [_measured(counts, rule, n_documents) for rule in chosen]


def set_aside(documents: Numbers) -> NDArray[np.bool_]:
    """Tell which documents are not used for choosing rules: one of five, by a hash of the number."""
    # High bits of the product: neighbouring documents, often of one source, fall into different parts.
    hashed = (documents.astype(np.uint32) * _HASH) >> np.uint32(16)
    found: NDArray[np.bool_] = hashed % np.uint32(_PARTS) == 0
    return found


def _candidates(machine: TrainedMachine, index: Counted, standing_out: Sequence[str]) -> list[int]:
    """Words to make rules of: the highest literals of clauses and on average, and what stands out."""
    n_words, own = machine.n_words, index.word_id(machine.word)
    highest = np.argsort(-machine.mean_states[:n_words], kind="stable")[: _CANDIDATES // 2].tolist()
    by_clause = [
        number
        for clause in machine.positive_clauses
        for number in np.argsort(-machine.states[clause, :n_words].astype(np.int16), kind="stable")[
            :_OF_EACH_CLAUSE
        ].tolist()
    ]
    named = [index.word_id(word) for word in standing_out[: _CANDIDATES // 2]]
    return [number for number in dict.fromkeys([*named, *highest, *by_clause]) if number != own]


@dataclass(frozen=True)
class _Rule:
    present: tuple[int, ...]
    absent: tuple[int, ...]
    documents: Numbers = field(compare=False)
    hits: Numbers = field(compare=False)


class _Counts:
    """Documents to choose by: those of single words, and how good a rule is."""

    def __init__(self, index: Counted, target: int) -> None:
        self.index, self.target = index, target
        self.mine = self.documents(target)
        n_aside = int(self.is_aside(np.arange(index.n_documents, dtype=np.uint32)).sum())
        self.n_chosen, self.n_aside = index.n_documents - n_aside, n_aside
        self._kept: dict[int, Numbers] = {}

    def is_aside(self, documents: Numbers) -> NDArray[np.bool_]:
        """Tell which are set aside: a document with all of its passages."""
        return set_aside(self.index.whole_documents(documents))

    def documents(self, word: int) -> Numbers:
        """Documents with a word that are not set aside."""
        documents = self.index.documents_with(word)
        return documents[~self.is_aside(documents)]

    def of(self, word: int) -> Numbers:
        if word not in self._kept:
            self._kept[word] = self.documents(word)
        return self._kept[word]

    def rule(self, present: tuple[int, ...]) -> _Rule:
        # The shortest list first: intersections cost as much as the shorter side.
        documents = reduce(shared, sorted((self.of(word) for word in present), key=len))
        return _Rule(present, (), documents, shared(documents, self.mine))

    def bound(self, rule: _Rule) -> float:
        """Return the lower end of the precision, by two standard errors (Wilson 1927)."""
        count, hits = len(rule.documents), len(rule.hits)
        if not count:
            return 0.0
        share, z = hits / count, _ERRORS
        spread_of = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
        return (share + z * z / (2 * count) - spread_of) / (1 + z * z / count)

    def value(self, rule: _Rule, n_new: int) -> float:
        """Weigh a rule: the logarithm of its lift, times the root of the documents that it adds, up to 20."""
        base = len(self.mine) / max(self.n_chosen, 1)
        lift = self.bound(rule) / base if base else 0.0
        return math.log2(lift) * math.sqrt(min(n_new, _ENOUGH)) if lift > 1 and n_new else 0.0


def _conjunctions(counts: _Counts, candidates: Sequence[int]) -> list[_Rule]:
    """Single words, then pairs and triples that are better than what they are made of."""
    singles = [counts.rule((word,)) for word in candidates]
    singles = [rule for rule in singles if len(rule.hits) >= FEWEST_DOCUMENTS]
    singles.sort(key=lambda rule: -counts.value(rule, len(rule.hits)))
    best = {rule.present[0]: rule for rule in singles[:_PAIRED]}
    pairs = _better(counts, ((a, b) for a, b in combinations(best.values(), 2)))
    pairs.sort(key=lambda rule: -counts.value(rule, len(rule.hits)))
    triples = _better(
        counts,
        (
            (pair, single)
            for pair in pairs[:_PAIRED]
            for word, single in best.items()
            if word not in pair.present
        ),
    )
    known = {frozenset(rule.present): rule for rule in [*singles, *pairs, *triples]}
    return [rule for rule in known.values() if _needs_all(counts, rule)]


def _needs_all(counts: _Counts, rule: _Rule) -> bool:
    """Whether a triple is worth more than any pair of its literals; pairs have been compared with singles."""
    if len(rule.present) < MOST_LITERALS:
        return True
    pairs = [counts.rule(pair) for pair in combinations(rule.present, 2)]
    return counts.bound(rule) >= _GAIN * max(map(counts.bound, pairs))


def _better(counts: _Counts, parts: Iterable[tuple[_Rule, _Rule]]) -> list[_Rule]:
    """Join two rules where both parts are worth it."""
    found = []
    for first, second in parts:
        hits = shared(first.hits, second.hits)
        if len(hits) < FEWEST_DOCUMENTS:
            continue
        present = *first.present, *second.present
        rule = _Rule(present, (), shared(first.documents, second.documents), hits)
        if counts.bound(rule) >= _GAIN * max(counts.bound(first), counts.bound(second)):
            found.append(rule)
    return found


def _covering(counts: _Counts, rules: list[_Rule], n: int) -> list[_Rule]:
    """Choose the best rule, then the best for documents that it doesn't cover, and so on."""
    chosen: list[_Rule] = []
    new = [rule.hits for rule in rules]
    while len(chosen) < n and rules:
        values = [counts.value(rule, len(hits)) for rule, hits in zip(rules, new, strict=True)]
        best = int(np.argmax(values))
        if values[best] <= 0 or len(new[best]) < FEWEST_DOCUMENTS:
            break
        chosen.append(rules[best])
        covered = rules[best].hits
        new = [hits[~np.isin(hits, covered)] for hits in new]
    return chosen


def _with_negations(counts: _Counts, rule: _Rule, negations: Sequence[int]) -> _Rule:
    """Add words that must not occur, while that raises the precision and a literal is left."""
    while len(rule.present) + len(rule.absent) < MOST_LITERALS:
        found = [_without(counts, rule, word) for word in negations if word not in rule.present]
        best = max(found, key=counts.bound, default=rule)
        if len(best.hits) < FEWEST_DOCUMENTS or counts.bound(best) < _GAIN * counts.bound(rule):
            return rule
        rule = best
    return rule


def _without(counts: _Counts, rule: _Rule, word: int) -> _Rule:
    taken = shared(rule.documents, counts.of(word))
    documents, hits = (found[~np.isin(found, taken)] for found in (rule.documents, rule.hits))
    return _Rule(rule.present, (*rule.absent, word), documents, hits)


def _measured(counts: _Counts, rule: _Rule, n_documents: int) -> DocumentRule:
    index = counts.index
    mine, *others = (
        documents[counts.is_aside(documents)]
        for documents in map(index.documents_with, (counts.target, *rule.present, *rule.absent))
    )
    documents = reduce(shared, others[: len(rule.present)])
    for unwanted in others[len(rule.present) :]:
        documents = documents[~np.isin(documents, unwanted)]
    hits = shared(documents, mine)
    match = Match.of(len(documents), len(hits), len(mine), counts.n_aside, index.unit)
    if n_documents:
        misses = np.setdiff1d(documents, hits, assume_unique=True)
        shown = (spread_over_documents(index, found, n_documents) for found in (hits, misses))
        match = match.with_documents(index, *shown)
    present, absent = (
        tuple(index.vocabulary[word] for word in words) for words in (rule.present, rule.absent)
    )
    recall = len(hits) / len(mine) if len(mine) else None
    chosen = Match.of(len(rule.documents), len(rule.hits), len(counts.mine), counts.n_chosen, index.unit)
    return DocumentRule(present, absent, match, recall, chosen)
