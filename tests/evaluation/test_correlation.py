from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from omnitm.evaluation.correlation import (
    Interval,
    Judgements,
    correlations,
    draw_counts,
    interval,
    pair_weights,
)

values = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=40)


@given(values)
def test_equals_scipy_with_ties(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array(pairs, dtype=float).T
    found = correlations(x, y)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert np.isnan(found.spearman[0])
        assert np.isnan(found.kendall[0])
    else:
        assert found.spearman[0] == pytest.approx(spearmanr(x, y)[0], abs=1e-9)
        assert found.kendall[0] == pytest.approx(kendalltau(x, y)[0], abs=1e-9)


def drawn_pairs(words: list[int], first: list[int], second: list[int]) -> list[int]:
    """Go through words as they were drawn, and take every pair of two of them: the obvious way."""
    places = {(a, b): k for k, (a, b) in enumerate(zip(first, second, strict=True))}
    found = []
    for one in words:
        if (one, one) in places:
            found.append(places[one, one])
        found += [places[one, other] for other in words if one != other and (one, other) in places]
    return found


def test_a_resample_has_every_pair_of_its_words() -> None:
    random = np.random.default_rng(3)
    codes = random.choice(40 * 40, size=700, replace=False)  # more than one block of rows
    first, second = codes // 40, codes % 40
    assert (first == second).any()
    x = random.normal(size=700)
    y = np.round(x + random.normal(size=700), 1)
    draws = draw_counts(40, 3, seed=1)
    assert draws.shape == (40, 3)
    assert (draws.sum(axis=0) == 40).all()
    found = Judgements(y, pair_weights(draws, first, second)).correlations(x)
    for k in range(3):
        words = np.repeat(np.arange(40), draws[:, k].astype(int)).tolist()
        drawn = drawn_pairs(words, first.tolist(), second.tolist())
        assert len(set(drawn)) < len(drawn)
        assert found.spearman[k] == pytest.approx(spearmanr(x[drawn], y[drawn])[0], abs=1e-9)
        assert found.kendall[k] == pytest.approx(kendalltau(x[drawn], y[drawn])[0], abs=1e-6)


def test_draws_depend_on_seed_and_stream_alone() -> None:
    draws = draw_counts(30, 5, seed=1)
    assert np.array_equal(draws, draw_counts(30, 5, seed=1))
    assert not np.array_equal(draws, draw_counts(30, 5, seed=2))
    assert not np.array_equal(draws, draw_counts(30, 5, seed=1, stream=1))


def test_an_interval_is_the_middle_95_percent() -> None:
    values = np.append(np.arange(1001.0), np.nan)
    assert interval(values) == pytest.approx(Interval(25.0, 975.0))
    assert interval(values, 0.5) == pytest.approx(Interval(250.0, 750.0))
    assert interval(np.array([np.nan])) is None


def test_words_that_matter_widen_the_interval_and_it_covers_the_truth() -> None:
    """Scores and judgements share an effect of each word, as real ones do: pairs are not independent."""
    random = np.random.default_rng(5)
    first, second = np.triu_indices(25, 1)
    hits = {"words": 0, "pairs": 0}
    truth = 0.0  # effects of words in scores and in judgements are independent
    for trial in range(60):
        effects = random.normal(size=(2, 25))
        noise = random.normal(size=(2, len(first)))
        x, y = effects[:, first] + effects[:, second] + noise
        weights = {
            "words": pair_weights(draw_counts(25, 200, seed=trial), first, second),
            "pairs": draw_counts(len(first), 200, seed=trial),
        }
        for name, weight in weights.items():
            found = interval(correlations(x, y, weight).spearman)
            assert found is not None
            hits[name] += found.low < truth < found.high
    assert hits["words"] >= 51
    assert hits["pairs"] <= 45
