"""Copies of a corpus for machines that don't see it."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest

from omnitm.corpus import DocumentIndex, build_index
from omnitm.engines.shared_corpus import ARRAYS, CorpusSource, MappedCorpus, SharedCorpus, local_copy, shared
from omnitm.errors import FileError


@pytest.fixture
def corpus(topics: DocumentIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SharedCorpus:
    monkeypatch.setenv("OMNITM_CACHE", str(tmp_path / "cache"))
    with shared(topics) as found:
        return found


def assert_same(copy: MappedCorpus | None, index: DocumentIndex) -> None:
    assert copy is not None
    assert copy.n_words == index.n_words
    for name in ARRAYS:
        assert np.array_equal(getattr(copy, name), getattr(index, name)), name


def full(*_: object, **__: object) -> bytes:
    raise OSError(28, "No space left on device")


def test_an_index_on_disk_is_mapped_where_it_is(topics: DocumentIndex, corpus: SharedCorpus) -> None:
    assert corpus.path == str(topics.path)
    assert_same(MappedCorpus.open(corpus), topics)


def test_an_index_in_memory_is_written_and_removed(board: DocumentIndex) -> None:
    with shared(board) as corpus:
        assert_same(MappedCorpus.open(corpus), board)
    assert not Path(corpus.path).exists()


def test_no_room_for_an_index_in_memory(board: DocumentIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "open", full)
    with (
        pytest.raises(FileError, match=r"No space left on device; set TMPDIR to a folder with room"),
        shared(board),
    ):
        pass


def test_another_index_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("road car\nsea ship\n")
    (tmp_path / "b.txt").write_text("road car\nsea sail\n")
    index = build_index(tmp_path / "a.txt", tmp_path / "index")
    with shared(DocumentIndex.open(index)) as corpus:
        build_index(tmp_path / "b.txt", tmp_path / "index", overwrite=True)
        with pytest.raises(FileError, match=r"manifest\.json: belongs to another index than the one"):
            MappedCorpus.open(corpus)
        with pytest.raises(FileError, match=r"manifest\.json: is missing"):
            MappedCorpus.open(SharedCorpus(str(tmp_path / "none"), corpus.seal))


def test_damaged_and_missing_arrays_are_refused(topics: DocumentIndex, corpus: SharedCorpus) -> None:
    copy = local_copy(corpus, CorpusSource(corpus).read)
    assert_same(copy, topics)
    file = Path(os.environ["OMNITM_CACHE"]) / corpus.seal / "word_documents.bin"
    here = SharedCorpus(str(file.parent), corpus.seal)
    with file.open("ab") as longer:
        longer.write(b"1234")
    with pytest.raises(FileError, match=r"word_documents\.bin: should have [\d,]+ bytes but has"):
        MappedCorpus.open(here)
    file.unlink()
    with pytest.raises(FileError, match=r"word_documents\.bin: is missing"):
        MappedCorpus.open(here)
    assert_same(local_copy(corpus, CorpusSource(corpus).read), topics)  # fetched again


def test_a_copy_is_fetched_once_by_all_workers_of_a_machine(
    topics: DocumentIndex, corpus: SharedCorpus
) -> None:
    assert local_copy(corpus, None) is None
    source, calls = CorpusSource(corpus), []

    def read(name: str, offset: int, size: int) -> bytes:
        calls.append(name)
        return source.read(name, offset, size if name == "manifest.json" else 100)  # in many parts

    copies: list[MappedCorpus | None] = []
    workers = [threading.Thread(target=lambda: copies.append(local_copy(corpus, read))) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(copies) == 4
    for copy in copies:
        assert_same(copy, topics)
    assert calls.count("manifest.json") == 1
    assert_same(local_copy(corpus, None), topics)


@pytest.mark.parametrize("kind", ["flip", "cut"])
def test_a_copy_that_arrives_damaged_is_refused(corpus: SharedCorpus, kind: str) -> None:
    source = CorpusSource(corpus)

    def read(name: str, offset: int, size: int) -> bytes:
        content = source.read(name, offset, size)
        if name != "word_documents.bin" or (kind == "cut" and offset):
            return content if name != "word_documents.bin" else b""
        return content[:-4] if kind == "cut" else bytes([content[0] ^ 1]) + content[1:]

    with pytest.raises(FileError, match=r"word_documents\.bin: arrived damaged"):
        local_copy(corpus, read)
    with pytest.raises(FileError, match=r"manifest\.json: is not the manifest of an omnitm index"):
        local_copy(corpus, lambda *_: b"{}")
    assert local_copy(corpus, None) is None


def test_a_source_gives_nothing_else_away(corpus: SharedCorpus) -> None:
    for name in ("../secret", "/etc/passwd", "sources.json"):
        with pytest.raises(FileError, match="is not given away"):
            CorpusSource(corpus).read(name, 0, 10)


def test_caches_that_cannot_be_used(
    corpus: SharedCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("OMNITM_CACHE", str(tmp_path / "file" / "x"))
    with pytest.raises(FileError, match="cannot be made: Not a directory; set OMNITM_CACHE"):
        local_copy(corpus, None)
    (tmp_path / "mine").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    monkeypatch.setenv("OMNITM_CACHE", str(tmp_path / "link"))
    with pytest.raises(FileError, match="is not a folder of this user; set OMNITM_CACHE to one"):
        local_copy(corpus, None)
    monkeypatch.setenv("OMNITM_CACHE", str(tmp_path / "mine"))
    with pytest.raises(FileError, match="No space left on device; set OMNITM_CACHE to a folder with room"):
        local_copy(corpus, full)
