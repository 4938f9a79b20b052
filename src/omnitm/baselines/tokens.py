"""The text of an index as numbers of words in their order: prepared once, read as often as a model wants."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex

_DOCUMENTS_AT_ONCE = 20_000


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
    """Prepare the text of an index once more; the numbers lie in a temporary file that vanishes by itself.

    Parameters
    ----------
    function_words
        Whether words that the index left out as stop words are there, too: models of windows can use them.
    """
    left_out = index.preparation_or_default.prepared_stop_words if function_words else frozenset()
    also = sorted(left_out.difference(index.vocabulary))
    names = [*index.vocabulary, *also]
    word_ids = {word: k for k, word in enumerate(names)}
    lengths: list[NDArray[np.uint32]] = []
    with tempfile.TemporaryFile(prefix="omnitm-tokens-") as file:
        stream = index.token_stream(also)
        while documents := list(islice(stream, _DOCUMENTS_AT_ONCE)):
            lengths.append(np.fromiter(map(len, documents), dtype=np.uint32, count=len(documents)))
            words = map(word_ids.__getitem__, chain.from_iterable(documents))
            file.write(np.fromiter(words, dtype=np.uint32, count=int(lengths[-1].sum())).tobytes())
        file.flush()
        offsets = np.zeros(1 + sum(map(len, lengths)), dtype=np.uint64)
        if lengths:
            np.cumsum(np.concatenate(lengths), out=offsets[1:])
        n_tokens = int(offsets[-1])
        ids = np.memmap(file, dtype=np.uint32, mode="r", shape=(n_tokens,)) if n_tokens else np.zeros(0)
        yield Tokens(np.asarray(ids, dtype=np.uint32), offsets, names)
