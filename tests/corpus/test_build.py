"""Text to index, checked against counting in plain Python."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omnitm.corpus import (
    DocumentIndex,
    Preparation,
    Progress,
    Reading,
    Resources,
    VocabularyRules,
    build,
    build_index,
    counting,
    index_documents,
)
from omnitm.corpus import assembling as assembling_module
from omnitm.corpus import reading as reading_module
from omnitm.corpus.storage import ARRAYS

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

WORD = r"\w\w+"
TEXTS = ["The cat sat on the mat.", "", "A dog and a CAT!", "mat, mat; mat", "42", "dog dog cat bird"]


def expected(documents: list[list[str]], max_words: int | None = 40_000) -> tuple[list[str], list[list[int]]]:
    """Vocabulary and rows as the slow, obvious way gives them."""
    counts = Counter(word for words in documents for word in words)
    vocabulary = sorted(counts, key=lambda word: (-counts[word], word))[:max_words]
    number = {word: k for k, word in enumerate(vocabulary)}
    return vocabulary, [sorted({number[w] for w in words if w in number}) for words in documents]


def rows(index: DocumentIndex) -> list[list[int]]:
    return [index.words_of(n).tolist() for n in range(index.n_documents)]


def assert_equals_plain_python(index: DocumentIndex, texts: list[str], preparation: Preparation) -> None:
    vocabulary, documents = expected([preparation.words(text) for text in texts])
    assert list(index.vocabulary) == vocabulary
    assert rows(index) == documents
    for k in range(index.n_words):
        assert index.documents_with(k).tolist() == [n for n, row in enumerate(documents) if k in row]
    index.verify()


def folder_bytes(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.iterdir()}


def numbered_lines(n: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    words = [f"w{chr(97 + k % 26)}{chr(97 + k // 26 % 26)}{chr(97 + k // 676)}" for k in range(3000)]
    return [" ".join(words[int(k)] for k in rng.zipf(1.3, size=rng.integers(0, 20)) % 3000) for _ in range(n)]


def test_texts_in_memory() -> None:
    assert_equals_plain_python(DocumentIndex.from_documents(TEXTS), TEXTS, Preparation())


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.text("abc éΣ.\n\0\u3000", max_size=20), min_size=1, max_size=12))
def test_any_texts_in_memory(texts: list[str]) -> None:
    preparation = Preparation(stop_words=None)
    if any(preparation.words(text) for text in texts):
        index = DocumentIndex.from_documents(texts, preparation=preparation)
        assert_equals_plain_python(index, texts, preparation)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_lines_of_a_file(tmp_path: Path, n_threads: int) -> None:
    source = tmp_path / "text.txt"
    source.write_text("\n".join(TEXTS), encoding="utf-8")
    build_index(source, tmp_path / "index", resources=Resources(n_threads=n_threads))
    assert_equals_plain_python(DocumentIndex.open(tmp_path / "index"), TEXTS, Preparation())


def test_same_bytes_for_any_threads_block_by_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_module, "BLOCK_SIZE", 4096)
    monkeypatch.setattr(assembling_module, "PAIRS_PER_RUN", 1000)
    lines = numbered_lines(1500)
    source = tmp_path / "text.txt"
    source.write_text("\n".join(lines), encoding="utf-8")
    folders = []
    for n_threads in (1, 2, 4):
        for limit in (1 << 30, 1 << 16):  # the small one makes every table overflow many times
            monkeypatch.setattr(Resources, "table_limit", limit)
            output = tmp_path / f"index{n_threads}-{limit}"
            build_index(source, output, resources=Resources(n_threads=n_threads))
            folders.append(folder_bytes(output))
    assert all(folder == folders[0] for folder in folders)
    assert_equals_plain_python(DocumentIndex.open(tmp_path / f"index1-{1 << 30}"), lines, Preparation())


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("pairs_per_run", [1, 10, 300])
def test_a_word_of_many_runs_is_written_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_threads: int, pairs_per_run: int
) -> None:
    source = tmp_path / "text.txt"
    source.write_text("\n".join(f"the road {line}" for line in numbered_lines(1500)), encoding="utf-8")
    monkeypatch.setattr(reading_module, "BLOCK_SIZE", 1024)
    build_index(source, tmp_path / "whole")
    monkeypatch.setattr(assembling_module, "PAIRS_PER_RUN", pairs_per_run)
    sizes: list[int] = []

    class Watched(assembling_module._Buffers):
        def take(self, size: int) -> NDArray[np.uint32]:
            sizes.append(size)
            return super().take(size)

    monkeypatch.setattr(assembling_module, "_Buffers", Watched)
    build_index(source, tmp_path / "parts", resources=Resources(n_threads=n_threads))
    assert folder_bytes(tmp_path / "parts") == folder_bytes(tmp_path / "whole")
    # A block of 1,024 bytes has fewer than 300 words, and all of them together have "the" 1,500 times.
    assert max(sizes) <= pairs_per_run + 300


def test_overflowing_tables_are_set_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_module, "BLOCK_SIZE", 4096)
    monkeypatch.setattr(Resources, "table_limit", 1 << 16)
    times = []
    set_aside = counting.Worker.set_aside

    def counted(worker: counting.Worker) -> None:
        times.append(worker)
        set_aside(worker)

    monkeypatch.setattr(counting.Worker, "set_aside", counted)
    source = tmp_path / "text.txt"
    source.write_text("\n".join(numbered_lines(2000)), encoding="utf-8")
    build_index(source, tmp_path / "index")
    assert len(times) > 5


@pytest.mark.parametrize("separator", ["\n\n", "\n \t\n", "\r\n\r\n", "\n\n\n"])
@pytest.mark.parametrize("block_size", [1 << 20, 32])
def test_paragraphs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, separator: str, block_size: int) -> None:
    monkeypatch.setattr(reading_module, "BLOCK_SIZE", block_size)
    paragraphs = ["first line\nsecond line", "another   one with words", "x", "the last\nparagraph of all"]
    source = tmp_path / "text.txt"
    source.write_bytes(("\n\n" + separator.join(paragraphs) + "\n\n \n").encode())
    for k, preparation in enumerate([Preparation(), Preparation(token_pattern=WORD)]):
        output = tmp_path / f"index{k}"
        build_index(source, output, reading=Reading(document="paragraph"), preparation=preparation)
        assert_equals_plain_python(DocumentIndex.open(output), paragraphs, preparation)


@pytest.mark.parametrize("unit", ["line", "paragraph", "file"])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_documents_longer_than_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unit: str, n_threads: int
) -> None:
    monkeypatch.setattr(reading_module, "BLOCK_SIZE", 16)
    separator = {"line": "\n", "paragraph": "\n\n", "file": " "}[unit]
    long = " ".join(f"w{chr(97 + k % 26)}" for k in range(500))
    texts = [long, "short one", long + " end", "tail"]
    source = tmp_path / "text.txt"
    source.write_text(separator.join(texts), encoding="utf-8")
    build_index(
        source, tmp_path / "index", reading=Reading(document=unit), resources=Resources(n_threads=n_threads)
    )
    documents = [" ".join(texts)] if unit == "file" else texts
    assert_equals_plain_python(DocumentIndex.open(tmp_path / "index"), documents, Preparation())


def test_files_as_documents_in_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    (folder / "b").mkdir(parents=True)
    (folder / ".hidden").mkdir()
    (folder / "a.txt").write_text("cat\n\ndog")
    (folder / "b" / "c.md").write_text("bird")
    (folder / "empty").write_text("")
    (folder / "z.5173").write_text("newsgroup")
    (folder / "picture.png").write_bytes(b"\x89PNG\0")
    (folder / ".hidden" / "x.txt").write_text("secret")
    build_index(folder, tmp_path / "index", reading=Reading(document="file"))
    texts = ["cat dog", "bird", "", "newsgroup"]
    assert_equals_plain_python(DocumentIndex.open(tmp_path / "index"), texts, Preparation())


def test_patterns_and_several_sources(tmp_path: Path) -> None:
    for name, text in {"b1.txt": "cat", "b2.txt": "dog", "c.txt": "bird"}.items():
        (tmp_path / name).write_text(text)
    build_index([tmp_path / "c.txt", str(tmp_path / "b*.txt"), tmp_path / "c.txt"], tmp_path / "index")
    texts = ["bird", "cat", "dog", "bird"]
    assert_equals_plain_python(DocumentIndex.open(tmp_path / "index"), texts, Preparation())


def compressed(suffix: str, data: bytes) -> Any:
    if suffix == ".zst":
        zstandard = pytest.importorskip("zstandard")
        frames = [zstandard.ZstdCompressor().compress(part) for part in (data[:20], data[20:])]
        return b"".join(frames)
    packers: dict[str, Any] = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, "": bytes}
    return packers[suffix](data)


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_packed_files(tmp_path: Path, suffix: str) -> None:
    source = tmp_path / f"text.txt{suffix}"
    source.write_bytes(compressed(suffix, "\n".join(TEXTS).encode()))
    build_index(source, tmp_path / "index")
    assert_equals_plain_python(DocumentIndex.open(tmp_path / "index"), TEXTS, Preparation())


def write_table(path: Path) -> None:
    if path.suffix == ".parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        pyarrow = pytest.importorskip("pyarrow")
        parquet.write_table(pyarrow.table({"id": list(range(len(TEXTS))), "text": TEXTS}), path)
    elif path.suffix == ".jsonl":
        path.write_text("\n".join(json.dumps({"id": 1, "text": text}) for text in TEXTS) + "\n\n")
    else:
        mark = "," if path.suffix == ".csv" else "\t"
        lines = [f'1{mark}"{text}"' for text in TEXTS]
        path.write_text("\n".join([f"id{mark}text", *lines]), encoding="utf-8-sig")


@pytest.mark.parametrize("column", ["text", None])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_tables(tmp_path: Path, suffix: str, column: str | None) -> None:
    source = tmp_path / f"table{suffix}"
    write_table(source)
    build_index(source, tmp_path / "index", reading=Reading(column=column))
    index = DocumentIndex.open(tmp_path / "index")
    assert_equals_plain_python(index, TEXTS, Preparation())
    assert index.document_text(5) == TEXTS[5]


def test_csv_with_line_breaks_and_long_fields(tmp_path: Path) -> None:
    long = "word " * 50_000
    (tmp_path / "t.csv").write_text(f'text,x\n"two\nlines, one ""text""",1\n"{long}",2\n')
    build_index(tmp_path / "t.csv", tmp_path / "index", reading=Reading(column="text"))
    texts = ['two\nlines, one "text"', long]
    assert_equals_plain_python(DocumentIndex.open(tmp_path / "index"), texts, Preparation())


