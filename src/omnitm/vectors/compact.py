"""Compact forms of word vectors: few dense dimensions, or few named coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitm.errors import ParameterError, UnknownWordError
from omnitm.parameters import check_integer
from omnitm.similarity.nearest import best
from omnitm.similarity.row_products import largest_places
from omnitm.similarity.truncated_svd import truncated_svd

_POWER = 0.25  # of the singular values, as in the smoothed row profile


class SparseWordVectors:
    """A few named coordinates per word, as a sparse matrix that ordinary tools read.

    Attributes
    ----------
    matrix
        scipy CSR, words x features, float32, rows of length 1.
    index_to_key, feature_names
        Names of the rows and of the columns.
    """

    has_named_features = False  # for metrics that read one coordinate: most are not there
    default_metric = "cosine"

    def __init__(self, matrix: Any, index_to_key: Iterable[str], feature_names: Iterable[str]) -> None:
        self.matrix = matrix
        self.index_to_key = list(index_to_key)
        self.feature_names = list(feature_names)
        self.key_to_index = {word: row for row, word in enumerate(self.index_to_key)}

    @property
    def vector_size(self) -> int:
        """Number of features."""
        return len(self.feature_names)

    @property
    def nbytes(self) -> int:
        """Size of the sparse matrix in bytes."""
        return int(self.matrix.data.nbytes + self.matrix.indices.nbytes + self.matrix.indptr.nbytes)

    def __len__(self) -> int:
        return len(self.index_to_key)

    def __contains__(self, word: object) -> bool:
        return word in self.key_to_index

    def __getitem__(self, word: str) -> dict[str, float]:
        row = self.matrix[self._row(word)]
        order = np.argsort(-row.data, kind="stable")
        return {self.feature_names[row.indices[k]]: float(row.data[k]) for k in order.tolist()}

    def similarity(self, w1: str, w2: str, *, metric: str | None = None) -> float:
        """Cosine of two words."""
        return float(self.similarities([(w1, w2)], metric=metric)[0])

    def similarities(
        self, pairs: Sequence[tuple[str, str]], *, metric: str | None = None
    ) -> NDArray[np.float64]:
        """Cosines of many pairs of words."""
        _check_cosine(metric)
        first, second = (self.matrix[[self._row(pair[side]) for pair in pairs]] for side in (0, 1))
        return np.asarray(first.multiply(second).sum(axis=1), dtype=np.float64).ravel()

    def most_similar(
        self, word: str, topn: int = 10, *, metric: str | None = None
    ) -> list[tuple[str, float]]:
        """Find the words with the highest cosine."""
        _check_cosine(metric)
        scores = (self.matrix @ self.matrix[self._row(word)].T).toarray().ravel()
        found = best(scores, check_integer("most_similar", "topn", topn, 0) + 1)
        pairs = [(self.index_to_key[k], float(scores[k])) for k in found.tolist()]
        return [pair for pair in pairs if pair[0] != word][:topn]

    def _row(self, word: str) -> int:
        try:
            return self.key_to_index[word]
        except (KeyError, TypeError):
            raise UnknownWordError(word, self.index_to_key, "trained words") from None


def reduced_rows(rows: Any, n_components: int) -> NDArray[np.float32]:
    """Return rows in the space of their strongest common patterns: a truncated SVD."""
    found = truncated_svd(rows, n_components)
    # U S^p: with p = 1 frequent topics outweigh everything, with p = 0 noise counts as much as the first
    # pattern.
    return (found.left * found.singular ** np.float32(_POWER)).astype(np.float32)


def strongest_coordinates(rows: Any, k: int) -> Any:
    """Keep the k largest values of each row of a CSR matrix; columns ascend."""
    from scipy.sparse import csr_matrix

    kept = [largest_places(rows.data[s:e], k) + s for s, e in pairwise(rows.indptr)]
    places = np.concatenate([np.zeros(0, dtype=np.intp), *kept])
    starts = np.concatenate([[0], np.cumsum([len(part) for part in kept])])
    found = csr_matrix((rows.data[places], rows.indices[places], starts), shape=rows.shape)
    found.sort_indices()
    return found


def to_unit_length(rows: Any) -> None:
    """Scale the rows of a CSR matrix to length 1 in place, unless they are all zeros."""
    lengths = np.array([float(np.linalg.norm(rows.data[s:e])) or 1.0 for s, e in pairwise(rows.indptr)])
    rows.data /= np.repeat(lengths, np.diff(rows.indptr)).astype(np.float32)


def _check_cosine(metric: str | None) -> None:
    if metric not in {None, "cosine"}:
        raise ParameterError(f"Sparse vectors have one metric, 'cosine'. Got {metric!r}.")
