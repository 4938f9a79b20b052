"""Find the peers' environment and ask it to do a job."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


class PeersMissingError(Exception):
    """There is no environment with TMU."""


def peer_python() -> Path:
    """Return the interpreter of the environment that `OMNITM_PEERS` names, or else of `.venv-peers`."""
    folder = Path(os.environ.get("OMNITM_PEERS", HERE.parent / ".venv-peers"))
    python = folder / "bin" / "python"
    if not python.exists():
        raise PeersMissingError(f"{folder} has no bin/python; type: make .venv-peers/.installed")
    return python


def ask_tmu(task: str, *, script: str = "peer_tmu.py", **job: Any) -> dict[str, Any]:
    """Let TMU do one job in one thread; see `peer_tmu.py` and `peer_tmu_classifier.py` for the tasks."""
    single_threaded = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [peer_python(), HERE / script],
        input=json.dumps({"task": task, **job}),
        stdout=subprocess.PIPE,
        env=single_threaded,
        text=True,
        check=True,
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result
