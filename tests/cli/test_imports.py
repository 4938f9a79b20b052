"""Commands import what they need and no more: a version costs no numpy, neighbours cost no scikit-learn."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from omnitm import OmniTMAE, WordVectors

if TYPE_CHECKING:
    from pathlib import Path

_MOST_MODULES = 400  # 318 with Python 3.11, numpy 2 and rich 15, in 0.25 CPU seconds on a quiet machine
PROGRAM = """
import sys
from omnitm.cli import main
try:
    status = main(sys.argv[1:])
except SystemExit as stop:
    status = stop.code
print(*sorted(sys.modules))
sys.exit(status)
"""
ENVIRONMENT = PROGRAM.replace("sys.modules", "[os.environ.get('OPENBLAS_NUM_THREADS', 'all')]").replace(
    "import sys", "import os, sys"
)


def modules_of(*command: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *command], capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("command", [("--version",), ("--help",), ("similar", "--help"), ("plot", "--help")])
def test_questions_about_the_program_need_no_numpy(command: tuple[str, ...]) -> None:
    loaded = modules_of(*command)
    assert not loaded & {"numpy", "scipy", "rich", "omnitm._native"}
    rooms = {name.split(".")[1] for name in loaded if name.startswith("omnitm.")}
    assert rooms == {"cli", "errors"}


def test_neighbours_need_no_statistics(tmp_path: Path) -> None:
    words = [f"{first}{second}" for first in "abcdefghijk" for second in "lmnopqrstuv"]  # enough for profiles
    texts = [" ".join(words[start : start + 8]) for start in range(len(words))]
    trained = OmniTMAE(n_clauses=4, n_examples=20).fit(["road car", "sea ship", *texts] * 2)
    trained.word_vectors_.save(tmp_path / "model")
    WordVectors.load(tmp_path / "model").most_similar("road")  # prepares similarities and keeps them
    others = {
        "sklearn",
        "scipy",
        "pandas",
        "asyncio",
        "concurrent.futures",
        "omnitm.corpus",
        "omnitm.explain",
    }
    loaded = modules_of("similar", str(tmp_path / "model"), "road", "--json")
    assert "numpy" in loaded
    assert not loaded & {*others, "rich"}
    table = modules_of("similar", str(tmp_path / "model"), "road")
    assert "rich" in table
    assert not table & {*others, "rich._emoji_codes", "rich.progress", "pygments"}
    assert len(table) < _MOST_MODULES


def test_numpy_starts_no_threads_for_one_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)

    def threads(*command: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", ENVIRONMENT, *command, "--help"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()[-1]

    assert threads("similar") == "1"
    assert threads("train") == "all"  # its preparations multiply matrices
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    assert threads("similar") == "2"  # as the user wants
