"""Native work in threads of its own, so that this one can report and hear Ctrl-C."""

from __future__ import annotations

from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SECONDS_BETWEEN_REPORTS = 0.1


def run_in_background(
    tasks: Sequence[Callable[[], None]], stop: Callable[[], None], report: Callable[[], None]
) -> None:
    """Run every task in a thread and report until all are done; `stop` must make them return soon."""
    with ThreadPoolExecutor(len(tasks)) as pool:
        running = {pool.submit(task) for task in tasks}
        try:
            while running:
                done, running = wait(running, _SECONDS_BETWEEN_REPORTS, FIRST_EXCEPTION)
                for task in done:
                    task.result()
                report()
        except BaseException:
            stop()
            raise
