"""The text behind an index, appended documents, and words that occur together."""

from __future__ import annotations

import json
import lzma
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omnitm.corpus import (
    DocumentIndex,
    Preparation,
    Reading,
    Resources,
    VocabularyRules,
    append_to_index,
    build_index,
    cooccurrence,
    index_documents,
    partners,
)
from omnitm.corpus import reading as reading_module
from omnitm.errors import CorpusError, FileError, ParameterError, UnknownWordError

if TYPE_CHECKING:
    from pathlib import Path

LINES = [f"line {chr(97 + k % 26)}{chr(97 + k // 26)} of the text" for k in range(400)]
ARRAYS = ("document_offsets", "document_words", "word_offsets", "word_documents", "word_counts")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_module, "BLOCK_SIZE", 256)


def write(path: Path, lines: list[str], separator: str = "\n") -> Path:
    data = separator.join(lines).encode("utf-16" if "16" in path.name else "utf-8")
    path.write_bytes(lzma.compress(data) if path.suffix == ".xz" else data)
    return path


@pytest.mark.parametrize("name", ["text.txt", "text.txt.xz", "text16.txt"])
@pytest.mark.parametrize("unit", ["line", "paragraph"])
def test_documents_are_found_again(tmp_path: Path, name: str, unit: str) -> None:
    separator = "\n" if unit == "line" else "\n\n"
    source = write(tmp_path / name, LINES, separator)
    other = write(tmp_path / f"other{name}", ["the other file", "its end"], separator)
    blank = write(tmp_path / f"blank{name}", ["", ""], separator)
    reading = Reading(document=unit, encoding="utf-16" if "16" in name else "utf-8")
    build_index([source, blank, other], tmp_path / "index", reading=reading)
    index = DocumentIndex.open(tmp_path / "index")
    numbers = [399, 0, 1, 57, 58, 200, index.n_documents - 2, index.n_documents - 1]
    texts = index.document_texts(numbers)
    assert [texts[n] for n in numbers[:6]] == [LINES[n] for n in numbers[:6]]
    assert [texts[n] for n in numbers[6:]] == ["the other file", "its end"]
    assert index.document_text(123) == LINES[123]


def test_long_documents_are_found_again(tmp_path: Path) -> None:
    lines = ["short", "long " * 1000, "after"]
    build_index(write(tmp_path / "text.txt", lines), tmp_path / "index")
    index = DocumentIndex.open(tmp_path / "index")
    assert [index.document_text(n) for n in range(3)] == lines


def test_changed_text_is_not_shown(tmp_path: Path) -> None:
    source = write(tmp_path / "text.txt", LINES)
    build_index(source, tmp_path / "index")
    index = DocumentIndex.open(tmp_path / "index")
    source.write_text("\n".join(LINES).replace("text", "tale"))
    assert index.document_text(3) is None
    source.write_bytes(b"\xff" * source.stat().st_size)
    assert index.document_text(3) is None
    source.write_text("shorter")
    assert index.document_text(3) is None
    with pytest.raises(
        FileError, match=r"text\.txt: the text has changed: \d+ bytes when it was indexed, 7 now"
    ):
        next(index.token_stream())
    source.unlink()
    assert index.document_text(3) is None
    with pytest.raises(FileError, match=r"text\.txt: the text of the index is not there any more"):
        next(index.token_stream())


def test_document_numbers_are_checked(tmp_path: Path) -> None:
    index_documents(["cat"], tmp_path / "index")
    index = DocumentIndex.open(tmp_path / "index")
    assert index.document_text(0) is None
    with pytest.raises(ParameterError, match=r"from 0 to 0. Got 1"):
        index.document_text(1)


def test_token_stream_keeps_order_and_repeats(tmp_path: Path) -> None:
    lines = ["The cat saw a cat, a dog.", "", "Dog! Unknown dog"]
    build_index(
        write(tmp_path / "text.txt", lines), tmp_path / "index", vocabulary=VocabularyRules(min_count=2)
    )
    index = DocumentIndex.open(tmp_path / "index")
    assert list(index.token_stream()) == [["cat", "cat", "dog"], [], ["dog", "dog"]]
    with pytest.raises(CorpusError, match="does not know its text"):
        next(DocumentIndex.from_documents(lines).token_stream())


