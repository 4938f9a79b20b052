from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omnitm import _native
from omnitm.embedding.dots import row_dots, row_lengths


@settings(max_examples=60, deadline=None)
@given(
    n_rows=st.integers(0, 11),
    n_columns=st.integers(0, 2100),
    largest=st.sampled_from([1, 255, 2000, 32_767]),
    seed=st.integers(0, 1000),
)
def test_integers_are_exact(n_rows: int, n_columns: int, largest: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    matrix = random.integers(-largest, largest + 1, (n_rows, n_columns), dtype=np.int16)
    query = random.integers(-largest, largest + 1, n_columns, dtype=np.int16)
    lengths = row_lengths(matrix)
    exact = matrix.astype(np.int64)
    assert lengths.largest == (np.abs(exact).max() if exact.size else 0)
    assert np.array_equal(lengths.norms, np.sqrt((exact * exact).sum(axis=1)))
    assert np.array_equal(row_dots(matrix, lengths.largest, query), exact @ query.astype(np.int64))


def test_the_lowest_integer() -> None:
    matrix = np.full((5, 3000), -32_768, dtype=np.int16)
    assert row_lengths(matrix).largest == 32_768
    assert row_dots(matrix, 32_768, matrix[0]).tolist() == [3000 * 2.0**30] * 5


def test_real_numbers_are_close() -> None:
    random = np.random.default_rng(1)
    matrix = random.integers(-255, 256, (9, 777), dtype=np.int16)
    query = random.normal(size=777)
    assert row_dots(matrix, 255, query) == pytest.approx(matrix @ query, abs=1e-5)
    assert row_dots(matrix, 255, np.zeros(777)).tolist() == [0.0] * 9
    assert row_dots(matrix, 255, np.arange(777)) == pytest.approx(
        matrix.astype(float) @ np.arange(777), abs=1e-2
    )


def test_shapes_are_checked() -> None:
    matrix, out = np.zeros((2, 3), dtype=np.int16), np.zeros(2, dtype=np.int64)
    with pytest.raises(ValueError, match="queries must be as long as rows"):
        _native.row_dots(matrix, 1, np.zeros((1, 4), dtype=np.int16), out)
    with pytest.raises(ValueError, match="a place per row and query"):
        _native.row_dots(matrix, 1, np.zeros((2, 3), dtype=np.int16), out)
    with pytest.raises(ValueError, match="a place per row"):
        _native.row_squares(matrix, out[:1])
