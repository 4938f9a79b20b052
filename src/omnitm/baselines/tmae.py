"""TM-AE whose words share one bank of clauses: the classic (Bhattarai et al. 2024), and in two phases."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from omnitm.baselines.protocol import Baseline, Learned, Limits
from omnitm.corpus import DocumentIndex
from omnitm.engines.threads import run_in_background
from omnitm.errors import CorpusError, OmniTMWarning
from omnitm.machine import Autoencoder, AutoencoderSettings, word_key
from omnitm.machine.autoencoder import SharedAutoencoder
from omnitm.training.progress import ProgressOption, reporting

_MANY_EXAMPLES = 50_000_000  # hours


@dataclass(frozen=True, kw_only=True)
class TMAE(Baseline):
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
    name = "tmae"
    limits: ClassVar[Limits] = {"seed": (0, 2**64 - 1), "n_jobs": (1,)}

    def __post_init__(self) -> None:
        super().__post_init__()
        self.machine_settings()

    def machine_settings(self) -> AutoencoderSettings:
        """Return the settings of the shared machine."""
        return _settings_of(self)

    def learn(self, index: DocumentIndex, words: Sequence[str], progress: ProgressOption) -> Learned:
        """Train the words together; None: the whole vocabulary."""
        settings = self.machine_settings()
        n_examples = len(words) * settings.total_examples
        if n_examples > _MANY_EXAMPLES:
            warnings.warn(
                f"{len(words):,} words with {settings.total_examples:,} examples each will take hours or "
                "days; name fewer words or lower n_examples.",
                OmniTMWarning,
                stacklevel=3,
            )
        with reporting(progress, 0, n_examples, "training on examples") as report:
            weights = train_shared(
                index, settings, words, self.seed, report, negated_literals=self.negated_literals
            )
        return weights.astype(np.float32), {}


def _settings_of(model: TMAE | TwoPhaseTMAE, prefix: str = "") -> AutoencoderSettings:
    names = ("n_clauses", "threshold", "specificity", "accumulation", "n_examples", "n_epochs")
    chosen = {name: getattr(model, prefix + name) for name in names}
    return AutoencoderSettings(**chosen, max_included_literals=model.max_included_literals)


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


Clauses = list["NDArray[np.int64]"]  # of one word: the words that each clause includes


@dataclass(frozen=True, kw_only=True)
class TwoPhaseTMAE(Baseline):
    """First each word alone, without negated literals; then the words together, on clauses for documents.

    Phase 1 keeps, for every word, the words that its clauses of positive weight include. An example of
    phase 2 merges such clauses: of the word (label 1) or of the other words (label 0). The vector of a word
    is its row of clause weights in phase 2. The defaults are the paper's; phase 1 costs 15 seconds
    per word with them, so lower `n_clauses` or `n_examples` for more than a few hundred words.

    Parameters
    ----------
    n_clauses, threshold, specificity, accumulation, n_examples, n_epochs, max_included_literals
        Phase 1; as for `OmniTMAE`.
    second_n_clauses, second_threshold, second_specificity, second_accumulation, second_n_examples, \
