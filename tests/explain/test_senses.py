"""Senses of words that were made ambiguous: two words under one name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omnitm.cli import main
from omnitm.errors import ParameterError
from omnitm.explain import Explainer
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from pathlib import Path

LETTERS = "abcdefghij"
TOPICS = [[f"{first}{LETTERS[k % 10]}{LETTERS[k // 10]}" for k in range(30)] for first in "abcdef"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six topics; "bank" occurs in two of them, as often, and "loan" in one."""
    folder = tmp_path_factory.mktemp("senses")
    random = np.random.default_rng(2)
    lines = []
    for number in range(3000):
        topic = TOPICS[number % 6]
        words = random.choice(topic, size=5, replace=False).tolist()
        if number % 6 < 2 and random.random() < 0.4:
            words.append("bank")
        if number % 6 == 2 and random.random() < 0.4:
            words.append("loan")
        lines.append(" ".join(words))
    (folder / "text.txt").write_text("\n".join(lines) + "\n")
    train = ["train", str(folder / "text.txt"), "-o", str(folder / "model"), "--quiet"]
    assert main([*train, "--n-examples", "200", "--accumulation", "4", "--contexts", "topic"]) == 0
    return folder / "model"


def test_a_word_of_two_topics_has_two_senses_and_others_have_one(model: Path) -> None:
    explainer = Explainer.open(model)
    found = explainer.senses("bank", n_documents=2)
    assert len(found.senses) == 2
    assert {sense.features[0][0][0] for sense in found.senses} == {"a", "b"}
    for sense in found.senses:
        letter = sense.features[0][0][0]
        assert {name[0] for name, _ in sense.features} == {letter}
        assert {name[0] for name, _ in sense.neighbours} == {letter}
        assert sense.share == pytest.approx(0.5, abs=0.1)
        assert sense.rule[0] == letter
        assert all(f" {letter}" in f" {document}" for document in sense.documents)
        vector = explainer.sense_vector("bank", sense.number)
        nearest = explainer.vectors.most_similar([vector], topn=3, metric="related")
        assert {word[0] for word, _ in nearest} == {letter}
        text = " ".join(name for name, _ in sense.features[:2])
        best, scores = explainer.sense_of("bank", f"The bank: {text}")
        assert best == sense.number
        assert scores[best] == pytest.approx(sum(weight for _, weight in sense.features[:2]))
    assert found.n_assigned == found.n_documents
    assert len(explainer.senses("loan").senses) == 1
    assert explainer.sense_of("bank", "nothing")[0] is None
    assert Explainer(explainer.vectors).senses("bank").senses[0].share is None
    assert "neighbours" in str(found)
    with pytest.raises(ParameterError, match="'sense' parameter of sense_vector must be an int from 1 to 2"):
        explainer.sense_vector("bank", 3)
    nameless = Explainer(WordVectors(np.ones((2, 3), dtype=np.float32), ["x", "y"], None))
    with pytest.raises(ParameterError, match="What stands out can only be said of integers"):
        nameless.senses("x")


def test_the_commands(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["senses", str(model), "bank"]) == 0
    assert "bank: 2 senses" in capsys.readouterr().out
    assert main(["senses", str(model), "bank", "--json"]) == 0
    senses = json.loads(capsys.readouterr().out)["senses"]
    word = senses[1]["features"][0][0]
    assert main(["senses", str(model), "bank", "--text", f"{word} and the bank"]) == 0
    assert capsys.readouterr().out.startswith("sense 2 of bank")
    assert main(["senses", str(model), "bank", "--text", word, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sense"] == 2
    assert main(["similar", str(model), "bank", "--sense", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bank"][0]["word"][0] == word[0]
    assert main(["similar", str(model), "bank", "loan", "--sense", "2"]) == 2
    assert "--sense needs one word" in capsys.readouterr().err


def test_a_vector_is_looked_up_among_the_likely_words_of_many(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    explainer = Explainer.open(model)
    vector = explainer.sense_vector("bank", 1)
    expected = explainer.vectors.most_similar([vector], topn=3, metric="related")
    monkeypatch.setattr("omnitm.similarity.combined._SCORED_IN_FULL", 0)
    monkeypatch.setattr("omnitm.similarity.combined._CANDIDATES", 100)
    assert explainer.vectors.most_similar([vector], topn=3, metric="related") == expected
