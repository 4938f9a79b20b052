"""Which words occur in which documents, in both orders, as flat arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from omnitm.errors import CorpusError, UnknownWordError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from scipy.sparse import spmatrix


@dataclass(frozen=True, eq=False)
class DocumentIndex:
    """Documents as sets of words, and words as sets of documents.

    ```text
    words of document i:  document_words[document_offsets[i] : document_offsets[i + 1]]   ascending
    documents of word k:  word_documents[word_offsets[k] : word_offsets[k + 1]]           ascending
    ```

    Offsets are uint64, words and documents uint32; counts within a document are not kept.
    """

    vocabulary: Sequence[str]
    document_offsets: NDArray[np.uint64]
    document_words: NDArray[np.uint32]
    word_offsets: NDArray[np.uint64]
    word_documents: NDArray[np.uint32]

    @property
    def n_documents(self) -> int:
        """Number of documents, empty ones included."""
        return len(self.document_offsets) - 1

    @property
    def n_words(self) -> int:
        """Size of the vocabulary."""
        return len(self.vocabulary)

    @property
    def document_frequencies(self) -> NDArray[np.int64]:
        """In how many documents each word of the vocabulary occurs."""
        return np.diff(self.word_offsets.astype(np.int64))

    def word_id(self, word: str) -> int:
        """Position of `word` in the vocabulary."""
        try:
            return self._positions[word]
        except KeyError:
            raise UnknownWordError(word, self.vocabulary) from None

    def documents_with(self, word_id: int) -> NDArray[np.uint32]:
        """Ascending numbers of the documents that contain the word."""
        return self.word_documents[int(self.word_offsets[word_id]) : int(self.word_offsets[word_id + 1])]

    def words_of(self, document: int) -> NDArray[np.uint32]:
        """Ascending positions of the words that the document contains."""
        return self.document_words[
            int(self.document_offsets[document]) : int(self.document_offsets[document + 1])
        ]

    @classmethod
    def from_csr(cls, document_words: spmatrix, vocabulary: Sequence[str]) -> DocumentIndex:
        """Index a sparse matrix documents x words; any value but zero means that the word occurs."""
        import scipy.sparse as sp

        presence = sp.csr_matrix(document_words, copy=True)
        if presence.shape[1] != len(vocabulary):
            raise CorpusError(
                f"The matrix has {presence.shape[1]} columns but the vocabulary has {len(vocabulary)} words; "
                "give one word per column."
            )
        presence.sum_duplicates()
        presence.eliminate_zeros()
        by_word = presence.tocsc()
        by_word.sort_indices()
        return cls(
            vocabulary=list(vocabulary),
            document_offsets=presence.indptr.astype(np.uint64),
            document_words=presence.indices.astype(np.uint32),
            word_offsets=by_word.indptr.astype(np.uint64),
            word_documents=by_word.indices.astype(np.uint32),
        )

    def __post_init__(self) -> None:
        positions = {word: k for k, word in enumerate(self.vocabulary)}
        if len(positions) != len(self.vocabulary):
            raise CorpusError("The vocabulary names a word twice; every word must stand in it once.")
        object.__setattr__(self, "_positions", positions)

    if TYPE_CHECKING:
        _positions: dict[str, int]
