"""What every engine does: work on words, hand over the results, and say how far it is.

The work is training, whose result is a word's row; comparing words is another kind of work.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus import DocumentIndex
from omnitm.machine import AutoencoderSettings
from omnitm.machine.autoencoder import TrainingCorpus, WordTrainer, n_features

Write = Callable[[int, NDArray[Any]], None]
_LEAST_SECONDS = 600.0  # a machine that swaps, or a disk that sleeps, is not a worker that hangs
# Per example, and per clause or merged document of it: some thousand times what it takes on a good machine.
_SECONDS_PER_STEP = 0.01
MOST_SECONDS = 1e7  # what the watchdog of a Ray worker can count


class WordJob(NamedTuple):
    """One word to train: nothing else than this, the index and the settings decides its vector."""

    row: int
    """Row of the matrix that the vector belongs to."""
    target: int
    """Position of the word in the index's vocabulary."""
    key: int
    """The 64 bits that all random draws of the word come from."""


Jobs = Sequence[WordJob]


class Failure(NamedTuple):
    """Words that could not be trained at an attempt."""

    jobs: tuple[WordJob, ...]
    """The word that failed, or all that were lost together."""
    problem: str
    """What happened."""
    is_final: bool
    """Whether the word is set aside; otherwise it is tried again."""


class Report(Protocol):
    """Told how many rows are written so far, and what has failed since it was last called."""

    def __call__(self, done: int, failures: Sequence[Failure] = ()) -> None:
        """Say how far it is."""


class Engine(Protocol):
    """Trains words somewhere: in threads, processes, or on other machines."""

    def train(
        self, index: DocumentIndex, settings: AutoencoderSettings, jobs: Jobs, write: Write, report: Report
    ) -> None:
        """Train every job, except those that are reported as a final failure.

        Parameters
        ----------
        write
            Called once per job with its row and vector, from any thread of this process; the vector's
            memory is used again afterwards.
        report
            Called now and then, and once at the end; always in the calling thread. If it raises,
            training stops as it does on Ctrl-C: rows that are being trained are either written whole
            or not at all, and the exception goes on.
        """


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


class WordEngine(Engine, ABC):
    """An engine for any work on words."""

    @abstractmethod
    def run(self, index: DocumentIndex, work: Work, jobs: Jobs, write: Write, report: Report) -> None:
        """Do the work of every job; `write` and `report` are called as in `Engine.train`."""

    def train(  # noqa: D102
        self, index: DocumentIndex, settings: AutoencoderSettings, jobs: Jobs, write: Write, report: Report
    ) -> None:
        self.run(index, WordTraining(settings), jobs, write, report)


@dataclass(frozen=True)
class WordTraining:
    """Training: the result of a word is its row."""

    settings: AutoencoderSettings
    dtype: str = "<i2"

    @property
    def has_order(self) -> bool:  # noqa: D102
        return self.settings.reads_order

    def result_bytes(self, index: DocumentIndex) -> int:  # noqa: D102
        return 2 * sum(n_features(index, self.settings, kind) for kind in self.settings.kinds)

    def seconds_allowed(self, n_words: int = 1) -> float:
        """Return the seconds in which some words must be finished when nothing else is known of them.

        >>> from omnitm.machine import AutoencoderSettings
        >>> WordTraining(AutoencoderSettings()).seconds_allowed()
        1080.0
        """
        longest = max(self.settings.n_clauses, self.settings.accumulation * self.settings.accumulation_growth)
        steps = n_words * self.settings.total_examples * longest
        return min(_LEAST_SECONDS + _SECONDS_PER_STEP * steps, MOST_SECONDS)

    def worker(self, corpus: TrainingCorpus) -> Worker:  # noqa: D102
        return _Trainer(WordTrainer(corpus, self.settings))


class _Trainer:
    def __init__(self, machine: WordTrainer) -> None:
        self._machine, self.stop = machine, machine.stop
        self._row = np.empty(machine.row_size, dtype=np.int16)

    def result(self, job: WordJob) -> NDArray[Any] | None:
        return self._machine.embedding(self._row) if self._machine.train(job.target, job.key) else None
