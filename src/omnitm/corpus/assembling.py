"""Second pass: final word numbers, documents in order, and the same pairs word by word."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np

from omnitm._native import WordTable, interleave, invert, remap_documents
from omnitm.corpus.counting import remap_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from omnitm.corpus.counting import Counted, CountedBlock, Generation
    from omnitm.corpus.scratch import Handle, Scratch

PAIRS_PER_RUN = 2_000_000
Item = TypeVar("Item")
Result = TypeVar("Result")


class Sink(Protocol):
    """Where the arrays of an index go."""

    def write(self, name: str, offset: int, array: NDArray[Any]) -> None:
        """Put `array` at element `offset` of the array called `name`."""


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

    def __init__(self, scratch: Scratch, sink: Sink, n_threads: int) -> None:
        self._scratch, self._sink, self._n_threads = scratch, sink, n_threads

    def assemble(
        self, counted: Counted, vocabulary: Sequence[str], report: Callable[[int], None]
    ) -> Assembled:
        """Write both orders; `report` hears how many documents are done."""
        with ThreadPoolExecutor(self._n_threads) as pool:
            spread = _Spread(pool, self._n_threads)
            runs, assembled = self._write_documents(counted, vocabulary, spread, report)
            self._write_words(runs, len(vocabulary), spread)
        return assembled

    def _write_documents(
        self, counted: Counted, vocabulary: Sequence[str], spread: _Spread, report: Callable[[int], None]
    ) -> tuple[list[Run], Assembled]:
        remaps = _Remaps(vocabulary, self._scratch, 2 * len(counted.workers) + 2)
        remaps.prepare(counted, spread)
        chunks = (
            (first, blocks, [remaps.of(block.generation) for block in blocks])
            for first, blocks in _chunks(counted.blocks)
        )
        runs: list[Run] = []
        n_pairs = n_documents = n_empty = 0
        self._sink.write("document_offsets", 0, np.zeros(1, dtype=np.uint64))
        for words, lengths, run in spread.map(lambda chunk: self._turn(chunk, len(vocabulary)), chunks):
            ends = np.cumsum(lengths, dtype=np.uint64) + np.uint64(n_pairs)
            self._sink.write("document_words", n_pairs, words)
            self._sink.write("document_offsets", n_documents + 1, ends)
            n_pairs += len(words)
            n_documents += len(lengths)
            n_empty += int(np.count_nonzero(lengths == 0))
            runs.append(run)
            report(n_documents)
        return runs, Assembled(n_pairs, n_empty)

    def _turn(self, chunk: Chunk, n_words: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32], Run]:
        """Give some documents their final word numbers, and set them aside word by word."""
        first, blocks, remaps = chunk
        get, put = self._scratch.get, self._scratch.put
        words, lengths = remap_documents(
            [get(block.ids) for block in blocks], [get(block.lengths) for block in blocks], remaps
        )
        counts, documents = invert(words, lengths, first, n_words)
        return words, lengths, Run(put(counts), put(documents))

    def _write_words(self, runs: Sequence[Run], n_words: int, spread: _Spread) -> None:
        totals = np.zeros(n_words, dtype=np.uint64)
        for run in runs:
            totals += self._scratch.get(run.counts)
        offsets = np.zeros(n_words + 1, dtype=np.uint64)
        np.cumsum(totals, out=offsets[1:])
        self._sink.write("word_offsets", 0, offsets)
        for low, joined in spread.map(lambda part: self._join(runs, part), self._word_ranges(runs, offsets)):
            self._sink.write("word_documents", int(offsets[low]), joined)

    def _join(self, runs: Sequence[Run], part: WordRange) -> tuple[int, NDArray[np.uint32]]:
        low, high, starts = part
        counts = [self._scratch.get(run.counts, low, high) for run in runs]
        documents = [
            self._scratch.get(run.documents, start, start + int(count.sum()))
            for run, start, count in zip(runs, starts, counts, strict=True)
        ]
        return low, interleave(counts, documents)

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


class _Spread:
    """Work for the threads of a pool, results in order, a few items ahead; one thread means this one."""

    def __init__(self, pool: ThreadPoolExecutor, n_threads: int) -> None:
        self._pool, self._n_threads = pool, n_threads

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        if self._n_threads == 1:
            yield from map(work, items)
            return
        ahead: deque[Future[Result]] = deque()
        try:
            for item in items:
                ahead.append(self._pool.submit(work, item))
                if len(ahead) > self._n_threads:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for future in ahead:
                future.cancel()


class _Remaps:
    """Final numbers of the generations in use; blocks come in order, so only the latest few are needed."""

    def __init__(self, vocabulary: Sequence[str], scratch: Scratch, most: int) -> None:
        self._table = WordTable([word.encode() for word in vocabulary])
        self._scratch, self._most = scratch, most
        self._known: dict[int, NDArray[np.uint32]] = {}

    def prepare(self, counted: Counted, spread: _Spread) -> None:
        """Compute them all at once, in all threads, if they are few."""
        generations = [generation for worker in counted.workers for generation in worker.generations]
        if len(generations) <= self._most:
            remaps = spread.map(lambda g: remap_of(g, self._table, self._scratch), generations)
            self._known = {id(g): remap for g, remap in zip(generations, remaps, strict=True)}

    def of(self, generation: Generation) -> NDArray[np.uint32]:
        remap = self._known.get(id(generation))
        if remap is None:
            remap = remap_of(generation, self._table, self._scratch)
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
