"""Work on words in threads of this process; the native kernel works without the GIL."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from omnitm.corpus import DocumentIndex
from omnitm.engines.job_queue import check_n_jobs
from omnitm.engines.protocol import Report, WordEngine, WordJob, Work, Worker, Write

_SECONDS_BETWEEN_REPORTS = 0.1


class ThreadsEngine(WordEngine):
    """Threads that take words from one queue; each has a machine of its own.

    Parameters
    ----------
    n_jobs
        Number of threads; None: one per core that this process may use.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = check_n_jobs(n_jobs)

    def run(  # noqa: D102
        self, index: DocumentIndex, work: Work, jobs: Sequence[WordJob], write: Write, report: Report
    ) -> None:
        waiting, workers = deque(jobs), list[Worker]()
        finished = [0] * min(self.n_jobs, len(jobs))

        def serve(member: int) -> None:
            worker = work.worker(index)
            workers.append(worker)
            while waiting:
                try:
                    job = waiting.popleft()
                except IndexError:  # another thread was quicker
                    return
                result = worker.result(job)
                if result is None:
                    return
                write(job.row, result)
                finished[member] += 1

        def stop() -> None:
            waiting.clear()
            for worker in workers:
                worker.stop()

        tasks = [lambda member=member: serve(member) for member in range(len(finished))]
        run_in_background(tasks, stop, lambda: report(sum(finished)))


def run_in_background(
    tasks: Sequence[Callable[[], None]], stop: Callable[[], None], report: Callable[[], None]
) -> None:
    """Run every task in a thread and report until all are done; `stop` must make them return soon.

    The first error of a task, or one that `report` raises, stops all of them and goes on.
    """
    from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait

    with ThreadPoolExecutor(max(len(tasks), 1), "omnitm") as pool:
        running: set[Future[None]] = set()
        try:
            for task in tasks:
                running.add(pool.submit(task))
            while True:
                # With a time-out, Ctrl-C is noticed.
                done, running = wait(running, _SECONDS_BETWEEN_REPORTS, FIRST_EXCEPTION)
                for future in done:
                    future.result()
                report()
                if not running:
                    return
        except BaseException:
            stop()
            raise
