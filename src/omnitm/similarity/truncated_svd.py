"""Truncated singular value decomposition of sparse or dense matrices: large ones by random projections."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_OVERSAMPLING = 60
_ROUNDS = 3
_SHORT = 1_000  # rows or columns: up to here their products cost less than a sketch


class Decomposition(NamedTuple):
    """`matrix` is about `left * singular @ right.T`; columns in the order of their weight."""

    left: NDArray[np.float32]
    singular: NDArray[np.float32]
    right: NDArray[np.float32]


def truncated_svd(matrix: Any, n_components: int, seed: int = 0) -> Decomposition:
    """Decompose a dense or sparse matrix (Halko, Martinsson & Tropp 2011); one with a short side exactly.

    `left * singular` equals `matrix @ right`, so that other rows can be added by a product.
    """
    if min(matrix.shape) <= _SHORT:
        return _by_products(matrix, n_components)
    width = min(n_components + _OVERSAMPLING, *matrix.shape)
    random = np.random.default_rng(seed)
    basis = matrix.T @ random.standard_normal((matrix.shape[0], width), dtype=np.float32)
    basis = np.linalg.qr(basis)[0]
    for _ in range(_ROUNDS):
        # Power iterations sharpen the basis; without QR in between all columns would turn to the first
        # pattern.
        basis = np.linalg.qr(matrix @ basis)[0]
        basis = np.linalg.qr(matrix.T @ basis)[0]
    # The matrix within the basis is small and decomposed exactly; `turn` leads from the basis to the
    # patterns.
    left, singular, turn = np.linalg.svd(matrix @ basis, full_matrices=False)
    right = (basis @ turn.T)[:, :n_components]
    return Decomposition(left[:, :n_components], singular[:n_components], right)


def _by_products(matrix: Any, n_components: int) -> Decomposition:
    """Decompose a matrix through the products of its rows (or columns, if they are fewer): its Gram matrix.

    Squares lose half of the digits, so they are summed in float64; what is left of a singular value of 0 by
    rounding is at most 1e-7 of the largest one, and its columns are 0.
    """
    wide = matrix.shape[0] <= matrix.shape[1]
    rows = (matrix if wide else matrix.T).astype(np.float64)
    # M = U S V' gives M M' = U S^2 U': eigenvectors are U, eigenvalues the squares of S.
    products = rows @ rows.T
    squares, columns = np.linalg.eigh(products.toarray() if hasattr(products, "toarray") else products)
    squares, columns = squares[::-1][:n_components], columns[:, ::-1][:, :n_components]
    singular = np.sqrt(np.maximum(squares, 0))
    known = singular > 1e-7 * singular[:1]
    inverse = np.divide(1, singular, out=np.zeros_like(singular), where=known)
    # V = M' U / S; where S is 0 by rounding, V is set to 0.
    short, long = columns * known, (rows.T @ columns) * inverse
    left, right = (short, long) if wide else (long, short)
    return Decomposition(*(part.astype(np.float32) for part in (left, singular * known, right)))
