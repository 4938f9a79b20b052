"""What runs on the workers of a Ray cluster: a batch of words in, their vectors out."""

from __future__ import annotations

import contextlib
import faulthandler
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from omnitm import __version__
from omnitm.engines.job_queue import silence_allowed
from omnitm.engines.shared_corpus import MappedCorpus, SharedCorpus, local_copy
from omnitm.errors import EngineError, FileError
from omnitm.machine.autoencoder import WordTrainer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from omnitm.engines.protocol import WordJob
    from omnitm.machine.settings import AutoencoderSettings


class BatchTask(NamedTuple):
    """All that a worker needs to know, beside the words."""

    corpus: SharedCorpus
    settings: AutoencoderSettings
    version: str
    patience: float | None = None


class BatchResult(NamedTuple):
    """What became of a batch."""

    trained: list[int]
    """Positions in the batch of the words that are trained."""
    vectors: NDArray[np.int16]
    """Their vectors."""
    failures: dict[int, str]
    """Positions of the others, with what happened."""
    seconds: float
    """How long training took."""


class CorpusNotHere(Exception):  # noqa: N818 - a question to the driver, not an error of the user
    """The machine of this worker does not see the corpus and has no copy; call again with a source."""


def train_batch(task: BatchTask, jobs: Sequence[WordJob], source: Any = None) -> BatchResult:
    """Train words; runs in a worker process of the cluster."""
    if task.version != __version__:
        versions = f"{__version__} on a worker, {task.version} where training was started"
        raise EngineError(f"Versions of omnitm differ: {versions}; install the same everywhere.")
    machine = _machine(task, source)
    started = time.monotonic()
    vectors = np.empty((len(jobs), machine.row_size), dtype=np.int16)
    trained: list[int] = []
    failures: dict[int, str] = {}
    with _watchdog(task, len(jobs)):
        for position, job in enumerate(jobs):
            try:
                machine.train(job.target, job.key)
                machine.embedding(vectors[len(trained)])
            except (MemoryError, ValueError, RuntimeError) as error:  # noqa: PERF203 - of one word only
                failures[position] = f"{type(error).__name__}: {error}"
                _machines.clear()  # it may be half-done
                machine = _machine(task, source)
            else:
                trained.append(position)
    return BatchResult(trained, vectors[: len(trained)], failures, time.monotonic() - started)


@contextlib.contextmanager
def _watchdog(task: BatchTask, n_words: int) -> Iterator[None]:
    """End this process if the block hangs, even in native code: to the driver, a worker that died."""
    seconds = silence_allowed(task.settings, n_words) if task.patience is None else task.patience
    faulthandler.dump_traceback_later(seconds, exit=True, file=_STANDARD_ERROR)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


_STANDARD_ERROR = 2
_machines: dict[BatchTask, WordTrainer] = {}


def _machine(task: BatchTask, source: Any) -> WordTrainer:
    """Return the machine of this process, which serves batch after batch."""
    if task not in _machines:
        _machines.clear()
        _machines[task] = WordTrainer(_corpus(task.corpus, source), task.settings)
    return _machines[task]


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
