"""Words and vectors as queries: scores, and the nearest words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm import _native
from omnitm.similarity import nearest
from omnitm.similarity.combined import Combined
from omnitm.vectors import WordVectors

from .conftest import (
    N_FEATURES,
    N_PLACES,
    N_WORDS,
    emphasised,
    name_of,
    slow_rows,
    topic_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


def test_most_similar_agrees_with_pairs(vectors: WordVectors) -> None:
    assert vectors.default_metric == "similarity"
    found = vectors.similar_by_word("w5", topn=5)
    for word, score in found:
        assert vectors.similarity("w5", word) == pytest.approx(score, abs=2e-3)
    scores = np.asarray(vectors.most_similar(["w5", ("w15", 2.0)], topn=None))
    wanted = [vectors.similarity(word, "w25") for word in ("w5", "w15")]
    assert scores[25] == pytest.approx((wanted[0] + 2 * wanted[1]) / 3, abs=2e-3)
    assert vectors.rank("w5", found[1][0]) == 2


@pytest.mark.parametrize("name", ["similarity", "related"])
def test_parts_of_a_query_that_count_nothing_or_less(vectors: WordVectors, name: str) -> None:
    """A part with weight 0 is none; a single part is turned around, several ones are multiplied."""
    question = Combined(name)
    alone = question.scores(vectors, [("w5", 1.0)])
    assert question.scores(vectors, [("w5", 1.0), ("w17", 0.0)]) == pytest.approx(alone)
    assert question.scores(vectors, [("w5", -2.0)]) == pytest.approx(-alone)
    assert question.query(vectors, [("w5", -1.0)]).scores_of(np.arange(9)) == pytest.approx(-alone[:9])
    most = question.of_factors.most(vectors)
    one, other = (question.of_factors.scores(vectors, [(word, 1.0)]) for word in ("w5", "w17"))
    expected = (np.maximum(one / most, 0) + 0.1) / (np.maximum(other / most, 0) + 0.1)
    assert question.scores(vectors, [("w5", 1.0), ("w17", -1.0)]) == pytest.approx(expected)


def test_nearest_words_are_those_of_all_scores(vectors: WordVectors, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where candidates are chosen first: none of the nearest is missed here."""
    whole = [vectors.similar_by_word(name_of(row), topn=5) for row in range(0, N_WORDS, 7)]
    monkeypatch.setattr("omnitm.similarity.nearest._SCORED_IN_FULL", 10)
    monkeypatch.setattr("omnitm.similarity.nearest._CANDIDATES_OF_FEW", 120)
    scored: list[int] = []
    products = _native.profile_products

    def counted(*arguments: Any) -> None:
        scored.append(len(arguments[3]))
        products(*arguments)

    monkeypatch.setattr(_native, "profile_products", counted)
    for row, wanted in zip(range(0, N_WORDS, 7), whole, strict=True):
        found = vectors.similar_by_word(name_of(row), topn=5)
        assert [word for word, _ in found] == [word for word, _ in wanted]
        assert [score for _, score in found] == pytest.approx([score for _, score in wanted])
    assert max(scored) <= 121  # never all of them
    rows = np.arange(0, N_WORDS, 7)
    places, scores = Combined("similarity").nearest_of_rows(vectors, rows, 5)
    for row, wanted in enumerate(whole):
        assert [name_of(k) for k in places[row]] == [word for word, _ in wanted]
        assert scores[row] == pytest.approx([score for _, score in wanted])


