"""The native machine of one thread: train a word, then read its states, weights and embedding."""

from __future__ import annotations

from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from omnitm import _native
from omnitm.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from omnitm.machine.settings import AutoencoderSettings

_NO_LIMIT = 2**32 - 1


class Feedback(IntEnum):
    """What a clause was taught by an example."""

    NONE = 0
    REMEMBER = 1  # Type Ia
    FORGET = 2  # Type Ib
    REJECT = 3  # Type II


class Recording(NamedTuple):
    """What became of one word's two literals: examples x clauses, each after the example."""

    present: NDArray[np.uint8]
    """States of "the word occurs"."""
    absent: NDArray[np.uint8]
    """States of "the word does not occur"."""
    feedback: NDArray[np.uint8]
    """A `Feedback` each."""
    weights: NDArray[np.int32]
    """Weights of the clauses."""


class TrainingCorpus(Protocol):
    """What a machine sees of a corpus; a `DocumentIndex` has it, and so has what engines share."""

    @property
    def document_offsets(self) -> NDArray[np.uint64]:
        """Where the words of each document begin, and the end."""

    @property
    def document_words(self) -> NDArray[np.uint32]:
        """Words of all documents."""

    @property
    def word_offsets(self) -> NDArray[np.uint64]:
        """Where the documents of each word begin, and the end."""

    @property
    def word_documents(self) -> NDArray[np.uint32]:
        """Documents of all words."""

    @property
    def n_words(self) -> int:
        """Size of the vocabulary."""


class Autoencoder:
    """A Tsetlin machine autoencoder whose memory is used again for every word.

    Not thread-safe: give each thread its own. The GIL is released while it trains.

    Parameters
    ----------
    index
        The corpus; its arrays are shared, not copied.
    settings
        What to learn and how long.
    negated_literals
        Whether clauses may ask for the absence of a word; without, "sliced" is the only kernel.
    kernel
        "lazy" (specificity 1 only), "sliced", or "auto"; all give the same bits.
    isa
        An instruction set out of `instruction_sets()`, or "auto" for the best.
    """

    def __init__(
        self,
        index: TrainingCorpus,
        settings: AutoencoderSettings,
        *,
        negated_literals: bool = True,
        kernel: str = "auto",
        isa: str = "auto",
    ) -> None:
        self.index, self.settings = index, settings
        self._native = _native.Autoencoder(
            *corpus_arrays(index),
            **native_settings(index, settings),
            state_bits=settings.state_bits,
            fast=settings.algorithm == "fast",
            negated=negated_literals,
            kernel=kernel,
            isa=isa,
        )

    def train(self, target: int, key: int) -> bool:
        """Learn word number `target` from the draws of `key`; False if `stop` ended it early."""
        with damage_named():
            return self._native.train(target, key)

    def record(self, target: int, key: int, word: int) -> Recording:
        """Learn as `train` does, and write down what becomes of the two literals of word number `word`."""
        shape = self.settings.total_examples, self.settings.n_clauses
        states = np.empty((*shape, 2), dtype=np.uint8)
        feedback, weights = np.empty(shape, dtype=np.uint8), np.empty(shape, dtype=np.int32)
        parts = states.reshape(-1), feedback.reshape(-1), weights.reshape(-1)
        with damage_named():
            self._native.record(target, key, word, *parts)
        return Recording(states[:, :, 0], states[:, :, 1], feedback, weights)

    def stop(self) -> None:
        """Make `train`, running in another thread, return soon."""
        self._native.stop()

    def embedding(self, out: NDArray[np.int16] | None = None) -> NDArray[np.int16]:
        """Read the Omni embedding of the trained word (Algorithm 1 of the paper)."""
        if out is None:
            out = np.empty(self.index.n_words, dtype=np.int16)
        self._native.embedding(out)
        return out

    @property
    def states(self) -> NDArray[np.uint8]:
        """All automaton states, clauses x literals: first "word k occurs", then "word k does not"."""
        out = np.empty((self.settings.n_clauses, 2 * self.index.n_words), dtype=np.uint8)
        self._native.states(out.reshape(-1))
        return out

    @property
    def weights(self) -> NDArray[np.int32]:
        """The weight of each clause."""
        out = np.empty(self.settings.n_clauses, dtype=np.int32)
        self._native.weights(out)
        return out


@contextmanager
def damage_named() -> Iterator[None]:
    """Pass on what the native code says about an index that leads out of its range."""
    try:
        yield
    except ValueError as error:
        raise CorpusError(str(error)) from None


def corpus_arrays(index: TrainingCorpus) -> tuple[NDArray[Any], ...]:
    """Return what the native code reads of an index."""
    return index.document_offsets, index.document_words, index.word_offsets, index.word_documents


def native_settings(index: TrainingCorpus, settings: AutoencoderSettings) -> dict[str, Any]:
    """Return the settings that all native machines have, as the native code wants them."""
    limit = settings.max_included_literals
    return {
        "n_clauses": settings.n_clauses,
        "threshold": settings.threshold,
        "forget_probability": settings.forget_probability,
        "accumulation": settings.accumulation,
        "n_examples": settings.total_examples,
        "label_probability": int(settings.output_balancing * 2**32),
        "max_included": _NO_LIMIT if limit is None or limit >= 2 * index.n_words else limit,
    }


def instruction_sets() -> list[str]:
    """Instruction sets that this processor has and the kernels are built for, best last."""
    return _native.instruction_sets()
