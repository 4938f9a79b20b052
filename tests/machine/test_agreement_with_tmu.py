"""The published implementation learns what we learn: exactly with the same coins, on average with its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PEERS = Path(os.environ.get("OMNITM_PEERS", ROOT / ".venv-peers"))
WORDS = ["frequent", "middling", "rare"]

pytestmark = pytest.mark.skipif(
    not (PEERS / "bin" / "python").exists(),
    reason=f"TMU is not installed in {PEERS}: run `make .venv-peers/.installed` or set OMNITM_PEERS",
)


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    corpora = tmp_path_factory.mktemp("corpora")
    environment = {**os.environ, "OMNITM_PEERS": str(PEERS), "OMNITM_BENCH_DIR": str(corpora)}
    command = [sys.executable, str(ROOT / "benchmarks" / "agreement.py"), "--examples", "1000"]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("word", WORDS)
def test_tmu_given_our_examples_and_coins_ends_with_our_states_and_weights(
    comparison: dict[str, Any], word: str
) -> None:
    assert comparison["replay"][word]["automata"] == 32 * 2 * 301
    assert comparison["replay"][word]["different_states"] == 0
    assert comparison["replay"][word]["different_weights"] == 0


@pytest.mark.parametrize("word", WORDS)
def test_mean_embedding_over_twenty_seeds_agrees_with_tmu(comparison: dict[str, Any], word: str) -> None:
    (row,) = (row for row in comparison["statistics"] if row["word"] == word)
    assert row["correlation"] > 0.99
    assert row["length_ratio"] == pytest.approx(1.0, abs=0.1)
    ours, theirs = row["positive_clauses"]
    assert ours == pytest.approx(theirs, abs=6.0)  # the standard error of the difference is about 2
    ours, theirs = row["mean_absolute_weight"]
    assert ours == pytest.approx(theirs, rel=0.05)
