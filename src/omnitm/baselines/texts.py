"""How models read the text of an index: as numbers of words in their order, or sentence by sentence."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus import DocumentIndex, RunningText
from omnitm.corpus.assembling import DOCUMENT_END, GAP
from omnitm.errors import CorpusError, OmniTMWarning
from omnitm.training.progress import ProgressOption, reporting

_DOCUMENTS_AT_ONCE = 20_000
_NO_WORD = 2**32 - 1


class Tokens(NamedTuple):
    """Words of document i: `ids[offsets[i] : offsets[i + 1]]`, in their order, with repeats.

    Attributes
    ----------
    names
        Words by number: the vocabulary of the index, then function words if they were wanted.
    """

    ids: NDArray[np.uint32]
    offsets: NDArray[np.uint64]
    names: Sequence[str] = ()

    @property
    def n_documents(self) -> int:
        """Number of documents, empty ones included."""
        return len(self.offsets) - 1

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each word occurs."""
        return np.bincount(self.ids, minlength=len(self.names))


@contextmanager
def tokens_of(index: DocumentIndex, *, function_words: bool = False) -> Iterator[Tokens]:
    """Yield the text of an index in its order; the numbers lie in a temporary file that vanishes by itself.

    They are read off the running text. An index without one has its text prepared once more.

    Parameters
    ----------
    function_words
        Whether words that the index left out as stop words are there, too: models of windows can use them.
    """
    left_out = index.preparation_or_default.prepared_stop_words if function_words else frozenset()
    also = sorted(left_out.difference(index.vocabulary))
    names = [*index.vocabulary, *also]
    parts = _prepared(index, names, also) if index.running is None else _running(index.running, names)
    lengths: list[NDArray[np.uint32]] = []
    with tempfile.TemporaryFile(prefix="omnitm-tokens-") as file:
        for ids, lengths_of_part in parts:
            lengths.append(lengths_of_part)
            file.write(ids.tobytes())
        file.flush()
        offsets = np.zeros(1 + sum(map(len, lengths)), dtype=np.uint64)
        if lengths:
            np.cumsum(np.concatenate(lengths), out=offsets[1:])
        n_tokens = int(offsets[-1])
        found = np.memmap(file, dtype=np.uint32, mode="r", shape=(n_tokens,)) if n_tokens else np.zeros(0)
        yield Tokens(np.asarray(found, dtype=np.uint32), offsets, names)


Part = tuple["NDArray[np.uint32]", "NDArray[np.uint32]"]  # ids, and how many each document has


def _running(running: RunningText, names: Sequence[str]) -> Iterator[Part]:
    """Cut a running text at ends of documents, and number its words by `names`; others are left out."""
    numbers = {name: number for number, name in enumerate(names)}
    new_numbers = np.array(
        [numbers.get(name, _NO_WORD) for name in running.names] + [_NO_WORD], dtype=np.uint32
    )
    ends = running.document_ends
    for first in range(0, len(ends) - 1, _DOCUMENTS_AT_ONCE):
        bounds = ends[first : first + _DOCUMENTS_AT_ONCE + 1]
        tokens = running.tokens[bounds[0] + 1 : bounds[-1] + 1]
        is_end = tokens == DOCUMENT_END
        is_word = tokens < GAP  # marks and ends of documents are the largest numbers
        ids = np.where(is_word, new_numbers[np.where(is_word, tokens, 0)], _NO_WORD).astype(np.uint32)
        kept = ids != _NO_WORD
        # Words kept up to each end of a document; their differences are the lengths.
        before = np.cumsum(kept)[is_end]
        yield ids[kept], np.diff(before, prepend=0).astype(np.uint32)


def _prepared(index: DocumentIndex, names: Sequence[str], also: Sequence[str]) -> Iterator[Part]:
    word_ids = {word: k for k, word in enumerate(names)}
    stream = index.token_stream(also)
    while documents := list(islice(stream, _DOCUMENTS_AT_ONCE)):
        lengths = np.fromiter(map(len, documents), dtype=np.uint32, count=len(documents))
        words = map(word_ids.__getitem__, chain.from_iterable(documents))
        yield np.fromiter(words, dtype=np.uint32, count=int(lengths.sum())), lengths


_SENTENCES_AT_ONCE = 256


class Encoder(Protocol):
    """Reads texts that are cut at white space, and gives each piece a vector."""

    size: int

    def encode(self, documents: Sequence[list[str]]) -> list[NDArray[np.float32]]:
        """Return pieces x numbers for each document; fewer rows than pieces if a document is too long."""


def mean_over_occurrences(
    index: DocumentIndex,
    words: Sequence[str],
    encoder: Encoder,
    *,
    n_occurrences: int,
    progress: ProgressOption = False,
) -> NDArray[np.float32]:
    """Average a word's vectors over documents that have it.

    Documents are chosen so that every word has `n_occurrences` of them if there are so many; every occurrence
    in a chosen document counts. A word that the encoder never saw is a vector of zeros, and a warning says
    so.
    """
    chosen = documents_for(index, words, n_occurrences)
    rows = {word: row for row, word in enumerate(words)}
    sums, counts = np.zeros((len(words), encoder.size)), np.zeros(len(words), dtype=np.int64)
    with reporting(progress, 0, len(chosen), "reading documents") as report:
        for start in range(0, len(chosen), _SENTENCES_AT_ONCE):
            numbers = chosen[start : start + _SENTENCES_AT_ONCE]
            pieces = [text.split() for text in texts_of(index, numbers)]
            for document, vectors in zip(pieces, encoder.encode(pieces), strict=True):
                for place, row in _known(index, document[: len(vectors)], rows):
                    sums[row] += vectors[place]
                    counts[row] += 1
            report(min(len(chosen), start + len(numbers)))
    _warn_unseen([word for word, count in zip(words, counts, strict=True) if not count])
    means: NDArray[np.float32] = (sums / np.maximum(counts, 1)[:, None]).astype(np.float32)
    return means


def documents_for(index: DocumentIndex, words: Sequence[str], count: int) -> list[int]:
    """Choose documents, spread evenly over the corpus, so that every word has `count` of them."""
    chosen: set[int] = set()
    for word in words:
        found = index.documents_with(index.word_id(word))
        places = np.linspace(0, len(found) - 1, min(count, len(found))).astype(np.intp)
        chosen.update(found[places].tolist())
    return sorted(chosen)


def texts_of(index: DocumentIndex, numbers: Sequence[int]) -> list[str]:
    """Read texts; an error says what to do if they are gone."""
    found = index.document_texts(numbers)
    texts = [found[number] for number in numbers]
    present = [text for text in texts if text is not None]
    if len(present) < len(texts):
        raise CorpusError(
            "This index does not know its text, or the text has changed since; models that read sentences "
            "need it: build the index from files, omnitm index TEXT -o INDEX."
        )
    return present


def _known(index: DocumentIndex, pieces: Sequence[str], rows: dict[str, int]) -> Iterator[tuple[int, int]]:
    """Places of pieces that are one of the words, once prepared as the index was."""
    tokens = index.preparation_or_default.tokens
    for place, piece in enumerate(pieces):
        found = tokens(piece)
        if len(found) == 1 and found[0] in rows:
            yield place, rows[found[0]]


def _warn_unseen(words: Sequence[str]) -> None:
    if words:
        shown = ", ".join(words[:5]) + (", ..." if len(words) > 5 else "")
        warnings.warn(
            f"{len(words):,} words never occurred as a piece of text of their own, so that their vectors are "
            f"zeros: {shown}.",
            OmniTMWarning,
            stacklevel=5,
        )
