"""The classifier learns what it should, explains itself, and refuses what it cannot use."""

from __future__ import annotations

import copy
import pickle
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils.estimator_checks import check_estimator

from omnitm import TsetlinMachineClassifier
from omnitm.errors import CorpusError, ParameterError
from omnitm.machine.settings import ClassifierSettings, classifier_key

SMALL: dict[str, Any] = {"n_clauses": 20, "threshold": 20, "clause_drop": 0.0, "n_epochs": 5, "n_jobs": 1}


def noisy_xor(n_documents: int = 400, n_words: int = 12) -> tuple[Any, Any]:
    """Make documents whose label is the exclusive or of the first two words; the others are noise."""
    random = np.random.default_rng(0)
    documents = random.random((n_documents, n_words)) < 0.5
    return documents.astype(np.uint8), np.where(documents[:, 0] ^ documents[:, 1], "odd", "even")


def fitted(**changes: Any) -> TsetlinMachineClassifier:
    return TsetlinMachineClassifier(**{**SMALL, **changes}).fit(*noisy_xor())


def test_scikit_learn_contract() -> None:
    # its data are real numbers, so they must be made binary; nothing else is excepted
    check_estimator(TsetlinMachineClassifier(**SMALL, binarize=0.0), on_skip=None)


def test_learns_what_no_single_word_tells() -> None:
    documents, labels = noisy_xor()
    model = TsetlinMachineClassifier(**{**SMALL, "specificity": 4.0, "n_epochs": 20})
    assert model.fit(documents[:300], labels[:300]).score(documents[300:], labels[300:]) == 1.0


def test_several_classes_and_clause_drop() -> None:
    random = np.random.default_rng(1)
    labels = random.integers(0, 4, 300)
    documents = random.random((300, 16)) < 0.2
    documents[:, ::4] &= random.random((300, 4)) < 0.1
    documents[np.arange(300), labels * 4] = True
    model = TsetlinMachineClassifier(**{**SMALL, "clause_drop": 0.5, "n_epochs": 15, "specificity": 3.0})
    model.fit(sp.csr_matrix(documents[:200]), labels[:200])
    assert model.score(sp.csr_matrix(documents[200:]), labels[200:]) > 0.9
    assert model.decision_function(documents).shape == (300, 4)
    assert np.allclose(model.predict_proba(documents).sum(axis=1), 1)


def test_same_bits_for_sparse_dense_threads_and_pieces() -> None:
    documents, labels = noisy_xor()
    expected = fitted().votes(documents)
    assert np.array_equal(fitted(n_jobs=3).votes(sp.csr_matrix(documents)), expected)
    twice = sp.coo_matrix(documents)
    assert np.array_equal(
        TsetlinMachineClassifier(**SMALL).fit(twice.tolil(), labels).votes(documents), expected
    )
    pieces = TsetlinMachineClassifier(**SMALL)
    for _ in range(5):
        pieces.partial_fit(documents, labels, classes=["odd", "even"])
    assert np.array_equal(pieces.votes(documents), expected)
    assert pieces.n_epochs_ == 5
    assert not np.array_equal(fitted(seed=1).votes(documents), expected)


def test_pickled_and_copied_models_go_on_learning_the_same() -> None:
    documents, labels = noisy_xor()
    model = fitted()
    copies = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]  # noqa: S301 - our own bytes
    expected = model.partial_fit(documents, labels).votes(documents)
    for other in copies:
        assert np.array_equal(other.partial_fit(documents, labels).votes(documents), expected)
    assert clone(model).get_params() == model.get_params()


def test_votes_scores_and_shares_agree() -> None:
    documents, _ = noisy_xor()
    model = fitted()
    votes = model.votes(documents)
    assert np.array_equal(model.decision_function(documents), votes[:, 1] - votes[:, 0])
    assert np.array_equal(model.classes_[votes.argmax(axis=1)], model.predict(documents))
    shares = model.predict_proba(documents)
    assert np.allclose(np.log(shares[:, 1] / shares[:, 0]), 2 * (votes[:, 1] - votes[:, 0]) / 20)
    assert model.weights_.shape == (2, 20)


