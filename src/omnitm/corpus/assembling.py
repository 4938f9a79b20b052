"""Second pass: final word numbers, documents in order, and the same pairs word by word."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from omnitm._native import interleave, invert, invert_running, remap_documents
from omnitm.corpus.counting import Counted, CountedBlock, FinalNumbers, Generation
from omnitm.corpus.storage import Handle, Scratch, Spread

PAIRS_PER_RUN = 2_000_000
# In a running text, beside numbers of words: ends of documents, and marks between two words of a document,
# where nothing but commas stands, or any other punctuation or numbers.
DOCUMENT_END, COMMA, GAP = 2**32 - 1, 2**32 - 2, 2**32 - 3
MARKS = (COMMA, GAP)


class Sink(Protocol):
    """Where the arrays of an index go."""

    def append(self, name: str, array: NDArray[Any]) -> None:
        """Put `array` at the end of the array called `name`."""

    def append_all(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put each array at the end of the one called by its name."""


class Run(NamedTuple):
    """Consecutive documents, turned around: how often each word occurs, and where, word by word."""

    counts: Handle
    members: Handle  # documents, or places of the running text


class Members(NamedTuple):
    """All runs of one kind, and what their arrays are called."""

    starts_name: str
    name: str
    runs: list[Run]
    n_words: int


class Turned(NamedTuple):
    """Consecutive documents with final numbers, and the same turned around."""

    words: NDArray[np.uint32]
    lengths: NDArray[np.uint32]
    tokens: NDArray[np.uint32]  # empty if the order is not wanted
    run: Run
    places: Run | None


class Assembled(NamedTuple):
    """Sizes of what was written."""

    n_pairs: int
    n_empty_documents: int


class Chunk(NamedTuple):
    """Consecutive blocks to be turned around."""

    first_document: int
    first_place: int
    blocks: list[CountedBlock]
    remaps: list[NDArray[np.uint32]]


class RunPiece(NamedTuple):
    """Consecutive words of a run: where their members are, and how many each has."""

    members: Handle
    start: int
    end: int
    counts: NDArray[np.uint32]


class Part(NamedTuple):
    """The same words of several runs, to be joined."""

    name: str  # of the array that they belong to
    pieces: list[RunPiece]


