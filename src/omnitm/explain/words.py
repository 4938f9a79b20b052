"""What a word's machine has learned: rules, how true they are of the corpus, and its strongest literals."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus import DocumentIndex, RunningText
from omnitm.corpus.assembling import DOCUMENT_END
from omnitm.corpus.cooccurrence import document_lengths, shared, words_of_documents
from omnitm.corpus.running import JOINED_COLUMN, OFFSETS, parted
from omnitm.explain.evidence import Document, read_documents, spread
from omnitm.explain.records import Record
from omnitm.explain.rules import Literal, Rule, TrainedMachine, rules_of
from omnitm.machine import AutoencoderSettings, Examples, Kind, running_of, training_examples, training_places

_LITERALS = 4  # of a rule in a table


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

    @classmethod
    def of(cls, support: int, hits: int, n_mine: int, n_all: int) -> Match:
        """Measure a rule by counts; `n_mine` of `n_all` documents, or places, have the word."""
        precision = hits / support if support else None
        lift = precision * n_all / n_mine if precision is not None and n_mine else None
        return cls(support, hits, precision, lift)

    def with_documents(self, index: DocumentIndex, examples: Sequence[int], others: Sequence[int]) -> Match:
        """Read documents that satisfy the rule, some with the word and others without it."""
        shown, not_shown = (read_documents(index, numbers) for numbers in (examples, others))
        return replace(self, examples=shown, counterexamples=not_shown)


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
    says_new
        Whether it asks for other words than the rules before it, and not only for forms of the word.
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
        Rules of the positive clauses, the highest weight x squared evidence first; then those that ask for
        the same words as one before them, or only for other forms of the word; then those that no document
        bears out, the highest weight first.
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

    @property
    def first_rules(self) -> tuple[MeasuredRule, ...]:
        """The rules that documents bear out, without those that ask for the same words as one before.

        All rules if there are none.
        """
        borne_out = tuple(rule for rule in self.rules if rule.evidence)
        return tuple(rule for rule in borne_out if rule.says_new) or borne_out or self.rules

    def shown_rows(self) -> list[dict[str, Any]]:
        """Rows that are printed and shown in notebooks: the first rules, with a few literals each."""
        short = [replace(rule, text=rule.rule.shortened(_LITERALS)) for rule in self.first_rules]
        return Record.shown_rows(replace(self, rules=tuple(short)))

    def caption(self) -> str:
        """Return how frequent the word is, and how many clauses speak for it."""
        counted = "documents" if self.kind == "topic" else "places"
        n_others = len(self.rules) - len(self.first_rules)
        others = f"; to_frame() has {n_others} more rules" if n_others else ""
        return (
            f"{self.word}: in {self.document_frequency:,} of {self.n_documents:,} {counted}; "
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
    sizes = index.n_documents, len(index.documents_with(target))
    if machine.kind == "place":
        running = running_of(index)
        joiners = machine.settings.joiners
        rates = place_rates(running, rules, examples, joiners)
        match: Callable[..., Match] = partial(match_place_rule, joiners=joiners)
        sizes = running.n_running_words, len(running.places_of(target))
    else:
        rates, match = firing_rates(index, rules, examples), match_rule
    measured = [
        _measured(
            rule, match(index, machine.word, rule.present, rule.absent, n_documents), rate, examples.labels
        )
        for rule, rate in zip(rules, rates, strict=True)
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
    )


def new_words_first(rules: Sequence[MeasuredRule], forms: Collection[str] = ()) -> list[MeasuredRule]:
    """Put rules that say little new after the others that documents bear out.

    They ask for the same words as one before them, or only for other forms of the word: `cars` of *car*.
    """
    firsts: dict[frozenset[str], MeasuredRule] = {}
    for found in rules:
        if not found.rule.present or {*found.rule.present} - {*forms}:
            firsts.setdefault(frozenset(found.rule.present), found)
    says_new = {id(found) for found in firsts.values()}
    marked = [replace(found, says_new=id(found) in says_new) for found in rules]
    return sorted(marked, key=lambda found: (not found.evidence, not found.says_new))


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
    index: DocumentIndex,
    word: str,
    present: Sequence[str],
    absent: Sequence[str],
    n_documents: int = 1,
    *,
    joiners: Sequence[int] = (),
) -> Match:
    """Find the places that satisfy a rule of coordinates such as `was _`, and those where the word stands."""
    running, number = running_of(index), index.word_id(word)
    places = matching_places(running, present, absent, joiners)
    is_hit = running.tokens[places] == number
    n_mine, n_all = len(running.places_of(number)), running.n_running_words
    match = Match.of(len(places), int(is_hit.sum()), n_mine, n_all)
    if not n_documents:
        return match
    shown = (
        sorted({running.document_of(int(place)) for place in spread(found, n_documents)})
        for found in (places[is_hit], places[~is_hit])
    )
    return match.with_documents(index, *shown)


def match_rule(
    index: DocumentIndex, word: str, present: Sequence[str], absent: Sequence[str], n_documents: int = 1
) -> Match:
    """Find the documents that satisfy a rule, and those of them that contain the word."""
    wanted, unwanted = ([index.word_id(name) for name in names] for names in (present, absent))
    documents = matching_documents(index, wanted, unwanted)
    mine = index.documents_with(index.word_id(word))
    hits = shared(documents, mine)
    match = Match.of(len(documents), len(hits), len(mine), index.n_documents)
    if not n_documents:
        return match
    misses = np.setdiff1d(documents, hits, assume_unique=True)
    return match.with_documents(index, *(spread(found, n_documents) for found in (hits, misses)))


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


def matching_documents(
    index: DocumentIndex, present: Sequence[int], absent: Sequence[int]
) -> NDArray[np.uint32]:
    """Ascending numbers of the documents that have all words of `present` and none of `absent`.

    Examples
    --------
    >>> from omnitm.corpus import DocumentIndex
    >>> index = DocumentIndex.from_documents(["cat dog", "cat mouse", "dog"])
    >>> cat, mouse = index.word_id("cat"), index.word_id("mouse")
    >>> matching_documents(index, [cat], [mouse]).tolist(), matching_documents(index, [], [mouse]).tolist()
    ([0], [0, 2])
    """
    if not len(present):
        return np.flatnonzero(~_marked(index, absent)).astype(np.uint32)
    candidates = reduce(shared, sorted((index.documents_with(k) for k in present), key=len))
    if not len(absent) or not len(candidates):
        return candidates
    # Two ways to the same answer, chosen by what they read: the candidates' words, or all documents of the
    # unwanted words.
    cost_of_postings = int(index.document_frequencies[absent].sum())
    lengths = document_lengths(index, candidates)
    if int(lengths.sum()) < cost_of_postings:
        return candidates[~_has_any(index, candidates, absent)]
    return candidates[~_marked(index, absent)[candidates]]


def matching_places(
    running: RunningText, present: Sequence[str], absent: Sequence[str], joiners: Sequence[int] = ()
) -> NDArray[np.int64]:
    """Ascending places of the words whose neighbours have all of `present` and none of `absent`.

    Parameters
    ----------
    joiners
        Numbers of the words that join others, for coordinates such as `_ & women`.

    Examples
    --------
    >>> from omnitm.corpus import DocumentIndex
    >>> running = DocumentIndex.from_documents(["the cat sat", "the dog sat", "a cat"]).running
    >>> [running.names[running.tokens[place]] for place in matching_places(running, ["the _"], ["_ * sat"])]
    ['cat', 'dog']
    """
    wanted, unwanted = (
        [(column, running.number(word)) for column, word in map(parted, names)] for names in (present, absent)
    )
    if wanted:
        # From the rarest neighbour: a word at place q stands beside places q - offset.
        column, number = min(wanted, key=lambda literal: int(running.counts[literal[1]]))
        offsets = (2, -2) if column == JOINED_COLUMN else (OFFSETS[column],)
        beside = running.places_of(number).astype(np.int64)
        places = np.unique(np.concatenate([beside - offset for offset in offsets]))
        places = places[(places > 0) & (places < len(running.tokens) - 1)]
        places = places[running.tokens[places] != DOCUMENT_END]
    else:
        places = np.flatnonzero(running.tokens != DOCUMENT_END)
    occurs = _Neighbours(running, places, joiners)
    holds = np.ones(len(places), dtype=bool)
    for literal in wanted:
        holds &= occurs.at(*literal)
    for literal in unwanted:
        holds &= ~occurs.at(*literal)
    return places[holds]


class _Neighbours:
    """What stands around some places."""

    def __init__(self, running: RunningText, places: NDArray[np.int64], joiners: Sequence[int]) -> None:
        self._around, self._joined = running.neighbours(places), running.joined(places, joiners)

    def at(self, column: int, number: int) -> NDArray[np.bool_]:
        """Whether a word stands at an offset of each place, or is joined with the word that stands there."""
        if column == JOINED_COLUMN:
            return np.asarray((self._joined == number).any(axis=1))
        return np.asarray(self._around[:, column] == number)


def place_rates(
    running: RunningText, rules: Sequence[Rule], examples: Examples, joiners: Sequence[int]
) -> list[tuple[float | None, float | None]]:
    """In what share of examples of places of the word, and of other words, each rule holds."""
    shape = examples.documents.shape
    neighbours = _Neighbours(running, examples.documents.reshape(-1), joiners)

    def occurs(feature: str) -> NDArray[np.bool_]:
        column, word = parted(feature)
        return np.asarray(neighbours.at(column, running.number(word)).reshape(shape).any(axis=1))

    rates = []
    for rule in rules:
        holds = np.ones(shape[0], dtype=bool)
        for literal in rule.literals:
            holds &= occurs(literal.word) != literal.negated
        rates.append((_share(holds, examples.labels), _share(holds, ~examples.labels)))
    return rates


def _marked(index: DocumentIndex, words: Sequence[int]) -> NDArray[np.bool_]:
    """Mark the documents that have one of the words."""
    marks = np.zeros(index.n_documents, dtype=bool)
    for word in words:
        marks[index.documents_with(word)] = True
    return marks


def _has_any(index: DocumentIndex, documents: NDArray[np.uint32], words: Sequence[int]) -> NDArray[np.bool_]:
    """Tell for each document whether it has one of the words, by reading the documents."""
    unwanted = np.zeros(index.n_words, dtype=bool)
    unwanted[words] = True
    lengths = document_lengths(index, documents)
    owners = np.repeat(np.arange(len(documents)), lengths)
    hits = owners[unwanted[words_of_documents(index, documents)]]
    found = np.zeros(len(documents), dtype=bool)
    found[hits] = True
    return found


_MOST_EXAMPLES = 1_000


def fresh_examples(
    index: DocumentIndex, settings: AutoencoderSettings, target: int, key: int, kind: Kind = "topic"
) -> Examples:
    """Draw examples as training does, but others."""
    count = min(settings.total_examples, _MOST_EXAMPLES)
    examples = training_examples if kind == "topic" else training_places
    # Another key, so other draws than those of training, but the same at each call.
    return examples(index, replace(settings, n_examples=count, n_epochs=1), target, key ^ 1)


def firing_rates(
    index: DocumentIndex, rules: Sequence[Rule], examples: Examples
) -> list[tuple[float | None, float | None]]:
    """In what share of the examples with the word, and without it, each rule holds; None: there are none."""
    named = sorted({index.word_id(word) for rule in rules for word in (*rule.present, *rule.absent)})
    occurs = occurrences(index, examples.documents, named)
    columns = {index.vocabulary[word]: column for column, word in enumerate(named)}
    rates = []
    for rule in rules:
        present, absent = ([columns[word] for word in words] for words in (rule.present, rule.absent))
        holds = np.asarray(occurs[:, present].all(axis=1) & ~occurs[:, absent].any(axis=1))
        rates.append((_share(holds, examples.labels), _share(holds, ~examples.labels)))
    return rates


def occurrences(
    index: DocumentIndex, documents: NDArray[np.int64], words: Sequence[int]
) -> NDArray[np.bool_]:
    """Examples x words: whether a word is in one of the documents that were merged into an example."""
    flat = documents.reshape(-1).astype(np.uint32)
    column = np.full(index.n_words, -1, dtype=np.int64)
    column[list(words)] = np.arange(len(words))
    found = column[words_of_documents(index, flat)]
    # Each example has so many documents in `flat`, and each document as many entries as words.
    rows = np.repeat(np.arange(len(flat)) // documents.shape[1], document_lengths(index, flat))
    occurs = np.zeros((len(documents), len(words)), dtype=bool)
    occurs[rows[found >= 0], found[found >= 0]] = True
    return occurs


def _share(holds: NDArray[np.bool_], among: NDArray[np.bool_]) -> float | None:
    return float(holds[among].mean()) if among.any() else None
