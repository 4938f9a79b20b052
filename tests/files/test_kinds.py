"""What lies at a path is told by what it holds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from omnitm.corpus import build_index
from omnitm.errors import FileError
from omnitm.files.kinds import kind_of, refuse_other_kinds, refuse_to_replace, there_is
from omnitm.machine import AutoencoderSettings
from omnitm.store import ModelFolder, pack_model
from omnitm.training import train_model
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from pathlib import Path

    from omnitm.corpus import DocumentIndex

SETTINGS = AutoencoderSettings(n_clauses=4, n_examples=20, accumulation=2)


@pytest.fixture
def model(board: DocumentIndex, tmp_path: Path) -> Path:
    train_model(board, tmp_path / "m", ["a0", "a1"], settings=SETTINGS)
    return tmp_path / "m"


def test_kinds(board: DocumentIndex, model: Path, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("a road and a car\n")
    index = build_index(tmp_path / "t.txt", tmp_path / "i")
    packed = tmp_path / "model.omnitm"
    pack_model(model, packed)
    train_model(board, tmp_path / "top", ["a0"], settings=SETTINGS, keep_top=2)
    assert [kind_of(path) for path in (model, tmp_path / "top", index, packed, tmp_path / "t.txt")] == [
        "model",
        "model",
        "index",
        "packed model",
        "text",
    ]
    assert kind_of(tmp_path) == "saved model"
    packed.rename(tmp_path / "other")
    assert (kind_of(tmp_path), kind_of(tmp_path / "other")) == ("folder", "packed model")
    assert kind_of(tmp_path / "nowhere") == "nothing"
    os.mkfifo(tmp_path / "pipe")
    assert kind_of(tmp_path / "pipe") == "text"


@pytest.mark.parametrize("text", ["x" * 5000, "a\0b", "", "a road\nand a car"])
def test_any_text_may_be_asked_about(text: str) -> None:
    assert kind_of(text) == "nothing"


def test_a_model_without_its_manifest_is_one_and_so_is_one_in_training(
    model: Path, board: DocumentIndex, tmp_path: Path
) -> None:
    record = train_model(board, tmp_path / "r", ["a0"], settings=SETTINGS).training
    for content in (b"", b"{}", b"\xff{", None):
        if content is None:
            (model / "manifest.json").unlink()
        else:
            (model / "manifest.json").write_bytes(content)
        assert kind_of(model) == "model"
    with pytest.raises(FileError, match="already holds what is left of a model; --force replaces it"):
        ModelFolder.create(model, ["a0"], board.vocabulary, record)  # type: ignore[arg-type]
    with ModelFolder.create(model, ["a0"], board.vocabulary, record, force=True):  # type: ignore[arg-type]
        assert kind_of(model) == "model"
    content = (model / "journal").read_bytes()
    for damaged in (b"", content[:5], b"x" + content[1:]):
        (model / "journal").write_bytes(damaged)
        assert kind_of(model) == "model"


def test_a_damaged_index_is_still_one(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("a road and a car\n")
    index = build_index(tmp_path / "t.txt", tmp_path / "i")
    (index / "manifest.json").write_text("nonsense")
    assert kind_of(index) == "index"
    (index / "manifest.json").unlink()
    (index / "word_offsets.bin").unlink()
    assert kind_of(index) == "index"
    assert kind_of(build_index(tmp_path / "t.txt", index, overwrite=True)) == "index"


@pytest.mark.parametrize(
    ("name", "content"),
    [("journal", "Dear diary\n"), ("manifest.json", '{"name": "a web page"}'), ("words.txt", "road\n")],
)
def test_files_of_others_with_our_names_are_left_alone(
    board: DocumentIndex, tmp_path: Path, name: str, content: str
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / name).write_text(content)
    (home / "letter.odt").write_text("mine")
    assert kind_of(home) == "folder"
    for options in ({}, {"force": True}, {"resume": True}):
        with pytest.raises(FileError, match=r"is not empty|is not a model|is not the manifest"):
            train_model(board, home, ["a0"], settings=SETTINGS, **options)  # type: ignore[arg-type]
    assert (home / name).read_text() == content
    (home / "letter.odt").unlink()
    if name != "words.txt":
        with pytest.raises(FileError, match=rf"is not empty \(it has {name}\)"):
            train_model(board, home, ["a0"], settings=SETTINGS, force=True)
        assert (home / name).read_text() == content


def test_an_index_with_something_else_in_it_is_not_replaced(board: DocumentIndex, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("a road and a car\n")
    index = build_index(tmp_path / "t.txt", tmp_path / "i")
    train_model(board, index / "model", ["a0"], settings=SETTINGS)
    with pytest.raises(FileError, match="has model in it, which is no part of an index and would be lost"):
        build_index(tmp_path / "t.txt", index, overwrite=True)
    assert kind_of(index / "model") == "model"


def test_the_refusals(model: Path) -> None:
    with pytest.raises(FileError, match=r"m: is a model, not text; omnitm info .*m says what is in it"):
        refuse_other_kinds(model, "text")
    with pytest.raises(FileError, match=r"m: is a model, not an index, so it is not replaced; choose"):
        refuse_to_replace(model, "index")
    refuse_other_kinds(model, "model", "packed model")
    refuse_other_kinds(model.parent, "model")
    refuse_to_replace(model.parent / "new", "model")


def test_what_is_spelled_like_a_missing_path(model: Path, tmp_path: Path) -> None:
    for name in ("wiki.txt", "other"):
        (tmp_path / name).write_text("a road", encoding="utf-8")
    model.rename(tmp_path / "wiki.tm")
    assert there_is(tmp_path / "wikki.t", "make one") == "there is wiki.tm, wiki.txt"
    assert there_is(tmp_path / "wikki.t", "make one", "model") == "there is wiki.tm"
    assert there_is(tmp_path / "wikki.t", "make one", "index") == "make one"
    assert there_is(tmp_path / "none" / "wiki.txt", "make one") == "make one"
    with pytest.raises(FileError, match=r"wikki\.tm: does not exist; there is wiki\.tm$"):
        WordVectors.load(tmp_path / "wikki.tm")
