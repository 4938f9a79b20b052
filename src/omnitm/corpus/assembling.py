"""Second pass: final word numbers, documents in order, and the same pairs word by word."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np

from omnitm._native import WordTable, interleave, invert, remap_documents
from omnitm.corpus.counting import remap_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from omnitm.corpus.counting import Counted, CountedBlock, Generation
    from omnitm.corpus.scratch import Handle, Scratch

PAIRS_PER_RUN = 2_000_000
Item, Result = TypeVar("Item"), TypeVar("Result")


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


def assemble(
    counted: Counted,
    vocabulary: Sequence[str],
    scratch: Scratch,
    sink: Sink,
    n_threads: int,
    report: Callable[[int], None],
) -> Assembled:
    """Write `document_offsets`, `document_words`, `word_offsets` and `word_documents`."""
    with ThreadPoolExecutor(n_threads) as pool:
        spread = _Spread(pool, n_threads)
        runs, assembled = _write_documents(counted, vocabulary, scratch, sink, spread, report)
        _write_words(runs, len(vocabulary), scratch, sink, spread)
    return assembled


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


def _write_documents(
    counted: Counted,
    vocabulary: Sequence[str],
    scratch: Scratch,
    sink: Sink,
    spread: _Spread,
    report: Callable[[int], None],
) -> tuple[list[Run], Assembled]:
    remaps = _Remaps(vocabulary, scratch, 2 * len(counted.workers) + 2)

    def prepare(
        chunk: tuple[int, list[CountedBlock], list[NDArray[np.uint32]]],
    ) -> tuple[NDArray[Any], NDArray[Any], Run]:
        first, blocks, numbers = chunk
        parts = [
            remap_documents(scratch.get(block.ids), scratch.get(block.lengths), remap)
            for block, remap in zip(blocks, numbers, strict=True)
        ]
        words = np.concatenate([part[0] for part in parts])
        lengths = np.concatenate([part[1] for part in parts])
        del parts
        counts, documents = invert(words, lengths, first, len(vocabulary))
        return words, lengths, Run(scratch.put(counts), scratch.put(documents))

    runs: list[Run] = []
    n_pairs = n_documents = n_empty = 0
    sink.write("document_offsets", 0, np.zeros(1, dtype=np.uint64))
    chunks = (
        (first, blocks, [remaps.of(b.generation) for b in blocks])
        for first, blocks in _chunks(counted.blocks)
    )
    for words, lengths, run in spread.map(prepare, chunks):
        sink.write("document_words", n_pairs, words)
        sink.write(
            "document_offsets", n_documents + 1, np.cumsum(lengths, dtype=np.uint64) + np.uint64(n_pairs)
        )
        n_pairs += len(words)
        n_documents += len(lengths)
        n_empty += int(np.count_nonzero(lengths == 0))
        runs.append(run)
        report(n_documents)
    return runs, Assembled(n_pairs, n_empty)


def _write_words(runs: Sequence[Run], n_words: int, scratch: Scratch, sink: Sink, spread: _Spread) -> None:
    totals = np.zeros(n_words, dtype=np.uint64)
    for run in runs:
        totals += scratch.get(run.counts)
    offsets = np.zeros(n_words + 1, dtype=np.uint64)
    np.cumsum(totals, out=offsets[1:])
    sink.write("word_offsets", 0, offsets)

    def join(part: tuple[int, int, list[int]]) -> None:
        low, high, starts = part
        counts = [scratch.get(run.counts, low, high) for run in runs]
        sizes = [int(count.sum()) for count in counts]
        documents = [
            scratch.get(run.documents, start, start + size)
            for run, start, size in zip(runs, starts, sizes, strict=True)
        ]
        sink.write("word_documents", int(offsets[low]), interleave(counts, documents))

    for _ in spread.map(join, _word_ranges(runs, offsets, scratch)):
        pass


def _word_ranges(
    runs: Sequence[Run], offsets: NDArray[np.uint64], scratch: Scratch
) -> Iterator[tuple[int, int, list[int]]]:
    """Ranges of words of about `PAIRS_PER_RUN` pairs, and where each begins in every run."""
    n_words = len(offsets) - 1
    starts = [0] * len(runs)
    low = 0
    while low < n_words:
        high = int(np.searchsorted(offsets, offsets[low] + np.uint64(PAIRS_PER_RUN), side="right")) - 1
        high = min(max(high, low + 1), n_words)
        yield low, high, list(starts)
        starts = [
            start + int(scratch.get(run.counts, low, high).sum())
            for run, start in zip(runs, starts, strict=True)
        ]
        low = high
