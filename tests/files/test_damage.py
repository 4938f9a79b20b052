"""Any single damage to any file of a model or an index, in ordinary use: a named error, or what is right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from damage import KINDS, files_of, make, try_file

if TYPE_CHECKING:
    from pathlib import Path


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
