"""Rank correlations and their bootstrap: all resamples at once, as weights of the same pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Weights = NDArray[np.float32]

_ROWS_AT_ONCE = 1024


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


class Correlations(NamedTuple):
    """Spearman's rho and Kendall's tau-b of one sample, or of many resamples."""

    spearman: NDArray[np.float64]
    kendall: NDArray[np.float64]


def correlations(scores: Numbers, judged: Numbers, weights: Weights | None = None) -> Correlations:
    """Correlate scores with judgements, once per row of weights.

    Parameters
    ----------
    weights
        How often each pair counts, resamples x pairs; None: one sample, each pair once.

    Returns
    -------
    Arrays with a number per row of weights; nan where all scores or judgements are equal.
    """
    if weights is None:
        weights = np.ones((1, len(scores)), dtype=np.float32)
    return Correlations(_spearman(scores, judged, weights), _kendall(scores, judged, weights))


def resamples(n_pairs: int, n_resamples: int, seed: int) -> Weights:
    """Draw with replacement: how often each pair is in each resample."""
    random = np.random.default_rng([seed, n_pairs])
    counts = random.multinomial(n_pairs, np.full(n_pairs, 1 / max(1, n_pairs)), size=n_resamples)
    return counts.astype(np.float32)


def interval(values: Numbers, confidence: float = 0.95) -> Interval | None:
    """Take the middle share of bootstrap values; None without values."""
    usable = values[np.isfinite(values)]
    if len(usable) == 0:
        return None
    low, high = np.quantile(usable, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(low), float(high))


def _spearman(scores: Numbers, judged: Numbers, weights: Weights) -> Numbers:
    total = weights.sum(axis=1, dtype=np.float64)
    ranks = [
        rank - ((rank * weights).sum(axis=1) / np.maximum(total, 1))[:, None]
        for rank in (_weighted_ranks(values, weights) for values in (scores, judged))
    ]
    covariance = (weights * ranks[0] * ranks[1]).sum(axis=1)
    spread = np.sqrt((weights * ranks[0] ** 2).sum(axis=1) * (weights * ranks[1] ** 2).sum(axis=1))
    return _ratio(covariance, spread)


def _weighted_ranks(values: Numbers, weights: Weights) -> Numbers:
    """Mean rank of every value when each value stands there as often as its weight says."""
    order, starts, group = _ties(values)
    sizes = np.add.reduceat(weights[:, order].astype(np.float64), starts, axis=1)
    means = np.cumsum(sizes, axis=1) - sizes / 2
    return means[:, group]


def _kendall(scores: Numbers, judged: Numbers, weights: Weights) -> Numbers:
    """Tau-b: concordant minus discordant pairs of pairs, by products of signs."""
    concordance = np.zeros(len(weights))
    exact, judged_exact = _ranked(scores), _ranked(judged)
    for start in range(0, len(scores), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        signs = np.sign(exact[rows, None] - exact)
        signs *= np.sign(judged_exact[rows, None] - judged_exact)
        concordance += ((weights @ signs.T) * weights[:, rows]).sum(axis=1, dtype=np.float64)
    return _ratio(concordance, np.sqrt(_untied(scores, weights) * _untied(judged, weights)))


def _ranked(values: Numbers) -> Weights:
    """Dense ranks: comparable like the values, and exact in 32 bits."""
    return np.unique(values, return_inverse=True)[1].astype(np.float32)


def _untied(values: Numbers, weights: Weights) -> Numbers:
    """Count ordered pairs with different values."""
    order, starts, _ = _ties(values)
    sizes = np.add.reduceat(weights[:, order].astype(np.float64), starts, axis=1)
    untied: Numbers = sizes.sum(axis=1) ** 2 - (sizes**2).sum(axis=1)
    return untied


def _ties(values: Numbers) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Sorting order, where groups of equal values start in it, and the group of each value."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    group = np.unique(values, return_inverse=True)[1]
    return order, starts, group


def _ratio(above: Numbers, below: Numbers) -> Numbers:
    return np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0)
