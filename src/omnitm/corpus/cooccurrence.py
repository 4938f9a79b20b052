"""In how many documents words occur together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus.index import DocumentIndex
from omnitm.corpus.passages import Counted
from omnitm.errors import ParameterError

DOCUMENTS_AT_A_TIME = 100_000
_DOUBT = 5.0  # documents; a lift of 100 from two documents counts as 1.4


class Cooccurrence(NamedTuple):
    """Documents that words share."""

    words: list[str]
    pairs: NDArray[np.int64]  # words x words; the diagonal holds each word's own documents
    documents: NDArray[np.uint32]  # those that hold all of the words


def cooccurrence(index: Counted, words: Sequence[str]) -> Cooccurrence:
    """Count the documents that each pair of words shares, and find those that hold all of them.

    Examples
    --------
    >>> from omnitm.corpus import DocumentIndex
    >>> index = DocumentIndex.from_documents(["cat dog", "cat mouse", "dog cat mouse"])
    >>> cooccurrence(index, ["cat", "mouse"]).pairs.tolist()
    [[3, 2], [2, 2]]
    """
    if isinstance(words, str) or not words:
        raise ParameterError(
            f"The 'words' parameter of cooccurrence must be a list of words. Got {words!r} instead."
        )
    members = [index.documents_with(index.word_id(word)) for word in words]
    pairs = np.zeros((len(words), len(words)), dtype=np.int64)
    for i, first in enumerate(members):
        pairs[i, i] = len(first)
        for j in range(i):
            pairs[i, j] = pairs[j, i] = len(shared(first, members[j]))
    return Cooccurrence(list(words), pairs, reduce(shared, members))


def shared(first: NDArray[np.uint32], second: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Members of both of two ascending arrays."""
    short, long = sorted((first, second), key=len)
    if len(long) == 0:
        return short[:0]
    places = np.searchsorted(long, short)
    # What is larger than all of `long` would be found beyond its end; any place does, as it is compared
    # below.
    places[places == len(long)] = 0
    both: NDArray[np.uint32] = short[long[places] == short]
    return both


class Partner(NamedTuple):
    """A word that occurs with another one."""

    word: str
    documents: int
    """Documents that have both."""
    lift: float
    """How many times more documents have both than if the words did not know of each other."""


def partners(index: DocumentIndex, word: str, most: int = 10) -> list[Partner]:
    """Words that share more documents with `word` than by chance, the highest lift first.

    A lift that rests on few documents may be chance, so it is judged after adding as many shared documents
    as `_DOUBT`, by chance, to both sides; and words that share only one document come after all others.

    Examples
    --------
    >>> from omnitm.corpus import DocumentIndex
    >>> index = DocumentIndex.from_documents(["cat dog", "cat mouse", "dog cat mouse", "mouse"])
    >>> [(found.word, found.documents, round(found.lift, 2)) for found in partners(index, "dog")]
    [('cat', 2, 1.33), ('mouse', 1, 0.67)]
    """
    word_id = index.word_id(word)
    counts = np.zeros(index.n_words, dtype=np.int64)
    documents = index.documents_with(word_id)
    for start in range(0, len(documents), DOCUMENTS_AT_A_TIME):
        words = words_of_documents(index, documents[start : start + DOCUMENTS_AT_A_TIME])
        counts += np.bincount(words, minlength=index.n_words)
    counts[word_id] = 0
    # Documents with both if words were independent: n_a n_b / N.
    expected = index.document_frequencies * (len(documents) / max(index.n_documents, 1))
    lifts = counts / np.maximum(expected, 1e-12)
    cautious = (counts + _DOUBT) / (expected + _DOUBT)
    # Last key first: words that share a single document go to the end, ties go by count, then by number.
    best = np.lexsort((np.arange(len(counts)), -counts, -cautious, counts <= 1))[:most]
    return [Partner(index.vocabulary[k], int(counts[k]), float(lifts[k])) for k in best if counts[k]]


def document_lengths(index: DocumentIndex, documents: NDArray[np.uint32]) -> NDArray[np.int64]:
    """How many different words each document has."""
    numbers = documents.astype(np.int64)
    return (index.document_offsets[numbers + 1] - index.document_offsets[numbers]).astype(np.int64)


def words_of_documents(index: DocumentIndex, documents: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Words of all of the documents, one document after the other."""
    return index.words_of_each(documents)[1]
