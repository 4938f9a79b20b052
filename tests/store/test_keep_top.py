"""Models that keep few coordinates per word, and say so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from omnitm.cli import main
from omnitm.errors import FileError, ParameterError
from omnitm.machine import AutoencoderSettings
from omnitm.store import load_model, pack_model, unpack_model
from omnitm.store.rows import TopMatrix, as_stored, encode_top, n_places_kept, row_type
from omnitm.training import train_model
from omnitm.training.vocabulary import add_words
from omnitm.vectors import WordVectors
from omnitm.vectors import word_vectors as module

if TYPE_CHECKING:
    from omnitm.corpus import DocumentIndex

SETTINGS = AutoencoderSettings(n_clauses=8, n_examples=40, accumulation=1)


def truncated(row: np.ndarray, keep_top: int) -> np.ndarray:
    """Do the same slowly: keep what differs most from the most frequent value."""
    values, counts = np.unique(row, return_counts=True)
    baseline = int(values[np.argmax(counts)])
    order = sorted(range(len(row)), key=lambda k: (-abs(int(row[k]) - baseline), k))[:keep_top]
    result = np.full_like(row, baseline)
    result[order] = row[order]
    return result


def test_joined_words_are_kept_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 40 coordinates the last 10 are of joined words: 3 of them are kept, however little they differ."""
    sizes = ((40, 0), (50, 10), (10_000, 0), (12_500, 2_500), (2_600, 200))
    assert [n_places_kept(*size) for size in sizes] == [40, 50, 2_000, 2_500, 2_200]
    monkeypatch.setattr("omnitm.store.rows.PLACES_KEPT", 8)
    random = np.random.default_rng(5)
    for _ in range(50):
        row = np.full(40, -9, dtype=np.int16)
        row[:30] += random.integers(0, 60, 30).astype(np.int16) * (random.random(30) < 0.6)
        row[30:] += random.integers(0, 5, 10).astype(np.int16) * (random.random(10) < 0.8)
        row[[0, 1, 2, 38, 39]] = -9
        expected = np.concatenate([truncated(row[:30], 8), truncated(row[30:], 3)])
        if np.bincount(row + 9).argmax() or np.bincount(row[30:] + 9).argmax():
            continue  # the most frequent value is another one
        found = np.frombuffer(encode_top(row, 11, 10), dtype=row_type(11))
        assert_array_equal(TopMatrix(Path("rows"), found, 40)[0], expected)
        assert_array_equal(as_stored(expected, 11, 10), expected)  # written again, they stay


def test_rows_keep_what_differs_most() -> None:
    random = np.random.default_rng(4)
    for keep_top in (1, 3, 10, 40):
        for _ in range(20):
            row = random.choice([-90, -90, -90, -88, 5, 90, 32767, -32768], 30).astype(np.int16)
            stored = np.frombuffer(encode_top(row, keep_top), dtype=row_type(keep_top))
            matrix = TopMatrix(Path("x"), stored, 30)
            assert_array_equal(matrix[0], truncated(row, keep_top))
            assert_array_equal(matrix[:, 7], truncated(row, keep_top)[7:8])
            assert encode_top(matrix[0], keep_top) == encode_top(row, keep_top)


def test_training_keeps_the_top_of_the_same_vectors(board: DocumentIndex, tmp_path: Path) -> None:
    whole = train_model(board, tmp_path / "whole", settings=SETTINGS)
    kept = train_model(board, tmp_path / "kept", ["a0", "b1"], settings=SETTINGS, keep_top=3)
    kept = add_words(board, tmp_path / "kept", ["a2"])
    for word in ("a0", "b1", "a2"):
        assert_array_equal(kept[word], truncated(whole[word], 3))
    assert kept.keep_top == 3
    assert whole.keep_top is None
    assert "the 3 of each word that differ most" in repr(kept)
    assert (tmp_path / "kept" / "vectors.top").stat().st_size == 3 * (8 + 3 * 6)
    assert kept.most_similar("a0", topn=2, metric="cosine")
    load_model(tmp_path / "kept", verify=True)


def test_it_can_be_resumed_saved_packed_and_unpacked(board: DocumentIndex, tmp_path: Path) -> None:
    kept = train_model(board, tmp_path / "m", settings=SETTINGS, keep_top=4)
    assert train_model(board, tmp_path / "m", resume=True, keep_top=4).keep_top == 4
    with pytest.raises(FileError, match="was started with keep_top=4, not 5"):
        train_model(board, tmp_path / "m", resume=True, keep_top=5)
    kept.save(tmp_path / "saved")
    pack_model(tmp_path / "m", tmp_path / "packed")
    opened = WordVectors.load(tmp_path / "packed", verify=True)
    assert opened.keep_top == 4
    assert_array_equal(opened.matrix[:], kept.matrix[:])
    unpack_model(tmp_path / "packed", tmp_path / "unpacked")
    expected = (tmp_path / "m" / "vectors.top").read_bytes()
    assert (tmp_path / "saved" / "vectors.top").read_bytes() == expected
    assert (tmp_path / "unpacked" / "vectors.top").read_bytes() == expected


