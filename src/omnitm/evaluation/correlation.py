"""Rank correlations and their bootstrap: all resamples at once, as weights of the same pairs.

Words are resampled, not pairs, because pairs share words and so are not independent. A pair counts as often
as the draws of its two words multiply to: the bootstrap of vertices of Snijders & Borgatti (1999,
"Non-parametric standard errors and tests for network statistics", Connections 22), which for rows and columns
is the pigeonhole bootstrap of Owen (2007, Annals of Applied Statistics 1). It errs towards wide intervals.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Weights = NDArray[np.float32]
Places = NDArray[np.intp]

_ROWS_AT_ONCE = 512  # bounds the memory of comparing all pairs with all


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


class Correlations(NamedTuple):
    """Spearman's rho and Kendall's tau-b of one sample, or of many resamples."""

    spearman: NDArray[np.float64]
    kendall: NDArray[np.float64]


def draw_counts(n_items: int, n_resamples: int, seed: int, stream: int = 0) -> Weights:
    """Draw as many items as there are with replacement: how often each is drawn, items x resamples.

    Draws of different streams are independent of each other.
    """
    # The bootstrap: n of n with replacement, as counts per item.
    random = np.random.default_rng([seed, n_items, stream])
    counts = random.multinomial(n_items, np.full(n_items, 1 / max(1, n_items)), size=n_resamples)
    return np.ascontiguousarray(counts.T, dtype=np.float32)


def pair_weights(draws: Weights, first: Places, second: Places) -> Weights:
    """Return how often each pair counts when its words are drawn so often: pairs x resamples.

    Parameters
    ----------
    draws
        How often each word is drawn, words x resamples.
    first, second
        The rows of `draws` that belong to the words of each pair; a word paired with itself counts once per
        draw.
    """
    # A pair counts once per way to draw both of its words: resampled are words, since pairs share them.
    weights = draws[first] * draws[second]
    alone = first == second
    weights[alone] = draws[first[alone]]
    return weights


class Judgements:
    """Human judgements under every resample: what all models are correlated with, prepared once.

    Parameters
    ----------
    judged
        A judgement per pair.
    weights
        How often each pair counts, pairs x resamples; None: one sample, each pair once.
    """

    def __init__(self, judged: Numbers, weights: Weights | None = None) -> None:
        self._weights = np.ones((len(judged), 1), dtype=np.float32) if weights is None else weights
        self._ranks = _CentredRanks(judged, self._weights)
        self._order = _dense_ranks(judged)

    def correlations(self, scores: Numbers) -> Correlations:
        """Correlate scores with the judgements: a number per resample, nan where all of either are equal."""
        ranks = _CentredRanks(scores, self._weights)
        covariance = np.einsum("ij,ij,ij->j", self._weights, ranks.of_pairs, self._ranks.of_pairs)
        # Spearman: Pearson's coefficient of mean ranks. Kendall's tau-b: concordant minus discordant, over
        # the geometric mean of the pairs that are not tied in the one and in the other.
        spearman = _ratio(covariance, np.sqrt(ranks.squares * self._ranks.squares))
        concordance = _concordance(_dense_ranks(scores), self._order, self._weights)
        kendall = _ratio(concordance, np.sqrt(ranks.n_untied * self._ranks.n_untied))
        return Correlations(spearman, kendall)


def correlations(scores: Numbers, judged: Numbers, weights: Weights | None = None) -> Correlations:
    """Correlate scores with judgements, once per column of weights, see `Judgements`."""
    return Judgements(judged, weights).correlations(scores)


def interval(values: Numbers, confidence: float = 0.95) -> Interval | None:
    """Take the middle share of bootstrap values; None without values."""
    usable = values[np.isfinite(values)]
    if len(usable) == 0:
        return None
    # The percentile interval: for 95 % from the 2.5th to the 97.5th percentile.
    low, high = np.quantile(usable, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(low), float(high))


class _CentredRanks:
    """Mean ranks of values that stand there as often as their weights say, minus the mean of all ranks.

    Attributes
    ----------
    of_pairs
        Pairs x resamples.
    squares
        Weighted sum of squared ranks per resample.
    n_untied
        Ordered pairs of pairs with different values, per resample.
    """

    def __init__(self, values: Numbers, weights: Weights) -> None:
        order = np.argsort(values, kind="stable")
        ordered = values[order]
        # Where each group of equal values begins; equal values share their mean rank.
        starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        sizes = weights[order].astype(np.float64)
        if len(starts) < len(values):
            sizes = np.add.reduceat(sizes, starts, axis=0)
        total = sizes.sum(axis=0)
        # ranks from 1/2 to total - 1/2 have the mean total / 2
        ranks = np.cumsum(sizes, axis=0) - sizes / 2 - total / 2
        self.of_pairs = ranks[np.unique(values, return_inverse=True)[1]]
        self.squares = np.einsum("ij,ij,ij->j", sizes, ranks, ranks)
        # Ordered pairs that differ: all n^2 less the sum of squares of the groups of ties.
        self.n_untied = total**2 - np.einsum("ij,ij->j", sizes, sizes)


def _dense_ranks(values: Numbers) -> Weights:
    """Rank values so that they compare as they do, in numbers that are exact in 32 bits."""
    return np.unique(values, return_inverse=True)[1].astype(np.float32)


def _concordance(scores: Weights, judged: Weights, weights: Weights) -> Numbers:
    """Count concordant minus discordant ordered pairs of pairs: the numerator of tau-b."""
    total = np.zeros(weights.shape[1])
    for start in range(0, len(scores), _ROWS_AT_ONCE):
        rows, rest = slice(start, start + _ROWS_AT_ONCE), slice(start, None)
        signs = np.sign(scores[rows, None] - scores[rest])
        signs *= np.sign(judged[rows, None] - judged[rest])
        signs[:, len(signs) :] *= 2  # pairs beyond the block are met once, but count in both orders
        total += np.einsum("ij,ij->j", signs @ weights[rest], weights[rows], dtype=np.float64)
    return total


def _ratio(above: Numbers, below: Numbers) -> Numbers:
    return np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0)
