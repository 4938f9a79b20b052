"""What every engine must do: every row once, in any thread, and stop cleanly."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from omnitm.engines import Engine, ThreadsEngine, WordJob
from omnitm.errors import ParameterError
from omnitm.machine import AutoencoderSettings, word_key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex

SETTINGS = AutoencoderSettings(n_clauses=6, n_examples=40, accumulation=2)
LONG = AutoencoderSettings(n_clauses=32, n_examples=2**30)


@pytest.fixture(params=[1, 2, 5], ids=lambda n: f"threads-{n}")
def engine(request: pytest.FixtureRequest) -> Engine:
    return ThreadsEngine(request.param)


@pytest.fixture
def jobs(board: DocumentIndex) -> list[WordJob]:
    return [WordJob(row, row, word_key(0, word)) for row, word in enumerate(board.vocabulary)]


def test_every_row_is_written_once(engine: Engine, board: DocumentIndex, jobs: list[WordJob]) -> None:
    rows: dict[int, bytes] = {}
    written: Counter[int] = Counter()
    reports: list[tuple[int, threading.Thread]] = []

    def write(row: int, vector: NDArray[np.int16]) -> None:
        written[row] += 1
        rows[row] = vector.tobytes()

    engine.train(
        board, SETTINGS, jobs, write, lambda done: reports.append((done, threading.current_thread()))
    )
    assert written == Counter(range(12))
    again: dict[int, bytes] = {}
    ThreadsEngine(1).train(
        board, SETTINGS, jobs, lambda row, v: again.update({row: v.tobytes()}), lambda _: None
    )
    assert rows == again
    assert reports[-1][0] == 12
    assert {thread for _, thread in reports} == {threading.current_thread()}


def test_an_interrupt_stops_words_in_the_middle(
    engine: Engine, board: DocumentIndex, jobs: list[WordJob]
) -> None:
    """2**30 examples would take hours: only stopping inside a word can end this."""
    written: list[int] = []

    def interrupt(_: int) -> None:
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
        engine.train(board, SETTINGS, jobs, write, lambda _: None)


def test_numbers_of_threads() -> None:
    assert ThreadsEngine().n_jobs >= 1
    for wrong in (0, -1, True, 2.0, "2"):
        with pytest.raises(ParameterError, match="'n_jobs' parameter of OmniTMAE must be an int from 1"):
            ThreadsEngine(wrong)  # type: ignore[arg-type]
