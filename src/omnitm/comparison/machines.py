"""A word's machines on one side: trained on documents drawn from there, with the word and without it.

Equally many documents are drawn of each side, so that a word's frequency is not mistaken for a change of its
use. A machine sees one side: positives and negatives are both from there. All machines of a kind have the
same features, and one more that occurs nowhere, whose coordinate is the baseline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus import DocumentIndex
from omnitm.corpus.assembling import GAP
from omnitm.corpus.running import OFFSETS, RunningText
from omnitm.errors import CorpusError
from omnitm.machine import AutoencoderSettings
from omnitm.machine.autoencoder import Autoencoder
from omnitm.machine.settings import kind_key, word_key

Numbers = NDArray[np.int64]

MOST_DRAWN = 2_000  # documents with the word, and without it: a machine draws about 3,000 times of each
_MOST_PLACES = 20_000  # of other words, as those it is told from
_UNIT_WITHOUT_BASELINE = 100.0  # as in similarity/row_profile.py


class Documents(NamedTuple):
    """Documents one after the other: words of document i are `words[ends[i] : ends[i + 1]]`."""

    ends: NDArray[Any]
    words: NDArray[np.uint32]

    def take(self, numbers: Numbers) -> Documents:
        """Return some of the documents, in any order."""
        ends, shifts = self._laid_out(numbers)
        return Documents(ends, self.words[np.repeat(shifts, np.diff(ends)) + np.arange(ends[-1])])

    def places(self, numbers: Numbers, most: int) -> Numbers:
        """Return where the words of some documents stand: all of them, or so many, evenly spread."""
        ends, shifts = self._laid_out(numbers)
        if ends[-1] <= most:
            return np.asarray(np.repeat(shifts, np.diff(ends)) + np.arange(ends[-1]))
        ranks = np.arange(most, dtype=np.int64) * int(ends[-1]) // most
        return np.asarray(ranks + shifts[np.searchsorted(ends, ranks, side="right") - 1])

    def _laid_out(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """Where documents end if they are put together, and how far each is moved for that."""
        starts = self.ends[numbers].astype(np.int64)
        lengths = self.ends[numbers + 1].astype(np.int64) - starts
        ends = np.concatenate([[0], np.cumsum(lengths)])
        return ends, starts - ends[:-1]


class Drawn(NamedTuple):
    """Numbers of the documents of one side that a machine learns from: with the word, and without it."""

    inside: Numbers
    outside: Numbers


def draw_documents(
    word: str, seed: int, inside: Sequence[Numbers], members: Sequence[Numbers], most: int = MOST_DRAWN
) -> list[Drawn]:
    """Draw documents with a word and without it, equally many of each side.

    Parameters
    ----------
    inside, members
        Per side: the documents with the word, and all documents; ascending.
    most
        Documents with the word per side.
    """
    random = np.random.default_rng(word_key(seed, word))
    n = min(*map(len, inside), most, MOST_DRAWN)
    positives = [documents[np.sort(random.choice(len(documents), n, replace=False))] for documents in inside]
    negatives = [_others(*side, random) for side in zip(inside, members, strict=True)]
    m = min(map(len, negatives))
    if m == 0:
        raise CorpusError(f"Every document of a group has {word!r}, so there is nothing to tell it from.")
    return [Drawn(with_it, without[:m]) for with_it, without in zip(positives, negatives, strict=True)]


def _others(inside: Numbers, members: Numbers, random: np.random.Generator) -> Numbers:
    """Draw documents of a side that do not have the word, in random order."""
    n_without = len(members) - len(inside)
    if n_without <= MOST_DRAWN:
        return random.permutation(np.setdiff1d(members, inside, assume_unique=True))
    # As many as give MOST_DRAWN without the word, with some to spare.
    enough = min(len(members), int(1.2 * MOST_DRAWN * len(members) / n_without))
    drawn = members[random.choice(len(members), enough, replace=False)]
    return np.asarray(drawn[~np.isin(drawn, inside)][:MOST_DRAWN])


class _SideCorpus(NamedTuple):
    """Documents of one side as a machine reads them."""

    document_offsets: NDArray[np.uint64] = np.zeros(1, dtype=np.uint64)
    document_words: NDArray[np.uint32] = np.zeros(0, dtype=np.uint32)
    word_offsets: NDArray[np.uint64] = np.zeros(1, dtype=np.uint64)
    word_documents: NDArray[np.uint32] = np.zeros(0, dtype=np.uint32)
    n_words: int = 0
    running: RunningText | None = None


def train_topic(
    index: DocumentIndex, target: int, drawn: Drawn, *, settings: AutoencoderSettings, key: int
) -> NDArray[np.float32]:
    """Train a word on the words of documents; return how far each word of the vocabulary stands out."""
    taken = Documents(index.document_offsets, index.document_words).take(np.concatenate(drawn))
    n_inside = len(drawn.inside)
    word_offsets = np.zeros(index.n_words + 2, dtype=np.uint64)
    word_offsets[target + 1 :] = n_inside
    corpus = _SideCorpus(
        document_offsets=taken.ends.astype(np.uint64),
        document_words=taken.words,
        word_offsets=word_offsets,
        word_documents=np.arange(n_inside, dtype=np.uint32),
        n_words=index.n_words + 1,
    )
    machine = Autoencoder(corpus, settings)
    machine.train(target, kind_key(key, "topic"))
    row = machine.embedding()
    found = _relative(row[:-1], row[-1])
    found[target] = 0
    return found


def train_place(
    running: RunningText,
    feature_of: NDArray[np.uint32],
    target: int,
    drawn: Drawn,
    *,
    settings: AutoencoderSettings,
    key: int,
) -> NDArray[np.float32]:
    """Train a word on what stands beside it; return how far features stand out, offsets x feature words.

    Parameters
    ----------
    feature_of
        Which of the feature words every number is. The last number is that of no word, and is a feature.
    """
    text = Documents(running.document_ends, running.tokens)  # a document's first token is the END before it
    inside = text.places(drawn.inside, len(running.tokens))
    own = inside[running.tokens[inside] == target]
    others = text.places(np.concatenate(drawn), _MOST_PLACES)
    others = others[(running.tokens[others] != target) & (running.tokens[others] < GAP)]
    # A machine asks only which places are the word's, so that all others may be those of the last number.
    word_starts = np.zeros(len(feature_of) + 1, dtype=np.uint64)
    word_starts[target + 1 :], word_starts[-1] = len(own), len(own) + len(others)
    places = np.concatenate([own, others]).astype(np.uint32)
    corpus = _SideCorpus(running=RunningText((), (), running.tokens, word_starts, places))
    settings = replace(settings, n_place_features=int(feature_of[-1]) + 1)  # all feature words, and no word
    machine = Autoencoder(corpus, settings, kind="place", feature_of=feature_of)
    machine.train(target, kind_key(key, "place"))
    row = machine.embedding()
    return _relative(row.reshape(len(OFFSETS), -1)[:, :-1], row[-1]).reshape(-1)


def _relative(row: NDArray[np.int16], baseline: np.int16) -> NDArray[np.float32]:
    """Measure coordinates from the baseline, and in units of it."""
    unit = abs(float(baseline)) or _UNIT_WITHOUT_BASELINE
    return ((row - np.float32(baseline)) / np.float32(unit)).astype(np.float32)
