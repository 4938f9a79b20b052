"""A bank that words share, and machines without negated literals, equal their references bit for bit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from omnitm import _native
from omnitm.corpus import DocumentIndex
from omnitm.machine import Autoencoder, AutoencoderSettings, instruction_sets
from omnitm.machine.autoencoder import SharedAutoencoder, corpus_arrays, native_settings
from omnitm.machine.reference import ReferenceAutoencoder, ReferenceSharedAutoencoder, omni_embedding

if TYPE_CHECKING:
    from collections.abc import Callable

    MakeIndex = Callable[..., DocumentIndex]

some_settings = st.builds(
    AutoencoderSettings,
    n_clauses=st.sampled_from([1, 2, 17, 33]),
    threshold=st.sampled_from([1, 2, 15, 300]),
    specificity=st.sampled_from([1.0, 1.5, 5.0, 100.0]),
    accumulation=st.integers(1, 5),
    n_examples=st.integers(1, 60),
    output_balancing=st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    max_included_literals=st.sampled_from([None, 0, 1, 3]),
)


@st.composite
def small_corpora(draw: st.DrawFn) -> DocumentIndex:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_words = draw(st.sampled_from([2, 31, 64, 255, 257]))
    presence = rng.random((draw(st.integers(1, 30)), n_words)) < draw(st.sampled_from([0.05, 0.3])) * 2 * (
        rng.random(n_words)
    )
    return DocumentIndex.from_csr(csr_matrix(presence), [f"w{k}" for k in range(n_words)])


@settings(max_examples=40, deadline=None)
@given(
    index=small_corpora(),
    chosen=some_settings,
    key=st.integers(0, 2**64 - 1),
    negated=st.booleans(),
    data=st.data(),
)
def test_a_shared_bank_equals_its_reference(
    index: DocumentIndex, chosen: AutoencoderSettings, key: int, negated: bool, data: st.DataObject
) -> None:
    numbers = st.integers(0, index.n_words - 1)
    targets = data.draw(st.lists(numbers, min_size=1, max_size=5, unique=True))
    keys = [key ^ (1 + target) for target in targets]
    reference = ReferenceSharedAutoencoder(
        index, chosen, targets, keys, key, negated_literals=negated
    ).train()
    for isa in instruction_sets():
        native = SharedAutoencoder(index, chosen, negated_literals=negated, isa=isa)
        native.train(targets[:1], keys[:1], key ^ 1)  # memory that is used again must not show
        assert native.train(targets, keys, key)
        assert native.n_done == chosen.total_examples
        np.testing.assert_array_equal(native.weights, reference.weights, err_msg=isa)
        np.testing.assert_array_equal(native.states, reference.states, err_msg=isa)


@settings(max_examples=30, deadline=None)
@given(index=small_corpora(), chosen=some_settings, bits=st.integers(4, 8), key=st.integers(0, 2**64 - 1))
def test_machines_without_negated_literals_equal_the_reference(
    index: DocumentIndex, chosen: AutoencoderSettings, bits: int, key: int
) -> None:
    chosen = replace(chosen, state_bits=bits)
    target = key % index.n_words
    reference = ReferenceAutoencoder(index, chosen, target, key, negated_literals=False).train()
    assert (reference.states[:, index.n_words :] == chosen.include_from - 1).all()
    for isa in instruction_sets():
        native = Autoencoder(index, chosen, negated_literals=False, isa=isa)
        assert native.train(target, key)
        np.testing.assert_array_equal(native.states, reference.states, err_msg=isa)
        np.testing.assert_array_equal(native.weights, reference.weights, err_msg=isa)
        embedding = omni_embedding(reference.states, reference.weights)
        np.testing.assert_array_equal(native.embedding(), embedding, err_msg=isa)


def test_chunks_fall_asleep_and_wake() -> None:
    """Where all states of a chunk are 0 the native code skips it, until feedback raises one of them again."""
    rng = np.random.default_rng(1)
    presence = rng.random((60, 512)) < np.where(np.arange(512) < 256, 0.1, 0.0004)
    presence[:, 3] = np.arange(60) % 2
    index = DocumentIndex.from_csr(csr_matrix(presence), [f"w{k}" for k in range(512)])
    chosen = AutoencoderSettings(
        n_clauses=6, threshold=200, specificity=1.1, accumulation=1, n_examples=300, state_bits=4
    )
    reference = ReferenceAutoencoder(index, chosen, 3, 99, negated_literals=False)
    slept, woke = np.zeros((6, 2), dtype=bool), 0
    for example in range(chosen.total_examples):
        reference.learn(example, *reference.prepare(example))
        asleep = (reference.states[:, :512].reshape(6, 2, 256) == 0).all(axis=2)
        slept, woke = asleep, woke + int((slept & ~asleep).sum())
    assert woke > 5
    native = Autoencoder(index, chosen, negated_literals=False)
    native.train(3, 99)
    np.testing.assert_array_equal(native.states, reference.states)


def test_one_word_alone_learns_as_in_a_machine_of_its_own(random_index: MakeIndex) -> None:
    index = random_index(40, 50)
    chosen = AutoencoderSettings(n_clauses=10, threshold=30, specificity=3.0, n_examples=200)
    shared = SharedAutoencoder(index, chosen)
    shared.train([7], [123], 123)
    alone = Autoencoder(index, chosen)
    alone.train(7, 123)
    np.testing.assert_array_equal(shared.weights[0], alone.weights)
    np.testing.assert_array_equal(shared.states, alone.states)


def test_wrong_targets_are_refused(random_index: MakeIndex) -> None:
    machine = SharedAutoencoder(random_index(10, 5), AutoencoderSettings(n_examples=2))
    with pytest.raises(IndexError, match="no such word"):
        machine.train([5], [1], 1)
    with pytest.raises(ValueError, match="a key per target"):
        machine.train([1, 2], [1], 1)
    with pytest.raises(ValueError, match="a key per target, and one at least"):
        machine.train([], [], 1)


def test_wrong_places_are_refused(random_index: MakeIndex) -> None:
    index, chosen = random_index(10, 5), AutoencoderSettings(n_examples=2)
    native = _native.SharedAutoencoder(
        *corpus_arrays(index), **native_settings(index.n_words, chosen), negated=True, isa="auto"
    )
    native.train([1], [2], 3)
    with pytest.raises(ValueError, match="a place per clause and literal"):
        native.states(np.zeros(3, np.uint8))
    with pytest.raises(ValueError, match="a place per target and clause"):
        native.weights(np.zeros(3, np.int32))
    with pytest.raises(ValueError, match="no instruction set 'abacus'"):
        SharedAutoencoder(index, chosen, isa="abacus")
    with pytest.raises(ValueError, match=r"the lazy kernel needs .* negated literals"):
        Autoencoder(index, chosen, negated_literals=False, kernel="lazy")
