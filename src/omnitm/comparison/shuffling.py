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

Features are counted in shuffled groups, too: of those that are at least as telling as a feature, the share
that chance gives is its q (the false discovery rate of Benjamini & Hochberg 1995, with a counted number).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from omnitm.comparison.features import Thinned

_AT_A_TIME = 250  # arrangements
_STEPS = 2**12  # of a coordinate up to 1: sums over 4,000 documents stay below 2**24, exact in float32
_TINY = 1e-30
_MOST = 5  # deviations
_LEAST_SUPPORT = 0.005  # of a side's documents have a feature that is a reason there
_LEAST_SURPRISE = 1.3  # deviations: two documents against none have 1.7, one has 1.2
_COUNTED = 50  # shuffled groups in which features are counted


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
        most 5); 0 if the two disagree, if it is hardly surprising, or if too few documents have it.
    expected, levels
        Per kind and feature: how many features of its kind and side have at least its reason in shuffled
        groups, on average; and its q.
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
        parts: list[list[NDArray[np.float32]]] = []
        drawn = np.zeros((0, 0), dtype=np.float32)
        for on_second in self._arrangements():
            drawn = drawn if parts else on_second[1 : _COUNTED + 1].copy()
            parts.append([on_second @ steps for steps in points])
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
        self.differences, self.shares, self.reasons, self.expected, self.levels = [], [], [], [], []
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
            reasons = np.where(x * along > 0, _reasons(surprise(kind), agreement, kind.counts, kind.sizes), 0)
            agreements = np.clip(v[1 : len(drawn) + 1] @ some.T / deviations[seen], -_MOST, _MOST)
            by_chance = _by_chance(kind, seen, drawn, agreements)
            expected, levels = false_discoveries(reasons, np.sign(x), by_chance, len(drawn))
            self.differences.append(x)
            self.shares.append(x * along / unit / max(self.change, _TINY))
            self.reasons.append(reasons)
            self.expected.append(expected)
            self.levels.append(levels)

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

    Of k documents that have it, each is on side 1 with the chance that the frequencies without the word give.
    """
    return _surprise(found.counts.astype(np.float64), found.sizes[:, None] * found.anyway)


def _surprise(counts: NDArray[np.float64], usual: NDArray[np.float64]) -> NDArray[np.float64]:
    """Signed root of the log-likelihood ratio (Dunning 1993); sides come first."""
    expected = counts.sum(axis=0) * usual / usual.sum(axis=0)
    ratio = np.log(np.maximum(counts, 1) / np.maximum(expected, _TINY))
    # G = 2 sum of n log(n / expected); its root is about normal with deviation 1.
    likelihood = 2 * np.where(counts > 0, counts * ratio, 0).sum(axis=0)
    return np.asarray(np.sqrt(np.maximum(likelihood, 0)) * np.sign(counts[1] - expected[1]))


def _reasons(
    surprises: NDArray[np.float64],
    agreement: NDArray[np.float64],
    counts: NDArray[Any],
    sizes: NDArray[np.int64],
) -> NDArray[np.float64]:
    """How telling features are; 0 where the two disagree, or by what their documents do not bear out."""
    enough = np.where(
        surprises > 0, counts[1] >= _LEAST_SUPPORT * sizes[1], counts[0] >= _LEAST_SUPPORT * sizes[0]
    )
    is_surprising = np.abs(surprises) >= _LEAST_SURPRISE
    return np.where(enough & is_surprising, np.maximum(surprises * agreement, 0), 0)


def _by_chance(
    kind: Thinned, seen: NDArray[np.int64], drawn: NDArray[np.float32], agreements: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Reasons in shuffled groups, those above 0 and ascending: of gained features, and of lost ones."""
    has = kind.present[:, seen]
    has.data = np.ones_like(has.data)
    second = np.asarray(has.T @ drawn.T, dtype=np.float64).T
    counts = np.stack([kind.counts[:, seen].sum(axis=0) - second, second])
    surprises = _surprise(counts, kind.sizes[:, None, None].astype(np.float64))
    found = _reasons(surprises, agreements, counts, kind.sizes)
    return np.sort(found[(found > 0) & (surprises > 0)]), np.sort(found[(found > 0) & (surprises < 0)])


def false_discoveries(
    reasons: NDArray[np.float64],
    signs: NDArray[np.float64],
    by_chance: tuple[NDArray[np.float64], NDArray[np.float64]],
    n_drawn: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How many features chance gives with at least a feature's reason, and the share of those that have it.

    Examples
    --------
    In two shuffled groups, two features have a reason from 3 on: one is expected, of two that are found.

    >>> reasons, signs = np.array([5.0, 3.0, 0.0]), np.array([1.0, 1.0, 1.0])
    >>> expected, levels = false_discoveries(reasons, signs, (np.array([1.0, 3.0, 4.0]), np.zeros(0)), 2)
    >>> expected.tolist(), levels.tolist()
    ([0.0, 1.0, 1.5], [0.0, 0.5, 1.0])
    """
    expected, levels = np.zeros(len(reasons)), np.ones(len(reasons))
    for sign, values in zip((1, -1), by_chance, strict=True):
        side = signs == sign
        expected[side] = (len(values) - np.searchsorted(values, reasons[side])) / n_drawn
        some = np.flatnonzero(side & (reasons > 0))
        order = some[np.argsort(-reasons[some], kind="stable")]
        shares = expected[order] / np.arange(1, len(order) + 1)
        levels[order] = np.minimum.accumulate(shares[::-1])[::-1].clip(max=1)
    return expected, levels


def chance(found: Thinned, feature: int) -> float:
    """How often the documents of a feature would be shared out as unevenly by chance: two-sided, binomial."""
    first, second = found.counts[:, feature].tolist()
    usual = found.sizes * found.anyway[:, feature]
    of_second = float(usual[1] / usual.sum())
    as_few, as_many = bdtr(second, first + second, of_second), bdtr(first, first + second, 1 - of_second)
    return float(min(1.0, 2 * min(as_few, as_many)))
