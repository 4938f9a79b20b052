from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm.corpus import DocumentIndex
from omnitm.errors import ParameterError, UnknownWordError
from omnitm.explain import Explainer
from omnitm.explain.evidence import spread, standing, together
from omnitm.explain.matches import Match, evidence_of
from omnitm.explain.rules import Literal, Machines, Rule, TrainedMachine
from omnitm.explain.words import (
    MeasuredRule,
    clause_states,
    explain_word,
    fresh_examples,
    new_words_first,
)
from omnitm.machine import AutoencoderSettings
from omnitm.training import train_vectors

if TYPE_CHECKING:
    from collections.abc import Sequence


def holds(index: DocumentIndex, document: int, present: Sequence[str], absent: Sequence[str]) -> bool:
    words = {index.vocabulary[k] for k in index.words_of(document).tolist()}
    return set(present) <= words and not words & set(absent)


def machine_with(
    index: DocumentIndex, word: str, present: Sequence[str], absent: Sequence[str]
) -> TrainedMachine:
    """Make a machine of one clause, the last of the negations the strongest."""
    n_words, settings = index.n_words, AutoencoderSettings(n_clauses=1, n_examples=20, accumulation=1)
    states = np.full((1, 2 * n_words), settings.include_from - 1, dtype=np.uint8)
    states[0, [index.word_id(name) for name in present]] = settings.include_from
    for strength, name in enumerate(absent):
        states[0, n_words + index.word_id(name)] = settings.include_from + strength
    return TrainedMachine(word, 0, index.vocabulary, settings, states, np.array([1], dtype=np.int32))


def test_negations_that_rule_out_most_come_first_and_others_are_counted() -> None:
    texts = ["road car"] * 90 + ["car red"] * 6 + ["car blue"] * 4 + ["green", "blue blue", "red"]
    index = DocumentIndex.from_documents(texts)
    [rule] = explain_word(machine_with(index, "road", ["car"], ["red", "blue", "green"]), index).rules
    assert rule.text == str(rule.rule) == "car AND NOT red AND NOT blue AND NOT green"
    assert rule.n_telling == 2  # red is in 6 of the 100 documents with car, blue in 4
    assert rule.shortened() == "car AND NOT red AND NOT 2 others"
    assert rule.shortened(3) == "car AND NOT red AND NOT blue AND NOT 1 other"
    assert (rule.match.support, rule.match.hits) == (90, 90)


def test_a_single_negation_is_named_and_so_are_all_where_no_word_must_occur() -> None:
    index = DocumentIndex.from_documents(["road car"] * 9 + ["red", "blue", "green sky air"])
    [rule] = explain_word(machine_with(index, "road", ["car"], ["red"]), index).rules
    assert (rule.n_telling, rule.shortened()) == (1, "car AND NOT red")
    unwanted = ["red", "blue", "green", "sky", "air"]
    [rule] = explain_word(machine_with(index, "road", [], unwanted), index).rules
    assert rule.n_telling == 5
    assert rule.shortened() == "NOT air AND NOT sky AND NOT green AND NOT blue AND NOT 1 other"


def test_figures_of_rules_are_those_of_counting(board: DocumentIndex, explainer: Explainer) -> None:
    explanation = explainer.explain("a0", n_documents=3)
    with_word = set(board.documents_with(0).tolist())
    assert (explanation.n_documents, explanation.document_frequency) == (120, len(with_word))
    assert explanation.rules
    for measured in explanation.rules:
        rule, match = measured.rule, measured.match
        matching = {n for n in range(120) if holds(board, n, rule.present, rule.absent)}
        hits = matching & with_word
        assert (match.support, match.hits) == (len(matching), len(hits))
        assert match.precision == (len(hits) / len(matching) if matching else None)
        assert measured.text == str(rule)
        assert {document.number for document in match.examples} <= hits
        assert {document.number for document in match.counterexamples} <= matching - hits
        assert len(match.examples) == min(3, len(hits))


