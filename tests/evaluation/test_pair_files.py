from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest

from omnitm.errors import FileError
from omnitm.evaluation.datasets import (
    DATA_SETS,
    WordPairs,
    load_pairs,
    locate,
    read_pairs,
    scores_of_all_pairs,
    spelling,
)

SIMLEX = "word1\tword2\tPOS\tSimLex999\tconc(w1)\n"
SIMLEX += "old\tnew\tA\t1.58\t2.72\ngo\tcome\tV\t2.42\t3\nsun\tsky\tN\t3\t4\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return tmp_path / "table.txt"


@pytest.mark.parametrize(
    "text",
    [
        "love sex 6.77\ntiger cat 7.35\n",
        "love\tsex\t6.77\ntiger\tcat\t7.35",
        "love,sex,6.77\r\ntiger,cat,7.35\r\n",
        "love;sex;6.77\n\n\ntiger;cat;7.35\n",
        "Word 1,Word 2,Human (mean)\nlove,sex,6.77\ntiger,cat,7.35\n",
        '# a comment\n"Word 1","Word 2","Mean"\n"love", "sex", 6.77\n"tiger","cat",7.35\n',
        "\ufefflove\tsex\t6.77\t1\t2\ntiger\tcat\t7.35\t3\t4\n",
    ],
)
def test_tables_of_all_kinds(table: Path, text: str) -> None:
    table.write_text(text, encoding="utf-8", newline="")
    pairs = read_pairs(table)
    assert (pairs.name, pairs.first, pairs.second) == ("table", ("love", "tiger"), ("sex", "cat"))
    assert pairs.scores.tolist() == [6.77, 7.35]
    assert pairs.parts_of_speech is None


def test_parts_of_speech_in_a_column_or_behind_words(table: Path) -> None:
    table.write_text(SIMLEX)
    pairs = read_pairs(table, "SimLex-999")
    assert pairs.parts_of_speech == ("adjective", "verb", "noun")
    assert pairs.scores.tolist() == [1.58, 2.42, 3.0]
    table.write_text("sun-n sunlight-n 50\nrun-v go-v 40\nred-j run-v 3\n")
    pairs = read_pairs(table)
    assert (pairs.first, pairs.second) == (("sun", "run", "red"), ("sunlight", "go", "run"))
    assert pairs.parts_of_speech == ("noun", "verb", "mixed")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "has no pairs; expected two words and a score"),
        ("# only\n", "has no pairs"),
        ("word word score\n", "has a header but no pairs"),
        ("a b\nc d\n", "line 2: 'c d' has no score"),
        ("a b 1\n\nc d\n", "line 3: 'c d' is not a pair"),
        ("a\tb\t1\nc\td\tmuch\n", "line 2: 'c d much' is not a pair"),
        ("a\tb\t1\n\td\t2\n", "line 2: ' d 2' is not a pair"),
        ("a,b,1\nc,d,nan\n", "line 2: the score 'nan' is not a finite number"),
        (f"a b 1\n{'x' * 99} d\n", r"line 2: 'x{57}\.\.\.' is not a pair"),
        ('a,b,1\n"c,d,2\n', "no table row"),
    ],
)
def test_malformed_lines_are_named(table: Path, text: str, problem: str) -> None:
    table.write_text(text)
    with pytest.raises(FileError, match=rf"table.txt: .*{problem}"):
        read_pairs(table)


def test_unreadable_files(table: Path) -> None:
    table.write_bytes(b"a b 1\nc \xff 2\n")
    with pytest.raises(FileError, match="is not UTF-8 at byte 8"):
        read_pairs(table)
    with pytest.raises(FileError, match="cannot be read: No such file"):
        read_pairs(table.with_name("gone"))


def test_sets_by_name_and_files_by_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMNITM_DATA", raising=False)
    (tmp_path / "EN-RG-65.txt").write_text("gem\tjewel\t3.94\n")
    (tmp_path / "own.csv").write_text("a,b,1\n")
    assert load_pairs("rg65", tmp_path).name == "RG-65"
    assert load_pairs(tmp_path / "own.csv").name == "own"
    with pytest.raises(
        FileError, match="is a set of analogies, not of pairs; use `omnitm evaluate analogies`"
    ):
        load_pairs("questions-words.txt", tmp_path)


def test_odd_and_even_lines_of_men(tmp_path: Path) -> None:
    lines = "".join(f"a{k} b{k} {k}\n" for k in range(1, 6))
    (tmp_path / "EN-MEN-TR-3k.txt").write_text(lines)
    odd, even = load_pairs("MEN, odd lines", tmp_path), load_pairs("MEN-even", tmp_path)
    assert odd.first == ("a1", "a3", "a5")
    assert even.second == ("b2", "b4")
    assert even.scores.tolist() == [2, 4]
    assert load_pairs("MEN", tmp_path).first == ("a1", "a2", "a3", "a4", "a5")


def test_pairs_with_unknown_words_count() -> None:
    names = ("acid", "Salt", "formic_acid", "unheard")
    pairs = WordPairs("own", names, ("salt", "acid", "salt", "salt"), np.array([1.0, 2.0, 3.0, 4.0]))
    table = {"acid": [1.0, 0.5, 0.1], "salt": [0.4, 1.0, 0.2], "formic": [0.3, 0.3, 1.0]}
    scores, known = scores_of_all_pairs(
        pairs, ["acid", "salt", "formic"], lambda words: (np.array(table[word]) for word in words)
    )
    assert known.tolist() == [True, True, True, False]
    expected = [0.5, 0.4, (0.3 + 0.5) / 2]  # an expression: the mean over its parts
    assert scores.tolist() == pytest.approx([*expected, sum(expected) / 3])
    nothing, known = scores_of_all_pairs(pairs, ["sea"], lambda _: iter(()))
    assert not known.any()
    assert nothing.tolist() == [0, 0, 0, 0]


def test_spelling() -> None:
    vocabulary = {"paris", "US"}
    assert [spelling(word, vocabulary.__contains__) for word in ("Paris", "US", "us")] == [
        "paris",
        "US",
        None,
    ]


DATA = os.environ.get("OMNITM_DATA") or next(iter(Path(__file__).parents[3].glob("shared/data")), None)


@pytest.mark.skipif(DATA is None, reason="the published sets are not here (OMNITM_DATA)")
@pytest.mark.parametrize("known", DATA_SETS, ids=lambda known: known.name)
def test_published_sets(known: object) -> None:
    assert DATA is not None
    path = locate(known, DATA, download=False)  # type: ignore[arg-type]
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    assert known.sha256 in {found, None}  # type: ignore[attr-defined]
    if known.kind == "pairs":  # type: ignore[attr-defined]
        sizes = {"MEN": 3000, "RG-65": 65, "MTURK-771": 771, "MTURK-287": 287, "WS-353": 353}
        pairs = read_pairs(path)
        assert len(pairs) == sizes.get(known.name, len(pairs)) >= 65  # type: ignore[attr-defined]
