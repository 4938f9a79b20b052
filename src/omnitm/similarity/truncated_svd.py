"""Truncated singular value decomposition of large sparse or dense matrices, by random projections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_OVERSAMPLING = 60
_ROUNDS = 3


class Decomposition(NamedTuple):
    """`matrix` is about `left * singular @ right.T`; columns in the order of their weight."""

    left: NDArray[np.float32]
    singular: NDArray[np.float32]
    right: NDArray[np.float32]


def truncated_svd(matrix: Any, n_components: int, seed: int = 0) -> Decomposition:
    """Decompose a dense or sparse matrix (Halko, Martinsson & Tropp 2011).

    `left * singular` equals `matrix @ right` exactly, so that other rows can be added by a product.
    """
    random = np.random.default_rng(seed)
    width = min(n_components + _OVERSAMPLING, *matrix.shape)
    basis = matrix.T @ random.standard_normal((matrix.shape[0], width), dtype=np.float32)
    basis = np.linalg.qr(basis)[0]
    for _ in range(_ROUNDS):
        basis = np.linalg.qr(matrix @ basis)[0]
        basis = np.linalg.qr(matrix.T @ basis)[0]
    left, singular, turn = np.linalg.svd(matrix @ basis, full_matrices=False)
    right = (basis @ turn.T)[:, :n_components]
    return Decomposition(left[:, :n_components], singular[:n_components], right)
