from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omnitm.cli import main
from omnitm.errors import FileError, ParameterError
from omnitm.evaluation.categories import (
    Categories,
    _Asked,
    cluster_purities,
    distinct_words,
    evaluate_categories,
    is_word_form,
    load_categories,
    neighbour_precision,
    purity,
    read_categories,
    score_rows,
)
from omnitm.store import ModelRecord
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from pathlib import Path

KINDS = {name: tuple(f"{name}{chr(ord('a') + k)}x" for k in range(12)) for name in ("animal", "city", "tool")}
CATEGORIES = Categories("kinds", KINDS, "report")
WORDS = [word for words in KINDS.values() for word in words]


def clusters(noise: float) -> WordVectors:
    """Give the words of a category vectors that differ by noise only."""
    random = np.random.default_rng(0)
    rows = np.repeat(np.eye(3), 12, axis=0) + noise * random.standard_normal((36, 3))
    training = ModelRecord("made", {}, 0, "0" * 64)
    return WordVectors(rows.astype(np.float32), WORDS, None, training=training)


def test_perfect_and_random_vectors() -> None:
    report = evaluate_categories({"good": clusters(0.01), "random": clusters(100)}, [CATEGORIES])
    good, random = report.rows
    assert (good.precision.value, good.precision_in_set.value, good.odd_one_out.value) == (1, 1, 1)
    assert (good.k_means, good.k_means_deviation, good.agglomerative) == (1, 0, 1)
    assert (good.use, good.metric, good.n_words, good.n_asked, good.n_candidates) == (
        "report",
        "cosine",
        36,
        36,
        36,
    )
    assert random.precision.value < 0.5
    assert random.k_means is not None
    assert random.k_means < 0.8
    assert random.difference is not None
    assert random.difference.high is not None
    assert random.difference.value < random.difference.high < -0.3


def test_forms_are_passed_over_and_counted() -> None:
    kinds = {"a": ("king", "queen", "duke"), "b": ("car", "ship", "bus")}
    words = ["king", "kings", "queen", "duke", "car", "ship", "bus"]
    rows = np.array([[1, 0], [1, 0.01], [1, 0.1], [1, 0.2], [0, 1], [0.1, 1], [0.2, 1]], dtype=np.float32)
    vectors = WordVectors(rows, words, None)
    row = evaluate_categories({"m": vectors}, [Categories("own", kinds)], n_resamples=0).rows[0]
    assert row.precision.value == pytest.approx(0.2)  # two of ten places: there are no more words
    assert row.forms.value == pytest.approx(0.1 / 6)  # kings, in the list of king
    assert row.precision.low is None


def test_one_form_of_each_word_is_listed() -> None:
    """Near king are eight nobles with plurals, then car and bus: five of ten words are right, or eight."""
    nobles = ("queen", "duke", "baron", "knight", "count", "prince", "earl", "lord")
    listed = ["king", "kings", *(form for noble in nobles for form in (noble + "s", noble)), "car", "bus"]
    angles = np.linspace(0, 1.5, len(listed))
    rows = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    vectors, kinds = WordVectors(rows, listed, None), {"a": ("king", *nobles), "b": ("car", "bus")}
    row = evaluate_categories({"m": vectors}, [Categories("own", kinds)], most_words=None).rows[0]
    own = neighbours_of("king", vectors, kinds)
    assert own == (0.5, 0.8)  # queens, queen, dukes, duke ...; queen, duke ...
    assert row.precision_distinct.value > row.precision.value
    assert distinct_words([]) == []
    assert distinct_words(["walks", "bus", "walking", "buses", "walk"]) == [
        ["walks", "walking", "walk"],
        ["bus", "buses"],
    ]


def neighbours_of(word: str, vectors: WordVectors, kinds: dict[str, tuple[str, ...]]) -> tuple[float, float]:
    """Precision among words, and among distinct words, of one word."""
    asked = _Asked(Categories("own", kinds), [vectors.key_to_index], None)
    found = asked.measure(vectors.index_to_key, score_rows(vectors, None, asked.words))
    place = asked.words.index(word)
    return float(found.precision[place]), float(found.precision_distinct[place])