def test_a_known_answer() -> None:
    """The word occurs with "sea" and with nothing else: the rule "sea" has precision 3/4."""
    documents = [["ship", "sea"]] * 30 + [["sea", "sky"]] * 10 + [["road", "car"]] * 40
    index = DocumentIndex.from_documents(documents)
    settings = AutoencoderSettings(n_clauses=8, n_examples=200, accumulation=1)
    explainer = Explainer(train_vectors(index, ["ship"], settings=settings), index)
    found = explainer.match("ship", ["sea"])
    assert (found.support, found.hits, found.precision) == (40, 30, 0.75)
    assert found.lift == pytest.approx(0.75 / (30 / 80))
    assert explainer.match("ship", [], ["road"]).support == 40
    assert explainer.match("ship", ["sea"], ["sky"]).precision == 1.0
    assert explainer.match("ship", ["sea", "road"]).precision is None
    rules = explainer.explain("ship").rules
    assert all(set(measured.rule.present) <= {"sea"} for measured in rules)
    best = max(rules, key=lambda measured: measured.match.precision or 0)
    assert best.match.precision is not None
    assert best.match.precision >= 0.75
    assert best.fires_with == 1.0
    assert best.fires_without is not None
    assert best.fires_without < 0.5


def test_firing_rates_are_those_of_merged_documents(board: DocumentIndex, explainer: Explainer) -> None:
    from omnitm.explain.matches import firing_rates

    machine = explainer.machines["a0"]
    rules = explainer.rules("a0")
    examples = fresh_examples(board, machine.settings, 0, machine.key)
    rates = firing_rates(board, rules, examples, 0)
    for rule, (with_word, without) in zip(rules, rates, strict=True):
        fired = [
            {board.vocabulary[k] for n in drawn for k in board.words_of(n).tolist()}
            for drawn in examples.documents
        ]
        true = np.array([set(rule.present) <= words and not words & set(rule.absent) for words in fired])
        assert with_word == true[examples.labels].mean()
        assert without == true[~examples.labels].mean()


def test_fresh_examples_are_not_those_of_training(board: DocumentIndex, explainer: Explainer) -> None:
    from omnitm.machine import training_examples

    machine = explainer.machines["a0"]
    settings = replace(machine.settings, n_examples=200, accumulation=8)
    fresh = fresh_examples(board, settings, 0, machine.key)
    trained = training_examples(board, settings, 0, machine.key)
    assert fresh.documents.shape == trained.documents.shape == (200, 8)
    seen = {tuple(drawn) for drawn in trained.documents.tolist()}
    assert not seen & {tuple(drawn) for drawn in fresh.documents.tolist()}
    assert not np.array_equal(fresh.labels, trained.labels)
    long = replace(settings, n_examples=900, n_epochs=2)
    assert len(fresh_examples(board, long, 0, machine.key).documents) == 1000


def test_ten_literals_are_shown_unless_asked_otherwise(explainer: Explainer) -> None:
    machine = explainer.machines["a0"]
    for explanation in (explainer.explain("a0"), explain_word(machine, explainer.index)):
        assert len(explanation.strongest) == len(explanation.weakest) == 10
    for states in (explainer.clause("a0", 3), clause_states(machine, 3)):
        assert len(states.strongest) == 10


def test_without_a_positive_clause_literals_are_at_their_start(explainer: Explainer) -> None:
    machine = explainer.machines["a0"]
    negative = replace(machine, weights=-np.abs(machine.weights))
    assert negative.positive_clauses == []
    assert replace(machine, weights=np.zeros_like(machine.weights)).positive_clauses == []
    assert negative.mean_states.tolist() == [127.0] * 24


