from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from omnitm.embedding import train_vectors
from omnitm.explain import Rule, trained_rules
from omnitm.machine import AutoencoderSettings, word_key
from omnitm.machine.autoencoder import Autoencoder

if TYPE_CHECKING:
    from omnitm.corpus import DocumentIndex

SETTINGS = AutoencoderSettings(n_clauses=16, n_examples=300, accumulation=1)


def test_rules_are_the_included_literals_of_positive_clauses(board: DocumentIndex) -> None:
    vectors = train_vectors(board, ["a0"], settings=SETTINGS, seed=4)
    assert vectors.training is not None
    rules = trained_rules(board, vectors.training, "a0")
    machine = Autoencoder(board, SETTINGS)
    machine.train(0, word_key(4, "a0"))
    included = np.asarray(machine.states >= 128)
    used = np.asarray(included.any(axis=1))
    weights = sorted(machine.weights[used & (machine.weights > 0)].tolist(), reverse=True)
    assert [rule.weight for rule in rules] == weights
    strongest = rules[0]
    clause = machine.weights.tolist().index(strongest.weight)
    assert set(strongest.present) == {board.vocabulary[k] for k in range(12) if included[clause, k]}
    assert set(strongest.absent) == {board.vocabulary[k] for k in range(12) if included[clause, 12 + k]}


def test_a_rule_speaks_of_its_own_topic(board: DocumentIndex) -> None:
    vectors = train_vectors(board, ["a0"], settings=SETTINGS)
    assert vectors.training is not None
    rules = trained_rules(board, vectors.training, "a0")
    assert any(rule.absent for rule in rules)
    assert all(word[0] == "a" for rule in rules for word in rule.present)


def test_rules_read_well() -> None:
    rule = Rule(9, ("pattern", "match"), ("widget", "header"))
    assert str(rule) == "pattern AND match AND NOT widget AND NOT header"
    assert rule.shortened(3) == "pattern AND match AND NOT widget AND 1 more"
    assert rule.shortened(9) == str(rule)
