"""The index as an object and as a folder."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from omnitm.corpus import DocumentIndex, as_index, build_index, index_documents
from omnitm.errors import CorpusError, FileError, UnknownWordError
from omnitm.files.checked import CheckedFile, FileDigest

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXTS = ["cat dog", "", "cat mouse", "dog cat mouse", "bird"]


@pytest.fixture(scope="module")
def good_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return index_documents(TEXTS, tmp_path_factory.mktemp("good") / "index")


def test_as_index_takes_every_form(good_index: Path) -> None:
    index = DocumentIndex.open(good_index)
    matrix = np.zeros((index.n_documents, index.n_words), dtype=np.int8)
    for document in range(index.n_documents):
        matrix[document, index.words_of(document)] = 2
    tokens = [text.split() for text in TEXTS]
    forms = [index, good_index, str(good_index), TEXTS, tuple(TEXTS), tokens]
    for form in forms:
        assert_same(as_index(form), index)
    assert_same(as_index(csr_matrix(matrix), vocabulary=index.vocabulary), index)
    assert_same(as_index(TEXTS, vocabulary=index.vocabulary), index)
    assert_same(as_index(index, vocabulary=index.vocabulary), index)


def assert_same(index: DocumentIndex, other: DocumentIndex) -> None:
    assert list(index.vocabulary) == list(other.vocabulary)
    for name in ("document_offsets", "document_words", "word_offsets", "word_documents"):
        assert np.array_equal(getattr(index, name), getattr(other, name))
        assert getattr(index, name).dtype == getattr(other, name).dtype


def test_as_index_refuses_contradictions(good_index: Path) -> None:
    with pytest.raises(CorpusError, match="A matrix needs the words of its columns"):
        as_index(csr_matrix(np.eye(2)))
    with pytest.raises(CorpusError, match="has 2 columns but the vocabulary has 1 words"):
        as_index(csr_matrix(np.eye(2)), ["a"])
    with pytest.raises(CorpusError, match="names a word twice"):
        as_index(csr_matrix(np.eye(2)), ["a", "a"])
    with pytest.raises(CorpusError, match="vocabulary of its own"):
        as_index(good_index, vocabulary=["cat"])
    with pytest.raises(FileError, match="no such file or index; make an index with: omnitm index"):
        as_index(Path("nowhere"))


def test_looking_up(good_index: Path) -> None:
    index = DocumentIndex.open(good_index)
    assert index.documents_with(index.word_id("mouse")).tolist() == [2, 3]
    assert index.document_frequencies.tolist() == [3, 2, 2, 1]
    assert (index.n_documents, index.n_words) == (5, 4)
    with pytest.raises(UnknownWordError, match=r"'mous' is not in .*; spelled like it: mouse"):
        index.word_id("mous")
    assert index.word_id("Mouse,") == index.word_id("mouse")
    with pytest.raises(UnknownWordError, match="'the' is a stop word of this index"):
        index.known_word("the")


def test_pickles_are_small_on_disk_and_whole_in_memory(good_index: Path) -> None:
    index = DocumentIndex.open(good_index)
    assert len(pickle.dumps(index)) < 1000
    assert_same(pickle.loads(pickle.dumps(index)), index)  # noqa: S301  # our own bytes
    in_memory = as_index(TEXTS)
    assert_same(pickle.loads(pickle.dumps(in_memory)), in_memory)  # noqa: S301  # our own bytes


def test_opening_reads_no_document(good_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The large arrays are mapped and checked when they are first used, each once."""
    checked: list[str] = []
    check = CheckedFile.check

    def counted(file: CheckedFile) -> None:
        checked.append(file.path.name)
        check(file)

    monkeypatch.setattr(CheckedFile, "check", counted)
    index = DocumentIndex.open(good_index)
    of_words = ["word_counts.bin", "word_offsets.bin", "word_starts.bin"]
    assert sorted(checked) == ["document_offsets.bin", *of_words]
    for _ in range(2):
        index.words_of(3)
    assert checked.count("document_words.bin") == 1
    assert "word_documents.bin" not in checked
    index.documents_with(0)
    assert checked.count("word_documents.bin") == 1


def test_every_file_is_in_the_manifest_and_documented(good_index: Path) -> None:
    manifest = json.loads((good_index / "manifest.json").read_text())
    files = {**manifest["files"], "checksums.bin": manifest["checksums"]}
    assert {file.name for file in good_index.iterdir()} == {"manifest.json", *files}
    for name, facts in files.items():
        assert FileDigest((good_index / name).read_bytes()).entry == (facts["size"], facts["sha256"])


