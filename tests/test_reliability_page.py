"""Every promise in docs/reliability.md names a test that is there, does as much as is said, and passes."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import OUTCOMES

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAGE = (ROOT / "docs" / "reliability.md").read_text()
NAMED = list(dict.fromkeys(re.findall(r"`(tests/[\w/]+\.py::\w+)`", PAGE)))
ROWS = [
    (small, full, test)
    for small, full, test in re.findall(
        r"^\|[^|]*\|([^|]*)\|([^|]*)\| `(tests/[^`]+)` \|$", PAGE, re.MULTILINE
    )
]
RUN = re.findall(r"^\| [^|]+ \| ([^|]+) \| `(tests/[^`]+)` \|$", PAGE, re.MULTILINE)
LACKING = (
    "not installed",
    "pip install",
    "through /proc",
    "from /proc",
    "unshare",
    "needs Chromium",
    "needs Firefox",
)


@pytest.fixture(scope="module")
def collected() -> dict[str, list[str]]:
    """Collect the files that the page names; ids by name of the test."""
    files = sorted({test.split("::")[0] for test in NAMED})
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "", *files]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    ids: dict[str, list[str]] = {}
    for line in found.splitlines():
        if "::" in line:
            ids.setdefault(line.split("[")[0], []).append(line)
    return ids


def numbers(text: str) -> set[int]:
    return {int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", text)}


def numbers_of(test: str, ids: list[str]) -> set[int]:
    """Numbers of a test: in its parameters, its code and its constants, and how many of them there are."""
    file, name = test.split("::")
    tree = ast.parse((ROOT / file).read_text())
    parts = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith(name)]
    used = {node.id for part in parts for node in ast.walk(part) if isinstance(node, ast.Name)}
    constants = [
        node for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in used
    ]
    found = {len(ids)}
    for node in (node for part in (*parts, *constants) for node in ast.walk(part)):
        if isinstance(node, ast.Constant) and str(node.value).isdigit():
            found.add(int(str(node.value)))
        elif isinstance(node, ast.Tuple | ast.List):
            found.add(len(node.elts))
    return found.union(*(numbers(one.split("[", 1)[1]) for one in ids if "[" in one))


def test_the_page_names_tests() -> None:
    assert len(ROWS) > 40
    assert {test for _, _, test in ROWS} <= set(NAMED)


@pytest.mark.parametrize("test", NAMED)
def test_promises_are_tested(test: str, collected: dict[str, list[str]]) -> None:
    assert test in collected


@pytest.mark.parametrize(("small", "full", "test"), [row for row in ROWS if numbers(row[0] + row[1])])
def test_tests_try_as_much_as_the_page_says(
    small: str, full: str, test: str, collected: dict[str, list[str]]
) -> None:
    known = numbers_of(test, collected[test])
    if "make sanitize" in full:
        known |= numbers((ROOT / "Makefile").read_text())
    assert numbers(small) | numbers(full) <= known


def test_promises_are_kept() -> None:
    """Of the named tests that ran before this one; all of them in `make test`."""
    for test in NAMED:
        for outcome, reason in (known for one, known in OUTCOMES.items() if one.split("[")[0] == test):
            assert outcome != "failed", test
            assert outcome == "passed" or any(part in reason for part in LACKING), (test, reason)


def test_results_of_the_full_forms_are_those_of_the_last_run() -> None:
    kept = json.loads((RESULTS / "torture.json").read_text())
    assert RUN
    for figures, test in RUN:
        found = {one: outcome for one, outcome in kept.items() if one.split("[")[0].startswith(test)}
        assert found, f"make torture has not run {test}"
        assert set(found.values()) == {"passed"}, test
        assert numbers(figures) <= numbers_of(test, list(found)), test
