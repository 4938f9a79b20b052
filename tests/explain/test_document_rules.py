"""Rules about single documents: chosen by some documents, measured on others."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omnitm.cli import main
from omnitm.corpus import DocumentIndex
from omnitm.errors import ParameterError
from omnitm.explain import DocumentRule, Explainer
from omnitm.explain.document_rules import FEWEST_DOCUMENTS, MOST_LITERALS, set_aside
from omnitm.machine import AutoencoderSettings
from omnitm.training import train_vectors

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def index() -> DocumentIndex:
    """Bank occurs with money and loan together, with river unless there is a boat, and rarely otherwise."""
    random = np.random.default_rng(5)
    noise = [f"n{k}" for k in range(30)]
    documents = []
    for number in range(1200):
        words = random.choice(noise, size=3, replace=False).tolist()
        kind = number % 12
        if kind == 0:
            words += ["money", "loan", "bank"]
        elif kind == 1:
            words += ["river", "bank"]
        elif kind in {2, 3}:
            words += ["money"]
        elif kind in {4, 5}:
            words += ["loan"]
        elif kind == 6:
            words += ["river", "boat"]
        documents.append(words)
    return DocumentIndex.from_documents(documents)


@pytest.fixture(scope="module")
def rules(index: DocumentIndex) -> list[DocumentRule]:
    settings = AutoencoderSettings(n_clauses=10, n_examples=300, accumulation=2)
    return Explainer(train_vectors(index, ["bank"], settings=settings), index).document_rules("bank")


def test_the_rules_that_made_the_text_are_found(rules: list[DocumentRule]) -> None:
    found = {(frozenset(rule.present), rule.absent) for rule in rules[:2]}
    assert found == {(frozenset({"river"}), ("boat",)), (frozenset({"money", "loan"}), ())}
    for rule in rules[:2]:
        assert rule.match.precision == rule.chosen.precision == 1.0
        assert rule.recall == pytest.approx(0.5, abs=0.15)


def test_figures_are_those_of_documents_set_aside(index: DocumentIndex, rules: list[DocumentRule]) -> None:
    numbers = np.arange(index.n_documents, dtype=np.uint32)
    aside = set_aside(numbers)
    assert 0.15 < aside.mean() < 0.25
    for rule in rules:
        assert len(rule.present) + len(rule.absent) <= MOST_LITERALS
        assert rule.chosen.hits >= FEWEST_DOCUMENTS
        for match, among in ((rule.match, aside), (rule.chosen, ~aside)):
            words = [{index.vocabulary[k] for k in index.words_of(int(n)).tolist()} for n in numbers[among]]
            holds = [set(rule.present) <= found and not found & set(rule.absent) for found in words]
            has = ["bank" in found for found in words]
            hits = sum(a and b for a, b in zip(holds, has, strict=True))
            assert (match.support, match.hits) == (sum(holds), hits)
            assert match.lift == pytest.approx(hits / sum(holds) / (sum(has) / len(has)))
        assert {document.number for document in rule.match.examples} <= set(numbers[aside].tolist())


def test_a_word_that_occurs_with_nothing_in_particular_has_no_rule() -> None:
    random = np.random.default_rng(1)
    words = [f"w{k}" for k in range(40)]
    index = DocumentIndex.from_documents(
        [random.choice(words, size=4, replace=False).tolist() for _ in range(80)]
    )
    settings = AutoencoderSettings(n_clauses=4, n_examples=40, accumulation=1)
    explainer = Explainer(train_vectors(index, ["w0"], settings=settings), index)
    assert explainer.document_rules("w0") == []
    with pytest.raises(ParameterError, match="'n' parameter of document_rules must be an int >= 0"):
        explainer.document_rules("w0", n=-1)


def test_the_command_shows_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "news.txt"
    text.write_text("sea ship wind\nroad car\nsea ship\nroad wheel\n" * 40)
    train = ["train", str(text), "-o", str(tmp_path / "model"), "--quiet", "--n-examples", "60"]
    assert main([*train, "--n-clauses", "6", "--accumulation", "1"]) == 0
    assert main(["explain", str(tmp_path / "model"), "ship", "--per-document"]) == 0
    out = capsys.readouterr().out
    assert "ship: rules about single documents" in out
    assert "example of sea:" in out
    assert main(["explain", str(tmp_path / "model"), "ship", "--per-document", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["document_rules"]
    assert found[0]["present"] == ["sea"]
    assert found[0]["match"]["precision"] == 1.0
