"""What is computed once of a model, and the numbers of its recipe."""

from __future__ import annotations

import numpy as np
import pytest

from omnitm import _native
from omnitm.similarity import profiles, question, row_profile, truncated_svd, word_forms
from omnitm.similarity.profiles import RECIPE, _random_pairs, _shares_to_keep, best_known
from omnitm.similarity.row_profile import baseline_of, gain_of, unit, unit_rows
from omnitm.vectors import WordVectors


def test_no_words_have_no_profiles() -> None:
    none = np.zeros(0, np.intp)
    found = row_profile.RowProfile.of(np.zeros((0, 3), np.int16), None, none, none, profiles.PLACE)
    assert (found.mean.tolist(), found.smooth.shape, found.starts.tolist()) == ([0, 0, 0], (0, 0), [0])
    assert found.products(np.ones(3, np.float32)).tolist() == []


def test_small_pieces() -> None:
    assert baseline_of(np.array([3.2, 2.9, 7.0, 8.0, 7.4, 7.1])) == 7
    assert gain_of(np.array([0, -1, -4, 50])).tolist() == pytest.approx([0.01, 1.0, 0.25, 0.02])
    assert unit(np.array([3, 4])).tolist() == pytest.approx([0.6, 0.8])
    assert unit(np.zeros(2)).tolist() == [0, 0]
    assert unit_rows(np.array([[0, 2], [0, 0]])).tolist() == [[0, 1], [0, 0]]


def test_random_pairs_are_all_pairs_or_a_fixed_draw() -> None:
    first, second = _random_pairs(np.array([4, 6, 9]))
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == [(4, 6), (4, 9), (6, 9)]
    assert len(_random_pairs(np.arange(316))[0]) == 316 * 315 // 2  # the last that are all of them
    first, second = _random_pairs(np.arange(1000, 1317))
    assert 49_700 < len(first) < 50_000
    assert (first != second).all()
    drawn = np.random.default_rng(0).integers(0, 317, size=(2, 50_000))
    assert first[:99].tolist() == (1000 + drawn[0][drawn[0] != drawn[1]])[:99].tolist()
    assert second[-9:].tolist() == (1000 + drawn[1][drawn[0] != drawn[1]])[-9:].tolist()
    assert {int(first.min()), int(first.max())} == {1000, 1316}


def test_strengths_add_the_strongest_features(vectors: WordVectors) -> None:
    topic = vectors.profiles.topic
    rows = np.array([3, 0, 40])
    profiles_of_rows = [np.sort(topic.of_row(row))[::-1] for row in rows.tolist()]
    for count in (1, 4):
        # Profiles are stored at length 1, in 65,535 steps, and their lengths beside them.
        sums = np.array([of_row[:count].sum() for of_row in profiles_of_rows])
        assert topic.strengths(rows, count) == pytest.approx(65_535 * topic.lengths[rows] * sums, rel=1e-4)


def test_shares_are_finer_where_pairs_are_nearer() -> None:
    shares = _shares_to_keep(1000)
    assert len(shares) == 250
    assert shares[:90] == pytest.approx(np.arange(90) / 100)
    assert shares[90] == pytest.approx(0.9)
    assert shares[-1] == pytest.approx(0.999)
    assert (1 - shares[91:]) / (1 - shares[90:-1]) == pytest.approx([0.01 ** (1 / 159)] * 159)
    assert _shares_to_keep(3)[-1] == pytest.approx(0.9)


