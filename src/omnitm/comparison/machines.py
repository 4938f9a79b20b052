"""What a word is compared by: documents drawn from each side, and the machines trained on them.

Documents with the word, and others without it, are drawn equally many of each side, so that a word's
frequency is not mistaken for a change of its use. A machine sees one side: positives and negatives are both
from there, so what is different about everything on a side cancels out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from omnitm.errors import CorpusError
from omnitm.machine.autoencoder import Autoencoder
from omnitm.machine.settings import word_key

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex
    from omnitm.machine import AutoencoderSettings

FEWEST_DOCUMENTS = 20
MOST_DOCUMENTS = 4_000  # with the word, per side: a machine draws about 3,000
MOST_OTHERS = 2_000  # without the word, per side
_UNIT_WITHOUT_BASELINE = 100.0  # as in similarity/row_profile.py


class _SideCorpus(NamedTuple):
    """Documents of one side as a machine reads them; the arrays are filled again for every arrangement."""

    document_offsets: NDArray[np.uint64]
    document_words: NDArray[np.uint32]
    word_offsets: NDArray[np.uint64]
    word_documents: NDArray[np.uint32]
    n_words: int
    running: None = None


class Documents(NamedTuple):
    """Documents one after the other: words of document i are `words[ends[i] : ends[i + 1]]`."""

    ends: NDArray[Any]
    words: NDArray[np.uint32]

    def take(self, numbers: NDArray[np.int64]) -> Documents:
        """Return some of the documents, in any order."""
        starts = self.ends[numbers].astype(np.int64)
        lengths = self.ends[numbers + 1].astype(np.int64) - starts
        ends = np.concatenate([[0], np.cumsum(lengths)])
        places = np.repeat(starts - ends[:-1], lengths) + np.arange(ends[-1])
        return Documents(ends, self.words[places])


class Drawn(NamedTuple):
    """Documents that a word is compared by, equally many of each side.

    Attributes
    ----------
    documents
        With the word: those of side 0, of side 1, ...; then without it, side by side.
    features
        Words of the vocabulary that occur in them; the documents' words are positions in here.
    own
        Position of the word itself.
    n, m
        Documents per side with the word, and without it.
    """

    documents: Documents
    features: NDArray[np.int64]
    own: int
    n_sides: int
    n: int
    m: int

    def members(self, side: int) -> NDArray[np.int64]:
        """Documents of a side, those with the word first."""
        n, m, others = self.n, self.m, self.n_sides * self.n
        return np.concatenate(
            [np.arange(side * n, (side + 1) * n), np.arange(side * m, (side + 1) * m) + others]
        )


def draw_documents(
    index: DocumentIndex, sides: NDArray[np.int8], word: str, seed: int, most: int = MOST_DOCUMENTS
) -> Drawn:
    """Draw documents with a word and without it, equally many of each side.

    Parameters
    ----------
    sides
        Per document: the number of its side, or -1 for none.
    most
        Documents with the word per side, at most.
    """
    target = index.word_id(word)
    random = np.random.default_rng(word_key(seed, word))
    inside = index.documents_with(target).astype(np.int64)
    n_sides = int(sides.max()) + 1
    found = [inside[sides[inside] == side] for side in range(n_sides)]
    n = min(*map(len, found), most, MOST_DOCUMENTS)
    positives = [_drawn(documents, n, random) for documents in found]
    negatives = [_others(inside, sides, side, random) for side in range(n_sides)]
    m = min(map(len, negatives))
    if m == 0:
        raise CorpusError(f"Every document of a group has {word!r}, so there is nothing to tell it from.")
    chosen = np.concatenate([*positives, *(others[:m] for others in negatives)])
    taken = Documents(index.document_offsets, index.document_words).take(chosen)
    features, words = np.unique(taken.words, return_inverse=True)
    documents = Documents(taken.ends, words.astype(np.uint32).reshape(-1))
    own = int(np.searchsorted(features, target))
    return Drawn(documents, features.astype(np.int64), own, n_sides, n, m)


def train_sides(drawn: Drawn, settings: AutoencoderSettings, key: int) -> NDArray[np.float32]:
    """Train a word's machine on each side: sides x features, each row from its baseline, in units of it."""
    machine = _SideMachine(drawn, settings)
    return np.stack([machine.train(drawn.members(side), key) for side in range(drawn.n_sides)])


def _drawn(documents: NDArray[np.int64], n: int, random: np.random.Generator) -> NDArray[np.int64]:
    return documents[np.sort(random.choice(len(documents), n, replace=False))]


def _others(
    inside: NDArray[np.int64], sides: NDArray[np.int8], side: int, random: np.random.Generator
) -> NDArray[np.int64]:
    """Draw documents of a side that do not have the word, in random order."""
    members = np.flatnonzero(sides == side)
    enough = min(len(members), MOST_OTHERS + int(np.count_nonzero(sides[inside] == side)))
    drawn = members[random.choice(len(members), enough, replace=False)]
    return drawn[~np.isin(drawn, inside)][:MOST_OTHERS]


class _SideMachine:
    """One machine that is trained on one arrangement of documents after the other."""

    def __init__(self, drawn: Drawn, settings: AutoencoderSettings) -> None:
        self._pool, self._own = drawn.documents, drawn.own
        n, n_features = drawn.n, len(drawn.features)
        word_offsets = np.zeros(n_features + 2, dtype=np.uint64)
        word_offsets[drawn.own + 1 :] = n
        self._corpus = _SideCorpus(
            document_offsets=np.zeros(n + drawn.m + 1, dtype=np.uint64),
            document_words=np.zeros(len(drawn.documents.words), dtype=np.uint32),
            word_offsets=word_offsets,
            word_documents=np.arange(n, dtype=np.uint32),
            n_words=n_features + 1,  # the last one occurs nowhere: its value is the baseline
        )
        self._machine = Autoencoder(self._corpus, settings)

    def train(self, documents: NDArray[np.int64], key: int) -> NDArray[np.float32]:
        """Learn from documents, the first n of which have the word; returns the profile."""
        taken = self._pool.take(documents)
        self._corpus.document_offsets[:] = taken.ends
        self._corpus.document_words[: len(taken.words)] = taken.words
        self._machine.train(self._own, key)
        row = self._machine.embedding().astype(np.float32)
        baseline = row[-1]
        profile: NDArray[np.float32] = (row[:-1] - baseline) / (abs(baseline) or _UNIT_WITHOUT_BASELINE)
        profile[self._own] = 0  # a word's own coordinate says nothing
        return profile
