"""Which documents satisfy a rule: sets of documents, intersected and subtracted."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from omnitm.corpus.cooccurrence import shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex


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
    cost_of_postings = int(index.document_frequencies[absent].sum())
    lengths = document_lengths(index, candidates)
    if int(lengths.sum()) < cost_of_postings:
        return candidates[~_has_any(index, candidates, absent)]
    return candidates[~_marked(index, absent)[candidates]]


def document_lengths(index: DocumentIndex, documents: NDArray[np.uint32]) -> NDArray[np.int64]:
    """How many different words each document has."""
    numbers = documents.astype(np.int64)
    return (index.document_offsets[numbers + 1] - index.document_offsets[numbers]).astype(np.int64)


def words_of_documents(index: DocumentIndex, documents: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Words of all of the documents, one document after the other."""
    lengths = document_lengths(index, documents)
    before = np.cumsum(lengths) - lengths
    starts = index.document_offsets[documents.astype(np.int64)].astype(np.int64)
    words: NDArray[np.uint32] = index.document_words[
        np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))
    ]
    return words


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
