"""Documents as evidence: how many there are, how many by chance, and some to read."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus.cooccurrence import shared
from omnitm.corpus.index import Unit
from omnitm.corpus.passages import Counted
from omnitm.corpus.running import parted
from omnitm.explain.records import Record
from omnitm.machine import running_of


@dataclass(frozen=True)
class Document(Record):
    """A document, or a passage of it, to read.

    Attributes
    ----------
    number
        The document's place in the corpus, from 0.
    text
        None when the file that it came from is gone or has changed.
    words
        Its words that the index knows.
    """

    number: int
    text: str | None
    words: tuple[str, ...]

    def __str__(self) -> str:
        return self.text if self.text is not None else " ".join(self.words)

    def excerpt(self, words: Sequence[str] = (), width: int = 160) -> str:
        """Cut the part around the first of the words that can be seen, on one line.

        >>> Document(7, "It was a dark and stormy night in a vehicle.", ()).excerpt(["vehicle"], 20)
        '... night in a vehicle.'
        """
        line = " ".join(str(self).split())
        if len(line) <= width:
            return line
        place = self._place_to_show([_occurrences(word, line) for word in words], width)
        # A third of the width before the word, the rest after it, without going beyond either end.
        start = max(0, min(place - width // 3, len(line) - width))
        cut = line[start : start + width]
        if start:
            cut = f"... {cut.partition(' ')[2]}"
        if start + width < len(line):
            cut = f"{cut.rpartition(' ')[0]} ..."
        return cut

    def _place_to_show(self, places: Sequence[Sequence[int]], width: int) -> int:  # noqa: ARG002
        """Choose the place to cut around, given those of every word: the first of all."""
        return min((found[0] for found in places if found), default=0)


@dataclass(frozen=True)
class Passage(Document):
    """A passage of a document: `text` and `words` are those of the passage, and some text around it."""

    def _place_to_show(self, places: Sequence[Sequence[int]], width: int) -> int:
        """Choose the first place behind which most of the words are seen."""

        def n_seen(start: int) -> int:
            end = start + width - width // 3
            return sum(any(start <= place < end for place in found) for found in places)

        return max(sorted(place for found in places for place in found), key=n_seen, default=0)


@dataclass(frozen=True)
class Together(Record):
    """In how many documents two words occur together; or how often a word stands at a coordinate of place.

    Attributes
    ----------
    second
        The other word, or a coordinate such as `to _`.
    count
        Documents with both, or places of the word where the coordinate holds.
    expected
        As many there would be if the two knew nothing of each other.
    lift
        count / expected; None when nothing is expected.
    documents
        Some of them, each of another document.
    unit
        What is counted, if it is not places: "documents", or "passages" where topics were learned from these.
    """

    first: str
    second: str
    count: int
    expected: float
    lift: float | None
    documents: tuple[Document, ...] = ()
    unit: Unit = "documents"


def _occurrences(word: str, line: str) -> list[int]:
    pattern = rf"(?<!\w){re.escape(word)}(?!\w)"
    return [found.start() for found in re.finditer(pattern, line, flags=re.IGNORECASE)]


def read_documents(index: Counted, numbers: Sequence[int]) -> tuple[Document, ...]:
    """Read documents, or passages; their words stand in when the text is gone."""
    texts = index.document_texts(numbers)
    whole = index.whole_documents(np.array(numbers, dtype=np.uint32)).tolist()
    kind = Document if index.unit == "documents" else Passage
    return tuple(
        kind(document, texts[number], tuple(index.vocabulary[k] for k in index.words_of(number).tolist()))
        for document, number in zip(whole, numbers, strict=True)
    )


def spread(documents: NDArray[np.uint32], count: int) -> list[int]:
    """Choose some documents, evenly spread over all."""
    if len(documents) <= count:
        return [int(number) for number in documents]
    # The middles of `count` equal parts.
    places = (np.arange(count) * 2 + 1) * len(documents) // (2 * count)
    return [int(number) for number in documents[places]]


def spread_over_documents(
    index: Counted, numbers: NDArray[np.uint32], count: int, seen: Collection[int] = ()
) -> list[int]:
    """Choose some of ascending numbers, of documents or passages, evenly spread: no two of one document.

    None of them is of a document that was `seen`.
    """
    documents = index.whole_documents(numbers)
    is_first = np.diff(documents.astype(np.int64), prepend=-1) > 0
    return spread(numbers[is_first & ~np.isin(documents, list(seen))], count)


def together(
    index: Counted, first: str, second: str, n_documents: int = 0, seen: set[int] | None = None
) -> Together:
    """Count the documents that have both words, and read some that are not among those `seen`.

    Examples
    --------
    >>> from omnitm.corpus import DocumentIndex
    >>> index = DocumentIndex.from_documents(["cat dog", "cat mouse", "dog cat mouse", "bird"])
    >>> together(index, "cat", "mouse").count, together(index, "cat", "mouse").expected
    (2, 1.5)
    """
    mine, yours = (index.documents_with(index.word_id(word)) for word in (first, second))
    both = shared(mine, yours)
    # n_a n_b / N documents by chance.
    expected = len(mine) * len(yours) / max(index.n_documents, 1)
    lift = len(both) / expected if expected else None
    found = Together(first, second, len(both), expected, lift, unit=index.unit)
    return _with_documents(index, found, both, n_documents, seen)


def standing(
    index: Counted,
    word: str,
    feature: str,
    n_documents: int = 0,
    seen: set[int] | None = None,
    *,
    joiners: Sequence[int] = (),
) -> Together:
    """Count the places of a word where a coordinate such as `to _` holds, and read some of their documents.

    Examples
    --------
    >>> from omnitm.corpus import DocumentIndex
    >>> index = DocumentIndex.from_documents(["back to rome", "to rome", "rome fell"])
    >>> standing(index, "rome", "to _").count
    2
    """
    running, (column, neighbour) = running_of(index), parted(feature)
    number = running.number(neighbour)
    places = running.places_of(index.word_id(word)).astype(np.int64)
    found = places[running.holds(places, column, number, joiners)]
    numbers = np.unique(index.documents_at(found)).astype(np.uint32)
    expected = len(places) * int(running.counts[number]) / max(running.n_running_words, 1)
    lift = len(found) / expected if expected else None
    return _with_documents(
        index, Together(word, feature, len(found), expected, lift), numbers, n_documents, seen
    )


def _with_documents(
    index: Counted,
    found: Together,
    documents: NDArray[np.uint32],
    n_documents: int,
    seen: set[int] | None,
) -> Together:
    if not n_documents:
        return found
    chosen = spread_over_documents(index, documents, n_documents, seen or ())
    read = read_documents(index, chosen)
    if seen is not None:
        seen.update(document.number for document in read)
    return replace(found, documents=read)
