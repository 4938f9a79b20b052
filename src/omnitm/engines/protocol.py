"""What every engine does: train words, hand over their rows, and say how far it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex
    from omnitm.machine import AutoencoderSettings


class WordJob(NamedTuple):
    """One word to train: nothing else than this, the index and the settings decides its vector."""

    row: int
    """Row of the matrix that the vector belongs to."""
    target: int
    """Position of the word in the index's vocabulary."""
    key: int
    """The 64 bits that all random draws of the word come from."""


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
        self,
        index: DocumentIndex,
        settings: AutoencoderSettings,
        jobs: Sequence[WordJob],
        write: Callable[[int, NDArray[np.int16]], None],
        report: Report,
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
