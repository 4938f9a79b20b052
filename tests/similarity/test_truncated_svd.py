from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

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