def test_words_asked_for_together_have_the_lists_of_each_alone(
    vectors: WordVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the last bit, scored in full or from likely words."""
    rows = np.arange(0, N_WORDS, 11)
    for name in ("similarity", "related", "alike"):
        question = Combined(name)
        for in_full in (1000, 10):
            monkeypatch.setattr(nearest, "_SCORED_IN_FULL", in_full)
            monkeypatch.setattr(nearest, "_FEW", in_full)
            monkeypatch.setattr(nearest, "_CANDIDATES", 30)
            places, scores = question.nearest_of_rows(vectors, rows, 5)
            for at_once in (1, 100, 400):  # of 14 queries with 31 or 150 words each
                with monkeypatch.context() as patched:
                    patched.setattr(nearest, "_WORDS_AT_ONCE", at_once)
                    again = question.nearest_of_rows(vectors, rows, 5)
                assert (again[0].tolist(), again[1].tolist()) == (places.tolist(), scores.tolist())
            for row, of_row, values in zip(rows.tolist(), places, scores, strict=True):
                found, alone = question.nearest(vectors, [(name_of(row), 1.0)], 6)
                assert found.tolist() == [row, *of_row.tolist()]
                assert alone[1:].tolist() == values.tolist()
    assert [len(found) for found in Combined("alike").nearest_of_rows(vectors, rows[:0], 5)] == [0, 0]


def test_which_models_are_scored_in_full(vectors: WordVectors, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to 1,000 words; topics alone, which take less, up to 4,000; then 300 or 150 candidates are."""
    assert (nearest._SCORED_IN_FULL, nearest._FEW) == (1000, 4000)
    assert (nearest._CANDIDATES_OF_FEW, nearest._CANDIDATES) == (300, 150)
    asked: list[int] = []
    highest = nearest._highest

    def noted(scores: NDArray[Any], count: int) -> NDArray[np.intp]:
        asked.append(count)
        return highest(scores, count)

    monkeypatch.setattr(nearest, "_highest", noted)
    for in_full, few, name, expected in (
        (150, 150, "similarity", []),
        (149, 150, "similarity", [40]),
        (149, 150, "alike", [40]),
        (149, 150, "related", []),
        (149, 149, "related", [20]),
        (149, 149, "similarity", [20]),
    ):
        asked.clear()
        for number, value in (("SCORED_IN_FULL", in_full), ("FEW", few)):
            monkeypatch.setattr(nearest, f"_{number}", value)
        monkeypatch.setattr(nearest, "_CANDIDATES_OF_FEW", 40)
        monkeypatch.setattr(nearest, "_CANDIDATES", 20)
        Combined(name).nearest(vectors, [("w5", 1.0)], 3)
        assert asked == expected


def test_long_lists_are_scored_in_full(vectors: WordVectors, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking for likely words pays if few of the words are asked for."""
    whole = vectors.similar_by_word("w5", topn=60, forms=True)
    monkeypatch.setattr("omnitm.similarity.nearest._SCORED_IN_FULL", 10)
    monkeypatch.setattr("omnitm.similarity.nearest._CANDIDATES_OF_FEW", 20)
    asked: list[int] = []
    likely = nearest.likely_of

    def noted(*given: Any) -> Any:
        asked.append(1)
        return likely(*given)

    monkeypatch.setattr(nearest, "likely_of", noted)
    assert vectors.similar_by_word("w5", topn=60, forms=True) == whole
    assert not asked
    assert len(vectors.similar_by_word("w5", topn=3, forms=True)) == 3
    assert asked == [1]


def test_a_vector_as_query(vectors: WordVectors) -> None:
    row = vectors.get_vector("w5").copy()
    row[5] = np.bincount(row.astype(int) + 300).argmax() - 300
    found = vectors.similar_by_vector(row, topn=6)
    assert {topic_of(word) for word, _ in found} == {5}
    blend = (vectors.get_vector("w5").astype(np.float32) + vectors.get_vector("w15")) / 2
    assert all(np.isfinite(score) for _, score in vectors.similar_by_vector(blend))


@pytest.mark.parametrize("with_places", [False, True])
def test_a_vector_is_scored_by_the_recipe(vectors: WordVectors, with_places: bool) -> None:
    """Nobody leans on a vector, so its association is how much it leans on others."""
    assert vectors.place is not None
    profiles, scales = vectors.profiles, vectors.profiles.scales
    assert profiles.place is not None
    assert profiles.joined is not None
    parts = [(vectors.matrix[3] + vectors.matrix[13].astype(int)) / 2]
    if with_places:
        parts += np.split(vectors.place.matrix[8].astype(float), [N_PLACES])
    wanted, alike = np.zeros(N_WORDS), np.zeros(N_WORDS)
    for kind, profile, rows, limit, number in (
        (vectors.matrix, profiles.topic, profiles.topic_rows, 1.0, 1),
        (vectors.place.matrix[:, :N_PLACES], profiles.place, profiles.place_rows, 0.5, 3),
        (vectors.place.matrix[:, N_PLACES:], profiles.joined, None, 0.5, 5),
    )[: len(parts)]:
        x, mean, words = slow_rows(kind, limit, has_own=number == 1)
        part = parts[number // 2]
        mode = np.bincount(np.rint(part).astype(int) + 300).argmax() - 300
        relative = (part - mode) / abs(mode)
        z = (relative - mean) / x.std(axis=0)
        row = np.where(z > limit, np.log(1 + np.maximum(z - limit, 0)), 0)
        row /= np.linalg.norm(row)
        found = wanted if number == 1 else alike
        found += scales[number] * (words @ row)
        if rows is not None:
            smooth = row @ profile.projection
            found += scales[number + 1] * (rows @ (smooth / np.linalg.norm(smooth)))
        if number == 1:
            ratio = np.log((np.maximum(relative, 0) + 0.1) / (np.maximum(mean, 0) + 0.1))
            wanted += scales[0] * ratio[:N_WORDS]
    query = np.concatenate(parts)
    # The closeness of a vector is the usual one.
    units = profiles.units.astype(float)
    wanted = emphasised(wanted * units[:, 0], alike * units[:, 3])
    assert Combined("similarity").scores(vectors, [(query, 1.0)]) == pytest.approx(wanted, abs=2e-3)
    flat = np.concatenate([np.full(N_FEATURES, 7.0), *parts[1:]])  # topics that say nothing
    places = emphasised(np.zeros(N_WORDS), Combined("alike").scores(vectors, [(query, 1.0)]))
    assert Combined("similarity").scores(vectors, [(flat, 1.0)]) == pytest.approx(places, abs=1e-5)


def test_the_highest_scores_are_found_from_a_sample() -> None:
    scores = np.random.default_rng(0).permutation(5000)
    misleading = np.where(np.arange(5000) % 16 == 0, scores + 10_000, scores)  # of the sample all are high
    for values in (scores, misleading, -misleading, np.zeros(5000)):
        for count in (1, 250, 5000):
            found = nearest._highest(values, count)
            assert len(set(found.tolist())) == count
            assert np.array_equal(np.sort(values[found]), np.sort(values)[5000 - count :])


def test_negative_words_divide(vectors: WordVectors) -> None:
    """`a - b + c` multiplies what each has of the largest score: (0.1 + share) to the power of the weight."""
    metric, words = Combined("similarity"), vectors.index_to_key
    factors = metric.of_factors
    asked = [(words[3], 1.0), (words[5], 1.0), (words[8], -1.0)]
    share = {row: factors.scores(vectors, [(words[row], 1.0)]) / factors.most(vectors) for row in (3, 5, 8)}
    floored = {row: np.maximum(part, 0) + 0.1 for row, part in share.items()}
    expected = floored[3] * floored[5] / floored[8]
    assert metric.scores(vectors, asked) == pytest.approx(expected)
    scores = [share[row] * factors.most(vectors) for row in (3, 5, 8)]
    assert metric.joined(vectors, scores, (1.0, 1.0, -1.0)) == pytest.approx(expected)
    assert metric.joined(vectors, scores[:2], (1.0, 3.0)) == pytest.approx((scores[0] + 3 * scores[1]) / 4)
    listed = vectors.most_similar([words[3], words[5]], [words[8]], topn=3, forms=True)
    order = [words[row] for row in np.argsort(-expected) if row not in {3, 5, 8}][:3]
    assert [word for word, _ in listed] == order
    two = metric.scores(vectors, [(words[3], 1.0), (words[8], -2.0)])
    assert two == pytest.approx(floored[3] / floored[8] ** 2)
    of_no_weight = metric.scores(vectors, [(words[3], 1.0), (words[8], 0.0)])
    alone = metric.scores(vectors, [(words[3], 1.0)])
    assert of_no_weight == pytest.approx(alone, abs=1e-5)
