"""Compact forms of word vectors: few dense dimensions, or few named coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from omnitm.errors import ParameterError, UnknownWordError
from omnitm.parameters import check_integer
from omnitm.similarity.nearest import best
from omnitm.similarity.profiles import PATTERNED, Profiles, most_frequent
from omnitm.similarity.row_products import largest_places
from omnitm.similarity.row_profile import unit_rows
from omnitm.similarity.truncated_svd import dense_products, strongest_directions, truncated_svd
from omnitm.similarity.word_rows import WordRows

_POWER = 0.25  # of the singular values, as in the smoothed row profile


class DenseRecipe(NamedTuple):
    """How vectors of few dimensions are made of smoothed profiles."""

    places: float
    """Which share of the squared length places have; the rest is that of topics."""
    topics_in_one: int
    """So many patterns of topics go into one dimension."""
    places_in_one: int
    """So many patterns of places."""


# Chosen on development data (`benchmarks/dense_vectors.py`). With more patterns of places SimLex-999 rises,
# and rare words fill the lists.
DENSE = DenseRecipe(places=0.4, topics_in_one=2, places_in_one=1)


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
    reduced = (found.left * found.singular ** np.float32(_POWER)).astype(np.float32)
    # What rounding leaves of a row of zeros has a direction, which is chance once the row has length 1.
    reduced[np.asarray(abs(rows).sum(axis=1)).ravel() == 0] = 0
    return reduced


def dense_rows_of_profiles(
    rows: WordRows, n_components: int, recipe: DenseRecipe = DENSE
) -> NDArray[np.float32]:
    """Make vectors of few dimensions that ordinary tools compare by cosine: topics and places together.

    Both smoothed profiles of a word lie side by side, and are described by the directions along which those
    of the most frequent words are longest. Where there are not enough patterns (small models, or very many
    dimensions), the profiles themselves are decomposed.
    """
    profiles: Profiles = rows.profiles
    topics = unit_rows(profiles.topic_rows[:, : recipe.topics_in_one * n_components])
    places = unit_rows(profiles.place_rows[:, : recipe.places_in_one * n_components])
    smooth = np.hstack(_at_their_shares(topics, places, recipe.places))
    if smooth.shape[1] < n_components:
        return reduced_rows(_named_profiles(profiles, recipe.places), n_components)
    frequent = most_frequent(rows, PATTERNED)
    return dense_products(smooth, strongest_directions(smooth[frequent], n_components))


def n_patterns(profiles: Profiles) -> int:
    """How many patterns smoothed profiles of both kinds have: more dimensions than these add noise."""
    return int(profiles.topic_rows.shape[1] + profiles.place_rows.shape[1])


def _named_profiles(profiles: Profiles, share_of_places: float) -> Any:
    """Profiles of both kinds side by side, as a sparse matrix."""
    from scipy.sparse import hstack

    topics = profiles.topic.by_word()
    if profiles.place is None:
        return topics
    return hstack(_at_their_shares(topics, profiles.place.by_word(), share_of_places), "csr")


def _at_their_shares(topics: Any, places: Any, share_of_places: float) -> list[Any]:
    """Scale rows of two kinds by their share of the squared length; one kind alone has all of it."""
    if not (topics.shape[1] and places.shape[1]):
        return [topics, places]
    shares = 1 - share_of_places, share_of_places
    return [rows * np.float32(share**0.5) for rows, share in zip((topics, places), shares, strict=True)]


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
