from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omnitm import _native
from omnitm.similarity.combined import best
from omnitm.similarity.highest_cosines import highest_cosines
from omnitm.similarity.row_products import row_dots, row_lengths


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
    edges, rows = np.array([0, 3]), np.array([0, 1])
    with pytest.raises(ValueError, match="`sums` and `squares` must have a place per row and block"):
        _native.block_sums(matrix, edges, out, out[:1])
    for wrong in ([0, 4], [2, 1], [-1, 3]):
        with pytest.raises(ValueError, match="`edges` must be columns in ascending order"):
            _native.block_sums(matrix, np.array(wrong), out, out)
    with pytest.raises(ValueError, match="the query must be as long as rows"):
        _native.add_dots(matrix, 1, rows, matrix[0, :2], 0, 3, out)
    for first, last in ((0, 4), (2, 1)):
        with pytest.raises(ValueError, match="`first` and `last` must be columns"):
            _native.add_dots(matrix, 1, rows, matrix[0], first, last, out)
    with pytest.raises(ValueError, match="`dots` must have a place per row"):
        _native.add_dots(matrix, 1, rows, matrix[0], 0, 3, out[:1])
    for row in (-1, 2):
        with pytest.raises(ValueError, match="no such row"):
            _native.add_dots(matrix, 1, np.array([0, row]), matrix[0], 0, 3, out)


@settings(max_examples=25, deadline=None)
@given(n_rows=st.integers(1, 60), count=st.integers(1, 70), seed=st.integers(0, 1000))
def test_the_highest_cosines_are_those_of_reading_everything(n_rows: int, count: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    n_columns = 17_000
    spread = np.geomspace(60, 0.2, n_columns)  # as in a model: frequent words come first and vary most
    drawn = random.normal(size=(n_rows, n_columns)) * spread - random.integers(0, 99, (n_rows, 1))
    matrix = drawn.astype(np.int16)
    matrix[random.integers(n_rows)] = 0
    matrix[-1] = matrix[0]  # equal neighbours
    lengths = row_lengths(matrix)
    query = matrix[random.integers(n_rows)]
    rows, found = highest_cosines(matrix, lengths, query, count)
    scale = lengths.norms * np.linalg.norm(query.astype(float))
    dots = matrix.astype(np.int64) @ query
    exact = np.divide(dots, scale, out=np.zeros(n_rows), where=scale > 0)
    assert np.array_equal(found, exact[rows])
    assert rows[best(found, count)].tolist() == best(exact, count).tolist()


def test_few_rows_are_read_to_the_end() -> None:
    random = np.random.default_rng(0)
    matrix = (random.normal(size=(400, 17_000)) * np.geomspace(60, 0.2, 17_000)).astype(np.int16)
    matrix[200:] = matrix[:200] + (random.random((200, 17_000)) < 0.01)
    rows, _ = highest_cosines(matrix, row_lengths(matrix), matrix[3], 2)
    assert rows.tolist() == [3, 203]
