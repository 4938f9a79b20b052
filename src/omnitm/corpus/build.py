"""Text to index: count every word, choose the vocabulary, write both orders."""

from __future__ import annotations

import logging
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus.assembling import Assembler, Sink
from omnitm.corpus.counting import MOST_TOKENS, CountedBlock, Worker, count_blocks
from omnitm.corpus.documents import Document, check_documents, document_blocks, source_blocks
from omnitm.corpus.preparation import Preparation
from omnitm.corpus.reading import Reading, TextBlock, binary_file, find_sources, not_text
from omnitm.corpus.storage import (
    OTHER_WORDS,
    FileScratch,
    FolderSink,
    MemoryScratch,
    Scratch,
    Spread,
    folder_in_the_making,
    to_json_text,
    vocabulary_text,
)
from omnitm.corpus.vocabulary import MOST_OTHER_WORDS, IndexSummary, VocabularyChoice, VocabularyRules
from omnitm.errors import CorpusError
from omnitm.files import system
from omnitm.parameters import check_integer

_log = logging.getLogger(__name__)
LEAST_MEMORY = 192 << 20
# Interpreter and libraries, then per thread: blocks in flight and two runs in both orders.
FIXED_MEMORY = 96 << 20
MEMORY_PER_THREAD = 40 << 20


class Progress(NamedTuple):
    """How far a build is."""

    stage: str  # "reading" or "writing"
    done: int  # bytes read, or documents written
    total: int  # the same in all; 0 when unknown
    n_documents: int


