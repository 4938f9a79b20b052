"""What the documents of a word say: what they are about, and how they use the word.

Each word of a document says what it is about: its smoothed profile, measured from the usual one and weighted
by how rare the word is. The words next to the word itself say how it is used: their rows in the space of
smoothed place profiles, measured and weighted alike. A document is the sum of the first, at length 1, beside
the sum of the second, at length 0.7.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus.passages import Counted
from omnitm.corpus.running import OFFSETS, RunningText, parted
from omnitm.machine import running_of
from omnitm.similarity.profiles import best_known
from omnitm.similarity.row_profile import unit_rows
from omnitm.vectors import WordVectors

Reals = NDArray[np.float32]
Numbers = NDArray[np.intp]

_SUBSTITUTES = 20  # words that say which kind of word is used
_OF_PLACES = np.float32(0.7)  # length of the second; chosen as the numbers of omnitm.explain.senses


@dataclass(frozen=True, eq=False)
class Said:
    """What each feature says about a document that has it: its weight times (its row less the usual one).

    Attributes
    ----------
    rows
        features x dimensions: smoothed profiles; zeros for features that say nothing.
    weights
        Per feature: log(documents / documents with it), or 1 without an index; 0 if it says nothing.
    usual
        The mean row over all occurrences of features, weighted as those are: what a random document says.
    """

    rows: Reals
    weights: Reals
    usual: Reals

    @classmethod
    def of(cls, rows: Reals, counts: NDArray[Any], total: int | None) -> Said:
        """Weigh features by how many of `total` documents have them; None: all alike."""
        # idf = log(N / n): a feature of every document says nothing.
        rarity = np.ones(len(rows)) if total is None else np.log(max(total, 2) / np.maximum(counts, 1))
        weights: Reals = (rarity * rows.any(axis=1)).astype(np.float32)
        share = weights * counts.astype(np.float32)
        usual = (share / max(float(share.sum()), 1e-30)) @ rows
        return cls(rows, weights, usual.astype(np.float32))

    def by_features(self, columns: Numbers) -> Reals:
        """Return what single features say: features x dimensions."""
        found: Reals = self.weights[columns, None] * (self.rows[columns] - self.usual)
        return found

    def by_bags(self, bags: Any) -> Reals:
        """Add up what the features of each bag say: bags x dimensions, from a sparse bags x features."""
        weighted = bags.multiply(self.weights).tocsr()
        # sum of w_f (row_f - usual) = sum of w_f row_f - (sum of w_f) usual: the first is one sparse product.
        found: Reals = weighted @ self.rows - np.outer(weighted.sum(axis=1), self.usual)
        return found


@dataclass(frozen=True, eq=False)
class SaidByPlaces(Said):
    """What the words next to a word say; features are the same words at each of the four offsets.

    Attributes
    ----------
    words
        Which of these words each word is.
    numbers
        The same by the numbers of the running text; -1: none of them.
    """

    words: dict[str, int]
    numbers: Numbers

    @classmethod
    def of_model(cls, vectors: WordVectors, running: RunningText) -> SaidByPlaces | None:
        """Weigh places by how rare their words are in the running text; None if the model has none."""
        profile = vectors.profiles.place
        if profile is None or vectors.place is None:
            return None
        named = vectors.place.feature_names[: profile.n_features // len(OFFSETS)]
        words = {parted(name)[1]: number for number, name in enumerate(named)}
        # The last number of the running text stands for all words without one.
        numbers = np.array([*(words.get(name, -1) for name in running.names), -1], dtype=np.intp)
        counts = np.zeros(len(named), dtype=np.int64)
        counts[numbers[numbers >= 0]] = running.counts[numbers >= 0]
        said = Said.of(profile.projection, np.tile(counts, len(OFFSETS)), running.n_running_words)
        return cls(said.rows, said.weights, said.usual, words, numbers)

    def by_documents(self, index: Counted, documents: NDArray[np.uint32], word: str) -> Reals:
        """Add up what the places of a word say, by document: documents x dimensions."""
        running = running_of(index)
        places = running.places_of(running.number(word)).astype(np.int64)
        owners = index.documents_at(places)
        kept = np.isin(owners, documents)
        # The end of a document is larger than all numbers, and no word.
        neighbours = np.minimum(running.neighbours(places[kept]), len(self.numbers) - 1)
        return self._by_owners(
            self.numbers[neighbours], np.searchsorted(documents, owners[kept]), len(documents)
        )

    def by_text(self, tokens: Sequence[str], word: str) -> Reals:
        """Add up what the places of a word say in one text, its words and marks: 1 x dimensions."""
        reach = max(OFFSETS)
        numbers = np.full(len(tokens) + 2 * reach, -1)
        numbers[reach : len(tokens) + reach] = [self.words.get(token, -1) for token in tokens]
        places = np.array([place + reach for place, token in enumerate(tokens) if token == word], np.intp)
        return self._by_owners(numbers[places[:, None] + np.array(OFFSETS)], np.zeros_like(places), 1)

    def _by_owners(self, neighbours: Numbers, owners: Numbers, n_owners: int) -> Reals:
        from scipy.sparse import csr_matrix

        places, offsets = np.nonzero(neighbours >= 0)
        columns = offsets * len(self.words) + neighbours[places, offsets]
        values = np.ones(len(places), dtype=np.float32)
        return self.by_bags(csr_matrix((values, (owners[places], columns)), (n_owners, len(self.weights))))


@dataclass(frozen=True, eq=False)
class Substitutes:
    """Words that could stand in the place of others: those with a like smoothed place profile.

    Attributes
    ----------
    words
        The best known words.
    rows
        words x dimensions, at length 1: their smoothed place profiles, measured from their mean.
    """

    words: tuple[str, ...]
    rows: Reals

    @classmethod
    def of_model(cls, vectors: WordVectors) -> Substitutes | None:
        """Take the best known words of a model; None if it has no smoothed place profiles."""
        profile, known = vectors.profiles.place, best_known(vectors)
        if profile is None or not profile.smooth.shape[1]:
            return None
        rows = profile.smooth[known]
        return cls(tuple(vectors.index_to_key[k] for k in known), unit_rows(rows - rows.mean(axis=0)))

    def without(self, words: Collection[str]) -> Substitutes:
        """Leave out a word and its forms, which could always stand in its place."""
        kept = [number for number, word in enumerate(self.words) if word not in words]
        return Substitutes(tuple(self.words[number] for number in kept), self.rows[kept])

    def kinds(self, uses: Reals) -> Reals:
        """Say which kind of word is used: the mean row of the nearest words, at length 1."""
        scores, n_nearest = unit_rows(uses) @ self.rows.T, min(_SUBSTITUTES, len(self.rows))
        nearest = np.argpartition(scores, -n_nearest, axis=1)[:, -n_nearest:]
        return unit_rows(self.rows[nearest].mean(axis=1))


@dataclass(frozen=True, eq=False)
class Contexts:
    """What documents say about a word: by their words and, if model and index know them, by its places."""

    topic: Said
    place: SaidByPlaces | None = None
    substitutes: Substitutes | None = None

    @classmethod
    def of(cls, vectors: WordVectors, index: Counted | None) -> Contexts:
        """Weigh the features of a model by how rare they are in its documents."""
        names, smooth = vectors.feature_names, vectors.profiles.topic.smooth
        if names != vectors.index_to_key:
            numbers = vectors.key_to_index
            places = np.array([numbers.get(name, -1) for name in names], dtype=np.intp)
            # Place -1 reads the last row, which is then replaced by zeros: features without a row say
            # nothing.
            smooth = np.where(places[:, None] >= 0, smooth[places], np.float32(0))
        if index is None:
            known = np.zeros(len(names))
            known[[vectors.feature_index(vectors.index_to_key[k]) for k in best_known(vectors)]] = 1
            return cls(Said.of(smooth, known, None))
        topic = Said.of(smooth, index.document_frequencies, index.n_documents)
        place = None if index.running is None else SaidByPlaces.of_model(vectors, index.running)
        return cls(topic, place, None if place is None else Substitutes.of_model(vectors))

    def of_documents(self, index: Counted, documents: NDArray[np.uint32], word: str, bags: Any) -> Reals:
        """Say what documents with a word are about, by their other words, and how they use it."""
        about = self.topic.by_bags(bags)
        if self.place is None or index.running is None:
            return unit_rows(about)
        return _both(about, self.place.by_documents(index, documents, word))

    def of_text(self, tokens: Sequence[str], word: str, columns: Numbers) -> Reals:
        """Say the same of a text, given all of its words in their order and those that are features."""
        about = self.topic.by_features(columns).sum(axis=0)
        return unit_rows(about) if self.place is None else _both(about, self.place.by_text(tokens, word)[0])


def _both(about: Reals, use: Reals) -> Reals:
    """Put both kinds side by side, at length 1; uses count `_OF_PLACES` times as much."""
    found = np.concatenate([about, use], axis=-1)
    parts = np.split(found, [about.shape[-1]], axis=-1)  # of the same memory
    lengths = [np.sqrt(np.einsum("...i,...i->...", part, part))[..., None] for part in parts]
    weights = [factor * (length > 0) for factor, length in zip((1.0, _OF_PLACES), lengths, strict=True)]
    total = np.sqrt(sum(weight**2 for weight in weights))
    for part, length, weight in zip(parts, lengths, weights, strict=True):
        scale = np.divide(weight, length * total, out=np.zeros_like(length), where=weight > 0)
        np.multiply(part, scale, out=part)
    return found


def bags_of(index: Counted, documents: NDArray[np.uint32], left_out: Numbers) -> Any:
    """Say which words documents have: documents x words, sparse; without some words."""
    from scipy.sparse import csr_matrix

    lengths, words = index.words_of_each(documents)
    kept = ~np.isin(words, left_out)
    owners = np.repeat(np.arange(len(documents)), lengths)[kept]
    values = np.ones(len(owners), dtype=np.float32)
    return csr_matrix((values, (owners, words[kept].astype(np.int64))), shape=(len(documents), index.n_words))
