from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from omnitm.explain import Literal, Rule
from omnitm.explain.rules import TrainedMachine, rules_of
from omnitm.machine import Autoencoder, AutoencoderSettings, word_key

if TYPE_CHECKING:
    from omnitm.corpus import DocumentIndex
    from omnitm.explain import Explainer


def test_rules_are_the_included_literals_of_positive_clauses(
    board: DocumentIndex, explainer: Explainer
) -> None:
    rules = explainer.rules("a0")
    machine = Autoencoder(board, explainer.machines.record.settings)
    machine.train(0, word_key(4, "a0"))
    states, weights = machine.states, machine.weights
    said = [clause for rule in rules for clause in rule.clauses]
    used = np.flatnonzero((states >= 128).any(axis=1) & (weights > 0))
    assert sorted(said) == used.tolist()
    assert [rule.weight for rule in rules] == sorted((rule.weight for rule in rules), reverse=True)
    for rule in rules:
        assert rule.weight == weights[list(rule.clauses)].sum()
        for clause in rule.clauses:
            included = {str(k) for k in np.flatnonzero(states[clause] >= 128)}
            assert {str(_number(board, literal)) for literal in rule.literals} == included
        for literal in rule.literals:
            mean = states[list(rule.clauses), _number(board, literal)].mean()
            assert (literal.state, literal.distance) == (mean, mean - 128)


def _number(index: DocumentIndex, literal: Literal) -> int:
    return index.word_id(literal.word) + index.n_words * literal.negated


def test_clauses_that_are_the_same_become_one_rule() -> None:
    states = np.full((4, 4), 127, dtype=np.uint8)
    states[0, 1], states[1, 1], states[2, 3], states[3, 1] = 130, 140, 128, 150
    weights = np.array([3, 4, 5, -6], dtype=np.int32)
    machine = TrainedMachine("road", 0, ["road", "car"], AutoencoderSettings(n_clauses=4), states, weights)
    first, second = rules_of(machine)
    assert (str(first), first.clauses, first.weight) == ("car", (1, 0), 7)
    assert first.literals[0].state == 135
    assert (str(second), second.clauses, second.weight) == ("NOT car", (2,), 5)


def test_a_rule_speaks_of_its_own_topic(explainer: Explainer) -> None:
    rules = explainer.rules("a0")
    assert any(rule.absent for rule in rules)
    assert all(word[0] == "a" for rule in rules for word in rule.present)


def test_rules_read_well() -> None:
    pattern, match = Literal("pattern", False, 140, 12), Literal("match", False, 139, 11)
    widget, header = Literal("widget", True, 130, 2), Literal("header", True, 129, 1)
    rule = Rule((3,), 9, (pattern, match, widget, header))
    assert str(rule) == "pattern AND match AND NOT widget AND NOT header"
    assert rule.shortened(3) == "pattern AND match AND NOT widget AND NOT 1 other"
    assert rule.shortened(1) == "pattern AND 3 others"
    assert rule.shortened(2) == "pattern AND match AND NOT 2 others"
    assert rule.shortened(0) == "4 others"
    assert rule.shortened(9) == str(rule)
    assert (rule.present, rule.absent) == (("pattern", "match"), ("widget", "header"))
