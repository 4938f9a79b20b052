"""A real Ray cluster: the same bits, whoever dies."""

from __future__ import annotations

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
from omnitm.engines import ThreadsEngine
from omnitm.engines.ray_cluster import RayEngine
from omnitm.machine import AutoencoderSettings
from omnitm.store.journal import finished_rows
from omnitm.training import train_model, train_vectors
from omnitm.vectors import WordVectors

from .conftest import Cluster, descendants, kill_all, wait_for_cores

if TYPE_CHECKING:
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


def test_a_driver_that_is_killed_is_resumed_by_another_engine(
    cluster: Cluster, index: DocumentIndex, whole: WordVectors, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "omnitm.cli", "train", str(index.path), "-o", str(tmp_path / "m")]
    command += ["--n-examples", "2000", "--engine", "ray", "--address", cluster.address, "--quiet"]
    with subprocess.Popen(command) as driver:
        while finished_rows(tmp_path / "m" / "journal") < 8:
            assert driver.poll() is None
            time.sleep(0.02)
        driver.kill()
    done = finished_rows(tmp_path / "m" / "journal")
    assert 8 <= done < 120
    seen: list[Progress] = []
    resumed = train_model(index, tmp_path / "m", resume=True, engine=ThreadsEngine(2), progress=seen.append)
    assert seen[0].done == done
    assert np.array_equal(resumed.matrix, whole.matrix)


def test_a_worker_killed_and_a_node_that_does_not_see_the_corpus(
    cluster: Cluster, index: DocumentIndex, whole: WordVectors, tmp_path: Path
) -> None:
    wait_for_cores(2)
    killed: list[int] = []

    def kill_one(state: Progress) -> None:
        workers = [pid for node in cluster.nodes for pid in descendants(node.pid) if is_training(pid)]
        if not killed and state.done > 20 and workers:
            killed.append(workers[-1])
            os.kill(workers[-1], signal.SIGKILL)

    vectors = train_model(index, tmp_path / "m", settings=SETTINGS, engine=RayEngine(), progress=kill_one)
    assert killed
    assert np.array_equal(vectors.matrix, whole.matrix)
    if not cluster.is_blind:
        pytest.skip("nothing can be hidden from a node here (unshare), so no copy was needed")
    copy = cluster.folder / "cache" / str(index.seal) / "word_documents.bin"
    for attempt in range(5):  # a quick neighbour may take all the work
        if not copy.exists():
            train_model(index, tmp_path / f"m{attempt}", settings=SETTINGS, engine=RayEngine())
    assert copy.exists()


def is_training(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::train_batch")
    except OSError:
        return False


def test_a_node_killed_half_way_costs_no_word_and_few_batches(
    cluster: Cluster, index: DocumentIndex, whole: WordVectors, tmp_path: Path
) -> None:
    wait_for_cores(2)
    seen: list[Progress] = []
    killed: list[int] = []

    def kill_node(state: Progress) -> None:
        seen.append(state)
        if not killed and state.done > 40:
            killed.append(cluster.nodes[-1].pid)
            kill_all(cluster.nodes[-1])

    vectors = train_model(index, tmp_path / "m", settings=SETTINGS, engine=RayEngine(), progress=kill_node)
    assert killed
    assert (seen[-1].done, seen[-1].set_aside) == (120, 0)
    assert seen[-1].failures <= 2  # the batch in training and the one that waited beside it
    assert np.array_equal(vectors.matrix, whole.matrix)
    WordVectors.load(tmp_path / "m", verify=True)
