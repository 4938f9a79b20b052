"""Passages of documents, which can be counted and read as documents are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus.assembling import DOCUMENT_END
from omnitm.corpus.index import DocumentIndex, Unit
from omnitm.corpus.running import RunningText, is_mark
from omnitm.errors import CorpusError

_WHITE_SPACE = re.compile(r"\s+")
_NEAR_ENOUGH = 40  # characters by which a text that is shown may begin before its passage, or end after it
_PLACES_AT_A_TIME = 1_000_000


class Counted(Protocol):
    """What words are counted in: the documents of an index, or passages in the place of documents."""

    unit: ClassVar[Unit]

    @property
    def vocabulary(self) -> Sequence[str]:
        """Words by number."""

    @property
    def n_words(self) -> int:
        """Size of the vocabulary."""

    @property
    def n_documents(self) -> int:
        """Number of documents, or of passages."""

    @property
    def document_frequencies(self) -> NDArray[np.int64]:
        """In how many of them each word of the vocabulary occurs."""

    @property
    def running(self) -> RunningText | None:
        """The text in its order."""

    def word_id(self, word: str) -> int:
        """Position of a word in the vocabulary."""

    def documents_with(self, word_id: int) -> NDArray[np.uint32]:
        """Ascending numbers of those that contain the word."""

    def words_of(self, document: int) -> NDArray[np.uint32]:
        """Ascending positions of the words that one contains."""

    def words_of_each(self, documents: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """How many words each of some contains, and these words, one after the other."""

    def document_texts(self, documents: Iterable[int]) -> dict[int, str | None]:
        """Texts of some; None where the text is gone or has changed."""

    def documents_at(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """In which of them places of the running text lie."""

    def whole_documents(self, documents: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Return the documents that they are, or are passages of."""


