"""What is done with every word, wherever it is done: trained; comparisons are another kind of work."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from omnitm.engines.job_queue import silence_allowed
from omnitm.machine.autoencoder import TrainingCorpus, WordTrainer, n_features

if TYPE_CHECKING:
    from omnitm.corpus import DocumentIndex
    from omnitm.engines.protocol import Report, WordJob
    from omnitm.machine import AutoencoderSettings

Write = Callable[[int, NDArray[Any]], None]


class Worker(Protocol):
    """Does the work of one thread or process, word after word."""

    def result(self, job: WordJob) -> NDArray[Any] | None:
        """Do the work of a word; its memory may be used again for the next one. None: `stop` ended it."""

    def stop(self) -> None:
        """Make `result`, running in another thread, return soon."""


class Work(Protocol):
    """What workers are told once: with it, the corpus and a job, the result is the same everywhere.

    It is pickled for other processes; equal works do the same.
    """

    @property
    def has_order(self) -> bool:
        """Whether the running text is needed."""

    @property
    def dtype(self) -> str:
        """Type of the numbers of a result."""

    def result_bytes(self, index: DocumentIndex) -> int:
        """Return how large a result is, or about."""

    def seconds_allowed(self, n_words: int = 1) -> float:
        """Return the seconds after which a worker that has not done so many words counts as hung."""

    def worker(self, corpus: TrainingCorpus) -> Worker:
        """Make a worker; not thread-safe."""


@dataclass(frozen=True)
class WordTraining:
    """Training: the result of a word is its row."""

    settings: AutoencoderSettings
    dtype: str = "<i2"

    @property
    def has_order(self) -> bool:  # noqa: D102
        return "place" in self.settings.kinds

    def result_bytes(self, index: DocumentIndex) -> int:  # noqa: D102
        return 2 * sum(n_features(index, self.settings, kind) for kind in self.settings.kinds)

    def seconds_allowed(self, n_words: int = 1) -> float:  # noqa: D102
        return silence_allowed(self.settings, n_words)

    def worker(self, corpus: TrainingCorpus) -> Worker:  # noqa: D102
        return _Trainer(WordTrainer(corpus, self.settings))


class _Trainer:
    def __init__(self, machine: WordTrainer) -> None:
        self._machine, self.stop = machine, machine.stop
        self._row = np.empty(machine.row_size, dtype=np.int16)

    def result(self, job: WordJob) -> NDArray[Any] | None:
        return self._machine.embedding(self._row) if self._machine.train(job.target, job.key) else None


class WordEngine(ABC):
    """An engine for any work on words."""

    @abstractmethod
    def run(
        self, index: DocumentIndex, work: Work, jobs: Sequence[WordJob], write: Write, report: Report
    ) -> None:
        """Do the work of every job; `write` and `report` are called as in `omnitm.engines.Engine`."""

    def train(
        self,
        index: DocumentIndex,
        settings: AutoencoderSettings,
        jobs: Sequence[WordJob],
        write: Callable[[int, NDArray[np.int16]], None],
        report: Report,
    ) -> None:
        """Train every job; see `omnitm.engines.Engine`."""
        self.run(index, WordTraining(settings), jobs, write, report)
