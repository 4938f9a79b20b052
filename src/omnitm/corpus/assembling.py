"""Second pass: final word numbers, documents in order, and the same pairs word by word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from omnitm._native import interleave, invert, remap_documents
from omnitm.corpus.counting import FinalNumbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from omnitm.corpus.counting import Counted, CountedBlock, Generation
    from omnitm.corpus.scratch import Handle, Scratch
    from omnitm.corpus.spread import Spread

PAIRS_PER_RUN = 2_000_000


class Sink(Protocol):
    """Where the arrays of an index go."""

    def append(self, name: str, array: NDArray[Any]) -> None:
        """Put `array` at the end of the array called `name`."""


class Run(NamedTuple):
    """Consecutive documents, turned around: how often each word occurs, and its documents, word by word."""

    counts: Handle
    documents: Handle


class Assembled(NamedTuple):
    """Sizes of what was written."""

    n_pairs: int
    n_empty_documents: int


Chunk = tuple[int, "list[CountedBlock]", "list[NDArray[np.uint32]]"]  # first document, blocks, their remaps
WordRange = tuple[int, int, list[int]]  # words from, to, and where they begin in every run


class Assembler:
    """Writes `document_offsets`, `document_words`, `word_offsets` and `word_documents` to a sink."""

    def __init__(self, scratch: Scratch, sink: Sink, spread: Spread) -> None:
        self._scratch, self._sink, self._spread = scratch, sink, spread
        self._pairs, self._lengths, self._turned = _Buffers(), _Buffers(), _Buffers()

    def assemble(
        self, counted: Counted, vocabulary: Sequence[str], report: Callable[[int], None]
    ) -> Assembled:
        """Write both orders; `report` hears how many documents are done."""
        runs, assembled = self._write_documents(counted, vocabulary, report)
        self._write_words(runs, len(vocabulary))
        return assembled

    def _write_documents(
        self, counted: Counted, vocabulary: Sequence[str], report: Callable[[int], None]
    ) -> tuple[list[Run], Assembled]:
        remaps = _Remaps(FinalNumbers(vocabulary, self._scratch), 2 * len(counted.workers) + 2)
        remaps.prepare(counted, self._spread)
        chunks = (
            (first, blocks, [remaps.of(block.generation) for block in blocks])
            for first, blocks in _chunks(counted.blocks)
        )
        runs: list[Run] = []
        n_pairs = n_documents = n_empty = 0
        self._sink.append("document_offsets", np.zeros(1, dtype=np.uint64))
        for words, lengths, run in self._spread.map(lambda chunk: self._turn(chunk, len(vocabulary)), chunks):
            ends = np.cumsum(lengths, dtype=np.uint64) + np.uint64(n_pairs)
            self._sink.append("document_words", words)
            self._sink.append("document_offsets", ends)
            n_pairs += len(words)
            n_documents += len(lengths)
            n_empty += int(np.count_nonzero(lengths == 0))
            runs.append(run)
            self._pairs.give_back(words)
            self._lengths.give_back(lengths)
            report(n_documents)
        return runs, Assembled(n_pairs, n_empty)

    def _turn(self, chunk: Chunk, n_words: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32], Run]:
        """Give some documents their final word numbers, and set them aside word by word."""
        first, blocks, remaps = chunk
        ids, lengths = ([block.ids for block in blocks], [block.lengths for block in blocks])
        words = self._pairs.take(sum(handle.size for handle in ids))
        words_per_document = self._lengths.take(n := sum(handle.size for handle in lengths))[:n]
        get = self._scratch.get
        n_pairs = remap_documents(
            list(map(get, ids)), list(map(get, lengths)), remaps, words, words_per_document
        )
        for handle in (*ids, *lengths):
            self._scratch.free(handle)
        return (
            words[:n_pairs],
            words_per_document,
            self._run(words[:n_pairs], words_per_document, first, n_words),
        )

    def _run(self, words: NDArray[np.uint32], lengths: NDArray[np.uint32], first: int, n_words: int) -> Run:
        counts, documents = np.empty(n_words, dtype=np.uint32), self._turned.take(len(words))
        invert(words, lengths, first, counts, documents)
        run = Run(self._scratch.put(counts), self._scratch.put(documents[: len(words)]))
        self._turned.give_back(documents)
        return run

    def _write_words(self, runs: Sequence[Run], n_words: int) -> None:
        totals = np.zeros(n_words, dtype=np.uint64)
        for run in runs:
            totals += self._scratch.get(run.counts)
        offsets = np.zeros(n_words + 1, dtype=np.uint64)
        np.cumsum(totals, out=offsets[1:])
        self._sink.append("word_offsets", offsets)
        for joined in self._spread.map(lambda part: self._join(runs, part), self._word_ranges(runs, offsets)):
            self._sink.append("word_documents", joined)
            self._pairs.give_back(joined)

    def _join(self, runs: Sequence[Run], part: WordRange) -> NDArray[np.uint32]:
        low, high, starts = part
        counts = [self._scratch.get(run.counts, low, high) for run in runs]
        documents = [
            self._scratch.get(run.documents, start, start + int(count.sum()))
            for run, start, count in zip(runs, starts, counts, strict=True)
        ]
        joined = self._pairs.take(sum(map(len, documents)))
        return joined[: interleave(counts, documents, joined)]

    def _word_ranges(self, runs: Sequence[Run], offsets: NDArray[np.uint64]) -> Iterator[WordRange]:
        """Ranges of words of about `PAIRS_PER_RUN` pairs, and where each begins in every run."""
        n_words = len(offsets) - 1
        starts = [0] * len(runs)
        low = 0
        while low < n_words:
            wanted = offsets[low] + np.uint64(PAIRS_PER_RUN)
            high = int(np.searchsorted(offsets, wanted, side="right")) - 1
            high = min(max(high, low + 1), n_words)
            yield low, high, starts
            starts = [
                start + int(self._scratch.get(run.counts, low, high).sum())
                for run, start in zip(runs, starts, strict=True)
            ]
            low = high


class _Buffers:
    """Arrays that are filled again and again, since fresh memory costs more than filling it."""

    def __init__(self) -> None:
        self._free: list[NDArray[np.uint32]] = []

    def take(self, size: int) -> NDArray[np.uint32]:
        """Return an array of at least this size, with anything in it."""
        try:
            array = self._free.pop()
        except IndexError:
            array = np.empty(0, dtype=np.uint32)
        return array if array.size >= size else np.empty(size + size // 8, dtype=np.uint32)

    def give_back(self, array: NDArray[np.uint32]) -> None:
        """Let an array, or the one that it is a part of, be filled again."""
        self._free.append(array if array.base is None else array.base)


class _Remaps:
    """Final numbers of the generations in use; blocks come in order, so only the latest few are needed."""

    def __init__(self, numbers: FinalNumbers, most: int) -> None:
        self._numbers, self._most = numbers, most
        self._known: dict[int, NDArray[np.uint32]] = {}

    def prepare(self, counted: Counted, spread: Spread) -> None:
        """Compute them all at once, in all threads, if they are few; the tables then are let go."""
        generations = [generation for worker in counted.workers for generation in worker.generations]
        if len(generations) <= self._most:
            remaps = spread.map(self._numbers.of, generations)
            self._known = {id(g): remap for g, remap in zip(generations, remaps, strict=True)}
            for generation in generations:
                generation.table = None

    def of(self, generation: Generation) -> NDArray[np.uint32]:
        remap = self._known.get(id(generation))
        if remap is None:
            remap = self._numbers.of(generation)
            self._known[id(generation)] = remap
            while len(self._known) > self._most:
                del self._known[next(iter(self._known))]
        return remap


def _chunks(blocks: Sequence[CountedBlock]) -> Iterator[tuple[int, list[CountedBlock]]]:
    """Blocks by about `PAIRS_PER_RUN` word numbers, with the number of the first document."""
    chunk: list[CountedBlock] = []
    first = n_documents = n_pairs = 0
    for block in blocks:
        chunk.append(block)
        n_documents += block.lengths.size
        n_pairs += block.ids.size
        if n_pairs >= PAIRS_PER_RUN:
            yield first, chunk
            chunk, first, n_pairs = [], n_documents, 0
    if chunk:
        yield first, chunk
