"""Non-negative factorisation: rows of a sparse matrix as sums of a few patterns, with no subtraction.

`matrix` is about `weights @ patterns.T`, by least squares, and neither factor has negative numbers. One
column at a time is set to its best value given all others (hierarchical alternating least squares, Cichocki
& Phan 2009). That only needs the products of the matrix with the other factor, which are taken from its
strongest singular vectors (Zhou, Cichocki & Xie 2012): many rounds are cheap, and noise is left out. The
start is the non-negative part of these vectors (NNDSVD, Boutsidis & Gallopoulos 2008), so nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitm.similarity.truncated_svd import Decomposition, truncated_svd

Reals = NDArray[np.float32]

N_ROUNDS = 150  # first words of 100 themes that another seed has, too: 65 % after 20 rounds, 86 % after 150
_SWEEPS = 10  # over the columns, for weights with fixed patterns
_ROWS_AT_ONCE = 512  # with 200 patterns 400 KB, so that they stay in the cache
_SMALLEST = np.float32(1e-12)


def common_patterns(
    matrix: Any, n_patterns: int, n_rounds: int = N_ROUNDS, report: Callable[[int], object] | None = None
) -> Reals:
    """Find the patterns that rows are sums of: columns x patterns, each of length 1, the most used first.

    There are fewer than `n_patterns` if that many don't differ.

    Parameters
    ----------
    matrix
        scipy CSR, float32, without negative numbers.
    report
        Told the number of finished rounds.
    """
    found = truncated_svd(matrix, min(n_patterns, *matrix.shape))
    left: Reals = np.ascontiguousarray(found.left * found.singular)
    right: Reals = np.ascontiguousarray(found.right)
    weights, patterns = nonnegative_start(found)
    for done in range(n_rounds):
        _improve(patterns, right @ (left.T @ weights), weights.T @ weights)
        lengths = np.linalg.norm(patterns, axis=0)
        lengths[lengths == 0] = 1  # its weights stay, so that the pattern can come back in the next round
        patterns /= lengths
        weights *= lengths
        _improve(weights, left @ (right.T @ patterns), patterns.T @ patterns)
        if report is not None:
            report(done + 1)
    used = weights.sum(axis=0, dtype=np.float64) * (np.linalg.norm(patterns, axis=0) > 0)
    order = np.argsort(-used, kind="stable")
    return np.ascontiguousarray(patterns[:, order[used[order] > 0]])


def pattern_weights(matrix: Any, patterns: Reals) -> Reals:
    """Find how much of each pattern is in each row: rows x patterns, by least squares without negatives."""
    products = patterns.T @ patterns
    wanted = np.asarray(matrix @ patterns)
    weights: Reals = np.zeros_like(wanted)
    for _ in range(_SWEEPS):
        _improve(weights, wanted, products)
    return weights


def nonnegative_start(found: Decomposition) -> tuple[Reals, Reals]:
    """Take of each pair of singular vectors the half, positive or negative, that weighs more."""
    weights, patterns = (np.zeros(side.shape, dtype=np.float32) for side in (found.left, found.right))
    for k, singular in enumerate(found.singular):
        halves = [
            (np.maximum(sign * found.left[:, k], 0), np.maximum(sign * found.right[:, k], 0))
            for sign in (1, -1)
        ]
        # Boutsidis and Gallopoulos (2008): singular vectors have signs, and only one side can be kept.
        sizes = [float(np.linalg.norm(left) * np.linalg.norm(right)) for left, right in halves]
        left, right = halves[int(sizes[1] > sizes[0])]
        if max(sizes) > 0:
            # Weights and patterns share the strength of the component equally.
            scale = np.sqrt(singular * max(sizes))
            weights[:, k] = left * (scale / np.linalg.norm(left))
            patterns[:, k] = right * (scale / np.linalg.norm(right))
    return weights, patterns


def _improve(factor: Reals, wanted: Reals, products: Reals) -> None:
    """Set each column of a factor to its best value given the others, in place.

    `wanted` is the matrix times the other factor, `products` the other factor's columns with each other. Rows
    don't depend on each other, so some are finished before the next.
    """
    steps = 1 / np.maximum(products.diagonal(), _SMALLEST)
    for start in range(0, len(factor), _ROWS_AT_ONCE):
        part = np.ascontiguousarray(factor[start : start + _ROWS_AT_ONCE].T)
        aims = wanted[start : start + _ROWS_AT_ONCE].T
        for k, row in enumerate(part):
            np.maximum(row + steps[k] * (aims[k] - products[k] @ part), 0, out=row)
        factor[start : start + _ROWS_AT_ONCE] = part.T
