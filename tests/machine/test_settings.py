"""Settings are checked one by one, and errors name the parameter."""

from __future__ import annotations

import math
from typing import Any

import pytest

from omnitm.errors import ParameterError
from omnitm.machine import PAPER, AutoencoderSettings, word_key

BAD: list[tuple[str, Any, str]] = [
    ("n_clauses", 0, "an int from 1 to 65536"),
    ("n_clauses", True, "an int"),
    ("n_clauses", 2.0, "an int"),
    ("threshold", 0, "an int from 1"),
    ("threshold", 2**40, "an int from 1"),
    ("specificity", 0.5, "a finite number >= 1"),
    ("specificity", math.nan, "a finite number >= 1"),
    ("specificity", math.inf, "a finite number >= 1"),
    ("specificity", "2", "a finite number >= 1"),
    ("accumulation", -1, "an int from 1"),
    ("accumulation_growth", 0, "an int from 1 to 1024"),
    ("n_examples", 0, "an int from 1"),
    ("n_epochs", None, "an int from 1"),
    ("algorithm", "quick", "one of 'exact', 'fast'"),
    ("state_bits", 3, "an int from 4 to 8"),
    ("state_bits", 9, "an int from 4 to 8"),
    ("output_balancing", 1.5, "a number from 0 to 1"),
    ("max_included_literals", -1, "an int from 0"),
]


@pytest.mark.parametrize(("name", "value", "wanted"), BAD)
def test_bad_values_are_named(name: str, value: Any, wanted: str) -> None:
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of OmniTMAE must be {wanted}.* Got"):
        AutoencoderSettings(**{name: value})


def test_the_paper_s_values() -> None:
    paper = AutoencoderSettings(**PAPER)
    assert (paper.n_clauses, paper.threshold, paper.specificity, paper.accumulation) == (32, 20_000, 1.0, 24)
    assert paper.total_examples == 8_000
    assert (paper.include_from, paper.max_state, paper.forget_probability) == (128, 255, 2**32)


@pytest.mark.parametrize(
    ("n_places", "merged"), [(0, 24), (1_562, 24), (1_563, 25), (3_000, 48), (5_999, 95), (9_999, 96)]
)
def test_frequent_words_merge_more_places(n_places: int, merged: int) -> None:
    assert AutoencoderSettings().merged_places(n_places) == merged
    assert AutoencoderSettings(accumulation_growth=1).merged_places(n_places) == 24


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, True])
def test_bad_seeds(seed: Any) -> None:
    with pytest.raises(ParameterError, match="'seed' parameter"):
        word_key(seed, "road")


def test_keys_depend_on_seed_and_word_alone() -> None:
    keys = {word_key(seed, word) for seed in (0, 1, 2**64 - 1) for word in ("road", "roads", "", "été")}
    assert len(keys) == 12
    assert word_key(0, "road") == 0xD5974C53456C75DB  # written down once: it decides every vector
