"""The classic TM-AE (Bhattarai et al. 2024): the words wanted share one bank of clauses."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from omnitm.baselines.protocol import as_word_vectors, run_in_background
from omnitm.errors import OmniTMWarning
from omnitm.machine import AutoencoderSettings, word_key
from omnitm.machine.shared import SharedAutoencoder
from omnitm.parameters import check_integer
from omnitm.training.progress import reporting
from omnitm.training.vocabulary import check_targets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex
    from omnitm.training.progress import ProgressOption
    from omnitm.vectors import WordVectors

_MANY_EXAMPLES = 50_000_000  # hours


@dataclass(frozen=True, kw_only=True)
class TMAE:
    """Several words, one bank of clauses; the vector of a word is its row of clause weights.

    The defaults are those of the published demonstration. Every word sees `n_examples * n_epochs` examples,
    one after the other in one thread, so name the words that you want: the whole of a large vocabulary
    takes days.

    Parameters
    ----------
    n_clauses, threshold, specificity, accumulation, n_examples, n_epochs, max_included_literals
        As for `OmniTMAE`.
    negated_literals
        Whether clauses may ask for the absence of a word.
    seed
        Seed of all random draws. A word's vector also depends on the other words.
    n_jobs
        Has no effect.
    """

    n_clauses: int = 80
    threshold: int = 160
    specificity: float = 5.0
    accumulation: int = 25
    n_examples: int = 2_000
    n_epochs: int = 25
    max_included_literals: int | None = 3
    negated_literals: bool = False
    seed: int = 0
    n_jobs: int = 1
    name: ClassVar[str] = "tmae"

    def __post_init__(self) -> None:
        check_integer("TMAE", "seed", self.seed, 0, 2**64 - 1)
        check_integer("TMAE", "n_jobs", self.n_jobs, 1)
        self.machine_settings()

    def machine_settings(self) -> AutoencoderSettings:
        """Return the settings of the shared machine."""
        return AutoencoderSettings(
            n_clauses=self.n_clauses,
            threshold=self.threshold,
            specificity=self.specificity,
            accumulation=self.accumulation,
            n_examples=self.n_examples,
            n_epochs=self.n_epochs,
            max_included_literals=self.max_included_literals,
        )

    def train(
        self, index: DocumentIndex, words: Iterable[str] | None = None, *, progress: ProgressOption = False
    ) -> WordVectors:
        """Train the words together; None: the whole vocabulary."""
        targets, settings = check_targets(index, words), self.machine_settings()
        n_examples = len(targets) * settings.total_examples
        if n_examples > _MANY_EXAMPLES:
            warnings.warn(
                f"{len(targets):,} words with {settings.total_examples:,} examples each will take hours or "
                "days; name fewer words or lower n_examples.",
                OmniTMWarning,
                stacklevel=2,
            )
        with reporting(progress, 0, n_examples, "training on examples") as report:
            weights = train_shared(
                index, settings, targets, self.seed, report, negated_literals=self.negated_literals
            )
        return as_word_vectors(self, index, weights.astype(np.float32), targets)


def train_shared(
    index: DocumentIndex,
    settings: AutoencoderSettings,
    words: Sequence[str],
    seed: int,
    report: Callable[[int], None],
    *,
    negated_literals: bool,
) -> NDArray[np.int32]:
    """Train words in one bank; returns their clause weights, words x clauses."""
    machine = SharedAutoencoder(index, settings, negated_literals=negated_literals)
    targets = [index.word_id(word) for word in words]
    keys = [word_key(seed, word) for word in words]

    def work() -> None:
        machine.train(targets, keys, word_key(seed, "\n".join(words)))

    run_in_background([work], machine.stop, lambda: report(machine.n_done * len(words)))
    return machine.weights
