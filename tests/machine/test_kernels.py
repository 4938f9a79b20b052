"""Every native path equals the numpy reference, bit for bit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from omnitm.corpus import DocumentIndex, Preparation, VocabularyRules
from omnitm.corpus.assembling import COMMA
from omnitm.machine import Autoencoder, AutoencoderSettings, instruction_sets, word_key
from omnitm.machine.reference import ReferenceAutoencoder, omni_embedding

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnitm.machine import Kind

SPARSE, EVEN, DENSE = 0.03, 0.2, 0.6


@st.composite
def corpora(draw: Callable[[st.SearchStrategy[Any]], Any]) -> DocumentIndex:
    """Draw small corpora of awkward sizes, with words that occur nowhere and everywhere."""
    n_documents, n_words = (
        draw(st.integers(1, 40)),
        draw(st.sampled_from([1, 2, 3, 31, 33, 64, 255, 256, 257, 300])),
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    presence = rng.random((n_documents, n_words)) < draw(
        st.sampled_from([SPARSE, EVEN, DENSE])
    ) * 2 * rng.random(n_words)
    for column in draw(st.sets(st.integers(0, n_words - 1), max_size=3)):
        presence[:, column] = draw(st.booleans())
    return DocumentIndex.from_csr(csr_matrix(presence), [f"w{k}" for k in range(n_words)])


@st.composite
def running_texts(draw: Callable[[st.SearchStrategy[Any]], Any]) -> DocumentIndex:
    """Draw small texts: empty documents and single words, words outside the vocabulary, one word alone.

    With spaces, commas or other marks between words.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_words, scale = draw(st.sampled_from([1, 2, 5, 70, 300])), draw(st.sampled_from([0.1, 5.0, 60.0]))
    lengths = rng.integers(0, draw(st.sampled_from([2, 4, 12])), size=draw(st.integers(1, 50)))
    numbers = [np.minimum(rng.exponential(scale, size=n), n_words - 1).astype(int) for n in lengths]
    # Letters: words with digits would be left out of a text that has punctuation.
    after = draw(st.sampled_from([(" ",), (" ", " ", ", ", "; "), (", ",)]))
    documents = [
        "".join(
            "w" + chr(97 + k // 26) + chr(97 + k % 26) + after[rng.integers(len(after))] for k in document
        )
        for document in numbers
    ]
    documents.append("waa")
    preparation = Preparation(stop_words=None)
    rules = VocabularyRules(max_words=20)
    return DocumentIndex.from_documents(documents, preparation=preparation, vocabulary=rules)


any_settings = st.builds(
    AutoencoderSettings,
    n_clauses=st.sampled_from([1, 2, 15, 16, 17, 31, 32, 33, 65, 130]),
    threshold=st.sampled_from([1, 2, 15, 300, 20_000, 2**30]),
    specificity=st.sampled_from([1.0, 1.0, 1.0, 2.0, 3.7, 100.0, 1e12]),
    accumulation=st.integers(1, 5),
    n_examples=st.integers(1, 150),
    n_epochs=st.integers(1, 2),
    algorithm=st.sampled_from(["exact", "fast"]),
    state_bits=st.integers(4, 8),
    output_balancing=st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    max_included_literals=st.sampled_from([None, 0, 1, 3, 3, 10, 300]),
)


def native_paths(chosen: AutoencoderSettings) -> list[tuple[str, str]]:
    lazy = chosen.specificity == 1 and chosen.max_included_literals != 300
    kernels = ["auto", "sliced", "lazy"] if lazy else ["auto", "sliced"]
    return [(kernel, isa) for kernel in kernels for isa in instruction_sets()]


def assert_equal_to_reference(
    index: DocumentIndex, chosen: AutoencoderSettings, target: int, key: int, kind: Kind = "topic"
) -> None:
    reference = ReferenceAutoencoder(index, chosen, target, key, kind=kind).train()
    embedding = omni_embedding(reference.states, reference.weights)
    for kernel, isa in native_paths(chosen):
        native = Autoencoder(index, chosen, kind=kind, kernel=kernel, isa=isa)
        native.train(
            index.n_words - 1 - min(target, index.n_words - 1), key ^ 1
        )  # memory that is used again must not show
        assert native.train(target, key)
        np.testing.assert_array_equal(native.weights, reference.weights, err_msg=f"{kernel} {isa}")
        np.testing.assert_array_equal(native.states, reference.states, err_msg=f"{kernel} {isa}")
        np.testing.assert_array_equal(native.embedding(), embedding, err_msg=f"{kernel} {isa}")


@settings(max_examples=60, deadline=None)
@given(
    index=running_texts(),
    chosen=any_settings,
    n_words=st.sampled_from([1, 3, 10_000]),
    key=st.integers(0, 2**64 - 1),
    data=st.data(),
)
def test_native_equals_reference_at_places(
    index: DocumentIndex, chosen: AutoencoderSettings, n_words: int, key: int, data: st.DataObject
) -> None:
    assert index.running is not None
    numbers = st.integers(0, len(index.running.names) - 1)
    target, joiners = data.draw(numbers), data.draw(st.sets(numbers | st.just(COMMA), max_size=5))
    n_joined = data.draw(st.sampled_from([1, 2, 5, 40_000]))
    chosen = replace(
        chosen, n_place_features=n_words, n_joined_features=n_joined, joiners=tuple(sorted(joiners))
    )
    assert_equal_to_reference(index, chosen, target, key, "place")


@settings(max_examples=60, deadline=None)
@given(
    index=running_texts(),
    chosen=any_settings,
    reach=st.sampled_from([1, 2, 5, 300]),
    key=st.integers(0, 2**64 - 1),
    data=st.data(),
)
def test_native_equals_reference_in_passages(
    index: DocumentIndex, chosen: AutoencoderSettings, reach: int, key: int, data: st.DataObject
) -> None:
    assert index.running is not None
    target = data.draw(st.integers(0, len(index.running.names) - 1))  # also words outside the vocabulary
    assert_equal_to_reference(index, replace(chosen, passage_reach=reach), target, key)


@settings(max_examples=60, deadline=None)
@given(index=corpora(), chosen=any_settings, key=st.integers(0, 2**64 - 1), data=st.data())
def test_native_equals_reference(
    index: DocumentIndex, chosen: AutoencoderSettings, key: int, data: st.DataObject
) -> None:
    assert_equal_to_reference(index, chosen, data.draw(st.integers(0, index.n_words - 1)), key)


@pytest.mark.torture
@settings(max_examples=10_000, deadline=None)
@given(index=corpora(), chosen=any_settings, key=st.integers(0, 2**64 - 1), data=st.data())
def test_native_equals_reference_ten_thousand_times(
    index: DocumentIndex, chosen: AutoencoderSettings, key: int, data: st.DataObject
) -> None:
    assert_equal_to_reference(index, chosen, data.draw(st.integers(0, index.n_words - 1)), key)


@pytest.mark.parametrize("kind", ["topic", "place"])
@pytest.mark.parametrize("specificity", [1.0, 2.0])
def test_frequent_words_merge_more(kind: Kind, specificity: float) -> None:
    texts = [f"car {word} road {other}" for word in "abcdefg" for other in "hijklmno"] * 40
    index = DocumentIndex.from_documents([*texts, *["sea ship"] * 200])
    chosen = AutoencoderSettings(n_clauses=5, n_examples=40, accumulation=3, specificity=specificity)
    assert chosen.merged_places(2_240) == 4  # so many places, and documents, have the word
    assert_equal_to_reference(index, chosen, index.word_id("road"), 7, kind)
    grown, fixed = (
        Autoencoder(index, chosen, kind=kind),
        Autoencoder(index, replace(chosen, accumulation_growth=1), kind=kind),
    )
    for machine in (grown, fixed):
        machine.train(index.word_id("road"), 7)
    # Documents are merged as in the paper.
    assert (grown.embedding() != fixed.embedding()).any() == (kind == "place")


@pytest.mark.parametrize("algorithm", ["exact", "fast"])
@pytest.mark.parametrize("specificity", [1.0, 2.0])
def test_long_training_over_many_blocks(
    random_index: Callable[..., DocumentIndex], algorithm: Any, specificity: float
) -> None:
    """States sink to 0 and rise to 255, blocks reach full size, hot words come and go."""
    index = random_index(200, 90, density=0.08)
    chosen = AutoencoderSettings(
        n_examples=900, accumulation=3, threshold=200, algorithm=algorithm, specificity=specificity
    )
    assert_equal_to_reference(index, chosen, target=7, key=word_key(0, "w7"))


def test_a_vocabulary_of_more_than_64_chunks() -> None:
    """Which chunks a clause asks about is kept in words of 64 bits; here there are two of them."""
    rng = np.random.default_rng(3)
    presence = csr_matrix(rng.random((60, 8_500)) < 0.004 * rng.random(8_500))
    index = DocumentIndex.from_csr(presence, [f"w{k}" for k in range(8_500)])
    chosen = AutoencoderSettings(
        n_clauses=6, n_examples=250, n_epochs=1, accumulation=3, threshold=20, specificity=2.0
    )
    assert_equal_to_reference(index, chosen, target=8_499, key=word_key(0, "w8499"))


def test_a_word_of_every_document_and_one_of_none(random_index: Callable[..., DocumentIndex]) -> None:
    index = random_index(30, 40, density=0.5)
    everywhere, nowhere = index.n_words, index.n_words + 1
    presence = np.zeros((index.n_documents, index.n_words + 2), dtype=bool)
    for document in range(index.n_documents):
        presence[document, index.words_of(document)] = True
    presence[:, everywhere] = True
    widened = DocumentIndex.from_csr(csr_matrix(presence), [*index.vocabulary, "everywhere", "nowhere"])
    for target in (everywhere, nowhere):
        assert_equal_to_reference(
            widened, AutoencoderSettings(n_examples=60, accumulation=2), target, key=target
        )


def test_drawing_documents_without_a_word_that_nearly_all_contain() -> None:
    presence = np.ones((500, 3), dtype=bool)
    presence[[3, 499], 0] = False
    presence[:, 1] = np.arange(500) % 2
    presence[3, 1], presence[499, 1] = False, True
    index = DocumentIndex.from_csr(csr_matrix(presence), ["a", "b", "c"])
    assert_equal_to_reference(index, AutoencoderSettings(n_examples=200, accumulation=1), target=0, key=9)


def test_more_clauses_than_the_lazy_kernel_holds(random_index: Callable[..., DocumentIndex]) -> None:
    chosen = AutoencoderSettings(n_clauses=257, n_examples=30, accumulation=2)
    index = random_index(20, 30)
    with pytest.raises(ValueError, match="at most 256 clauses"):
        Autoencoder(index, chosen, kernel="lazy")
    reference = ReferenceAutoencoder(index, chosen, 4, 1).train()
    native = Autoencoder(index, chosen)
    native.train(4, 1)
    np.testing.assert_array_equal(native.states, reference.states)


def test_target_is_hidden(random_index: Callable[..., DocumentIndex]) -> None:
    native = Autoencoder(random_index(50, 30), AutoencoderSettings(n_examples=200))
    native.train(4, 1)
    assert (native.states[:, [4, 34]] == 127).all()
    assert native.embedding()[4] == 0


def test_same_key_same_bits_and_another_key_others(random_index: Callable[..., DocumentIndex]) -> None:
    native = Autoencoder(random_index(50, 30), AutoencoderSettings())
    native.train(4, 1)
    first = native.states
    native.train(4, 2)
    assert (native.states != first).any()
    native.train(4, 1)
    np.testing.assert_array_equal(native.states, first)


def test_stop_ends_training_early(random_index: Callable[..., DocumentIndex]) -> None:
    for kernel in ("lazy", "sliced"):
        native = Autoencoder(random_index(50, 30), AutoencoderSettings(n_examples=2**30), kernel=kernel)
        native.stop()
        assert not native.train(4, 1)
        with pytest.raises(RuntimeError, match="train a word first"):
            native.embedding()


def test_wrong_calls_are_refused(random_index: Callable[..., DocumentIndex]) -> None:
    index, chosen = random_index(50, 30), AutoencoderSettings()
    with pytest.raises(ValueError, match="no instruction set 'sse9'"):
        Autoencoder(index, chosen, isa="sse9")
    with pytest.raises(ValueError, match="no kernel 'quick'"):
        Autoencoder(index, chosen, kernel="quick")
    with pytest.raises(ValueError, match="lazy kernel needs specificity 1"):
        Autoencoder(index, replace(chosen, specificity=2.0), kernel="lazy")
    native = Autoencoder(index, chosen)
    with pytest.raises(IndexError, match="no such word"):
        native.train(30, 1)
    native.train(3, 1)
    with pytest.raises(ValueError, match="a place per word"):
        native.embedding(np.empty(29, dtype=np.int16))