def test_the_command_and_info_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text").write_text("driving car road\nship sea wave\n" * 30)
    model = str(tmp_path / "m")
    assert main(["train", str(tmp_path / "text"), "-o", model, "--keep-top", "2"]) == 0
    assert "the model will take 1.0 kB" in capsys.readouterr().err
    assert main(["info", model, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["keeps"] == "the 2 coordinates of each word that differ most; the rest is its baseline"
    assert (facts["bytes"], facts["bytes of places"]) == (1032, 912)  # as train announces it
    assert "stored" not in facts  # six words, two coordinates: no smaller than all of them
    (tmp_path / "more").write_text("road\n")
    command = ["train", "-o", model, "--add", "--keep-top", "3", "--words", str(tmp_path / "more")]
    assert main(command) == 2
    assert "leave out other settings" in capsys.readouterr().err
    baseline = ["train", str(tmp_path / "text"), "-o", str(tmp_path / "p"), "--model", "ppmi"]
    assert main([*baseline, "--keep-top", "3"]) == 2
    assert "--keep-top" in capsys.readouterr().err


def test_too_large_for_the_disk(
    board: DocumentIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 10}))
    with pytest.raises(FileError, match=r"only 10 are free on its disk; --keep-top 1000 stores 6 kB"):
        train_model(board, tmp_path / "m", settings=SETTINGS)


@pytest.mark.parametrize("wrong", [0, -1, True, 1.5, 1 << 30])
def test_wrong_numbers(board: DocumentIndex, tmp_path: Path, wrong: int) -> None:
    with pytest.raises(ParameterError, match="'keep_top' parameter of train_model must be an int from 1"):
        train_model(board, tmp_path / "m", settings=SETTINGS, keep_top=wrong)


def test_forged_rows_and_settings(board: DocumentIndex, tmp_path: Path) -> None:
    train_model(board, tmp_path / "m", ["a0", "a1"], settings=SETTINGS, keep_top=2)
    path = tmp_path / "m" / "vectors.top"
    (tmp_path / "m" / "manifest.json").write_text(json.dumps(without_checksums(tmp_path / "m")))
    good = path.read_bytes()
    for place, value in ((4, 9), (8, 200), (12, 0)):  # count, first position, second position
        forged = bytearray(good)
        forged[place : place + 4] = value.to_bytes(4, "little")
        path.write_bytes(forged)
        with pytest.raises(FileError, match=r"vectors.top: row 0 is damaged"):
            WordVectors.load(tmp_path / "m")["a0"]
        with pytest.raises(FileError, match="the file is damaged"):
            WordVectors.load(tmp_path / "m", verify=True)


def without_checksums(model: Path) -> dict[str, Any]:
    """Read a manifest as older ones were: a forger need not know of checksums."""
    manifest: dict[str, Any] = json.loads((model / "manifest.json").read_text())
    return {name: value for name, value in manifest.items() if name not in {"checksums", "checksum"}}


def test_manifest_and_settings_must_agree(board: DocumentIndex, tmp_path: Path) -> None:
    for name, keep_top in (("m", 2), ("n", None)):
        train_model(board, tmp_path / name, ["a0"], settings=SETTINGS, keep_top=keep_top)
    manifest = without_checksums(tmp_path / "m")
    other = json.loads((tmp_path / "n" / "manifest.json").read_text())
    manifest["files"]["settings.json"] = other["files"]["settings.json"]
    (tmp_path / "m" / "settings.json").write_bytes((tmp_path / "n" / "settings.json").read_bytes())
    (tmp_path / "m" / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(FileError, match="does not say the same of 'keep_top'"):
        WordVectors.load(tmp_path / "m")


@pytest.mark.parametrize(("most", "metric"), [(10_000, "similarity"), (9_999, "association")])
def test_huge_models_answer_by_association(monkeypatch: pytest.MonkeyPatch, most: int, metric: str) -> None:
    names = [f"w{k}" for k in range(100)]
    vectors = WordVectors(np.zeros((100, 100), np.int16), names, names)
    monkeypatch.setattr(module, "_MOST_NUMBERS", most)
    assert vectors.default_metric == metric