def test_numbers_above_binarize_are_words() -> None:
    documents, labels = noisy_xor()
    expected = fitted().votes(documents)
    model = TsetlinMachineClassifier(**SMALL, binarize=1.5)
    for counts in (documents + 1.0, sp.csr_matrix(documents * 2)):
        assert np.array_equal(model.fit(counts, labels).votes(counts), expected)


def test_explanation_adds_up() -> None:
    documents, _ = noisy_xor()
    model = fitted(specificity=4.0, n_epochs=20)
    names = [f"w{k}" for k in range(12)]
    for row in documents[:20]:
        explanation = model.explain(row, feature_names=names)
        assert explanation.label == model.predict([row])[0]
        by_class = dict.fromkeys(model.classes_, 0)
        for clause in explanation.clauses:
            by_class[clause.label] += clause.weight
            assert all(row[names.index(word)] for word in clause.present)
            assert not any(row[names.index(word)] for word in clause.absent)
        assert explanation.votes == by_class == dict(zip(model.classes_, model.votes([row])[0], strict=True))
        for word, effect in explanation.words:
            without = row.copy()
            without[names.index(word)] = 0
            leads = [lead(model, each, explanation.label) for each in (row, without)]
            assert effect == leads[0] - leads[1]
    assert {word for word, _ in explanation.words} == {names[k] for k in np.flatnonzero(row)}


def lead(model: TsetlinMachineClassifier, row: Any, label: str) -> int:
    votes = model.votes([row])[0]
    winner = model.classes_.tolist().index(label)
    return int(votes[winner] - votes[1 - winner])


def test_explanation_reads_well() -> None:
    documents = np.eye(2, dtype=int)[[0, 1] * 40]
    model = TsetlinMachineClassifier(**SMALL).fit(documents, ["good", "bad"] * 40)
    text = str(model.explain(sp.csr_matrix(documents[:1]), feature_names=["fine", "dull"]))
    assert text.startswith("good (votes: bad -")
    assert "words: fine +" in text
    assert "clauses fired, the weightiest:\n" in text
    assert "for good: fine and not dull" in text
    assert "x0" in str(model.explain(documents[0]))
    nothing = str(model.explain(np.zeros(2, dtype=int)))
    assert "\nwords: none\n" in nothing
    quiet = replace(model.explain(documents[0]), clauses=())
    assert str(quiet).endswith("\nno clause fired")
    many = tuple("abcdefghij")
    clause = model.explain(documents[0]).clauses[0]._replace(weight=3, present=(), absent=many, label="bad")
    assert str(clause).endswith("not h and not 2 more")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a"] * 4, "y has one class only, 'a':"),
        (["a", None, "b", None], "2 of 4 documents have no label; the first is document 1"),
        ([0.0, 1.0, float("nan"), 1.0], "1 of 4 documents have no label; the first is document 2"),
        ([0.5, 1.5, 2.5, 0.1], "Unknown label type"),
        (["a", "b"], "inconsistent numbers of samples"),
        (None, "requires y to be passed"),
    ],
)
def test_labels_that_cannot_be_used(labels: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TsetlinMachineClassifier(**SMALL).fit(np.eye(4), labels)


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_matrix])
def test_input_that_is_not_binary(wrap: Any) -> None:
    model = TsetlinMachineClassifier(**SMALL)
    with pytest.raises(CorpusError, match=r"takes 0 and 1 only .* X has 3; binarize=0.0"):
        model.fit(wrap(np.array([[0, 3], [1, 0]])), [0, 1])
    model.fit(wrap(np.eye(2)), [0, 1])
    with pytest.raises(CorpusError, match="takes 0 and 1 only"):
        model.predict(wrap(np.array([[0.5, 0]])))
    with pytest.raises(ValueError, match="X has 3 features, but TsetlinMachineClassifier is expecting 2"):
        model.predict(wrap(np.eye(3)))


