"""A recording says what the reference machine does, example by example."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm.machine import Autoencoder, AutoencoderSettings, Feedback, instruction_sets, training_examples
from omnitm.machine.reference import ReferenceAutoencoder

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnitm.corpus import DocumentIndex

    MakeIndex = Callable[..., DocumentIndex]


class Watched(ReferenceAutoencoder):
    """Writes down the states of one word's literals and who was taught what."""

    feedback: np.ndarray[Any, np.dtype[np.uint8]]

    def learn(self, example: int, label: bool, literals: np.ndarray[Any, np.dtype[np.bool_]]) -> None:
        self.feedback = np.zeros(len(self.weights), dtype=np.uint8)
        super().learn(example, label, literals)

    def type_i(self, example: int, clause: int, output: bool, n_included: int, literals: Any) -> None:
        limit = self.settings.max_included_literals
        remembers = output and (limit is None or n_included <= limit)
        self.feedback[clause] = Feedback.REMEMBER if remembers else Feedback.FORGET
        super().type_i(example, clause, output, n_included, literals)

    def type_ii(self, clause: int, literals: Any) -> None:
        self.feedback[clause] = Feedback.REJECT
        super().type_ii(clause, literals)


CASES = [
    {},
    {"specificity": 3.7},
    {"algorithm": "fast"},
    {"algorithm": "fast", "specificity": 2.0, "state_bits": 5},
    {"max_included_literals": None, "state_bits": 4},
]


@pytest.mark.parametrize("isa", instruction_sets())
@pytest.mark.parametrize("case", CASES)
def test_recordings_equal_the_reference(random_index: MakeIndex, case: dict[str, Any], isa: str) -> None:
    index = random_index(40, 300)
    settings = AutoencoderSettings(n_clauses=17, threshold=60, accumulation=2, n_examples=80, **case)
    target, key, word = 5, 99, 270
    machine = Autoencoder(index, settings, isa=isa)
    recording = machine.record(target, key, word)
    reference = Watched(index, settings, target, key)
    for example in range(settings.total_examples):
        label, literals = reference.prepare(example)
        reference.learn(example, label, literals)
        np.testing.assert_array_equal(recording.present[example], reference.states[:, word])
        np.testing.assert_array_equal(recording.absent[example], reference.states[:, word + index.n_words])
        np.testing.assert_array_equal(recording.feedback[example], reference.feedback)
        np.testing.assert_array_equal(recording.weights[example], reference.weights)
    assert set(np.unique(recording.feedback)) > {Feedback.NONE}
    np.testing.assert_array_equal(machine.states, reference.states)
    recorded = machine.embedding()
    assert machine.train(target, key)
    np.testing.assert_array_equal(machine.embedding(), recorded)


def test_arrays_and_words_are_checked(random_index: MakeIndex) -> None:
    index = random_index(10, 20)
    machine = Autoencoder(index, AutoencoderSettings(n_clauses=4, n_examples=3))
    with pytest.raises(IndexError, match="no such word"):
        machine.record(0, 1, 20)
    short = np.empty(3, dtype=np.uint8)
    with pytest.raises(ValueError, match="a place per example and clause"):
        machine._native.record(0, 1, 2, short, short, np.empty(3, dtype=np.int32))


@pytest.mark.parametrize("target", [0, 3])
def test_examples_are_those_of_the_reference(random_index: MakeIndex, target: int) -> None:
    index = random_index(50, 8)
    settings = AutoencoderSettings(n_examples=60, accumulation=3, output_balancing=0.3)
    reference = ReferenceAutoencoder(index, settings, target, 7)
    labels, documents = training_examples(index, settings, target, 7)
    for example in range(60):
        assert labels[example] == reference.label(example)
        assert documents[example].tolist() == reference.documents(example, bool(labels[example]))
    assert 0 < labels.sum() < 60


def test_examples_of_a_word_in_every_document_are_drawn_from_all() -> None:
    from omnitm.corpus import DocumentIndex

    index = DocumentIndex.from_documents(["cat dog", "cat", "cat mouse"])
    settings = AutoencoderSettings(n_examples=20, accumulation=2)
    target = index.word_id("cat")
    reference = ReferenceAutoencoder(index, settings, target, 3)
    labels, documents = training_examples(index, settings, target, 3)
    drawn = [reference.documents(example, bool(labels[example])) for example in range(20)]
    assert documents.tolist() == drawn