@pytest.mark.parametrize("n_threads", [1, 2])
def test_appending_equals_building_at_once(
    tmp_path: Path, n_threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("omnitm.corpus.append.ELEMENTS_AT_A_TIME", 50)
    first = write(tmp_path / "first.txt", LINES[:150])
    second = tmp_path / "second.jsonl"
    second.write_text("".join(json.dumps({"t": line}) + "\n" for line in LINES[100:]))
    build_index(first, tmp_path / "index")
    vocabulary = DocumentIndex.open(tmp_path / "index").vocabulary
    append_to_index(
        tmp_path / "index", second, reading=Reading(column="t"), resources=Resources(n_threads=n_threads)
    )
    index = DocumentIndex.open(tmp_path / "index")
    index.verify()
    expected = DocumentIndex.from_documents(
        LINES[:150] + LINES[100:], vocabulary=VocabularyRules(fixed=vocabulary)
    )
    assert list(index.vocabulary) == list(vocabulary)
    for name in ARRAYS:
        assert np.array_equal(getattr(index, name), getattr(expected, name)), name
    assert index.document_texts([7, 149, 150, 449]) == {
        7: LINES[7],
        149: LINES[149],
        150: LINES[100],
        449: LINES[399],
    }
    assert index.summary is not None
    assert index.summary.n_documents == 450
    assert index.summary.all_words.tokens == 450 * 5
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.txt", "index", "second.jsonl"]
    assert len(list(index.token_stream())) == 450


def test_failed_append_leaves_the_index(tmp_path: Path) -> None:
    build_index(write(tmp_path / "text.txt", LINES), tmp_path / "index")
    before = {file.name: file.read_bytes() for file in (tmp_path / "index").iterdir()}
    (tmp_path / "bad.txt").write_bytes(b"fine\n\xff\n")
    with pytest.raises(FileError, match=r"bad\.txt: not UTF-8 at byte 5"):
        append_to_index(tmp_path / "index", tmp_path / "bad.txt")
    with pytest.raises(FileError, match="no such index"):
        append_to_index(tmp_path / "none", tmp_path / "bad.txt")
    assert {file.name: file.read_bytes() for file in (tmp_path / "index").iterdir()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.txt", "index", "text.txt"]


def test_too_many_documents_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("omnitm.corpus.counting.MOST_DOCUMENTS", 100)
    with pytest.raises(CorpusError, match="at most 100 documents"):
        build_index(write(tmp_path / "text.txt", LINES), tmp_path / "index")
    monkeypatch.setattr("omnitm.corpus.counting.MOST_DOCUMENTS", 500)
    build_index(tmp_path / "text.txt", tmp_path / "index")
    monkeypatch.setattr("omnitm.corpus.append.MOST_DOCUMENTS", 500)
    with pytest.raises(CorpusError, match="at most 500 documents"):
        append_to_index(tmp_path / "index", tmp_path / "text.txt")


def test_append_needs_the_tokenizer_again(tmp_path: Path) -> None:
    source = write(tmp_path / "text.txt", LINES)
    build_index(source, tmp_path / "index", preparation=Preparation(tokenizer=str.split))
    with pytest.raises(CorpusError, match="give it again"):
        append_to_index(tmp_path / "index", source)
    append_to_index(tmp_path / "index", source, tokenizer=str.split)
    index = DocumentIndex.open(tmp_path / "index")
    assert index.n_documents == 800
    assert index.document_text(0) == LINES[0]  # cannot be compared without the tokeniser


def test_words_together() -> None:
    index = DocumentIndex.from_documents(["cat dog", "cat mouse", "dog cat mouse", "bird", "mouse mouse"])
    found = cooccurrence(index, ["cat", "mouse", "dog", "bird"])
    assert found.pairs.tolist() == [[3, 2, 2, 0], [2, 3, 1, 0], [2, 1, 2, 0], [0, 0, 0, 1]]
    assert found.documents.tolist() == []
    assert cooccurrence(index, ["mouse", "cat"]).documents.tolist() == [1, 2]
    assert cooccurrence(index, ["bird"]).documents.tolist() == [3]
    company = partners(index, "cat")
    assert [(partner.word, partner.documents) for partner in company] == [("dog", 2), ("mouse", 2)]
    assert [partner.lift for partner in company] == pytest.approx([2 / (2 * 3 / 5), 2 / (3 * 3 / 5)])
    assert partners(index, "cat", 1) == company[:1]
    assert partners(index, "bird") == []


def test_partners_are_ranked_by_lift_not_by_frequency() -> None:
    texts = ["tea cup news"] * 10 + ["news"] * 200 + ["tea odd"] + ["cup news"] * 5
    found = [partner.word for partner in partners(DocumentIndex.from_documents(texts), "tea")]
    assert found == ["cup", "news", "odd"]  # one shared document may be chance


def test_words_together_refuses_bad_words() -> None:
    index = DocumentIndex.from_documents(["cat dog"])
    with pytest.raises(UnknownWordError, match="'cart' is not in the vocabulary; spelled like it: cat"):
        cooccurrence(index, ["cat", "cart"])
    with pytest.raises(ParameterError, match=r"must be a list of words. Got 'cat'"):
        cooccurrence(index, "cat")
    with pytest.raises(ParameterError, match="must be a list of words"):
        cooccurrence(index, [])
    empty = DocumentIndex.from_documents(["cat"], vocabulary=VocabularyRules(fixed=["cat", "dog", "cow"]))
    assert cooccurrence(empty, ["dog", "cow"]).pairs.tolist() == [[0, 0], [0, 0]]


def test_a_packed_text_is_unpacked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Explanations ask for one document after the other, in any order."""
    build_index(write(tmp_path / "text.txt.xz", LINES), tmp_path / "index")
    index, read = DocumentIndex.open(tmp_path / "index"), []
    unpack = reading_module.SourceStream._read_some

    def counted(stream: reading_module.SourceStream, buffer: memoryview) -> int:
        read.append(unpack(stream, buffer))
        return read[-1]

    monkeypatch.setattr(reading_module.SourceStream, "_read_some", counted)
    monkeypatch.setattr(reading_module, "PIECE", 300)
    numbers = [5, 390, 7, 200, 5, 399, 0]
    assert [index.document_text(n) for n in numbers[:1]] == [LINES[5]]
    assert sum(read) < len("\n".join(LINES)) // 4  # no further than the document
    assert [index.document_text(n) for n in numbers] == [LINES[n] for n in numbers]
    assert sum(read) == len("\n".join(LINES))