def test_the_machine_that_was_asked_for_longest_ago_is_forgotten(
    explainer: Explainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("omnitm.explain.rules._KEPT", 2)
    machines = Machines(explainer.vectors, explainer.index)
    for word in ("a0", "a1", "a0", "b0"):
        assert machines[word].word == word
    assert [word for word, _ in machines._kept] == ["a0", "b0"]


def test_meetings_are_compared_with_chance() -> None:
    index = DocumentIndex.from_documents(["cat dog", "cat mouse", "dog cat mouse", "bird"])
    found = together(index, "cat", "mouse")
    assert (found.count, found.expected, found.lift) == (2, 1.5, 2 / 1.5)


def test_documents_are_spread_evenly() -> None:
    documents = np.arange(100, 110, dtype=np.uint32)
    assert spread(documents, 2) == [102, 107]
    assert spread(documents, 3) == [101, 105, 108]
    assert spread(documents, 10) == spread(documents, 11) == documents.tolist()


def test_strongest_and_weakest_literals(board: DocumentIndex, explainer: Explainer) -> None:
    explanation = explainer.explain("a0", n_literals=4)
    machine = explainer.machines["a0"]
    means = machine.states[machine.weights > 0].mean(axis=0)
    assert explanation.strongest[0].word[0] == "a"
    states = [literal.state for literal in explanation.strongest]
    assert states == sorted(states, reverse=True)
    assert states[0] == means[1:12].max()
    assert explanation.weakest[0].state == means[1:12].min()
    assert explanation.strongest_negated[0].word[0] == "b"
    assert explanation.strongest_negated[0].state == means[13:].max()
    for literal in (*explanation.strongest, *explanation.weakest, *explanation.strongest_negated):
        assert literal.word != "a0"
        number = board.word_id(literal.word) + 12 * literal.negated
        assert (literal.state, literal.distance) == (means[number], means[number] - 128)


def test_states_of_a_clause(explainer: Explainer) -> None:
    machine = explainer.machines["a0"]
    found = explainer.clause("a0", 3, n_literals=2)
    np.testing.assert_array_equal(np.concatenate([found.present, found.absent]), machine.states[3])
    assert found.weight == machine.weights[3]
    assert found.strongest[0].state == machine.states[3].max()
    with pytest.raises(ParameterError, match="'clause' parameter of clause must be an int from 0 to 15"):
        explainer.clause("a0", 16)


def test_documents_are_read_if_they_are_asked_for() -> None:
    index = DocumentIndex.from_documents(["march on rome", "on rome", "rome fell in march", "on march"])
    assert together(index, "march", "rome").documents == ()
    assert standing(index, "rome", "on _").documents == ()
    seen = {0}
    assert [document.number for document in together(index, "march", "rome", 1, seen).documents] == [2]
    assert seen == {0, 2}
    assert [document.number for document in standing(index, "rome", "on _", 2).documents] == [0, 1]
    found = standing(index, "rome", "on _")
    assert (found.count, found.expected, found.lift) == (2, 3 * 3 / 11, 2 / (3 * 3 / 11))
    both = together(index, "march", "rome")
    assert (both.count, both.expected, both.lift) == (2, 3 * 3 / 4, 2 / (3 * 3 / 4))


def test_results_are_plain_data(explainer: Explainer) -> None:
    for found in (explainer.explain("a0"), explainer.clause("a0", 0), explainer.match("a0", ["a1"])):
        assert json.loads(json.dumps(found.to_dict())) == found.to_dict()
    content = explainer.explain("a0").to_dict()
    assert content["rules"][0]["rule"]["literals"][0]["word"]


def test_bad_input(explainer: Explainer) -> None:
    with pytest.raises(UnknownWordError, match="'a00' is not in the trained words; spelled like it: a0"):
        explainer.explain("a00")
    with pytest.raises(UnknownWordError, match="only in the vocabulary"):
        explainer.explain("b3")
    with pytest.raises(UnknownWordError, match="'zebra' is not in the vocabulary"):
        explainer.match("a0", ["zebra"])
    with pytest.raises(ParameterError, match="'n_documents' parameter of explain must be an int >= 0"):
        explainer.explain("a0", n_documents=-1)


def test_a_word_that_is_in_every_document() -> None:
    index = DocumentIndex.from_documents([["cat", "dog"], ["cat", "mouse"]] * 5)
    settings = AutoencoderSettings(n_clauses=4, n_examples=20, accumulation=1)
    with pytest.warns(match="'cat' is in every document"):
        vectors = train_vectors(index, ["cat"], settings=settings)
    for measured in Explainer(vectors, index).explain("cat").rules:
        assert measured.match.precision in {None, 1.0}


def test_rules_that_ask_for_the_same_words_come_later(explainer: Explainer) -> None:
    rule = explainer.explain("a0", n_documents=0).rules[0]

    def made(evidence: float, *literals: str) -> MeasuredRule:
        named = tuple(Literal(word.removeprefix("-"), word.startswith("-"), 130, 2) for word in literals)
        return replace(rule, rule=Rule((0,), 1, named), evidence=evidence)

    first, same, other, none = made(9, "b"), made(8, "b", "-c"), made(7, "d"), made(0, "e")
    repeated = replace(same, says_new=False)
    found = new_words_first([first, same, other, none])
    assert found == [first, other, repeated, none]
    explanation = replace(explainer.explain("a0", n_documents=0), rules=tuple(found))
    assert explanation.first_rules == (first, other)
    assert replace(explanation, rules=(repeated, none)).first_rules == (repeated,)
    assert replace(explanation, rules=(none,)).first_rules == (none,)
    assert [row["rule"] for row in explanation.shown_rows()] == ["b", "d"]
    assert explanation.caption().endswith("; to_frame() has 2 more rules")
    own, partly, empty = made(9, "b", "bs", "-d"), made(8, "b", "d"), made(7, "-b")
    assert new_words_first([own, partly, empty, none], ["bs", "b"]) == [
        *(partly, empty),
        *(replace(own, says_new=False), none),
    ]
    wider, more, empty_again = made(8, "b", "d"), made(7, "d", "e", "b"), made(6, "-c")
    assert new_words_first([wider, more, first, empty, empty_again, none]) == [
        *(wider, first, more, empty),  # fewer words than before are new; more words, or none, come later
        *(replace(empty_again, says_new=False), none),
    ]


def test_forms_of_the_word_are_told_to_explanations(
    explainer: Explainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Sequence[str]] = []

    def noted(*given: Any, **options: Any) -> Any:
        told.append(given[2])
        return explain_word(*given, **options)

    monkeypatch.setattr("omnitm.explain.explainer.explain_word", noted)
    monkeypatch.setattr(explainer.vectors, "forms", lambda word: [f"{word}s"])
    explainer.explain("a0", n_documents=0)
    assert told == [["a0s"]]


def test_rules_that_documents_bear_out_come_first(explainer: Explainer) -> None:
    rules = explainer.explain("a0", n_documents=0).rules
    asked = [frozenset(measured.rule.present) for measured in rules]
    keys = [
        (measured.evidence > 0, words not in asked[:place], measured.rule.weight * measured.evidence**2)
        for place, (measured, words) in enumerate(zip(rules, asked, strict=True))
        if measured.evidence
    ]
    assert keys == sorted(keys, reverse=True)
    assert not any(measured.evidence for measured in rules[len(keys) :])
    for measured in rules:
        assert measured.evidence == evidence_of(measured.match)
        assert (measured.evidence > 0) <= (measured.match.hits > 0)
        if measured.examples_support:
            assert measured.examples_precision is not None
    assert evidence_of(Match(0, 0, None, None)) == 0
    assert evidence_of(Match(50, 0, 0.0, 0.0)) == 0
    assert evidence_of(Match(100, 10, 0.1, 1.0)) == 0
    assert evidence_of(Match(100, 10, 0.1, 0.5)) == 0
    assert evidence_of(Match(10, 7, 0.7, 7.0)) == 2


def test_examples_of_a_rule_are_counted(explainer: Explainer) -> None:
    for measured in explainer.explain("a0", n_documents=0).rules:
        labels = fresh_examples(
            explainer.index, explainer.machines["a0"].settings, 0, explainer.machines["a0"].key
        ).labels
        n_with, n_without = int(labels.sum()), int((~labels).sum())
        with_word = (measured.fires_with or 0) * n_with
        held = with_word + (measured.fires_without or 0) * n_without
        assert measured.examples_support == pytest.approx(held)
        if held:
            assert measured.examples_precision == pytest.approx(with_word / held)
        else:
            assert measured.examples_precision is None
