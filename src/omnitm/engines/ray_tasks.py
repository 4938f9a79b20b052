"""What runs on the workers of a Ray cluster: a batch of words in, their results out."""

from __future__ import annotations

import contextlib
import faulthandler
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from omnitm import __version__
from omnitm.engines.shared_corpus import MappedCorpus, SharedCorpus, local_copy
from omnitm.errors import EngineError, FileError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from omnitm.engines.protocol import WordJob
    from omnitm.engines.work import Work, Worker


class BatchTask(NamedTuple):
    """All that a worker needs to know, beside the words."""

    corpus: SharedCorpus
    work: Work
    version: str
    patience: float | None = None


class BatchResult(NamedTuple):
    """What became of a batch."""

    results: dict[int, NDArray[Any]]
    """By position in the batch: what came of the words that are done."""
    failures: dict[int, str]
    """Positions of the others, with what happened."""
    seconds: float
    """How long all of them took."""


class CorpusNotHere(Exception):  # noqa: N818 - a question to the driver, not an error of the user
    """The machine of this worker does not see the corpus and has no copy; call again with a source."""


def train_batch(task: BatchTask, jobs: Sequence[WordJob], source: Any = None) -> BatchResult:
    """Work on words; runs in a worker process of the cluster."""
    if task.version != __version__:
        versions = f"{__version__} on a worker, {task.version} where training was started"
        raise EngineError(f"Versions of omnitm differ: {versions}; install the same everywhere.")
    worker = _worker(task, source)
    started = time.monotonic()
    results: dict[int, NDArray[Any]] = {}
    failures: dict[int, str] = {}
    with _watchdog(task, len(jobs)):
        for position, job in enumerate(jobs):
            try:
                result = worker.result(job)
            except (MemoryError, ValueError, RuntimeError) as error:  # noqa: PERF203 - of one word only
                failures[position] = f"{type(error).__name__}: {error}"
                _workers.clear()  # it may be half-done
                worker = _worker(task, source)
            else:
                assert result is not None  # noqa: S101 - nobody stops it
                # The worker's memory is used again for the next word.
                results[position] = result.copy()
    return BatchResult(results, failures, time.monotonic() - started)


@contextlib.contextmanager
def _watchdog(task: BatchTask, n_words: int) -> Iterator[None]:
    """End this process if the block hangs, even in native code: to the driver, a worker that died."""
    seconds = task.work.seconds_allowed(n_words) if task.patience is None else task.patience
    faulthandler.dump_traceback_later(seconds, exit=True, file=_STANDARD_ERROR)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


_STANDARD_ERROR = 2
_workers: dict[BatchTask, Worker] = {}


def _worker(task: BatchTask, source: Any) -> Worker:
    """Return the worker of this process, which serves batch after batch."""
    if task not in _workers:
        _workers.clear()
        _workers[task] = task.work.worker(_corpus(task.corpus, source))
    return _workers[task]


def _corpus(corpus: SharedCorpus, source: Any) -> MappedCorpus:
    try:
        return MappedCorpus.open(corpus)
    except FileError:
        found = local_copy(corpus, None if source is None else _reader(source))
    if found is None:
        raise CorpusNotHere
    return found


def _reader(source: Any) -> Any:
    import ray

    return lambda name, offset, size: ray.get(source.read.remote(name, offset, size))
