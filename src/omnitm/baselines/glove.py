"""GloVe: vectors whose products give the logarithm of how often words stand near each other; native code."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from omnitm import _native
from omnitm.baselines.protocol import Baseline, Learned, Limits
from omnitm.baselines.texts import Tokens, tokens_of
from omnitm.corpus import DocumentIndex
from omnitm.errors import CorpusError
from omnitm.training.progress import ProgressOption, reporting

#: A count of two neighbours, as in native/glove.hpp.
ENTRY = np.dtype([("row", "<u4"), ("column", "<u4"), ("log_count", "<f4"), ("importance", "<f4")])
N_GROUPS = 8  # blocks that may be trained side by side; part of the result, unlike the number of threads
NEIGHBOURS_AT_ONCE = 1 << 26  # 8 bytes each while they are counted
_LANES = 8  # floats per step of the native code


@dataclass(frozen=True, kw_only=True)
class GloVe(Baseline):
    """GloVe (Pennington et al. 2014), trained by AdaGrad on counts of neighbours.

    A neighbour at distance n counts 1/n, on both sides, within a document. The vector of a word is the sum
    of its vectors as a word and as a context. The same seed gives the same bytes for any `n_jobs`.

    Parameters
    ----------
    vector_size
        Number of coordinates.
    window
        How far apart two words may be, in words of the vocabulary.
    n_epochs
        Passes over the counts.
    x_max, alpha
        Counts below `x_max` weigh `(count / x_max) ** alpha`, the others 1.
    learning_rate
        Size of a first step.
    seed
        Seed of the first vectors and of the order of the counts.
    n_jobs
        Threads.
    """

    vector_size: int = 100
    window: int = 5
    n_epochs: int = 25
    x_max: float = 100.0
    alpha: float = 0.75
    learning_rate: float = 0.05
    seed: int = 0
    n_jobs: int = 1
    name = "glove"
    limits: ClassVar[Limits] = {
        **dict.fromkeys(("vector_size", "window", "n_epochs", "n_jobs"), (1, 1 << 20)),
        "seed": (0,),
        "x_max": (1e-6,),
        "alpha": (0.0, 10.0),
        "learning_rate": (1e-9, 10.0),
    }

    def learn(self, index: DocumentIndex, words: Sequence[str], progress: ProgressOption) -> Learned:
        """Count neighbours in the text behind the index, then learn; rows are `words`, or all words."""
        rng = np.random.default_rng(self.seed)
        with ExitStack() as stack:
            with tokens_of(index) as tokens:
                blocks = stack.enter_context(self.counts(tokens, index.n_words, rng))
            n_entries = sum(map(len, blocks))
            if n_entries == 0:
                raise CorpusError(
                    "No two words of the text stand in one document; GloVe has nothing to learn."
                )
            with reporting(progress, 0, n_entries * self.n_epochs, "training on pairs") as report:
                vectors = self.fit(blocks, index.n_words, rng, report)
        return vectors[[index.word_id(word) for word in words]], {}

    @contextmanager
    def counts(
        self, tokens: Tokens, n_words: int, rng: np.random.Generator
    ) -> Iterator[list[NDArray[np.void]]]:
        """Count neighbours; entries are shuffled in blocks (row group, column group) in temporary files."""
        text = (tokens.ids, tokens.offsets, n_words, self.window)
        neighbours = _native.glove_neighbours(*text)
        with ExitStack() as stack:
            files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(N_GROUPS**2)]
            for first, end in _ranges(neighbours):
                parts = _native.glove_count(*text, first, end, N_GROUPS, self.x_max, self.alpha)
                for file, part in zip(files, parts, strict=True):
                    part.tofile(file)
            yield [_shuffled(file, rng) for file in files]

    def fit(
        self,
        blocks: list[NDArray[np.void]],
        n_words: int,
        rng: np.random.Generator,
        report: Callable[[int], None],
    ) -> NDArray[np.float32]:
        """Learn from blocks of counts; returns the sum of word and context vectors."""
        size = self.vector_size
        words, contexts = (_first_vectors(n_words, size, bias, rng) for bias in (size, size + 1))
        done = 0
        for _ in range(self.n_epochs):
            # Blocks (row, row + shift) share neither words nor contexts: threads never touch one vector, and
            # the result does not depend on their number.
            for shift in rng.permutation(N_GROUPS).tolist():
                apart = [blocks[row * N_GROUPS + (row + shift) % N_GROUPS] for row in range(N_GROUPS)]
                entries = [block.view(np.uint8) for block in apart]
                _native.glove_train(words, contexts, size, entries, self.learning_rate, self.n_jobs)
                done += sum(map(len, apart))
                report(done)
        return words[:, :size] + contexts[:, :size]


def _ranges(neighbours: NDArray[np.uint64]) -> Iterator[tuple[int, int]]:
    """Ranges of words whose neighbours fit into memory together; a range has at least one word."""
    ends = np.cumsum(neighbours.astype(np.int64))
    first = 0
    while first < len(ends):
        before = ends[first - 1] if first else 0
        end = max(first + 1, int(np.searchsorted(ends, before + NEIGHBOURS_AT_ONCE, side="right")))
        yield first, end
        first = end


def _shuffled(file: Any, rng: np.random.Generator) -> NDArray[np.void]:
    """Put the entries of a file into random order; they stay on disk and are read when used."""
    file.seek(0)
    entries = np.fromfile(file, dtype=ENTRY)
    entries = entries[rng.permutation(len(entries))]
    file.seek(0)
    entries.tofile(file)
    file.flush()
    return np.memmap(file, dtype=ENTRY, mode="r") if len(entries) else entries


def _first_vectors(n_words: int, size: int, bias: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Small random parameters (one bias learned, the other 1), then squares that start at 1."""
    # Vector and two biases, filled up to whole steps of the native code.
    width = -(-(size + 2) // _LANES) * _LANES
    vectors = np.zeros((n_words, 2 * width), dtype=np.float32)
    # AdaGrad: the second half of a row sums up squared gradients.
    vectors[:, width:] = 1.0
    vectors[:, :size] = (rng.random((n_words, size), dtype=np.float32) - 0.5) / size
    vectors[:, bias] = (rng.random(n_words, dtype=np.float32) - 0.5) / size
    # w c + b_w + b_c as one product: each side has its own bias where the other has the 1.
    vectors[:, 2 * size + 1 - bias] = 1.0
    return vectors
