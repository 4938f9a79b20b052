"""The default similarity against a slow and obvious version of its recipe."""

from __future__ import annotations

import hashlib
import json
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omnitm.errors import FileError, OmniTMWarning, ParameterError
from omnitm.files.checked import read_container, write_container
from omnitm.similarity import profiles, question, truncated_svd, word_forms
from omnitm.similarity.combined import Combined
from omnitm.similarity.profiles import RECIPE, Profiles
from omnitm.similarity.question import PARTS
from omnitm.similarity.row_profile import unit_rows
from omnitm.similarity.scorers import SCORERS
from omnitm.training import train_model
from omnitm.vectors import WordVectors
from omnitm.vectors.compact import DenseRecipe, dense_rows_of_profiles
from omnitm.vectors.named_rows import PlaceVectors

from .conftest import (
    N_FEATURES,
    N_JOINED,
    N_PLACES,
    N_WORDS,
    emphasised,
    name_of,
    slow_rows,
    slow_smooth,
    slow_units,
    topic_of,
)

WEIGHTS = [1, 0.5, 2.5, 2.5, 3, 1.5]

if TYPE_CHECKING:
    from pathlib import Path

    from omnitm.corpus import DocumentIndex
    from omnitm.explain import Explainer


def test_clearly_alike_words_count_up_to_twice(vectors: WordVectors) -> None:
    """Parts of seven pairs, weighted: related is 1, alike is -15, 0, 25, 50, 75, 100 and 150."""
    weighted, scales = np.zeros((7, 6)), np.array([1.0, 2, 3, 4, 5, 6])
    weighted[:, 0], weighted[:, 3] = 1.0, np.array([-15, 0, 25, 50, 75, 100, 150]) / 4
    both = Combined("similarity").total(weighted, scales)
    assert both == pytest.approx([1, 1, 13.5, 51, 113.5, 201, 301])
    plain = Combined("similarity", is_emphasised=False).total(weighted, scales)
    assert plain == pytest.approx([-14, 1, 26, 51, 76, 101, 151])
    assert Combined("alike").total(weighted, scales) == pytest.approx(4 * weighted[:, 3])
    assert Combined("related").total(weighted, scales) == pytest.approx(np.ones(7))
    related, alike = (Combined(name).scores(vectors, [("w5", 1.0)]) for name in ("related", "alike"))
    others = np.arange(N_WORDS) != 5
    found = Combined("similarity").scores(vectors, [("w5", 1.0)])
    assert found[others] == pytest.approx(emphasised(related, alike)[others], abs=1e-4)


def test_in_products_places_count_less(vectors: WordVectors) -> None:
    factors = Combined("similarity").of_factors
    found = factors.total(np.ones(6), np.array([1.0, 2, 3, 4, 50, 6]))
    assert found == pytest.approx(1.4 + 14 + 2.55 + 6.4 + 5)
    parts = vectors.profiles.pairs(vectors, np.array([3]), np.array([8]))
    scales = vectors.profiles.scales * [1.4, 7, 0.85, 1.6, 0.1, 0]
    assert factors.scores(vectors, [("w3", 1.0)])[8] == pytest.approx(float(parts[0] @ scales), abs=1e-4)


