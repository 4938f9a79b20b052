"""Any value for any parameter: accepted, or refused by name; never anything else."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omnitm.engines import ProcessesEngine, ThreadsEngine
from omnitm.errors import ParameterError
from omnitm.machine import AutoencoderSettings, word_key

NAMES = [field.name for field in fields(AutoencoderSettings)]
ANYTHING = st.one_of(
    st.integers(),
    st.integers(-2, 300),
    st.floats(),
    st.booleans(),
    st.none(),
    st.text(max_size=5),
    st.sampled_from(["exact", "fast", b"fast", 2**31, 2**64, 1e300, 3 + 0j, [], {}, object()]),
    st.sampled_from([(), (3, 7), (0, 1, 2, 3, 4), (-1,), ("and",), (1.0,)]),
)


def check_settings(name: str, value: Any) -> None:
    try:
        made = AutoencoderSettings(**{name: value})
    except ParameterError as error:
        assert f"'{name}' parameter" in str(error)  # noqa: PT017 - some values are right
        assert "Got " in str(error)  # noqa: PT017
        return
    assert not isinstance(value, bool)
    assert getattr(made, name) == value
    assert made.total_examples >= 1
    assert math.isfinite(made.specificity)
    assert 0 < made.forget_probability <= 2**32 or made.specificity > 2**32


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(NAMES), ANYTHING)
def test_any_setting(name: str, value: Any) -> None:
    check_settings(name, value)


@pytest.mark.torture
@settings(max_examples=10_000, deadline=None)
@given(st.sampled_from(NAMES), ANYTHING)
def test_any_setting_ten_thousand_times(name: str, value: Any) -> None:
    check_settings(name, value)


@settings(max_examples=100, deadline=None)
@given(ANYTHING)
def test_any_seed_and_number_of_workers(value: Any) -> None:
    for name, act in (
        ("seed", lambda: word_key(value, "road")),
        ("n_jobs", lambda: value is None or ThreadsEngine(value)),
        ("n_jobs", lambda: value is None or ProcessesEngine(value)),
    ):
        try:
            act()
        except ParameterError as error:  # noqa: PERF203 - three times
            assert f"'{name}' parameter of OmniTMAE must be an int from" in str(error)  # noqa: PT017
        else:
            assert value is None or (isinstance(value, int) and not isinstance(value, bool))