def test_json_token_lists_strings_and_null(tmp_path: Path) -> None:
    lines = ['{"w": ["New York", "the", "cat"]}', '{"w": "The Cat"}', '{"w": null}']
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    build_index(tmp_path / "t.jsonl", tmp_path / "index", reading=Reading(column="w"))
    index = DocumentIndex.open(tmp_path / "index")
    assert list(index.vocabulary) == ["cat", "New York"]
    assert rows(index) == [[0, 1], [0], []]
    assert index.document_texts([0, 1, 2]) == {0: "New York the cat", 1: "The Cat", 2: ""}


@pytest.mark.parametrize(
    ("encoding", "errors"), [("latin-1", "strict"), ("utf-16", "strict"), ("utf-8", "replace")]
)
def test_other_encodings(tmp_path: Path, encoding: str, errors: str) -> None:
    texts = ["Café olé", "naïve café", "x"]
    source = tmp_path / "text.txt"
    data = "\n".join(texts).encode(encoding)
    source.write_bytes(data + (b" \xff\0y" if errors == "replace" else b""))
    build_index(source, tmp_path / "index", reading=Reading(encoding=encoding, errors=errors))
    texts[-1] += " \N{REPLACEMENT CHARACTER} y" if errors == "replace" else ""
    index = DocumentIndex.open(tmp_path / "index")
    assert_equals_plain_python(index, texts, Preparation())
    assert index.document_text(1) == "naïve café"


