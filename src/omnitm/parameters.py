"""Checks of single parameters, worded as scikit-learn words them."""

from __future__ import annotations

import math
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

from omnitm.errors import ParameterError


def check_integer(owner: str, name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return `value` as an int in `low..high`, or raise an error that names it."""
    wanted = f"an int >= {low}" if high is None else f"an int from {low} to {high}"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise _refusal(owner, name, wanted, value)
    number = int(value)
    if number < low or (high is not None and number > high):
        raise _refusal(owner, name, wanted, value)
    return number


def check_real(owner: str, name: str, value: Any, low: float, high: float = math.inf) -> float:
    """Return `value` as a finite float in `low..high`, or raise an error that names it."""
    wanted = f"a finite number >= {low:g}" if high == math.inf else f"a number from {low:g} to {high:g}"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise _refusal(owner, name, wanted, value)
    number = float(value)
    if not math.isfinite(number) or not low <= number <= high:
        raise _refusal(owner, name, wanted, value)
    return number


def check_flag(owner: str, name: str, value: Any) -> bool:
    """Return `value` if it is True or False, or raise an error that names it."""
    if not isinstance(value, bool):
        raise _refusal(owner, name, "a bool", value)
    return value


def check_choice(owner: str, name: str, value: Any, choices: Collection[str]) -> str:
    """Return `value` if it is one of `choices`, or raise an error that lists them."""
    if not isinstance(value, str) or value not in choices:
        raise _refusal(owner, name, "one of " + ", ".join(map(repr, choices)), value)
    return value


def _refusal(owner: str, name: str, wanted: str, value: Any) -> ParameterError:
    return ParameterError(f"The {name!r} parameter of {owner} must be {wanted}. Got {value!r} instead.")
