"""How likely a change is by chance: the groups of a word's documents are shuffled many times.

A document is a point: the sum of the directions of its words, at length 1. On a side the word's documents lie
elsewhere than the others; v is how much this differs between the sides,

    v = (mean of positives - mean of negatives) of side 1  -  the same of side 0,

a weighted sum of documents, hence of their words: with x_f the weights of the documents that have feature f
and W_f its direction, v = sum of x_f W_f. The change is |v|^2 = sum of x_f (W_f . v), so every feature has a
share of it. Shuffling moves positives among positives and negatives among negatives; if the groups mean
nothing, all arrangements are equally likely, and p is exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from omnitm.comparison.machines import Drawn

_AT_A_TIME = 250  # arrangements


class ShuffleTest:
    """The change of a word between two sides, against changes of shuffled ones.

    Parameters
    ----------
    directions
        features x directions.
    key
        Seed of the shuffling.

    Attributes
    ----------
    change
        |v|^2 of the groups as they are.
    strength
        How far it is above the mean of shuffled ones, in deviations of them.
    p
        Share of arrangements, the groups themselves counted, with at least this change.
    differences
        Per feature: x_f.
    shares
        Per feature: its part of the change; they add up to 1.
    """

    def __init__(self, drawn: Drawn, directions: NDArray[np.float32], n_permutations: int, key: int) -> None:
        self._drawn, self._key, self._n = drawn, key, n_permutations
        directions = directions.copy()
        directions[drawn.own] = 0  # every document of the word has it
        documents = drawn.documents
        ones = np.ones(len(documents.words), dtype=np.float32)
        shape = len(documents.ends) - 1, len(drawn.features)
        features = csr_matrix((ones, documents.words.astype(np.int32), documents.ends), shape=shape)
        points = features @ directions
        lengths = np.maximum(np.linalg.norm(points, axis=1), 1e-12).astype(np.float32)
        points /= lengths[:, None]
        self._features = features.multiply(1 / lengths[:, None]).tocsc()
        changes = np.concatenate([np.square(part @ points).sum(axis=1) for part in self._weights()])
        first = next(self._weights())[0]
        moved = first @ points
        self.change = float(changes[0])
        self.strength = float((changes[0] - changes[1:].mean()) / max(float(changes[1:].std()), 1e-30))
        self.p = float((changes >= changes[0] * (1 - 1e-5)).mean())
        self.differences = self._features.T @ first
        self.shares = self.differences * (directions @ moved) / max(self.change, 1e-30)

    def p_of(self, features: NDArray[np.int64]) -> NDArray[np.float64]:
        """How often shuffled groups change a feature at least as much, up or down."""
        columns = self._features[:, features]
        found = np.concatenate([np.abs(columns.T @ part.T).T for part in self._weights()])
        return np.asarray((found >= found[0] * (1 - 1e-5)).mean(axis=0))

    def _weights(self) -> Iterator[NDArray[np.float32]]:
        """Yield weights of the documents in every arrangement, some at a time; the groups' own first."""
        drawn = self._drawn
        random = np.random.default_rng(self._key)
        positives = np.repeat(np.array([-1, 1], dtype=np.float32) / np.float32(drawn.n), drawn.n)
        others = np.repeat(np.array([1, -1], dtype=np.float32) / np.float32(drawn.m), drawn.m)
        for start in range(0, self._n + 1, _AT_A_TIME):
            count = min(_AT_A_TIME, self._n + 1 - start)
            rows = [random.permuted(np.tile(part, (count, 1)), axis=1) for part in (positives, others)]
            weights = np.concatenate(rows, axis=1)
            if start == 0:
                weights[0] = np.concatenate([positives, others])
            yield weights
