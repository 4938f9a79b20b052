"""Draws are numbered, fair, and the same on every machine."""

from __future__ import annotations

import numpy as np
import pytest

from omnitm.machine.draws import Purpose, below, draw, high, literal_coins


def test_any_part_of_a_sequence_can_be_drawn_alone() -> None:
    whole = draw(7, Purpose.DOCUMENT, 0, 100)
    np.testing.assert_array_equal(draw(7, Purpose.DOCUMENT, 40, 20), whole[40:60])


def test_purposes_and_keys_have_sequences_of_their_own() -> None:
    first = {int(draw(key, purpose, 0, 1)[0]) for key in (0, 1, 2**64 - 1) for purpose in Purpose}
    assert len(first) == 3 * len(Purpose)


def test_golden_draws() -> None:
    """Written down once: another value here would change every trained vector."""
    assert [hex(int(x)) for x in draw(1, Purpose.LABEL, 0, 2)] == GOLDEN_LABELS


def test_numbers_below_a_bound_are_even() -> None:
    counts = np.bincount(below(high(draw(3, Purpose.WEIGHT, 0, 60_000)), 6), minlength=6)
    assert (abs(counts - 10_000) < 500).all()


@pytest.mark.parametrize("specificity", [1.0, 1.5, 2.0, 5.0, 1000.0])
def test_literal_coins_have_their_probability(specificity: float) -> None:
    heads = np.mean([literal_coins(5, n, 1_000, round(2**32 / specificity)).mean() for n in range(50)])
    deviation = np.sqrt((1 / specificity) * (1 - 1 / specificity) / 100_000)
    assert abs(heads - 1 / specificity) <= 5 * deviation


def test_literal_coins_of_neighbours_are_independent() -> None:
    coins = np.stack([literal_coins(5, n, 500, 2**31) for n in range(200)]).astype(float)
    correlation = np.corrcoef(coins.T)
    np.fill_diagonal(correlation, 0)
    assert abs(correlation).max() < 0.4
    assert abs(correlation.mean()) < 0.002


GOLDEN_LABELS = ["0x778b1aa9c29bc868", "0x8c9eb4685b1dad7"]
