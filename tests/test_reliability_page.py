"""Every promise in docs/reliability.md names a test that is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "docs" / "reliability.md").read_text())


def test_the_page_names_tests() -> None:
    assert len(NAMED) > 30


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_promises_are_tested(file: str, name: str) -> None:
    assert f"\ndef {name}(" in (ROOT / file).read_text()
