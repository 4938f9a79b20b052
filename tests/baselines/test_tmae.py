from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm.baselines import TMAE, TwoPhaseTMAE, tmae
from omnitm.baselines.tmae import clause_index, included_words
from omnitm.engines.threads import run_in_background
from omnitm.errors import CorpusError, OmniTMWarning, ParameterError
from omnitm.machine import Autoencoder, AutoencoderSettings, word_key
from omnitm.machine.reference import ReferenceSharedAutoencoder

if TYPE_CHECKING:
    from omnitm.corpus import DocumentIndex
    from omnitm.training.progress import Progress

SMALL: dict[str, Any] = {"n_clauses": 12, "n_examples": 30, "n_epochs": 2}


def test_the_vector_is_the_row_of_clause_weights(board: DocumentIndex) -> None:
    words = ["a0", "b2", "a1"]
    model = TMAE(**SMALL, negated_literals=True, seed=4)
    reference = ReferenceSharedAutoencoder(
        board,
        model.machine_settings(),
        [board.word_id(word) for word in words],
        [word_key(4, word) for word in words],
        word_key(4, "\n".join(words)),
    ).train()
    vectors = model.train(board, words)
    np.testing.assert_array_equal(vectors.matrix, reference.weights.astype(np.float32))
    assert not vectors.has_named_features


def test_long_runs_are_announced(board: DocumentIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tmae, "_MANY_EXAMPLES", 100)
    with pytest.warns(
        OmniTMWarning, match="2 words with 60 examples each will take hours or days; name fewer"
    ):
        TMAE(**SMALL).train(board, ["a0", "a1"])


def test_the_number_of_threads_does_not_matter(board: DocumentIndex) -> None:
    settings = {**SMALL, "second_n_clauses": 8, "second_n_examples": 20, "second_n_epochs": 2}
    first, second = (TwoPhaseTMAE(**settings, n_jobs=n).train(board).matrix for n in (1, 3))
    assert np.array_equal(first, second)


def test_phase_one_keeps_the_words_of_positive_clauses(board: DocumentIndex) -> None:
    model = TwoPhaseTMAE(**SMALL)
    machine = Autoencoder(board, model.first_settings(), negated_literals=False)
    machine.train(board.word_id("a0"), word_key(0, "a0"))
    states, weights = machine.states, machine.weights
    expected = [
        [k for k in range(board.n_words) if states[clause, k] >= 128]
        for clause in range(12)
        if weights[clause] > 0
    ]
    assert [clause.tolist() for clause in included_words(machine)] == [row for row in expected if row]
    (found,) = model.first_phase(board, ["a0"], lambda _: None)
    assert [clause.tolist() for clause in found] == [row for row in expected if row]


def test_documents_of_phase_two_are_clauses_and_belong_to_their_words(board: DocumentIndex) -> None:
    a0, b2 = board.word_id("a0"), board.word_id("b2")
    clauses = [[np.array([1, 2]), np.array([b2])], [], [np.array([a0, 5])]]
    words = [board.vocabulary[k] for k in (b2, 3, a0)]
    index = clause_index(board, words, clauses)
    assert sorted(index.vocabulary) == sorted({board.vocabulary[k] for k in (1, 2, b2, a0, 5, 3)})
    contents = [
        [index.vocabulary[k] for k in index.words_of(document)] for document in range(index.n_documents)
    ]
    assert contents == [
        [board.vocabulary[1], board.vocabulary[2]],
        ["b2"],
        ["a0", board.vocabulary[5]],
    ]
    owned = {word: index.documents_with(index.word_id(word)).tolist() for word in index.vocabulary}
    assert owned == {**{word: [] for word in index.vocabulary}, "b2": [0, 1], "a0": [2]}


def test_no_clause_at_all_is_an_error(board: DocumentIndex) -> None:
    with pytest.raises(CorpusError, match="No clause includes a word after phase 1; train longer"):
        clause_index(board, ["a0"], [[]])


@pytest.mark.parametrize(
    ("model", "settings", "message"),
    [
        (TMAE, {"n_clauses": 0}, "'n_clauses' parameter"),
        (TMAE, {"specificity": 0.5}, "'specificity' parameter"),
        (TMAE, {"n_jobs": 0}, "'n_jobs' parameter of TMAE"),
        (TwoPhaseTMAE, {"threshold": 0}, "'threshold' parameter"),
        (TwoPhaseTMAE, {"second_accumulation": 0}, "'accumulation' parameter"),
        (TwoPhaseTMAE, {"n_jobs": 0}, "'n_jobs' parameter of TwoPhaseTMAE"),
    ],
)
def test_bad_settings_are_named(model: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        model(**settings)


@pytest.mark.parametrize("model", [TMAE(n_examples=10**6), TwoPhaseTMAE(n_examples=10**6)])
def test_an_interruption_stops_soon(board: DocumentIndex, model: Any) -> None:
    def interrupt(_: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.train(board, ["a0"], progress=interrupt)


def test_the_error_of_a_thread_is_passed_on() -> None:
    stopped: list[int] = []

    def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_in_background([fail], lambda: stopped.append(1), lambda: None)
    assert stopped == [1]


def test_the_defaults_are_the_paper_s() -> None:
    first, second = TwoPhaseTMAE().first_settings(), TwoPhaseTMAE().second_settings()
    assert first == AutoencoderSettings(
        n_clauses=1600,
        threshold=3200,
        specificity=5.0,
        accumulation=25,
        n_examples=2000,
        n_epochs=25,
    )
    assert second == AutoencoderSettings(
        n_clauses=80,
        threshold=800,
        specificity=5.0,
        accumulation=10,
        n_examples=1000,
        n_epochs=100,
    )
