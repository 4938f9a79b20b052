"""First pass: every block to word numbers, every word counted, in bounded memory."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from omnitm._native import CharacterRules, WordTable
from omnitm.corpus.characters import token_rules
from omnitm.corpus.reading import UNITS, TextBlock
from omnitm.corpus.storage import Handle, Scratch, Spread
from omnitm.corpus.vocabulary import letters_of, words_of
from omnitm.errors import CorpusError

N_PARTITIONS = 64
MOST_DOCUMENTS = 2**32 - 2
MOST_TOKENS = 2**32 - 2  # of a running text, ends of documents included
Piece = tuple[Handle, ...]  # letters, lengths, counts, documents, ids of some words


@dataclass
class Generation:
    """One filling of a worker's table: its words, set aside by partition once the table was full."""

    table: WordTable | None  # None once it was set aside, or is no longer needed
    pieces: list[Piece] = field(default_factory=list)
    n_types: int = 0


class CountedBlock(NamedTuple):
    """A block of documents as provisional word numbers.

    They have marks where a word is new to its document, and of what stands before it.
    """

    number: int
    generation: Generation
    ids: Handle
    lengths: Handle
    n_marks: int
    source: int
    offset: int


class Worker:
    """One thread's table of words, and the blocks that it has counted."""

    def __init__(
        self,
        rules: CharacterRules,
        stop_words: Sequence[bytes],
        scratch: Scratch,
        table_limit: int,
        refuse: Callable[[int, TextBlock, int], Exception],
        *,
        keeps_order: bool = False,
    ) -> None:
        self._rules, self._scratch, self._limit, self._refuse = rules, scratch, table_limit, refuse
        self.generations = [Generation(WordTable(stop_words, keeps_order))]
        self.blocks: list[CountedBlock] = []
        self.n_documents = 0

    @property
    def table(self) -> WordTable:
        """The table being filled."""
        table = self.generations[-1].table
        assert table is not None  # noqa: S101  # the last generation is never set aside before the end
        return table

    def count(self, number: int, block: TextBlock) -> int:
        """Count a block; return how many documents ended in it."""
        rules = token_rules() if block.is_tokens else self._rules
        data = np.frombuffer(block.data, dtype=np.uint8)
        ids, lengths, n_marks, problem, at = self.table.count_block(
            rules, data, UNITS.index(block.unit), block.ends_document
        )
        if problem:
            raise self._refuse(problem, block, at)
        put = self._scratch.put
        self.blocks.append(
            CountedBlock(
                number, self.generations[-1], put(ids), put(lengths), n_marks, block.source, block.offset
            )
        )
        # Between documents only: numbers of a document all come from one generation.
        if self.table.memory > self._limit and not self.table.document_open:
            self.set_aside()
        return len(lengths)

    def set_aside(self) -> None:
        """Empty the table: its words go to the scratch, sorted into partitions."""
        full = self.generations[-1]
        table = self.table
        full.n_types = table.n_types
        for records in table.partitioned_records(N_PARTITIONS):
            full.pieces.append(tuple(self._scratch.put(array) for array in records))
        table.clear()
        full.table = None
        self.generations.append(Generation(table))


class Counted(NamedTuple):
    """All that the first pass found."""

    blocks: list[CountedBlock]  # in the order of the text
    workers: list[Worker]
    n_documents: int

    @property
    def n_tokens(self) -> int:
        """Length of the running text, if the order was kept: words, marks, ends of documents and one more."""
        return 1 + sum(block.ids.size + block.lengths.size + block.n_marks for block in self.blocks)

    @property
    def n_marks(self) -> int:
        """How many marks stand between words of the running text."""
        return sum(block.n_marks for block in self.blocks)

    def tables(self, scratch: Scratch, stop_words: Sequence[bytes], spread: Spread) -> Iterator[WordTable]:
        """Tables of which each word has its count in one only; the workers' own if nothing was set aside."""
        if all(len(worker.generations) == 1 for worker in self.workers):
            yield from _without_repetition([worker.table for worker in self.workers], spread)
            return
        for worker in self.workers:
            worker.set_aside()
        # A word is in the same partition of all generations, by its hash, so that one table suffices for it.
        for partition in range(N_PARTITIONS):
            table = WordTable(stop_words)
            for worker in self.workers:
                for generation in worker.generations[:-1]:
                    table.absorb(*(scratch.get(handle) for handle in generation.pieces[partition][:4]))
            yield table