def test_parts_equal_the_recipe(vectors: WordVectors) -> None:
    assert vectors.place is not None
    x, mean, rows = slow_rows(vectors.matrix, 1.0, has_own=True)
    matrices = vectors.place.matrix[:, :N_PLACES], vectors.place.matrix[:, N_PLACES:]
    places, joined = (slow_rows(matrix, 0.5, has_own=False)[2] for matrix in matrices)
    floor = 0.1
    ratio = np.log((np.maximum(x, 0) + floor) / (np.maximum(mean, 0) + floor))[:, :N_WORDS]
    smooth = [slow_smooth(rows, 15, 0.25), slow_smooth(places, 15, 0.0)]
    parts = np.stack(
        [
            (ratio + ratio.T) / 2,
            rows @ rows.T,
            smooth[0] @ smooth[0].T,
            places @ places.T,
            smooth[1] @ smooth[1].T,
            joined @ joined.T,
        ]
    )
    first, second = np.triu_indices(N_WORDS, k=1)
    found = vectors.profiles.pairs(vectors, first, second)
    assert found[:, [0, 1, 3, 5]] == pytest.approx(parts[:, first, second][[0, 1, 3, 5]].T, abs=1e-4)
    assert (
        np.abs(found[:, [2, 4]] - parts[:, first, second][[2, 4]].T).mean() < 0.02
    )  # the SVD is approximate
    weights = vectors.profiles.scales * found.std(axis=0)
    assert weights == pytest.approx(WEIGHTS)
    units = slow_units(vectors)
    assert vectors.profiles.units == pytest.approx(units, rel=0.02)  # found from codes in 255 steps
    assert not np.allclose(units, 1, atol=0.05)
    found *= vectors.profiles.units[first].astype(float) * vectors.profiles.units[second]
    related, alike = (found[:, part] @ vectors.profiles.scales[part] for part in ([0, 1, 2], [3, 4, 5]))
    both = emphasised(related, alike)
    assert (alike > 0).any()
    assert (alike < 0).any()
    for name, scores in (("similarity", both), ("related", related), ("alike", alike)):
        pairs = [(name_of(a), name_of(b)) for a, b in zip(first.tolist(), second.tolist(), strict=True)]
        assert vectors.similarities(pairs, metric=name) == pytest.approx(scores)  # type: ignore[arg-type]