def test_golden_bytes(good_index: Path) -> None:
    def numbers(name: str, dtype: str) -> list[int]:
        return list(np.frombuffer((good_index / f"{name}.bin").read_bytes(), dtype=dtype))

    assert (good_index / "vocabulary.txt").read_bytes() == b"cat\ndog\nmouse\nbird\n"
    assert numbers("document_offsets", "<u8") == [0, 2, 2, 4, 7, 8]
    assert numbers("document_words", "<u4") == [0, 1, 0, 2, 0, 1, 2, 3]
    assert numbers("word_offsets", "<u8") == [0, 3, 5, 7, 8]
    assert numbers("word_documents", "<u4") == [0, 2, 3, 0, 3, 2, 3, 4]
    assert numbers("word_counts", "<u8") == [3, 2, 2, 1]


def damaged(good_index: Path, tmp_path: Path, name: str, change: Any) -> Path:
    copy = tmp_path / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(good_index, copy)
    file = copy / name
    file.write_bytes(change(file.read_bytes()))
    return copy


@pytest.fixture
def copy(good_index: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(good_index, tmp_path / "copy"))


@contextlib.contextmanager
def changed(file: Path, content: bytes | bytearray) -> Iterator[None]:
    """Change a file for a while."""
    before = file.read_bytes()
    file.write_bytes(content)
    yield
    file.write_bytes(before)


@pytest.mark.parametrize("cuts", [3, pytest.param(1000, marks=pytest.mark.torture)])
def test_every_truncation_is_noticed(copy: Path, cuts: int) -> None:
    rng = np.random.default_rng(1)
    for name in sorted(file.name for file in copy.iterdir()):
        size = (copy / name).stat().st_size
        drawn = rng.integers(0, max(size, 1), cuts).tolist()
        for length in {0, size // 2, size - 1, *drawn} - {size}:
            if size == 0:
                continue
            content = (copy / name).read_bytes()[:length]
            with changed(copy / name, content), pytest.raises(FileError, match=name):
                DocumentIndex.open(copy)
    DocumentIndex.open(copy).verify()


@pytest.mark.parametrize("flips", [12, pytest.param(1000, marks=pytest.mark.torture)])
def test_every_flipped_bit_is_noticed(copy: Path, flips: int) -> None:
    rng = np.random.default_rng(flips)
    files = sorted(file for file in copy.iterdir() if file.stat().st_size)
    for file in files * flips:
        content = bytearray(file.read_bytes())
        content[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
        with changed(file, content), pytest.raises(FileError, match=r"copy/\w+\.\w+: "):
            DocumentIndex.open(copy).verify()
    DocumentIndex.open(copy).verify()


def test_large_files_are_checked_when_they_are_first_used(good_index: Path, tmp_path: Path) -> None:
    copy = damaged(good_index, tmp_path, "document_words.bin", lambda data: data[:-4] + b"\1\0\0\0")
    index = DocumentIndex.open(copy)
    assert index.documents_with(0).tolist() == [0, 2, 3]
    with pytest.raises(FileError, match=r"document_words\.bin: damaged near byte 0"):
        index.words_of(0)
    with pytest.raises(FileError, match=r"document_words\.bin: the file is damaged \(it differs from"):
        index.verify()


@pytest.mark.parametrize("name", ["document_words", "word_documents"])
def test_numbers_of_older_indexes_without_checksums_are_checked_by_range(
    good_index: Path, tmp_path: Path, name: str
) -> None:
    copy = forged(good_index, tmp_path, lambda _: None)
    assert DocumentIndex.open(copy).words_of(0).tolist() == [0, 1]
    (copy / f"{name}.bin").write_bytes((copy / f"{name}.bin").read_bytes()[:-4] + b"\xff\0\0\0")
    with pytest.raises(FileError, match=rf"{name}\.bin: row \d has numbers out of range or out of order"):
        getattr(DocumentIndex.open(copy), name)


def without_checksums(data: bytes) -> dict[str, Any]:
    """Read a manifest as older ones were: a forger need not know of checksums."""
    manifest = json.loads(data)
    return {name: value for name, value in manifest.items() if name not in {"checksums", "checksum"}}


def forged(good_index: Path, tmp_path: Path, change: Any) -> Path:
    def edit(data: bytes) -> bytes:
        manifest = without_checksums(data)
        change(manifest)
        return json.dumps(manifest).encode()

    return damaged(good_index, tmp_path, "manifest.json", edit)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.update(format="zip"), "is not the manifest of an omnitm index"),
        (lambda m: m.update(version=99), "has version 99 instead of version 1"),
        (lambda m: m.update(n_documents=2**62), "should have .* bytes by the figures of manifest.json"),
        (lambda m: m.update(n_documents=-1), "does not list the files"),
        (lambda m: m.update(n_words=True), "does not list the files"),
        (lambda m: m["files"].update({"../x": m["files"]["vocabulary.txt"]}), "does not list the files"),
        (lambda m: m["files"].pop("vocabulary.txt"), "does not list the files"),
        (lambda m: m["files"].update({"vocabulary.txt": 3}), "must give size and sha256 of vocabulary.txt"),
        (lambda m: m["files"].update({f"f{k}": {} for k in range(10_000)}), "more than any model"),
    ],
)
def test_forged_manifests_are_refused(good_index: Path, tmp_path: Path, change: Any, message: str) -> None:
    with pytest.raises(FileError, match=message):
        DocumentIndex.open(forged(good_index, tmp_path, change))


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"[" * 60_000, b"\xff"])
def test_manifests_that_are_no_json_are_refused(good_index: Path, tmp_path: Path, data: bytes) -> None:
    with pytest.raises(FileError, match=r"manifest\.json: (is not JSON|must hold a JSON object)"):
        DocumentIndex.open(damaged(good_index, tmp_path, "manifest.json", lambda _: data))


