"""Exports are read back by the real tools, and say what they leave out."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import load_npz

from omnitm.cli import main
from omnitm.errors import FileError, MissingExtraError, ParameterError
from omnitm.sharing import export
from omnitm.sharing.export import FORMATS, plan_export
from omnitm.store import ModelRecord
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from pathlib import Path

AWKWARD = ["naïve", "日本語", "100%", "a\u200bb", "d'or", "%s", "x" * 300]


def awkward(**replaced: Any) -> WordVectors:
    words = [replaced.get(word, word) for word in AWKWARD]
    matrix = np.random.default_rng(1).standard_normal((len(words), 3)).astype(np.float32) / 3
    return WordVectors(matrix, words, None)


@pytest.mark.parametrize("binary", [False, True])
def test_gensim_reads_word2vec_files(tmp_path: Path, binary: bool) -> None:
    keyed = pytest.importorskip("gensim.models").KeyedVectors
    vectors = awkward()
    vectors.save_word2vec_format(tmp_path / "v", binary=binary)
    read = keyed.load_word2vec_format(str(tmp_path / "v"), binary=binary)
    assert read.index_to_key == AWKWARD
    assert_array_equal(read.vectors, vectors.matrix)


@pytest.mark.parametrize("binary", [False, True])
def test_integers_in_word2vec_files(tmp_path: Path, vectors: WordVectors, binary: bool) -> None:
    keyed = pytest.importorskip("gensim.models").KeyedVectors
    vectors.save_word2vec_format(tmp_path / "v", binary=binary)
    vectors.save_word2vec_format(tmp_path / "v", binary=binary, full=True)  # replaces, as gensim does
    read = keyed.load_word2vec_format(str(tmp_path / "v"), binary=binary)
    assert_array_equal(read.vectors, vectors.matrix)
    mine = vectors.most_similar("w3", topn=5, metric="cosine")
    assert [word for word, _ in mine] == [word for word, _ in read.most_similar("w3", topn=5)]


def test_to_gensim_says_what_it_does(vectors: WordVectors, capsys: pytest.CaptureFixture[str]) -> None:
    vectors.to_gensim(reduce=20)
    assert not capsys.readouterr().err
    vectors.to_gensim(reduce=20, progress=True)
    said = capsys.readouterr().err.splitlines()
    assert [line.split()[0] for line in said] == ["making", "handing"]
    assert "150 words" in said[1]


def test_to_gensim(vectors: WordVectors) -> None:
    pytest.importorskip("gensim")
    keyed = vectors.to_gensim(full=True)
    assert_array_equal(keyed["w7"], vectors["w7"])
    assert keyed.vectors.dtype == np.float32
    # For tools that compare by cosine: what works with it, whether the model is large or small.
    assert_array_equal(vectors.to_gensim().vectors, vectors.reduce(15).matrix)  # as many as have patterns
    assert_array_equal(awkward().to_gensim().vectors, awkward().matrix)
    few = WordVectors(vectors.matrix[:99], vectors.index_to_key[:99], vectors.feature_names)
    assert_array_equal(few.to_gensim().vectors, few.matrix)
    assert vectors.to_gensim(reduce=20).vectors.shape == (150, 20)


@pytest.mark.filterwarnings("error")
def test_gensim_does_not_divide_by_zero() -> None:
    """A word in which nothing stands out has no direction."""
    pytest.importorskip("gensim")
    rows = np.array([[1, 0], [0, 0], [1, 1]], dtype=np.float32)
    keyed = WordVectors(rows, ["a", "b", "c"], None).to_gensim()
    assert [word for word, _ in keyed.most_similar("a")] == ["c", "b"]


def test_words_with_spaces(tmp_path: Path) -> None:
    keyed = pytest.importorskip("gensim.models").KeyedVectors
    vectors = awkward(naïve="New York")
    with pytest.raises(ParameterError, match="'New York', which has white space; spaces='_'"):
        vectors.save_word2vec_format(tmp_path / "v")
    assert not list(tmp_path.iterdir())
    vectors.save_word2vec_format(tmp_path / "v", spaces="_")
    assert keyed.load_word2vec_format(str(tmp_path / "v")).index_to_key[0] == "New_York"
    with pytest.raises(ParameterError, match="become equal"):
        awkward(naïve="a b", 日本語="a_b").save_word2vec_format(tmp_path / "w", spaces="_")
    with pytest.raises(ParameterError, match="'spaces' parameter must be text without white space"):
        vectors.save_word2vec_format(tmp_path / "w", spaces=" ")
    with pytest.raises(ParameterError, match="the empty word"):
        awkward(naïve="").save_word2vec_format(tmp_path / "w")


def test_safetensors(tmp_path: Path, vectors: WordVectors) -> None:
    real = pytest.importorskip("safetensors.numpy")
    vectors.export(tmp_path / "v", "safetensors")
    read = real.load_file(tmp_path / "v")
    assert_array_equal(read["matrix"], vectors.matrix)
    assert read["words"].tobytes().decode().split() == vectors.index_to_key
    assert read["features"].tobytes().decode().split() == vectors.feature_names
    with pytest.importorskip("safetensors").safe_open(tmp_path / "v", "numpy") as file:
        origin = json.loads(file.metadata()["omnitm"])
    assert origin["form"] == "full"
    assert origin["training"]["seed"] == 3
    vectors.export(tmp_path / "s", "safetensors", top=9)
    read = real.load_file(tmp_path / "s")
    assert_array_equal(read["shape"], [150, 200])
    assert_array_equal(read["data"], vectors.sparsify(9).matrix.data)


def test_numpy(tmp_path: Path, vectors: WordVectors) -> None:
    vectors.export(tmp_path / "v.npz", "numpy")
    with np.load(tmp_path / "v.npz", allow_pickle=False) as read:
        assert_array_equal(read["matrix"], vectors.matrix)
        assert read["words"].tolist() == vectors.index_to_key
        assert read["features"].tolist() == vectors.feature_names
    vectors.export(tmp_path / "s.npz", "numpy", top=9)
    sparse = load_npz(tmp_path / "s.npz")
    assert sparse.shape == (150, 200)
    assert (sparse != vectors.sparsify(9).matrix).nnz == 0
    awkward().export(tmp_path / "f.npz", "numpy")
    with np.load(tmp_path / "f.npz") as read:
        assert set(read) == {"words", "matrix"}
    with pytest.raises(ParameterError, match="drops NUL"):
        awkward(naïve="a\0").export(tmp_path / "n.npz", "numpy")


@pytest.mark.parametrize("kind", ["arrow", "parquet"])
def test_arrow(tmp_path: Path, vectors: WordVectors, kind: str) -> None:
    arrow = pytest.importorskip("pyarrow")
    import pyarrow.feather
    import pyarrow.parquet

    read = pyarrow.feather.read_table if kind == "arrow" else pyarrow.parquet.read_table
    vectors.export(tmp_path / "v", kind)
    table = read(tmp_path / "v")
    assert table["word"].to_pylist() == vectors.index_to_key
    assert_array_equal(np.array(table["vector"].to_pylist()), vectors.matrix)
    assert json.loads(table.schema.metadata[b"features"]) == vectors.feature_names
    vectors.export(tmp_path / "s", kind, top=9)
    row = read(tmp_path / "s").slice(4, 1).to_pylist()[0]
    expected = vectors.sparsify(9)["w4"]
    assert dict(zip(row["coordinates"], row["values"], strict=True)) == pytest.approx(expected)
    assert isinstance(vectors.to_arrow(reduce=5), arrow.Table)


def test_large_matrices_are_not_written_by_default(
    vectors: WordVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert str(plan_export(vectors, "numpy")) == "150 words x 200 numbers each, about 79.4 kB as numpy"
    monkeypatch.setattr(export, "LARGE", 1000)
    assert plan_export(vectors, "numpy").form.kind == "top"
    assert "150 words x 200 strongest" in str(plan_export(vectors, "parquet"))
    assert plan_export(vectors, "word2vec").form == export.Form("reduced", 15, 150, 4)
    assert plan_export(awkward(), "numpy").form.kind == "full"
    assert plan_export(vectors, "numpy", full=True).form.n_bytes == 60_000
    reals = WordVectors(vectors.matrix.astype(np.float32), vectors.index_to_key, None)
    assert plan_export(reals, "numpy").form.kind == "reduced"


def test_wishes_that_cannot_be_met(tmp_path: Path, vectors: WordVectors) -> None:
    with pytest.raises(ParameterError, match="either reduced, or top, or full"):
        vectors.export(tmp_path / "v", "numpy", top=3, full=True)
    with pytest.raises(ParameterError, match=r"no sparse form; use reduce=\d+ \(--reduce \d+\) or full=True"):
        vectors.export(tmp_path / "v", "word2vec", top=3)
    with pytest.raises(ParameterError, match="integer vectors with named features have a sparse form"):
        awkward().export(tmp_path / "v", "numpy", top=3)
    with pytest.raises(ParameterError, match="'format' parameter of export must be one of 'word2vec'"):
        vectors.export(tmp_path / "v", "csv")
    with pytest.raises(ParameterError, match="'reduce' parameter of export must be an int from 1 to 150"):
        vectors.export(tmp_path / "v", "numpy", reduce=151)


def test_where_it_cannot_be_written(
    tmp_path: Path, vectors: WordVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "v").write_text("mine")
    with pytest.raises(FileError, match=r"exists already; --force"):
        vectors.export(tmp_path / "v", "numpy")
    assert (tmp_path / "v").read_text() == "mine"
    with pytest.raises(FileError, match=r"the folder .*nowhere does not exist"):
        vectors.export(tmp_path / "nowhere" / "v", "numpy")
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 10}))
    with pytest.raises(FileError, match=r"needs about 79,\d+ bytes, but only 10 are free"):
        vectors.export(tmp_path / "w", "numpy")


def test_a_failed_export_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = awkward()

    def full_disk(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("omnitm.sharing.export.write_word2vec", full_disk)
    with pytest.raises(FileError, match="cannot be written: No space left"):
        vectors.save_word2vec_format(tmp_path / "v")
    assert not list(tmp_path.iterdir())


def test_missing_extras(vectors: WordVectors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'omnitm\[baselines\]'"):
        vectors.to_gensim()
    with pytest.raises(MissingExtraError, match=r"pip install 'omnitm\[parquet\]'"):
        vectors.to_arrow()


@pytest.mark.parametrize("kind", FORMATS)
def test_the_command(
    tmp_path: Path, vectors: WordVectors, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    vectors.save(tmp_path / "model")
    command = ["export", str(tmp_path / "model"), "-o", str(tmp_path / "out"), "--format", kind]
    assert main([*command, "--reduce", "12"]) == 0
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("writing 150 words x 12 dense dimensions, about ")
    assert said[1].endswith(("kB", "MB"))
    assert main(command) == 2
    assert "--force" in capsys.readouterr().err
    assert main([*command, "--force", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_a_reduced_model_says_so(tmp_path: Path, vectors: WordVectors) -> None:
    reduced = vectors.reduce(10)
    assert isinstance(reduced.training, ModelRecord)
    reduced.export(tmp_path / "v", "safetensors")
    real = pytest.importorskip("safetensors")
    with real.safe_open(tmp_path / "v", "numpy") as file:
        assert json.loads(file.metadata()["omnitm"])["training"]["model"] == "reduced"


@pytest.mark.parametrize("kind", FORMATS)
def test_the_size_that_is_said_is_true(tmp_path: Path, kind: str) -> None:
    random = np.random.default_rng(8)
    names = [f"word{'x' * (k % 30)}{k}" for k in range(500)]
    matrix = random.integers(-99, 99, size=(500, 500)).astype(np.int16)
    vectors = WordVectors(matrix, names, names)
    wishes: list[dict[str, Any]] = [{"full": True}, {"reduce": 90}]
    if not kind.startswith("word2vec"):
        wishes.append({"top": 40})
    for wish in wishes:
        plan = plan_export(vectors, kind, **wish)
        vectors.export(tmp_path / "v", kind, force=True, **wish)
        size = (tmp_path / "v").stat().st_size
        assert size <= plan.n_bytes
        if "top" not in wish and kind not in {"word2vec", "parquet"}:  # which may well be smaller
            assert size > plan.n_bytes * 0.8
