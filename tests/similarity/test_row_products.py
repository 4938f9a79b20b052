from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omnitm import _native
from omnitm.similarity.nearest import best
from omnitm.similarity.row_matrix import ColumnRange, RowMatrix, row_blocks
from omnitm.similarity.row_products import can_prune, highest_cosines, row_dots, row_lengths

if TYPE_CHECKING:
    from numpy.typing import NDArray


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


@pytest.mark.parametrize(
    ("n_columns", "edges"),
    [
        (5, [0, 5]),
        (4096, [0, 4096]),
        (4097, [0, 4096, 4097]),
        (8192, [0, 4096, 8192]),
        (20_000, [0, 4096, 8192, 16_384, 20_000]),
    ],
)
def test_blocks_of_columns(n_columns: int, edges: list[int]) -> None:
    matrix = np.tile(np.arange(n_columns) % 7 - 2, (2, 1)).astype(np.int16)
    found = row_lengths(matrix)
    assert found.edges.tolist() == edges
    exact = [matrix[0, first:last].astype(int) for first, last in pairwise(edges)]
    assert found.sums.tolist() == [[int(block.sum()) for block in exact]] * 2
    assert found.squares.tolist() == [[int((block**2).sum()) for block in exact]] * 2
    reals = row_lengths(matrix.astype(np.float32))
    assert (reals.largest, reals.edges.tolist(), reals.sums.shape) == (0, [], (2, 0))
    assert reals.norms == pytest.approx(found.norms)


def test_only_wide_matrices_of_integers_in_memory_are_pruned() -> None:
    assert can_prune(np.zeros((1, 8192), dtype=np.int16))
    assert not can_prune(np.zeros((1, 8191), dtype=np.int16))
    assert not can_prune(np.zeros((1, 8192), dtype=np.float32))
    assert not can_prune(Decoded(np.zeros((1, 8192), dtype=np.int16)))  # type: ignore[arg-type]


class Decoded(RowMatrix):
    """A matrix whose rows are made when they are read; counts them."""

    def __init__(self, array: NDArray[np.int16]) -> None:
        super().__init__(array.shape, array.dtype, 99)
        self._array, self.rows_read, self.columns_read = array, 0, 0

    def read_row(self, row: int) -> NDArray[np.int16]:
        self.rows_read += 1
        found: NDArray[np.int16] = self._array[row]
        return found

    def read_column(self, column: int) -> NDArray[np.int16]:
        self.columns_read += 1
        return self._array[:, column]


def test_a_range_of_columns_reads_like_one() -> None:
    matrix = np.arange(12, dtype=np.int16).reshape(3, 4)
    part = ColumnRange(matrix, 1, 3)
    assert (part.shape, part.dtype, part.stored_bytes) == ((3, 2), np.dtype(np.int16), 12)
    assert [part[row].tolist() for row in range(3)] == matrix[:, 1:3].tolist()
    assert part[:, 1].tolist() == matrix[:, 2].tolist()


def test_rows_that_are_decoded_read_like_an_array(monkeypatch: pytest.MonkeyPatch) -> None:
    array = np.arange(60, dtype=np.int16).reshape(6, 10)
    matrix = Decoded(array)
    assert (len(matrix), matrix.ndim, matrix.size, matrix.nbytes, matrix.stored_bytes) == (6, 2, 60, 120, 99)
    keys: list[tuple[Any, int]] = [
        (3, 1), (-1, 1), (slice(1, 4), 3), ([5, 0], 2), (np.arange(6) > 3, 2), ((2, 7), 1),
        ((2, slice(3, 5)), 1), ((slice(None), 4), 0), ((slice(2, 5), -1), 0), ((slice(None), [1, 1, -2]), 6),
        ((slice(4, 6), [0, 9]), 2), ((slice(0, 2), slice(2, 4)), 2), (([1, 1, 4], [2, 3, 9]), 2),
        (([[1], [4]], [0, 2]), 2), (([3, 5], 6), 2),
    ]  # fmt: skip
    for key, n_rows in keys:
        matrix.rows_read = 0
        assert np.array_equal(matrix[key], array[key]), key
        assert matrix.rows_read == n_rows, key
    assert matrix.columns_read == 2
    assert matrix[:, 4].tolist() == array[:, 4].tolist()
    assert matrix.columns_read == 2  # kept
    assert matrix.astype(np.float32).dtype == np.float32
    assert np.array_equal(np.asarray(matrix, dtype=np.int64), array)
    monkeypatch.setattr("omnitm.similarity.row_matrix._BLOCK_BYTES", 40)
    blocks = list(row_blocks(matrix))
    assert [(start, len(block)) for start, block in blocks] == [(0, 2), (2, 2), (4, 2)]
    assert np.array_equal(np.concatenate([block for _, block in blocks]), array)
    queries = np.array([[1, *[0] * 9], [2] * 10], dtype=np.int16)
    assert np.array_equal(matrix.dots(60, queries), array.astype(int) @ queries.T)
    assert np.array_equal(row_dots(matrix, 60, queries[1]), array @ queries[1].astype(float))  # type: ignore[arg-type]
    monkeypatch.setattr("omnitm.similarity.row_matrix._BLOCK_BYTES", 1)
    assert [start for start, _ in row_blocks(matrix)] == list(range(6))  # a row at least