second_n_epochs
        Phase 2.
    seed
        Seed of all random draws.
    n_jobs
        Threads of phase 1; the result does not depend on it.
    """

    n_clauses: int = 1_600
    threshold: int = 3_200
    specificity: float = 5.0
    accumulation: int = 25
    n_examples: int = 2_000
    n_epochs: int = 25
    max_included_literals: int | None = 3
    second_n_clauses: int = 80
    second_threshold: int = 800
    second_specificity: float = 5.0
    second_accumulation: int = 10
    second_n_examples: int = 1_000
    second_n_epochs: int = 100
    seed: int = 0
    n_jobs: int = 1
    name = "two-phase"
    limits: ClassVar[Limits] = {"seed": (0, 2**64 - 1), "n_jobs": (1,)}

    def __post_init__(self) -> None:
        super().__post_init__()
        self.first_settings()
        self.second_settings()

    def first_settings(self) -> AutoencoderSettings:
        """Return the settings of a word's own machine."""
        return _settings_of(self)

    def second_settings(self) -> AutoencoderSettings:
        """Return the settings of the shared machine."""
        return _settings_of(self, "second_")

    def learn(self, index: DocumentIndex, words: Sequence[str], progress: ProgressOption) -> Learned:
        """Train the words; None: the whole vocabulary."""
        first, second = self.first_settings().total_examples, self.second_settings().total_examples
        with reporting(progress, 0, len(words) * (first + second), "training on examples") as report:
            clauses = self.first_phase(index, words, lambda n_words: report(n_words * first))
            before = len(words) * first
            weights = train_shared(
                clause_index(index, words, clauses),
                self.second_settings(),
                words,
                self.seed,
                lambda n_examples: report(before + n_examples),
                negated_literals=False,
            )
        return weights.astype(np.float32), {}

    def first_phase(
        self, index: DocumentIndex, words: Sequence[str], report: Callable[[int], None]
    ) -> list[Clauses]:
        """Train every word alone; returns the words that its positive clauses include, clause by clause."""
        found: list[Clauses] = [[] for _ in words]
        queue = iter(range(len(words)))
        machines = [
            Autoencoder(index, self.first_settings(), negated_literals=False)
            for _ in range(min(self.n_jobs, len(words)))
        ]
        done = [0] * len(machines)

        def work(member: int) -> None:
            for row in queue:
                if not machines[member].train(index.word_id(words[row]), word_key(self.seed, words[row])):
                    return
                found[row] = included_words(machines[member])
                done[member] += 1

        def stop() -> None:
            list(queue)
            for machine in machines:
                machine.stop()

        tasks = [lambda member=member: work(member) for member in range(len(machines))]
        run_in_background(tasks, stop, lambda: report(sum(done)))
        return found


def included_words(machine: Autoencoder) -> Clauses:
    """List the words that each clause of positive weight includes; empty clauses are left out."""
    n_words = machine.index.n_words
    included = machine.states[machine.weights > 0, :n_words] >= machine.settings.include_from
    clauses = [np.flatnonzero(row) for row in included]
    return [clause for clause in clauses if len(clause)]


def clause_index(index: DocumentIndex, words: Sequence[str], clauses: Sequence[Clauses]) -> DocumentIndex:
    """Make an index whose documents are clauses: "documents of a word" are the clauses that it owns.

    Its vocabulary are the words that occur in a clause, and the words themselves.
    """
    documents = [clause for owned in clauses for clause in owned]
    if not documents:
        raise CorpusError("No clause includes a word after phase 1; train longer: raise n_examples.")
    contents = np.concatenate(documents)
    owners = np.array([index.word_id(word) for word in words], dtype=np.int64)
    # Sorted, so that `searchsorted` turns old numbers of words into new ones.
    kept = np.union1d(contents, owners)
    offsets = np.cumsum([0, *map(len, documents)])
    n_owned = np.zeros(len(kept), dtype=np.int64)
    n_owned[np.searchsorted(kept, owners)] = [len(owned) for owned in clauses]
    first_document = dict(zip(owners.tolist(), np.cumsum([0, *map(len, clauses)]).tolist(), strict=False))
    ranges = [
        np.arange(n) + first_document.get(word, 0)
        for word, n in zip(kept.tolist(), n_owned.tolist(), strict=True)
    ]
    return DocumentIndex(
        vocabulary=[index.vocabulary[k] for k in kept.tolist()],
        document_offsets=offsets.astype(np.uint64),
        document_words=np.searchsorted(kept, contents).astype(np.uint32),
        word_offsets=np.cumsum([0, *n_owned.tolist()]).astype(np.uint64),
        word_documents=np.concatenate(ranges).astype(np.uint32),
    )
