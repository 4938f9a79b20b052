"""Vectors of real numbers whose coordinates are not words: what other models give."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm.cli import main
from omnitm.errors import FileError, ParameterError
from omnitm.store import ModelRecord
from omnitm.training import train_vectors
from omnitm.training.vocabulary import add_words, extend_vectors, train_model
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from pathlib import Path

    from omnitm.corpus import DocumentIndex

WORDS = ["road", "car", "sea", "0"]
MATRIX = np.array([[3, 4], [6, 8.5], [-4, 3], [0, 0]], dtype=np.float32)
RECORD = ModelRecord("word2vec", {"vector_size": 2}, 7, "ab" * 32, "0.1.0")


@pytest.fixture
def vectors() -> WordVectors:
    return WordVectors(MATRIX, WORDS, None, training=RECORD)


def test_cosine_is_the_default_and_right(vectors: WordVectors) -> None:
    assert vectors.default_metric == "cosine"
    assert vectors.feature_names == ["0", "1"]
    rows = MATRIX / np.maximum(np.linalg.norm(MATRIX, axis=1, keepdims=True), 1e-9)
    for i, first in enumerate(WORDS):
        for j, second in enumerate(WORDS):
            assert vectors.similarity(first, second) == pytest.approx(rows[i] @ rows[j], abs=1e-6)
    found = vectors.most_similar("road", topn=3)
    assert [word for word, _ in found] == ["car", "sea", "0"]
    assert dict(found) == pytest.approx({w: rows[0] @ rows[WORDS.index(w)] for w, _ in found}, abs=1e-6)
    together = vectors.most_similar(["road", ("sea", 0.5)], negative=[np.array([1.0, 0.0])], topn=None)
    query = rows[0] + 0.5 * rows[2] - np.array([1.0, 0.0])
    np.testing.assert_allclose(np.asarray(together), rows @ (query / np.linalg.norm(query)), atol=1e-6)
    assert vectors.n_similarity(["road"], ["car", "sea"]) > 0
    assert vectors.distance("road", "car") == pytest.approx(1 - rows[0] @ rows[1], abs=1e-6)
    assert vectors.distances("road", ["car"])[0] == pytest.approx(1 - rows[0] @ rows[1], abs=1e-6)
    assert vectors.closer_than("road", "sea") == ["car"]
    assert vectors.rank("road", "sea") == 2


@pytest.mark.parametrize("metric", ["association", "association-symmetric"])
def test_association_needs_names(vectors: WordVectors, metric: Any) -> None:
    for ask in (
        lambda: vectors.most_similar("road", metric=metric),
        lambda: vectors.similarity("road", "0", metric=metric),
        lambda: vectors.distances("road", metric=metric),
        lambda: vectors.closer_than("road", "car", metric=metric),
    ):
        with pytest.raises(
            ParameterError, match="coordinates of these vectors are not words; use metric='cosine'"
        ):
            ask()
    with pytest.raises(ParameterError, match="'metric' parameter"):
        vectors.similarity("road", "car", metric="nearness")  # type: ignore[arg-type]


def test_real_numbers_may_have_names() -> None:
    named = WordVectors(MATRIX[:2], ["road", "car"], ["road", "car"])
    assert named.default_metric == "association"
    assert named.similarity("road", "car") == 4.0
    assert named.similarity("road", "car", metric="association-symmetric") == 5.0


@pytest.mark.parametrize(("kind", "file"), [(np.float32, "vectors.f32"), (np.int16, "vectors.i16")])
def test_saved_and_loaded(tmp_path: Path, kind: Any, file: str) -> None:
    matrix = MATRIX.astype(kind)
    for _ in range(2):  # replaced by itself
        WordVectors(matrix, WORDS, None, training=RECORD).save(tmp_path / "m", force=True)
    loaded = WordVectors.load(tmp_path / "m", verify=True)
    assert np.array_equal(loaded.matrix, matrix)
    assert loaded.matrix.dtype == kind
    assert loaded.training == RECORD
    assert not loaded.has_named_features
    names = sorted(entry.name for entry in (tmp_path / "m").iterdir())
    assert names == sorted(
        ["README.md", "checksums.bin", "coordinates.txt", "manifest.json", "settings.json", file, "words.txt"]
    )


def test_a_model_of_one_kind_replaces_another(
    board: DocumentIndex, vectors: WordVectors, tmp_path: Path
) -> None:
    vectors.save(tmp_path / "m")
    with pytest.raises(FileError, match="already holds a model"):
        vectors.save(tmp_path / "m")
    train_model(board, tmp_path / "m", ["a0"], force=True)
    assert not (tmp_path / "m" / "vectors.f32").exists()
    assert not (tmp_path / "m" / "coordinates.txt").exists()
    vectors.save(tmp_path / "m", force=True)
    assert not (tmp_path / "m" / "vectors.i16").exists()
    assert len(WordVectors.load(tmp_path / "m", verify=True)) == 4


def test_damage_is_noticed(vectors: WordVectors, tmp_path: Path) -> None:
    vectors.save(tmp_path / "m")
    content = bytearray((tmp_path / "m" / "vectors.f32").read_bytes())
    content[5] ^= 1
    (tmp_path / "m" / "vectors.f32").write_bytes(content)
    with pytest.raises(FileError, match=r"vectors\.f32: the file is damaged"):
        WordVectors.load(tmp_path / "m", verify=True)
    (tmp_path / "m" / "coordinates.txt").write_text("0\n2\n")
    with pytest.raises(FileError, match=r"coordinates\.txt: the file is damaged"):
        WordVectors.load(tmp_path / "m")


def test_both_kinds_of_names_at_once_are_refused(vectors: WordVectors, tmp_path: Path) -> None:
    vectors.save(tmp_path / "m")
    manifest = json.loads((tmp_path / "m" / "manifest.json").read_text())
    del manifest["checksums"], manifest["checksum"]
    manifest["files"]["features.txt"] = manifest["files"]["coordinates.txt"]
    (tmp_path / "m" / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(FileError, match=r"must list exactly the files .*coordinates\.txt for features\.txt"):
        WordVectors.load(tmp_path / "m")


def test_the_name_of_the_model_is_checked(tmp_path: Path) -> None:
    WordVectors(MATRIX, WORDS, None, training=ModelRecord("../x", {}, 0, "ab" * 32)).save(tmp_path / "m")
    with pytest.raises(FileError, match=r"settings\.json: 'model' must be the name of a model"):
        WordVectors.load(tmp_path / "m")
    with pytest.raises(ParameterError, match="'training' is None"):
        WordVectors(MATRIX, WORDS, None).save(tmp_path / "n")


def test_only_omni_models_go_on(board: DocumentIndex, vectors: WordVectors, tmp_path: Path) -> None:
    vectors.save(tmp_path / "m")
    with pytest.raises(ParameterError, match="A word2vec model cannot be extended: only Omni models can"):
        add_words(board, tmp_path / "m", ["a0"])
    with pytest.raises(ParameterError, match="A word2vec model cannot be extended"):
        extend_vectors(board, vectors, ["a0"])
    with pytest.raises(ParameterError, match="A word2vec model cannot be continued"):
        train_model(board, tmp_path / "m", ["a0"], resume=True)
    unknown = WordVectors(train_vectors(board, ["a0"]).matrix, ["a0"], board.vocabulary)
    with pytest.raises(ParameterError, match="unknown origin cannot be extended"):
        extend_vectors(board, unknown, ["a1"])


def test_the_command_line_shows_them(
    vectors: WordVectors, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vectors.save(tmp_path / "m")
    assert main(["similar", str(tmp_path / "m"), "road", "-n", "1"]) == 0
    assert "cosine" in capsys.readouterr().out
    assert main(["info", str(tmp_path / "m"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["kind"], facts["vector_size"], facts["features"]) == ("word2vec", 2, 2)
    assert main(["similar", str(tmp_path / "m"), "road", "--metric", "association"]) == 2
    assert "use metric='cosine'" in capsys.readouterr().err