def test_all_words_are_candidates_or_those_of_the_set() -> None:
    near = clusters(0.01)
    strangers = tuple(f"stranger{k}" for k in range(12))
    rows = np.vstack([near.matrix, np.repeat(np.eye(3, dtype=np.float32)[:1], 12, axis=0)])
    vectors = WordVectors(rows, [*WORDS, *strangers], None)
    row = evaluate_categories({"m": vectors}, [CATEGORIES]).rows[0]
    assert row.precision_in_set.value == 1
    assert row.precision.value < 0.9


def test_words_of_several_categories_are_not_clustered() -> None:
    kinds = {**KINDS, "rare": KINDS["animal"][:4]}
    row = evaluate_categories({"m": clusters(0.01)}, [Categories("own", kinds)]).rows[0]
    assert row.k_means is row.agglomerative is None
    assert (
        "| - |"
        in evaluate_categories({"m": clusters(0.1)}, [Categories("own", kinds)]).tables()[0].to_markdown()
    )


def test_the_same_words_are_asked_of_all_models() -> None:
    fewer = WordVectors(clusters(0.1).matrix[:30].copy(), WORDS[:30], None)
    report = evaluate_categories({"all": clusters(0.1), "fewer": fewer}, [CATEGORIES], most_words=20)
    assert [(row.n_words, row.n_asked) for row in report.rows] == [(30, 20)] * 2
    assert report.notes == ("kinds (report): 30 of 36 words are known, 20 are asked",)


def test_words_that_only_one_model_knows_are_no_candidates() -> None:
    near = clusters(0.01)
    rows = np.vstack([near.matrix, np.repeat(np.eye(3, dtype=np.float32), 12, axis=0)])
    more = WordVectors(rows, [*WORDS, *(f"other{k}" for k in range(36))], None)
    alone = evaluate_categories({"more": more}, [CATEGORIES]).rows[0]
    beside = evaluate_categories({"near": near, "more": more}, [CATEGORIES]).rows[1]
    assert (alone.n_candidates, beside.n_candidates) == (72, 36)
    assert alone.precision.value < beside.precision.value == 1


def test_scores_of_named_coordinates_equal_those_of_pairs() -> None:
    random = np.random.default_rng(3)
    matrix = random.integers(-9, 9, (4, 6)).astype(np.int16)
    vectors = WordVectors(matrix, ["b", "d", "f", "a"], ["a", "b", "c", "d", "e", "f"])
    for metric in ("association", "association-symmetric", "cosine"):
        rows = list(score_rows(vectors, metric, ["d", "a"]))
        wanted = [[vectors.similarity(w, o, metric=metric) for o in "bdfa"] for w in "da"]
        np.testing.assert_allclose(rows, wanted)
    dense = WordVectors(matrix.astype(np.float32), ["b", "d", "f", "a"], None)
    wanted = [[dense.similarity("d", other) for other in "bdfa"]]
    np.testing.assert_allclose(list(score_rows(dense, None, ["d"])), wanted, rtol=1e-5)


def test_precision_of_any_function() -> None:
    vectors = clusters(0.05)
    found = neighbour_precision(CATEGORIES, WORDS, lambda words: score_rows(vectors, "cosine", words))
    assert found == evaluate_categories({"m": vectors}, [CATEGORIES]).rows[0].precision.value