@dataclass(frozen=True)
class Resources:
    """What a build may use.

    Parameters
    ----------
    memory
        Bytes in all; None means a quarter of the machine's.
    n_threads
        Threads; the result is the same for any number.
    progress
        Called with a `Progress` after every block.
    """

    memory: int | None = None
    n_threads: int = 1
    progress: Callable[[Progress], None] | None = None

    def __post_init__(self) -> None:
        check_integer("Resources", "n_threads", self.n_threads, 1, 1024)
        if self.memory is not None:
            check_integer("Resources", "memory", self.memory, LEAST_MEMORY)

    @property
    def table_limit(self) -> int:
        """Bytes for the words of one thread; setting them aside takes as much again for a moment."""
        memory = self.memory or machine_memory() // 4
        free = memory - FIXED_MEMORY - self.n_threads * MEMORY_PER_THREAD
        return max(8 << 20, free // (2 * self.n_threads))


def machine_memory() -> int:
    """Bytes of memory that this process may use."""
    memory = system.memory_size()
    limit = Path("/sys/fs/cgroup/memory.max")
    text = limit.read_text().strip() if limit.is_file() else "max"
    return min(memory, int(text)) if text.isdigit() else memory


class Built(NamedTuple):
    """What a build knows besides the arrays in its sink."""

    words: list[str]
    counts: NDArray[np.uint64]
    summary: IndexSummary
    positions: NDArray[np.uint64]
    other_words: list[str] | None
    """Words outside the vocabulary that the running text has numbers for; None: the order was not kept."""
    n_tokens: int = 0
    n_marks: int = 0


class Order(NamedTuple):
    """Whether the running text is kept, and with numbers for which words outside the vocabulary."""

    is_kept: bool = True
    other_words: Sequence[str] | None = None  # None: the most frequent ones


def build_index(
    sources: str | PathLike[str] | Iterable[str | PathLike[str]],
    output: str | PathLike[str],
    *,
    preparation: Preparation | None = None,
    vocabulary: VocabularyRules | None = None,
    reading: Reading | None = None,
    resources: Resources | None = None,
    overwrite: bool = False,
    order: bool = True,
) -> Path:
    """Index files, folders or patterns (`-` is standard input) into the folder `output`; returns its path.

    With `order` the index keeps the running text too, for what is learned from where words stand.
    """
    preparation = preparation or Preparation()
    corpus = Corpus.of_sources(find_sources(sources), reading or Reading(), preparation)
    rules = vocabulary or VocabularyRules()
    return _build_folder(
        corpus, Path(output), preparation, rules, resources, order=Order(order), overwrite=overwrite
    )


def index_documents(
    documents: Iterable[Document],
    output: str | PathLike[str],
    *,
    preparation: Preparation | None = None,
    vocabulary: VocabularyRules | None = None,
    resources: Resources | None = None,
    overwrite: bool = False,
    order: bool = True,
) -> Path:
    """Index texts or token lists into the folder `output`; returns its path."""
    check_documents(documents)
    preparation = preparation or Preparation()
    corpus, rules = Corpus.of_documents(documents, preparation), vocabulary or VocabularyRules()
    return _build_folder(
        corpus, Path(output), preparation, rules, resources, order=Order(order), overwrite=overwrite
    )


class MemorySink:
    """Arrays of an index, in memory."""

    def __init__(self) -> None:
        self._parts: dict[str, list[NDArray[Any]]] = {}

    def append(self, name: str, array: NDArray[Any]) -> None:
        """Keep a copy of the next part."""
        self._parts.setdefault(name, []).append(array.copy())

    def append_all(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Keep copies of the next parts."""
        for name, array in arrays.items():
            self.append(name, array)

    def array(self, name: str) -> NDArray[Any]:
        """All parts in their order."""
        parts = self._parts.get(name)
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.uint32)


def build_in_memory(
    corpus: Corpus, preparation: Preparation, vocabulary: VocabularyRules, *, order: bool = True
) -> tuple[Built, MemorySink]:
    """Index a corpus without writing to the disk."""
    sink = MemorySink()
    built = _build(
        corpus,
        preparation,
        vocabulary,
        order=Order(order),
        resources=Resources(),
        scratch=MemoryScratch(),
        sink=sink,
    )
    return built, sink


class Corpus(NamedTuple):
    """Text on its way into an index: blocks of documents; of files, where they are and how they are read."""

    blocks: Iterable[TextBlock]
    paths: Sequence[Path] = ()
    reading: Reading | None = None

    @classmethod
    def of_sources(cls, paths: Sequence[Path], reading: Reading, preparation: Preparation) -> Corpus:
        """Read files."""
        return cls(source_blocks(paths, reading, preparation), paths, reading)

    @classmethod
    def of_documents(cls, documents: Iterable[Document], preparation: Preparation) -> Corpus:
        """Take texts or token lists."""
        return cls(document_blocks(documents, preparation))

    @property
    def n_bytes(self) -> int:
        """Size of the files."""
        return sum(path.stat().st_size for path in self.paths if path.is_file())

    def refusal(self, problem: int, block: TextBlock, at: int) -> Exception:
        """Build the error for bytes that are no text."""
        if not self.paths:
            return CorpusError(f"Document {block.offset} or one of the next is not valid text.")
        error = not_text(self.paths[block.source], "utf-8", block.offset + at)
        return error if problem == 1 else binary_file(self.paths[block.source], block.offset + at)


def build_in_folder(  # noqa: PLR0917 - what is indexed, how, and where to
    folder: Path,
    sink: FolderSink,
    resources: Resources,
    corpus: Corpus,
    preparation: Preparation,
    rules: VocabularyRules,
    order: Order,
) -> Built:
    """Index a corpus: arrays go to the sink, a scratch file in the folder vanishes by itself."""
    scratch = FileScratch(folder, resources.n_threads)
    try:
        return _build(
            corpus, preparation, rules, order=order, resources=resources, scratch=scratch, sink=sink
        )
    finally:
        scratch.close()


def _build_folder(
    corpus: Corpus,
    output: Path,
    preparation: Preparation,
    vocabulary: VocabularyRules,
    resources: Resources | None,
    *,
    order: Order,
    overwrite: bool,
) -> Path:
    resources = resources or Resources()
    _log.info("indexing %d files into %s", len(corpus.paths), output)
    with folder_in_the_making(output, overwrite=overwrite) as folder:
        sink = FolderSink(folder, resources.n_threads)
        try:
            built = build_in_folder(folder, sink, resources, corpus, preparation, vocabulary, order)
            options = {
                "preparation": preparation.to_json(),
                "vocabulary": vocabulary.to_json(),
                "unicode_version": unicodedata.unidata_version,
            }
            write_facts(sink, built, options, source_facts(corpus.paths, corpus.reading))
            sink.seal(sizes(built))
        finally:
            sink.close()
    _log.info("indexed into %s", output)
    return output


def sizes(built: Built) -> dict[str, int]:
    """Figures that the manifest repeats."""
    figures = {
        "n_documents": built.summary.n_documents,
        "n_words": len(built.words),
        "n_pairs": built.summary.n_pairs,
    }
    if built.other_words is not None:
        figures |= {"n_tokens": built.n_tokens, "n_marks": built.n_marks}
    return figures


def write_facts(sink: FolderSink, built: Built, options: dict[str, Any], sources: dict[str, Any]) -> None:
    """Write everything but the two orders."""
    sink.append("word_counts", built.counts)
    sink.append("positions", built.positions)
    sink.write_text("vocabulary.txt", vocabulary_text(built.words))
    if built.other_words is not None:
        sink.write_text(OTHER_WORDS, vocabulary_text(built.other_words))
    sink.write_text("options.json", to_json_text(options))
    sink.write_text("sources.json", to_json_text(sources))
    sink.write_text("summary.json", to_json_text(built.summary.to_json()))


def source_facts(paths: Sequence[Path], reading: Reading | None) -> dict[str, Any]:
    """Where the text lies, and how it was read."""
    files = [
        {
            "path": str(path.absolute()) if path.is_file() else str(path),
            "size": path.stat().st_size if path.is_file() else 0,
        }
        for path in paths
    ]
    options = [] if reading is None else [{"first_source": 0, **reading.__dict__}]
    return {"files": files, "reading": options}


def _build(
    corpus: Corpus,
    preparation: Preparation,
    rules: VocabularyRules,
    *,
    order: Order,
    resources: Resources,
    scratch: Scratch,
    sink: Sink,
) -> Built:
    keep = list(dict.fromkeys(token for word in rules.keep for token in preparation.tokens(word)))
    # Words that the user names count even if they are stop words.
    named = set(keep if rules.fixed is None else rules.fixed)
    stop_words = sorted(word.encode() for word in preparation.prepared_stop_words - named)
    report = resources.progress or (lambda _: None)
    n_bytes = corpus.n_bytes
    rules_of_text = preparation.native_rules(refuse_nul=bool(corpus.paths))  # a program may give NUL
    workers = [
        Worker(
            rules_of_text,
            stop_words,
            scratch,
            resources.table_limit,
            corpus.refusal,
            keeps_order=order.is_kept,
        )
        for _ in range(resources.n_threads)
    ]
    # First pass: all text, as provisional numbers of words, goes to the scratch, and words are counted.
    counted = count_blocks(
        corpus.blocks, workers, lambda done, documents: report(Progress("reading", done, n_bytes, documents))
    )
    n_tokens_too_long = sum(worker.table.n_too_long for worker in workers)
    n_tokens = counted.n_tokens if order.is_kept else 0
    if n_tokens > MOST_TOKENS:
        raise CorpusError(
            f"A running text holds at most {MOST_TOKENS:,} words; index it with --no-order (order=False)."
        )
    n_others = MOST_OTHER_WORDS if order.is_kept and order.other_words is None else 0
    choice = VocabularyChoice(rules, keep, counted.n_documents, n_others)
    # Then the vocabulary is chosen, and a second pass, over the scratch, writes final numbers in both orders.
    with Spread(resources.n_threads) as spread:
        for table in counted.tables(scratch, stop_words, spread):
            choice.look_at(table)
        words, counts = choice.vocabulary()
        summary = choice.summarize(counts, n_tokens_too_long)
        summary.n_documents = counted.n_documents
        _check_not_empty(summary)
        other_words = list(order.other_words or choice.other_words(words))
        assembled = Assembler(scratch, sink, spread, keeps_order=order.is_kept).assemble(
            counted,
            words,
            other_words,
            lambda done: report(Progress("writing", done, counted.n_documents, counted.n_documents)),
        )
    summary.n_pairs, summary.n_empty_documents = assembled.n_pairs, assembled.n_empty_documents
    kept = other_words if order.is_kept else None
    n_marks = counted.n_marks if order.is_kept else 0
    return Built(words, counts, summary, _positions(counted.blocks), kept, n_tokens, n_marks)


def _check_not_empty(summary: IndexSummary) -> None:
    if summary.n_documents == 0:
        raise CorpusError("There is no document in the corpus: every source is empty.")
    if summary.all_words.tokens == 0:
        raise CorpusError(f"There is no word in the {summary.n_documents} documents of the corpus.")
    if summary.kept.tokens == 0:
        reasons = ", ".join(
            f"{tally.types} {reason}" for reason, tally in summary.dropped.items() if tally.types
        )
        raise CorpusError(
            f"No word is left of {summary.all_words.types} different ones ({reasons}); "
            "loosen the rules for the vocabulary (VocabularyRules, or omnitm index --help)."
        )


def _positions(blocks: Sequence[CountedBlock]) -> NDArray[np.uint64]:
    """Rows (source, offset, first document) of all blocks in which a document begins."""
    firsts = accumulate((block.lengths.size for block in blocks), initial=0)
    rows = [(block.source, block.offset, first) for block, first in zip(blocks, firsts, strict=False)]
    return np.array(rows, dtype=np.uint64).reshape(-1)
