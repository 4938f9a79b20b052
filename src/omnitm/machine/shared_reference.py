"""The classic TM-AE, slow and obvious: several words share one bank of clauses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from omnitm.machine.draws import Purpose, draw
from omnitm.machine.reference import ReferenceAutoencoder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex
    from omnitm.machine.settings import AutoencoderSettings


class _Member(ReferenceAutoencoder):
    """One word: draws and weights of its own, the states of all."""

    bank: ReferenceSharedAutoencoder

    def passes(self, gate: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Decide by the mean magnitude of a clause's weights over all words, without rounding."""
        count, threshold = len(self.bank.members), self.settings.threshold
        sums = np.abs(self.bank.weights.astype(np.int64)).sum(axis=0)
        passes: NDArray[np.bool_] = gate * count < threshold * count - np.minimum(sums, threshold * count)
        return passes


class ReferenceSharedAutoencoder:
    """A bank of clauses that learns several target words in turn.

    Draws of a word come from its own key, as in a machine of its own; the first weights, the same for all
    words, and the order of the words come from `key`.
    """

    def __init__(
        self,
        index: DocumentIndex,
        settings: AutoencoderSettings,
        targets: Sequence[int],
        keys: Sequence[int],
        key: int,
        *,
        negated_literals: bool = True,
    ) -> None:
        self.settings, self.key = settings, key
        first = ReferenceAutoencoder(index, settings, targets[0], key)
        self.states = first.states
        self.members = []
        for target, own_key in zip(targets, keys, strict=True):
            member = _Member(index, settings, target, own_key, negated_literals=negated_literals)
            member.bank, member.states, member.weights = self, self.states, first.weights.copy()
            self.members.append(member)

    @property
    def weights(self) -> NDArray[np.int32]:
        """Clause weights, words x clauses."""
        return np.array([member.weights for member in self.members])

    def train(self) -> ReferenceSharedAutoencoder:
        """Show every word all of its examples, one at a time, in an order that changes."""
        for example in range(self.settings.total_examples):
            for row in self.order(example):
                member = self.members[row]
                label, literals = member.prepare(example)
                member.learn(example, label, literals)
        return self

    def order(self, example: int) -> list[int]:
        """Shuffle the words."""
        count = len(self.members)
        bits = draw(self.key, Purpose.ORDER, example * count, count).tolist()
        order = list(range(count))
        for k in range(count - 1, 0, -1):
            other = (bits[k] * (k + 1)) >> 64
            order[k], order[other] = order[other], order[k]
        return order