def test_purity_counts_the_most_frequent_category() -> None:
    assert purity(np.array([0, 0, 1, 1, 1]), np.array([2, 2, 2, 3, 3])) == 0.8
    near = np.array([[1, 0.9, 0, 0], [0.9, 1, 0, 0], [0, 0, 1, 0.8], [0, 0, 0.8, 1]])
    assert cluster_purities(near, ["a", "a", "b", "b"]) == ([1.0] * 5, 1.0)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("king", "king"),
        ("king", "kings"),
        ("drive", "driving"),
        ("city", "cities"),
        ("run", "running"),
        ("wolf", "wolves"),
        ("walks", "walked"),
        ("happy", "happily"),
    ],
)
def test_word_forms(first: str, second: str) -> None:
    assert is_word_form(first, second)
    assert is_word_form(second, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("organ", "orgasm"),
        ("think", "thing"),
        ("car", "cart"),
        ("happy", "happened"),
        ("seven", "several"),
        ("doctor", "doctoral"),
        ("ring", "red"),
        ("us", "uses"),
    ],
)
def test_other_words_are_no_forms(first: str, second: str) -> None:
    assert not is_word_form(first, second)
    assert not is_word_form(second, first)


def test_reading(tmp_path: Path) -> None:
    path = tmp_path / "own.tsv"
    path.write_text("bird\towl\nbird\towl\n\nfish\tcod\nbird\tcod\nfish\t\n")
    found = read_categories(path)
    assert (found.name, found.use, dict(found.members)) == (
        "own",
        "own file",
        {"bird": ("owl", "cod"), "fish": ("cod",)},
    )
    assert found.of_word["cod"] == {"bird", "fish"}
    assert load_categories(path) == found
    (tmp_path / "categories").mkdir()
    (tmp_path / "categories" / "ap.tsv").write_text("a\tx\nb\ty\n")
    assert load_categories("AP", tmp_path).use == "report"


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    path = tmp_path / "own.tsv"
    path.write_text("bird owl\n")
    with pytest.raises(FileError, match="line 1: 'bird owl' names no category and word; expected a category"):
        read_categories(path)
    path.write_text("bird\towl\n")
    with pytest.raises(FileError, match="has 1 categories, but two are needed"):
        read_categories(path)
    with pytest.raises(FileError, match="is a set of pairs, not of categories; use `omnitm evaluate sim"):
        load_categories("RG-65", tmp_path)
    with pytest.raises(ParameterError, match="needs at least one model"):
        evaluate_categories({}, [CATEGORIES])
    with pytest.raises(ParameterError, match="kinds: the models know words of fewer than two"):
        evaluate_categories({"m": WordVectors(np.ones((1, 2), np.float32), ["cod"], None)}, [CATEGORIES])


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clusters(0.05).save(tmp_path / "one")
    clusters(100).save(tmp_path / "two")
    path = tmp_path / "kinds.tsv"
    path.write_text("".join(f"{kind}\t{word}\n" for kind, words in KINDS.items() for word in words))
    command = ["evaluate", "categories", str(tmp_path / "one"), str(tmp_path / "two"), "--sets", str(path)]
    assert main([*command, "--quiet", "--metric", "cosine", "two=cosine", "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["model"] for row in report["rows"]] == ["one", "two"]
    assert report["rows"][0]["precision"]["value"] == 1
    assert main([*command, "--quiet", "--words", "0"]) == 0
    assert "kinds (own file, 36 words)" in capsys.readouterr().out
    assert main([*command, "--quiet", "--metric", "three=cosine"]) == 2
    assert "--metric three=cosine: there is no model 'three', only one, two." in capsys.readouterr().err


def test_tables_have_two_columns_of_names() -> None:
    (table,) = evaluate_categories({"a": clusters(0.1)}, [CATEGORIES]).tables()
    assert table.to_markdown().splitlines()[3] == "| --- | --- " + "| --: " * 8 + "|"


def test_csv_has_a_line_per_row() -> None:
    report = evaluate_categories({"a": clusters(0.1), "b": clusters(0.2)}, [CATEGORIES])
    lines = list(csv.DictReader(report.to_csv().splitlines()))
    assert [line["model"] for line in lines] == ["a", "b"]
    assert float(lines[1]["precision"]) == pytest.approx(report.rows[1].precision.value, abs=1e-6)
    assert lines[0]["difference"] == ""
