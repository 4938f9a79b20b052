"""Documents as vectors, for any scikit-learn pipeline: the mean of the vectors of their words."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from omnitm.corpus.preparation import Preparation, checked_tokens
from omnitm.errors import CorpusError, OmniTMWarning, ParameterError
from omnitm.parameters import check_choice, check_integer
from omnitm.vectors.word_rows import at_unit_length, dense_rows, named_rows, row_lengths
from omnitm.vectors.word_vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

WEIGHTINGS = ("mean", "length", "idf")
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


class OmniVectorizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turns documents into vectors: the mean of the vectors of their words.

    A word's vector has length 1. For Omni TM-AE it is what stands out in it, in 300 dense dimensions; for
    other models it is the vector itself. A document without known words is a vector of zeros, and a warning
    says how many there are.

    Parameters
    ----------
    vectors
        `WordVectors` of any model, or the folder of one; with a folder the fitted vectorizer stays small
        when it is pickled.
    weighting
        "mean": every occurrence of a word counts alike; "length": by the length of the word's vector, which
        for Omni TM-AE is how much stands out in it; "idf": rare words count more, by the documents that `fit`
        sees.
    n_components
        Most numbers of a dense vector.
    top_k
        None: dense vectors. A number: sparse ones (CSR) over the words of the vocabulary, each with its
        `top_k` strongest coordinates; only for models whose coordinates are words.
    unit_length
        Whether document vectors are scaled to length 1, so that distances between them are cosines.
    preparation
        How texts become words; None: as the paper does. Token lists are taken as they are.

    Attributes
    ----------
    vocabulary_
        The words of the model, by row.
    word_weights_
        How much an occurrence of each word counts; None: all count alike.
    n_features_out_
        Numbers of a document's vector.

    Examples
    --------
    >>> import numpy as np
    >>> words = WordVectors(np.eye(2, dtype=np.float32), ["road", "sea"], None)
    >>> OmniVectorizer(words).fit_transform(["A road, a sea!", "The sea"]).tolist()
    [[0.5, 0.5], [0.0, 1.0]]
    """

    def __init__(
        self,
        vectors: WordVectors | str | Path | None = None,
        *,
        weighting: Literal["mean", "length", "idf"] = "mean",
        n_components: int = 300,
        top_k: int | None = None,
        unit_length: bool = False,
        preparation: Preparation | None = None,
    ) -> None:
        self.vectors = vectors
        self.weighting = weighting
        self.n_components = n_components
        self.top_k = top_k
        self.unit_length = unit_length
        self.preparation = preparation

    def fit(self, raw_documents: Iterable[Any], y: Any = None) -> OmniVectorizer:
        """Read the model, and the frequencies of words if they are wanted."""
        del y
        self._prepare()
        if self.weighting == "idf":
            return self._learn_frequencies(self.count(raw_documents)[0])
        _check_documents(raw_documents)
        return self

    def fit_transform(self, raw_documents: Iterable[Any], y: Any = None, **_: Any) -> Any:
        """Fit to documents and transform them; reads them once."""
        del y
        self._prepare()
        counts, coverage = self.count(raw_documents)
        if self.weighting == "idf":
            self._learn_frequencies(counts)
        _warn(coverage)
        return self.transform_counts(counts)

    def fit_transform_counts(self, counts: Any) -> Any:
        """Do as `fit_transform` with words that are counted already, see `count_words`."""
        self._prepare()
        if self.weighting == "idf":
            self._learn_frequencies(counts)
        return self.transform_counts(counts)

    def transform(self, raw_documents: Iterable[Any]) -> Any:
        """Turn documents into vectors: float32, dense, or CSR with `top_k`."""
        counts, coverage = self.count(raw_documents)
        _warn(coverage)
        return self.transform_counts(counts)

    def transform_counts(self, counts: Any) -> Any:
        """Turn a sparse matrix, documents x words of the model, into vectors."""
        check_is_fitted(self, "vocabulary_")
        weights = counts.astype(np.float32)
        if self.word_weights_ is not None:
            weights.data *= self.word_weights_[weights.indices]
        totals = np.asarray(weights.sum(axis=1)).ravel()
        weights.data /= np.repeat(np.where(totals > 0, totals, 1), np.diff(weights.indptr)).astype(np.float32)
        if self.top_k is None:
            return at_unit_length(weights @ self._rows) if self.unit_length else weights @ self._rows
        return _strongest(weights, self._rows, self.top_k, unit_length=self.unit_length)

    def count(self, raw_documents: Iterable[Any]) -> tuple[Any, Coverage]:
        """Count known words, documents x words as CSR, and say how much is not known."""
        check_is_fitted(self, "vocabulary_")
        return count_words(raw_documents, self.vocabulary_, self.preparation)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Name the numbers of a vector: words if `top_k` is given, else the class's name and a number."""
        del input_features
        check_is_fitted(self, "vocabulary_")
        if self._feature_names is not None:
            return np.array(self._feature_names, dtype=object)
        return np.array([f"omnivectorizer{k}" for k in range(self.n_features_out_)], dtype=object)

    @property
    def n_features_out_(self) -> int:
        """Numbers of a document's vector."""
        return int(self._rows.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def _prepare(self) -> None:
        owner = "OmniVectorizer"
        check_choice(owner, "weighting", self.weighting, WEIGHTINGS)
        check_integer(owner, "n_components", self.n_components, 1)
        if self.top_k is not None:
            check_integer(owner, "top_k", self.top_k, 1)
        vectors = WordVectors.load(self.vectors) if isinstance(self.vectors, (str, Path)) else self.vectors
        if not isinstance(vectors, WordVectors):
            raise ParameterError(
                f"The 'vectors' parameter of {owner} must be WordVectors or the folder of a model. "
                f"Got {vectors!r} instead."
            )
        self._rows = dense_rows(vectors, self.n_components) if self.top_k is None else named_rows(vectors)
        self._feature_names = None if self.top_k is None else list(vectors.feature_names)
        self.vocabulary_ = dict(vectors.key_to_index)
        self.word_weights_: NDArray[np.float32] | None = None
        if self.weighting == "length":
            self.word_weights_ = row_lengths(vectors)

    def _learn_frequencies(self, counts: Any) -> OmniVectorizer:
        frequencies = np.bincount(counts.indices, minlength=counts.shape[1])
        self.word_weights_ = (np.log((1 + counts.shape[0]) / (1 + frequencies)) + 1).astype(np.float32)
        return self


def count_words(
    documents: Iterable[Any], vocabulary: Mapping[str, int], preparation: Preparation | None = None
) -> tuple[Any, Coverage]:
    """Count the known words of texts or token lists, documents x words as CSR, and say what is not known."""
    from scipy.sparse import csr_matrix

    _check_documents(documents)
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


def _check_documents(documents: Any) -> None:
    is_table = getattr(documents, "ndim", 1) != 1
    if isinstance(documents, (str, bytes)) or is_table or not hasattr(documents, "__iter__"):
        found = f"an array of {documents.ndim} dimensions" if is_table else f"a {type(documents).__name__}"
        raise CorpusError(f"OmniVectorizer needs a list of texts or of token lists, not {found}.")


def _token_list(number: int, document: Any) -> list[str]:
    if isinstance(document, bytes) or not hasattr(document, "__iter__"):
        raise CorpusError(
            f"A document is a text or a list of words, but document {number} is {document!r}; an empty one "
            "is ''."
        )
    return checked_tokens(document)


def _warn(coverage: Coverage) -> None:
    without = coverage.n_empty + coverage.n_unknown_documents
    if without:
        warnings.warn(
            f"{without:,} of {coverage.n_documents:,} documents become zeros: "
            f"{coverage.n_empty:,} are empty, {coverage.n_unknown_documents:,} have no known word.",
            OmniTMWarning,
            stacklevel=3,
        )


def _strongest(weights: Any, rows: Any, count: int, *, unit_length: bool) -> Any:
    """Multiply documents with named rows block by block, and keep the strongest coordinates of each."""
    from scipy.sparse import csr_matrix, vstack

    nothing = csr_matrix((0, rows.shape[1]), dtype=np.float32)
    parts = (
        weights[start : start + _DOCUMENTS_AT_ONCE]
        for start in range(0, weights.shape[0], _DOCUMENTS_AT_ONCE)
    )
    found = vstack(
        [nothing, *(_keep_strongest((part @ rows).tocsr(), count) for part in parts)], format="csr"
    )
    if unit_length:
        lengths = np.sqrt(np.asarray(found.multiply(found).sum(axis=1)).ravel())
        found.data /= np.repeat(np.where(lengths > 0, lengths, 1), np.diff(found.indptr)).astype(np.float32)
    return found


def _keep_strongest(block: Any, count: int) -> Any:
    from scipy.sparse import csr_matrix

    kept = []
    for start, end in zip(block.indptr[:-1], block.indptr[1:], strict=True):
        values = block.data[start:end]
        order = np.argpartition(-values, count)[:count] if len(values) > count else np.arange(len(values))
        kept.append(start + order[np.argsort(block.indices[start + order])])
    places = np.concatenate([np.zeros(0, np.intp), *kept]).astype(np.intp)
    starts = np.concatenate([[0], np.cumsum([len(part) for part in kept])])
    return csr_matrix((block.data[places], block.indices[places], starts), shape=block.shape)
