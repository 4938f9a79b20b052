"""Explanations of what a word's machine learned from where the word stands."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omnitm.cli import main
from omnitm.corpus import DocumentIndex, index_documents
from omnitm.corpus.assembling import DOCUMENT_END
from omnitm.errors import CorpusError, ParameterError
from omnitm.explain import Explainer
from omnitm.explain.evidence import standing
from omnitm.explain.places import match_place_rule, matching_places
from omnitm.machine import AutoencoderSettings, training_places
from omnitm.machine.reference import ReferenceAutoencoder
from omnitm.training import train_model, train_vectors
from omnitm.training.vocabulary import default_settings

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = [f"the {size} {thing} is here" for size in ("big", "small") for thing in ("dog", "cat")] * 15
TEXTS += ["anna went to rome", "peter went to bonn"] * 15
SETTINGS = AutoencoderSettings(n_clauses=10, n_examples=200, accumulation=1, contexts="both")


@pytest.fixture(scope="module")
def index() -> DocumentIndex:
    return DocumentIndex.from_documents(TEXTS)


@pytest.fixture(scope="module")
def explainer(index: DocumentIndex) -> Explainer:
    return Explainer(train_vectors(index, ["rome", "big"], settings=SETTINGS), index)


def test_rules_of_places_are_read_as_neighbours(explainer: Explainer) -> None:
    explanation = explainer.explain("rome", kind="place", n_documents=0)
    assert explanation.kind == "place"
    assert (explanation.n_documents, explanation.document_frequency) == (420, 15)
    texts = [measured.text for measured in explanation.rules]
    assert any("follows to" in text or "two after went" in text for text in texts)
    best = max(explanation.rules, key=lambda measured: measured.match.precision or 0)
    assert best.match.precision == 0.5  # bonn stands alike
    assert best.match.lift == pytest.approx(14)
    assert best.fires_with == 1
    assert best.fires_without is not None
    assert best.fires_without < 0.5
    assert explainer.explain("rome").kind == "topic"
    assert {str(rule) for rule in explainer.rules("rome", kind="place")} == set(texts)


def test_every_coordinate_of_place_may_be_the_strongest(explainer: Explainer) -> None:
    """A machine of places has no literals of its own word to leave out."""
    machine = explainer.machines.of("rome", "place")
    found = explainer.explain("rome", kind="place", n_literals=machine.n_words, n_documents=0)
    for literals, half in ((found.strongest, 0), (found.strongest_negated, 1)):
        assert sorted(literal.word for literal in literals) == sorted(machine.vocabulary)
        means = machine.mean_states.reshape(2, -1)[half]
        assert [literal.state for literal in literals] == sorted(means.tolist(), reverse=True)


def test_matching_places_are_those_where_all_literals_hold(index: DocumentIndex) -> None:
    running = index.running
    assert running is not None
    neighbours = running.neighbours(np.flatnonzero(running.tokens != DOCUMENT_END))
    assert neighbours.shape == (running.n_running_words, 4)

    def standing(present: list[str], absent: list[str]) -> set[str]:
        return {running.names[running.tokens[place]] for place in matching_places(running, present, absent)}

    assert standing(["to _"], []) == {"rome", "bonn"}
    assert standing(["to _", "went * _"], []) == {"rome", "bonn"}
    assert standing(["the _"], ["_ dog"]) == {"big", "small"}
    assert standing(["_ * is"], []) == {"big", "small"}
    assert standing(["rome _"], []) == standing(["bonn * _"], []) == standing(["_ * the"], []) == set()
    assert "rome" not in standing([], ["to _"])
    match = match_place_rule(index, "rome", ["anna _"], [])
    assert (match.support, match.hits, match.precision) == (15, 0, 0.0)
    assert match_place_rule(index, "rome", ["rome _"], []).precision is None
    assert match_place_rule(index, "rome", ["to _"], []).examples


def test_joined_words_are_explained(joining: DocumentIndex) -> None:
    vectors = train_vectors(joining, settings=default_settings(joining, n_examples=100, accumulation=4))
    explainer = Explainer(vectors, joining)
    rules = explainer.explain("bapar", kind="place").rules
    found = [rule for rule in rules if "joined with ba" in rule.text]
    assert found
    assert any(rule.match.hits for rule in found if len(rule.rule.present) == 1)
    running = joining.running
    assert running is not None
    places = matching_places(running, ["_ & bapar"], [], running.joiners)
    expected = [
        place
        for place in np.flatnonzero(running.tokens != DOCUMENT_END).tolist()
        for around in [running.neighbours(np.array([place]))[0].tolist()]
        if (running.number("bapar"), True)
        in [(around[0], around[1] in running.joiners), (around[3], around[2] in running.joiners)]
    ]
    assert places.tolist() == expected
    others = matching_places(running, ["_ & bapar"], ["_ & bapar"], running.joiners)
    assert len(others) == 0
    counted = standing(joining, "batel", "_ & bapar", 1, joiners=running.joiners)
    b_places = running.places_of(running.number("batel")).tolist()
    assert counted.count == len(set(places.tolist()) & set(b_places)) > 0
    assert counted.documents
    why = explainer.why("bapar", "batel", metric="alike")
    assert "both are joined with ba" in why.sentence
    assert sum(why.parts.values()) == pytest.approx(why.score, rel=1e-4)
    assert "joined profile" in why.parts


@pytest.mark.parametrize("word", ["rome", "the", "here"])
def test_places_are_drawn_as_in_training(index: DocumentIndex, word: str) -> None:
    assert index.running is not None
    target = index.running.names.index(word)
    settings = AutoencoderSettings(n_examples=30, accumulation=3, n_clauses=2)
    labels, places = training_places(index, settings, target, 7)
    reference = ReferenceAutoencoder(index, settings, target, 7, kind="place")
    for example in range(30):
        assert reference.label(example) == labels[example]
        ranks = reference.documents(example, bool(labels[example]))
        assert places[example].tolist() == index.running.places[ranks].tolist()


def test_what_was_not_trained_is_not_explained(index: DocumentIndex, explainer: Explainer) -> None:
    topic = AutoencoderSettings(n_clauses=4, n_examples=20, accumulation=1)
    vectors = train_vectors(index, ["rome"], settings=topic)
    with pytest.raises(ParameterError, match="trained on topic only, so there is nothing to say on place"):
        Explainer(vectors, index).explain("rome", kind="place")
    with pytest.raises(ParameterError, match="'kind' parameter of explain must be"):
        explainer.explain("rome", kind="where")  # type: ignore[arg-type]
    other = DocumentIndex.from_documents([" ".join(text.split()[::-1]) for text in TEXTS])
    assert Explainer(explainer.vectors, other).explain("rome").kind == "topic"
    with pytest.raises(CorpusError, match="is not the index that the model was trained from"):
        Explainer(explainer.vectors, other).explain("rome", kind="place")


def test_a_model_of_places_alone(index: DocumentIndex) -> None:
    settings = AutoencoderSettings(n_clauses=6, n_examples=50, accumulation=1, contexts="place")
    vectors = train_vectors(index, ["rome"], settings=settings)
    assert Explainer(vectors, index).explain("rome").kind == "place"


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    index = DocumentIndex.open(index_documents(TEXTS, tmp_path / "index"))
    train_model(index, tmp_path / "m", ["rome"], settings=SETTINGS)
    assert main(["explain", str(tmp_path / "m"), "rome", "--contexts", "place", "--documents", "0"]) == 0
    shown = capsys.readouterr().out
    assert "rome: 15 of 420 places" in shown
    assert "follows to" in shown
    assert main(["explain", str(tmp_path / "m"), "rome", "--contexts", "place", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "place"
