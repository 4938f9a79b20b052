"""The native machines of one thread: one word with clauses of its own, or several that share a bank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from omnitm import _native
from omnitm.errors import CorpusError
from omnitm.machine.settings import N_OFFSETS, AutoencoderSettings, Kind, kind_key

if TYPE_CHECKING:
    from omnitm.corpus import DocumentIndex

_NO_LIMIT = 2**32 - 1  # the largest that the native code can be given


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


class TrainingText(Protocol):
    """What a machine sees of a running text; see `omnitm.corpus.RunningText`."""

    @property
    def tokens(self) -> NDArray[np.uint32]:
        """Numbers of the words in their order."""

    @property
    def word_starts(self) -> NDArray[np.uint64]:
        """Where the places of each number begin, and the end."""

    @property
    def places(self) -> NDArray[np.uint32]:
        """Places of all numbers."""


Text_co = TypeVar("Text_co", bound=TrainingText, covariant=True)


class HasText(Protocol[Text_co]):
    """What may have a running text."""

    @property
    def running(self) -> Text_co | None:
        """The text in its order, if it was kept."""


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

    @property
    def running(self) -> TrainingText | None:
        """The text in its order, if it was kept."""


class Autoencoder:
    """A Tsetlin machine autoencoder whose memory is used again for every word.

    Not thread-safe: give each thread its own. The GIL is released while it trains.

    Parameters
    ----------
    index
        The corpus; its arrays are shared, not copied.
    settings
        What to learn and how long.
    kind
        Whether it learns from documents or passages ("topic") or from the places of a running text ("place").
    feature_of
        Places: which of the feature words every number is, or `NO_FEATURE`; None: the most frequent words.
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
        kind: Kind = "topic",
        feature_of: NDArray[np.uint32] | None = None,
        negated_literals: bool = True,
        kernel: str = "auto",
        isa: str = "auto",
    ) -> None:
        self.index, self.settings, self.kind = index, settings, kind
        arrays: tuple[Any, ...]
        if kind == "place":
            arrays = _running_arrays(index, settings, feature_of)
        elif settings.passage_reach:
            arrays = _passage_arrays(index, settings)
        else:
            arrays = corpus_arrays(index)
        self.n_features = index.n_words if kind == "topic" else N_OFFSETS * arrays[4] + arrays[5]
        self._native = _native.Autoencoder(
            *arrays,
            **native_settings(self.n_features, settings),
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
        # Flat views of the same memory: native code writes example by example, clause by clause.
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
            out = np.empty(self.n_features, dtype=np.int16)
        self._native.embedding(out)
        return out

    @property
    def states(self) -> NDArray[np.uint8]:
        """All automaton states, clauses x literals: first "feature k occurs", then "it does not"."""
        out = np.empty((self.settings.n_clauses, 2 * self.n_features), dtype=np.uint8)
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


def _running_arrays(
    index: TrainingCorpus, settings: AutoencoderSettings, feature_of: NDArray[np.uint32] | None
) -> tuple[Any, ...]:
    # Not above: who only reads a model needs no corpus.
    from omnitm.corpus.running import NO_FEATURE, feature_numbers

    running = running_of(index)
    if feature_of is None:
        feature_of = feature_numbers(running.word_starts, settings.n_feature_words)
    n_words = int(np.count_nonzero(feature_of != NO_FEATURE))
    counts = settings.n_neighbours_and_joined(n_words)
    return running.tokens, running.word_starts, running.places, feature_of, *counts, settings.joiners, 0


def _passage_arrays(index: TrainingCorpus, settings: AutoencoderSettings) -> tuple[Any, ...]:
    from omnitm.corpus.running import NO_FEATURE

    running = running_of(index)
    # The words of the vocabulary have the first numbers, and only they are features.
    feature_of = np.full(len(running.word_starts) - 1, NO_FEATURE, dtype=np.uint32)
    feature_of[: index.n_words] = np.arange(index.n_words, dtype=np.uint32)
    text = running.tokens, running.word_starts, running.places
    return *text, feature_of, index.n_words, 0, (), settings.passage_reach


def running_of(index: HasText[Text_co]) -> Text_co:
    """Return the running text of an index, or say how to get one."""
    if index.running is None:
        raise CorpusError(
            "The corpus has no running text, so places of words cannot be learned; make an index that keeps "
            "it: omnitm index TEXT -o INDEX; or train with contexts='topic' (--contexts topic) and without "
            "passages (--passage-reach 0)."
        )
    return index.running


def n_features(index: TrainingCorpus, settings: AutoencoderSettings, kind: Kind) -> int:
    """Count the coordinates that a machine of this kind has."""
    if kind == "topic":
        return index.n_words
    from omnitm.corpus.running import feature_words

    n_words = len(feature_words(running_of(index).word_starts, settings.n_feature_words))
    n_neighbours, n_joined = settings.n_neighbours_and_joined(n_words)
    return N_OFFSETS * n_neighbours + n_joined


class WordTrainer:
    """Trains a word on all that the settings name, and puts the coordinates side by side: topic, then place.

    Not thread-safe: give each thread its own. The GIL is released while it trains.
    """

    def __init__(self, index: TrainingCorpus, settings: AutoencoderSettings) -> None:
        self._machines = [Autoencoder(index, settings, kind=kind) for kind in settings.kinds]
        self.row_size = sum(machine.n_features for machine in self._machines)

    def train(self, target: int, key: int) -> bool:
        """Learn word number `target` from the draws of `key`; False if `stop` ended it early."""
        # Each kind has a key of its own, so that training one does not change the draws of the other.
        return all(machine.train(target, kind_key(key, machine.kind)) for machine in self._machines)

    def stop(self) -> None:
        """Make `train`, running in another thread, return soon."""
        for machine in self._machines:
            machine.stop()

    def embedding(self, out: NDArray[np.int16]) -> NDArray[np.int16]:
        """Read the coordinates of the trained word into `out`, of length `row_size`."""
        start = 0
        for machine in self._machines:
            machine.embedding(out[start : start + machine.n_features])
            start += machine.n_features
        return out


def native_settings(n_features: int, settings: AutoencoderSettings) -> dict[str, Any]:
    """Return the settings that all native machines have, as the native code wants them."""
    limit = settings.max_included_literals
    return {
        "n_clauses": settings.n_clauses,
        "threshold": settings.threshold,
        "forget_probability": settings.forget_probability,
        "accumulation": settings.accumulation,
        "accumulation_growth": settings.accumulation_growth,
        "n_examples": settings.total_examples,
        # In units of 2**-32, as coins are; a limit that no clause can exceed is no limit.
        "label_probability": int(settings.output_balancing * 2**32),
        "max_included": _NO_LIMIT if limit is None or limit >= 2 * n_features else limit,
    }


def instruction_sets() -> list[str]:
    """Instruction sets that this processor has and the kernels are built for, best last."""
    return _native.instruction_sets()


class SharedAutoencoder:
    """A bank of clauses that learns several words in turn, each with clause weights of its own.

    Only the algorithm "exact", and states of 8 bits. One thread; the GIL is released while it trains.
    """

    def __init__(
        self,
        index: DocumentIndex,
        settings: AutoencoderSettings,
        *,
        negated_literals: bool = True,
        isa: str = "auto",
    ) -> None:
        self.index, self.settings = index, settings
        self._n_targets = 0
        self._native = _native.SharedAutoencoder(
            *corpus_arrays(index),
            **native_settings(index.n_words, settings),
            negated=negated_literals,
            isa=isa,
        )

    def train(self, targets: Sequence[int], keys: Sequence[int], key: int) -> bool:
        """Learn words by number, each from the draws of its key; False if `stop` ended it early."""
        self._n_targets = len(targets)
        with damage_named():
            return self._native.train(list(targets), list(keys), key)

    def stop(self) -> None:
        """Make `train`, running in another thread, return soon."""
        self._native.stop()

    @property
    def n_done(self) -> int:
        """Examples that all words have learned from so far."""
        return self._native.n_done

    @property
    def weights(self) -> NDArray[np.int32]:
        """Clause weights, words x clauses."""
        out = np.empty((self._n_targets, self.settings.n_clauses), dtype=np.int32)
        self._native.weights(out.reshape(-1))
        return out

    @property
    def states(self) -> NDArray[np.uint8]:
        """All automaton states, clauses x literals: first "word k occurs", then "word k does not"."""
        out = np.empty((self.settings.n_clauses, 2 * self.index.n_words), dtype=np.uint8)
        self._native.states(out.reshape(-1))
        return out
