"""TMU's classifier, given our examples and coins, ends with our states and weights."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PEERS = Path(os.environ.get("OMNITM_PEERS", ROOT / ".venv-peers"))
PROGRAM = (
    "import json, sys; sys.path[0] = sys.argv[1]; import classifier; print(json.dumps(classifier.replay()))"
)


@pytest.mark.skipif(
    not (PEERS / "bin" / "python").exists(),
    reason=f"TMU is not installed in {PEERS}: run `make .venv-peers/.installed` or set OMNITM_PEERS",
)
def test_tmu_given_our_coins_learns_the_same_bits() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(ROOT / "benchmarks")],
        env={**os.environ, "OMNITM_PEERS": str(PEERS)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    result = json.loads(done.stdout)
    assert result["automata"] == 3 * 20 * 2 * 301
    assert result["learnt_weights"] > 20
    assert result["different_states"] == result["different_weights"] == 0
