"""The map: what is computed, how honest it says it is, and that a damaged file is not believed."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from omnitm.errors import MissingExtraError, OmniTMWarning, ParameterError
from omnitm.explain import Explainer
from omnitm.explorer import create_app
from omnitm.explorer import map_layout as layout
from omnitm.explorer.map_file import Cluster, VocabularyMap, header_of, map_places, read_map, write_map
from omnitm.explorer.map_keeper import MapKeeper, MapWork
from omnitm.explorer.map_layout import (
    arranged,
    first_map,
    full_map,
    grouped,
    likely_neighbours,
    main_axes,
    share_kept,
    true_neighbours,
)
from omnitm.similarity.combined import Combined
from omnitm.similarity.row_profile import unit_rows
from omnitm.store import ModelRecord, pack_model
from omnitm.store.similarity_cache import vectors_sha256
from omnitm.vectors import WordVectors


def blobs(n_rows: int = 120, n_columns: int = 60) -> np.ndarray:
    """Rows in four directions, with noise."""
    random = np.random.default_rng(1)
    middles = random.integers(-100, 100, (4, n_columns))
    return (middles[np.arange(n_rows) % 4] + random.integers(-9, 9, (n_rows, n_columns))).astype(np.int16)


@pytest.mark.parametrize("shape", [(120, 60), (60, 120)])
def test_main_axes_are_those_of_an_exact_decomposition(shape: tuple[int, int]) -> None:
    matrix = blobs(*shape)
    centred = unit_rows(matrix) - unit_rows(matrix).mean(axis=0)
    left, lengths, _ = np.linalg.svd(centred, full_matrices=False)
    exact = left[:, :3] * lengths[:3]
    assert np.allclose(np.abs(main_axes(matrix, 3)), np.abs(exact), atol=1e-3)


@pytest.fixture(scope="module")
def many_words() -> WordVectors:
    """Enough words for the default similarity, in four topics."""
    random = np.random.default_rng(2)
    lit = (np.arange(120)[:, None] % 4 == np.arange(120) % 4) & (random.random((120, 120)) < 0.6)
    matrix = np.where(lit, random.integers(-60, 90, (120, 120)), -100).astype(np.int16)
    names = [f"w{k}" for k in range(120)]
    return WordVectors(matrix, names, names)


def test_true_neighbours_are_those_that_the_model_finds(many_words: WordVectors) -> None:
    done: list[float] = []
    found = true_neighbours(many_words, np.arange(120), 5, done.append)
    for row in (0, 50, 119):
        expected = many_words.similar_by_word(f"w{row}", 5, metric="similarity")
        assert [f"w{k}" for k in found.rows[row]] == [word for word, _ in expected]
        assert found.scores[row] == pytest.approx([score for _, score in expected], rel=1e-4)
    assert done[-1] == 1.0


def test_among_many_words_neighbours_are_found_by_smoothed_profiles(
    many_words: WordVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = likely_neighbours(many_words, 20)
    monkeypatch.setattr(layout, "_MANY", 50)
    monkeypatch.setattr(Combined, "nearest_of_rows", None)  # not asked any more
    found = likely_neighbours(many_words, 20)
    shared = [len(set(a) & set(b)) / 20 for a, b in zip(exact.rows, found.rows, strict=True)]
    assert np.mean(shared) > 0.7
    assert (np.diff(found.scores, axis=1) <= 0).all()
    assert (found.rows != np.arange(120)[:, None]).all()


def test_neighbours_are_looked_for_in_the_cells_around_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = unit_rows(blobs(400))
    monkeypatch.setattr(layout, "_CELL", 20)
    every = layout._nearest(rows, 5, None)
    monkeypatch.setattr(layout, "_NEAR_CELLS", 6)
    looked_at: list[int] = []
    highest = layout._highest

    def counted(*given: Any) -> Any:
        looked_at.append(len(given[1]) * len(given[2]))
        return highest(*given)

    monkeypatch.setattr(layout, "_highest", counted)
    found = layout._nearest(rows, 5, None)
    assert sum(looked_at) < 400 * 400 / 2
    shared = [len(set(a) & set(b)) / 5 for a, b in zip(every.rows, found.rows, strict=True)]
    assert np.mean(shared) > 0.8
    assert layout._nearest(rows[:7], 6, None).rows.shape == (7, 6)


def test_groups_are_those_that_are_there() -> None:
    groups, middles = grouped(unit_rows(blobs()), 4, 20)
    assert len(np.unique(groups)) == 4
    assert all(len(set(groups[np.arange(120) % 4 == k])) == 1 for k in range(4))
    assert middles.shape == (4, 60)


def topics(n_topics: int, with_function_words: bool = True) -> WordVectors:
    """Words in topics, ten each, that lean on words of their topic; and words that lean on all a little."""
    random = np.random.default_rng(4)
    words = [f"{chr(97 + topic)}word{chr(97 + k)}" for k in range(30) for topic in range(n_topics)]
    names = words[:n_topics] + random.permutation(words[n_topics:]).tolist()
    topic = np.array([ord(name[0]) - 97 for name in names])
    lit = (topic[:, None] == topic) & (random.random((len(names), len(names))) < 0.5)
    matrix = np.where(lit, random.integers(20, 90, lit.shape), random.integers(-100, -90, lit.shape))
    if with_function_words:
        matrix[:n_topics] = random.integers(-60, -50, (n_topics, len(names)))
    return WordVectors(matrix.astype(np.int16), names, names)


def test_clusters_are_named_by_words_that_tell_of_them() -> None:
    vectors = topics(7)
    found = full_map(vectors, lambda *_: None)
    named = [cluster for cluster in found.named if cluster.colour < layout.N_COLOURS]
    assert 5 <= len(named) <= 7
    for number, cluster in enumerate(named):
        members = {vectors.index_to_key[row][0] for row in np.flatnonzero(found.clusters == number)}
        first = [word[0] for word in cluster.name.split(", ")]
        assert set(first) <= members, "a caption names words that are there"
        assert len(set(first)) == 1
        assert not set(cluster.name.split(", ")) & set(vectors.index_to_key[:8]), "words about everything"
        assert -1 <= cluster.x <= 1


def test_clusters_whose_words_share_nothing_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = topics(8)
    topic = np.array([word[0] == "a" for word in vectors.index_to_key])
    groups = np.where(topic, 3, np.random.default_rng(1).integers(0, 3, len(vectors)))
    assert [bool(name) for name in layout._cluster_names(vectors, groups, 4)] == [False, False, False, True]
    monkeypatch.setattr(layout, "grouped", lambda *_: (groups, None))
    found = first_map(vectors)
    assert [cluster.name[0] for cluster in found.named] == ["a", "w"]
    assert found.named[1].name == "words of many topics"
    assert found.named[1].colour == layout.N_COLOURS
    assert (found.clusters == np.where(topic, 0, 1)).all()


def test_a_caption_is_where_most_words_of_its_cluster_are() -> None:
    points = np.array([[0.5, 0.5]] * 6 + [[0.52, 0.48]] * 5 + [[-0.9, -0.9]] * 9, dtype=np.float32)
    assert layout._densest(points).tolist() == pytest.approx([0.5, 0.5])
    for corner in ([1.0, 1.0], [-1.0, 1.0]):
        assert layout._densest(np.array([corner] * 3, dtype=np.float32)).tolist() == corner


def test_neighbouring_clusters_have_different_colours() -> None:
    places = np.array([[x, y] for x in range(6) for y in range(6)], dtype=float)
    colours = np.array(layout._colours(places))
    distance = np.abs(places[:, None] - places).sum(axis=2)
    assert len(set(colours.tolist())) == 7
    assert not ((distance == 1) & (colours[:, None] == colours)).any()


def test_how_true_a_large_map_is_is_measured_by_exact_neighbours(
    many_words: WordVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "_MANY", 50)
    monkeypatch.setattr(layout, "_SAMPLE", 30)
    found = full_map(many_words, lambda *_: None)
    rows = np.linspace(0, 119, 30, dtype=np.intp)
    true = true_neighbours(many_words, rows, 10)
    assert found.mean_kept == pytest.approx(share_kept(true.rows, found.positions, rows).mean())
    assert header_of(found.to_bytes(""))["mean_kept"] == pytest.approx(found.mean_kept)


def test_true_neighbours_of_nameless_vectors_are_those_by_cosine(many_words: WordVectors) -> None:
    dense = WordVectors(many_words.matrix.astype(np.float32), many_words.index_to_key, None)
    found = likely_neighbours(dense, 5)
    expected = dense.similar_by_word("w7", 5, metric="cosine")
    assert [f"w{k}" for k in found.rows[7]] == [word for word, _ in expected]


def test_neighbours_stay_together_and_the_map_is_the_same_every_time(many_words: WordVectors) -> None:
    told: list[str] = []
    found = full_map(many_words, lambda stage, _: told.append(stage))
    distance = np.linalg.norm(found.positions[:, None] - found.positions, axis=2)
    same = np.arange(120)[:, None] % 4 == np.arange(120) % 4
    assert distance[same].mean() < distance[~same].mean() / 2
    assert found.metric == "similarity"
    assert found.kept is not None
    assert found.kept.mean() > 0.3
    assert {"finding neighbours", "arranging the words"} <= set(told)
    again = full_map(many_words, lambda *_: None)
    assert np.array_equal(found.positions, again.positions)


def test_the_map_needs_its_extra(monkeypatch: pytest.MonkeyPatch, many_words: WordVectors) -> None:
    monkeypatch.setitem(sys.modules, "openTSNE", None)
    near = likely_neighbours(many_words, 9)
    with pytest.raises(MissingExtraError, match=r"pip install 'omnitm\[explorer\]'"):
        arranged(near, np.zeros((120, 2), dtype=np.float32))


def test_share_kept_is_one_on_a_perfect_map_and_small_on_a_shuffled_one() -> None:
    positions = np.random.default_rng(2).random((300, 2)).astype(np.float32)
    distance = ((positions[:, None] - positions) ** 2).sum(axis=2)
    true = np.argsort(distance, axis=1)[:, 1:11]
    assert share_kept(true, positions).min() == 1.0
    shuffled = np.random.default_rng(3).permutation(positions)
    assert share_kept(true, shuffled).mean() < 0.15


def test_a_first_map_puts_topics_apart(explainer: Explainer) -> None:
    found = first_map(explainer.vectors)
    assert found.method == "PCA"
    assert np.abs(found.positions).max() == pytest.approx(1.0)
    place = dict(zip(explainer.vectors.index_to_key, found.positions, strict=True))
    near = np.linalg.norm(place["car"] - place["wheel"])
    assert near < np.linalg.norm(place["car"] - place["ship"])


@pytest.mark.parametrize("n_words", [0, 1, 2])
def test_tiny_models_have_maps(n_words: int) -> None:
    names = ["a", "b", "c"]
    vectors = WordVectors(np.arange(3 * n_words, dtype=np.int16).reshape(n_words, 3), names[:n_words], names)
    content = first_map(vectors).to_bytes("x")
    assert header_of(content)["n_words"] == n_words
    assert len(content) == content.index(b"\n") + 1 + 10 * n_words


def test_words_that_are_all_the_same_are_one_group() -> None:
    names = [f"w{k}" for k in range(120)]
    found = first_map(WordVectors(np.zeros((120, 120), dtype=np.int16), names, names))
    assert not found.positions.any()
    assert [cluster.name for cluster in found.named] == ["words of many topics"]


@pytest.mark.parametrize("kind", ["vectors.f32", "vectors.sparse"])
def test_models_of_other_kinds_have_an_identity(tmp_path: Path, kind: str) -> None:
    reals = np.zeros((1, 2), dtype=np.float32 if kind == "vectors.f32" else np.int16)
    record = ModelRecord("ppmi", {"sparse": True}, 0, "0" * 64)
    WordVectors(reals, ["a"], ["a", "b"], training=record).save(tmp_path / "model")
    assert (tmp_path / "model" / kind).exists()
    assert len(vectors_sha256(tmp_path / "model")) == 64
    assert read_map(tmp_path / "model") is None


def test_points_are_aligned_for_the_browser(explainer: Explainer) -> None:
    content = first_map(explainer.vectors).to_bytes("model")
    start = content.index(b"\n") + 1
    assert start % 4 == 0
    values = np.frombuffer(content[start : start + 8 * 23], dtype="<f4").reshape(23, 2)
    assert np.array_equal(values, first_map(explainer.vectors).positions)


@pytest.fixture
def own_copy(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    without = shutil.ignore_patterns("map.bin")
    return Path(shutil.copytree(folder, tmp_path / "model", ignore=without))


def some_map(model: Path) -> bytes:
    n_words = len(WordVectors.load(model))
    positions = np.linspace(-1, 1, 2 * n_words, dtype=np.float32).reshape(n_words, 2)
    clusters = np.zeros(n_words, dtype=np.uint8)
    kept = np.linspace(0, 1, n_words, dtype=np.float32)
    return VocabularyMap(positions, kept, clusters, [Cluster("all", 0.0, 0.0, 0)], "t-SNE").to_bytes(
        vectors_sha256(model)
    )


def test_a_stored_map_is_read_back_and_a_damaged_or_foreign_one_is_not(own_copy: Path) -> None:
    content = some_map(own_copy)
    assert write_map(own_copy, content) == own_copy / "map.bin"
    assert read_map(own_copy) == content
    stored = (own_copy / "map.bin").read_bytes()
    for bad in (
        stored[:-1], stored + b"x", b"", b"{}", b"[" * 100_000 + b"\n", content,
        stored[:-5] + bytes([stored[-5] ^ 1]) + stored[-4:],
    ):  # fmt: skip
        (own_copy / "map.bin").write_bytes(bad)
        with pytest.warns(OmniTMWarning, match=r"map\.bin: is damaged.*; the map is made again"):
            assert read_map(own_copy) is None
    write_map(own_copy, content.replace(vectors_sha256(own_copy).encode(), b"0" * 64))
    assert read_map(own_copy) is None


@pytest.mark.parametrize("n_flips", [300, pytest.param(20_000, marks=pytest.mark.torture)])
def test_every_flipped_bit_of_a_map_is_noticed(own_copy: Path, n_flips: int) -> None:
    place, random = write_map(own_copy, some_map(own_copy)), np.random.default_rng(n_flips)
    content = bytearray(place.read_bytes())
    for bit in random.choice(8 * len(content), min(n_flips, 8 * len(content)), replace=False).tolist():
        content[bit // 8] ^= 1 << bit % 8
        place.write_bytes(content)
        with pytest.warns(OmniTMWarning, match=r"map\.bin: is damaged"):
            assert read_map(own_copy) is None, bit
        content[bit // 8] ^= 1 << bit % 8


def test_a_map_goes_to_the_cache_when_the_model_cannot_be_written(own_copy: Path) -> None:
    (own_copy / "map.bin").mkdir()  # nothing can take its place
    place = write_map(own_copy, some_map(own_copy))
    assert place == map_places(own_copy)[1]
    assert read_map(own_copy) == some_map(own_copy)


def test_the_full_map_is_computed_once_in_a_process_of_its_own(own_copy: Path) -> None:
    app = create_app(Explainer.open(own_copy))
    with TestClient(app, base_url="http://localhost") as client:
        assert client.get("/api/map").json()["method"] is None
        assert header_of(client.get("/api/map/points").content)["method"] == "PCA"
        assert client.post("/api/map", json={}).json()["work"]["problem"] == ""
        assert app.state.maps._work.wait(600)
        assert client.get("/api/map").json() == {"method": "t-SNE", "can_compute": True, "work": None}
        header = header_of(client.get("/api/map/points").content)
    assert header["method"] == "t-SNE"
    assert 0 < header["mean_kept"] <= 1
    assert 3 <= len(header["clusters"]) <= 7
    words = client.get("/api/map/words").json()
    assert sorted(words["order"]) == list(range(23))


def test_a_map_that_fails_says_why(tmp_path: Path) -> None:
    work = MapWork(tmp_path / "nothing")
    assert work.wait(600)
    assert "does not exist" in work.problem


def test_work_can_be_stopped(own_copy: Path) -> None:
    work = MapWork(own_copy)
    work.stop()
    assert work.ended
    assert "could not be computed" in work.state()["problem"]


def test_a_model_in_memory_has_no_place_for_a_map(explainer: Explainer) -> None:
    keeper = MapKeeper(Explainer(explainer.vectors, explainer.index))
    assert keeper.state()["can_compute"] is False
    with pytest.raises(ParameterError, match="A model in memory or in one file has no place for a map"):
        keeper.start()


def test_a_packed_model_shows_a_first_map(own_copy: Path, tmp_path: Path) -> None:
    pack_model(own_copy, tmp_path / "model.omnitm")
    keeper = MapKeeper(Explainer.open(tmp_path / "model.omnitm"))
    assert not keeper.state()["can_compute"]
    assert header_of(keeper.points())["method"] == "PCA"
    with pytest.raises(ParameterError, match="`omnitm unpack` it"):
        keeper.start()
