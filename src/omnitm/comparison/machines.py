"""A word's machines on one side: trained on documents drawn from there, with the word and without it.

Equally many documents are drawn of each side, so that a word's frequency is not mistaken for a change of its
use. A machine sees one side: positives and negatives are both from there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from omnitm.corpus.assembling import DOCUMENT_END
from omnitm.corpus.running import OFFSETS, RunningText
from omnitm.errors import CorpusError
from omnitm.machine.autoencoder import Autoencoder
from omnitm.machine.settings import kind_key, word_key
from omnitm.similarity.row_profile import baseline_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex
    from omnitm.machine import AutoencoderSettings

FEWEST_DOCUMENTS = 20
MOST_DOCUMENTS = 4_000  # with the word, per side: a machine draws about 3,000
MOST_OTHERS = 2_000  # without the word, per side
_UNIT_WITHOUT_BASELINE = 100.0  # as in similarity/row_profile.py


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
    """Numbers of the documents of one side that a word is compared by.

    Attributes
    ----------
    inside, outside
        Documents with the word, and without it.
    """

    inside: NDArray[np.int64]
    outside: NDArray[np.int64]


def draw_documents(
    index: DocumentIndex, sides: NDArray[np.int8], word: str, seed: int, most: int = MOST_DOCUMENTS
) -> list[Drawn]:
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
    found = [inside[sides[inside] == side] for side in range(int(sides.max()) + 1)]
    n = min(*map(len, found), most, MOST_DOCUMENTS)
    positives = [documents[np.sort(random.choice(len(documents), n, replace=False))] for documents in found]
    negatives = [_others(inside, sides, side, random) for side in range(len(found))]
    m = min(map(len, negatives))
    if m == 0:
        raise CorpusError(f"Every document of a group has {word!r}, so there is nothing to tell it from.")
    return [Drawn(with_it, without[:m]) for with_it, without in zip(positives, negatives, strict=True)]


def _others(
    inside: NDArray[np.int64], sides: NDArray[np.int8], side: int, random: np.random.Generator
) -> NDArray[np.int64]:
    """Draw documents of a side that do not have the word, in random order."""
    members = np.flatnonzero(sides == side)
    enough = min(len(members), MOST_OTHERS + int(np.count_nonzero(sides[inside] == side)))
    drawn = members[random.choice(len(members), enough, replace=False)]
    return drawn[~np.isin(drawn, inside)][:MOST_OTHERS]


class Profile:
    """Coordinates of a word trained on one side, each from the baseline and in units of it."""

    def __init__(
        self, index: DocumentIndex, word: str, drawn: Drawn, settings: AutoencoderSettings, seed: int
    ) -> None:
        self._index, self._target, self._settings = index, index.word_id(word), settings
        self._key = word_key(seed, word)
        documents = np.concatenate([drawn.inside, drawn.outside])
        self._words, self._topic = self._train_topic(documents, len(drawn.inside))
        if "place" in settings.kinds:
            self._features, self._place = self._train_place(documents)

    def topic(self, word: int) -> float:
        """Return the coordinate of a word of the vocabulary."""
        place = int(np.searchsorted(self._words, word))
        has_word = place < len(self._words) and self._words[place] == word
        return float(self._topic[place]) if has_word and word != self._target else 0.0

    def place(self, column: int, number: int) -> float:
        """Return the coordinate of a word, by its number in the running text, at one of the four offsets."""
        feature = self._features.get(number)
        return 0.0 if feature is None else float(self._place[column, feature])

    def _train_topic(
        self, documents: NDArray[np.int64], n_inside: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
        taken = Documents(self._index.document_offsets, self._index.document_words).take(documents)
        words, numbers = np.unique(taken.words, return_inverse=True)
        own = int(np.searchsorted(words, self._target))
        word_offsets = np.zeros(len(words) + 2, dtype=np.uint64)
        word_offsets[own + 1 :] = n_inside
        corpus = _SideCorpus(
            document_offsets=taken.ends.astype(np.uint64),
            document_words=numbers.reshape(-1).astype(np.uint32),
            word_offsets=word_offsets,
            word_documents=np.arange(n_inside, dtype=np.uint32),
            n_words=len(words) + 1,  # the last one occurs nowhere: its value is the baseline
        )
        machine = Autoencoder(corpus, self._settings)
        machine.train(own, self._key)
        row = machine.embedding()
        return words, _relative(row[:-1], float(row[-1]))

    def _train_place(self, documents: NDArray[np.int64]) -> tuple[dict[int, int], NDArray[np.float32]]:
        running = self._index.running
        assert running is not None  # noqa: S101  # the settings ask for places of an index that has them
        numbers, text = _part_of(running, documents)
        machine = Autoencoder(_SideCorpus(running=text), self._settings, kind="place")
        machine.train(int(np.searchsorted(numbers, self._target)), kind_key(self._key, "place"))
        row = machine.embedding()
        features = text.feature_words(self._settings.n_place_features)
        places = {number: feature for feature, number in enumerate(numbers[features].tolist())}
        return places, _relative(row, baseline_of(row)).reshape(len(OFFSETS), -1)


class _SideCorpus(NamedTuple):
    """Documents of one side as a machine reads them."""

    document_offsets: NDArray[np.uint64] = np.zeros(1, dtype=np.uint64)
    document_words: NDArray[np.uint32] = np.zeros(0, dtype=np.uint32)
    word_offsets: NDArray[np.uint64] = np.zeros(1, dtype=np.uint64)
    word_documents: NDArray[np.uint32] = np.zeros(0, dtype=np.uint32)
    n_words: int = 0
    running: RunningText | None = None


def _part_of(running: RunningText, documents: NDArray[np.int64]) -> tuple[NDArray[np.uint32], RunningText]:
    """Put some documents of a running text together; words get new numbers, in the order of those given."""
    taken = Documents(running.document_ends, running.tokens).take(documents)  # each with the END before it
    tokens = np.append(taken.words, np.uint32(DOCUMENT_END))
    is_word = tokens != DOCUMENT_END
    rest = np.uint32(len(running.word_starts) - 2)  # the number of all other words stays the last one
    numbers = np.unique(np.append(tokens[is_word], rest))
    tokens[is_word] = np.searchsorted(numbers, tokens[is_word])
    places = np.argsort(tokens, kind="stable")[: np.count_nonzero(is_word)].astype(np.uint32)
    counts = np.bincount(tokens[places], minlength=len(numbers))
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.uint64)
    return numbers, RunningText((), (), tokens, starts, places)


def _relative(row: NDArray[np.int16], baseline: float) -> NDArray[np.float32]:
    return ((row - np.float32(baseline)) / np.float32(abs(baseline) or _UNIT_WITHOUT_BASELINE)).astype(
        np.float32
    )
