"""What documents are compared by: the words they have (topic), and what stands beside the word (place).

A feature has a direction: features that go with the same words point the same way (singular vectors of PPMI,
rare features longer). Both sides together decide, so that shuffling the groups changes nothing here. A
document is a point: the sum of the directions of its features, at length 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from omnitm.comparison.machines import Documents, Drawn, train_place, train_topic
from omnitm.corpus import DocumentIndex, RunningText
from omnitm.corpus.assembling import GAP
from omnitm.corpus.running import NO_FEATURE, PATTERNS, feature_numbers
from omnitm.machine import AutoencoderSettings
from omnitm.machine.autoencoder import running_of
from omnitm.machine.settings import Kind
from omnitm.similarity.truncated_svd import truncated_svd

Reals = NDArray[np.float32]

N_PLACE_WORDS = 10_000  # as in training
_N_DIRECTIONS = 100  # as many as dense word vectors commonly have
_SMOOTHING = 0.75  # of context frequencies in PPMI (Levy, Goldberg & Dagan 2015)
_PAIRS = 20_000_000  # of words in a document, that directions of topics are made from
_PLACES = 2_000_000  # that directions of places are made from
_BACKGROUND = 50_000  # documents or places per side that say how frequent a feature is anyway
_BACKGROUND_WORDS = 2_000_000  # per side
_SHORTEST = 1e-6  # of a document with features; others have none that has a direction
_PRIOR = 1  # document or place that is added to both sides before frequencies are divided
_ERRORS = 2  # standard errors of a ratio of frequencies that are taken for chance


class Thinned(NamedTuple):
    """Documents of a word as points, less what differs between the sides anyway.

    Attributes
    ----------
    present
        documents x features: how often a document has a feature.
    rows
        documents x features: what a feature counts in a document. One that is more frequent in all documents
        of a side than in those of the other counts so much less there.
    points
        documents x directions: the rows in the space of the directions.
    sizes
        Documents of each side.
    counts
        sides x features: documents that have the feature.
    anyway
        sides x features: how frequent it is without the word, relative to the other side, as far as that is
        sure.
    lifts
        sides x features: how many times as frequent it is with the word as without.
    """

    present: Any
    rows: Any
    points: Reals
    sizes: NDArray[np.int64]
    counts: NDArray[np.int64]
    anyway: NDArray[np.float64]
    lifts: NDArray[np.float64]


class Features(ABC):
    """One kind of features of an index whose documents are on two sides."""

    kind: Kind
    index: DocumentIndex
    directions: Reals
    _background: list[Any]  # per side: rows x features
    _owners: list[
        NDArray[np.int64]
    ]  # per side and row: its document (topic), or the word that stands there (place)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the index out of a copy for another process, where `Sides.on` puts it in."""
        return {name: value for name, value in self.__dict__.items() if name != "index"}

    @abstractmethod
    def name(self, feature: int) -> str:
        """Return what a feature is called, as in a trained model."""

    @abstractmethod
    def present(self, word: int, documents: NDArray[np.int64]) -> Any:
        """Count the features of documents with a word, the word itself left out: documents x features."""

    @abstractmethod
    def profile(self, word: int, drawn: Drawn, settings: AutoencoderSettings, key: int) -> Reals:
        """Train a machine of a word; return how far features stand out: in units of the baseline."""

    @abstractmethod
    def _is_of(self, word: int, owners: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say which rows of the background are about a word."""

    def thinned(self, word: int, documents: NDArray[np.int64], sides: NDArray[np.int8]) -> Thinned:
        """Make points of documents with a word, each on side 0 or 1."""
        present = self.present(word, documents)
        rows = self._at_unit_length(present)
        n_features = present.shape[1]
        counts = np.stack([_counts(present[sides == side], n_features) for side in (0, 1)])
        without, weights, n_without = np.zeros((2, n_features)), np.zeros((2, n_features)), np.zeros((2, 1))
        for side in (0, 1):
            others = self._background[side][~self._is_of(word, self._owners[side])]
            without[side] = _counts(others, n_features) + _PRIOR
            usual = float(others.data.mean() if others.nnz else 1.0)
            weights[side] = np.asarray(others.sum(axis=0, dtype=np.float64)).reshape(-1) + _PRIOR * usual
            n_without[side] = max(others.shape[0], 1)
        # Standard error of log(n_1 / n_2) of two counts: sqrt(1 / n_1 + 1 / n_2).
        error = np.sqrt((1 / without).sum(axis=0))
        # A feature k times as frequent on a side, anyway, counts 1 / k there; never more than 1.
        less = np.minimum(1, np.exp(_sure_ratio(weights / n_without, error)))
        rows.data *= less.astype(np.float32)[np.repeat(sides, np.diff(rows.indptr)), rows.indices]
        frequent = without / n_without
        # Half of the ratio to each side: anyway_1 / anyway_0 is the sure ratio of frequencies.
        anyway = np.exp(-_sure_ratio(frequent, error) / 2)
        sizes = np.array([np.count_nonzero(sides == side) for side in (0, 1)])
        lifts = counts / sizes[:, None] / frequent
        return Thinned(present, rows, rows @ self.directions, sizes, counts, anyway, lifts)

    def _set_background(self, rows: list[Any], owners: list[NDArray[np.int64]]) -> None:
        self._background, self._owners = [self._at_unit_length(part) for part in rows], owners

    def _at_unit_length(self, present: Any) -> Any:
        lengths = np.linalg.norm(present @ self.directions, axis=1)
        scale = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > _SHORTEST)
        rows = present.copy()
        rows.data = rows.data * np.repeat(scale, np.diff(rows.indptr))
        return rows


class TopicFeatures(Features):
    """Words of the vocabulary, as far as a document has them."""

    kind = "topic"

    def __init__(self, index: DocumentIndex, sides: NDArray[np.int8]) -> None:
        self.index = index
        frequencies = np.maximum(index.document_frequencies, 1)
        rarity = np.log(index.n_documents / frequencies).astype(np.float32)
        self.directions = _directions(self._together(np.flatnonzero(sides >= 0)), rarity)
        members = [self._some(np.flatnonzero(sides == side)) for side in (0, 1)]
        self._set_background([self._rows(part) for part in members], members)

    def name(self, feature: int) -> str:  # noqa: D102
        return self.index.vocabulary[feature]

    def present(self, word: int, documents: NDArray[np.int64]) -> Any:  # noqa: D102
        rows = self._rows(documents)
        rows.data[rows.indices == word] = 0
        rows.eliminate_zeros()
        return rows

    def profile(self, word: int, drawn: Drawn, settings: AutoencoderSettings, key: int) -> Reals:  # noqa: D102
        return train_topic(self.index, word, drawn, settings=settings, key=key)

    def _is_of(self, word: int, owners: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.isin(owners, self.index.documents_with(word))

    def _rows(self, documents: NDArray[np.int64]) -> Any:
        taken = Documents(self.index.document_offsets, self.index.document_words).take(documents)
        ones = np.ones(len(taken.words), dtype=np.float32)
        shape = len(documents), self.index.n_words
        return csr_matrix((ones, taken.words.astype(np.int32), taken.ends), shape=shape)

    def _some(self, documents: NDArray[np.int64]) -> NDArray[np.int64]:
        n_words = np.diff(self.index.document_offsets.astype(np.int64))[documents].sum()
        return spread(
            documents, min(_BACKGROUND, int(_BACKGROUND_WORDS * len(documents) / max(n_words, 1)) + 1)
        )

    def _together(self, documents: NDArray[np.int64]) -> Any:
        """Count in how many documents two words occur together; in some of them if there are many."""
        lengths = np.diff(self.index.document_offsets.astype(np.int64))[documents]
        # A document of n words gives n^2 pairs: as many documents as give about _PAIRS of them.
        most = int(_PAIRS * len(documents) / max(int(np.square(lengths).sum()), 1)) + 1
        rows = self._rows(spread(documents, most))
        counts = rows.T @ rows
        counts.setdiag(0)
        return counts.tocsr()


class PlaceFeatures(Features):
    """Words at the offsets -2, -1, +1 and +2 from where a word stands."""

    kind = "place"

    def __init__(self, index: DocumentIndex, sides: NDArray[np.int8]) -> None:
        self.index, running, n_vocabulary = index, running_of(index), index.n_words
        self._words = running.feature_words(N_PLACE_WORDS)
        self._numbers = feature_numbers(running.word_starts, N_PLACE_WORDS)
        some = _spread_numbers(len(running.tokens), _PLACES)
        some = some[running.tokens[some] < GAP]  # a word, no mark and no end of a document
        words, of_place = running.tokens[some].astype(np.int64), sides[self._documents(some)]
        known = (words < n_vocabulary) & (of_place >= 0)
        counts = self._counts(some[known], words[known], n_vocabulary)
        frequencies = np.tile(running.counts[self._words], len(PATTERNS))
        rarity = np.log(running.n_running_words / np.maximum(frequencies, 1)).astype(np.float32)
        self.directions = _directions(counts, rarity)
        chosen = [spread(np.flatnonzero(of_place == side), _BACKGROUND) for side in (0, 1)]
        rows = [self._counts(some[part], np.arange(len(part)), len(part)) for part in chosen]
        self._set_background(rows, [words[part] for part in chosen])

    def name(self, feature: int) -> str:  # noqa: D102
        column, place = divmod(feature, len(self._words))
        return PATTERNS[column].format(self._running.names[int(self._words[place])])

    @property
    def _running(self) -> RunningText:
        return running_of(self.index)

    def present(self, word: int, documents: NDArray[np.int64]) -> Any:  # noqa: D102
        places = self._running.places_of(word).astype(np.int64)
        of_place = self._documents(places)
        order = np.argsort(documents)
        # Documents are not sorted, so they are looked up through their order; places of other documents are
        # dropped below.
        found = np.searchsorted(documents[order], of_place).clip(max=len(documents) - 1)
        rows = order[found]
        inside = documents[rows] == of_place
        return self._counts(places[inside], rows[inside], len(documents))

    def profile(self, word: int, drawn: Drawn, settings: AutoencoderSettings, key: int) -> Reals:  # noqa: D102
        # Numbers after those of all features and of the vocabulary mean nothing to a machine.
        n_numbers = max(int(self._words.max(initial=0)) + 1, self.index.n_words)
        feature_of = np.append(self._numbers[:n_numbers], np.uint32(len(self._words)))
        return train_place(self._running, feature_of, word, drawn, settings=settings, key=key)

    def _is_of(self, word: int, owners: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.asarray(owners == word)

    def _documents(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.searchsorted(self._running.document_ends, places) - 1

    def _counts(self, places: NDArray[np.int64], rows: NDArray[np.int64], n_rows: int) -> Any:
        """Count the features of places, those of a row together: rows x features."""
        n = len(self._words)
        neighbours = self._running.neighbours(places)
        # DOCUMENT_END is larger than any number, and reads the NO_FEATURE at the end.
        numbers = np.append(self._numbers, NO_FEATURE)[np.minimum(neighbours, len(self._numbers))]
        has_feature = numbers != NO_FEATURE
        columns = (numbers.astype(np.int64) + n * np.arange(len(PATTERNS)))[has_feature]
        of_row = np.repeat(rows[:, None], len(PATTERNS), axis=1)[has_feature]
        ones = np.ones(len(columns), dtype=np.float32)
        return csr_matrix((ones, (of_row, columns)), shape=(n_rows, n * len(PATTERNS)))


def spread(items: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Choose some items, evenly spread over all."""
    return items if len(items) <= most else items[_spread_numbers(len(items), most)]


def _spread_numbers(n: int, most: int) -> NDArray[np.int64]:
    most = min(n, most)
    return np.arange(most, dtype=np.int64) * n // max(most, 1)


def _directions(counts: Any, lengths: Reals) -> Reals:
    """Columns of a matrix of counts by the strongest patterns of its PPMI: columns x directions."""
    counts = counts.tocoo()
    rows = np.maximum(np.asarray(counts.sum(axis=1), dtype=np.float64).reshape(-1), 1)
    columns = np.asarray(counts.sum(axis=0), dtype=np.float64).reshape(-1) ** _SMOOTHING
    # PPMI with contexts to the power 0.75: log(n_wc / (n_w n_c^0.75 / sum of n^0.75)).
    expected = rows[counts.row] * columns[counts.col] / max(columns.sum(), 1)
    values = np.log(np.maximum(counts.data, 1e-9) / np.maximum(expected, 1e-9))
    kept = values > 0
    ppmi = csr_matrix(
        (values[kept].astype(np.float32), (counts.row[kept], counts.col[kept])), shape=counts.shape
    )
    found = truncated_svd(ppmi, max(1, min(_N_DIRECTIONS, min(ppmi.shape) - 1)))
    right = found.right * found.singular
    norms = np.maximum(np.linalg.norm(right, axis=1, keepdims=True), 1e-12)
    # The direction comes from what a feature goes with, its length from how rare it is.
    directions: Reals = (right / norms * lengths[:, None]).astype(np.float32)
    return directions


def _sure_ratio(frequencies: NDArray[np.float64], error: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithm of the other side's frequency by a side's own, as far as it is sure: less its errors."""
    ratio = np.log(frequencies[::-1] / frequencies)
    return np.asarray(np.sign(ratio) * np.maximum(np.abs(ratio) - _ERRORS * error, 0))


def _counts(rows: Any, n_features: int) -> NDArray[np.int64]:
    """Count the rows that have each feature."""
    return np.bincount(rows.indices, minlength=n_features)
