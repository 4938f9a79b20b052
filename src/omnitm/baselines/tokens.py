"""The text of an index as numbers of words in their order: prepared once, read as often as a model wants."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex

_DOCUMENTS_AT_ONCE = 20_000


class Tokens(NamedTuple):
    """Words of document i: `ids[offsets[i] : offsets[i + 1]]`, in their order, with repeats."""

    ids: NDArray[np.uint32]
    offsets: NDArray[np.uint64]

    @property
    def n_documents(self) -> int:
        """Number of documents, empty ones included."""
        return len(self.offsets) - 1

    def counts(self, n_words: int) -> NDArray[np.int64]:
        """How often each word occurs."""
        return np.bincount(self.ids, minlength=n_words)


@contextmanager
def tokens_of(index: DocumentIndex) -> Iterator[Tokens]:
    """Prepare the text of an index once more; the numbers lie in a temporary file that vanishes by itself."""
    word_ids = {word: k for k, word in enumerate(index.vocabulary)}
    lengths: list[NDArray[np.uint32]] = []
    with tempfile.TemporaryFile(prefix="omnitm-tokens-") as file:
        stream = index.token_stream()
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
        yield Tokens(np.asarray(ids, dtype=np.uint32), offsets)
