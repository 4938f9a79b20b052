from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from omnitm.evaluation.correlation import correlations, interval, resamples

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


def test_resamples_are_the_same_as_drawing_pairs() -> None:
    random = np.random.default_rng(3)
    x = random.normal(size=1500)  # more than one block of rows
    y = np.round(x + random.normal(size=1500), 1)
    weights = resamples(1500, 3, seed=1)
    found = correlations(x, y, weights)
    assert (weights.sum(axis=1) == 1500).all()
    for k, weight in enumerate(weights.astype(int)):
        drawn = np.repeat(np.arange(1500), weight)
        assert found.spearman[k] == pytest.approx(spearmanr(x[drawn], y[drawn])[0], abs=1e-6)
        assert found.kendall[k] == pytest.approx(kendalltau(x[drawn], y[drawn])[0], abs=1e-5)
    assert np.array_equal(weights, resamples(1500, 3, seed=1))
    assert not np.array_equal(weights, resamples(1500, 3, seed=2))


def test_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    random = np.random.default_rng(5)
    truth = 6 / np.pi * np.arcsin(0.6 / 2)  # Spearman of a normal pair with correlation 0.6
    hits = 0
    for trial in range(40):
        x = random.normal(size=90)
        y = 0.6 * x + 0.8 * random.normal(size=90)
        found = interval(correlations(x, y, resamples(90, 200, seed=trial)).spearman)
        assert found is not None
        hits += found.low < truth < found.high
    assert 33 <= hits <= 40
    assert interval(np.array([np.nan])) is None
