"""How far training is: a bar on the terminal, or a callback."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Progress:
    """How far a training run is."""

    done: int
    """Words of this model that are trained."""
    total: int
    """Words of this model."""
    words_per_second: float
    """Speed of this run; 0 before its first word."""
    seconds_left: float
    """Time that the rest will take at this speed; infinite before the first word."""


ProgressOption = bool | Callable[[Progress], object]


@contextlib.contextmanager
def reporting(progress: ProgressOption, done_before: int, total: int) -> Iterator[Callable[[int], None]]:
    """Yield a function that is told how many words this run has trained."""
    started = time.monotonic()
    with _listener(progress, done_before, total) as listen:

        def report(trained: int) -> None:
            speed = trained / max(time.monotonic() - started, 1e-9)
            left = total - done_before - trained
            listen(Progress(done_before + trained, total, speed, left / speed if speed else float("inf")))

        yield report


@contextlib.contextmanager
def _listener(progress: ProgressOption, done: int, total: int) -> Iterator[Callable[[Progress], object]]:
    if callable(progress):
        yield progress
    elif progress:
        with _bar(done, total) as listen:
            yield listen
    else:
        yield lambda _: None


@contextlib.contextmanager
def _bar(done: int, total: int) -> Iterator[Callable[[Progress], object]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("training words", total=total, completed=done, speed="")

        def listen(state: Progress) -> None:
            bar.update(task, completed=state.done, speed=f"{state.words_per_second:,.1f} words/s")

        yield listen
