"""What scikit-learn expects of an estimator, as far as it applies to one that is fitted on documents."""

from __future__ import annotations

import inspect
import pickle
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks

from omnitm import OmniTMAE, OmniVectorizer, WordVectors
from omnitm.corpus import Preparation
from omnitm.errors import CorpusError, FileError, OmniTMWarning, ParameterError
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
    assert given.pop("passage_reach") is None  # as long as documents are
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


def test_a_fitted_model_has_the_themes_of_its_vectors(board: DocumentIndex) -> None:
    model = OmniTMAE(n_clauses=4, n_examples=40, accumulation=2)
    with pytest.raises(NotFittedError):
        model.themes(2)
    model.fit(board)
    assert model.themes(2) is model.word_vectors_.themes(2)
    assert len(model.themes(2)) == 2


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


def test_names_of_gensim_and_scikit_learn(board: DocumentIndex) -> None:
    with pytest.raises(NotFittedError, match="not fitted yet"):
        _ = OmniTMAE().wv
    model = OmniTMAE(**SMALL, random_state=5).fit(board, words=["a0", "b2"])
    same = OmniTMAE(**SMALL, seed=5).fit(board, words=["a0", "b2"])
    assert model.wv is model.word_vectors_
    assert np.array_equal(model.wv.matrix, same.wv.matrix)
    assert not np.array_equal(model.wv.matrix, OmniTMAE(**SMALL).fit(board, words=["a0", "b2"]).wv.matrix)
    with pytest.raises(ParameterError, match=r"'random_state' parameter .* is another name of 'seed'"):
        OmniTMAE(seed=3, random_state=4).fit(board)
    with pytest.raises(ParameterError, match="'random_state' parameter of OmniTMAE must be an int"):
        OmniTMAE(random_state=-1).fit(board)
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError, match="append_to_index"):
        model.partial_fit(["more"])


def test_documents_become_vectors() -> None:
    texts = ["Road car wheel", "sea ship", "car wheel driver", "ship wind"] * 10
    model = OmniTMAE(**SMALL)
    rows = model.fit_transform(texts)
    assert rows.shape == (40, len(model.get_feature_names_out()))
    assert np.allclose(rows, model.transform(texts))
    assert rows[0] @ rows[2] > rows[0] @ rows[1]


# The others fit tables of numbers.
@pytest.mark.parametrize(
    "check",
    [
        "check_estimator_cloneable",
        "check_estimator_repr",
        "check_get_params_invariance",
        "check_mixin_order",
        "check_no_attributes_set_in_init",
        "check_set_params",
        "check_valid_tag_types",
    ],
)
@pytest.mark.parametrize("estimator", [OmniTMAE(**SMALL), OmniVectorizer(OmniTMAE(**SMALL))])
def test_the_checks_of_scikit_learn_that_need_no_table(estimator: Any, check: str) -> None:
    getattr(estimator_checks, check)(type(estimator).__name__, estimator)
    assert estimator.__sklearn_tags__().transformer_tags is not None


TEXTS = ["Road car wheel", "sea ship", "car wheel driver", "ship wind"] * 10
LABELS = ["land", "sea"] * 20


@pytest.mark.parametrize("make", [lambda: OmniTMAE(**SMALL), lambda: OmniVectorizer(OmniTMAE(**SMALL))])
def test_a_pipeline_trains_words_too(make: Any) -> None:
    pipeline = make_pipeline(make(), LogisticRegression()).fit(TEXTS, LABELS)
    assert pipeline.score(TEXTS, LABELS) == 1
    again = pickle.loads(pickle.dumps(pipeline))  # noqa: S301 - our own bytes
    assert (again.predict(TEXTS) == pipeline.predict(TEXTS)).all()
    table = clone(pipeline[0]).set_output(transform="pandas").fit_transform(TEXTS)
    assert table.columns.tolist() == pipeline[0].get_feature_names_out().tolist()


def test_settings_of_words_can_be_searched() -> None:
    vectorizer = OmniVectorizer(OmniTMAE(**SMALL, preparation=Preparation(lowercase=False)))
    pipeline = make_pipeline(vectorizer, LogisticRegression())
    grid = {"omnivectorizer__vectors__n_clauses": [4, 6], "omnivectorizer__weighting": ["mean", "idf"]}
    found = GridSearchCV(pipeline, grid, cv=2).fit(TEXTS, LABELS)
    assert found.best_score_ == 1
    assert "Road" in found.best_estimator_[0].vocabulary_  # texts are read as the model read them
    assert not hasattr(vectorizer, "vocabulary_")
    with pytest.raises(NotFittedError, match="not fitted yet"):
        vectorizer.transform(TEXTS)


def test_too_few_words_for_the_usual_metric_are_told_once(board: DocumentIndex) -> None:
    vectors = OmniTMAE(**SMALL).fit(board, words=["a0", "b2"]).wv
    with pytest.warns(OmniTMWarning, match="compared by 'association': 2 words are fewer than 100"):
        vectors.similarity("a0", "b2")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vectors.most_similar("a0")


def test_saved_and_loaded(tmp_path: Path, board: DocumentIndex) -> None:
    model = OmniTMAE(**SMALL, seed=3).fit(board, words=["a0", "b2"])
    model.save(tmp_path / "model")
    loaded = OmniTMAE.load(tmp_path / "model")
    assert np.array_equal(loaded.wv.matrix[:], model.wv.matrix)
    assert loaded.get_params() == model.set_params(contexts="topic", passage_reach=0).get_params()
    assert not hasattr(loaded, "index_")
    assert loaded.vocabulary_ == model.vocabulary_
    with pytest.raises(ParameterError, match="add_words needs the index of the model"):
        loaded.add_words(["a1"])
    texts = tmp_path / "text.txt"
    texts.write_text("road car\nsea ship\n" * 20)
    OmniTMAE(**SMALL).fit(texts, model_dir=tmp_path / "kept")
    again = OmniTMAE.load(tmp_path / "kept")
    assert again.index_.n_documents == 40
    assert again.explain("Road", n_documents=0).word == "road"


def test_notebooks_show_sizes_and_words(board: DocumentIndex) -> None:
    model = OmniTMAE(**SMALL).fit(board, words=["a0", "b2"])
    assert model.wv._repr_html_() == (
        "<p><b>WordVectors</b>: 2 words x 12 features, compared by association</p><p>a0, b2</p>"
    )
    assert board._repr_html_().startswith("<p><b>DocumentIndex</b>: 120 documents, 12 words, in memory</p>")
