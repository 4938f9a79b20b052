"""Truncated singular value decomposition of sparse or dense matrices: large ones by random projections."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from omnitm import _native
from omnitm.files import available_cores

_OVERSAMPLING = 60
_ROUNDS = 3
_SHORT = 1_000  # rows or columns: up to here their products cost less than a sketch
_LEAST_SQUARE = 1e-6  # of the largest one: eigenvalues below are rounding of float32


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


def patterns_of_rows(rows: Any, n_components: int, seed: int = 0) -> Decomposition:
    """Decompose a sparse matrix of float32, as `truncated_svd` does but sooner.

    All bases have as many rows as M, and a round of power iterations is M (M' Q). Results do not depend on
    the number of threads; `left` and `right` are orthogonal as far as float32 has it, and patterns below a
    thousandth of the strongest are left out.
    """
    if min(rows.shape) <= _SHORT:
        return _by_products(rows, n_components)
    width = min(n_components + _OVERSAMPLING, *rows.shape)
    columns = rows.T.tocsr()

    def moved_by(basis: NDArray[np.float32]) -> NDArray[np.float32]:
        return sparse_products(rows, sparse_products(columns, basis))

    basis = np.random.default_rng(seed).standard_normal((rows.shape[0], width), dtype=np.float32)
    for _ in range(_ROUNDS):
        basis = _orthogonal(moved_by(basis))
    # T makes the columns of M' Q orthogonal, where Q is the basis: T' (Q' M M' Q) T = 1.
    moved = moved_by(basis)
    turn = _orthogonaliser(_column_products(basis, moved))
    basis, moved = dense_products(basis, turn), dense_products(moved, turn)
    # M is decomposed exactly within these: M (M' Q T) = (M M') Q T.
    eigenvectors = _column_products(moved, moved)
    squares = np.empty(width)
    _native.symmetric_eigenvectors(eigenvectors, squares)
    kept = np.flatnonzero(squares > _LEAST_SQUARE * squares[-1])[::-1][:n_components]
    singular = np.sqrt(squares[kept]).astype(np.float32)
    patterns = np.ascontiguousarray(eigenvectors[kept].T.astype(np.float32))
    left = dense_products(moved, patterns) / singular
    return Decomposition(left, singular, sparse_products(columns, dense_products(basis, patterns)))


def strongest_directions(rows: NDArray[np.float32], n_components: int) -> NDArray[np.float32]:
    """Return the orthogonal directions along which dense rows are longest, as columns, the longest first.

    They are the `right` of a decomposition, exact, and do not depend on the number of threads.
    """
    eigenvectors = _column_products(rows, rows)
    _native.symmetric_eigenvectors(eigenvectors, np.empty(len(eigenvectors)))
    return np.ascontiguousarray(eigenvectors[::-1][:n_components].T.astype(np.float32))


def sparse_products(rows: Any, dense: NDArray[np.float32]) -> NDArray[np.float32]:
    """Multiply a sparse matrix of float32, by rows, with a dense one."""
    starts, columns, values = _arrays(rows)
    found = np.empty((rows.shape[0], dense.shape[1]), dtype=np.float32)
    dense = np.ascontiguousarray(dense)

    def multiply(part: slice) -> None:
        bounds = starts[part.start : part.stop + 1]
        # What belongs to these rows, so that no more is checked.
        used = slice(int(bounds[0]), int(bounds[-1]))
        _native.sparse_products(bounds - bounds[0], columns[used], values[used], dense, found[part])

    in_parts(rows.shape[0], multiply, 2 * available_cores())
    return found


def dense_products(matrix: NDArray[np.float32], other: NDArray[np.float32]) -> NDArray[np.float32]:
    """Multiply two matrices; unlike numpy's product, the result does not depend on the number of threads."""
    found = np.empty((len(matrix), other.shape[1]), dtype=np.float32)
    in_parts(
        len(matrix), lambda part: _native.dense_products(matrix[part], other, found[part]), available_cores()
    )
    return found


def in_parts(size: int, work: Callable[[slice], object], n_parts: int = 32) -> None:
    """Call a function, which must not hold the interpreter, for parts of a range, by all cores."""
    from concurrent.futures import ThreadPoolExecutor  # here, since most who ask for neighbours need none

    edges = [size * k // n_parts for k in range(n_parts + 1)]
    parts = [slice(start, stop) for start, stop in pairwise(edges) if start < stop]
    with ThreadPoolExecutor(available_cores()) as threads:
        list(threads.map(work, parts))


def _arrays(rows: Any) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """Return starts, columns and values of a sparse matrix."""
    return (
        rows.indptr.astype(np.int64, copy=False),
        rows.indices.astype(np.int32, copy=False),
        rows.data.astype(np.float32, copy=False),
    )


def _column_products(left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float64]:
    """Multiply the columns of two matrices with each other: left' right."""
    rows = np.ascontiguousarray(left.T)
    found = np.empty((len(rows), right.shape[1]))
    in_parts(
        len(rows), lambda part: _native.dense_products(rows[part], right, found[part]), available_cores()
    )
    return found


def _orthogonaliser(products: NDArray[np.float64]) -> NDArray[np.float32]:
    """Find T so that the columns of Y T are orthogonal and of length 1, given Y' Y (Cholesky's way)."""
    turn = np.empty_like(products)
    _native.orthogonaliser(products, turn)
    return turn.astype(np.float32)


def _orthogonal(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    return dense_products(matrix, _orthogonaliser(_column_products(matrix, matrix)))
