"""The native bank of clauses that several words share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from omnitm import _native
from omnitm.machine.autoencoder import corpus_arrays, damage_named, native_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex
    from omnitm.machine.settings import AutoencoderSettings


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
