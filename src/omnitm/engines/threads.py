"""Work on words in threads of this process; the native kernel works without the GIL."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from omnitm.engines.protocol import WordEngine, Work, Write
from omnitm.parameters import check_integer

if TYPE_CHECKING:
    from omnitm.corpus import DocumentIndex
    from omnitm.engines.protocol import Report, WordJob

_SECONDS_BETWEEN_REPORTS = 0.1


class ThreadsEngine(WordEngine):
    """Threads that take words from one queue; each has a machine of its own.

    Parameters
    ----------
    n_jobs
        Number of threads; None: one per core that this process may use.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = (
            available_cores() if n_jobs is None else check_integer("OmniTMAE", "n_jobs", n_jobs, 1, 4096)
        )

    def run(  # noqa: D102
        self, index: DocumentIndex, work: Work, jobs: Sequence[WordJob], write: Write, report: Report
    ) -> None:
        crew = _Crew(jobs)

        def serve(member: int) -> None:
            worker = work.worker(index)
            crew.when_stopped(worker.stop)
            for job in crew.jobs_of(member):
                result = worker.result(job)
                if result is None:
                    return
                write(job.row, result)

        crew.run(serve, min(self.n_jobs, len(jobs)), report)


class _Crew:
    """Threads that share a queue of jobs, stop together, and pass their first error on."""

    def __init__(self, jobs: Sequence[WordJob]) -> None:
        self._queue = iter(jobs)
        self._queue_lock = threading.Lock()
        self._stopping = False
        self._stoppers: list[Callable[[], None]] = []
        # Counts members that are done; waiting for it with a time-out lets Ctrl-C through, which `join` does
        # not.
        self._idle = threading.Semaphore(0)
        self._finished: list[int] = []
        self._errors: list[BaseException] = []

    def jobs_of(self, member: int) -> Iterator[WordJob]:
        """Take jobs from the queue until it is empty or all must stop."""
        while not self._stopping:
            with self._queue_lock:
                job = next(self._queue, None)
            if job is None:
                return
            yield job
            self._finished[member] += 1

    def when_stopped(self, stopper: Callable[[], None]) -> None:
        """Have a function called that ends a member's current word early."""
        self._stoppers.append(stopper)

    def run(self, work: Callable[[int], None], size: int, report: Report) -> None:
        """Let `size` threads work, and report until all of them are done."""
        self._finished = [0] * size
        threads = [
            threading.Thread(target=self._guarded, args=(work, member), name=f"omnitm-{member}", daemon=True)
            for member in range(size)
        ]
        try:
            for thread in threads:
                thread.start()
            self._wait_for(size, report)
        finally:
            self._stop()
            for thread in threads:
                # A thread that could not be started cannot be joined.
                if thread.ident is not None:
                    thread.join()
        if self._errors:
            raise self._errors[0]
        report(sum(self._finished))

    def _wait_for(self, working: int, report: Report) -> None:
        while working:
            if self._idle.acquire(timeout=_SECONDS_BETWEEN_REPORTS):
                working -= 1
            else:
                report(sum(self._finished))

    def _stop(self) -> None:
        self._stopping = True
        for stopper in self._stoppers:
            stopper()

    def _guarded(self, work: Callable[[int], None], member: int) -> None:
        try:
            work(member)
        except BaseException as error:  # noqa: BLE001 - raised again by `run`, in the caller's thread
            self._errors.append(error)
            self._stop()
        finally:
            self._idle.release()


def available_cores() -> int:
    """Count the cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
