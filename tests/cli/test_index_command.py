"""`omnitm index` and `omnitm cooccur` as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from omnitm.cli import main
from omnitm.cli.index import describe_index, load_tokenizer
from omnitm.corpus import DocumentIndex

TEXT = "The Cat and the dog.\nA cat, a mouse & 3 birds\n\nMice: one mouse, two mice\n"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path


def test_index_and_its_summary(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", str(source), "-o", "my.index"]) == 0
    shown = capsys.readouterr().out
    for fact in ("documents", "vocabulary", "stop words", "stop_words=english", "pairs"):
        assert fact in shown
    index = DocumentIndex.open("my.index")
    assert index.n_documents == 4
    assert list(index.vocabulary) == ["cat", "mice", "mouse", "birds", "dog", "one", "two"]


def test_all_options(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "stop.txt").write_text("the\n\nand\n")
    (tmp_path / "keep.txt").write_text("Dog\nunicorn\n")
    options = """
        --document paragraph --encoding ascii --errors replace --format text --no-lowercase
        --punctuation space --digits keep --character-set ascii --normalize NFKC --stop-words stop.txt
        --max-words 5 --min-documents 1 --max-documents 0.9 --keep keep.txt --memory 300M --threads 2
    """
    assert main(["index", str(source), "-o", "my.index", *options.split()]) == 0
    assert "unicorn" in capsys.readouterr().out
    index = DocumentIndex.open("my.index")
    assert index.n_documents == 2
    assert index.n_words == 5
    assert index.preparation is not None
    assert index.preparation.stop_words == ("the", "and")
    assert not index.preparation.lowercase


def test_fixed_vocabulary_from_file_or_index(source: Path, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("mouse\ncat\n")
    assert main(["index", str(source), "-o", "a", "--vocabulary", "words.txt", "--quiet"]) == 0
    assert main(["index", str(source), "-o", "b", "--vocabulary", "a", "--quiet", "--max-words", "all"]) == 2
    assert main(["index", str(source), "-o", "b", "--vocabulary", "a", "--quiet"]) == 0
    assert list(DocumentIndex.open("b").vocabulary) == ["mouse", "cat"]


def test_pattern_tokenizer_and_no_stop_words(source: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def split(text):\n    return text.split()\n")
    assert (
        main(
            ["index", str(source), "-o", "a", "--tokenizer", "mine:split", "--stop-words", "none", "--quiet"]
        )
        == 0
    )
    assert "dog." in DocumentIndex.open("a").vocabulary
    assert (
        main(["index", str(source), "-o", "b", "--token-pattern", r"\d", "--max-words", "all", "--quiet"])
        == 0
    )
    assert list(DocumentIndex.open("b").vocabulary) == ["3"]


def test_append(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", str(source), "-o", "a", "--quiet"]) == 0
    assert main(["index", str(source), "-o", "a", "--append"]) == 0
    assert DocumentIndex.open("a").n_documents == 8
    assert main(["index", str(source), "-o", "a", "--append", "--min-count", "2"]) == 2
    assert "leave out --min-count" in capsys.readouterr().err
    assert main(["index", str(source), "-o", "a", "--append", "--force"]) == 2
    assert "leave out --force" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["nowhere.txt"], "omnitm: error: nowhere.txt: no such file or folder"),
        (["text.txt", "--stop-words", "nowhere.txt"], "omnitm: error: nowhere.txt: cannot be read"),
        (["text.txt", "--keep", "bytes.txt"], "omnitm: error: bytes.txt: is not UTF-8 at byte 0"),
        (["text.txt", "--tokenizer", "split"], "must look like module:function"),
        (["text.txt", "--tokenizer", "no_such_module:f"], "No module named 'no_such_module'"),
        (["text.txt", "--tokenizer", "json:nothing"], "json has no function 'nothing'"),
        (["text.txt", "--memory", "1M"], "'memory' parameter"),
    ],
)
def test_mistakes_are_one_line(
    source: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    source.with_name("bytes.txt").write_bytes(b"\xff")
    assert main(["index", "-o", "my.index", "--quiet", *options]) == 2
    errors = capsys.readouterr().err
    assert message in errors
    assert errors.count("\n") == 1
    assert not Path("my.index").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--memory", "lots"], "a size looks like 500M"),
        (["--max-words", "0"], "a number of words, or all"),
        (["--min-documents", "few"], "a number of documents, or a share"),
    ],
)
def test_arguments_are_explained(
    source: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["index", str(source), "-o", "x", *options])
    assert message in capsys.readouterr().err


def test_existing_index_needs_force(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options, status in ([], 0), ([], 2), (["--force"], 0):
        assert main(["index", str(source), "-o", "a", "--quiet", *options]) == status
    assert "--force" in capsys.readouterr().err


def test_cooccur(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["index", str(source), "-o", "a", "--quiet"])
    assert main(["cooccur", "a", "Cat", "mouse", "dog"]) == 0
    shown = capsys.readouterr().out
    assert "cat + mouse" in shown
    assert "all of them" in shown
    assert main(["cooccur", "a", "cat", "mouse"]) == 0
    assert "A cat, a mouse & 3 birds" in capsys.readouterr().out
    assert main(["cooccur", "a", "cat", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["words"] == {"cat": 2}
    assert {"word": "mouse", "documents": 1, "lift": 1.0} in [
        {**row, "lift": round(row["lift"], 2)} for row in facts["partners"]
    ]
    assert facts["examples"][0] == {"document": 0, "text": "The Cat and the dog."}
    source.unlink()
    assert main(["cooccur", "a", "cat"]) == 0
    assert "the text is not there any more" in capsys.readouterr().out


def test_cooccur_mistakes(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["index", str(source), "-o", "a", "--quiet"])
    assert main(["cooccur", "a", "caat"]) == 2
    assert "'caat' is not in the vocabulary; spelled like it: cat" in capsys.readouterr().err
    assert main(["cooccur", "a", "cat", "--examples", "-1"]) == 2
    assert "--examples must be at least 0" in capsys.readouterr().err


def test_describe_index_is_a_table(source: Path) -> None:
    main(["index", str(source), "-o", "a", "--quiet"])
    assert describe_index("a").row_count >= 6
    assert load_tokenizer("shlex:split")("a b") == ["a", "b"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "germany movie moved-br us mp"),
        (["--paper"], "germanys movieit movedbr us th mp"),
        (["--paper", "--digits", "drop"], "germanys movieit movedbr us mp"),
        (["--punctuation", "space"], "germany movie moved br u mp"),
    ],
)
def test_the_papers_preparation_is_one_option(tmp_path: Path, options: list[str], words: str) -> None:
    text, index = tmp_path / "text.txt", tmp_path / "index"
    text.write_text("Germany's movie.It moved-br U.S. 19th mp3\n")
    assert main(["index", str(text), "-o", str(index), "--min-count", "1", "--quiet", *options]) == 0
    assert {*DocumentIndex.open(index).vocabulary} == {*words.split()}
