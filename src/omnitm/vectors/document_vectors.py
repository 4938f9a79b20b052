"""Vectors of documents: the mean of the vectors of their words.

`WordVectors.encode` and `OmniVectorizer` both use this. A word's vector has length 1; words that the model
does not know are left out; a document without known words is all zeros.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus.documents import refuse_record, refuse_tables
from omnitm.corpus.preparation import Preparation, checked_tokens
from omnitm.errors import CorpusError, ParameterError, needs_extra
from omnitm.similarity.row_profile import unit_rows
from omnitm.vectors.compact import strongest_coordinates, to_unit_length
from omnitm.vectors.word_vectors import WordVectors

Reals = NDArray[np.float32]

WEIGHTINGS = ("mean", "length", "idf")
N_COMPONENTS = 300
_DOCUMENTS_AT_ONCE = 512  # of named coordinates, before all but the strongest are dropped


@dataclass(frozen=True)
class Coverage:
    """How much of some documents a model knows.

    Attributes
    ----------
    n_tokens, n_unknown
        Words of all documents, with repeats, and those of them that the model does not know.
    n_empty
        Documents without any word.
    n_unknown_documents
        Documents that have words, but none that the model knows.
    """

    n_documents: int
    n_tokens: int
    n_unknown: int
    n_empty: int
    n_unknown_documents: int

    def __str__(self) -> str:
        share = 1 - self.n_unknown / max(1, self.n_tokens)
        known = f"{share:.1%} of their words known" if self.n_tokens else "without any word"
        return (
            f"{self.n_documents:,} documents, {known}; {self.n_empty:,} empty, "
            f"{self.n_unknown_documents:,} with no known word"
        )


def dense_rows(vectors: WordVectors, n_components: int = N_COMPONENTS) -> Reals:
    """Rows of words, of length 1 and with at most `n_components` numbers.

    Integers with names: the row profile in the space of its strongest common patterns. From 100 words on
    these rows lie beside the model, so this takes no time; for fewer words they are computed. Other vectors:
    as they are, or reduced if they have more numbers.
    """
    if vectors.has_profiles and vectors.profiles.topic.smooth.shape[1]:
        # Patterns come in the order of their weight, so the first ones are the best of any number.
        rows = vectors.profiles.topic.smooth[:, :n_components]
    elif vectors.has_profiles or vectors.vector_size > n_components:
        rows = vectors.reduce(min(n_components, len(vectors), vectors.vector_size)).matrix
    else:
        rows = np.asarray(vectors.matrix[:], dtype=np.float32)
    return unit_rows(rows)


def named_rows(vectors: WordVectors) -> Any:
    """Rows of length 1 over named features, as a sparse matrix: only what stands out."""
    if not vectors.has_profiles:
        raise ParameterError(
            "Only integer vectors with named features have named coordinates that stand out; "
            "leave 'top_k' out for other vectors."
        )
    return vectors.profiles.topic.by_word()


def row_lengths(vectors: WordVectors) -> NDArray[np.float32]:
    """Length of each word's row profile before it is scaled to length 1, or of the vector itself."""
    if vectors.has_profiles and vectors.profiles.topic.smooth.shape[1]:
        return np.asarray(vectors.profiles.topic.lengths, dtype=np.float32)
    lengths: NDArray[np.float32] = np.linalg.norm(vectors.matrix.astype(np.float32), axis=1)
    return lengths


def count_words(
    documents: Iterable[Any], vocabulary: Mapping[str, int], preparation: Preparation | None = None
) -> tuple[Any, Coverage]:
    """Count the known words of texts or token lists, documents x words as CSR, and say what is not known."""
    from scipy.sparse import csr_matrix

    check_documents(documents)
    words = (preparation or Preparation()).words
    indices: list[NDArray[np.int32]] = []
    lengths, n_tokens, n_empty, n_unknown_documents = [0], 0, 0, 0
    for number, document in enumerate(documents):
        tokens = words(document) if isinstance(document, str) else _token_list(number, document)
        known = [vocabulary[token] for token in tokens if token in vocabulary]
        indices.append(np.array(known, dtype=np.int32))
        lengths.append(len(known))
        n_tokens += len(tokens)
        n_empty += not tokens
        n_unknown_documents += bool(tokens) and not known
    columns = np.concatenate([np.zeros(0, np.int32), *indices])
    shape = (len(lengths) - 1, len(vocabulary))
    counts = csr_matrix((np.ones(len(columns), np.int32), columns, np.cumsum(lengths)), shape=shape)
    counts.sum_duplicates()
    return counts, Coverage(shape[0], n_tokens, n_tokens - len(columns), n_empty, n_unknown_documents)


