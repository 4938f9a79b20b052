"""How well words go together: normalised pointwise mutual information on held-out documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex


class Coherence:
    """NPMI of pairs out of a list of words, counted once.

    NPMI is 1 for words that only occur together, 0 for words that know nothing of each other, -1 for words
    that never meet.

    Examples
    --------
    >>> from omnitm.corpus import DocumentIndex
    >>> index = DocumentIndex.from_documents(["cat dog", "cat dog", "bird", "fish"])
    >>> coherence = Coherence(index, ["cat", "dog", "bird"])
    >>> coherence.mean(["cat", "dog"]), coherence.mean(["cat", "bird"])
    (1.0, -1.0)
    """

    def __init__(self, index: DocumentIndex, words: Iterable[str]) -> None:
        known = set(index.vocabulary)
        self.words = sorted(set(words) & known)
        self._places = {word: place for place, word in enumerate(self.words)}
        self._npmi = _npmi(pair_counts(index, self.words), index.n_documents)

    def __contains__(self, word: str) -> bool:
        return word in self._places

    def pairs(self, words: Sequence[str]) -> NDArray[np.float64]:
        """NPMI of every word with every other; words that the documents don't have are left out."""
        places = [self._places[word] for word in words if word in self._places]
        return self._npmi[np.ix_(places, places)]

    def mean(self, words: Sequence[str]) -> float | None:
        """Mean NPMI of all pairs; None if fewer than two of the words are known."""
        pairs = self.pairs(words)
        if len(pairs) < 2:
            return None
        return float(pairs[np.triu_indices(len(pairs), 1)].mean())

    def odd_one_out(self, words: Sequence[str]) -> str:
        """Name the word that goes least well with the others; one that the documents don't have is odd."""
        unknown = [word for word in words if word not in self]
        if unknown:
            return unknown[0]
        pairs = self.pairs(words)
        np.fill_diagonal(pairs, 0.0)
        return words[int(np.argmin(pairs.sum(axis=1)))]


def pair_counts(index: DocumentIndex, words: Sequence[str]) -> NDArray[np.float64]:
    """In how many documents each pair of words occurs."""
    from scipy.sparse import csc_matrix

    postings = [index.documents_with(index.word_id(word)) for word in words]
    offsets = np.cumsum([0, *(len(documents) for documents in postings)])
    members = np.concatenate([*postings, np.zeros(0, dtype=np.uint32)]).astype(np.int32)
    ones = np.ones(len(members), dtype=np.float32)
    presence = csc_matrix((ones, members, offsets), shape=(index.n_documents, len(words)))
    counts: NDArray[np.float64] = (presence.T @ presence).toarray().astype(np.float64)
    return counts


def _npmi(counts: NDArray[np.float64], n_documents: int) -> NDArray[np.float64]:
    shares = counts / max(n_documents, 1)
    single = np.diag(shares)
    npmi = np.full(counts.shape, -1.0)
    met = counts > 0
    joint = shares[met]
    rows, columns = np.nonzero(met)
    always = joint >= 1.0  # in every document: 0 / 0; such words know all there is to know of each other
    surprise = np.where(always, 1.0, -np.log(joint, out=np.ones_like(joint), where=~always))
    information = np.log(joint / (single[rows] * single[columns]))
    npmi[met] = np.where(always, 1.0, information / surprise)
    return npmi
