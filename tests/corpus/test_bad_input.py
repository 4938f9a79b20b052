"""Whatever is wrong with the input: a defined result or a named error, and nothing left behind."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from omnitm.corpus import (
    DocumentIndex,
    Preparation,
    Reading,
    Resources,
    VocabularyRules,
    as_index,
    build_index,
    index_documents,
    storage,
)
from omnitm.corpus import reading as reading_module
from omnitm.errors import CorpusError, FileError, MissingExtraError, OmniTMError, ParameterError
from omnitm.files import system

WORD = r"\w+"
RUN = "import sys; from omnitm.cli import main; sys.exit(main())"


def refused(tmp_path: Path, data: bytes, message: str, name: str = "text.txt", **options: Any) -> None:
    """Indexing these bytes fails with a message that begins with the file, and leaves nothing behind."""
    source = tmp_path / name
    source.write_bytes(data)
    for n_threads in (1, 2):
        with pytest.raises(OmniTMError, match=message):
            build_index(source, tmp_path / "index", resources=Resources(n_threads=n_threads), **options)
        assert [path.name for path in tmp_path.iterdir()] == [name]
    source.unlink()


@pytest.mark.parametrize(
    "bad", [b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\x80"]
)
@pytest.mark.parametrize(
    "preparation", [Preparation(), Preparation(normalization="NFC"), Preparation(token_pattern=WORD)]
)
def test_not_utf8_names_file_and_byte(tmp_path: Path, bad: bytes, preparation: Preparation) -> None:
    refused(tmp_path, b"good line\n" * 3 + bad, r"text\.txt: not UTF-8 at byte 30;", preparation=preparation)


def test_not_utf8_far_into_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_module, "BLOCK_SIZE", 64)
    refused(tmp_path, b"a line\n" * 100 + b"caf\xe9\n" + b"\xff\n" * 50, r"not UTF-8 at byte 703;")


def test_wrong_encoding_names_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_module, "BLOCK_SIZE", 64)
    refused(tmp_path, b"plain\n" * 50 + b"\xe9", "not ASCII at byte 300", reading=Reading(encoding="ascii"))


def test_binary_file(tmp_path: Path) -> None:
    refused(tmp_path, b"some text\n\x7fELF\0\0", r"NUL at byte 14: this looks like a binary file")
    refused(tmp_path, "text".encode("utf-16-le"), "NUL at byte 1.*--encoding")


def test_empty_sources(tmp_path: Path) -> None:
    refused(tmp_path, b"", "no document in the corpus")
    refused(tmp_path, b"\n \n\n", "no word in the 3 documents")
    refused(tmp_path, b"", "no word in the 1 documents", reading=Reading(document="file"))
    refused(tmp_path, b"", "no document", name="t.csv", reading=Reading(column="text"))


def test_empty_files_and_documents_among_others(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_bytes(b"")
    (tmp_path / "text.txt").write_bytes(b"\ncat\n\n")
    build_index([tmp_path / "empty.txt", tmp_path / "text.txt"], tmp_path / "index")
    index = DocumentIndex.open(tmp_path / "index")
    assert index.document_offsets.tolist() == [0, 0, 1, 1]
    assert index.document_texts([0, 1, 2]) == {0: "", 1: "cat", 2: ""}


def test_no_word_left(tmp_path: Path) -> None:
    refused(
        tmp_path,
        b"the cat\n",
        "No word is left of 2 .*1 stop words, 1 too rare",
        vocabulary=VocabularyRules(min_count=2),
    )
    refused(tmp_path, b"the cat\n", "No word is left", vocabulary=VocabularyRules(fixed=["dog"]))


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_archives_cut_off_or_damaged(tmp_path: Path, suffix: str) -> None:
    text = os.urandom(3000).hex().encode()
    if suffix == ".zst":
        packed = pytest.importorskip("zstandard").ZstdCompressor().compress(text)
    else:
        packers: dict[str, Any] = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
        packed = packers[suffix](text)
    name = f"text.txt{suffix}"
    refused(tmp_path, packed[: len(packed) // 2], f"text.txt{suffix}: the archive is cut off", name=name)
    refused(
        tmp_path,
        b"not an archive at all",
        f"text.txt{suffix}: (the archive is damaged|cannot be read)",
        name=name,
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", r"t\.pdf: is a PDF document, not text; .* pdftotext"),
        (b"PK\3\4\x14\0\0\0word", r"t\.pdf: is an office document or a ZIP archive, not text; save it"),
        (b"\xd0\xcf\x11\xe0\xa1", r"t\.pdf: is an old office document, not text; save it as text"),
    ],
)
def test_documents_of_other_programs(tmp_path: Path, content: bytes, message: str) -> None:
    refused(tmp_path, content, message, name="t.pdf")


def test_missing_column(tmp_path: Path) -> None:
    table = b"id,body\n1,cat\n"
    column = Reading(column="text")
    refused(tmp_path, table, "no column 'text'; there are 'id', 'body'", name="t.csv", reading=column)
    refused(
        tmp_path, table, "which column holds the text.*--column NAME .*; there are 'id', 'body'", name="t.csv"
    )
    records = b'{"text": "a cat"}\n{"body": "x"}\n'
    refused(tmp_path, records, "line 2: no column 'text'", name="t.jsonl", reading=column)
    refused(tmp_path, records, "line 2: which column holds the text", name="t.jsonl")
    refused(tmp_path, b"text,x\ncat,1\n", "no column 'y'", name="t.csv", reading=Reading(column="y"))


def test_malformed_tables(tmp_path: Path) -> None:
    column = Reading(column="text")
    refused(
        tmp_path,
        b"id,text\n1,cat\n2\n",
        "line 3 has 1 columns, too few for 'text'",
        name="t.csv",
        reading=column,
    )
    refused(tmp_path, b'text\n"cat" x\n', "line 2: not a table", name="t.csv", reading=column)
    refused(tmp_path, b'{"text": "x"}\n{"text"\n', "line 2 is not JSON", name="t.jsonl", reading=column)
    refused(tmp_path, b"[" * 100_000, "line 1 is not JSON", name="t.jsonl", reading=column)
    refused(tmp_path, b"[1]\n", "line 1 is not a JSON object but list", name="t.jsonl", reading=column)
    refused(
        tmp_path,
        b'{"text": 7}\n',
        "line 1: 'text' is neither text nor a list",
        name="t.jsonl",
        reading=column,
    )
    refused(tmp_path, b'{"text": [7]}\n', "Words must be str. Got 7", name="t.jsonl", reading=column)
    refused(tmp_path, b"\xff,text\n", "not UTF-8 at byte 0", name="t.csv", reading=column)


def test_malformed_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    refused(
        tmp_path, b"PAR1 no", "not a readable Parquet file", name="t.parquet", reading=Reading(column="text")
    )


def test_surrogates_in_json_are_named(tmp_path: Path) -> None:
    refused(
        tmp_path,
        b'{"t": "\\ud800"}\n',
        "half of a surrogate pair",
        name="t.jsonl",
        reading=Reading(column="t"),
    )


def test_nul_in_strings_is_white_space(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_bytes(b'{"t": "cat\\u0000dog"}\n')
    build_index(tmp_path / "t.jsonl", tmp_path / "index", reading=Reading(column="t"))
    assert list(DocumentIndex.open(tmp_path / "index").vocabulary) == ["cat", "dog"]
    assert list(as_index(["cat\0dog"]).vocabulary) == ["cat", "dog"]


def test_endless_word_is_refused_and_endless_line_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_module, "BLOCK_SIZE", 1 << 10)
    monkeypatch.setattr(reading_module, "LONGEST_PIECE", 1 << 14)
    refused(tmp_path, b"x" * (1 << 15), "no white space in 16384 bytes from byte 0")
    (tmp_path / "text.txt").write_bytes(b"cat dog " * (1 << 13))
    build_index(tmp_path / "text.txt", tmp_path / "index")
    assert DocumentIndex.open(tmp_path / "index").document_words.tolist() == [0, 1]


def test_word_of_a_megabyte_is_dropped_and_counted() -> None:
    index = as_index(["cat " + "x" * (1 << 20)])
    assert list(index.vocabulary) == ["cat"]
    assert index.summary is not None
    assert index.summary.dropped["longer than 65,535 bytes"].tokens == 1


def test_missing_sources(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "x.png").write_bytes(b"")
    cases: list[tuple[Any, str]] = [
        (
            tmp_path / "no.txt",
            r"no\.txt: no such file or folder; name a file, a folder or a pattern in quotes",
        ),
        (tmp_path / "foldr", "foldr: no such file or folder; there is folder$"),
        (tmp_path / "none" / "no.txt", "no such file or folder; name a file"),
        (f"{tmp_path}/*.none", "the pattern matches no file; put it in quotes"),
        (tmp_path / "folder", "no text in this folder"),
    ]
    for source, message in cases:
        with pytest.raises(FileError, match=message):
            build_index(source, tmp_path / "index")
    with pytest.raises(ParameterError, match="No source was given"):
        build_index([], tmp_path / "index")


def test_unreadable_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "text.txt").write_text("cat")

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(FileError, match=r"text\.txt: cannot be read: Permission denied"):
        build_index(tmp_path / "text.txt", tmp_path / "index")


@pytest.mark.parametrize(
    ("module", "name", "extra"), [("zstandard", "t.txt.zst", "zstd"), ("pyarrow", "t.parquet", "parquet")]
)
def test_missing_extras_say_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, name: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(MissingExtraError, match=rf"pip install 'omnitm\[{extra}\]'"):
        build_index(tmp_path / name, tmp_path / "index", reading=Reading(column="text"))


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ("just a text", "cannot be a single str, and there is no file or index called 'just a text'"),
        ((text for text in ["cat"]), "more than once, but a generator is empty .*give list"),
        (iter(["cat"]), "more than once"),
        (b"bytes", "not bytes"),
        (7, "not int"),
        (["cat", 7], "Document 1: a document must be a str or a list of str. Got int"),
        ([b"cat"], "Got bytes"),
        ([["cat", 7]], "Words must be str. Got 7"),
        ([["cat\n"]], "line break"),
        (["\ud800"], "half of a surrogate pair"),
        ([], "no document"),
    ],
)
def test_bad_python_corpora(corpus: object, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        as_index(corpus)


def test_one_shot_documents_are_refused_on_disk_too(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"a generator is empty after the first time; give list\(...\)"):
        index_documents((text for text in ["cat"]), tmp_path / "index")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: VocabularyRules(max_words=0), "'max_words' .* int >= 1. Got 0"),
        (lambda: VocabularyRules(max_words=True), "'max_words'"),
        (lambda: VocabularyRules(min_count=-1), "'min_count'"),
        (lambda: VocabularyRules(min_documents=0), "'min_documents'"),
        (lambda: VocabularyRules(max_documents=1.5), "'max_documents' .* from 0 to 1. Got 1.5"),
        (lambda: VocabularyRules(max_documents=float("nan")), "'max_documents'"),
        (lambda: VocabularyRules(keep="cat"), "'keep' .* must be a list of words"),
        (lambda: VocabularyRules(fixed=[]), "'fixed' vocabulary is empty"),
        (lambda: VocabularyRules(fixed=["a", "a"]), "names 'a' twice"),
        (lambda: VocabularyRules(fixed=["a\n"]), "str without line breaks"),
        (lambda: Reading(document="sentence"), "'document' parameter of Reading"),
        (lambda: Reading(format="pdf"), "'format'"),
        (lambda: Reading(errors="ignore"), "'errors'"),
        (lambda: Reading(encoding="klingon"), "'encoding' .* Got 'klingon'"),
        (lambda: Resources(n_threads=0), "'n_threads'"),
        (lambda: Resources(memory=1000), "'memory' .* Got 1000"),
    ],
)
def test_bad_parameters(make: Any, message: str) -> None:
    with pytest.raises((ParameterError, CorpusError), match=message):
        make()


def test_existing_folders_are_never_overwritten_silently(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index_documents(["cat"], tmp_path / "index")
    before = (tmp_path / "index" / "manifest.json").read_bytes()
    with pytest.raises(FileError, match=r"index: exists already; .*--force"):
        index_documents(["dog"], tmp_path / "index")
    assert (tmp_path / "index" / "manifest.json").read_bytes() == before
    (tmp_path / "precious").mkdir()
    with pytest.raises(FileError, match="is not an index, so it is not overwritten"):
        index_documents(["dog"], tmp_path / "precious", overwrite=True)
    for exchanged in (True, False):
        if not exchanged:  # as on systems without renameat2
            monkeypatch.setattr(system, "exchange", lambda *_: False)
        index_documents([f"dog {exchanged}"], tmp_path / "index", overwrite=True)
        assert DocumentIndex.open(tmp_path / "index").n_words == 2
        assert sorted(path.name for path in tmp_path.iterdir()) == ["index", "precious"]


@pytest.mark.parametrize("failing", ["pwrite", "fsync", "rename", "mkdtemp"])
def test_full_disk_leaves_the_old_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    index_documents(["cat"], tmp_path / "index")

    def no_space(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    target: Any = {"mkdtemp": tempfile, "rename": Path}.get(failing, os)
    monkeypatch.setattr(target, failing, no_space)
    monkeypatch.setattr(system, "exchange", lambda *_: False)
    with pytest.raises(FileError, match="No space left on device"):
        index_documents(["dog"], tmp_path / "index", overwrite=True)
    monkeypatch.undo()
    assert list(DocumentIndex.open(tmp_path / "index").vocabulary) == ["cat"]
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


@pytest.mark.parametrize("bytes_per_sync", [1, 1 << 30])
def test_error_while_files_are_made_durable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bytes_per_sync: int
) -> None:
    def no_space(_: int) -> None:
        raise OSError(28, "No space left on device")

    sink = storage.FolderSink(tmp_path)
    monkeypatch.setattr(storage, "BYTES_PER_SYNC", bytes_per_sync)
    monkeypatch.setattr(os, "fsync", no_space)
    sink.append("word_counts", np.ones(3, dtype=np.uint64))
    with pytest.raises(FileError, match=r"word_counts\.bin.*No space left on device"):
        sink.seal({})
    sink.close()


def test_file_that_cannot_be_made(tmp_path: Path) -> None:
    sink = storage.FolderSink(tmp_path / "missing")
    with pytest.raises(FileError, match=r"word_counts\.bin: cannot be written: No such file or directory"):
        sink.append("word_counts", np.ones(3, dtype=np.uint64))
    sink.close()
    with pytest.raises(FileError, match=r"scratch0\.bin: cannot be written: No such file or directory"):
        storage.FileScratch(tmp_path / "missing")


def test_scratch_that_ends_too_early(tmp_path: Path) -> None:
    space = storage.FileScratch(tmp_path)
    with pytest.raises(FileError, match="ends too early"):
        space.get(storage.Handle(0, 5, "<u4"))
    space.close()


def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a cat\na dog\n")))
    build_index("-", tmp_path / "index")
    index = DocumentIndex.open(tmp_path / "index")
    assert (index.n_documents, list(index.vocabulary)) == (2, ["cat", "dog"])
    assert index.document_text(0) is None
    with pytest.raises(FileError, match="the text of the index is not there"):
        next(index.token_stream())


@pytest.mark.parametrize("n_threads", [1, 2])
def test_ctrl_c_leaves_nothing_behind(tmp_path: Path, n_threads: int) -> None:
    (tmp_path / "text.txt").write_text("some words of a text that is long\n" * 10_000)
    command = [sys.executable, "-c", RUN, "index", *["text.txt"] * 5000, "-o", "index"]
    command += ["--threads", str(n_threads)]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.glob(".index.*.making/*")):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "stopped; nothing was left behind" in errors
    assert [path.name for path in tmp_path.iterdir()] == ["text.txt"]
