"""A real Ray cluster: the same bits, whoever dies."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omnitm.corpus import DocumentIndex, build_index
from omnitm.engines import ThreadsEngine, ray_cluster
from omnitm.engines.ray_cluster import RayEngine, train_batch
from omnitm.machine import AutoencoderSettings
from omnitm.store.journal import finished_rows
from omnitm.training import train_model, train_vectors
from omnitm.vectors import WordVectors

from .conftest import Cluster, kill_all, wait_for_cores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnitm.engines.protocol import WordJob
    from omnitm.engines.ray_cluster import BatchResult, BatchTask
    from omnitm.training.progress import Progress

pytestmark = pytest.mark.filterwarnings("ignore")  # what Ray warns of is not ours
SETTINGS = AutoencoderSettings(n_clauses=32, n_examples=2000)


@pytest.fixture(scope="module")
def index(cluster: Cluster) -> DocumentIndex:
    """Make an index where the second node does not see it."""
    random = np.random.default_rng(5)
    words = [f"word{a}{b}" for a in "abcdef" for b in "abcdefghijklmnopqrst"]
    lines = [" ".join(random.choice(words[20 * (n % 6) :][:20], 8)) for n in range(1200)]
    (cluster.folder / "text.txt").write_text("\n".join(lines))
    return DocumentIndex.open(build_index(cluster.folder / "text.txt", cluster.hidden / "index"))


@pytest.fixture(scope="module")
def whole(index: DocumentIndex) -> WordVectors:
    return train_vectors(index, settings=SETTINGS, engine=ThreadsEngine(2))


DRIVER = """
import os, signal, sys
from omnitm.corpus import DocumentIndex
from omnitm.engines import make_engine
from omnitm.machine import AutoencoderSettings
from omnitm.training import train_model

def die(state):
    if state.done >= 8:
        os.kill(os.getpid(), signal.SIGKILL)

settings = AutoencoderSettings(n_clauses=32, n_examples=2000)
engine = make_engine("ray", address=sys.argv[3])
train_model(DocumentIndex.open(sys.argv[1]), sys.argv[2], settings=settings, engine=engine, progress=die)
"""


def test_a_driver_that_is_killed_is_resumed_by_another_engine(
    cluster: Cluster, index: DocumentIndex, whole: WordVectors, tmp_path: Path
) -> None:
    """At its first report of trained words: of the 120, at most 4 batches of 8 were handed out by then."""
    command = [sys.executable, "-c", DRIVER, str(index.path), str(tmp_path / "m"), cluster.address]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    done = finished_rows(tmp_path / "m" / "journal")
    assert 8 <= done <= 32
    seen: list[Progress] = []
    resumed = train_model(index, tmp_path / "m", resume=True, engine=ThreadsEngine(2), progress=seen.append)
    assert seen[0].done == done
    assert np.array_equal(resumed.matrix, whole.matrix)


def test_a_command_connects_before_it_makes_anything(
    cluster: Cluster, index: DocumentIndex, whole: WordVectors, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "omnitm.cli", "train", str(index.path), "-o", str(tmp_path / "m")]
    command += ["--n-examples", "2000", "--quiet", "--engine", "ray", "--address", cluster.address]
    stranger = {**os.environ, "RAY_AUTH_TOKEN": "0" * 64}
    refused = subprocess.run(command, env=stranger, check=False, capture_output=True, text=True)
    assert (refused.returncode, len(refused.stderr.splitlines())) == (2, 1), refused.stderr
    assert refused.stderr.startswith(f"omnitm: error: Ray: no connection to {cluster.address} (")
    assert not (tmp_path / "m").exists()
    subprocess.run(command, check=True)
    assert np.array_equal(WordVectors.load(tmp_path / "m").matrix, whole.matrix)


def test_a_worker_killed_and_a_node_that_does_not_see_the_corpus(
    cluster: Cluster,
    index: DocumentIndex,
    whole: WordVectors,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A worker dies in the middle of a batch after the first report; the index is copied before that."""
    wait_for_cores(2)
    death, here = cluster.folder / "death", Path(str(index.path))
    copy = cluster.folder / "cache" / str(index.seal) / "word_documents.bin"
    is_blind = cluster.is_blind

    def train(task: BatchTask, jobs: Sequence[WordJob], source: object = None) -> BatchResult:
        for _ in range(3000):  # or a quick neighbour takes all the work
            if not is_blind or copy.exists() or not here.exists():
                break
            time.sleep(0.1)
        train_batch(task, jobs[: len(jobs) // 2], source)
        with contextlib.suppress(FileNotFoundError):
            death.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return train_batch(task, jobs, source)

    def kill_one(state: Progress) -> None:
        seen.append(state)
        if len(seen) == 1:
            death.touch()

    seen: list[Progress] = []
    monkeypatch.setattr(ray_cluster, "train_batch", train)
    vectors = train_model(index, tmp_path / "m", settings=SETTINGS, engine=RayEngine(), progress=kill_one)
    assert not death.exists()
    assert (seen[-1].failures, seen[-1].set_aside) == (1, 0)
    assert np.array_equal(vectors.matrix, whole.matrix)
    if not is_blind:
        pytest.skip("nothing can be hidden from a node here (unshare), so no copy was needed")
    assert copy.exists()


def test_a_node_killed_half_way_costs_no_word_and_few_batches(
    cluster: Cluster, index: DocumentIndex, whole: WordVectors, tmp_path: Path
) -> None:
    wait_for_cores(2)
    seen: list[Progress] = []
    killed: list[int] = []

    def kill_node(state: Progress) -> None:
        seen.append(state)
        if not killed and state.done > 0:
            killed.append(cluster.nodes[-1].pid)
            kill_all(cluster.nodes[-1])

    vectors = train_model(index, tmp_path / "m", settings=SETTINGS, engine=RayEngine(), progress=kill_node)
    assert killed
    assert (seen[-1].done, seen[-1].set_aside) == (120, 0)
    assert seen[-1].failures <= 4  # batches that were handed out: two for each of two cores
    assert np.array_equal(vectors.matrix, whole.matrix)
    WordVectors.load(tmp_path / "m", verify=True)
