"""Completion and nearest spellings, quick enough to be asked at every key."""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter, defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_CANDIDATES = 300  # spelling is compared exactly with these; they share the most pairs of letters
_LONGEST = 64  # letters of a query that are looked at


class Speller:
    """Finds words by their beginning or by likeness.

    Parameters
    ----------
    words
        The most important first; completions keep this order.

    Examples
    --------
    >>> speller = Speller(["road", "car", "roads", "road-side", "carpet"])
    >>> speller.complete("roa", 2), speller.nearest("raod", 1)
    (['road', 'roads'], ['road'])
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._folded = sorted((word.casefold(), k) for k, word in enumerate(words))

    def complete(self, beginning: str, count: int) -> list[str]:
        """Words that begin so: an exact one first, then the most important."""
        query = beginning.casefold()
        start, end = (bisect_left(self._folded, (text, -1)) for text in (query, query + "\U0010ffff"))
        found = sorted((text != query, k) for text, k in self._folded[start:end])
        return [self._words[k] for _, k in found[:count]]

    def nearest(self, word: str, count: int) -> list[str]:
        """Words spelled most like this one."""
        query = word.casefold()[:_LONGEST]
        votes: Counter[int] = Counter()
        for pair in _letter_pairs(query):
            votes.update(self._by_pair.get(pair, ()))
        likely = sorted(votes, key=lambda k: (-votes[k] / (len(self._words[k]) + len(query)), k))[
            :_CANDIDATES
        ]
        texts = [self._words[k].casefold()[:_LONGEST] for k in likely]
        near = difflib.get_close_matches(query, texts, n=count, cutoff=0.5)
        return list(dict.fromkeys(self._words[likely[texts.index(text)]] for text in near))

    @cached_property
    def _by_pair(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for text, k in self._folded:
            for pair in _letter_pairs(text[:_LONGEST]):
                found[pair].append(k)
        return dict(found)


def _letter_pairs(text: str) -> set[str]:
    padded = f" {text} "
    return {padded[k : k + 2] for k in range(len(padded) - 1)}
