"""How far training is: a bar on the terminal, a log for machines, or a callback."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omnitm.files.plain import writing

if TYPE_CHECKING:
    from rich.progress import Progress as Bar


@dataclass(frozen=True)
class WordFailure:
    """Words that could not be trained at an attempt; several if they were lost together."""

    words: tuple[str, ...]
    problem: str
    is_final: bool
    """Whether the word is set aside; otherwise it is tried again."""


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
    failures: int = 0
    """Attempts of this run that failed: a worker that died, a word that raised an error."""
    set_aside: int = 0
    """Words that failed for good."""
    new_failures: tuple[WordFailure, ...] = ()
    """What has failed since the last call."""


_SECONDS_BETWEEN_CELLS = 0.25  # a notebook redraws slowly
ProgressOption = bool | Callable[[Progress], object]
ReportWords = Callable[..., None]


@contextlib.contextmanager
def reporting(
    progress: ProgressOption, done_before: int, total: int, task: str = "training words"
) -> Iterator[ReportWords]:
    """Yield a function that is told how many words this run has trained, and what has failed since.

    `task` says what is done, and with what: its last word is what is counted.
    """
    started = time.monotonic()
    failures = set_aside = 0
    with _listener(progress, task) as listen:

        def report(trained: int, news: Sequence[WordFailure] = ()) -> None:
            nonlocal failures, set_aside
            failures += len(news)
            set_aside += sum(failure.is_final for failure in news)
            speed = trained / max(time.monotonic() - started, 1e-9)
            # Speed counts words of this run alone: those of earlier runs took no time now.
            left = total - done_before - trained - set_aside
            seconds = left / speed if speed else float("inf")
            done = done_before + trained
            listen(Progress(done, total, speed, seconds, failures, set_aside, tuple(news)))

        yield report


@contextlib.contextmanager
def _listener(progress: ProgressOption, task: str) -> Iterator[Callable[[Progress], object]]:
    if callable(progress):
        yield progress
    elif progress:
        with ProgressBar(task) as bar:
            yield bar
    else:
        yield lambda _: None


class ProgressBar:
    """One line on standard error, or in a notebook: words done, words/s, failures, time left."""

    def __init__(self, task: str = "training words") -> None:
        self._task, self._counted = task, task.rsplit(maxsplit=1)[-1]
        self._bar: Bar | None = None
        self._display, self._shown_at = _notebook_display(), -float("inf")
        self._cell: Any = None

    def __enter__(self) -> ProgressBar:  # noqa: PYI034 - typing.Self came with Python 3.11
        return self

    def __call__(self, state: Progress) -> None:
        """Show how far it is."""
        trouble = f"{state.failures:,} failures" if state.failures else ""
        if state.set_aside:
            trouble += f", {state.set_aside:,} words set aside"
        speed = f"{state.words_per_second:,.1f} {self._counted}/s"
        if self._display is not None:
            self._show_in_notebook(state, speed, trouble)
            return
        if self._bar is None:
            self._bar = _new_bar()
            self._bar.start()
            self._bar.add_task(self._task, total=state.total, speed="", trouble="")
        self._bar.update(self._bar.task_ids[0], completed=state.done, speed=speed, trouble=trouble)

    def _show_in_notebook(self, state: Progress, speed: str, trouble: str) -> None:
        now = time.monotonic()
        if now - self._shown_at < _SECONDS_BETWEEN_CELLS and state.done < state.total:
            return
        self._shown_at = now
        left = "" if state.seconds_left == float("inf") else f"{state.seconds_left:,.0f} s left"
        facts = [f"{self._task}: {state.done:,} of {state.total:,}", speed, left, trouble]
        bar = f'<progress value="{state.done}" max="{state.total}"></progress>'
        content = {"text/html": f"{bar} {escape(', '.join(filter(None, facts)))}"}
        if self._cell is None:
            self._cell = self._display(content, raw=True, display_id=True)
        else:
            self._cell.update(content, raw=True)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def _notebook_display() -> Any:
    """Return the function that shows something below a notebook's cell; None outside of notebooks."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if getattr(shell, "kernel", None) is None:  # none, or a terminal
        return None
    from IPython.display import display

    return display


def _new_bar() -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    return Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[speed]}"),
        TextColumn("{task.fields[trouble]}", style="red"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )


class ProgressLog:
    """A file of JSON lines that is appended to: `start`, `progress`, `failure` and `end` events.

    Parameters
    ----------
    path
        The file; it is made if there is none.
    facts
        What the `start` event says besides.
    seconds
        Least time between two `progress` events.
    """

    def __init__(self, path: Path, facts: dict[str, Any] | None = None, *, seconds: float = 1.0) -> None:
        self._path, self._seconds = path, seconds
        with writing(path):
            self._file = path.open("a", encoding="utf-8")
        self._last: Progress | None = None
        self._written = -float("inf")
        self._say("start", **(facts or {}))

    def __enter__(self) -> ProgressLog:  # noqa: PYI034 - typing.Self came with Python 3.11
        return self

    def __call__(self, state: Progress) -> None:
        """Write down what has failed and, now and then, how far it is."""
        for failure in state.new_failures:
            names = {"words": list(failure.words), "problem": failure.problem}
            self._say("failure", **names, set_aside=failure.is_final)
        self._last = state
        if time.monotonic() - self._written >= self._seconds:
            self._written = time.monotonic()
            self._say("progress", **_figures(state))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        status = "finished" if kind is None else "stopped"
        with self._file:
            figures = {} if self._last is None else _figures(self._last)
            self._say("end", status=status, **figures, **({"problem": str(error)} if error else {}))

    def _say(self, event: str, **facts: Any) -> None:
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        with writing(self._path):
            self._file.write(json.dumps({"time": now, "event": event, **facts}) + "\n")
            self._file.flush()


def _figures(state: Progress) -> dict[str, Any]:
    left = round(state.seconds_left, 1) if state.seconds_left != float("inf") else None
    return {
        "done": state.done,
        "total": state.total,
        "words_per_second": round(state.words_per_second, 2),
        "seconds_left": left,
        "failures": state.failures,
        "set_aside": state.set_aside,
    }
