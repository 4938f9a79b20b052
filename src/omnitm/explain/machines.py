"""The machine of a word, trained again from its seed: the same bits as when the model was made."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from omnitm.errors import CorpusError, ParameterError
from omnitm.explain.rules import Literal
from omnitm.machine import Autoencoder, word_key
from omnitm.store import TrainingRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex
    from omnitm.machine import AutoencoderSettings
    from omnitm.vectors import WordVectors

_KEPT = 8  # machines, so that several questions about a word train it once


@dataclass(frozen=True, eq=False)
class TrainedMachine:
    """States and weights of one word's machine.

    `states` is clauses x literals: first "word k occurs", then "word k does not".
    """

    word: str
    key: int
    vocabulary: Sequence[str]
    settings: AutoencoderSettings
    states: NDArray[np.uint8]
    weights: NDArray[np.int32]

    @property
    def n_words(self) -> int:
        """Size of the vocabulary."""
        return len(self.vocabulary)

    @property
    def include_from(self) -> int:
        """The threshold N: a literal is included from this state on."""
        return self.settings.include_from

    @cached_property
    def positive_clauses(self) -> list[int]:
        """Numbers of the clauses with a positive weight, the highest weight first."""
        order = np.argsort(-self.weights, kind="stable")
        return [clause for clause in order.tolist() if self.weights[clause] > 0]

    @cached_property
    def mean_states(self) -> NDArray[np.float64]:
        """Mean state of each literal over the positive clauses; the start if there are none."""
        if not self.positive_clauses:
            return np.full(2 * self.n_words, self.include_from - 1.0)
        means: NDArray[np.float64] = self.states[self.positive_clauses].mean(axis=0)
        return means

    def literal(self, number: int, state: float) -> Literal:
        """Name a literal."""
        negated = number >= self.n_words
        word = self.vocabulary[number - self.n_words * negated]
        return Literal(word, negated, state, state - self.include_from)


class Machines:
    """Trains words of a model again; safe to use from several threads."""

    def __init__(self, vectors: WordVectors, index: DocumentIndex) -> None:
        if not isinstance(vectors.training, TrainingRecord):
            raise ParameterError(
                "Vectors of another model or of unknown origin cannot be explained by clauses: they have no "
                "settings and seed of Omni TM-AE to train a word again with."
            )
        self.vectors, self.index, self.record = vectors, index, vectors.training
        self._native = Autoencoder(index, self.record.settings)
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, TrainedMachine] = OrderedDict()

    def __getitem__(self, word: str) -> TrainedMachine:
        row = self.vectors.get_vector(word)
        with self._lock:
            if word not in self._kept:
                self._kept[word] = self._train(word, row)
                if len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(word)
            return self._kept[word]

    def check_once(self, word: str) -> None:
        """Check, unless that is known, that the index is the one that the model was trained from."""
        if not self._kept:
            self[word]

    def _train(self, word: str, row: NDArray[np.int16]) -> TrainedMachine:
        key = word_key(self.record.seed, word)
        self._native.train(self.index.word_id(word), key)
        if not np.array_equal(self._native.embedding(), row):
            raise CorpusError(other_corpus(self.index))
        states, weights = self._native.states, self._native.weights
        return TrainedMachine(word, key, self.index.vocabulary, self.record.settings, states, weights)


def other_corpus(index: DocumentIndex) -> str:
    """Say that an index does not belong to a model."""
    return (
        f"{index.path or 'the index'}: is not the index that the model was trained from (its vocabulary, or "
        "a word trained again from it, is not the model's); give that one, or train a model from this one"
    )