@pytest.mark.parametrize("wrap", [list, tuple, np.array])
def test_texts_are_not_a_matrix(wrap: Any) -> None:
    texts, labels = ["a road", "the sea", "road car", "sea ship"], [0, 1, 0, 1]
    with pytest.raises(
        CorpusError, match=r"not texts; CountVectorizer\(binary=True\).fit_transform\(texts\)"
    ):
        TsetlinMachineClassifier().fit(wrap(texts), labels)
    matrix = CountVectorizer(binary=True).fit_transform(texts)
    model = TsetlinMachineClassifier(n_clauses=4, n_epochs=2).fit(matrix, labels)
    with pytest.raises(CorpusError, match="takes a matrix documents x words, not texts"):
        model.predict(wrap(texts))


def test_fitted_attributes_need_a_fit() -> None:
    for name in ("weights_", "n_epochs_"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(TsetlinMachineClassifier(), name)


def test_classes_of_partial_fit() -> None:
    documents, labels = noisy_xor(20)
    model = TsetlinMachineClassifier(**SMALL)
    with pytest.raises(ParameterError, match="`classes` must name all classes in the first call"):
        model.partial_fit(documents, labels)
    with pytest.raises(ParameterError, match="must name two classes or more"):
        model.partial_fit(documents, labels, classes=["odd"])
    model.partial_fit(documents, labels, classes=["odd", "even"])
    with pytest.raises(ParameterError, match="not the same as in the first call"):
        model.partial_fit(documents, labels, classes=["odd", "new"])
    for stranger in ("aaa", "zzz"):
        with pytest.raises(CorpusError, match=f"labels that `classes` does not have: .*{stranger}"):
            model.partial_fit(documents[:2], ["odd", stranger])


def test_explain_takes_one_document() -> None:
    model, (documents, _) = fitted(), noisy_xor()
    with pytest.raises(ParameterError, match="explain takes one document, and got 2"):
        model.explain(documents[:2])
    with pytest.raises(ParameterError, match="`feature_names` must name all 12 words; it has 1"):
        model.explain(documents[0], feature_names=["a"])
    with pytest.raises(NotFittedError):
        TsetlinMachineClassifier().explain(documents[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_clauses": 0}, "'n_clauses' .* must be an int from 2"),
        ({"n_clauses": 3}, "'n_clauses' .* must be even"),
        ({"threshold": 0}, "'threshold' .* must be an int from 1"),
        ({"specificity": 0.5}, "'specificity' .* must be a finite number >= 1"),
        ({"clause_drop": 1.5}, "'clause_drop' .* must be a number from 0 to 1"),
        ({"max_included_literals": -1}, "'max_included_literals' .* must be an int from 0"),
        ({"n_epochs": 0}, "'n_epochs' .* must be an int from 1"),
        ({"seed": -1}, "'seed' .* must be an int from 0"),
        ({"n_jobs": 0}, "'n_jobs' .* must be an int from 1"),
        ({"binarize": "yes"}, "'binarize' .* must be a"),
    ],
)
def test_parameters_are_checked(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        fitted(**change)


def test_absent_words_of_sparse_input_cannot_be_present() -> None:
    with pytest.raises(ParameterError, match=r"'binarize' .* must be >= 0 for sparse input. Got -1.0"):
        TsetlinMachineClassifier(**SMALL, binarize=-1.0).fit(sp.csr_matrix(np.eye(2)), [0, 1])


def test_an_empty_document_and_a_word_nobody_has() -> None:
    documents = np.zeros((40, 3), dtype=int)
    documents[::2, 0] = 1
    model = TsetlinMachineClassifier(**SMALL).fit(documents, np.arange(40) % 2)
    assert model.predict([[0, 0, 0], [1, 0, 0]]).tolist() == [1, 0]
    assert model.explain([0, 0, 0]).words == ()


def test_settings_and_key() -> None:
    model, plan = TsetlinMachineClassifier(), ClassifierSettings()
    assert all(getattr(model, field.name) == getattr(plan, field.name) for field in fields(plan))
    assert classifier_key(0) != classifier_key(1)


def test_threads_default_to_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    assert TsetlinMachineClassifier()._n_jobs() == 3
    assert TsetlinMachineClassifier(n_jobs=2)._n_jobs() == 2
