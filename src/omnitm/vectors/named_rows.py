"""A matrix with names: a row per trained word, a column per word of the vocabulary."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Union, cast

import numpy as np
from numpy.typing import NDArray

from omnitm.errors import ParameterError, UnknownWordError
from omnitm.similarity.row_matrix import RowMatrix
from omnitm.similarity.row_products import RowLengths, row_lengths
from omnitm.similarity.row_profile import unit
from omnitm.similarity.word_rows import Part

if TYPE_CHECKING:
    from omnitm.corpus.preparation import Preparation
    from omnitm.store import AnyRecord


_JOINED = "_ & "  # as in corpus/running.py

Query = Union[str, "NDArray[Any]", tuple[Union[str, "NDArray[Any]"], float]]


class PlaceVectors(NamedTuple):
    """What was learned from where words stand: a row per trained word, a column per neighbour.

    Columns come in four blocks of the same words, `the * _`, `the _`, `_ of`, `_ * of`, and maybe a fifth,
    `_ & red`.
    """

    matrix: NDArray[Any]
    """int16, words x features: an array, or a `RowMatrix`."""
    feature_names: list[str]

    @property
    def n_joined(self) -> int:
        """How many columns, the last ones, say what is joined with a word."""
        names = self.feature_names
        return len(names) - bisect_left(names, x=True, key=lambda name: name.startswith(_JOINED))


class NamedRows:
    """Rows and columns that are found by words: what `WordVectors` are before they are compared."""

    def __init__(
        self,
        matrix: NDArray[Any] | RowMatrix,
        index_to_key: Iterable[str],
        feature_names: Iterable[str] | None,
        *,
        training: AnyRecord | None = None,
        place: PlaceVectors | None = None,
        dimension_names: Iterable[str] | None = None,
    ) -> None:
        self.index_to_key = list(index_to_key)
        self.has_named_features = feature_names is not None
        names = dimension_names if feature_names is None else feature_names
        self.feature_names = _numbers(matrix) if names is None else list(names)
        self.matrix = _checked_matrix(matrix, len(self.index_to_key), len(self.feature_names))
        self.key_to_index = _positions("index_to_key", self.index_to_key)
        self._columns = _positions("feature_names", self.feature_names)
        self.training = training
        self.place = place
        if place is not None:
            _checked_matrix(place.matrix, len(self.index_to_key), len(place.feature_names))
        self._folder: Path | None = None

    @property
    def vectors(self) -> NDArray[Any]:
        """The matrix, under gensim's name."""
        return self.matrix

    @property
    def vector_size(self) -> int:
        """Number of features."""
        return len(self.feature_names)

    @property
    def nbytes(self) -> int:
        """Size of the matrix in bytes."""
        return int(self.matrix.nbytes)

    @property
    def keep_top(self) -> int | None:
        """How many coordinates each vector keeps, the others read as the row's baseline; None: all."""
        from omnitm.store.record import keep_top_of

        return keep_top_of(self.training)

    @property
    def has_profiles(self) -> bool:
        """Whether these are integers with names, so that what stands out in them can be told."""
        return self.has_named_features and self.matrix.dtype == np.int16

    @property
    def column_names(self) -> list[str] | None:
        """Names of the columns, whether words or not; None: they are only numbered."""
        return None if self.feature_names == _numbers(self.matrix) else self.feature_names

    @property
    def path(self) -> Path | None:
        """The folder or file that the vectors were loaded from."""
        return self._folder

    @cached_property
    def preparation(self) -> Preparation:
        """How words are looked up: as the index prepared its text, if it is there; else in lower case."""
        from omnitm.corpus.preparation import LOWER_CASE_ONLY
        from omnitm.store.model_notes import noted_preparation

        found = None if self._folder is None else noted_preparation(self._folder)
        return found or LOWER_CASE_ONLY

    @cached_property
    def lengths(self) -> RowLengths:
        """Length of every row, measured when a cosine is first asked for."""
        return row_lengths(self.matrix)

    @cached_property
    def row_features(self) -> NDArray[np.intp]:
        """The column of each row's own word; its row where columns are not words."""
        if not self.has_named_features:
            return np.arange(len(self.index_to_key))
        return np.array([self.feature_index(word) for word in self.index_to_key], dtype=np.intp)

    def __len__(self) -> int:
        return len(self.index_to_key)

    def __iter__(self) -> Iterator[str]:
        return iter(self.index_to_key)

    def __contains__(self, word: object) -> bool:
        return word in self.key_to_index

    def __getitem__(self, words: str | Sequence[str]) -> NDArray[Any]:
        if isinstance(words, (str, int, np.integer)):
            return self.get_vector(words)
        return self.matrix[[self.get_index(word) for word in words]]

    def __deepcopy__(self, memo: dict[int, Any]) -> NamedRows:
        return self  # never changes; scikit-learn's `clone` would copy gigabytes

    def get_index(self, word: str) -> int:
        """Row of a trained word; one that is typed as people do is found too, see `known_word`."""
        try:
            return self.key_to_index[word]
        except (KeyError, TypeError):
            return self.key_to_index[self.known_word(word)]

    def feature_index(self, word: str) -> int:
        """Column of a word of the vocabulary, found as `get_index` finds a trained word."""
        try:
            return self._columns[word]
        except (KeyError, TypeError):
            return self._columns[self.known_feature(word)]

    def known_word(self, typed: str) -> str:
        """Return the trained word that is meant: the very word, else the one that the index would make of it.

        `Socket` is `socket` if the index lower-cased its text. An error says why there is no such word: that
        it is a stop word, several words, or not trained, with the nearest spellings.
        """
        return self._known(typed, self.key_to_index, self._where)

    def known_feature(self, typed: str) -> str:
        """Return the word of the vocabulary that is meant, as `known_word` does."""
        return self._known(typed, self._columns, lambda _: "vocabulary")

    def _known(self, typed: Any, known: dict[str, int], where: Callable[[object], str]) -> str:
        if isinstance(typed, str):
            if typed in known:
                return typed
            found = self.preparation.known_word(typed, known)
            if found is not None:
                return found
            found = self.preparation.known_word(typed, self._columns) if self.has_named_features else None
            reason = "" if found or typed in self._columns else self.preparation.why_no_word(typed)
            raise UnknownWordError(typed, known, where(found or typed), reason=reason)
        if isinstance(typed, (int, np.integer)):
            problem = f"{typed!r} is not in the {where(typed)}: words are asked for by name"
            reason = f"{problem}; row {typed} is `matrix[{typed}]`, its word `index_to_key[{typed}]`"
            raise UnknownWordError(typed, (), reason=reason)
        raise UnknownWordError(typed, (), where(typed))

    def get_vector(self, word: str, norm: bool = False) -> NDArray[Any]:
        """Vector of a word; with `norm` scaled to length 1, as float32."""
        row = self.matrix[self.get_index(word)]
        return unit(row).astype(np.float32) if norm else row

    def part_vector(self, item: str | NDArray[Any]) -> NDArray[Any]:
        """Vector of a word, or the vector itself if its length fits."""
        if isinstance(item, str):
            return self.get_vector(item)
        vector = np.asarray(item)
        if vector.shape != (self.vector_size,) or vector.dtype.kind not in "iuf":
            found = f"shape {vector.shape} and type {vector.dtype}"
            raise ParameterError(
                f"A vector must have {self.vector_size} numbers, one per feature. Got {found} instead."
            )
        return vector

    def _places(self, words: Sequence[str]) -> NDArray[np.intp]:
        return np.array([self.get_index(word) for word in words], dtype=np.intp)

    def _where(self, word: object) -> str:
        if self.has_named_features and isinstance(word, str) and word in self._columns:
            return "trained words, only in the vocabulary (`add_words` or `omnitm train --add` trains it)"
        return "trained words"


