"""What scikit-learn expects of an estimator, as far as it applies to one that is fitted on documents."""

from __future__ import annotations

import inspect
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from omnitm import OmniTMAE, WordVectors
from omnitm.errors import CorpusError, FileError, ParameterError
from omnitm.machine import PAPER, AutoencoderSettings

if TYPE_CHECKING:
    from pathlib import Path

    from omnitm.corpus import DocumentIndex

SMALL: dict[str, Any] = {"n_clauses": 6, "n_examples": 40, "accumulation": 2}


def test_parameters_are_stored_unchanged_and_keyword_only() -> None:
    signature = inspect.signature(OmniTMAE.__init__).parameters
    assert all(p.kind is p.KEYWORD_ONLY for name, p in signature.items() if name != "self")
    odd = {name: object() for name in OmniTMAE().get_params()}
    model = OmniTMAE(**odd)  # type: ignore[arg-type]
    assert all(model.get_params()[name] is value for name, value in odd.items())


def test_defaults_are_those_of_the_settings() -> None:
    given = OmniTMAE()._given_settings()
    assert given.pop("contexts") is None  # both or topic, as the corpus allows
    assert AutoencoderSettings(**given) == AutoencoderSettings()
    of_paper = OmniTMAE.paper(n_clauses=8)._given_settings()
    assert AutoencoderSettings(**of_paper) == AutoencoderSettings(**{**PAPER, "n_clauses": 8})


def test_clone_set_params_and_repr() -> None:
    model = OmniTMAE(n_clauses=8).set_params(seed=4)
    copy = clone(model)
    assert copy is not model
    assert copy.get_params() == model.get_params()
    assert repr(model) == "OmniTMAE(n_clauses=8, seed=4)"
    with pytest.raises(ValueError, match="Invalid parameter 'clauses'"):
        model.set_params(clauses=3)


def test_fit_validates_and_leaves_parameters_alone(board: DocumentIndex) -> None:
    with pytest.raises(ParameterError, match=r"'threshold' parameter of OmniTMAE must be an int .* Got 0"):
        OmniTMAE(threshold=0).fit(board)
    with pytest.raises(ParameterError, match="'n_jobs' parameter of OmniTMAE must be an int from 1 to 4096"):
        OmniTMAE(n_jobs=0).fit(board)
    with pytest.raises(ParameterError, match="'seed' parameter of OmniTMAE must be an int"):
        OmniTMAE(seed=-1).fit(board)
    model = OmniTMAE(**SMALL)
    before = model.get_params()
    assert model.fit(board, words=["a0"]) is model
    assert model.get_params() == before


def test_fitted_attributes(board: DocumentIndex) -> None:
    model = OmniTMAE(**SMALL).fit(board, words=["a0", "b2"])
    assert isinstance(model.word_vectors_, WordVectors)
    assert model.word_vectors_.matrix.shape == (2, 12)
    assert model.word_vectors_.feature_names == model.vocabulary_ == list(board.vocabulary)
    assert model.n_features_in_ == 12
    assert model.index_ is board
    assert not [name for name in vars(OmniTMAE()) if name.endswith("_")]


def test_a_fitted_model_explains_itself(board: DocumentIndex) -> None:
    model = OmniTMAE(n_clauses=8, n_examples=60, accumulation=1, n_jobs=1)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        model.explain("a0")
    model.fit(board)
    assert model.explain("a0", n_documents=0).word == "a0"
    assert model.why("a0", "a1", metric="cosine").score == model.word_vectors_.similarity(
        "a0", "a1", metric="cosine"
    )
    assert model.trace("a0", "a1").literal == "a1"


def test_a_sparse_matrix_is_a_corpus() -> None:
    documents = sp.csr_matrix(np.array([[1, 1, 0, 0], [0, 0, 1, 1]] * 20))
    model = OmniTMAE(**SMALL).fit(documents, vocabulary=["road", "car", "sea", "ship"])
    assert model.word_vectors_.most_similar("road", topn=1)[0][0] == "car"
    with pytest.raises(CorpusError, match="vocabulary"):
        OmniTMAE(**SMALL).fit(documents)


def test_texts_and_token_lists_are_a_corpus() -> None:
    texts = ["A road and a car.", "The sea, a ship!"] * 20
    model = OmniTMAE(**SMALL).fit(texts, words=["road"])
    assert model.vocabulary_ == ["car", "road", "sea", "ship"]
    tokens = [["road", "car"], ["sea", "ship"]] * 20
    assert np.array_equal(
        OmniTMAE(**SMALL).fit(tokens, words=["road"]).word_vectors_.matrix, model.word_vectors_.matrix
    )


def test_fitting_again_gives_the_same_and_pickle_keeps_it(board: DocumentIndex) -> None:
    model = OmniTMAE(**SMALL, n_jobs=2).fit(board)
    first = model.word_vectors_.matrix.copy()
    assert np.array_equal(model.fit(board).word_vectors_.matrix, first)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own bytes
    assert np.array_equal(again.word_vectors_.matrix, first)


def test_add_words_uses_the_settings_of_fit(board: DocumentIndex) -> None:
    whole = OmniTMAE(**SMALL).fit(board, words=["a0", "b2", "a4"]).word_vectors_
    model = OmniTMAE(**SMALL).fit(board, words=["a0"])
    model.set_params(n_clauses=2).add_words(["b2", "a4"])
    assert model.word_vectors_.index_to_key == ["a0", "b2", "a4"]
    assert np.array_equal(model.word_vectors_.matrix, whole.matrix)
    with pytest.raises(ParameterError, match="The model has 'b2' already"):
        model.add_words(["b2"])
    with pytest.raises(NotFittedError):
        OmniTMAE().add_words(["a0"])


def test_model_dir_resumes_and_adds(board: DocumentIndex, tmp_path: Path) -> None:
    whole = OmniTMAE(**SMALL).fit(board, words=["a0", "b2"]).word_vectors_
    model = OmniTMAE(**SMALL).fit(board, words=["a0"], model_dir=tmp_path / "m").add_words(["b2"])
    assert np.array_equal(WordVectors.load(tmp_path / "m", verify=True).matrix, whole.matrix)
    assert np.array_equal(model.word_vectors_.matrix, whole.matrix)
    with pytest.raises(FileError, match="already holds a model"):
        OmniTMAE(**SMALL).fit(board, words=["a0"], model_dir=tmp_path / "m")
    OmniTMAE(**SMALL).fit(board, words=["a0"], model_dir=tmp_path / "m", force=True)
    assert len(WordVectors.load(tmp_path / "m")) == 1
