"""What rules are worth on the corpus: the documents that satisfy them, and what each negation rules out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus import DocumentIndex
from omnitm.corpus.cooccurrence import document_lengths, shared, words_of_documents
from omnitm.corpus.index import Unit
from omnitm.corpus.passages import Counted
from omnitm.explain.evidence import Document, read_documents, spread_over_documents
from omnitm.explain.records import Record
from omnitm.explain.rules import Rule
from omnitm.machine import Examples, running_of

Rates = tuple[float | None, float | None]
"""In what share of the examples with the word, and without it, a rule holds; None: there are none."""


@dataclass(frozen=True)
class Match(Record):
    """What a rule is worth on the corpus.

    Where topics were learned from passages, passages take the place of documents.

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
    unit
        What is counted: "documents" or "passages".
    """

    support: int
    hits: int
    precision: float | None
    lift: float | None
    examples: tuple[Document, ...] = ()
    counterexamples: tuple[Document, ...] = ()
    unit: Unit = "documents"

    @classmethod
    def of(cls, support: int, hits: int, n_mine: int, n_all: int, unit: Unit = "documents") -> Match:
        """Measure a rule by counts; `n_mine` of `n_all` documents, or places, have the word."""
        precision = hits / support if support else None
        lift = precision * n_all / n_mine if precision is not None and n_mine else None
        return cls(support, hits, precision, lift, unit=unit)

    def with_documents(self, index: Counted, examples: Sequence[int], others: Sequence[int]) -> Match:
        """Read documents that satisfy the rule, some with the word and others without it."""
        shown, not_shown = (read_documents(index, numbers) for numbers in (examples, others))
        return replace(self, examples=shown, counterexamples=not_shown)


class RuledOut(NamedTuple):
    """How many documents, or places, have what a rule says must occur, and what its negations rule out."""

    candidates: int
    by_word: list[int]
    """For every word that must not occur, how many of the candidates have it."""


def match_rule(
    index: Counted, word: str, present: Sequence[str], absent: Sequence[str], n_documents: int = 1
) -> Match:
    """Find the documents that satisfy a rule, and those of them that contain the word."""
    wanted, unwanted = ([index.word_id(name) for name in names] for names in (present, absent))
    documents = matching_documents(index, wanted, unwanted)
    mine = index.documents_with(index.word_id(word))
    hits = shared(documents, mine)
    match = Match.of(len(documents), len(hits), len(mine), index.n_documents, index.unit)
    if not n_documents:
        return match
    misses = np.setdiff1d(documents, hits, assume_unique=True)
    return match.with_documents(
        index, *(spread_over_documents(index, found, n_documents) for found in (hits, misses))
    )


def ruled_out_documents(index: Counted, present: Sequence[str], absent: Sequence[str]) -> RuledOut:
    """Count the documents that have all words of `present`, and those of them that have each of `absent`.

    Examples
    --------
    >>> from omnitm.corpus import DocumentIndex
    >>> index = DocumentIndex.from_documents(["cat dog", "cat mouse", "dog"])
    >>> ruled_out_documents(index, ["cat"], ["mouse"])
    RuledOut(candidates=2, by_word=[1])
    """
    wanted, unwanted = ([index.word_id(word) for word in words] for words in (present, absent))
    candidates = matching_documents(index, wanted, [])
    return RuledOut(
        len(candidates), [len(shared(candidates, index.documents_with(word))) for word in unwanted]
    )


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


def matching_documents(index: Counted, present: Sequence[int], absent: Sequence[int]) -> NDArray[np.uint32]:
    """Ascending numbers of the documents that have all words of `present` and none of `absent`.

    Examples
    --------
    >>> from omnitm.corpus import DocumentIndex
    >>> index = DocumentIndex.from_documents(["cat dog", "cat mouse", "dog"])
    >>> cat, mouse = index.word_id("cat"), index.word_id("mouse")
    >>> matching_documents(index, [cat], [mouse]).tolist(), matching_documents(index, [], [mouse]).tolist()
    ([0], [0, 2])
    """
    unwanted = [index.documents_with(word) for word in absent]
    if not len(present):
        return np.flatnonzero(~_marked(index, unwanted)).astype(np.uint32)
    candidates = reduce(shared, sorted((index.documents_with(k) for k in present), key=len))
    if not len(absent) or not len(candidates):
        return candidates
    # Two ways to the same answer, chosen by what they look at: the candidates, once for every unwanted word,
    # or all documents of the unwanted words.
    if len(candidates) * len(unwanted) < sum(map(len, unwanted)):
        return candidates[~_has_any(candidates, unwanted)]
    return candidates[~_marked(index, unwanted)[candidates]]


def firing_rates(
    index: DocumentIndex, rules: Sequence[Rule], examples: Examples, target: int, passage_reach: int = 0
) -> list[Rates]:
    """In what share of the examples with the word, and without it, each rule holds; None: there are none.

    Examples are made of documents or, with a `passage_reach`, of passages of word number `target` and others.
    """
    named = sorted({index.word_id(word) for rule in rules for word in (*rule.present, *rule.absent)})
    if passage_reach:
        occurs = np.asarray(carriers(index, examples.documents, named, target, passage_reach).any(axis=1))
    else:
        occurs = occurrences(index, examples.documents, named)
    columns = {index.vocabulary[word]: column for column, word in enumerate(named)}
    rates = []
    for rule in rules:
        present, absent = ([columns[word] for word in words] for words in (rule.present, rule.absent))
        holds = np.asarray(occurs[:, present].all(axis=1) & ~occurs[:, absent].any(axis=1))
        rates.append((share(holds, examples.labels), share(holds, ~examples.labels)))
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


def carriers(
    index: DocumentIndex, places: NDArray[np.int64], words: Sequence[int], target: int, passage_reach: int
) -> NDArray[np.bool_]:
    """Examples x passages x words: whether a word is in a passage that was merged into an example."""
    passages = running_of(index).passages(places.reshape(-1), passage_reach, target)
    found = np.empty((len(passages), len(words)), dtype=bool)
    for column, word in enumerate(words):
        found[:, column] = (passages == word).any(axis=1)
    return found.reshape(*places.shape, len(words))


def share(holds: NDArray[np.bool_], among: NDArray[np.bool_]) -> float | None:
    """Share of the examples among those of one kind; None: there are none."""
    return float(holds[among].mean()) if among.any() else None


def _marked(index: Counted, members: Sequence[NDArray[np.uint32]]) -> NDArray[np.bool_]:
    """Mark the documents that are members of any of some sets."""
    marks = np.zeros(index.n_documents, dtype=bool)
    for documents in members:
        marks[documents] = True
    return marks


def _has_any(documents: NDArray[np.uint32], members: Sequence[NDArray[np.uint32]]) -> NDArray[np.bool_]:
    """Tell for each of ascending documents whether it is a member of any of some sets."""
    found = np.zeros(len(documents), dtype=bool)
    for others in members:
        found[np.searchsorted(documents, shared(documents, others))] = True
    return found
