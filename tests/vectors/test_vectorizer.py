"""Documents become vectors, in pipelines, with everything unknown reported."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from omnitm import OmniVectorizer, WordVectors
from omnitm.errors import CorpusError, OmniTMWarning, ParameterError
from omnitm.machine import AutoencoderSettings
from omnitm.training import train_vectors
from omnitm.vectors import document_vectors
from omnitm.vectors.document_vectors import dense_rows

if TYPE_CHECKING:
    from pathlib import Path

    from omnitm.corpus import DocumentIndex

AXES = np.diag(np.array([2, 4, 1], dtype=np.float32))  # lengths must not matter
TEXTS = ["A road, a sea, a road!", "The sea", "wheel wheel road"]


@pytest.fixture
def words() -> WordVectors:
    return WordVectors(AXES, ["road", "sea", "wheel"], None)


@pytest.fixture(scope="module")
def omni() -> WordVectors:
    """Integers for 120 words with names, mostly a baseline: enough of them for smoothed rows."""
    random = np.random.default_rng(5)
    matrix = np.where(random.random((120, 120)) < 0.1, random.integers(-90, 0, (120, 120)), -100)
    names = [f"w{chr(97 + k // 26)}{chr(97 + k % 26)}" for k in range(120)]
    return WordVectors(matrix.astype(np.int16), names, names)


def test_a_document_is_the_mean_of_its_words_vectors(words: WordVectors) -> None:
    means = np.array([[2, 1, 0], [0, 3, 0], [1, 0, 2]]) / 3
    found = OmniVectorizer(words, unit_length=False).fit_transform(TEXTS)
    assert found.dtype == np.float32
    assert np.allclose(found, means)
    of_length_one = OmniVectorizer(words).fit_transform(TEXTS)
    assert np.allclose(of_length_one, means / np.linalg.norm(means, axis=1, keepdims=True))


def test_a_document_has_one_vector(words: WordVectors, omni: WordVectors, topics: DocumentIndex) -> None:
    few = train_vectors(topics, settings=AutoencoderSettings(n_clauses=8, n_examples=60), seed=1)
    for vectors in (words, omni, few):
        texts = [" ".join(vectors.index_to_key[k : k + 2]) for k in range(2)]
        assert np.array_equal(vectors.encode(texts), OmniVectorizer(vectors).transform(texts))


def test_an_estimator_will_do(words: WordVectors) -> None:
    class Estimator:
        word_vectors_ = words

    assert np.array_equal(OmniVectorizer(Estimator()).transform(TEXTS), words.encode(TEXTS))


def test_rare_words_count_more_with_idf(words: WordVectors) -> None:
    model = OmniVectorizer(words, weighting="idf", unit_length=False).fit(TEXTS)
    assert model.word_weights_ is not None
    assert np.allclose(model.word_weights_, np.log(4 / np.array([3, 3, 2])) + 1)
    road, wheel = model.word_weights_[0], 2 * model.word_weights_[2]
    assert np.allclose(model.transform(["road wheel wheel"]), np.array([[road, 0, wheel]]) / (road + wheel))
    assert np.allclose(model.transform(TEXTS), model.fit_transform(TEXTS))


def test_words_can_count_by_the_length_of_their_vectors(words: WordVectors, omni: WordVectors) -> None:
    found = OmniVectorizer(words, weighting="length", unit_length=False).fit_transform(["road sea"])
    assert np.allclose(found, [[2 / 6, 4 / 6, 0]])
    model = OmniVectorizer(omni, weighting="length").fit([])
    assert model.word_weights_ is not None
    assert np.array_equal(model.word_weights_, omni.profiles.topic.lengths)


def test_token_lists_are_taken_as_they_are(words: WordVectors) -> None:
    model = OmniVectorizer(words, unit_length=False).fit([["road"]])
    with pytest.warns(OmniTMWarning, match="1 of 2 documents become zeros: 0 are empty, 1 have no known"):
        found = model.transform([["road", "sea"], ["Road"]])
    assert np.allclose(found, np.array([[0.5, 0.5, 0], [0, 0, 0]]))


def test_what_is_unknown_is_counted(words: WordVectors) -> None:
    model = OmniVectorizer(words).fit(TEXTS)
    counts, coverage = model.count(["road unheard", "", "unheard", "road road"])
    assert counts.toarray().tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 0], [2, 0, 0]]
    assert coverage == document_vectors.Coverage(4, 5, 2, 1, 1)
    assert str(coverage) == "4 documents, 60.0% of their words known; 1 empty, 1 with no known word"
    nothing = model.count(["", ""])[1]
    assert str(nothing) == "2 documents, without any word; 2 empty, 0 with no known word"
    with pytest.warns(OmniTMWarning, match="2 of 4 documents become zeros: 1 are empty, 1 have"):
        assert not model.transform(["road unheard", "", "unheard", "road road"])[1:3].any()


def test_documents_can_have_length_one(words: WordVectors) -> None:
    with pytest.warns(OmniTMWarning, match="become zeros"):
        found = OmniVectorizer(words, unit_length=True).fit_transform([*TEXTS, ""])
    assert np.allclose(np.linalg.norm(found, axis=1), [1, 1, 1, 0])


def test_integers_with_names_become_dense_rows_of_length_one(omni: WordVectors) -> None:
    model = OmniVectorizer(omni, n_components=7).fit([omni.index_to_key])
    found = model.transform([[word] for word in omni.index_to_key])
    assert found.shape == (120, 7)
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    assert np.allclose(found, dense_rows(omni, 7), atol=1e-6)
    assert model.get_feature_names_out().tolist()[:2] == ["omnivectorizer0", "omnivectorizer1"]
    assert len(model.get_feature_names_out()) == model.n_features_out_ == 7


def test_the_strongest_named_coordinates(omni: WordVectors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_vectors, "_DOCUMENTS_AT_ONCE", 2)
    documents = [omni.index_to_key[k : k + 3] for k in range(0, 15, 3)]
    model = OmniVectorizer(omni, top_k=4, unit_length=False).fit(documents)
    found = model.transform(documents)
    assert issparse(found)
    assert found.format == "csr"
    assert found.shape == (5, 120)
    assert np.diff(found.indptr).tolist() == [4] * 5
    rows = omni.profiles.topic.by_word().toarray()
    for document, row in enumerate(found.toarray()):
        mean = rows[3 * document : 3 * document + 3].mean(axis=0)
        assert np.allclose(row[row > 0], np.sort(mean)[-4:][np.argsort(np.argsort(row[row > 0]))], atol=1e-6)
    assert model.get_feature_names_out().tolist() == omni.feature_names
    unit = clone(model).set_params(unit_length=True).fit_transform(documents)
    assert np.allclose(unit.multiply(unit).sum(axis=1), 1, atol=1e-5)


def test_few_words_and_wide_vectors_still_work(board: DocumentIndex) -> None:
    settings = AutoencoderSettings(n_clauses=8, n_examples=60, accumulation=2)
    vectors = train_vectors(board, settings=settings, seed=1)
    assert OmniVectorizer(vectors).fit_transform([["a0", "b1"]]).shape == (1, 12)
    assert OmniVectorizer(vectors, n_components=3).fit_transform([["a0", "b1"]]).shape == (1, 3)


@pytest.fixture(scope="module")
def hardly_trained(topics: DocumentIndex) -> WordVectors:
    """Ten words; nothing stands out in one of them, `ship`."""
    settings = AutoencoderSettings(n_clauses=8, n_examples=60, accumulation=2)
    return train_vectors(topics, settings=settings, seed=1)


def test_a_word_in_which_nothing_stands_out_has_zeros(hardly_trained: WordVectors) -> None:
    """And not what rounding leaves, scaled to length 1: that is a direction by chance."""
    assert hardly_trained.profiles.topic.by_word()[hardly_trained.get_index("ship")].nnz == 0
    assert not hardly_trained.reduce(10)["ship"].any()
    assert np.linalg.norm(hardly_trained.reduce(10)["sea"]) > 0.5
    both, sea = OmniVectorizer(hardly_trained).fit_transform(["ship at sea", "sea"])
    assert np.array_equal(both, sea)


def test_in_a_pipeline_topics_are_told_apart(hardly_trained: WordVectors) -> None:
    vectors = hardly_trained
    pipeline = make_pipeline(OmniVectorizer(vectors), KMeans(2, n_init=1, random_state=0))
    found = pipeline.fit_predict(["car on the road", "ship at sea", "an engine, a wheel", "sail the wave"])
    assert found.tolist() in ([0, 1, 0, 1], [1, 0, 1, 0])


def test_clone_copies_no_vectors_and_pickle_keeps_the_result(words: WordVectors) -> None:
    model = OmniVectorizer(words, weighting="idf").fit(TEXTS)
    assert clone(model).vectors is words
    assert repr(OmniVectorizer(n_components=3)) == "OmniVectorizer(n_components=3)"
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own bytes
    assert np.array_equal(again.transform(TEXTS), model.transform(TEXTS))


def test_the_folder_of_a_model_does_as_well(board: DocumentIndex, tmp_path: Path) -> None:
    settings = AutoencoderSettings(n_clauses=8, n_examples=60, accumulation=2)
    train_vectors(board, settings=settings, seed=1).save(tmp_path / "model")
    documents = [["a0", "a1"], ["b0"]]
    from_folder = OmniVectorizer(tmp_path / "model").fit_transform(documents)
    assert np.allclose(
        from_folder, OmniVectorizer(WordVectors.load(tmp_path / "model")).fit_transform(documents)
    )


def test_parameters_are_checked_by_fit(words: WordVectors) -> None:
    def refused(match: str, **parameters: Any) -> None:
        with pytest.raises(ParameterError, match=match):
            OmniVectorizer(**{"vectors": words, **parameters}).fit(TEXTS)

    refused("'weighting' parameter of OmniVectorizer must be one of 'mean', 'length', 'idf'", weighting="tf")
    refused("'n_components' parameter of OmniVectorizer must be an int >= 1", n_components=0)
    refused("'top_k' parameter of OmniVectorizer must be an int >= 1", top_k=0)
    refused("Only integer vectors with named features have named coordinates", top_k=2)
    refused("'vectors' parameter of OmniVectorizer must be WordVectors, an OmniTMAE or", vectors=None)


@pytest.mark.parametrize("documents", ["one text", 3, np.zeros((2, 2))])
def test_documents_must_be_a_list(words: WordVectors, documents: Any) -> None:
    with pytest.raises(CorpusError, match=r"needs a list of texts or of token lists, not an? "):
        OmniVectorizer(words).fit(documents)


@pytest.mark.parametrize("document", [None, float("nan"), b"road", 3])
def test_a_document_that_is_none_is_named(words: WordVectors, document: Any) -> None:
    with pytest.raises(
        CorpusError, match=r"a text or a list of words, but document 1 is .*; an empty one is"
    ):
        OmniVectorizer(words).fit_transform(["road", document])


def test_only_frequencies_need_a_fit(words: WordVectors) -> None:
    by_frequency = OmniVectorizer(words, weighting="idf")
    for method in (by_frequency.transform, by_frequency.count):
        with pytest.raises(NotFittedError):
            method(TEXTS)
    with pytest.raises(NotFittedError):
        by_frequency.get_feature_names_out()
    with pytest.raises(NotFittedError):
        _ = by_frequency.n_features_out_
    assert len(OmniVectorizer(words).get_feature_names_out()) == 3


def test_tags_say_that_documents_are_texts(words: WordVectors) -> None:
    tags = OmniVectorizer(words).__sklearn_tags__()
    assert tags.input_tags.string
    assert not tags.input_tags.two_d_array
    assert not tags.requires_fit
