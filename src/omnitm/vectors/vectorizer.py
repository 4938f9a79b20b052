"""Documents as vectors, for any scikit-learn pipeline: the mean of the vectors of their words."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from omnitm.corpus import Preparation
from omnitm.errors import OmniTMWarning, ParameterError
from omnitm.parameters import check_choice, check_integer
from omnitm.similarity.row_profile import unit_rows
from omnitm.vectors.document_vectors import (
    N_COMPONENTS,
    WEIGHTINGS,
    Coverage,
    check_documents,
    count_words,
    dense_rows,
    mean_rows,
    named_rows,
    row_lengths,
)
from omnitm.vectors.word_vectors import WordVectors


class HasWordVectors(Protocol):
    """An estimator of word vectors, such as `OmniTMAE`."""

    word_vectors_: WordVectors


class OmniVectorizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turns documents into vectors: the mean of the vectors of their words.

    The vector of a word has length 1. For Omni TM-AE it is the word's profile (what stands out in its vector)
    in 300 dense dimensions; for other models it is the vector itself. Documents are scaled to length 1 as
    well, the scale at which the defaults of scikit-learn's classifiers work. A document without known words
    is a vector of zeros, and a warning says how many there are.

    Only `weighting="idf"` learns from documents; without it `transform` works at once, and gives the same as
    `WordVectors.encode`.

    Parameters
    ----------
    vectors
        `WordVectors` of any model, the folder of a model, or an `OmniTMAE`; if that is not fitted, `fit`
        trains it on the documents.
    weighting
        "mean": every occurrence of a word counts alike; "length": by the length of the word's vector, which
        for Omni TM-AE is how much stands out in it; "idf": rare words count more, by the documents that `fit`
        sees.
    n_components
        The most numbers of a dense vector.
    top_k
        None: dense vectors. A number: sparse ones (CSR) over the words of the vocabulary, each with its
        `top_k` strongest coordinates; only for models whose coordinates are words.
    themes
        A number: vectors over so many themes (`WordVectors.themes`), which name the numbers; instead of
        `n_components` or `top_k`, and only for models whose coordinates are words.
    unit_length
        Whether document vectors are scaled to length 1; if not, they are means of vectors of length 1, and
        shorter the more different their words are.
    preparation
        How texts become words; None: as the `OmniTMAE` does, else `Preparation()`, the default for training
        too. Token lists are taken as they are.

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
    >>> OmniVectorizer(words).transform(["A road, a sea!", "The sea"]).astype(float).round(2).tolist()
    [[0.71, 0.71], [0.0, 1.0]]
    """

    def __init__(
        self,
        vectors: WordVectors | HasWordVectors | str | Path | None = None,
        *,
        weighting: Literal["mean", "length", "idf"] = "mean",
        n_components: int = N_COMPONENTS,
        top_k: int | None = None,
        themes: int | None = None,
        unit_length: bool = True,
        preparation: Preparation | None = None,
    ) -> None:
        self.vectors = vectors
        self.weighting = weighting
        self.n_components = n_components
        self.top_k = top_k
        self.themes = themes
        self.unit_length = unit_length
        self.preparation = preparation

    def fit(self, raw_documents: Iterable[Any], y: Any = None) -> OmniVectorizer:
        """Read the model, or train it; and count the frequencies of words if they are wanted."""
        del y
        raw_documents = self._trained(raw_documents)
        self._prepare()
        if self.weighting == "idf":
            return self._learn_frequencies(self.count(raw_documents)[0])
        check_documents(raw_documents)
        return self

    def fit_transform(self, raw_documents: Iterable[Any], y: Any = None, **_: Any) -> Any:
        """Fit to documents and transform them; reads them once."""
        del y
        raw_documents = self._trained(raw_documents)
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
        self._check_ready()
        return mean_rows(
            counts, self._rows, self.word_weights_, unit_length=self.unit_length, top_k=self.top_k
        )

    def count(self, raw_documents: Iterable[Any]) -> tuple[Any, Coverage]:
        """Count known words, documents x words as CSR, and say how much is not known."""
        self._check_ready()
        preparation = self.preparation
        if preparation is None and not isinstance(self.vectors, WordVectors):
            preparation = getattr(self.vectors, "preparation", None)
        return count_words(raw_documents, self.vocabulary_, preparation)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Name the numbers of a vector: words or themes if these are asked for, else numbered."""
        del input_features
        self._check_ready()
        if self._feature_names is not None:
            return np.array(self._feature_names, dtype=object)
        return np.array([f"omnivectorizer{k}" for k in range(self.n_features_out_)], dtype=object)

    @property
    def n_features_out_(self) -> int:
        """Numbers of a document's vector."""
        check_is_fitted(self, "vocabulary_")
        return int(self._rows.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = self.weighting == "idf" or self._is_to_be_trained
        return tags

    def _trained(self, raw_documents: Iterable[Any]) -> Iterable[Any]:
        """Train a model that is not fitted yet, on a copy as scikit-learn does; return the documents."""
        self.model_: Any = self.vectors
        if not self._is_to_be_trained:
            return raw_documents
        check_documents(raw_documents)
        documents = list(raw_documents)
        self.model_ = clone(self.vectors).fit(documents)
        return documents

    @property
    def _is_to_be_trained(self) -> bool:
        return hasattr(self.vectors, "fit") and not hasattr(self.vectors, "word_vectors_")

    def _check_ready(self) -> None:
        if self._is_to_be_trained or self.weighting == "idf" or hasattr(self, "vocabulary_"):
            check_is_fitted(self, "vocabulary_")
        else:
            self._prepare()

    def _prepare(self) -> None:
        owner = "OmniVectorizer"
        check_choice(owner, "weighting", self.weighting, WEIGHTINGS)
        check_integer(owner, "n_components", self.n_components, 1)
        if self.top_k is not None:
            check_integer(owner, "top_k", self.top_k, 1)
            if self.themes is not None:
                raise ParameterError(f"{owner} takes either 'top_k' or 'themes'. Got both.")
        given = getattr(self, "model_", self.vectors)
        vectors = WordVectors.load(given) if isinstance(given, (str, Path)) else given
        vectors = getattr(vectors, "word_vectors_", vectors)
        if not isinstance(vectors, WordVectors):
            raise ParameterError(
                f"The 'vectors' parameter of {owner} must be WordVectors, an OmniTMAE or the folder of a "
                f"model. Got {vectors!r} instead."
            )
        self._feature_names: list[str] | None = None
        if self.themes is not None:
            reduced = vectors.reduce(themes=self.themes)
            self._rows, self._feature_names = unit_rows(reduced.matrix), reduced.feature_names
        elif self.top_k is not None:
            self._rows, self._feature_names = named_rows(vectors), list(vectors.feature_names)
        else:
            self._rows = dense_rows(vectors, self.n_components)
        self.vocabulary_ = dict(vectors.key_to_index)
        self.word_weights_: NDArray[np.float32] | None = None
        if self.weighting == "length":
            self.word_weights_ = row_lengths(vectors)

    def _learn_frequencies(self, counts: Any) -> OmniVectorizer:
        frequencies = np.bincount(counts.indices, minlength=counts.shape[1])
        # scikit-learn's smoothed idf: log((1 + N) / (1 + n)) + 1.
        self.word_weights_ = (np.log((1 + counts.shape[0]) / (1 + frequencies)) + 1).astype(np.float32)
        return self


def _warn(coverage: Coverage) -> None:
    without = coverage.n_empty + coverage.n_unknown_documents
    if without:
        warnings.warn(
            f"{without:,} of {coverage.n_documents:,} documents become zeros: "
            f"{coverage.n_empty:,} are empty, {coverage.n_unknown_documents:,} have no known word.",
            OmniTMWarning,
            stacklevel=3,
        )
