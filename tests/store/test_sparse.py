"""Models whose vectors are mostly zeros, stored without them."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from omnitm import _native
from omnitm.baselines import PPMI
from omnitm.cli import main
from omnitm.errors import FileError
from omnitm.store import load_model, pack_model, unpack_model
from omnitm.store.rows import SparseEncoder, SparseMatrix
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from omnitm.corpus import DocumentIndex


def mostly_zeros(n_rows: int, n_columns: int, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    values = random.integers(-32768, 32768, (n_rows, n_columns))
    return np.where(random.random((n_rows, n_columns)) < 0.1, values, 0).astype(np.int16)


@pytest.fixture
def model(random_index: Callable[..., DocumentIndex], tmp_path: Path) -> Path:
    PPMI().train(random_index(400, 150, density=0.02)).save(tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (3, 0), (1, 1), (40, 33), (7, 300)])
def test_it_reads_like_an_array(shape: tuple[int, int]) -> None:
    wanted = mostly_zeros(*shape)
    matrix = SparseMatrix.of(wanted, shape[1])
    assert matrix.shape == wanted.shape
    assert_array_equal(np.asarray(matrix), wanted)
    assert_array_equal(matrix.astype(np.float32), wanted.astype(np.float32), strict=True)
    columns = np.arange(shape[1])[::-3]
    assert_array_equal(matrix[:, columns], wanted[:, columns])
    for column in range(shape[1]):
        assert_array_equal(matrix[:, column], wanted[:, column])
    queries = mostly_zeros(2, shape[1], seed=1)
    assert_array_equal(matrix.dots(32768, queries), wanted.astype(np.int64) @ queries.astype(np.int64).T)


def test_answers_are_those_of_the_whole_rows(model: Path) -> None:
    sparse = WordVectors.load(model, verify=True)
    assert type(sparse.matrix).__name__ == "SparseMatrix"
    whole = WordVectors(np.asarray(sparse.matrix), sparse.index_to_key, sparse.feature_names)
    for metric in ("similarity", "association", "association-symmetric", "cosine"):
        for word in ("w0", "w7", "w149"):
            expected = whole.most_similar(word, topn=20, metric=metric)
            assert sparse.most_similar(word, topn=20, metric=metric) == expected
            assert sparse.similarity(word, "w3", metric=metric) == whole.similarity(word, "w3", metric=metric)
    assert sparse.most_similar(["w0", "w7"], negative=["w3"], metric="cosine") == whole.most_similar(
        ["w0", "w7"], negative=["w3"], metric="cosine"
    )


def test_the_file_is_small_and_saved_packed_and_unpacked_the_same(model: Path, tmp_path: Path) -> None:
    stored = WordVectors.load(model)
    expected = (model / "vectors.sparse").read_bytes()
    n_values = np.count_nonzero(np.asarray(stored.matrix), axis=1)
    assert len(expected) == (-(-6 * n_values // 4) * 4).sum() + 8 * (len(stored) + 1)
    stored.save(tmp_path / "saved")
    pack_model(model, tmp_path / "packed")
    assert_array_equal(WordVectors.load(tmp_path / "packed", verify=True).matrix[:], stored.matrix[:])
    unpack_model(tmp_path / "packed", tmp_path / "unpacked")
    for folder in ("saved", "unpacked"):
        assert (tmp_path / folder / "vectors.sparse").read_bytes() == expected
        load_model(tmp_path / folder, verify=True)
    stored.save(model, force=True)  # a model that is replaced by itself
    assert load_model(model, verify=True).record == stored.training


def test_info_says_how_much_smaller(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(model)]) == 0
    assert "times smaller" in capsys.readouterr().out


def without_checksums(model: Path) -> dict[str, Any]:
    """Read a manifest as older ones were: a forger need not know of checksums."""
    manifest: dict[str, Any] = json.loads((model / "manifest.json").read_text())
    return {name: value for name, value in manifest.items() if name not in {"checksums", "checksum"}}


def rewrite(model: Path, name: str, content: bytes) -> None:
    """Forge a file and its entry in the manifest."""
    (model / name).write_bytes(content)
    manifest = without_checksums(model)
    manifest["files"][name] = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (model / "manifest.json").write_text(json.dumps(manifest))


def with_starts(content: bytes, n_rows: int, change: Callable[[np.ndarray], None]) -> bytes:
    starts = np.frombuffer(content[len(content) - 8 * (n_rows + 1) :], "<u8").copy()
    change(starts)
    return content[: len(content) - 8 * (n_rows + 1)] + starts.tobytes()


def swap_first(starts: np.ndarray) -> None:
    starts[1] += 4


def start_late(starts: np.ndarray) -> None:
    starts[0] = 4


def descend(starts: np.ndarray) -> None:
    starts[1], starts[2] = starts[2], starts[1]


def overflow(starts: np.ndarray) -> None:
    starts[3] = 2**64 - 4


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (swap_first, "rows of impossible length"),
        (start_late, "do not make up the file"),
        (descend, "do not make up the file"),
        (overflow, "do not make up the file"),
    ],
)
def test_forged_starts(model: Path, change: Callable[[np.ndarray], None], problem: str) -> None:
    content = (model / "vectors.sparse").read_bytes()
    rewrite(model, "vectors.sparse", with_starts(content, 150, change))
    with pytest.raises(FileError, match=problem):
        WordVectors.load(model)


def test_forged_sizes(model: Path) -> None:
    content = (model / "vectors.sparse").read_bytes()
    for size in (0, 100, 8 * 151 + 2):
        rewrite(model, "vectors.sparse", content[len(content) - size :])
        with pytest.raises(FileError, match="has a size that no rows have"):
            WordVectors.load(model)


def test_a_row_longer_than_the_vocabulary() -> None:
    content = SparseMatrix.of(np.ones((1, 10), np.int16), 10)._content
    whole = np.concatenate([content, np.array([0, 60], "<u8").view(np.uint8)])
    with pytest.raises(FileError, match="rows of impossible length"):
        SparseMatrix(whole, 1, 9)


@pytest.mark.parametrize(("place", "position"), [(0, 150), (0, 2**32 - 1), (1, 0)])
def test_forged_positions_are_noticed_when_read(model: Path, place: int, position: int) -> None:
    content = bytearray((model / "vectors.sparse").read_bytes())
    content[4 * place : 4 * place + 4] = position.to_bytes(4, "little")
    rewrite(model, "vectors.sparse", bytes(content))
    vectors = WordVectors.load(model)
    with pytest.raises(FileError, match="row 0 is damaged"):
        vectors.get_vector("w0")
    if position >= 150:
        with pytest.raises(FileError, match="a position beyond the last column"):
            vectors.matrix.dots(1, np.ones((1, 150), np.int16))  # type: ignore[attr-defined]


def test_settings_and_manifest_must_agree(model: Path) -> None:
    settings = json.loads((model / "settings.json").read_text())
    assert settings["settings"].pop("sparse")
    rewrite(model, "settings.json", json.dumps(settings).encode())
    with pytest.raises(FileError, match="does not say the same of 'sparse'"):
        WordVectors.load(model)


def test_wrong_arrays_are_refused() -> None:
    content, dots = np.zeros(12, np.uint8), np.zeros(1, np.int64)
    queries = np.ones((1, 3), np.int16)
    with pytest.raises(ValueError, match="must have the start of each row"):
        _native.sparse_dots(content, np.zeros(0, np.int64), queries, dots)
    for starts in ([0, 16], [0, 6], [8, 4]):
        with pytest.raises(ValueError, match="must ascend within"):
            _native.sparse_dots(content, np.array(starts), queries, dots)
    with pytest.raises(ValueError, match="a place per row and query"):
        _native.sparse_dots(content, np.array([0, 4, 12]), queries, dots)


def test_the_encoder_keeps_extremes() -> None:
    encode = SparseEncoder()
    row = np.array([0, -32768, 0, 32767, 1], np.int16)
    content = encode(row) + encode(np.zeros(5, np.int16)) + encode.end()
    matrix = SparseMatrix(np.frombuffer(content, np.uint8), 2, 5)
    assert_array_equal(matrix[:], [row, np.zeros(5)])