def test_the_best_known_words_come_first_in_the_vocabulary(
    vectors: WordVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = vectors.feature_names
    shuffled = [names[k] for k in (3, 0, 2, 1)]
    few = WordVectors(vectors.matrix[[3, 0, 2, 1]], shuffled, names)
    monkeypatch.setattr(profiles, "_BEST_KNOWN", 2)
    assert best_known(few).tolist() == [1, 3]


def test_patterns_are_found_from_the_words_that_are_named() -> None:
    """120 words, each of one of two halves of the features; patterns of the first 60 know one half only."""
    random = np.random.default_rng(0)
    matrix = np.zeros((120, 40), np.int16)
    matrix[:60, :20], matrix[60:, 20:] = random.integers(0, 99, (2, 60, 20))
    words = np.arange(120)
    for patterned, is_known in (
        (words[:60], [True, False]),
        (words[60:], [False, True]),
        (words, [True, True]),
    ):
        found = row_profile.RowProfile.of(matrix, None, words, patterned, profiles.PLACE)
        halves = np.abs(found.projection).reshape(2, -1).max(axis=1)
        assert (halves > 0.01).tolist() == is_known


@pytest.mark.parametrize(("n_words", "n_patterns"), [(99, 0), (100, 10)])
def test_a_hundred_words_have_common_patterns(n_words: int, n_patterns: int) -> None:
    matrix = np.random.default_rng(0).integers(-90, 90, size=(n_words, 40)).astype(np.int16)
    known = np.arange(n_words)
    found = row_profile.RowProfile.of(matrix, None, known, known, profiles.PLACE)
    assert found.smooth.shape == (n_words, n_patterns)


def test_numbers_of_the_recipe() -> None:
    """Whoever changes one of them raises RECIPE: what other numbers have made is no longer read."""
    numbers = {
        name: value
        for module in (question, profiles, row_profile, word_forms, truncated_svd)
        for name, value in vars(module).items()
        if name.isupper() and type(value) in {int, float}
    }
    assert (RECIPE, numbers) == (
        16,
        {
            "RECIPE": 16,
            "FIRST_OF_PLACE": 3,
            "CLEARLY_ALIKE": 50.0,
            "_MOST_EMPHASIS": 2.0,
            "_FLOOR": 0.1,
            "_MOST_ASSOCIATION": 5.0,
            "_BEST_KNOWN": 8000,
            "PATTERNED": 16_000,
            "_FLOOR_OF_SHARES": 0.1,
            "LESS_TRUST": 0.25,
            "_NEAREST": 8,
            "LEAST_CLOSENESS": 0.6,
            "MOST_UNITS": 1 / 0.6,
            "_RANDOM_PAIRS": 50_000,
            "_PAIRS_AT_A_TIME": 2000,
            "LARGEST_CODE": 127.0,
            "_CODED_AT_ONCE": 500,
            "FEWEST_WORDS": 100,
            "_WORDS_PER_DIMENSION": 10,
            "_USUAL_BASELINE": 100.0,
            "_SMALLEST_DEVIATION": 1e-6,
            "_NEVER": pytest.approx(3.4028235e38),
            "_STEPS": 65_535,
            "FORM_WEIGHT": 0.5,
            "PATTERNS_FOR_FORMS": 300,
            "SAME_THING": 0.3,
            "MOST_FORMS": 5,
            "_OF_MEDIAN": 0.45,
            "_RANDOM_SHARE": 0.97,
            "_SHORTEST_STEM": 3,
            "_LONGEST_ENDING": 4,
            "_SHORTEST_AFTER_DOUBLED": 2,
            "_LEAST_SHARE": 0.5,
            "_LARGE_SHARE": 0.6,
            "_SAME_BY_WEAK_RULE": 0.35,
            "_SAME_OF_SHORT": 0.5,
            "_FEWEST_PAIRS": 10,
            "_WORDS_PER_PAIR": 1500,
            "_OVERSAMPLING": 60,
            "_ROUNDS": 3,
            "_SHORT": 1000,  # no recipe of its own: what sketches of short matrices gave is still read
            "_LEAST_SQUARE": 1e-6,
        },
    )
    assert row_profile.Recipe(stands_out=1.0, power=0.25, n_patterns=800) == profiles.TOPIC
    assert row_profile.Recipe(stands_out=0.5, power=0.0, n_patterns=1_000) == profiles.PLACE


def test_closeness_is_about_the_second_to_eighth_nearest_of_the_best_known_words() -> None:
    """Eleven words in a fan of angles; the first nine are known."""
    angles = np.array([0, 0.1, 0.15, 0.3, 0.5, 0.55, 0.8, 1.2, 1.5, 0.2, 3.0])
    rows = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    known = np.arange(9)
    means = []
    for word in range(11):
        others = np.sort(np.cos(angles[known[known != word]] - angles[word]))
        means.append(others[-8:-1].mean())
    expected = np.maximum(np.array(means) / np.median(np.array(means)[known]), 0.6)
    codes, step = profiles.coded(rows)
    assert step == pytest.approx(1 / 127)
    assert profiles.closeness_of(codes, known) == pytest.approx(expected, rel=0.02)
    assert expected[10] == 0.6  # far from all others
    assert profiles.closeness_of(codes, known[:8]).tolist() == [1.0] * 11  # too few to compare with
    assert profiles.closeness_of(codes[:, :0], known).tolist() == [1.0] * 11
    assert profiles.closeness_of(np.eye(11, dtype=np.int8), known).tolist() == [1.0] * 11  # nothing is usual


@pytest.mark.parametrize("portable", [False, True])
@pytest.mark.parametrize(
    ("n_rows", "n_queries", "n_columns"),
    [(1, 1, 1), (2, 4, 31), (3, 5, 32), (4, 8, 33), (7, 9, 500), (2, 3, 0), (0, 2, 5), (3, 0, 5)],
)
def test_products_of_codes_are_exact(portable: bool, n_rows: int, n_queries: int, n_columns: int) -> None:
    """Whole numbers, so processors agree: also where all codes are the lowest or the highest."""
    random = np.random.default_rng(n_rows)
    low, high = (np.full((n_rows, n_columns), code) for code in (-128, 127))
    for rows in (random.integers(-128, 128, (n_rows, n_columns)), low, high):
        queries = random.choice([-128, 127, 3], (n_queries, n_columns))
        products = np.full((n_queries, n_rows), 9, np.int32)
        _native.code_products(rows.astype(np.int8), queries.astype(np.int8), products, portable=portable)
        assert np.array_equal(products, queries @ rows.T)


def test_modes_of_awkward_rows() -> None:
    matrix = np.array([[5, 5, -32768, 32767], [3, 1, 1, 3], [7, 8, 9, 10]], dtype=np.int16)
    modes = np.empty(3, np.int16)
    _native.row_modes(matrix, modes)
    assert modes.tolist() == [5, 1, 7]
    empty = np.zeros((2, 0), dtype=np.int16)
    _native.row_modes(empty, modes[:2])
    assert modes[:2].tolist() == [0, 0]


def test_native_checks() -> None:
    matrix = np.zeros((2, 3), dtype=np.int16)
    gain, own = np.ones(2, np.float32), np.array([0, 1], np.int32)
    baseline = np.zeros(2, np.int16)
    with pytest.raises(ValueError, match="place per row"):
        _native.row_modes(matrix, np.zeros(3, np.int16))
    with pytest.raises(ValueError, match="baseline, gain and own"):
        _native.ScaledRows(matrix, baseline[:1], gain, own)
    with pytest.raises(ValueError, match="column that is not there"):
        _native.ScaledRows(matrix, baseline, gain, np.array([0, 3], np.int32))
    rows = _native.ScaledRows(matrix, baseline, gain, own)
    with pytest.raises(ValueError, match="number per column"):
        rows.moments(np.zeros(2), np.zeros(3))
    with pytest.raises(ValueError, match="`counts` must have"):
        rows.count_above(np.zeros(3, np.float32), np.zeros(1, np.int64))
    limits = np.zeros(3, np.float32)
    with pytest.raises(ValueError, match="`starts` must come from"):
        rows.excess_above(limits, limits, np.array([0, 0, 2]), np.zeros(1, np.int32), np.zeros(1, np.float32))


def test_native_checks_of_products() -> None:
    starts, columns, values = np.array([0, 1]), np.array([0], np.uint32), np.array([3], np.uint16)
    row, query, product = np.zeros(1, np.int64), np.full(1, 2, np.float32), np.zeros(1, np.float32)
    _native.profile_products(starts, columns, values, row, query, product)
    assert product[0] == 6
    with pytest.raises(ValueError, match="no such row"):
        _native.profile_products(starts, columns, values, row + 1, query, product)
    with pytest.raises(ValueError, match="no such column"):
        _native.profile_products(starts, columns + np.uint32(1), values, row, query, product)
    with pytest.raises(ValueError, match="leads out"):
        _native.profile_products(np.array([0, 2]), columns, values, row, query, product)
    with pytest.raises(ValueError, match="every column needs a value"):
        _native.profile_products(starts, columns, values[:0], row, query, product)
    with pytest.raises(ValueError, match="place for its product"):
        _native.profile_products(starts, columns, values, row, query, product[:0])
    with pytest.raises(ValueError, match="no such column"):
        _native.profile_products(starts, columns, values, row, query[:0], product)
    total = np.array([1, 2], np.float32)
    _native.add_profiles(starts, columns, values, row, query, total)
    assert total.tolist() == [7, 2]
    with pytest.raises(ValueError, match="no such column"):
        _native.add_profiles(starts, columns + np.uint32(2), values, row, query, total)
    with pytest.raises(ValueError, match="needs a weight"):
        _native.add_profiles(starts, columns, values, row, query[:0], total)
    dense, chosen = np.array([[1, 2], [3, 4]], np.float32), np.zeros(3, np.float32)
    _native.chosen_products(dense, np.array([1, 0, 1]), np.array([10, 1], np.float32), chosen)
    assert chosen.tolist() == [34, 12, 34]
    with pytest.raises(ValueError, match="no such row"):
        _native.chosen_products(dense, np.array([1, 0, 2]), np.array([10, 1], np.float32), chosen)
    with pytest.raises(ValueError, match="number per column"):
        _native.chosen_products(dense, np.array([1, 0, 1]), np.ones(3, np.float32), chosen)
    with pytest.raises(ValueError, match="place for its product"):
        _native.chosen_products(dense, np.array([1, 0]), np.ones(2, np.float32), chosen)
    codes, products = np.array([[3, -128], [127, 5]], np.int8), np.zeros((3, 2), np.int32)
    queries = np.array([[-128, 127], [0, 1], [-128, -128]], np.int8)
    _native.code_products(codes, queries, products)
    assert np.array_equal(products, queries.astype(int) @ codes.T.astype(int))
    with pytest.raises(ValueError, match="number per column"):
        _native.code_products(codes, np.zeros((3, 3), np.int8), products)
    for wrong in (products[:2], np.zeros((3, 1), np.int32)):
        with pytest.raises(ValueError, match="place for their product"):
            _native.code_products(codes, queries, wrong)
