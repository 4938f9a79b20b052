"""How likely a change is by chance: the groups of a word's documents are shuffled many times.

By each kind of features (see `features.py`) a document is a point; v is how far the middle of the word's
documents is moved from one side to the other,

    v = mean of points on side 1  -  mean of points on side 0,

a weighted sum of documents, hence of their features: with x_f the weights of the documents that have
feature f and W_f its direction, v = sum of x_f W_f. The change of a kind is |v|^2 = sum of x_f (W_f . v), in
units of its deviation over shuffled groups; the change is the sum over kinds, so every feature has a share of
it. If the groups mean nothing, all arrangements are equally likely, and p is exact.

Coordinates of points are rounded to whole steps, of which sums are exact whatever their order: the result is
the same on every processor and for any number of threads that multiply matrices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import bdtr

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from omnitm.comparison.features import Thinned

_AT_A_TIME = 250  # arrangements
_STEPS = 2**12  # of a coordinate up to 1: sums over 4,000 documents stay below 2**24, exact in float32
_TINY = 1e-30
_MOST = 5  # deviations


class ShuffleTest:
    """The change of a word between two sides, against changes of shuffled ones.

    Parameters
    ----------
    kinds
        The documents by each kind of features: those of side 0, then those of side 1.
    directions
        Per kind: features x directions.
    key
        Seed of the shuffling.

    Attributes
    ----------
    change
        The sum over kinds of |v|^2, each in units of its deviation over shuffled groups.
    strength
        How far the change is above the mean of shuffled ones, in deviations of them.
    distance
        How far the middle of the documents has moved, beyond what shuffling moves it: the square root of the
        mean over kinds. Points have length 1, so that it is at most 2, and does not grow with the documents.
    p
        Share of arrangements, the groups themselves counted, with at least this change.
    differences, shares, reasons
        Per kind and feature: x_f; its part of the change (they add up to 1); and how telling it is: its
        `surprise` times how far features like it have moved (W_f . v in deviations over shuffled groups, at
        most 5); 0 if the two disagree.
    """

    def __init__(
        self,
        kinds: Sequence[Thinned],
        directions: Sequence[NDArray[np.float32]],
        n_permutations: int,
        key: int,
    ) -> None:
        self._kinds, self._key, self._n = kinds, key, n_permutations
        points = [np.rint(kind.points * _STEPS) for kind in kinds]
        parts = [[on_second @ steps for steps in points] for on_second in self._arrangements()]
        moved = [
            self._movements(np.concatenate(sums).astype(np.float64), steps.sum(axis=0, dtype=np.float64))
            for sums, steps in zip(zip(*parts, strict=True), points, strict=True)
        ]
        squares = [np.square(v).sum(axis=1) for v in moved]
        # Row 0 is the groups' own arrangement, the others are shuffled.
        units = [max(float(found[1:].std()), _TINY) for found in squares]
        changes = np.sum([found / unit for found, unit in zip(squares, units, strict=True)], axis=0)
        self.change = float(changes[0])
        self.strength = float((changes[0] - changes[1:].mean()) / max(float(changes[1:].std()), _TINY))
        beyond = np.mean([max(float(found[0] - found[1:].mean()), 0.0) for found in squares])
        self.distance = float(np.sqrt(beyond))
        # The own arrangement counts itself, so p is at least 1 / (n + 1), and exact if groups mean nothing.
        self.p = float((changes >= changes[0] * (1 - 1e-5)).mean())
        own = np.repeat(np.array([-1, 1] / kinds[0].sizes), kinds[0].sizes)
        self.differences, self.shares, self.reasons = [], [], []
        for kind, rows, v, unit in zip(kinds, directions, moved, units, strict=True):
            x = np.asarray(kind.rows.T @ own, dtype=np.float64)
            seen = np.flatnonzero(kind.counts.any(axis=0))  # a few thousand of all features
            along, deviations = np.zeros(len(rows)), np.ones(len(rows))
            some = rows[seen].astype(np.float64)
            along[seen] = (some * v[0]).sum(axis=1)
            # d' C d for each direction d, with the covariance C of shuffled movements, whose mean is 0.
            variances = ((some @ (v[1:].T @ v[1:] / (len(v) - 1))) * some).sum(axis=1)
            deviations[seen] = np.sqrt(np.maximum(variances, _TINY))
            agreement = np.clip(along / deviations, -_MOST, _MOST)
            self.differences.append(x)
            self.shares.append(x * along / unit / max(self.change, _TINY))
            self.reasons.append(np.where(x * along > 0, np.maximum(surprise(kind) * agreement, 0), 0))

    def _movements(self, second: NDArray[np.float64], total: NDArray[np.float64]) -> NDArray[np.float64]:
        """Difference of the means in every arrangement, from the sums on side 1 and over both sides."""
        n_first, n_second = self._kinds[0].sizes.tolist()
        return np.asarray((second / n_second - (total - second) / n_first) / _STEPS)

    def _arrangements(self) -> Iterator[NDArray[np.float32]]:
        """Yield which documents are on side 1, some arrangements at a time; the groups' own first."""
        random = np.random.default_rng(self._key)
        own = np.repeat(np.array([0, 1], dtype=np.float32), self._kinds[0].sizes)
        for start in range(0, self._n + 1, _AT_A_TIME):
            drawn = random.permuted(np.tile(own, (min(_AT_A_TIME, self._n + 1 - start), 1)), axis=1)
            if start == 0:
                drawn[0] = own
            yield drawn


def surprise(found: Thinned) -> NDArray[np.float64]:
    """How unlikely the documents of a feature are shared out so by chance, in deviations; below 0: lost.

    Of k documents that have it, each is on side 1 with the chance that the frequencies without the word give:
    the signed root of the log-likelihood ratio (Dunning 1993).
    """
    counts = found.counts.astype(np.float64)
    usual = found.sizes[:, None] * found.anyway
    expected = counts.sum(axis=0) * usual / usual.sum(axis=0)
    ratio = np.log(np.maximum(counts, 1) / np.maximum(expected, _TINY))
    # G = 2 sum of n log(n / expected); its root is about normal with deviation 1.
    likelihood = 2 * np.where(counts > 0, counts * ratio, 0).sum(axis=0)
    return np.asarray(np.sqrt(np.maximum(likelihood, 0)) * np.sign(counts[1] - expected[1]))


def chance(found: Thinned, feature: int) -> float:
    """How often the documents of a feature would be shared out as unevenly by chance: two-sided, binomial."""
    first, second = found.counts[:, feature].tolist()
    usual = found.sizes * found.anyway[:, feature]
    of_second = float(usual[1] / usual.sum())
    as_few, as_many = bdtr(second, first + second, of_second), bdtr(first, first + second, 1 - of_second)
    return float(min(1.0, 2 * min(as_few, as_many)))
