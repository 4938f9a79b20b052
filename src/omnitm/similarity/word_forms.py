"""Families: words that begin alike and keep the same company, such as drive, drives and driving.

Text spreads what it knows about a thing over the forms of its word, so forms speak for each other: a word
counts 1 and each of its relatives 1/2. Which words are relatives follows from the text alone:

1. they share their beginning: four letters or more, with at most four more after it, or three letters with
   at most one more; and one of the two has at most one letter after it (`drive`, `driving`),
2. they keep the same company: the cosine of their smoothed rows is above 0.2 (so `rapid` is no relative of
   `rapids`, and `lens` none of `len`); of more than five, the nearest five.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from omnitm.similarity.row_profile import Company

    Reals = NDArray[np.float32]

RELATIVE_WEIGHT = 0.5
SAME_COMPANY = 0.2
MOST_RELATIVES = 5
_SHORT_START, _LONGEST_END_OF_SHORT = 3, 1
_LONG_START, _LONGEST_END = 4, 4
_ROWS_AT_A_TIME = 2_000


@dataclass(frozen=True, eq=False)
class Families:
    """Who speaks for each word.

    Attributes
    ----------
    starts, members, weights
        For word w speak the words `members[starts[w] : starts[w + 1]]`, itself among them, with `weights`
        that add up to 1.
    company_lengths, smooth_lengths
        Per word: length of the weighted mean of its family's unit rows, and of their smoothed rows.
    """

    starts: NDArray[np.int64]
    members: NDArray[np.int32]
    weights: Reals
    company_lengths: Reals
    smooth_lengths: Reals

    @classmethod
    def of(cls, words: Sequence[str], company: Company) -> Families:
        """Find relatives among words by their letters and by the company they keep."""
        starts, members, weights = _speakers(words, company.smooth)
        matrix = _matrix(starts, members, weights)
        return cls(
            starts=starts,
            members=members,
            weights=weights,
            company_lengths=_lengths(matrix, company.by_word()),
            smooth_lengths=_lengths(matrix, company.smooth),
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def of_row(self, row: int) -> Iterator[tuple[int, float]]:
        """Go through those who speak for a word: rows and weights."""
        part = slice(int(self.starts[row]), int(self.starts[row + 1]))
        yield from zip(self.members[part].tolist(), self.weights[part].tolist(), strict=True)

    @property
    def matrix(self) -> Any:
        """Weights as a sparse matrix, words x members: it turns scores of forms into those of words."""
        return _matrix(self.starts, self.members, self.weights)


def relatives_by_letters(words: Sequence[str]) -> list[tuple[int, int]]:
    """Find pairs of words that begin alike, as the rules above say; places in `words`, each pair once.

    >>> words = ["drive", "driving", "drives", "dragon"]
    >>> [(words[a], words[b]) for a, b in relatives_by_letters(words)]
    [('drive', 'driving'), ('drive', 'drives')]
    """
    by_beginning: dict[str, list[int]] = defaultdict(list)
    for place, word in enumerate(words):
        for length in {len(word), len(word) - 1}:
            if length >= _SHORT_START:
                by_beginning[word[:length]].append(place)
    pairs: set[tuple[int, int]] = set()
    for place, word in enumerate(words):
        for length in range(max(_SHORT_START, len(word) - _LONGEST_END), len(word) + 1):
            if length >= _LONG_START or len(word) - length <= _LONGEST_END_OF_SHORT:
                others = by_beginning.get(word[:length], ())
                pairs.update((min(place, other), max(place, other)) for other in others if other != place)
    return sorted(pairs)


def _speakers(
    words: Sequence[str], smooth: Reals
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """List the family of each word, itself first, then the nearest; with weights that add up to 1."""
    pairs = np.array(relatives_by_letters(words), dtype=np.int32).reshape(-1, 2)
    cosines = _cosines(smooth, pairs)
    pairs, cosines = pairs[cosines > SAME_COMPANY], cosines[cosines > SAME_COMPANY]
    itself = np.arange(len(words), dtype=np.int32)
    word = np.concatenate([itself, pairs[:, 0], pairs[:, 1]])
    member = np.concatenate([itself, pairs[:, 1], pairs[:, 0]])
    nearness = np.concatenate([np.full(len(words), np.inf), cosines, cosines])
    order = np.lexsort((member, -nearness, word))
    word, member = word[order], member[order]
    place = np.arange(len(word)) - np.searchsorted(word, word)
    word, member = word[place <= MOST_RELATIVES], member[place <= MOST_RELATIVES]
    weight = np.where(word == member, 1.0, RELATIVE_WEIGHT)
    weight /= np.bincount(word, weights=weight, minlength=len(words))[word]
    starts = np.concatenate([[0], np.cumsum(np.bincount(word, minlength=len(words)))]).astype(np.int64)
    return starts, member, weight.astype(np.float32)


def _cosines(smooth: Reals, pairs: NDArray[np.int32]) -> Reals:
    blocks = range(0, len(pairs), _ROWS_AT_A_TIME)
    parts = [pairs[start : start + _ROWS_AT_A_TIME] for start in blocks]
    found = [np.einsum("ij,ij->i", smooth[part[:, 0]], smooth[part[:, 1]]) for part in parts]
    return np.concatenate([np.zeros(0, np.float32), *found])


def _matrix(starts: NDArray[np.int64], members: NDArray[np.int32], weights: Reals) -> Any:
    from scipy.sparse import csr_matrix

    n_words = len(starts) - 1
    return csr_matrix((weights, members, starts), shape=(n_words, n_words))


def _lengths(matrix: Any, rows: Any) -> Reals:
    """Return the length of each family's mean row; 1 where it is 0, to divide by."""
    found = np.ones(matrix.shape[0], dtype=np.float32)
    for start in range(0, len(found), _ROWS_AT_A_TIME):
        part = slice(start, start + _ROWS_AT_A_TIME)
        mean = matrix[part] @ rows
        squares = mean.multiply(mean) if hasattr(mean, "multiply") else mean**2
        found[part] = np.sqrt(np.asarray(squares.sum(axis=1)).ravel())
    found[found == 0] = 1
    return found
