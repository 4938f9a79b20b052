"""The metrics on a matrix that is small enough to compute them by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm.errors import ParameterError
from omnitm.similarity import scorers
from omnitm.similarity.row_products import highest_cosines
from omnitm.similarity.row_profile import unit_rows
from omnitm.similarity.scorers import SCORERS, scorer, usable_scorer
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

MATRIX = np.array([[0, 40, -20, 10], [30, 0, 6, -8], [-10, 12, 0, 2]], dtype=np.int16)
WORDS, FEATURES = ["road", "car", "sea"], ["road", "car", "sea", "ship"]


@pytest.fixture
def vectors() -> WordVectors:
    return WordVectors(MATRIX, WORDS, FEATURES)


def test_association(vectors: WordVectors) -> None:
    found = SCORERS["association"]
    assert found.candidates(vectors) == FEATURES
    assert found.scores(vectors, [("road", 1.0)]).tolist() == [0, 40, -20, 10]
    assert found.scores(vectors, [("road", 2.0)]).tolist() == [0, 40, -20, 10]
    both = found.scores(vectors, [("road", 1.0), ("car", -3.0)])
    assert both.tolist() == [-90 / 4, 40 / 4, -38 / 4, 34 / 4]
    assert found.pairs(vectors, np.array([0, 2]), np.array([2, 1])).tolist() == [-20, 12]
    places, scores = found.nearest(vectors, [("road", 1.0)], 2)
    assert (places.tolist(), scores.tolist()) == ([1, 3], [40, 10])
    assert found.contributions(vectors, 0, 1) is None
    assert found.distances(vectors, np.array([0, 40])).tolist() == [255, 215]
    assert found.distances(vectors, np.array([300, 40])).tolist() == [0, 260]


def test_symmetric_association(vectors: WordVectors) -> None:
    found = SCORERS["association-symmetric"]
    assert found.candidates(vectors) == WORDS
    assert found.scores(vectors, [("road", 1.0)]).tolist() == [0, 35, -15]
    both = found.scores(vectors, [("road", 1.0), ("car", -3.0)])
    leans_on, leaned_on = [-90 / 4, 40 / 4, -38 / 4], [-120 / 4, 30 / 4, -46 / 4]
    assert both.tolist() == pytest.approx(np.mean([leans_on, leaned_on], axis=0))
    assert found.pairs(vectors, np.array([0, 2]), np.array([2, 1])).tolist() == [-15, 9]
    with pytest.raises(ParameterError, match="cannot be 'association-symmetric' for a vector"):
        found.scores(vectors, [(np.ones(4), 1.0)])


def test_cosine(vectors: WordVectors) -> None:
    found, units = SCORERS["cosine"], MATRIX / np.linalg.norm(MATRIX, axis=1, keepdims=True)
    assert found.candidates(vectors) == WORDS
    assert found.scores(vectors, [("car", 1.0)]) == pytest.approx(units @ units[1])
    query = units[0] - 2 * units[2]  # unit vectors are added, whatever the length of rows
    expected = units @ query / np.linalg.norm(query)
    parts = [("road", 1.0), ("sea", -2.0)]
    assert found.scores(vectors, parts) == pytest.approx(expected)
    assert found.scores(vectors, [("sea", -2.0)]) == pytest.approx(-units @ units[2])
    assert found.contributions(vectors, 0, 1) == pytest.approx(units[0] * units[1])
    assert found.distances(vectors, np.array([1.2, 0.25, -1])).tolist() == [0, 0.75, 2]
    silent = WordVectors(np.array([[0, 0], [3, 4]], dtype=np.int16), ["a", "b"], ["a", "b"])
    assert found.scores(silent, [("b", 1.0)]).tolist() == [0, 1]
    assert found.pairs(silent, np.array([0, 1]), np.array([1, 1])).tolist() == [0, 1]


def test_cosines_of_pairs_are_the_same_in_blocks(
    vectors: WordVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = np.array([0, 0, 1, 2, 1]), np.array([1, 2, 2, 2, 0])
    units = MATRIX / np.linalg.norm(MATRIX, axis=1, keepdims=True)
    expected = (units @ units.T)[first, second]
    held: list[int] = []

    def counted(rows: NDArray[Any], kind: type[np.floating[Any]]) -> NDArray[Any]:
        held.append(len(rows))
        return unit_rows(rows, kind)

    monkeypatch.setattr(scorers, "unit_rows", counted)
    for numbers, rows_held in ((12, [3]), (11, [1] * 10), (16, [3]), (4, [1] * 10), (1, [1] * 10)):
        held.clear()
        monkeypatch.setattr(scorers, "_PAIR_NUMBERS", numbers)
        assert SCORERS["cosine"].pairs(vectors, first, second) == pytest.approx(expected)
        assert held == rows_held


def test_nearest_by_cosine_reads_wide_rows_only_as_far_as_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    matrix = random.integers(-99, 99, (5, 8192)).astype(np.int16)
    matrix[3] = matrix[1] // 2
    names = [f"w{k}" for k in range(8192)]
    vectors, pruned = WordVectors(matrix, names[:5], names), []
    search = highest_cosines

    def counted(*arguments: Any) -> Any:
        pruned.append(1)
        return search(*arguments)

    monkeypatch.setattr(scorers, "highest_cosines", counted)
    units = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    for parts, n_pruned in (
        ([("w1", 1.0)], 1),
        ([(matrix[1], 1.0)], 1),
        ([("w1", 2.0)], 0),
        ([(matrix[1].astype(np.float64), 1.0)], 0),
        ([("w1", 1.0), ("w0", 1e-9)], 0),
    ):
        pruned.clear()
        places, scores = SCORERS["cosine"].nearest(vectors, parts, 2)
        assert places.tolist() == [1, 3]
        assert scores == pytest.approx(units[[1, 3]] @ units[1])
        assert len(pruned) == n_pruned


def test_metrics_that_vectors_do_not_have(vectors: WordVectors) -> None:
    assert {name: found.digits for name, found in SCORERS.items()} == {
        "similarity": 1,
        "related": 1,
        "alike": 1,
        "association": 0,
        "association-symmetric": 1,
        "cosine": 3,
    }
    with pytest.raises(ParameterError, match="'metric' parameter of WordVectors must be one of"):
        scorer("euclidean")
    assert usable_scorer(vectors, "association") is SCORERS["association"]
    unnamed = WordVectors(MATRIX.astype(np.float32), WORDS, None)
    assert usable_scorer(unnamed, "cosine") is SCORERS["cosine"]
    for metric in ("association", "association-symmetric", "similarity"):
        with pytest.raises(ParameterError, match=f"'{metric}' reads the coordinate of a word"):
            usable_scorer(unnamed, metric)
