"""Numbers in documents are those in `benchmarks/results/`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import document_numbers
import pytest
from document_numbers import Line

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

LINES = document_numbers.lines()


def labels(lines: Iterable[Line]) -> list[str]:
    return [f"{line.document} {line.template[:40]}" for line in lines]


@pytest.mark.parametrize("line", LINES, ids=labels(LINES))
def test_documents_have_the_measured_numbers(line: Line) -> None:
    assert line.problem() is None


def test_a_line_that_differs_is_noticed_and_written_anew(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Omni 0.700 (-1,200 s), PPMI 0.7\nOmni alone\n")
    line = Line("a.md", "Omni {:.3f} ({:,.0f} s), PPMI", (0.71, 2000))
    assert (
        line.problem(tmp_path) == "a.md: 'Omni 0.700 (-1,200 s), PPMI' must be 'Omni 0.710 (2,000 s), PPMI'"
    )
    line.write(tmp_path)
    assert line.problem(tmp_path) is None
    assert (tmp_path / "a.md").read_text() == "Omni 0.710 (2,000 s), PPMI 0.7\nOmni alone\n"
    missing = Line("a.md", "GloVe {:.3f}", (0.5,)).problem(tmp_path)
    assert missing == "a.md: 0 lines are like 'GloVe {:.3f}'; there must be one"
    (tmp_path / "a.md").write_text("GloVe 1\nGloVe 2\n")
    assert "2 lines are like" in str(Line("a.md", "GloVe {:.3f}", (0.5,)).problem(tmp_path))


def test_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("Omni 0.7\n")
    line = Line(str(tmp_path / "a.md"), "Omni {:.3f}", (0.71,))
    monkeypatch.setattr(document_numbers, "lines", lambda: [line])
    monkeypatch.setattr(sys, "argv", ["document_numbers.py"])
    assert document_numbers.main() == 1
    assert "must be 'Omni 0.710'" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["document_numbers.py", "--write"])
    assert document_numbers.main() == 0
    assert capsys.readouterr().out == "1 of 1 lines have the numbers that were measured\n"
