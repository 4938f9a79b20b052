"""Word vectors of models that read whole sentences: the mean over occurrences of a word."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from omnitm.errors import CorpusError, OmniTMWarning
from omnitm.training.progress import ProgressOption, reporting

if TYPE_CHECKING:
    from omnitm.corpus import DocumentIndex

_DOCUMENTS_AT_ONCE = 256


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
        for start in range(0, len(chosen), _DOCUMENTS_AT_ONCE):
            numbers = chosen[start : start + _DOCUMENTS_AT_ONCE]
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
            stacklevel=4,
        )
