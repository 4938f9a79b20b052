"""The text in its order: the numbers of its words, and the places where each word stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus.assembling import COMMA, DOCUMENT_END, GAP
from omnitm.corpus.storage import StoredArray
from omnitm.errors import UnknownWordError

OFFSETS = (-2, -1, 1, 2)
"""Neighbours of a word that are features of the place where it stands, in the order of the coordinates."""
PATTERNS = ("{} * _", "{} _", "_ {}", "_ * {}")
JOINED, JOINED_COLUMN = "_ & {}", len(PATTERNS)
"""After those of the four offsets: the word that a joiner, such as *and* or a comma, joins with the word."""
JOINED_OFFSETS = (-3, -2, 2, 3)  # between the words there is a joiner, or a comma and a joiner
NO_FEATURE = 2**32 - 1
MOST_JOINERS = 4  # words; beside them the comma: as in native/corpus.hpp
_LIKELY_JOINERS = 100  # the most frequent words; what they join is less frequent
# Shares of a joiner's pairs that are said both ways: at least, and beside the largest one. In Wikipedia *and*
# has 0.32, *or* 0.28, the next word 0.15; in mails 0.08, 0.06 and 0.03.
_BOTH_WAYS, _BESIDE_THE_LARGEST = 0.05, 2 / 3
_FEWEST_JOINED = 100  # pairs, with repeats; of fewer it cannot be told
_PLACES_LOOKED_AT = 200_000  # of a word that may be a joiner
_TOKENS_AT_ONCE = 1 << 14  # they and what is compared stay in the processor's cache


@dataclass(frozen=True, eq=False)
class RunningText:
    """Words in their order, function words included.

    ```text
    tokens:            END  words of document 0  END  words of document 1  END ...     END is 2**32 - 1
    places of word k:  places[word_starts[k] : word_starts[k + 1]]                     ascending
    ```

    Between two words of a document there may be a mark: `COMMA` where nothing but commas stands there, `GAP`
    where other punctuation or a number does. It takes a place, so that words across it are not neighbours.

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
            found[:, column] = np.where((between == DOCUMENT_END) | is_mark(there), DOCUMENT_END, there)
        return found

    def passages(self, places: NDArray[np.int64], reach: int, target: int) -> NDArray[np.uint32]:
        """Places x words: the word of each place and `reach` words before and after; `DOCUMENT_END` if none.

        A passage ends with its document and, unless it is one of the word `target`, where the target stands.
        """
        tokens, centre = self.tokens, self.tokens[places]
        found = np.full((len(places), 2 * reach + 1), DOCUMENT_END, dtype=np.uint32)
        found[:, reach] = centre
        for step in (-1, 1):
            is_open, at = np.ones(len(places), dtype=bool), places
            for distance in range(1, reach + 1):
                at = at + step
                # There are never two marks together.
                at = at + step * is_mark(np.take(tokens, at, mode="clip"))
                there = np.take(tokens, at, mode="clip")
                is_open &= (there != DOCUMENT_END) & ((there != target) | (centre == target))
                found[is_open, reach + step * distance] = there[is_open]
        return found

    def joined_with(self, place: int, step: int, joiners: Sequence[int]) -> int | None:
        """Return the number that a joiner joins with the word of a place, before (step -1) or after it (1).

        It may be that of no word. *Red, blue and green*, *red, and blue*: a comma joins, alone or beside
        another joiner.
        """
        # Beyond the text there is nothing; what is read there instead stands after the end of a document.
        around = np.take(self.tokens, [place + k * step for k in (1, 2, 3)], mode="clip")
        first, second, third = map(int, around)
        if first not in joiners:
            return None
        is_pair = (first == COMMA) != (second == COMMA) and second in joiners
        return third if is_pair else second

    def holds(
        self, places: NDArray[np.int64], column: int, number: int, joiners: Sequence[int] = ()
    ) -> NDArray[np.bool_]:
        """Tell at which places a coordinate holds; `parted` takes it apart."""
        if column == JOINED_COLUMN:
            return self._is_joined(places, number, joiners)
        offset = OFFSETS[column]
        found = np.asarray(np.take(self.tokens, places + offset, mode="clip") == number)
        if abs(offset) == 2:
            # Two before the first word, or after the last one, there may be nothing: then another place is
            # read, but the one between is the end of a document.
            there = np.flatnonzero(found)
            found[there] = self.tokens[places[there] + offset // 2] != DOCUMENT_END
        return found

    def _is_joined(self, places: NDArray[np.int64], number: int, joiners: Sequence[int]) -> NDArray[np.bool_]:
        """Tell which places a joiner joins with a number, as `joined_with` does for one."""
        found = np.zeros(len(places), dtype=bool)
        for step in (-1, 1):
            second, third = (np.take(self.tokens, places + k * step, mode="clip") for k in (2, 3))
            there = np.flatnonzero((second == number) | (third == number))  # few: the others need no more
            first, second, third = self.tokens[places[there] + step], second[there], third[there]
            is_pair = np.isin(second, joiners) & ((first == COMMA) != (second == COMMA))
            found[there] |= np.isin(first, joiners) & (np.where(is_pair, third, second) == number)
        return found

    @cached_property
    def joiners(self) -> tuple[int, ...]:
        """Numbers of the words that join others of one kind, such as *and* and *or*: at most four.

        They are found from the text, for any language: where *x and y* is said, *y and x* is often said
        too, but hardly ever *york of university*. The comma, which stands in lists, is the last one if the
        text has any.
        """
        frequent = feature_words(self.word_starts, _LIKELY_JOINERS).tolist()
        shares = {number: self._said_both_ways(number, frequent) for number in frequent}
        enough = max(_BOTH_WAYS, _BESIDE_THE_LARGEST * max(shares.values(), default=0.0))
        found = [number for number in frequent if shares[number] >= enough]
        words = sorted(sorted(found, key=lambda number: -shares[number])[:MOST_JOINERS])
        return (*words, COMMA) if np.any(self.tokens == COMMA) else tuple(words)

    def _said_both_ways(self, number: int, frequent: Sequence[int]) -> float:
        """Of the pairs that stand around a word more than once, the share that has its counterpart."""
        places = self.places_of(number)
        step = -(-len(places) // _PLACES_LOOKED_AT)
        before, after = (self.tokens[places[::step].astype(np.int64) + k].astype(np.int64) for k in (-1, 1))
        n_numbers = len(self.word_starts) - 1
        # Not ends of documents, the last number, which stands for many words, or other function words.
        plain = np.ones(n_numbers, dtype=bool)
        plain[[*frequent, -1]] = False
        kept = (before < n_numbers) & (after < n_numbers) & (before != after)
        before, after = before[kept], after[kept]
        kept = plain[before] & plain[after]
        before, after = before[kept], after[kept]
        low, high = np.minimum(before, after), np.maximum(before, after)
        _, pair, counts = np.unique(low * n_numbers + high, return_inverse=True, return_counts=True)
        one_way = np.bincount(pair.reshape(-1), weights=before < after, minlength=len(counts))
        repeated = counts > 1
        if counts[repeated].sum() < _FEWEST_JOINED:
            return 0.0
        both_ways = 2 * np.minimum(one_way, counts - one_way)[repeated].sum()
        return float(both_ways / counts[repeated].sum())

    def documents(self) -> Iterator[NDArray[np.uint32]]:
        """Numbers of the words of every document, in their order."""
        ends = self.document_ends.tolist()
        for start, end in pairwise(ends):
            words = self.tokens[start + 1 : end]
            yield words[~is_mark(words)]

    def feature_words(self, most: int) -> NDArray[np.int64]:
        """Numbers of the most frequent words, whose neighbourhood is what a word is trained on."""
        return feature_words(self.word_starts, most)

    def feature_names(self, most: int, most_joined: int = 0) -> list[str]:
        """Names of the coordinates of place: `the * _`, `the _`, `_ of`, `_ * of`, for every feature word.

        Then `_ & the`, joined with the word by a joiner, for the most frequent words, at most so many.
        """
        words = [self.names[number] for number in self.feature_words(max(most, most_joined)).tolist()]
        names = [pattern.format(word) for pattern in PATTERNS for word in words[:most]]
        return names + [JOINED.format(word) for word in words[:most_joined]]


def is_mark(tokens: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Tell which tokens are marks; the end of a document is none."""
    found: NDArray[np.bool_] = (tokens >= GAP) & (tokens != DOCUMENT_END)
    return found


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
    """Take a coordinate of place apart: which of the four offsets, or `JOINED_COLUMN`, and which word.

    >>> parted("was _"), parted("_ * of"), parted("_ & women")
    ((1, 'was'), (3, 'of'), (4, 'women'))
    """
    if feature.startswith("_ & "):
        return JOINED_COLUMN, feature[4:]
    if feature.endswith(" * _"):
        return 0, feature[:-4]
    if feature.endswith(" _"):
        return 1, feature[:-2]
    return (3, feature[4:]) if feature.startswith("_ * ") else (2, feature[2:])
