from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm.embedding import metrics
from omnitm.errors import FileError, ParameterError, UnknownWordError
from omnitm.explain import Explainer
from omnitm.explain.company import N_PEERS, surplus

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnitm.corpus import DocumentIndex
    from omnitm.embedding import WordVectors


@pytest.mark.parametrize("metric", ["cosine", "company"])
def test_shares_of_coordinates_add_up(explainer: Explainer, metric: str) -> None:
    found = explainer.why("a0", "a1", metric=metric, n=12)
    parts = [*found.contributions_for, *found.contributions_against]
    assert math.fsum(part.share for part in parts) == pytest.approx(found.score, abs=1e-12)
    assert found.total_for + found.total_against + found.rounding == pytest.approx(found.score, abs=1e-12)
    assert (found.n_for, found.n_against) == (
        len(found.contributions_for),
        len(found.contributions_against),
    )
    shares = [part.share for part in found.contributions_for]
    assert shares == sorted(shares, reverse=True)


def test_the_score_is_that_of_the_vectors(explainer: Explainer) -> None:
    for metric in ("cosine", "association", "association-symmetric"):
        expected = explainer.vectors.similarity("a0", "b0", metric=metric)
        assert explainer.why("a0", "b0", metric=metric).score == expected


@pytest.mark.parametrize("pair", [("a0", "a1"), ("a0", "b0"), ("a0", "a5")])
def test_an_association_is_the_sum_of_its_clauses(explainer: Explainer, pair: tuple[str, str]) -> None:
    found = explainer.why(*pair, metric="association")
    machine = explainer.machines[pair[0]]
    column = explainer.vectors.feature_index(pair[1])
    assert {part.clause for part in found.clauses} == set(machine.positive_clauses)
    for part in found.clauses:
        states = machine.states[part.clause]
        assert (part.present_state, part.absent_state) == (states[column], states[column + 12])
        assert part.share == pytest.approx((part.present_state - part.absent_state) / len(found.clauses))
    assert -1 < found.rounding <= 1e-9
    assert math.fsum(part.share for part in found.clauses) + found.rounding == pytest.approx(found.score)


def test_a_symmetric_association_has_the_clauses_of_both(explainer: Explainer) -> None:
    found = explainer.why("a0", "a1", metric="association-symmetric")
    assert {part.machine for part in found.clauses} == {"a0", "a1"}
    assert math.fsum(part.share for part in found.clauses) + found.rounding == pytest.approx(found.score)


def test_any_metric_with_contributions_can_be_explained(
    explainer: Explainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Product(metrics.Cosine):
        def pair(self, vectors: WordVectors, first: str, second: str) -> float:
            return float(self.contributions(vectors, first, second).sum())

        def contributions(self, vectors: WordVectors, first: str, second: str) -> Any:
            return vectors[first].astype(float) * vectors[second]

    monkeypatch.setitem(metrics.SCORERS, "product", Product())
    found = explainer.why("a0", "a1", metric="product", n=3)
    assert found.total_for + found.total_against == found.score
    with pytest.raises(
        ParameterError, match=r"'metric' parameter of why must be one of 'company', .*'product'"
    ):
        explainer.why("a0", "a1", metric="euclidean")


def test_words_of_a_topic_share_its_words(board: DocumentIndex, explainer: Explainer) -> None:
    found = explainer.why("a0", "a1", n_documents=2)
    same, other = explainer.why("a0", "a1").score, explainer.why("a0", "b0").score
    assert same > 0 > other
    for part in found.contributions_for:
        assert part.with_first is not None
        assert part.with_first.count == sum(
            {board.word_id("a0"), board.word_id(part.feature)} <= set(board.words_of(n).tolist())
            for n in range(120)
        )
    assert found.together is not None
    assert found.together.expected == pytest.approx(
        len(board.documents_with(0)) * len(board.documents_with(1)) / 120
    )
    assert all({"a0", "a1"} <= set(document.words) for document in found.together.documents)
    assert len(found.together.documents) == 2
    assert explainer.together("a0", "b0").count == 0
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()


def test_without_an_index_whole_vectors_can_still_be_compared(explainer: Explainer) -> None:
    bare = Explainer(explainer.vectors)
    found = bare.why("a0", "a1", metric="cosine")
    assert found.score == explainer.why("a0", "a1", metric="cosine").score
    assert found.together is None
    assert found.contributions_for[0].with_first is None
    for metric in ("association", "company"):
        with pytest.raises(FileError, match="needs the index that the model was trained from"):
            bare.why("a0", "a1", metric=metric)


def test_bad_input(explainer: Explainer) -> None:
    with pytest.raises(UnknownWordError, match="'b3' is not in the trained words"):
        explainer.why("a0", "b3")
    with pytest.raises(UnknownWordError, match="'a7' is not in the vocabulary"):
        explainer.why("a0", "a7", metric="association")
    with pytest.raises(ParameterError, match="'n' parameter of why must be an int >= 0"):
        explainer.why("a0", "a1", n=True)


def test_company_cancels_frequency() -> None:
    random = np.random.default_rng(3)
    frequencies = np.sort(np.exp(random.uniform(0, 11, 1_000)).astype(np.int64))[::-1].copy()
    row = np.rint(20 * np.log(frequencies) - 200 + random.normal(0, 2, 1_000)).astype(np.int16)
    row[900] += 60  # a rare word that stands out, though frequent words have higher coordinates
    assert row[900] < row[:100].min()
    shuffled = random.permutation(1_000)
    found = surplus(row[shuffled], frequencies[shuffled])
    assert shuffled[np.argmax(found)] == 900
    assert (found == 0).mean() > 0.8
    assert len(row) > N_PEERS


def test_company_names_the_topic(explainer: Explainer) -> None:
    names = [word for word, _ in explainer.company("a0", 5)]
    assert names
    assert all(word[0] == "a" and word != "a0" for word in names)
    assert explainer.surplus("a0")[explainer.vectors.feature_index("a0")] == 0
    assert explainer.company("a0", 0) == []


def test_company_of_a_constant_row(random_index: Callable[..., DocumentIndex]) -> None:
    frequencies = random_index(30, 300).document_frequencies
    assert not surplus(np.zeros(300, dtype=np.int16), frequencies).any()