@pytest.mark.parametrize(
    "preparation",
    [
        Preparation(normalization="NFKC"),
        Preparation(token_pattern=WORD),
        Preparation(tokenizer=str.split),
        Preparation(stop_words=["cat"], lowercase=False, punctuation="space", digits="keep"),
    ],
    ids=["NFKC", "pattern", "tokenizer", "own rules"],
)
def test_other_preparations(tmp_path: Path, preparation: Preparation) -> None:
    texts = [*TEXTS, "\ufb01sh \uff43\uff41\uff54", "e\u0301t\u0301e"]
    source = tmp_path / "text.txt"
    source.write_text("\n".join(texts), encoding="utf-8")
    build_index(source, tmp_path / "index", preparation=preparation)
    index = DocumentIndex.open(tmp_path / "index", tokenizer=preparation.tokenizer)
    assert_equals_plain_python(index, texts, preparation)
    assert index.preparation == preparation


def test_token_lists_keep_their_words(tmp_path: Path) -> None:
    documents = [["New York", "x-1"], [], ["X", "x-1", " ", ""]]
    index_documents(documents, tmp_path / "index")
    index = DocumentIndex.open(tmp_path / "index")
    assert list(index.vocabulary) == ["x-1", "New York", "X"]
    assert rows(index) == [[0, 1], [], [0, 2]]


