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

    from omnitm.similarity.scorers import Metric

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


def test_sets_by_name_and_files_by_path(questions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_questions(questions) == read_questions(questions)
    with pytest.raises(ParameterError, match="'nothing' is neither a known data set nor a file"):
        load_questions("nothing")
    monkeypatch.chdir(questions.parent)
    (questions.parent / "Google analogies").write_text("no questions")  # a name comes before a file
    assert load_questions("Google analogies", questions.parent) == read_questions(questions)


def test_words_of_the_question_are_no_answers(vectors: WordVectors) -> None:
    report = evaluate_analogies(vectors, {"same": [("man", "man", "king", "king")]})
    assert report.sections[0].n_right == 0


def test_restricted_vocabulary(vectors: WordVectors, questions: Path) -> None:
    report = evaluate_analogies(vectors, read_questions(questions), restrict_vocab=4)
    assert [part.n_used for part in report.sections] == [1, 0]
    assert report.sections[1].accuracy is None
    assert report.n_candidates == 4


def test_what_a_and_b_share_is_taken_away() -> None:
    """By b and c alone the answer would be person, which is near to all three words of the question."""
    rows = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 1], [1, 0.5, 0.5]], dtype=np.float32)
    vectors = WordVectors(rows, ["man", "woman", "king", "queen", "person"], None)
    report = evaluate_analogies(vectors, {"x": [("man", "woman", "king", "queen")]})
    assert report.sections[0].n_right == 1
    other_way = evaluate_analogies(vectors, {"x": [("woman", "man", "king", "queen")]})
    assert other_way.sections[0].n_right == 0


@pytest.mark.parametrize("metric", ["association", "association-symmetric", "cosine", "similarity"])
def test_integer_vectors_by_every_metric(metric: Metric) -> None:
    """The answer is the word with the highest s(b, x) - s(a, x) + s(c, x), for each of 60 questions.

    For the similarity, which adds several parts, it is that of the product, as in `most_similar`.
    """
    random = np.random.default_rng(4)
    names = [f"{k}w" for k in range(30)]
    matrix = random.integers(-90, 90, size=(25, 30)).astype(np.int16)
    matrix[np.arange(25), np.arange(5, 30)] = 0
    vectors = WordVectors(matrix, names[5:], names)
    best, second = [], []
    for _ in range(60):
        a, b, c = random.choice(names[5:], 3, replace=False).tolist()
        others = [word for word in names[5:] if word not in {a, b, c}]
        sums = {
            x: vectors.similarity(b, x, metric=metric)
            - vectors.similarity(a, x, metric=metric)
            + vectors.similarity(c, x, metric=metric)
            for x in others
        }
        if metric == "similarity":
            sums = dict(vectors.most_similar([b, c], [a], topn=25, forms=True, metric=metric))
        ordered = sorted(others, key=lambda x: -sums[x])
        best.append((a, b, c, ordered[0]))
        second.append((a, b, c, ordered[1]))
    right, wrong = evaluate_analogies(vectors, {"best": best, "second": second}, metric=metric).sections
    assert (right.n_used, right.n_right) == (60, 60)
    assert (wrong.n_used, wrong.n_right) == (60, 0)


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
    assert capsys.readouterr().out.splitlines()[-1] == "toy,cosine,all,5,1,1"
