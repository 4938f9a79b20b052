"""Which documents satisfy a rule, and how often rules hold in examples like those of training.

Sets of documents are intersected and subtracted; an example of training merges several documents into one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus import DocumentIndex, RunningText
from omnitm.corpus.assembling import DOCUMENT_END
from omnitm.corpus.cooccurrence import document_lengths, shared, words_of_documents
from omnitm.corpus.running import OFFSETS, parted
from omnitm.explain.rules import Rule
from omnitm.machine import AutoencoderSettings, Examples, Kind, training_examples, training_places


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
        return _without(index, absent)
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


def matching_places(running: RunningText, present: Sequence[str], absent: Sequence[str]) -> NDArray[np.int64]:
    """Ascending places of the words whose neighbours have all of `present` and none of `absent`.

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
        places = running.places_of(number).astype(np.int64) - OFFSETS[column]
        places = places[(places > 0) & (places < len(running.tokens) - 1)]
        places = places[running.tokens[places] != DOCUMENT_END]
    else:
        places = np.flatnonzero(running.tokens != DOCUMENT_END)
    neighbours = running.neighbours(places)
    holds = np.ones(len(places), dtype=bool)
    for column, number in wanted:
        holds &= neighbours[:, column] == number
    for column, number in unwanted:
        holds &= neighbours[:, column] != number
    return places[holds]


def place_rates(
    running: RunningText, rules: Sequence[Rule], examples: Examples
) -> list[tuple[float | None, float | None]]:
    """In what share of examples of places of the word, and of other words, each rule holds."""
    shape = *examples.documents.shape, len(OFFSETS)
    neighbours = running.neighbours(examples.documents.reshape(-1)).reshape(shape)

    def occurs(feature: str) -> NDArray[np.bool_]:
        column, word = parted(feature)
        return np.asarray((neighbours[:, :, column] == running.number(word)).any(axis=1))

    rates = []
    for rule in rules:
        holds = np.ones(len(neighbours), dtype=bool)
        for literal in rule.literals:
            holds &= occurs(literal.word) != literal.negated
        rates.append((_share(holds, examples.labels), _share(holds, ~examples.labels)))
    return rates


def _without(index: DocumentIndex, absent: Sequence[int]) -> NDArray[np.uint32]:
    return np.flatnonzero(~_marked(index, absent)).astype(np.uint32)


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