def resealed(folder: Path, name: str) -> None:
    """Make the manifest agree with a changed file, as a forger would."""
    manifest = without_checksums((folder / "manifest.json").read_bytes())
    manifest["files"][name] = FileDigest((folder / name).read_bytes()).entry._asdict()
    (folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("vocabulary.txt", lambda data: data + b"x\n", "another number of words"),
        ("vocabulary.txt", lambda _: b"cat\n\xff\na\nb\n", "not UTF-8"),
        ("document_offsets.bin", lambda data: b"\1" + data[1:], "does not span all pairs"),
        ("options.json", lambda _: b"{", "options.json: damaged: not JSON"),
        ("options.json", lambda _: b"[]", "options.json: damaged"),
        ("summary.json", lambda _: b"{}", "summary.json: damaged"),
        ("options.json", lambda _: b'{"preparation": {"digits": 3}}', "options.json: damaged"),
    ],
)
def test_forged_files_are_refused(
    good_index: Path, tmp_path: Path, name: str, change: Any, message: str
) -> None:
    copy = damaged(good_index, tmp_path, name, change)
    resealed(copy, name)
    with pytest.raises(FileError, match=message):
        DocumentIndex.open(copy)


def test_forged_arrays_are_noticed_by_verify(good_index: Path, tmp_path: Path) -> None:
    for name, row in [("document_words", 4), ("word_documents", 3)]:
        copy = damaged(good_index, tmp_path, f"{name}.bin", lambda data: data[:-4] + b"\xff\0\0\0")
        resealed(copy, f"{name}.bin")
        index = DocumentIndex.open(copy)
        with pytest.raises(
            FileError, match=f"{name}.bin: row {row} has numbers out of range or out of order"
        ):
            index.verify()


def test_missing_and_linked_files_are_refused(good_index: Path, tmp_path: Path) -> None:
    copy = damaged(good_index, tmp_path, "vocabulary.txt", bytes)
    (copy / "vocabulary.txt").rename(tmp_path / "elsewhere")
    with pytest.raises(FileError, match=r"vocabulary\.txt: is missing"):
        DocumentIndex.open(copy)
    (copy / "vocabulary.txt").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileError, match=r"vocabulary\.txt: is a symbolic link"):
        DocumentIndex.open(copy)
    (copy / "manifest.json").unlink()
    with pytest.raises(FileError, match="this folder is not an omnitm index"):
        DocumentIndex.open(copy)


def test_unreadable_files_are_named(good_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    for name in ("open", "fdopen"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, broken)
            with pytest.raises(FileError, match=r"manifest\.json: cannot be read: Input/output error"):
                DocumentIndex.open(good_index)


def test_a_byte_order_mark_is_no_word(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_bytes(b"\xef\xbb\xbfcat\ncat\n")
    build_index(tmp_path / "text.txt", tmp_path / "index")
    assert list(DocumentIndex.open(tmp_path / "index").vocabulary) == ["cat"]