@pytest.mark.parametrize(
    ("rules", "vocabulary"),
    [
        (VocabularyRules(max_words=2), ["cat", "mat"]),
        (VocabularyRules(min_count=3), ["cat", "mat", "dog"]),
        (VocabularyRules(min_documents=2), ["cat", "mat", "dog"]),
        (VocabularyRules(min_documents=0.5), ["cat"]),
        (VocabularyRules(max_documents=2), ["mat", "dog", "bird", "sat"]),
        (VocabularyRules(max_documents=0.4), ["mat", "dog", "bird", "sat"]),
        (VocabularyRules(max_words=2, keep=["Bird", "the", "unicorn"]), ["the", "bird"]),
        (VocabularyRules(min_count=4, keep=["sat"]), ["mat", "sat"]),
        (VocabularyRules(fixed=["bird", "unicorn", "the"]), ["bird", "unicorn", "the"]),
    ],
    ids=str,
)
def test_vocabulary_rules(rules: VocabularyRules, vocabulary: list[str]) -> None:
    index = DocumentIndex.from_documents(TEXTS, vocabulary=rules)
    counts = Counter(word for text in TEXTS for word in Preparation(stop_words=None).words(text))
    assert set(index.vocabulary) == set(vocabulary)
    assert rules.fixed is None or list(index.vocabulary) == list(rules.fixed)
    assert index.word_counts is not None
    assert index.word_counts.tolist() == [counts[word] for word in index.vocabulary]


def test_summary_adds_up() -> None:
    rules = VocabularyRules(max_words=3, min_count=2, max_documents=2, keep=["sat", "unicorn", "the"])
    summary = DocumentIndex.from_documents([*TEXTS, "é" * 40_000], vocabulary=rules).summary
    assert summary is not None
    assert summary.all_words.tokens == sum(len(Preparation().tokens(text)) for text in TEXTS) + 1
    assert (
        summary.kept.tokens + sum(tally.tokens for tally in summary.dropped.values())
        == summary.all_words.tokens
    )
    assert (
        summary.kept.types + sum(tally.types for tally in summary.dropped.values()) == summary.all_words.types
    )
    assert summary.dropped["longer than 65,535 bytes"].tokens == 1
    assert summary.absent == ["unicorn"]
    assert (summary.n_documents, summary.n_empty_documents) == (7, 5)
    assert 0 < summary.coverage < summary.coverage_without_stop_words <= 1


def test_progress_is_reported(tmp_path: Path) -> None:
    news: list[Progress] = []
    source = tmp_path / "text.txt"
    source.write_text("\n".join(TEXTS))
    build_index(source, tmp_path / "index", resources=Resources(progress=news.append))
    size = source.stat().st_size
    assert Progress("reading", size, size, 6) in news
    assert news[-1] == Progress("writing", 6, 6, 6)


def test_default_memory_is_a_quarter_of_the_machine() -> None:
    quarter = build.machine_memory() // 4
    assert Resources().table_limit == Resources(memory=quarter).table_limit
    assert Resources(memory=1 << 30, n_threads=2).table_limit < 1 << 28


def test_arrays_have_the_documented_types(tmp_path: Path) -> None:
    index_documents(TEXTS, tmp_path / "index")
    index = DocumentIndex.open(tmp_path / "index")
    for name in ("document_offsets", "document_words", "word_offsets", "word_documents", "word_counts"):
        array = getattr(index, name)
        assert array.dtype == np.dtype(ARRAYS[name])
        assert not array.flags.writeable
