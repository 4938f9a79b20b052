"""More documents for an index: only the new text is read, the vocabulary stays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitm._native import interleave
from omnitm.corpus import storage
from omnitm.corpus.build import (
    Built,
    Corpus,
    Order,
    Resources,
    build_in_folder,
    sizes,
    source_facts,
    write_facts,
)
from omnitm.corpus.counting import MOST_DOCUMENTS, MOST_TOKENS
from omnitm.corpus.index import DocumentIndex
from omnitm.corpus.reading import Reading, find_sources
from omnitm.corpus.running import RunningText
from omnitm.corpus.storage import FolderSink, folder_in_the_making
from omnitm.corpus.vocabulary import IndexSummary, Tally, VocabularyRules
from omnitm.errors import CorpusError

ELEMENTS_AT_A_TIME = 2_000_000


def append_to_index(
    path: str | PathLike[str],
    sources: str | PathLike[str] | Iterable[str | PathLike[str]],
    *,
    reading: Reading | None = None,
    resources: Resources | None = None,
    tokenizer: Callable[[str], Iterable[str]] | None = None,
) -> Path:
    """Add the documents of more sources to an index, prepared as the old ones were.

    Words that the index does not know are dropped. The old index stays until the new one is complete.
    """
    path = Path(path)
    old = DocumentIndex.open(path, tokenizer=tokenizer)
    paths, reading, resources = find_sources(sources), reading or Reading(), resources or Resources()
    rules = VocabularyRules(fixed=old.vocabulary)
    order = Order(is_kept=False) if old.running is None else Order(other_words=old.running.other_words)
    with folder_in_the_making(path, overwrite=True) as folder:
        new_folder = folder / "new"
        new_folder.mkdir()
        new_sink = FolderSink(new_folder, resources.n_threads)
        sink = FolderSink(folder, resources.n_threads)
        try:
            preparation = old.preparation_or_default
            corpus = Corpus.of_sources(paths, reading, preparation)
            new = build_in_folder(new_folder, new_sink, resources, corpus, preparation, rules, order)
            new_sink.close()
            if old.n_documents + new.summary.n_documents > MOST_DOCUMENTS:
                raise CorpusError(f"An index holds at most {MOST_DOCUMENTS} documents; begin another one.")
            _write_joined(old, new_folder=new_folder, new=new, sink=sink)
            if old.running is not None:
                _write_joined_order(old.running, new_folder=new_folder, n_new=new.n_tokens, sink=sink)
            joined = _write_joined_facts(path, old, new, source_facts(paths, reading), sink)
            sink.seal(sizes(joined))
        finally:
            new_sink.close()
            sink.close()
            storage.remove_folder(new_folder)
    return path


def _read(folder: Path, name: str, start: int, stop: int) -> NDArray[Any]:
    dtype = np.dtype(storage.ARRAYS[name])
    file = folder / f"{name}.bin"
    if stop <= start:
        return np.empty(0, dtype=dtype)
    return np.fromfile(file, dtype=dtype, count=stop - start, offset=start * dtype.itemsize)


def _copy(array: NDArray[Any], name: str, sink: FolderSink) -> None:
    for start in range(0, len(array), ELEMENTS_AT_A_TIME):
        sink.append(name, array[start : start + ELEMENTS_AT_A_TIME])


def _copy_new(folder: Path, name: str, first: int, n: int, sink: FolderSink) -> None:
    for start in range(first, n, ELEMENTS_AT_A_TIME):
        sink.append(name, _read(folder, name, start, min(n, start + ELEMENTS_AT_A_TIME)))


def _write_joined(old: DocumentIndex, *, new_folder: Path, new: Built, sink: FolderSink) -> None:
    n_old_pairs, n_new_pairs = len(old.document_words), new.summary.n_pairs
    _copy(old.document_offsets, "document_offsets", sink)
    _copy(old.document_words, "document_words", sink)
    # The first offset, 0, is where the old documents end.
    first = _read(new_folder, "document_offsets", 1, new.summary.n_documents + 1) + np.uint64(n_old_pairs)
    sink.append("document_offsets", first)
    _copy_new(new_folder, "document_words", 0, n_new_pairs, sink)
    new_offsets = _read(new_folder, "word_offsets", 0, old.n_words + 1)
    sink.append("word_offsets", np.asarray(old.word_offsets) + new_offsets)
    _interleave(
        "word_documents", old.word_documents, old.word_offsets, new_folder, new_offsets, old.n_documents, sink
    )


def _write_joined_order(old: RunningText, *, new_folder: Path, n_new: int, sink: FolderSink) -> None:
    """Write the running text: the new one begins where the old one ends."""
    n_old = len(old.tokens)
    if n_old + n_new - 1 > MOST_TOKENS:
        raise CorpusError(f"A running text holds at most {MOST_TOKENS:,} words; begin another index.")
    _copy(old.tokens, "tokens", sink)
    # The new text without its first mark: the last one of the old text stands for it.
    _copy_new(new_folder, "tokens", 1, n_new, sink)
    new_starts = _read(new_folder, "word_starts", 0, len(old.word_starts))
    sink.append("word_starts", np.asarray(old.word_starts) + new_starts)
    _interleave("places", old.places, old.word_starts, new_folder, new_starts, n_old - 1, sink)


def _interleave(  # noqa: PLR0917 - an array and its offsets, twice
    name: str,
    old: NDArray[np.uint32],
    old_offsets: NDArray[np.uint64],
    new_folder: Path,
    new_offsets: NDArray[np.uint64],
    shift: int,
    sink: FolderSink,
) -> None:
    """Join two arrays that lie word by word, each with its offsets; numbers of the new one are shifted."""
    offsets = np.asarray(old_offsets) + new_offsets
    n_words = len(offsets) - 1
    low = 0
    while low < n_words:
        wanted = offsets[low] + np.uint64(ELEMENTS_AT_A_TIME)
        high = max(low + 1, min(n_words, int(np.searchsorted(offsets, wanted, side="right")) - 1))
        former = np.array(old[int(old_offsets[low]) : int(old_offsets[high])])
        added = _read(new_folder, name, int(new_offsets[low]), int(new_offsets[high])) + np.uint32(shift)
        counts = [np.diff(ends[low : high + 1]).astype(np.uint32) for ends in (old_offsets, new_offsets)]
        joined = np.empty(len(former) + len(added), dtype=np.uint32)
        interleave(counts, [former, added], joined)
        sink.append(name, joined)
        low = high


def _write_joined_facts(
    path: Path, old: DocumentIndex, new: Built, new_sources: dict[str, Any], sink: FolderSink
) -> Built:
    manifest = storage.open_folder(path)
    sources = storage.read_json(manifest, "sources.json", dict)
    shift = len(sources["files"])
    rows = new.positions.reshape(-1, 3) + np.array([shift, 0, old.n_documents], dtype=np.uint64)
    positions = np.concatenate([storage.array(manifest, "positions"), rows.reshape(-1)])
    sources["files"] += new_sources["files"]
    sources["reading"] += [{**reading, "first_source": shift} for reading in new_sources["reading"]]
    counts = new.counts if old.word_counts is None else np.asarray(old.word_counts) + new.counts
    summary = joined_summary(old.summary or IndexSummary(), new.summary, counts)
    order: tuple[Any, ...] = (None,)
    if old.running is not None:
        n_marks = len(old.running.tokens) - len(old.running.places) - old.n_documents - 1
        n_tokens = len(old.running.tokens) + new.n_tokens - 1
        order = list(old.running.other_words), n_tokens, n_marks + new.n_marks
    joined = Built(list(old.vocabulary), counts, summary, positions, *order)
    write_facts(sink, joined, storage.read_json(manifest, "options.json", dict), sources)
    return joined


def joined_summary(old: IndexSummary, new: IndexSummary, counts: NDArray[np.uint64]) -> IndexSummary:
    """Add the figures up; words dropped from both parts count twice, since their spelling is not kept."""
    dropped = {reason: Tally(tally.types, tally.tokens) for reason, tally in old.dropped.items()}
    for reason, tally in new.dropped.items():
        dropped.setdefault(reason, Tally()).add((tally.types, tally.tokens))
    kept = Tally(int(np.count_nonzero(counts)), int(counts.sum()))
    everything = Tally(kept.types, kept.tokens)
    for tally in dropped.values():
        everything.add((tally.types, tally.tokens))
    return IndexSummary(
        n_documents=old.n_documents + new.n_documents,
        n_empty_documents=old.n_empty_documents + new.n_empty_documents,
        n_pairs=old.n_pairs + new.n_pairs,
        all_words=everything,
        kept=kept,
        dropped=dropped,
        absent=[word for word in old.absent if word in set(new.absent)],
    )