class Assembler:
    """Writes `document_offsets`, `document_words`, `word_offsets` and `word_documents` to a sink.

    With `keeps_order` also the running text: `tokens`, `word_starts` and `places`.
    """

    def __init__(self, scratch: Scratch, sink: Sink, spread: Spread, *, keeps_order: bool = False) -> None:
        self._scratch, self._sink, self._spread, self._keeps_order = scratch, sink, spread, keeps_order
        self._pairs, self._lengths, self._turned, self._tokens = (_Buffers() for _ in range(4))

    def assemble(
        self,
        counted: Counted,
        vocabulary: Sequence[str],
        other_words: Sequence[str],
        report: Callable[[int], None],
    ) -> Assembled:
        """Write both orders; `report` is called with the number of documents done."""
        names = [*vocabulary, *other_words]
        remaps = _Remaps(FinalNumbers(names, self._scratch), 2 * len(counted.workers) + 2)
        remaps.prepare(counted, self._spread)
        runs: list[Run] = []
        runs_of_places: list[Run] = []
        n_pairs = n_documents = n_empty = 0
        # Offsets begin with 0, the running text with an end: every document lies between two of them.
        self._sink.append("document_offsets", np.zeros(1, dtype=np.uint64))
        if self._keeps_order:
            self._sink.append("tokens", np.array([DOCUMENT_END], dtype=np.uint32))
        for turned in self._spread.map(
            lambda chunk: self._turn(chunk, len(vocabulary), len(names)), _chunks(counted.blocks, remaps)
        ):
            # Chunks come in the order of the text, whichever thread is first: threads change no byte.
            ends = np.cumsum(turned.lengths, dtype=np.uint64) + np.uint64(n_pairs)
            parts = {"document_words": turned.words, "document_offsets": ends}
            if turned.places is not None:
                parts["tokens"] = turned.tokens
                runs_of_places.append(turned.places)
            self._sink.append_all(parts)
            n_pairs += len(turned.words)
            n_documents += len(turned.lengths)
            n_empty += int(np.count_nonzero(turned.lengths == 0))
            runs.append(turned.run)
            self._pairs.give_back(turned.words)
            self._lengths.give_back(turned.lengths)
            self._tokens.give_back(turned.tokens)
            report(n_documents)
        members = [Members("word_offsets", "word_documents", runs, len(vocabulary))]
        if self._keeps_order:
            members.append(Members("word_starts", "places", runs_of_places, len(names) + 1))
        self._write_members(members)
        return Assembled(n_pairs, n_empty)

    def _turn(self, chunk: Chunk, n_words: int, n_names: int) -> Turned:
        """Give some documents their final word numbers, and set them aside word by word."""
        ids, lengths = ([block.ids for block in chunk.blocks], [block.lengths for block in chunk.blocks])
        n_ids, n_lengths = sum(handle.size for handle in ids), sum(handle.size for handle in lengths)
        words, words_per_document = self._pairs.take(n_ids), self._lengths.take(n_lengths)[:n_lengths]
        n_marks = sum(block.n_marks for block in chunk.blocks)
        tokens = self._tokens.take(n_tokens := (n_ids + n_lengths + n_marks) * self._keeps_order)[:n_tokens]
        get = self._scratch.get
        n_pairs = remap_documents(
            list(map(get, ids)),
            list(map(get, lengths)),
            chunk.remaps,
            n_words,
            n_names,
            words,
            words_per_document,
            tokens,
        )
        # Their place is free for the turned documents: scratch space grows little beyond one pass.
        for handle in (*ids, *lengths):
            self._scratch.free(handle)
        words = words[:n_pairs]
        run = self._run(
            n_words,
            len(words),
            lambda counts, documents: invert(
                words, words_per_document, chunk.first_document, counts, documents
            ),
        )
        places = None
        if self._keeps_order:
            places = self._run(
                n_names + 1,
                n_tokens,
                lambda counts, places: invert_running(tokens, chunk.first_place, counts, places),
            )
        return Turned(words, words_per_document, tokens, run, places)

    def _run(
        self, n_words: int, size: int, turn: Callable[[NDArray[np.uint32], NDArray[np.uint32]], None]
    ) -> Run:
        counts, members = np.empty(n_words, dtype=np.uint32), self._turned.take(size)
        turn(counts, members)
        run = Run(self._scratch.put(counts), self._scratch.put(members[: int(counts.sum(dtype=np.int64))]))
        self._turned.give_back(members)
        return run

    def _write_members(self, kinds: Sequence[Members]) -> None:
        """Join the runs of each kind; parts of both kinds are written at a time."""
        parts = zip_longest(*[self._parts(kind) for kind in kinds])
        tasks = (part for together in parts for part in together if part is not None)
        waiting: dict[str, NDArray[np.uint32]] = {}
        for name, joined in self._spread.map(self._join, tasks):
            # Twice the same: the other kind has no parts left.
            if name in waiting:
                self._write_waiting(waiting)
            waiting[name] = joined
            if len(waiting) == len(kinds):
                self._write_waiting(waiting)
        self._write_waiting(waiting)

    def _write_waiting(self, waiting: dict[str, NDArray[np.uint32]]) -> None:
        self._sink.append_all(waiting)
        for array in waiting.values():
            self._pairs.give_back(array)
        waiting.clear()

    def _parts(self, kind: Members) -> Iterator[Part]:
        """Parts of about `PAIRS_PER_RUN` pairs, one after the other: some words, or some runs of one word."""
        offsets = self._offsets(kind)
        self._sink.append(kind.starts_name, offsets)
        starts = [0] * len(kind.runs)
        low = 0
        while low < kind.n_words:
            # As many words as fit into a run; a word that alone is larger is cut between runs. Their counts,
            # which many runs have many of, are no more numbers than that.
            wanted = offsets[low] + np.uint64(PAIRS_PER_RUN)
            high = int(np.searchsorted(offsets, wanted, side="right")) - 1
            high = min(max(high, low + 1), low + 1 + PAIRS_PER_RUN // len(kind.runs), kind.n_words)
            counts = [self._scratch.get(run.counts, low, high) for run in kind.runs]
            pieces = [
                RunPiece(run.members, start, start + int(count.sum()), count)
                for run, start, count in zip(kind.runs, starts, counts, strict=True)
            ]
            for first, last in _groups([piece.end - piece.start for piece in pieces]):
                yield Part(kind.name, pieces[first:last])
            low, starts = high, [piece.end for piece in pieces]

    def _offsets(self, kind: Members) -> NDArray[np.uint64]:
        """Where each word begins, from how often it occurs in all runs together."""
        totals = np.zeros(kind.n_words, dtype=np.uint64)
        for run in kind.runs:
            totals += self._scratch.get(run.counts)
        offsets = np.zeros(kind.n_words + 1, dtype=np.uint64)
        np.cumsum(totals, out=offsets[1:])
        return offsets

    def _join(self, part: Part) -> tuple[str, NDArray[np.uint32]]:
        members = [self._scratch.get(piece.members, piece.start, piece.end) for piece in part.pieces]
        joined = self._pairs.take(sum(map(len, members)))
        return part.name, joined[: interleave([piece.counts for piece in part.pieces], members, joined)]


def _groups(sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Consecutive runs of at most `PAIRS_PER_RUN` pairs together, or single ones, as (from, to)."""
    first = total = 0
    for number, size in enumerate(sizes):
        if total and total + size > PAIRS_PER_RUN:
            yield first, number
            first, total = number, 0
        total += size
    yield first, len(sizes)


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
        # An eighth more, so that slowly growing blocks do not ask for memory each time.
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


def _chunks(blocks: Sequence[CountedBlock], remaps: _Remaps) -> Iterator[Chunk]:
    """Blocks by about `PAIRS_PER_RUN` word numbers, with the first document and the first place."""
    chunk: list[CountedBlock] = []
    first_document, first_place = 0, 1
    for number, block in enumerate(blocks, 1):
        chunk.append(block)
        n_ids = sum(part.ids.size for part in chunk)
        if n_ids >= PAIRS_PER_RUN or number == len(blocks):
            yield Chunk(first_document, first_place, chunk, [remaps.of(part.generation) for part in chunk])
            n_documents = sum(part.lengths.size for part in chunk)
            first_document += n_documents
            # A place per word, one per mark, and one for the end of each document.
            first_place += n_ids + n_documents + sum(part.n_marks for part in chunk)
            chunk = []
