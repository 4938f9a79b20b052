"""Workers that die: they are replaced, their words are tried again, and nothing else is lost."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omnitm.engines import ProcessesEngine, ThreadsEngine, processes
from omnitm.engines.job_queue import HangTimeout, JobQueue, Silence
from omnitm.engines.protocol import WordJob, WordTraining
from omnitm.engines.shared_corpus import shared
from omnitm.errors import EngineError, OmniTMWarning, ParameterError, SetAsideError
from omnitm.machine import AutoencoderSettings
from omnitm.training import train_model, train_vectors
from omnitm.vectors import WordVectors

from .conftest import is_running

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnitm.corpus import DocumentIndex
    from omnitm.training.progress import Progress

SETTINGS = AutoencoderSettings(n_clauses=6, n_examples=40, accumulation=2)
BAD_WORD = """
import os, signal, sys
from omnitm.engines import processes, protocol

class Bad(protocol.WordTrainer):
    def train(self, target, key):
        if target == 3:
            {deed}
        return super().train(target, key)

protocol.WordTrainer = Bad
processes.serve(int(sys.argv[1]))
"""


def bad_word(monkeypatch: pytest.MonkeyPatch, deed: str) -> None:
    """Let every worker come to grief at the word "a3"."""
    monkeypatch.setattr(processes, "BOOT", BAD_WORD.format(deed=deed))


@pytest.mark.parametrize(
    ("deed", "problem"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", r"killed by SIGSEGV \(a crash in native code\)"),
        ("os.kill(os.getpid(), signal.SIGKILL)", r"killed by SIGKILL \(out of memory\?\)"),
        ("sys.exit('what a word')", r"ended with status 1 \(what a word\)"),
        ("raise MemoryError('too much')", "MemoryError: too much"),
    ],
)
def test_a_word_that_kills_its_workers_is_set_aside(
    board: DocumentIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deed: str, problem: str
) -> None:
    bad_word(monkeypatch, deed)
    seen: list[Progress] = []
    with pytest.raises(SetAsideError, match=rf"11 of 12 words .* set aside .*: 'a3'; .*: .*{problem}"):
        train_model(board, tmp_path / "m", settings=SETTINGS, engine=ProcessesEngine(2), progress=seen.append)
    assert (seen[-1].done, seen[-1].failures, seen[-1].set_aside) == (11, 3, 1)
    assert [f.is_final for state in seen for f in state.new_failures] == [False, False, True]
    monkeypatch.undo()
    resumed = train_model(board, tmp_path / "m", resume=True)  # another engine, as an hour later
    assert np.array_equal(resumed.matrix, train_vectors(board, settings=SETTINGS).matrix)


HANG = "import time; time.sleep(3600)"


def test_a_word_that_hangs_is_set_aside(
    board: DocumentIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad_word(monkeypatch, HANG)
    engine = ProcessesEngine(2, patience=2.0)
    with pytest.raises(SetAsideError, match=r"'a3'; .*the worker hung: no word finished in \d+ s"):
        train_model(board, tmp_path / "m", settings=SETTINGS, engine=engine)
    monkeypatch.undo()
    resumed = train_model(board, tmp_path / "m", resume=True)
    assert np.array_equal(resumed.matrix, train_vectors(board, settings=SETTINGS).matrix)


def test_workers_that_hang_before_their_first_word(
    board: DocumentIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "BOOT", HANG)
    monkeypatch.setattr(processes, "_SECONDS_TO_START", 0.2)
    with pytest.raises(EngineError, match="end before their first word: the worker hung"):
        train_vectors(board, settings=SETTINGS, engine=ProcessesEngine(2))


def test_patience_grows_with_the_work_and_with_the_longest_word() -> None:
    patience = HangTimeout(WordTraining(AutoencoderSettings()).seconds_allowed())
    assert 600 < patience.limit < 1200
    patience.learn(5.0)
    assert patience.limit < 1200
    patience.learn(50.0)
    assert patience.limit == 3000
    assert HangTimeout(WordTraining(AutoencoderSettings(n_examples=2**30)).seconds_allowed()).limit == 1e7
    assert HangTimeout(760.0, 3.0).limit == 3.0
    with pytest.raises(
        ParameterError, match=r"'patience' parameter of OmniTMAE must be a number from 0\.001"
    ):
        ProcessesEngine(2, patience=0)


def test_a_supervisor_that_slept_does_not_blame_its_workers() -> None:
    silence = Silence(0.0)
    for now in (0.5, 1.0, 100_000.0):
        silence.wait_until(now)
    assert silence.end() == 2.0
    assert silence.seconds == 0.0


def test_in_memory_the_other_words_are_returned(
    board: DocumentIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad_word(monkeypatch, "raise RuntimeError('no')")
    with pytest.warns(OmniTMWarning, match=r"'a3' failed again and again .* left out; .* RuntimeError: no"):
        vectors = train_vectors(board, settings=SETTINGS, engine=ProcessesEngine(2))
    assert "a3" not in vectors
    assert np.array_equal(
        vectors.matrix, train_vectors(board, vectors.index_to_key, settings=SETTINGS).matrix
    )


def test_workers_that_cannot_start(board: DocumentIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "BOOT", "import no_such_module")
    with pytest.raises(EngineError, match=r"end before their first word: .*No module named 'no_such_module'"):
        train_vectors(board, settings=SETTINGS, engine=ProcessesEngine(2))


def test_when_every_word_fails_the_run_ends() -> None:
    jobs = [WordJob(row, row, 0) for row in range(30)]
    job_queue = JobQueue(jobs)

    def burn() -> None:
        while job := job_queue.take():
            job_queue.blame(job, "smoke")

    with pytest.raises(EngineError, match="20 words in a row failed 3 times each, the last one with: smoke"):
        burn()
    assert len(job_queue.news()) == job_queue.n_failures == 30 + 30 + 20
    assert not job_queue.news()
    assert not job_queue.is_complete


def test_words_put_back_are_next_and_in_order() -> None:
    jobs = [WordJob(row, row, 0) for row in range(5)]
    job_queue = JobQueue(jobs)
    taken = [job_queue.take(), job_queue.take()]
    job_queue.put_back(jobs[:2])
    assert [job_queue.take() for _ in range(6)] == [*jobs, None]
    assert taken == jobs[:2]


def workers_of(supervisor: int) -> list[int]:
    """Process ids of the workers of a process that are running; it may have other children."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent == supervisor and processes.BOOT.encode() in (process / "cmdline").read_bytes():
                found.append(int(process.name))
    return sorted(found)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds workers through /proc")
