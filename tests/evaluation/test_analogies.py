from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omnitm.cli import main
from omnitm.errors import FileError, ParameterError
from omnitm.evaluation.analogies import evaluate_analogies, load_questions, read_questions
from omnitm.store import ModelRecord
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from pathlib import Path

WORDS = ["man", "woman", "king", "queen", "boy", "girl", "walk", "walked", "play", "played", "table"]
PLACES = {
    "man": (1, 0, 0, 0, 0), "woman": (1, 1, 0, 0, 0), "king": (1, 0, 1, 0, 0), "queen": (1, 1, 1, 0, 0),
    "boy": (1, 0, -1, 0, 0), "girl": (1, 1, -1, 0, 0), "walk": (0, 0, 0, 1, 0), "walked": (0, 0, 0, 1, 1),
    "play": (0, 0, 0.4, 1, 0), "played": (0, 0, 0.4, 1, 1), "table": (0, -1, 0, 0, 0.1),
}  # fmt: skip
TEXT = """: family
Man woman King queen
man woman boy girl
man woman uncle aunt
: gram1-past
walk walked play played
walk walked play table
"""


@pytest.fixture
def vectors() -> WordVectors:
    matrix = np.array([PLACES[word] for word in WORDS], dtype=np.float32)
    return WordVectors(matrix, WORDS, None, training=ModelRecord("word2vec", {}, 0, "0" * 64))


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions-words.txt"
    path.write_text(TEXT)
    return path


def test_sections(vectors: WordVectors, questions: Path) -> None:
    report = evaluate_analogies(vectors, read_questions(questions), name="toy")
    family, past = report.sections
    assert (family.n_questions, family.n_used, family.n_right) == (3, 2, 2)
    assert (past.n_questions, past.n_used, past.n_right) == (2, 2, 1)
    assert report.total().accuracy == 0.75
    assert report.total("grammar").n_used == 2
    assert report.total("semantic").accuracy == 1
    assert report.metric == "cosine"


def test_words_of_the_question_are_no_answers(vectors: WordVectors) -> None:
    report = evaluate_analogies(vectors, {"same": [("man", "man", "king", "king")]})
    assert report.sections[0].n_right == 0


def test_restricted_vocabulary(vectors: WordVectors, questions: Path) -> None:
    report = evaluate_analogies(vectors, read_questions(questions), restrict_vocab=4)
    assert [part.n_used for part in report.sections] == [1, 0]
    assert report.sections[1].accuracy is None
    assert report.n_candidates == 4


def test_integer_vectors_by_every_metric() -> None:
    names = ["a", "b", "c", "d", "e"]
    matrix = np.array(
        [[0, 9, 1, 1, 1], [9, 0, 1, 9, 1], [1, 1, 0, 9, 1], [1, 9, 9, 0, 1], [1, 1, 1, 1, 0]], dtype=np.int16
    )
    vectors = WordVectors(matrix[:4], names[:4], ["e", *names[:4]])
    for metric in ("association", "association-symmetric", "cosine", "similarity"):
        report = evaluate_analogies(vectors, {"x": [("a", "b", "c", "d")]}, metric=metric)
        assert report.sections[0].n_right == 1  # d is the only word left


def test_mistakes(vectors: WordVectors, tmp_path: Path) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_text(": one\na b c d\na b c\n")
    with pytest.raises(FileError, match=r"bad\.txt: line 3: 'a b c' is not a question; expected four words"):
        read_questions(bad)
    bad.write_text("\n")
    with pytest.raises(FileError, match="has no questions"):
        load_questions(bad)
    bad.write_text("p q r s\n")
    assert load_questions(bad) == {"questions": [("p", "q", "r", "s")]}
    with pytest.raises(ParameterError, match="No question can be asked"):
        evaluate_analogies(vectors, load_questions(bad))
    with pytest.raises(FileError, match="is a set of pairs, not of analogies"):
        load_questions("RG-65")


def test_command_line(
    vectors: WordVectors, questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vectors.save(tmp_path / "toy")
    command = ["evaluate", "analogies", str(tmp_path / "toy"), "--data", str(questions.parent), "--quiet"]
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert "gram1-past" in shown
    assert "0.750 (4)" in shown
    assert main([*command, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["sections"][0]["n_right"] == 2
    assert main([*command, "--format", "csv", "--restrict", "4"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == '"toy",cosine,"all",5,1,1'
