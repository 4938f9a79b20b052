"""Themes: patterns that were put in are found, kept, named, and describe words and texts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.sparse import csr_matrix

from omnitm import OmniVectorizer, WordVectors
from omnitm.cli import main
from omnitm.errors import OmniTMWarning, ParameterError
from omnitm.similarity import nonnegative
from omnitm.similarity.nonnegative import common_patterns, nonnegative_start, pattern_weights
from omnitm.similarity.truncated_svd import Decomposition, truncated_svd
from omnitm.store import ModelRecord
from omnitm.vectors import themes as themes_module
from omnitm.vectors.named_rows import PlaceVectors

if TYPE_CHECKING:
    from pathlib import Path

TOPICS, PER_TOPIC = ("rail", "ship", "bird"), 40
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = [f"{topic}{LETTERS[k // 26]}{LETTERS[k % 26]}q" for k in range(PER_TOPIC) for topic in TOPICS]
RECORD = ModelRecord("made", {}, 0, "0" * 64)


def made_vectors(n_words: int = len(WORDS), record: ModelRecord | None = RECORD) -> WordVectors:
    """Integers: words lean on random words of their own topic; word k is of topic k % 3."""
    random = np.random.default_rng(3)
    same = np.arange(len(WORDS))[:, None] % 3 == np.arange(len(WORDS)) % 3
    leaned_on = same & (random.random(same.shape) < 0.5)
    matrix = np.where(leaned_on, random.integers(-80, 0, same.shape), -100)
    return WordVectors(matrix[:n_words].astype(np.int16), WORDS[:n_words], WORDS, training=record)


@pytest.fixture(scope="module")
def vectors() -> WordVectors:
    return made_vectors()


@pytest.fixture
def model(vectors: WordVectors, tmp_path: Path) -> Path:
    vectors.save(tmp_path / "model")
    return tmp_path / "model"


def planted(seed: int = 0) -> tuple[Any, Any, Any]:
    """A matrix that is exactly a product of two non-negative factors with one pattern per row and column."""
    random = np.random.default_rng(seed)
    weights = np.zeros((30, 3), dtype=np.float32)
    weights[np.arange(30), np.arange(30) % 3] = random.uniform(1, 2, 30)
    patterns = np.zeros((12, 3), dtype=np.float32)
    patterns[np.arange(12), np.arange(12) // 4] = random.uniform(1, 2, 12)
    patterns /= np.linalg.norm(patterns, axis=0)
    return csr_matrix(weights @ patterns.T), weights, patterns


def test_planted_patterns_are_found_in_the_order_of_their_use() -> None:
    matrix, weights, patterns = planted()
    found = common_patterns(matrix, 3)
    order = np.argsort(-weights.sum(axis=0))
    assert np.allclose(found, patterns[:, order], atol=1e-4)
    assert np.allclose(pattern_weights(matrix, found), weights[:, order], atol=1e-4)


def test_patterns_that_are_not_there_are_left_out() -> None:
    matrix = csr_matrix(np.outer([1, 2, 3, 0], [1, 0, 2]).astype(np.float32))
    found = common_patterns(matrix, 3)
    assert np.allclose(pattern_weights(matrix, found) @ found.T, matrix.toarray(), atol=1e-4)
    assert common_patterns(csr_matrix((4, 3), dtype=np.float32), 2).shape == (3, 0)


def test_weights_are_those_of_nonnegative_least_squares() -> None:
    random = np.random.default_rng(1)
    matrix = random.standard_normal((50, 20)).astype(np.float32)
    patterns = (random.random((20, 4)) ** 4).astype(np.float32)
    expected = np.array([nnls(patterns, row)[0] for row in matrix])
    assert (expected == 0).any()
    assert np.allclose(pattern_weights(csr_matrix(matrix), patterns), expected, atol=1e-3)


def test_the_start_takes_the_heavier_half_of_each_singular_vector() -> None:
    matrix = np.array([[3, 0, 1], [0, 2, 0], [1, 0, 3]], dtype=np.float32)
    found = truncated_svd(matrix, 3)
    for half in nonnegative_start(found):
        assert half.min() >= 0
        assert (np.linalg.norm(half, axis=0) > 0).all()
    left, right = np.array([[0.6, -0.8, 0]]).T, np.array([[0.8, -0.6, 0]]).T  # equal halves: the positive one
    weights, patterns = nonnegative_start(Decomposition(left, np.array([5.0]), right))
    assert weights[:, 0] == pytest.approx(np.sqrt(5 * 0.6 * 0.8) * np.array([1, 0, 0]))
    assert patterns[:, 0] == pytest.approx(np.sqrt(5 * 0.6 * 0.8) * np.array([1, 0, 0]))
    right = np.array([[0.6, -0.48, -0.64]]).T
    weights, patterns = nonnegative_start(Decomposition(left, np.array([5.0]), right))
    scale = np.sqrt(5 * 0.8 * 0.8)
    assert weights[:, 0] == pytest.approx(scale * np.array([0, 1, 0]))
    assert patterns[:, 0] == pytest.approx(scale * np.array([0, 0.6, 0.8]))


def test_numbers_of_the_recipe() -> None:
    """Whoever changes one of them raises RECIPE: themes that other numbers have made are found again."""
    assert (themes_module.RECIPE, nonnegative.N_ROUNDS, nonnegative._SWEEPS) == (6, 150, 10)
    chosen = (themes_module._OF_PLACES, themes_module._COUNTS, themes_module._OF_LIKE_WORDS)
    assert (*chosen, themes_module._KNOWN_FIRST) == pytest.approx((0.3, 0.5, 6, 0.2))
    assert themes_module._FOUND_IN == 6_000


def dense_nearness(vectors: WordVectors, cosines: Any) -> Any:
    """Both shares, times what two words have in common, over the root of a row's length."""
    shares = vectors.profiles.topic.by_word().toarray() ** 2
    found = (shares + shares.T) * cosines
    return found / np.sqrt(np.linalg.norm(found, axis=1, keepdims=True))


