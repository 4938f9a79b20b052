"""Plain rows in a file: read like an array, and checked before anything of them is used."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm.errors import FileError
from omnitm.files.checked import BLOCK, CheckedFile, FileDigest
from omnitm.similarity.row_products import row_dots, row_lengths
from omnitm.store.rows import MappedMatrix

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

ROWS, COLUMNS = 40, 3000  # a row has 6,000 bytes: it begins within a block


@pytest.fixture
def array() -> NDArray[np.int16]:
    return np.random.default_rng(3).integers(-99, 99, (ROWS, COLUMNS)).astype(np.int16)


def stored(folder: Path, array: NDArray[np.int16], *, damaged_byte: int | None = None) -> MappedMatrix:
    content = bytearray(array.tobytes())
    sums = FileDigest(bytes(content)).sums()
    if damaged_byte is not None:
        content[damaged_byte] ^= 2
    (folder / "vectors.i16").write_bytes(content)
    file = CheckedFile(folder / "vectors.i16", len(content), sums, "it is damaged")
    return MappedMatrix(file, (ROWS, COLUMNS), "<i2")


READS: list[Callable[[Any], Any]] = [
    lambda m: m[7],
    lambda m: m[-1],
    lambda m: m[2:5],
    lambda m: m[[3, 3, 9]],
    lambda m: m[np.arange(ROWS) % 2 == 0],
    lambda m: m[:, 17],
    lambda m: m[:, -1],
    lambda m: m[:, [5, 2]],
    lambda m: m[4, 9],
    lambda m: m[[1, 2], [3, 4]],
    lambda m: m[[1, 2, -1], -2],
    lambda m: m[np.array([[5], [6]]), np.array([0, 2999], dtype=np.uint32)],
    lambda m: m[np.arange(ROWS) > 30, 2047],
    lambda m: m[2:9, 4],
    lambda m: m[5, 3:9],
    lambda m: m[np.zeros(0, dtype=np.intp), 5],
    lambda m: m[..., 3],
    lambda m: m[:, :, None],
    lambda m: m[:],
    np.asarray,
    np.array,
    lambda m: m + 1,
    lambda m: 2 * m,
    lambda m: m @ np.ones(COLUMNS),
    lambda m: m == 3,
    lambda m: m.mean(axis=0),
    lambda m: m.T,
    lambda m: m.astype(np.float32),
    lambda m: np.linalg.norm(m, axis=1),
    lambda m: row_lengths(m).norms,
    lambda m: row_dots(m, 99, np.ones(COLUMNS, dtype=np.int16)),
    lambda m: pickle.loads(pickle.dumps(m)),  # noqa: S301 - our own bytes
]


@pytest.mark.parametrize("small", [0, 1 << 27])
@pytest.mark.parametrize("read", READS)
def test_it_reads_like_an_array_and_everything_read_is_checked(
    tmp_path: Path,
    array: NDArray[np.int16],
    read: Callable[[Any], Any],
    small: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("omnitm.files.checked._SMALL", small)
    matrix = stored(tmp_path, array)
    np.testing.assert_array_equal(np.asarray(read(matrix)), read(array))
    assert matrix._file._checked.any() == bool(np.size(read(array)))
    read(matrix.whole())
    np.testing.assert_array_equal(np.asarray(read(matrix)), read(array))
    for byte in range(0, array.nbytes, BLOCK):  # noticed, or not touched by what was read
        damaged = stored(tmp_path, array, damaged_byte=byte)
        try:
            found = np.asarray(read(damaged))
        except FileError as error:
            assert f"damaged near byte {byte:,}" in str(error)  # noqa: PT017 - depends on what is read
        else:
            np.testing.assert_array_equal(found, read(array))
            assert not damaged._file._checked[byte // BLOCK]


def test_rows_and_columns_check_only_their_blocks(
    tmp_path: Path, array: NDArray[np.int16], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("omnitm.files.checked._SMALL", 0)
    matrix = stored(tmp_path, array)
    assert matrix[7].base is not None  # a view: nothing was copied
    assert np.flatnonzero(matrix._file._checked).tolist() == [10, 11]  # bytes 42,000 to 48,000
    with pytest.raises(ValueError, match="a column must lie within its row, and rows must make up `content`"):
        matrix._file.check_column(6000, 6000, 2)
    column = stored(tmp_path, array)
    assert column[:, 0].shape == (ROWS,)
    assert np.flatnonzero(column._file._checked).tolist() == [row * 6000 // BLOCK for row in range(ROWS)]
    cells = stored(tmp_path, array)
    assert cells[[7, 7, -1], [0, 2999, 5]].tolist() == [array[7, 0], array[7, 2999], array[-1, 5]]
    assert np.flatnonzero(cells._file._checked).tolist() == [10, 11, 57]  # bytes 42,000, 47,998 and 234,010


def test_wrong_rows_are_refused_as_numpy_does(tmp_path: Path, array: NDArray[np.int16]) -> None:
    matrix = stored(tmp_path, array)
    for key in (ROWS, (slice(None), COLUMNS), [ROWS], (3, COLUMNS), ([3], [-COLUMNS - 1])):
        with pytest.raises(IndexError, match="out of bounds"):
            matrix[key]
    with pytest.raises(AttributeError, match="_nothing"):
        matrix._nothing  # noqa: B018