def _without_repetition(tables: list[WordTable], spread: Spread) -> list[WordTable]:
    """Move what is counted in several tables to the first of them."""
    for k, table in enumerate(tables):
        for earlier in tables[:k]:
            ranges = spread.ranges(table.n_types)
            for _ in spread.map(partial(_take_common, earlier, table), ranges):
                pass
    return tables


def _take_common(table: WordTable, other: WordTable, words: tuple[int, int]) -> None:
    table.take_common(other, *words)


class FinalNumbers:
    """Finds the final numbers of a generation's words."""

    def __init__(self, vocabulary: Sequence[str], scratch: Scratch) -> None:
        self._letters, self._lengths = letters_of(vocabulary)
        self._scratch = scratch

    @cached_property
    def _table(self) -> WordTable:
        return WordTable(words_of(self._letters, self._lengths))

    def of(self, generation: Generation) -> NDArray[np.uint32]:
        """Give the final word numbers by provisional ones; 2**32 - 1 for words that were not kept."""
        if generation.table is not None:
            return generation.table.positions_in(self._letters, self._lengths)
        remap = np.full(generation.n_types, 2**32 - 1, dtype=np.uint32)
        for piece in generation.pieces:
            letters, lengths, _, _, ids = (self._scratch.get(handle) for handle in piece)
            part = self._table.remap(letters, lengths, np.arange(len(ids), dtype=np.uint32), len(ids))
            remap[ids] = part
        return remap


def count_blocks(
    blocks: Iterable[TextBlock], workers: list[Worker], report: Callable[[int, int], None]
) -> Counted:
    """Count all blocks; with several workers, round and round, a long document staying with its worker."""
    counter = _Inline(workers) if len(workers) == 1 else _Threads(workers)
    n_documents = 0
    turn = 0
    try:
        for number, block in enumerate(blocks):
            n_documents += counter.submit(turn % len(workers), number, block)
            # A document that is cut into blocks stays with one worker, which knows what words it has had.
            turn += block.ends_document
            report(block.position, n_documents)
            if n_documents > MOST_DOCUMENTS:
                raise CorpusError(f"An index holds at most {MOST_DOCUMENTS} documents; use longer ones.")
        n_documents += counter.finish()
    finally:
        counter.stop()
    counted = sorted((block for worker in workers for block in worker.blocks), key=lambda block: block.number)
    return Counted(counted, workers, n_documents)


class _Inline:
    """One worker, in this thread."""

    def __init__(self, workers: list[Worker]) -> None:
        self._worker = workers[0]

    def submit(self, _: int, number: int, block: TextBlock) -> int:
        return self._worker.count(number, block)

    def finish(self) -> int:
        return 0

    def stop(self) -> None:
        """Nothing runs."""


class _Threads:
    """A thread and a short queue per worker; the error of the earliest block is raised, at any timing."""

    def __init__(self, workers: list[Worker]) -> None:
        self._queues: list[queue.Queue[tuple[int, TextBlock] | None]] = [queue.Queue(2) for _ in workers]
        self._errors: list[tuple[int, BaseException]] = []
        self._documents = [0] * len(workers)
        self._reported = 0
        self._threads = [
            threading.Thread(target=self._run, args=(k, worker), daemon=True)
            for k, worker in enumerate(workers)
        ]
        for thread in self._threads:
            thread.start()

    def _run(self, k: int, worker: Worker) -> None:
        while (item := self._queues[k].get()) is not None:
            # Earlier blocks are still counted: one of them may have an error, and the earliest is reported.
            if self._errors and item[0] > min(self._errors, key=lambda failed: failed[0])[0]:
                continue
            try:
                self._documents[k] += worker.count(item[0], item[1])
            except BaseException as error:  # noqa: BLE001  # handed to the main thread, which raises it
                self._errors.append((item[0], error))

    def submit(self, k: int, number: int, block: TextBlock) -> int:
        while not self._errors:
            try:
                self._queues[k].put((number, block), timeout=0.2)
                break
            except queue.Full:
                continue
        return self._news()

    def _news(self) -> int:
        if self._errors:
            self.stop()
            raise min(self._errors, key=lambda item: item[0])[1]
        done = sum(self._documents)
        news, self._reported = done - self._reported, done
        return news

    def finish(self) -> int:
        self.stop()
        return self._news()

    def stop(self) -> None:
        """Let the threads end; waits in short steps, so that Ctrl-C is noticed."""
        for thread, blocks in zip(self._threads, self._queues, strict=True):
            while thread.is_alive():
                with suppress(queue.Full):
                    blocks.put_nowait(None)
                thread.join(0.02)