@dataclass(frozen=True, eq=False)
class Passages:
    """The passages of an index in the place of its documents.

    The running text of every document is cut into passages of `2 * reach + 1` words, of which the last may be
    shorter. A number of a document, here, is that of a passage.

    Parameters
    ----------
    index
        The documents; with their running text.
    reach
        The words before, and after, the one in the middle.

    Examples
    --------
    >>> index = DocumentIndex.from_documents(["cat dog bird cat fish", "dog"])
    >>> passages = Passages(index, reach=1)
    >>> passages.n_documents, passages.documents_with(index.word_id("cat")).tolist()
    (3, [0, 1])
    >>> [index.vocabulary[number] for number in passages.words_of(1)]
    ['cat', 'fish']
    """

    index: DocumentIndex
    reach: int
    unit: ClassVar[Unit] = "passages"

    @property
    def size(self) -> int:
        """Words of a passage."""
        return 2 * self.reach + 1

    @property
    def running(self) -> RunningText:
        """The text in its order."""
        if self.index.running is None:
            raise CorpusError(
                f"{self.index.path or 'The index'}: has no running text, which passages are cut from; give "
                "the index that the model was trained from."
            )
        return self.index.running

    @property
    def vocabulary(self) -> Sequence[str]:
        """Words by number."""
        return self.index.vocabulary

    @property
    def n_words(self) -> int:
        """Size of the vocabulary."""
        return self.index.n_words

    def word_id(self, word: str) -> int:
        """Position of a word in the vocabulary."""
        return self.index.word_id(word)

    @cached_property
    def _firsts(self) -> NDArray[np.int64]:
        """Number of the first passage of every document, and of all passages."""
        lengths = np.diff(self._first_words)
        return np.concatenate([[0], np.cumsum(-(-lengths // self.size))])

    @cached_property
    def _first_words(self) -> NDArray[np.int64]:
        """How many words the documents before each one have, and all of them."""
        ends = self.running.document_ends
        # Of the places before an end, some are those of marks and some those of earlier ends.
        return ends - self._marks_before(ends) - np.arange(len(ends))

    @cached_property
    def _mark_places(self) -> NDArray[np.int64]:
        return np.flatnonzero(is_mark(self.running.tokens))

    def _marks_before(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.searchsorted(self._mark_places, places)

    @cached_property
    def _words_before_marks(self) -> NDArray[np.int64]:
        """How many words of the text come before each mark."""
        ends_before = np.searchsorted(self.running.document_ends, self._mark_places)
        return self._mark_places - np.arange(len(self._mark_places)) - ends_before

    @property
    def n_documents(self) -> int:
        """Number of passages."""
        return int(self._firsts[-1])

    def whole_documents(self, documents: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Return the documents that passages are cut from."""
        # From the right: a document without words has no passage, but the number of the next one's first.
        return (np.searchsorted(self._firsts, documents, side="right") - 1).astype(np.uint32)

    def documents_at(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """In which passages places lie."""
        ends = self.running.document_ends
        documents = np.searchsorted(ends, places) - 1
        words = places - self._marks_before(places) - documents - 1 - self._first_words[documents]
        return self._firsts[documents] + words // self.size

    def documents_with(self, word_id: int) -> NDArray[np.uint32]:
        """Ascending numbers of the passages that contain the word."""
        found = self.documents_at(self.running.places_of(word_id).astype(np.int64))
        return found[np.diff(found, prepend=-1) > 0].astype(np.uint32)

    @cached_property
    def document_frequencies(self) -> NDArray[np.int64]:
        """In how many passages each word of the vocabulary occurs."""
        frequencies = np.zeros(self.n_words, dtype=np.int64)
        passages = np.arange(self.n_documents, dtype=np.uint32)
        step = max(1, _PLACES_AT_A_TIME // self.size)
        for start in range(0, len(passages), step):
            _, words = self.words_of_each(passages[start : start + step])
            frequencies += np.bincount(words, minlength=self.n_words)
        return frequencies

    def words_of(self, document: int) -> NDArray[np.uint32]:
        """Ascending positions of the words that the passage contains."""
        return self.words_of_each(np.array([document], dtype=np.uint32))[1]

    def words_of_each(self, documents: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """How many words each of some passages contains, and these words, one passage after the other."""
        starts, ends = self._bounds(documents)
        places = starts[:, None] + np.arange(int((ends - starts).max(initial=0)))
        words = np.take(self.running.tokens, places, mode="clip")
        words[places >= ends[:, None]] = DOCUMENT_END
        words.sort(axis=1)
        is_new = np.diff(words, axis=1, prepend=DOCUMENT_END) != 0
        # Numbers beyond the vocabulary are words that it does not have.
        kept = is_new & (words < self.n_words)
        return kept.sum(axis=1), words[kept]

    def _bounds(self, passages: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where passages begin in the running text, and end."""
        documents = self.whole_documents(passages)
        first, end = self._words_bounds(passages, documents)
        return self._places_of_words(first, documents), self._places_of_words(end - 1, documents) + 1

    def _words_bounds(
        self, passages: NDArray[np.uint32], documents: NDArray[np.uint32]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Which words of the text passages of some documents begin and end with, by their number."""
        first = self._first_words[documents] + (passages - self._firsts[documents]) * self.size
        return first, np.minimum(first + self.size, self._first_words[documents + 1])

    def _places_of_words(self, words: NDArray[np.int64], documents: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Where words of some documents stand, by their number in the text: after words, ends and marks."""
        n_marks = np.searchsorted(self._words_before_marks, words, side="right")
        return words + documents.astype(np.int64) + 1 + n_marks

    def document_texts(self, documents: Iterable[int]) -> dict[int, str | None]:
        """Texts of some passages; None where that of the document is gone or has changed.

        Dots stand where the text goes on before and after.
        """
        numbers = np.array([*documents], dtype=np.uint32)
        whole = self.whole_documents(numbers)
        bounds = (words - self._first_words[whole] for words in self._words_bounds(numbers, whole))
        texts = self.index.document_texts(dict.fromkeys(whole.tolist()))
        preparation = self.index.preparation_or_default
        if preparation.is_incomplete:
            return dict.fromkeys(numbers.tolist())
        found: dict[int, str | None] = {}
        for number, document, *span in zip(numbers.tolist(), whole.tolist(), *bounds, strict=True):
            text, (start, end) = texts[document], map(int, span)
            found[number] = None if text is None else cut_out(text, start, end, preparation.tokens)
        return found


def counted_in(index: DocumentIndex, passage_reach: int) -> Counted:
    """Return what is counted: passages of so many words before and after one, or with 0 whole documents."""
    return Passages(index, passage_reach) if passage_reach else index


def cut_out(text: str, first: int, end: int, tokens: Callable[[str], Sequence[str]]) -> str:
    """Cut the words from number `first` to number `end` (exclusive) out of a text.

    A little more is shown, as the ends are found by halving the text until they are near enough.

    >>> text = "It was a dark and stormy night in the month of May, and nobody was on the road but two men"
    >>> cut_out(text, 9, 14, str.split)
    '... night in the month of May, and nobody was on ...'
    """
    start, _ = _around(text, first, tokens)
    _, stop = _around(text, end, tokens)
    return f"{'... ' * (start > 0)}{text[start:stop].strip()}{' ...' * (stop < len(text.rstrip()))}"


def _around(text: str, n_words: int, tokens: Callable[[str], Sequence[str]]) -> tuple[int, int]:
    """Find two places in a text, near each other, between which so many words have been said."""
    start, end = 0, len(text)
    while end - start > _NEAR_ENOUGH:
        gap = _WHITE_SPACE.search(text, (start + end) // 2, end)
        if gap is None:
            break
        n_before = len(tokens(text[start : gap.start()]))
        if n_before <= n_words:
            start, n_words = gap.end(), n_words - n_before
        else:
            end = gap.start()
    return start, end