def with_places() -> WordVectors:
    """The same words, with places of their own: word k stands where others of its half of the words do."""
    random = np.random.default_rng(5)
    half = np.arange(len(WORDS)) * 2 // len(WORDS)
    leaned_on = (half[:, None] == half) & (random.random((len(WORDS), len(WORDS))) < 0.5)
    matrix = np.where(leaned_on, random.integers(-80, 0, leaned_on.shape), -100).astype(np.int16)
    topic = made_vectors()
    place = PlaceVectors(matrix, [f"{word} _" for word in WORDS])
    return WordVectors(topic.matrix, WORDS, WORDS, place=place)


@pytest.mark.parametrize("at_once", [7, 512])
def test_nearness_counts_where_smoothed_profiles_are_alike(
    monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(themes_module, "_COSINES_AT_ONCE", at_once)
    rows = np.arange(len(WORDS))
    vectors = with_places()
    profiles = vectors.profiles
    assert profiles.place is not None
    parts = ((0.7, profiles.topic.smooth), (0.3, profiles.place.smooth))
    assert all(smooth.shape[1] for _, smooth in parts)
    cosines = np.maximum(sum(share * smooth @ smooth.T for share, smooth in parts), 0)
    assert (cosines == 0).any()
    found = themes_module.Nearness(vectors, rows).of_rows(rows)
    assert np.allclose(found.toarray(), dense_nearness(vectors, cosines), atol=1e-5)
    some = np.array([3, 50, 7])
    nearness = themes_module.Nearness(vectors, rows)
    assert np.allclose(nearness.of_rows(some).toarray(), found[some].toarray(), atol=1e-6)
    patterns = common_patterns(found, 3)
    own = pattern_weights(found, patterns)
    expected, counts = own, cosines**1.5 / (cosines**1.5).sum(axis=1, keepdims=True)
    for _ in range(2):
        before = expected
        expected = before + 6 * np.maximum(counts @ before - before.mean(axis=0), 0)
        assert np.abs(expected - before).max() > 0.1
    weights = themes_module.weights_of_rows(nearness, patterns, some, rows)
    assert np.allclose(weights, expected[some], atol=1e-4)


def test_themes_are_found_in_the_most_frequent_words(
    vectors: WordVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(themes_module, "_FOUND_IN", 40)
    patterns = themes_module.theme_patterns(vectors, 2)
    used = np.flatnonzero(patterns.any(axis=1))
    assert len(used) > 0
    assert used.max() < 40
    assert len(themes_module.theme_weights(vectors, patterns)) == len(vectors)


def test_few_words_have_no_smoothed_profiles() -> None:
    vectors = WordVectors(made_vectors().matrix[:30, :30], WORDS[:30], WORDS[:30])
    rows = np.arange(30)
    assert vectors.profiles.topic.smooth.shape[1] == 0
    found = themes_module.Nearness(vectors, rows).of_rows(rows)
    assert np.allclose(found.toarray(), dense_nearness(vectors, 1), atol=1e-5)
    assert not themes_module.Nearness(vectors, rows).means(rows, np.ones((30, 2), np.float32)).any()


def test_well_known_words_come_first(vectors: WordVectors) -> None:
    weights = np.ones((len(WORDS), 1), dtype=np.float32)
    weights[10] = 2
    themes = themes_module.Themes(vectors, np.ones((len(WORDS), 1), np.float32), weights)
    found = themes.words(0, 4)
    assert [word for word, _ in found] == [WORDS[10], WORDS[0], WORDS[1], WORDS[2]]
    assert [value for _, value in found] == pytest.approx([2 * 11**-0.2, 1, 2**-0.2, 3**-0.2])
    assert themes.best_words(0, 1)[0][0] == WORDS[10]


def test_each_topic_is_a_theme(vectors: WordVectors) -> None:
    themes = vectors.themes(3)
    assert len(themes) == 3
    for theme in range(3):
        topics = {word[:4] for word, _ in themes.words(theme, 20)}
        assert len(topics) == 1
        assert {name[:4] for name, _ in themes.features(theme, 20)} == topics
        assert {word[:4] for word in themes.name(theme).split()} == topics
    assert themes.shares.sum() == pytest.approx(1)
    assert (np.diff(themes.weights.sum(axis=0)) <= 1e-3).all()
    assert repr(themes) == "Themes(3 of 120 words)"


def test_themes_are_a_table(vectors: WordVectors) -> None:
    themes = vectors.themes(3)
    caption, head, *rows = str(themes).splitlines()
    assert caption == "3 themes of 120 words"
    assert head.split() == ["theme", "share", "words", "features"]
    assert len(rows) == 3
    assert themes.to_frame()["words"][0].split(", ")[0] == themes.best_words(0, 1)[0][0]
    assert themes._repr_html_().count("<tr>") == 4


def test_words_and_texts_have_shares_of_themes(vectors: WordVectors) -> None:
    themes = vectors.themes(3)
    for k, topic in enumerate(TOPICS):
        found = themes.of_word(WORDS[k])
        assert themes.words(found[0][0], 1)[0][0].startswith(topic)
        assert found[0][1] > 0.9
        assert sum(share for _, share in found) == pytest.approx(1)
    mixed = themes.of_text([WORDS[0], WORDS[3], WORDS[1]])
    assert themes.of_word(WORDS[0])[0][0] == mixed[0][0]
    assert 0.5 < mixed[0][1] < 0.8
    assert themes.of_text("nothing known") == []
    assert themes.of_word(WORDS[0], n=1) == themes.of_word(WORDS[0])[:1]


def test_names_differ(vectors: WordVectors) -> None:
    names = vectors.themes(12).names
    assert len({*names}) == len(names) == 12
    weights = np.ones((len(WORDS), 3), dtype=np.float32)
    alike = themes_module.Themes(vectors, np.ones((len(WORDS), 3), np.float32), weights)
    assert len({*alike.names}) == 3
    assert alike.names[1].startswith(alike.names[0])


def test_the_usual_number_of_themes_is_that_of_small_models_too(vectors: WordVectors) -> None:
    assert len(vectors.themes()) == len(WORDS) // 10


@pytest.mark.parametrize("k", [0, 121, 2.5])
def test_a_number_of_themes_that_cannot_be_is_refused(vectors: WordVectors, k: Any) -> None:
    with pytest.raises(ParameterError, match="'k' parameter of themes must be"):
        vectors.themes(k)


def test_vectors_without_words_as_columns_have_no_themes() -> None:
    reals = WordVectors(np.eye(2, dtype=np.float32), ["road", "sea"], None)
    with pytest.raises(ParameterError, match="Only integer vectors with named features have themes"):
        reals.themes(1)


def test_a_theme_that_is_not_there_is_refused(vectors: WordVectors) -> None:
    with pytest.raises(ParameterError, match="'theme' parameter of Themes must be"):
        vectors.themes(3).name(3)


def counted(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Count how often patterns are found and words are described."""
    from omnitm.vectors import themes

    calls = {"theme_patterns": 0, "theme_weights": 0}
    for name in calls:
        function = getattr(themes, name)

        def called(*given: Any, name: str = name, function: Any = function) -> Any:
            calls[name] += 1
            return function(*given)

        monkeypatch.setattr(themes, name, called)
    return calls


def test_themes_are_kept_beside_the_model(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counted(monkeypatch)
    first = WordVectors.load(model).themes(3)
    second = WordVectors.load(model).themes(3)
    assert calls == {"theme_patterns": 1, "theme_weights": 1}
    assert np.array_equal(first.weights, second.weights)
    assert np.array_equal(first.patterns, second.patterns)
    content = (model / "themes-3.bin").read_bytes()
    (model / "themes-3.bin").unlink()
    WordVectors.load(model).themes(3)
    assert (model / "themes-3.bin").read_bytes() == content


def test_damaged_themes_are_made_again(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    WordVectors.load(model).themes(3)
    content = bytearray((model / "themes-3.bin").read_bytes())
    content[len(content) // 2] ^= 4
    (model / "themes-3.bin").write_bytes(content)
    calls = counted(monkeypatch)
    with pytest.warns(OmniTMWarning, match=r"themes-3\.bin.* is damaged.*; it is made again"):
        WordVectors.load(model).themes(3)
    assert calls == {"theme_patterns": 1, "theme_weights": 1}


def test_a_stop_loses_one_stage(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(stage: str, *_: int) -> None:
        if stage == "describing words":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        WordVectors.load(model).themes(3, progress=stop)
    calls = counted(monkeypatch)
    assert len(WordVectors.load(model).themes(3).weights) == len(WORDS)
    assert calls == {"theme_patterns": 0, "theme_weights": 1}


def test_progress_is_told_before_the_work_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, int]] = []

    def slow(*_: object) -> None:
        assert told == [("finding themes", 0)]
        raise KeyboardInterrupt

    monkeypatch.setattr("omnitm.vectors.themes.Nearness", slow)
    with pytest.raises(KeyboardInterrupt):
        made_vectors().themes(3, progress=lambda stage, done, _: told.append((stage, done)))


def test_later_words_are_described_by_the_same_themes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_vectors(110).save(tmp_path / "model")
    few = WordVectors.load(tmp_path / "model").themes(3)
    patterns = np.array(few.patterns)
    made_vectors().save(tmp_path / "model", force=True)
    calls = counted(monkeypatch)
    all_words = WordVectors.load(tmp_path / "model").themes(3)
    assert calls == {"theme_patterns": 0, "theme_weights": 1}
    assert np.array_equal(all_words.patterns, patterns)
    assert all_words.words(all_words.of_word(WORDS[-1])[0][0], 1)[0][0][:4] == WORDS[-1][:4]


def test_themes_of_another_training_are_made_again(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    WordVectors.load(model).themes(3)
    made_vectors(110, ModelRecord("made", {}, 1, "0" * 64)).save(model, force=True)
    calls = counted(monkeypatch)
    WordVectors.load(model).themes(3)
    assert calls == {"theme_patterns": 1, "theme_weights": 1}


def test_words_are_described_block_by_block(vectors: WordVectors, monkeypatch: pytest.MonkeyPatch) -> None:
    patterns = themes_module.theme_patterns(vectors, 3)
    whole = themes_module.theme_weights(vectors, patterns)
    monkeypatch.setattr(themes_module, "_WORDS_AT_ONCE", 50)
    told: list[tuple[str, int, int]] = []
    parts = themes_module.theme_weights(vectors, patterns, lambda *state: told.append(state))
    assert np.allclose(parts, whole, atol=1e-6)
    assert told == [("describing words", done, 120) for done in (50, 100, 120)]


def test_rounds_are_told(vectors: WordVectors) -> None:
    told: list[tuple[str, int, int]] = []
    themes_module.theme_patterns(vectors, 3, lambda *state: told.append(state))
    rounds = nonnegative.N_ROUNDS
    assert told == [("finding themes", done, rounds) for done in range(rounds + 1)]


def test_theme_vectors_are_word_vectors(vectors: WordVectors, tmp_path: Path) -> None:
    reduced = vectors.reduce(themes=3)
    assert reduced.feature_names == vectors.themes(3).names
    assert np.array_equal(reduced.matrix, vectors.themes(3).weights)
    assert {word[:4] for word, _ in reduced.most_similar(WORDS[0])} == {"rail"}
    reduced.save(tmp_path / "themes")
    loaded = WordVectors.load(tmp_path / "themes")
    assert loaded.feature_names == reduced.feature_names
    assert loaded.default_metric == "cosine"
    loaded.export(tmp_path / "themes.npz", "numpy")
    with np.load(tmp_path / "themes.npz") as found:
        assert any(reduced.feature_names == found[name].tolist() for name in found.files)


def test_reduce_takes_one_of_two(vectors: WordVectors) -> None:
    for options in ({}, {"n_components": 2, "themes": 2}):
        with pytest.raises(ParameterError, match="reduce needs either 'n_components' or 'themes'"):
            vectors.reduce(**options)


def test_documents_have_themes(vectors: WordVectors) -> None:
    vectorizer = OmniVectorizer(vectors, themes=3)
    found = vectorizer.transform([[WORDS[0], WORDS[3]], [WORDS[1]]])
    assert found.shape == (2, 3)
    assert found[0].argmax() == vectors.themes(3).of_word(WORDS[0])[0][0]
    assert vectorizer.get_feature_names_out().tolist() == vectors.themes(3).names
    with pytest.raises(ParameterError, match="OmniVectorizer takes either 'top_k' or 'themes'"):
        OmniVectorizer(vectors, themes=3, top_k=2).transform([[WORDS[0]]])


def run(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    assert main(["themes", *options]) == 0
    return capsys.readouterr().out


def test_the_command_shows_themes(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(run(capsys, str(model), "-k", "3", "--json"))["themes"]
    assert [theme["theme"] for theme in found] == [1, 2, 3]  # as the page counts; Python counts from 0
    assert sum(theme["share"] for theme in found) == pytest.approx(1)
    table = run(capsys, str(model), "-k", "3", "-n", "2")
    assert found[0]["words"][0]["word"] in table
    assert len(table.splitlines()) == 4
    assert [line.split()[0] for line in table.splitlines()[2:]] == ["1", "2"]
    of_word = json.loads(run(capsys, str(model), "-k", "3", "--word", WORDS[0], "--json"))
    assert of_word["word"] == WORDS[0]
    assert of_word["themes"][0]["name"].startswith("rail")
    assert "█" * 30 in run(capsys, str(model), "-k", "3", "--text", f"{WORDS[0]} {WORDS[3]}")


def test_what_cannot_be_shown_is_said(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["themes", str(model), "-k", "3", "--text", "nothing"]) == 2
    assert "--text has no word that the model knows." in capsys.readouterr().err
    assert main(["themes", str(model), "-n", "0"]) == 2
    assert "-n must be at least 1. Got 0 instead." in capsys.readouterr().err
