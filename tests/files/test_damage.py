"""Any single damage to any file of a model or an index, in ordinary use: a named error, or what is right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from damage import KINDS, RESULTS, files_of, make, table, try_file

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("damage")
    make(folder)
    return folder


@pytest.mark.parametrize("trials", [3, pytest.param(1000, marks=pytest.mark.torture)])
@pytest.mark.parametrize("kind", KINDS)
def test_no_wrong_answer_and_no_crash(folder: Path, kind: str, trials: int) -> None:
    for path in files_of(folder, kind):
        counts = try_file(folder, kind, path.name, trials)
        assert counts["wrong"] == counts["crash"] == 0, (path.name, counts)
        assert sum(counts.values()) == trials


def test_the_page_shows_what_was_measured() -> None:
    results = json.loads((RESULTS / "damage.json").read_text())
    assert list(results) == list(KINDS)
    assert table(results) in PAGE.read_text()
    for counts in (counts for files in results.values() for counts in files.values()):
        assert counts.keys() <= {"noticed", "made again", "right"}
    assert (RESULTS / "checksums.md").read_text() in PAGE.read_text()
    costs = json.loads((RESULTS / "checksums.json").read_text())
    assert costs["training"]["share"] <= 0.03
    more = {
        (model, metric): row["more"]
        for model, rows in costs["most_similar"].items()
        for metric, row in rows.items()
    }
    # This metric reads a number of every row, so its first answers check a block for each of them.
    del more["40,000 words", "association-symmetric"]
    assert len(more) == 7
    assert max(more.values()) <= 0.05