@pytest.mark.filterwarnings("ignore::omnitm.errors.OmniTMWarning")  # of words in no document
@pytest.mark.parametrize("kills", [4, pytest.param(60, marks=pytest.mark.torture)])
def test_workers_killed_at_random_moments_lose_nothing(
    random_index: Callable[..., DocumentIndex], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kills: int
) -> None:
    """A word is finished between two kills: three in a row would rightly set a word aside, or end the run."""
    monkeypatch.setattr(processes, "_SECONDS_BETWEEN_REPORTS", 0.0)  # or all words end between two reports
    index, settings = random_index(400, 8 * kills, 0.4), AutoencoderSettings(n_examples=6_000)
    random, moments = np.random.default_rng(kills), [0]

    def kill_one(state: Progress) -> None:
        workers = workers_of(os.getpid())
        if len(moments) <= kills and workers and moments[-1] < state.done < state.total - 2:
            os.kill(int(random.choice(workers)), signal.SIGKILL)
            moments.append(state.done)

    vectors = train_model(
        index, tmp_path / "m", settings=settings, engine=ProcessesEngine(2), progress=kill_one
    )
    assert len(moments) == 1 + kills
    assert not workers_of(os.getpid())
    whole = train_vectors(index, settings=settings, engine=ThreadsEngine(2))
    assert np.array_equal(vectors.matrix, whole.matrix)
    WordVectors.load(tmp_path / "m", verify=True)


SUPERVISOR = """
import sys
sys.path.insert(0, sys.argv[1])
from conftest import checkerboard
from omnitm.training import train_vectors
from omnitm.engines import ProcessesEngine
from omnitm.machine import AutoencoderSettings
settings = AutoencoderSettings(n_examples=2**30)
train_vectors(checkerboard(), settings=settings, engine=ProcessesEngine(2), progress=lambda _: print("on"))
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds workers through /proc")
def test_workers_end_with_their_supervisor_and_need_no_main_guard(
    board: DocumentIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next supervisor removes the corpus that it wrote for them, but not that of one that goes on."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    script = tmp_path / "script.py"
    script.write_text(SUPERVISOR)
    process = subprocess.Popen(
        [sys.executable, "-u", str(script), str(Path(__file__).parents[1])],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    for _ in range(3):
        assert process.stdout.readline() == "on\n"
    workers = workers_of(process.pid)
    assert len(workers) == 2
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 300
    while any(is_running(worker) for worker in workers):
        assert time.monotonic() < deadline, "a worker outlived its supervisor"
        time.sleep(0.02)
    left = list((tmp_path / "temporary").iterdir())
    assert left
    with shared(board) as own:
        assert not any(folder.exists() for folder in left)
        with shared(board):
            assert Path(own.path).is_dir()
    assert not list((tmp_path / "temporary").iterdir())
