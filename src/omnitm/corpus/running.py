"""The text in its order: the numbers of its words, and the places where each word stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus.assembling import DOCUMENT_END
from omnitm.corpus.storage import StoredArray
from omnitm.errors import UnknownWordError

OFFSETS = (-2, -1, 1, 2)
"""Neighbours of a word that are features of the place where it stands, in the order of the coordinates."""
PATTERNS = ("{} * _", "{} _", "_ {}", "_ * {}")
NO_FEATURE = 2**32 - 1
_TOKENS_AT_ONCE = 1 << 14  # they and what is compared stay in the processor's cache


@dataclass(frozen=True, eq=False)
class RunningText:
    """Words in their order, function words included.

    ```text
    tokens:            END  words of document 0  END  words of document 1  END ...     END is 2**32 - 1
    places of word k:  places[word_starts[k] : word_starts[k + 1]]                     ascending
    ```

    Numbers are those of the index's vocabulary, then those of `other_words`, which the vocabulary does not
    have, then one that stands for all the rest.

    Examples
    --------
    >>> from omnitm.corpus import DocumentIndex
    >>> index = DocumentIndex.from_documents(["A cat sat.", "The cat and the dog"])
    >>> running = index.running
    >>> [[running.names[number] for number in document] for document in running.documents()]
    [['a', 'cat', 'sat'], ['the', 'cat', 'and', 'the', 'dog']]
    >>> running.places_of(index.word_id("cat")).tolist()
    [2, 6]
    """

    vocabulary: Sequence[str]
    other_words: Sequence[str]
    tokens: StoredArray[np.uint32] = StoredArray()
    word_starts: StoredArray[np.uint64] = StoredArray()
    places: StoredArray[np.uint32] = StoredArray()

    @cached_property
    def names(self) -> list[str]:
        """Words by number; the last number, of all other words, has none."""
        return [*self.vocabulary, *self.other_words]

    def number(self, word: str) -> int:
        """Return the number of a word that has one."""
        try:
            return self._numbers[word]
        except KeyError:
            raise UnknownWordError(word, self.names) from None

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names)}

    @property
    def n_running_words(self) -> int:
        """Number of words in the text, with repeats."""
        return len(self.places)

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each number occurs."""
        # Signed numbers: counts are negated to sort them.
        starts = self.word_starts.astype(np.int64)
        return starts[1:] - starts[:-1]

    def places_of(self, number: int) -> NDArray[np.uint32]:
        """Ascending places of a word."""
        return self.places[int(self.word_starts[number]) : int(self.word_starts[number + 1])]

    @cached_property
    def document_ends(self) -> NDArray[np.int64]:
        """Where the documents end; the first entry is the beginning of the text."""
        return np.flatnonzero(self.tokens == DOCUMENT_END)

    def document_of(self, place: int) -> int:
        """Find the document that a place is in."""
        # Document k lies between ends k and k + 1.
        return int(np.searchsorted(self.document_ends, place)) - 1

    @cached_property
    def _ends_before(self) -> NDArray[np.int64]:
        """How many ends of documents lie before each block of tokens."""
        tokens = self.tokens
        blocks = range(0, len(tokens), _TOKENS_AT_ONCE)
        counts = [np.count_nonzero(tokens[k : k + _TOKENS_AT_ONCE] == DOCUMENT_END) for k in blocks]
        return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])

    def documents_of(self, places: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Find the documents that ascending places are in; after the first time, near these places alone."""
        found = np.empty(len(places), dtype=np.int64)
        block_of = places // np.uint32(_TOKENS_AT_ONCE)
        for block in np.unique(block_of).tolist():
            here = slice(*np.searchsorted(block_of, [block, block + 1]).tolist())
            start = block * _TOKENS_AT_ONCE
            ends = np.flatnonzero(self.tokens[start : start + _TOKENS_AT_ONCE] == DOCUMENT_END)
            # Document k lies after end k: the text begins with one.
            before = np.searchsorted(ends, places[here].astype(np.int64) - start)
            found[here] = self._ends_before[block] + before - 1
        return found

    def neighbours(self, places: NDArray[np.int64]) -> NDArray[np.uint32]:
        """Places x offsets: the numbers two before, before, after and two after; `DOCUMENT_END` if none."""
        tokens = self.tokens
        found = np.full((len(places), len(OFFSETS)), DOCUMENT_END, dtype=np.uint32)
        for column, offset in enumerate(OFFSETS):
            there = tokens[np.clip(places + offset, 0, len(tokens) - 1)]
            # A place two away counts only if the word between is of the same document.
            between = tokens[places + offset // 2] if abs(offset) == 2 else there
            found[:, column] = np.where(between == DOCUMENT_END, DOCUMENT_END, there)
        return found

    def documents(self) -> Iterator[NDArray[np.uint32]]:
        """Numbers of the words of every document, in their order."""
        ends = self.document_ends.tolist()
        for start, end in pairwise(ends):
            yield self.tokens[start + 1 : end]

    def feature_words(self, most: int) -> NDArray[np.int64]:
        """Numbers of the most frequent words, whose neighbourhood is what a word is trained on."""
        return feature_words(self.word_starts, most)

    def feature_names(self, most: int) -> list[str]:
        """Names of the coordinates of place: `the * _`, `the _`, `_ of`, `_ * of`, for every feature word."""
        words = [self.names[number] for number in self.feature_words(most).tolist()]
        return [pattern.format(word) for pattern in PATTERNS for word in words]


def feature_words(word_starts: NDArray[np.uint64], most: int) -> NDArray[np.int64]:
    """Numbers of the most frequent words, at most so many; of equally frequent ones the first."""
    starts = word_starts.astype(np.int64)
    # Without the last number, which stands for all other words.
    counts = (starts[1:] - starts[:-1])[:-1]
    # A stable sort keeps equally frequent words in the order of their numbers.
    order = np.argsort(-counts, kind="stable")[:most]
    return order[counts[order] > 0]


def feature_numbers(word_starts: NDArray[np.uint64], most: int) -> NDArray[np.uint32]:
    """Which of the feature words each number is; `NO_FEATURE` if none."""
    chosen = feature_words(word_starts, most)
    numbers = np.full(len(word_starts) - 1, NO_FEATURE, dtype=np.uint32)
    numbers[chosen] = np.arange(len(chosen), dtype=np.uint32)
    return numbers


def parted(feature: str) -> tuple[int, str]:
    """Take a coordinate of place apart: which of the four offsets, and which word.

    >>> parted("was _"), parted("_ * of")
    ((1, 'was'), (3, 'of'))
    """
    if feature.endswith(" * _"):
        return 0, feature[:-4]
    if feature.endswith(" _"):
        return 1, feature[:-2]
    return (3, feature[4:]) if feature.startswith("_ * ") else (2, feature[2:])
