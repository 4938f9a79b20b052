from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from omnitm import _native
from omnitm.similarity import truncated_svd


def low_rank(n_rows: int, n_columns: int, rank: int = 5) -> np.ndarray:
    random = np.random.default_rng(3)
    left, right = random.standard_normal((n_rows, rank)), random.standard_normal((rank, n_columns))
    return (left * 0.5 ** np.arange(rank) @ right).astype(np.float32)


@pytest.mark.parametrize("short", [truncated_svd._SHORT, 0], ids=["by products", "by sketch"])
@pytest.mark.parametrize("shape", [(40, 300), (300, 40)], ids=["wide", "high"])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_products_of_the_parts_are_the_matrix(
    shape: tuple[int, int], make: type, short: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(truncated_svd, "_SHORT", short)
    matrix = low_rank(*shape)
    found = truncated_svd.truncated_svd(make(matrix), 5)
    np.testing.assert_allclose(found.left * found.singular @ found.right.T, matrix, atol=1e-3)
    np.testing.assert_allclose(matrix @ found.right, found.left * found.singular, atol=1e-3)
    np.testing.assert_allclose(found.singular, np.linalg.svd(matrix, compute_uv=False)[:5], rtol=1e-4)


def test_what_the_matrix_has_not_is_zero_and_never_unknown() -> None:
    found = truncated_svd.truncated_svd(low_rank(30, 50, rank=2), 4)
    np.testing.assert_array_equal(found.singular[2:], 0)
    assert np.isfinite(found.left).all()
    assert np.isfinite(found.right).all()
    assert not truncated_svd.truncated_svd(np.zeros((3, 4), np.float32), 2).right.any()


def sparse_rows(n_rows: int, n_columns: int, density: float = 0.05) -> sparse.csr_matrix:
    random = np.random.default_rng(4)
    found = sparse.random(n_rows, n_columns, density, format="csr", dtype=np.float32, random_state=random)
    # Rows of ten kinds, so that some patterns are stronger than others.
    kinds = sparse.csr_matrix((random.random((10, n_columns)) < 0.02).astype(np.float32))
    return (found + kinds[random.integers(0, 10, n_rows)] * np.float32(0.5)).tocsr()


def test_patterns_of_rows_are_those_of_the_sketch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(truncated_svd, "_SHORT", 0)
    rows = sparse_rows(300, 2500)
    found, sketch = truncated_svd.patterns_of_rows(rows, 20), truncated_svd.truncated_svd(rows, 20)
    np.testing.assert_allclose(found.singular, sketch.singular, rtol=1e-5)
    # Each pattern may have the other sign.
    np.testing.assert_allclose(np.abs((found.right * sketch.right).sum(axis=0))[:10], 1, atol=1e-4)
    np.testing.assert_allclose(found.right.T @ found.right, np.eye(20), atol=1e-5)
    np.testing.assert_allclose(rows @ found.right, found.left * found.singular, atol=1e-5)


def test_patterns_that_rows_do_not_have_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(truncated_svd, "_SHORT", 0)
    rows = sparse.csr_matrix(np.abs(low_rank(40, 90, rank=1)))
    found = truncated_svd.patterns_of_rows(rows, 4)
    assert found.right.shape == (90, 1)
    np.testing.assert_allclose(found.left * found.singular @ found.right.T, rows.toarray(), rtol=1e-4)


def test_few_rows_are_decomposed_through_their_products() -> None:
    rows = sparse_rows(40, 90)
    assert np.array_equal(
        truncated_svd.patterns_of_rows(rows, 5).right, truncated_svd.truncated_svd(rows, 5).right
    )


def test_threads_do_not_change_a_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(truncated_svd, "_SHORT", 0)
    rows, found = sparse_rows(301, 2500), []
    for n_threads in (1, 2, 5):
        monkeypatch.setattr(truncated_svd, "available_cores", lambda n=n_threads: n)
        found.append(b"".join(part.tobytes() for part in truncated_svd.patterns_of_rows(rows, 33)))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("width", [1, 63, 64, 130])
def test_products_of_sparse_rows(width: int) -> None:
    rows = sparse_rows(71, 5000)
    dense = np.random.default_rng(5).random((5000, width), dtype=np.float32)
    np.testing.assert_allclose(truncated_svd.sparse_products(rows, dense), rows @ dense, rtol=1e-5)


@pytest.mark.parametrize("shape", [(1, 1, 1), (6, 256, 16), (7, 257, 17), (100, 600, 50)])
def test_products_of_dense_matrices(shape: tuple[int, int, int]) -> None:
    random = np.random.default_rng(6)
    left, right = (random.random(size, dtype=np.float32) for size in (shape[:2], shape[1:]))
    np.testing.assert_allclose(truncated_svd.dense_products(left, right), left @ right, rtol=1e-5)


@pytest.mark.parametrize("size", [1, 2, 3, 50])
def test_eigenvectors(size: int) -> None:
    matrix = np.random.default_rng(7).standard_normal((size, size))
    matrix += matrix.T
    vectors, values = matrix.copy(), np.empty(size)
    _native.symmetric_eigenvectors(vectors, values)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(matrix), atol=1e-12)
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(size), atol=1e-12)
    np.testing.assert_allclose(matrix @ vectors.T, vectors.T * values, atol=1e-12)


def test_eigenvectors_of_a_matrix_that_is_diagonal_already() -> None:
    vectors, values = np.diag([3.0, 1.0, 1.0, 0.0]), np.empty(4)
    _native.symmetric_eigenvectors(vectors, values)
    assert values.tolist() == [0, 1, 1, 3]
    assert np.abs(vectors).tolist() == np.eye(4)[[3, 1, 2, 0]].tolist()


def test_columns_that_add_nothing_are_left_out_by_the_orthogonaliser() -> None:
    columns = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0], [1.0, 2.0, 4.0]])
    turn = np.empty((3, 3))
    _native.orthogonaliser(columns.T @ columns, turn)
    found = columns @ turn
    np.testing.assert_allclose(found.T @ found, np.diag([1, 0, 1]), atol=1e-12)


def test_wrong_arguments_of_products() -> None:
    starts, columns, values = np.array([0, 2]), np.array([0, 2], np.int32), np.ones(2, np.float32)
    dense, found = np.ones((3, 2), np.float32), np.zeros((1, 2), np.float32)
    _native.sparse_products(starts, columns, values, dense, found)
    assert found.tolist() == [[2, 2]]
    with pytest.raises(ValueError, match="every column needs a value"):
        _native.sparse_products(starts, columns, values[:1], dense, found)
    with pytest.raises(ValueError, match="leads out of the columns"):
        _native.sparse_products(starts + 1, columns, values, dense, found)
    with pytest.raises(ValueError, match="there is no such column"):
        _native.sparse_products(starts, columns, values, dense[:2], found)
    with pytest.raises(ValueError, match="columns must ascend in a row"):
        _native.sparse_products(starts, np.array([2, 0], np.int32), values, dense, found)
    with pytest.raises(ValueError, match="place for its products"):
        _native.sparse_products(starts, columns, values, dense, found[:0])
    with pytest.raises(ValueError, match="a row per column"):
        _native.dense_products(dense, dense, np.zeros((3, 2), np.float32))
    with pytest.raises(ValueError, match="a place per row and column"):
        _native.dense_products(dense, dense.T.copy(), found)
    with pytest.raises(ValueError, match="square and alike"):
        _native.orthogonaliser(np.eye(2), np.eye(3))
    with pytest.raises(ValueError, match="must be square"):
        _native.symmetric_eigenvectors(np.eye(2), np.zeros(3))
