"""What every engine must do: every row once, the same bits, and stop cleanly."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import threading
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from omnitm.corpus import DocumentIndex
from omnitm.engines import ENGINES, Engine, ProcessesEngine, ThreadsEngine, WordJob, make_engine
from omnitm.errors import ParameterError
from omnitm.machine import AutoencoderSettings, word_key
from omnitm.training import train_model

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from omnitm.engines import Failure

SETTINGS = AutoencoderSettings(n_clauses=6, n_examples=40, accumulation=2)
BOTH = AutoencoderSettings(n_clauses=6, n_examples=40, accumulation=2, contexts="both")
LONG = AutoencoderSettings(n_clauses=32, n_examples=2**30)


@pytest.fixture(params=["threads-1", "threads-2", "threads-5", "processes-2"])
def engine(request: pytest.FixtureRequest) -> Engine:
    name, n_jobs = request.param.split("-")
    return make_engine(name, int(n_jobs))


@pytest.fixture
def jobs(board: DocumentIndex) -> list[WordJob]:
    return [WordJob(row, row, word_key(0, word)) for row, word in enumerate(board.vocabulary)]


def ignore(done: int, failures: Sequence[Failure] = ()) -> None:
    assert done >= 0
    assert not failures


def test_every_row_is_written_once_with_the_same_bits(
    engine: Engine, board: DocumentIndex, jobs: list[WordJob]
) -> None:
    rows: dict[int, bytes] = {}
    written: Counter[int] = Counter()
    reports: list[tuple[int, threading.Thread]] = []

    def write(row: int, vector: NDArray[np.int16]) -> None:
        written[row] += 1
        rows[row] = vector.tobytes()

    def report(done: int, failures: Sequence[Failure] = ()) -> None:
        reports.append((done, threading.current_thread()))
        assert not failures

    engine.train(board, SETTINGS, jobs, write, report)
    assert written == Counter(range(12))
    again: dict[int, bytes] = {}
    ThreadsEngine(1).train(board, SETTINGS, jobs, lambda row, v: again.update({row: v.tobytes()}), ignore)
    assert rows == again
    assert reports[-1][0] == 12
    assert {thread for _, thread in reports} == {threading.current_thread()}


def test_an_interrupt_stops_words_in_the_middle(
    engine: Engine, board: DocumentIndex, jobs: list[WordJob]
) -> None:
    """2**30 examples would take hours: only stopping inside a word can end this."""
    written: list[int] = []

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        engine.train(board, LONG, jobs, lambda row, _: written.append(row), interrupt)
    assert written == []
    assert threading.active_count() == before


def test_an_error_while_writing_reaches_the_caller(
    engine: Engine, board: DocumentIndex, jobs: list[WordJob]
) -> None:
    def write(row: int, _: NDArray[np.int16]) -> None:
        if row == 3:
            raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        engine.train(board, SETTINGS, jobs, write, ignore)


def test_models_of_an_index_on_disk_are_the_same_in_every_file(
    engine: Engine, topics: DocumentIndex, tmp_path: Path
) -> None:
    train_model(topics, tmp_path / "threads", settings=BOTH, engine=ThreadsEngine(1))
    train_model(topics, tmp_path / "other", settings=BOTH, engine=engine)
    for file in (tmp_path / "threads").iterdir():
        assert file.read_bytes() == (tmp_path / "other" / file.name).read_bytes(), file.name


def test_models_of_texts_in_memory_are_the_same_in_every_file(engine: Engine, tmp_path: Path) -> None:
    texts = DocumentIndex.from_documents(["a road to the sea", "the ship on the sea", "a car on a road"] * 5)
    train_model(texts, tmp_path / "threads", settings=BOTH, engine=ThreadsEngine(1))
    train_model(texts, tmp_path / "other", settings=BOTH, engine=engine)
    for file in (tmp_path / "threads").iterdir():
        assert file.read_bytes() == (tmp_path / "other" / file.name).read_bytes(), file.name


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="pip install 'omnitm[ray]'")
def test_a_ray_cluster_started_here_gives_the_same_files(topics: DocumentIndex, tmp_path: Path) -> None:
    """In a process of its own: Ray reads its token when it is imported."""
    train_model(topics, tmp_path / "threads", settings=BOTH)
    command = [sys.executable, "-m", "omnitm.cli", "train", str(topics.path), "-o", str(tmp_path / "ray")]
    options = ["--n-clauses", "6", "--n-examples", "40", "--accumulation", "2", "--quiet"]
    subprocess.run([*command, *options, "--engine", "ray", "--workers", "1"], check=True)
    for file in (tmp_path / "threads").iterdir():
        assert file.read_bytes() == (tmp_path / "ray" / file.name).read_bytes(), file.name


@pytest.mark.parametrize("kind", [ThreadsEngine, ProcessesEngine])
def test_numbers_of_workers(kind: type[ThreadsEngine | ProcessesEngine]) -> None:
    assert kind().n_jobs >= 1
    for wrong in (0, -1, True, 2.0, "2"):
        with pytest.raises(ParameterError, match="'n_jobs' parameter of OmniTMAE must be an int from 1"):
            kind(wrong)  # type: ignore[arg-type]


def test_an_unknown_engine() -> None:
    with pytest.raises(ParameterError, match=rf"must be one of {', '.join(ENGINES)}. Got 'steam'"):
        make_engine("steam")