def _numbers(matrix: NDArray[Any] | RowMatrix) -> list[str]:
    shape = matrix.shape if isinstance(matrix, RowMatrix) else np.shape(matrix)
    return [str(column) for column in range(shape[1] if len(shape) == 2 else 0)]


def _checked_matrix(matrix: NDArray[Any] | RowMatrix, n_words: int, n_features: int) -> NDArray[Any]:
    array = matrix if isinstance(matrix, RowMatrix) else np.asarray(matrix)
    if array.dtype not in {np.dtype(np.int16), np.dtype(np.float32)} or array.shape != (n_words, n_features):
        wanted = f"int16 or float32 of shape ({n_words}, {n_features}), words x features"
        found = f"{array.dtype} of shape {array.shape}"
        raise ParameterError(f"The 'matrix' parameter of WordVectors must be {wanted}. Got {found} instead.")
    if isinstance(array, RowMatrix):
        return cast("NDArray[Any]", array)  # it answers what is asked of arrays here
    return np.ascontiguousarray(array)


def _positions(name: str, words: list[str]) -> dict[str, int]:
    positions = {word: i for i, word in enumerate(words)}
    if len(positions) != len(words):
        raise ParameterError(f"The {name!r} parameter of WordVectors must name every word once.")
    return positions


def query_parts(queries: Query | Sequence[Query] | None, sign: float) -> list[Part]:
    """Write what is asked for, one or several, as words or vectors with their weights."""
    if queries is None:
        return []
    if isinstance(queries, (str, np.ndarray)) or _is_weighted(queries):
        queries = [cast("Query", queries)]
    return [
        (query[0], sign * float(query[1])) if _is_weighted(query) else (query, sign)
        for query in cast("Sequence[Any]", queries)
    ]


def _is_weighted(query: object) -> bool:
    return isinstance(query, tuple) and len(query) == 2 and isinstance(query[1], Real)
