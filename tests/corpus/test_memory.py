"""The memory limit is kept, and costs nothing but time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

STATUS = Path("/proc/self/status")
BUILD = """
import sys
from pathlib import Path
from omnitm.corpus import Resources, build_index
memory = int(sys.argv[3]) or None
build_index(sys.argv[1], sys.argv[2], resources=Resources(memory=memory, n_threads=2))
lines = Path("/proc/self/status").read_text().splitlines()
print(next(line.split()[1] for line in lines if line.startswith("VmHWM")))
"""


def peak_memory(source: Path, output: Path, limit: int) -> int:
    command = [sys.executable, "-c", BUILD, str(source), str(output), str(limit)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout) << 10


@pytest.mark.skipif(not STATUS.is_file(), reason="peak memory is read from /proc")
def test_memory_limit_is_kept_by_millions_of_different_words(tmp_path: Path) -> None:
    letters = np.random.default_rng(0).integers(97, 123, size=(2_000_000, 12), dtype=np.uint8)
    letters[:, -1] = ord(" ")
    letters[::10, -1] = ord("\n")
    (tmp_path / "text.txt").write_bytes(letters.tobytes())
    limit = 192 << 20
    assert peak_memory(tmp_path / "text.txt", tmp_path / "limited", limit) <= limit
    assert peak_memory(tmp_path / "text.txt", tmp_path / "free", 0) > limit
    for file in (tmp_path / "free").iterdir():
        assert file.read_bytes() == (tmp_path / "limited" / file.name).read_bytes()
