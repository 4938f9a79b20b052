"""Run tests with sanitized native code, which `make sanitize` builds, and keep what became of them.

    make sanitize      # benchmarks/results/sanitize.json: date, calls of each binding, tests, what was tried

Whether the native code has changed since then is told by its SHA-256.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
RESULT = ROOT / "benchmarks/results/sanitize.json"
FUZZED = "test_unsound_arguments_are_refused_or_harmless["


class Outcomes:
    """Counts what becomes of tests, and the bindings that are called with wrong arguments."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.n_bindings = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test once."""
        if report.when == "call" or report.outcome != "passed":
            self.counts[report.outcome] += 1
            self.n_bindings += FUZZED in report.nodeid


def native_sha256() -> str:
    """One SHA-256 of all native code."""
    files = sorted([*(ROOT / "native").glob("*.?pp"), ROOT / "CMakeLists.txt"])
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def facts_of(outcomes: Outcomes, native: str) -> dict[str, Any]:
    """Say what is kept of a run."""
    return {
        "date": f"{datetime.now(tz=timezone.utc):%Y-%m-%d}",
        "calls_of_each_binding": int(os.environ.get("OMNITM_FUZZED_CALLS", "0")),
        "bindings": outcomes.n_bindings,
        **{name: outcomes.counts[name] for name in ("passed", "failed", "skipped")},
        "native_sha256": native,
    }


def main() -> int:
    """Run the tests; an error of a sanitizer ends the process, and then nothing is kept."""
    # The editable install comes before PYTHONPATH, so it is taken out of the way.
    sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in type(finder).__module__]
    from omnitm import _native

    if "build/sanitized" not in str(_native.__file__):
        sys.exit(f"{_native.__file__} is not the sanitized native code; run `make sanitize`")
    outcomes, native = Outcomes(), native_sha256()
    status = int(pytest.main(sys.argv[1:], plugins=[outcomes]))
    RESULT.write_text(json.dumps(facts_of(outcomes, native), indent=1) + "\n", encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