def mean_rows(
    counts: Any,
    rows: Any,
    word_weights: Reals | None = None,
    *,
    unit_length: bool = True,
    top_k: int | None = None,
) -> Any:
    """Return the weighted mean of the rows of each document's words: one row per document.

    Parameters
    ----------
    counts
        Documents x words, CSR: how often each word occurs.
    rows
        A row per word, dense or CSR.
    word_weights
        How much an occurrence of each word counts; None: all alike.
    unit_length
        Whether the means are scaled to length 1.
    top_k
        For rows in CSR: keep the strongest coordinates of each document.
    """
    weights = counts.astype(np.float32)
    if word_weights is not None:
        weights.data *= word_weights[weights.indices]
    # Weights of a document add up to 1; one without known words stays 0.
    totals = np.asarray(weights.sum(axis=1)).ravel()
    weights.data /= np.repeat(np.where(totals > 0, totals, 1), np.diff(weights.indptr)).astype(np.float32)
    if top_k is not None:
        return _strongest(weights, rows, top_k, unit_length=unit_length)
    means = np.asarray(weights @ rows, dtype=np.float32)
    return unit_rows(means) if unit_length else means


class SentenceEncoder:
    """Turns sentences into vectors, scaled to length 1, in a form that `mteb` can evaluate.

    `OmniVectorizer` gives the same vectors for the same texts.

    Parameters
    ----------
    vectors
        Vectors of words.
    preparation
        How sentences become words; None: `Preparation()`, which is the default for training too.

    Examples
    --------
    >>> import numpy as np
    >>> from omnitm import WordVectors
    >>> vectors = WordVectors(np.eye(2, dtype=np.float32), ["road", "sea"], None)
    >>> SentenceEncoder(vectors).encode(["The road!", "By the sea", "Why?"]).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    """

    def __init__(self, vectors: WordVectors, preparation: Preparation | None = None) -> None:
        self._vectors = vectors
        self._preparation = preparation

    @cached_property
    def _rows(self) -> Reals:
        return dense_rows(self._vectors)

    @property
    def n_dimensions(self) -> int:
        """Numbers per sentence."""
        return int(self._rows.shape[1])

    def encode(self, sentences: str | Iterable[str] | Iterable[dict[str, Any]], **_: Any) -> Reals:
        """Encode sentences: a row per sentence, or one vector for one text.

        Parameters
        ----------
        sentences
            Text, texts, or batches as `mteb` gives them: dictionaries with a list of texts as "text".
            Other arguments that `mteb` passes are ignored.
        """
        if isinstance(sentences, str):
            vector: Reals = self.encode([sentences])[0]
            return vector
        counts = count_words(_texts(sentences), self._vectors.key_to_index, self._preparation)[0]
        rows: Reals = mean_rows(counts, self._rows)
        return rows

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Any:
        """Cosine of every vector of the one with every vector of the other set."""
        first, second = unit_rows(np.asarray(embeddings1)), unit_rows(np.asarray(embeddings2))
        return first @ second.T

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Any:
        """Cosine of each vector of the one with the same vector of the other set."""
        first, second = unit_rows(np.asarray(embeddings1)), unit_rows(np.asarray(embeddings2))
        return np.einsum("ij,ij->i", first, second)

    @property
    def mteb_model_meta(self) -> Any:
        """What `mteb` wants to know about a model."""
        with needs_extra("mteb_model_meta", "mteb"):
            from mteb.models.model_meta import ModelMeta
        record = self._vectors.training
        kind = "omni" if record is None else getattr(record, "model", "omni")
        revision = "unknown" if record is None else record.index_fingerprint[:12]
        facts = {"name": f"omnitm/{kind}", "revision": revision, "embed_dim": self.n_dimensions}
        return ModelMeta.create_empty(overwrites=facts)


def _texts(sentences: Iterable[Any]) -> Iterator[str]:
    for item in sentences:
        for text in item["text"] if isinstance(item, dict) and "text" in item else [item]:
            if not isinstance(text, str):
                raise ParameterError(
                    f"The 'sentences' parameter must be text or texts. Got {type(text).__name__} among them."
                )
            yield text


def check_documents(documents: Any) -> None:
    """Refuse what is not a list of documents."""
    refuse_tables(documents)
    is_array = getattr(documents, "ndim", 1) != 1
    if isinstance(documents, (str, bytes)) or is_array or not hasattr(documents, "__iter__"):
        found = f"an array of {documents.ndim} dimensions" if is_array else f"a {type(documents).__name__}"
        raise CorpusError(f"OmniVectorizer needs a list of texts or of token lists, not {found}.")


def _token_list(number: int, document: Any) -> list[str]:
    if isinstance(document, bytes) or not hasattr(document, "__iter__"):
        raise CorpusError(
            f"A document is a text or a list of words, but document {number} is {document!r}; an empty one "
            "is ''."
        )
    refuse_record(document, f"Document {number}")
    return checked_tokens(document)


def _strongest(weights: Any, rows: Any, count: int, *, unit_length: bool) -> Any:
    """Multiply documents with named rows block by block, and keep the strongest coordinates of each."""
    from scipy.sparse import csr_matrix, vstack

    nothing = csr_matrix((0, rows.shape[1]), dtype=np.float32)
    parts = (
        weights[start : start + _DOCUMENTS_AT_ONCE]
        for start in range(0, weights.shape[0], _DOCUMENTS_AT_ONCE)
    )
    found = vstack(
        [nothing, *(strongest_coordinates((part @ rows).tocsr(), count) for part in parts)], format="csr"
    )
    if unit_length:
        to_unit_length(found)
    return found
