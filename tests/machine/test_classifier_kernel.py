"""The classifier's kernel equals the numpy reference, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from omnitm import _native
from omnitm.machine.autoencoder import instruction_sets
from omnitm.machine.classifier import ClauseBanks, Documents, aligned_zeros
from omnitm.machine.reference import ReferenceClassifier
from omnitm.machine.settings import ClassifierSettings, classifier_key


def random_documents(random: np.random.Generator, n_documents: int, n_words: int) -> Any:
    """Words of all frequencies, with some in every document and some in none."""
    frequency = random.random(n_words) ** 3
    return random.random((n_documents, n_words)) < frequency


def random_states(random: np.random.Generator, shape: tuple[int, ...], n_words: int) -> Any:
    """Draw states close to both ends and to the threshold, and anywhere; positive ones mostly low."""
    low, high = np.array([0, 2, 12, 30, 110, 125]), np.array([130, 150, 200, 253])  # few are included
    included = random.random(shape) < 0.01
    states = np.where(included, random.choice(high, shape), random.choice(low, shape))
    states += random.integers(0, 3, size=shape)
    states[..., :n_words] //= random.choice([1, 20], size=shape[:2])[..., None]
    return states.astype(np.int16)


def pack(states: Any, like: Any) -> Any:
    """Lay out classes x clauses x literals as bit planes."""
    n_classes, n_clauses, n_literals = states.shape
    room = np.zeros((n_classes, n_clauses, 2, like.shape[3] * 256), dtype=np.uint8)
    room[..., : n_literals // 2] = states.reshape(n_classes, n_clauses, 2, -1)
    chunks = room.reshape(*like.shape[:4], 1, 256)
    bits = chunks >> np.arange(8, dtype=np.uint8)[:, None] & 1
    return np.packbits(bits, axis=-1, bitorder="little").view(np.uint64)


def assert_equal_to_reference(
    plan: ClassifierSettings,
    documents: Any,
    labels: Any,
    n_classes: int,
    *,
    random: np.random.Generator | None = None,
    isa: str = "auto",
) -> ReferenceClassifier:
    """Teach both for two epochs, from the usual start or from random states."""
    n_words, key = documents.shape[1], classifier_key(len(labels))
    reference = ReferenceClassifier(plan, n_classes, n_words, key)
    banks = ClauseBanks.new(plan, n_classes, n_words, key)
    if random is not None:
        reference.states = random_states(random, reference.states.shape, n_words)
        banks.planes[...] = pack(reference.states, banks.planes)
    packed = Documents.from_csr(sp.csr_matrix(documents))
    for _ in range(2):
        reference.learn_epoch(documents, labels)
        banks.learn_epoch(packed, labels, isa=isa)
    for label in range(n_classes):
        assert np.array_equal(banks.states(label), reference.states[label])
    assert np.array_equal(banks.weights, reference.weights)
    assert np.array_equal(banks.votes(packed, banks.included_literals()), reference.votes(documents))
    return reference


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    n_words=st.sampled_from([1, 2, 7, 63, 255, 256, 257, 300, 520]),
    n_documents=st.integers(1, 40),
    n_classes=st.integers(2, 4),
    n_clauses=st.sampled_from([2, 4, 10, 16]),
    threshold=st.sampled_from([1, 3, 20, 8000]),
    specificity=st.sampled_from([1.0, 1.5, 2.0, 3.7, 10.0, 1e12]),
    clause_drop=st.sampled_from([0.0, 0.3, 0.75, 1.0]),
    limit=st.sampled_from([None, None, 0, 1, 5]),
    anywhere=st.booleans(),
)
def test_kernel_equals_reference(
    seed: int,
    n_words: int,
    n_documents: int,
    n_classes: int,
    n_clauses: int,
    threshold: int,
    specificity: float,
    clause_drop: float,
    limit: int | None,
    anywhere: bool,
) -> None:
    random = np.random.default_rng(seed)
    documents = random_documents(random, n_documents, n_words)
    labels = random.integers(0, n_classes, n_documents)
    plan = ClassifierSettings(
        n_clauses=n_clauses,
        threshold=threshold,
        specificity=specificity,
        clause_drop=clause_drop,
        max_included_literals=limit,
    )
    assert_equal_to_reference(plan, documents, labels, n_classes, random=random if anywhere else None)


@pytest.mark.parametrize("isa", instruction_sets())
@pytest.mark.parametrize("specificity", [1.0, 2.0, 5.0])
def test_long_runs_on_every_instruction_set(isa: str, specificity: float) -> None:
    # so long that logs fill up and places of documents are used again; chunks of frequent and of rare words
    random = np.random.default_rng(3)
    documents = random_documents(random, 200, 600)
    documents[:, 256:] &= random.random((200, 344)) < 0.002
    labels = (documents[:, 3] ^ documents[:, 200]).astype(np.int64)
    plan = ClassifierSettings(n_clauses=4, threshold=200, specificity=specificity, clause_drop=0.0)
    reference = assert_equal_to_reference(plan, documents, labels, 2, random=random, isa=isa)
    assert np.abs(reference.weights).max() > 1  # some clauses were true


@pytest.mark.parametrize("state", [144, 145, 146, 147])
def test_a_literal_just_out_of_reach_of_the_log_is_seen_to_cross(state: int) -> None:
    """Each clause includes one word that no document has, and every lesson (s = 1) takes a step from it.

    A full log is 16 lessons; states from 144 on, 17 or more steps above 127, cannot cross within one. After
    `state - 127` lessons the clause is empty and true, and is taught otherwise.
    """
    random = np.random.default_rng(state)
    documents = random.random((100, 300)) < 0.02
    documents[:, 280] = False
    labels = random.integers(0, 2, 100)
    plan = ClassifierSettings(n_clauses=6, threshold=8000, specificity=1.0, clause_drop=0.0)
    key = classifier_key(1)
    reference, banks = ReferenceClassifier(plan, 2, 300, key), ClauseBanks.new(plan, 2, 300, key)
    reference.states = np.full((2, 6, 600), 60, dtype=np.int16)
    reference.states[..., 280] = state
    banks.planes[...] = pack(reference.states, banks.planes)
    reference.learn_epoch(documents, labels)
    banks.learn_epoch(Documents.from_csr(sp.csr_matrix(documents)), labels)
    assert (reference.states[..., 280] < 128).any()
    for label in range(2):
        assert np.array_equal(banks.states(label), reference.states[label])
    assert np.array_equal(banks.weights, reference.weights)


def test_threads_do_not_change_anything() -> None:
    random = np.random.default_rng(5)
    documents = Documents.from_csr(sp.csr_matrix(random_documents(random, 60, 100)))
    labels = random.integers(0, 3, 60)
    banks = [ClauseBanks.new(ClassifierSettings(n_clauses=20), 3, 100, 1) for _ in range(2)]
    for n_jobs, bank in enumerate(banks, start=1):
        for _ in range(3):
            bank.learn_epoch(documents, labels, n_jobs=n_jobs)
    assert np.array_equal(banks[0].planes, banks[1].planes)
    included = banks[0].included_literals()
    one, five = (banks[0].votes(documents, included, n_jobs=n_jobs) for n_jobs in (1, 5))
    assert np.array_equal(one, five)
    assert np.any(one != 0)


def arguments(**changes: Any) -> dict[str, Any]:
    """Return what `teach_class` takes for two documents, two words and two clauses."""
    good = {
        "offsets": np.array([0, 1, 2], dtype=np.uint64),
        "words": np.array([0, 1], dtype=np.uint32),
        "n_words": 2,
        "planes": aligned_zeros((2 * 2 * 32,)),
        "weights": np.array([1, -1], dtype=np.int32),
        "active": np.array([0, 1], dtype=np.uint32),
        "documents": np.array([0, 1], dtype=np.uint32),
        "steps": np.array([0, 3], dtype=np.uint64),
        "threshold": 5,
        "forget_probability": 2**31,
        "max_included": 2**32 - 1,
        "key": 1,
        "isa": "auto",
    }
    return {**good, **changes}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"words": np.array([0, 2], dtype=np.uint32)}, "a member is too large"),
        ({"offsets": np.array([0, 3, 2], dtype=np.uint64)}, "offsets must start at 0, ascend"),
        ({"documents": np.array([0, 2], dtype=np.uint32)}, "there is no such document"),
        ({"steps": np.array([0], dtype=np.uint64)}, "every document needs a step"),
        ({"planes": aligned_zeros((64,))}, "8 x 256 bits"),
        ({"planes": aligned_zeros((129,))[1:]}, "must start at a multiple of 32"),
        ({"active": np.array([1, 0], dtype=np.uint32)}, "numbers of clauses, ascending"),
        ({"threshold": 0}, "`threshold` must be from 1"),
        ({"isa": "abacus"}, "no instruction set 'abacus'"),
    ],
)
def test_native_code_checks_what_it_is_given(changes: dict[str, Any], message: str) -> None:
    _native.teach_class(**arguments())
    with pytest.raises(ValueError, match=message):
        _native.teach_class(**arguments(**changes))


def test_native_votes_check_what_they_are_given() -> None:
    documents = Documents(np.array([0, 1], dtype=np.uint64), np.array([0], dtype=np.uint32), 2)
    lists = np.array([0, 1], dtype=np.uint64), np.array([0], dtype=np.uint32)
    votes = np.zeros(1, dtype=np.int64)
    _native.class_votes(*documents, 0, *lists, np.array([7], dtype=np.int32), votes)
    assert votes[0] == 7
    with pytest.raises(ValueError, match="every clause needs a weight"):
        _native.class_votes(*documents, 0, *lists, np.array([7, 1], dtype=np.int32), votes)
    with pytest.raises(ValueError, match="not that many documents"):
        _native.class_votes(*documents, 1, *lists, np.array([7], dtype=np.int32), votes)