def test_three_questions(vectors: WordVectors) -> None:
    related = [word for word, _ in vectors.similar_by_word("w37", topn=5, metric="related")]
    alike = [word for word, _ in vectors.similar_by_word("w37", topn=5, metric="alike")]
    assert sum(topic_of(word) == 7 for word in related) >= 4
    assert sum(int(word.strip("w")) // 10 % 10 == 3 for word in alike) >= 4
    both = vectors.similarities([("w37", "137w"), ("w37", "w47"), ("w37", "w34"), ("w37", "w92")])
    assert both[0] > both[1:].max()  # the same topic and the same places
    assert both[1:3].min() > both[3]


def test_contributions_add_up(vectors: WordVectors) -> None:
    for metric in ("similarity", "related", "alike"):
        scorer = Combined(metric)
        names = scorer.features(vectors)
        assert len(names) == N_FEATURES + N_PLACES + N_JOINED
        for a, b in [(0, 10), (3, 4), (20, 140)]:
            shares = scorer.contributions(vectors, a, b)
            assert shares.sum() == pytest.approx(
                scorer.pairs(vectors, np.array([a]), np.array([b]))[0], abs=1e-5
            )
            assert scorer.contributions(vectors, b, a) == pytest.approx(shares)
            parts = scorer.parts(vectors, a, b)
            assert sum(parts.values()) == pytest.approx(shares.sum(), abs=1e-5)
            assert list(parts) == [
                part
                for number, part in enumerate(PARTS)
                if (number >= 3) != (metric == "related") or metric == "similarity"
            ]
    shares = Combined("related").contributions(vectors, 0, 10)
    assert not shares[N_FEATURES:].any()
    topic = np.arange(N_FEATURES) % 10
    others = np.delete(shares[:N_FEATURES], [0, 10])
    same = np.delete(topic, [0, 10]) == 0
    assert others[same].sum() > 5 * abs(others[~same].sum())
    alike = Combined("alike").contributions(vectors, 20, 120)
    assert not alike[:N_FEATURES].any()
    at_places, joined = np.split(alike[N_FEATURES:], [N_PLACES])
    assert at_places[np.arange(N_PLACES) % 10 == 2].sum() > 0.7 * at_places.sum()
    alike = Combined("alike").contributions(vectors, 20, 28)
    joined = alike[N_FEATURES + N_PLACES :]
    assert joined[np.arange(N_JOINED) % 10 == 0].sum() > 0.7 * joined.sum() > 0


def test_a_word_is_nearest_to_itself(vectors: WordVectors) -> None:
    for metric in ("similarity", "related", "alike"):
        scores = np.asarray(vectors.most_similar("w5", topn=None, metric=metric))
        assert scores.argmax() == 5
        assert vectors.similarity("w5", "w5", metric=metric) == pytest.approx(scores[5])
        distances = vectors.distances("w5", metric=metric)
        assert distances[5] == pytest.approx(0)
        assert np.delete(distances, 5).min() > 0
    assert vectors.distance("w5", "w15") == pytest.approx(
        vectors.similarity("w5", "w5") - vectors.similarity("w5", "w15")
    )


def test_percentiles_count_pairs_that_are_less_near(vectors: WordVectors) -> None:
    first, second = np.triu_indices(N_WORDS, k=1)
    pairs = [(name_of(a), name_of(b)) for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    scores = vectors.similarities(pairs)
    shares = vectors.similarities(pairs, scale="percentile")
    below = 100 * np.searchsorted(np.sort(scores), scores) / len(scores)
    assert np.abs(shares - below).max() < 0.6
    assert (np.diff(shares[np.argsort(scores)]) >= 0).all()
    assert vectors.similarity("w5", "w5", scale="percentile") > 99.9
    with pytest.raises(ParameterError, match="'cosine' has no percentiles"):
        vectors.similarity("w5", "w6", metric="cosine", scale="percentile")


def test_weights_of_a_query_are_added() -> None:
    assert question.weighted_parts([("a", 2.0), ("b", -0.5)]) == 2.5
    assert question.weighted_parts([("a", 0.0)]) == 1.0  # to divide by
    scores = [np.array([1.0, 3.0]), np.array([5.0, 1.0])]
    assert question.weighted_mean(scores, [1.0, -3.0]).tolist() == [-3.5, 0.0]
    assert question.weighted_mean(scores, [0.0, 0.0]).tolist() == [0.0, 0.0]


def test_how_far_features_stand_out(vectors: WordVectors, topics: WordVectors) -> None:
    assert vectors.place is not None
    expected = []
    places = vectors.place.matrix
    for matrix, has_own in (
        (vectors.matrix, True),
        (places[:, :N_PLACES], False),
        (places[:, N_PLACES:], False),
    ):
        x, mean, _ = slow_rows(matrix, 0.0, has_own=has_own)
        expected.append((x[7] - mean) / x.std(axis=0))
    expected[0][7] = 0  # a word's own coordinate says nothing
    found = Combined("similarity").deviations(vectors, 7)
    assert found == pytest.approx(np.concatenate(expected), abs=1e-3)
    assert found[7] == 0
    assert Combined("similarity").deviations(topics, 7) == pytest.approx(expected[0], abs=1e-3)


def test_the_score_of_a_word_with_itself(vectors: WordVectors, topics: WordVectors) -> None:
    for model, most in ((vectors, [5, 1, 1, 1, 1, 1]), (topics, [5, 1, 1, 0, 0, 0])):
        # As if both words had hardly any near words, which makes the most of a score.
        scales = model.profiles.scales / 0.6
        alike = float(scales[3:] @ most[3:])
        assert model.similarity("w5", "w5") == pytest.approx(
            scales[:3] @ most[:3] + alike * min(alike / 50, 2)
        )
        assert model.similarity("w5", "w5", metric="related") == pytest.approx(scales[:3] @ most[:3])
        less = np.asarray(model.most_similar(positive=[], negative=["w5"], topn=None))
        assert less == pytest.approx(-np.asarray(model.most_similar("w5", topn=None)))


def test_without_places_similar_is_related(topics: WordVectors, vectors: WordVectors) -> None:
    scores = np.asarray(topics.most_similar("w5", topn=None))
    expected = np.asarray(vectors.most_similar("w5", topn=None, metric="related"))
    assert scores == pytest.approx(expected, abs=1e-6)  # sums in float32
    with pytest.raises(
        ParameterError, match=r"'alike' needs vectors that know where words stand.*omnitm index"
    ):
        topics.most_similar("w5", metric="alike")
    assert {name for name, scorer in SCORERS.items() if scorer.problem(topics) is None} == {*SCORERS} - {
        "alike"
    }


def test_few_words_go_by_association() -> None:
    matrix = np.array([[0, 9, 1], [8, 0, 2]], dtype=np.int16)
    small = WordVectors(matrix, ["road", "car"], ["road", "car", "sea"])
    assert small.default_metric == "association"
    assert np.isfinite(small.similarity("road", "car", metric="similarity"))
    leaning = np.log((0.09 + 0.1) / (0.045 + 0.1)), np.log((0.08 + 0.1) / (0.04 + 0.1))
    parts = small.profiles.pairs(small, np.array([0]), np.array([1]))
    assert parts[0] == pytest.approx([np.mean(leaning), *[0] * 5], abs=1e-6)
    reals = WordVectors(matrix.astype(np.float32), ["road", "car"], ["road", "car", "sea"])
    with pytest.raises(
        ParameterError, match="'similarity' is for integers; use metric='association' or 'cosine'"
    ):
        reals.similarity("road", "car", metric="similarity")


def test_kept_beside_the_model(board: DocumentIndex, tmp_path: Path) -> None:
    model = tmp_path / "m"
    train_model(board, model)
    first = WordVectors.load(model)
    score = first.similarity("a0", "a1", metric="similarity")
    kept = model / "similarity.bin"
    content = kept.read_bytes()
    assert read_container(kept)[0]["recipe"] == RECIPE
    for damage in (
        content[:-1],
        content + b"x",
        b"",
        content[:20],
        b"X" + content[1:],
        content[:60] + b"?" + content[61:],
    ):
        kept.write_bytes(damage)
        with pytest.warns(OmniTMWarning, match=r"similarity\.bin: is damaged.*; it is made again"):
            assert WordVectors.load(model).similarity("a0", "a1", metric="similarity") == score
        assert kept.read_bytes() == content
    train_model(board, model, ["a0", "a1", "b1"], force=True)
    assert not kept.exists()
    again = WordVectors.load(model)
    assert again.similarity("a0", "a1", metric="similarity") != score


def test_codes_are_kept_and_smoothed_places_are_kept_once(told: Explainer, tmp_path: Path) -> None:
    """Coding all rows takes longer than the rest of a first answer."""
    vectors, model = told.vectors, tmp_path / "m"
    vectors.save(model)
    kept = model / "similarity.bin"
    expected = WordVectors.load(model).most_similar("bank", topn=5)
    facts, arrays = read_container(kept)
    rows = {"topic_codes": vectors.profiles.topic_rows, "place_codes": vectors.profiles.place_rows}
    for (name, of_words), step in zip(rows.items(), arrays["code_steps"], strict=True):
        assert step == pytest.approx(np.abs(of_words).max() / 127)
        assert np.array_equal(arrays[name], np.rint(of_words / np.float32(step)))
    assert "place_rows" not in arrays
    read = WordVectors.load(model).profiles
    assert np.array_equal(read.place_codes, arrays["place_codes"])
    assert read.place is not None
    assert read.place_rows is read.place.smooth
    content = kept.read_bytes()
    write_container(kept, facts, {name: array for name, array in arrays.items() if name != "topic_codes"})
    again = WordVectors.load(model)  # what is not all there is made again
    assert again.most_similar("bank", topn=5) == expected
    assert kept.read_bytes() == content


@pytest.mark.parametrize("n_flips", [300, pytest.param(20_000, marks=pytest.mark.torture)])
def test_every_flipped_bit_is_noticed(board: DocumentIndex, tmp_path: Path, n_flips: int) -> None:
    """Anywhere: header, arrays, and the gaps between them."""
    model = tmp_path / "m"
    train_model(board, model).similarity("a0", "a1", metric="similarity")
    kept, random = model / "similarity.bin", np.random.default_rng(n_flips)
    content = bytearray(kept.read_bytes())
    read_container(kept)
    for bit in random.choice(8 * len(content), min(n_flips, 8 * len(content)), replace=False).tolist():
        content[bit // 8] ^= 1 << bit % 8
        kept.write_bytes(content)
        with pytest.raises(FileError, match=r"similarity\.bin: is damaged"):
            read_container(kept)
        content[bit // 8] ^= 1 << bit % 8


def test_a_file_of_another_recipe_is_made_again_without_a_word(
    board: DocumentIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "m"
    score = train_model(board, model).similarity("a0", "a1", metric="similarity")
    monkeypatch.setattr("omnitm.store.similarity_cache.RECIPE", RECIPE + 1)
    assert WordVectors.load(model).similarity("a0", "a1", metric="similarity") == score
    assert read_container(model / "similarity.bin")[0]["recipe"] == RECIPE + 1


def with_former_checksum(content: bytes, checksum: str | None) -> bytes:
    """Write similarity.bin as it was before CRC-32C: with CRC-32, or with no checksum at all."""
    length = int.from_bytes(content[8:16], "little")
    facts = {name: fact for name, fact in json.loads(content[48 : 48 + length]).items() if name != "crc32c"}
    arrays = content[48 + length + -(48 + length) % 64 :]
    for _ in range(2):  # the header has the checksum of what follows it, which begins where the header ends
        header = json.dumps(facts if checksum is None else {**facts, "crc32": checksum}).encode()
        rest = bytes(-(48 + len(header)) % 64) + arrays
        checksum = None if checksum is None else f"{zlib.crc32(rest):08x}"
    return content[:8] + len(header).to_bytes(8, "little") + hashlib.sha256(header).digest() + header + rest


def test_a_file_with_the_former_checksum_is_read(board: DocumentIndex, tmp_path: Path) -> None:
    model = tmp_path / "m"
    score = train_model(board, model).similarity("a0", "a1", metric="similarity")
    former = with_former_checksum((model / "similarity.bin").read_bytes(), "0" * 8)
    (model / "similarity.bin").write_bytes(former)
    assert WordVectors.load(model).similarity("a0", "a1", metric="similarity") == score
    assert (model / "similarity.bin").read_bytes() == former


def test_a_file_of_before_there_was_a_checksum_is_made_again(board: DocumentIndex, tmp_path: Path) -> None:
    model = tmp_path / "m"
    train_model(board, model).similarity("a0", "a1", metric="similarity")
    kept = model / "similarity.bin"
    content = kept.read_bytes()
    kept.write_bytes(with_former_checksum(content, None))
    with pytest.warns(OmniTMWarning, match="its content does not fit its checksum; it is made again"):
        assert np.isfinite(WordVectors.load(model).similarity("a0", "a1", metric="similarity"))
    assert kept.read_bytes() == content


def test_a_folder_that_cannot_be_written(
    board: DocumentIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train_model(board, tmp_path / "m")
    vectors = WordVectors.load(tmp_path / "m")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", refuse)
    assert np.isfinite(vectors.similarity("a0", "a1", metric="similarity"))
    assert not (tmp_path / "m" / "similarity.bin").exists()


def test_truncated_svd_is_the_svd() -> None:
    random = np.random.default_rng(0)
    matrix = (random.normal(size=(90, 8)) @ random.normal(size=(8, 70))).astype(np.float32)
    found = truncated_svd.truncated_svd(matrix, 8)
    assert found.left * found.singular @ found.right.T == pytest.approx(matrix, abs=1e-3)
    assert found.singular == pytest.approx(np.linalg.svd(matrix)[1][:8], rel=1e-4)
    assert matrix @ found.right == pytest.approx(found.left * found.singular, abs=1e-3)


def test_telling_words_are_about_different_things(vectors: WordVectors) -> None:
    found = vectors.telling_words(3)
    assert len(found) == len({topic_of(word) for word in found}) == len(set(found))
    few = WordVectors(np.eye(3, dtype=np.int16), ["a", "b", "c"], ["a", "b", "c"])
    assert few.telling_words(2) == ["a", "b"]


def test_reduce(vectors: WordVectors) -> None:
    small = vectors.reduce(20)
    assert small.matrix.shape == (150, 20)
    assert small.matrix.dtype == np.float32
    assert small.default_metric == "cosine"
    assert {topic_of(word) for word, _ in small.most_similar("w5", topn=5)} == {5}
    again = small.reduce(5)
    assert again.matrix.shape == (150, 5)
    with pytest.raises(
        ParameterError, match="'n_components' parameter of reduce must be an int from 1 to 150"
    ):
        vectors.reduce(151)


def test_reduced_vectors_know_topics_and_places(vectors: WordVectors, topics: WordVectors) -> None:
    """0.6 of a product is that of smoothed topics, 0.4 that of smoothed places, if no direction is cut."""
    both = [unit_rows(vectors.profiles.topic_rows[:, :14]), unit_rows(vectors.profiles.place_rows[:, :7])]
    products = 0.6 * both[0] @ both[0].T + 0.4 * both[1] @ both[1].T
    whole = dense_rows_of_profiles(vectors, 30, DenseRecipe(0.4, 1, 1))  # 15 patterns of each kind
    uncut = [rows @ rows.T for rows in (vectors.profiles.topic_rows, vectors.profiles.place_rows)]
    assert whole @ whole.T == pytest.approx(0.6 * uncut[0] + 0.4 * uncut[1], abs=1e-4)
    # 14 patterns of topics and 7 of places in 7 dimensions: the best approximation of that rank.
    found = vectors.reduce(7).matrix
    values = np.linalg.eigvalsh(products.astype(np.float64))[::-1]
    left = np.linalg.norm(products - found @ found.T) ** 2
    assert left == pytest.approx(float((values[7:] ** 2).sum()), rel=1e-3, abs=1e-6)
    of_topic, of_places = mean_cosines(vectors.reduce(20))
    assert of_topic > 0.35
    assert of_places > 0.18
    of_topic, of_places = mean_cosines(topics.reduce(20))
    assert of_topic > 0.35
    assert abs(of_places) < 0.05


def test_places_alone_are_reduced(vectors: WordVectors) -> None:
    assert vectors.place is not None
    alone = WordVectors(vectors.place.matrix, vectors.index_to_key, None, place=vectors.place)
    of_topic, of_places = mean_cosines(alone.reduce(20))
    assert abs(of_topic) < 0.05
    assert of_places > 0.35
    places = PlaceVectors(vectors.place.matrix[:40], vectors.place.feature_names)
    few = WordVectors(places.matrix, vectors.index_to_key[:40], None, place=places)
    assert few.reduce(8).matrix.shape == (40, 8)


def mean_cosines(small: WordVectors) -> tuple[float, float]:
    """Of words of one topic at other places, and of words at the same places of other topics."""
    cosines = unit_rows(small.matrix) @ unit_rows(small.matrix).T
    word = np.arange(N_WORDS)
    same_topic, same_places = (group[:, None] == group for group in (word % 10, word // 10 % 10))
    chosen = same_topic & ~same_places, same_places & ~same_topic
    return float(cosines[chosen[0]].mean()), float(cosines[chosen[1]].mean())


def test_reduced_vectors_do_not_depend_on_threads(
    vectors: WordVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = vectors.reduce(12).matrix
    monkeypatch.setattr(truncated_svd, "available_cores", lambda: 1)
    assert np.array_equal(vectors.reduce(12).matrix, found)


def test_more_dimensions_than_patterns(vectors: WordVectors) -> None:
    """Profiles themselves are decomposed then, both kinds of them."""
    small = vectors.reduce(120)
    assert small.matrix.shape == (150, 120)
    assert min(mean_cosines(small)) > 0.02


def test_reduced_vectors_can_be_saved(board: DocumentIndex, tmp_path: Path) -> None:
    vectors = train_model(board, tmp_path / "m")
    vectors.reduce(3).save(tmp_path / "small")
    assert WordVectors.load(tmp_path / "small").vector_size == 3


def test_sparsify(vectors: WordVectors) -> None:
    sparse = vectors.sparsify(6)
    assert sparse.matrix.shape == (150, 220)
    assert np.diff(sparse.matrix.indptr).max() == 6
    assert len(sparse) == 150
    assert "w5" in sparse
    assert sparse.nbytes < vectors.nbytes / 5
    assert sum(topic_of(word) == 5 for word in sparse["w5"]) >= 3
    assert list(sparse["w5"].values()) == sorted(sparse["w5"].values(), reverse=True)
    topics = [topic_of(word) for word, _ in vectors.sparsify(20).most_similar("w5", topn=5)]
    assert topics == [5] * 5
    found = sparse.most_similar("w5", topn=3)
    assert sparse.similarity("w5", found[0][0]) == pytest.approx(found[0][1], abs=1e-6)
    assert sparse.similarity("w5", "w5") == pytest.approx(1, abs=1e-5)
    profiles = vectors.profiles.topic.by_word()
    strongest = {name_of(k) for k in profiles[5].indices[np.argsort(-profiles[5].data)[:6]]}
    assert set(sparse["w5"]) == strongest
    with pytest.raises(ParameterError, match=r"have one metric, 'cosine'\. Got 'association'"):
        sparse.similarity("w1", "w2", metric="association")
    with pytest.raises(KeyError, match="'w999' is not in the trained words"):
        sparse.most_similar("w999")
    with pytest.raises(ParameterError, match="'k' parameter of sparsify must be an int from 1"):
        vectors.sparsify(0)
    with pytest.raises(ParameterError, match="Only integer vectors with named features can be sparsified"):
        vectors.reduce(4).sparsify(2)


def test_a_vector_and_a_word_are_scored_in_either_order(vectors: WordVectors) -> None:
    assert vectors.place is not None
    vector = np.concatenate([vectors["w5"], vectors.place.matrix[5]])
    for name in ("similarity", "related", "alike"):
        metric = Combined(name)
        scores = metric.query(vectors, [(vector, 1.0)]).scores_of(np.arange(N_WORDS))
        for other in (3, 40):
            assert metric.between(vectors, vector, name_of(other)) == pytest.approx(scores[other])
            assert metric.between(vectors, name_of(other), vector) == pytest.approx(scores[other])


def test_in_lists_rare_words_are_trusted_less(vectors: WordVectors, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the best known words scores shrink in lists, not those of pairs, parts and contributions."""
    metric, first, second = Combined("similarity"), np.array([3, 3, 40]), np.array([5, 40, 40])
    plain, distances = metric.pairs(vectors, first, second), vectors.distances("w40")
    monkeypatch.setattr(profiles, "_BEST_KNOWN", 10)
    trust = profiles.trust_in(vectors)
    assert trust[:10].tolist() == [1.0] * 10
    assert trust[40] == pytest.approx((10 / 41) ** 0.25)
    monkeypatch.setattr(vectors, "profiles", replace(vectors.profiles, trust=trust))
    assert metric.pairs(vectors, first, second).tolist() == plain.tolist()
    assert sum(metric.parts(vectors, 3, 40).values()) == pytest.approx(plain[1])
    assert metric.contributions(vectors, 3, 40).sum() == pytest.approx(plain[1], abs=1e-3)
    assert vectors.similarity("w3", "w40") == pytest.approx(plain[1])
    assert vectors.distances("w40").tolist() == distances.tolist()
    assert vectors.distances("w3", ["w40"])[0] == pytest.approx(vectors.distance("w3", "w40"), abs=1e-4)
    # The trust in the word that is listed counts, not that in the word asked about, which stays the nearest.
    for word, other in ((3, 40), (40, 3)):
        listed = np.asarray(vectors.most_similar(f"w{word}", topn=None))
        assert listed[other] == pytest.approx(plain[1] * trust[other], abs=1e-4)
        assert listed[word] == pytest.approx(metric.most(vectors))
        assert listed.argmax() == word
        assert np.delete(listed, word) == pytest.approx(
            np.delete(metric.pairs(vectors, np.full(N_WORDS, word), np.arange(N_WORDS)) * trust, word),
            abs=1e-3,
        )
        order = [name_of(k) for k in np.argsort(-listed, kind="stable").tolist() if k != word]
        for folded in (False, True):
            for among in (None, N_WORDS):
                found = vectors.most_similar(f"w{word}", topn=9, forms=not folded, restrict_vocab=among)
                assert [name for name, _ in found] == order[:9]
                assert [score for _, score in found] == pytest.approx(np.sort(listed)[::-1][1:10], abs=1e-4)
        assert vectors.rank(f"w{word}", order[7]) == 8
    # In products a rare word is as good an answer as any.
    factors = Combined("similarity").of_factors
    trusted = factors.scores(vectors, [("w40", 1.0)])
    monkeypatch.setattr(vectors, "profiles", replace(vectors.profiles, trust=np.ones_like(trust)))
    assert trusted.tolist() == factors.scores(vectors, [("w40", 1.0)]).tolist()


def test_words_with_many_near_words_are_measured_by_them(
    vectors: WordVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closeness counts in pairs, lists, parts and contributions alike, before the emphasis."""
    closeness = np.ones((N_WORDS, 2), np.float32)
    for name in ("related", "alike", "similarity"):
        metric = Combined(name)
        monkeypatch.setattr(vectors, "profiles", replace(vectors.profiles, closeness=closeness))
        related, alike = (
            Combined(of).pairs(vectors, np.array([3]), np.array([13]))[0] for of in ("related", "alike")
        )
        close = closeness.copy()
        close[3], close[13] = (36.0, 2.0), (1.0, 8.0)
        monkeypatch.setattr(vectors, "profiles", replace(vectors.profiles, closeness=close))
        # (36 * 1) ** (1/2) = 6 for topics, (2 * 8) ** (1/2) = 4 for places.
        expected = {
            "related": related / 6,
            "alike": alike / 4,
            "similarity": emphasised(np.array([related / 6]), np.array([alike / 4]))[0],
        }[name]
        assert metric.pairs(vectors, np.array([3]), np.array([13]))[0] == pytest.approx(expected)
        assert sum(metric.parts(vectors, 3, 13).values()) == pytest.approx(expected)
        assert metric.contributions(vectors, 3, 13).sum() == pytest.approx(expected, abs=1e-3)
        assert metric.scores(vectors, [("w3", 1.0)])[13] == pytest.approx(expected, abs=1e-4)
        assert metric.scores(vectors, [("w13", 1.0)])[3] == pytest.approx(expected, abs=1e-4)
        assert metric.scores(vectors, [("w3", 1.0)])[3] == pytest.approx(metric.most(vectors))


def test_forms_are_averaged_but_for_smoothed_places(
    vectors: WordVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words 0 and 1 are forms of each other; all other words have none."""
    members = np.concatenate([[0, 1, 1, 0], np.arange(2, N_WORDS)]).astype(np.int32)
    weights = (np.concatenate([[2, 1, 2, 1], np.full(N_WORDS - 2, 3)]) / 3).astype(np.float32)
    starts = np.concatenate([[0, 2, 4], np.arange(5, N_WORDS + 3)]).astype(np.int64)
    forms = word_forms.WordForms(starts, members, weights, np.array([0.3]))
    monkeypatch.setattr(word_forms.WordForms, "of", lambda *_: forms)
    profiles = Profiles.of(vectors)
    assert profiles.place is not None
    assert profiles.place_rows.tolist() == profiles.place.smooth.tolist()
    mean = (2 * profiles.topic.smooth[0] + profiles.topic.smooth[1]) / 3
    assert profiles.topic_rows[0] == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)
    monkeypatch.setattr(vectors, "profiles", profiles)
    for metric in ("related", "alike", "similarity"):
        found = Combined(metric)
        score = found.pairs(vectors, np.array([0]), np.array([7]))[0]
        assert found.contributions(vectors, 0, 7).sum() == pytest.approx(score, abs=1e-3)
        assert found.scores(vectors, [("w0", 1.0)])[7] == pytest.approx(score, abs=1e-3)
    # In products profiles are those of the word alone, on both sides.
    factors = Combined("similarity").of_factors
    for one, other in ((0, 7), (7, 0)):
        parts = profiles.pairs(vectors, np.array([one]), np.array([other]))[0]
        for part, profile in ((1, profiles.topic), (3, profiles.place)):
            own = float(profile.of_row(one).astype(np.float64) @ profile.of_row(other))
            assert own != pytest.approx(parts[part], abs=1e-3)
            parts[part] = own
        expected = float(factors.total(parts, profiles.scales))
        found_score = factors.scores(vectors, [(name_of(one), 1.0)])[other]
        assert found_score == pytest.approx(expected, abs=1e-3)
