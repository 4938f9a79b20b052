"""What metrics know of a model: words and rows, as a protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from omnitm.similarity.row_products import RowLengths

Part = tuple["str | NDArray[Any]", float]  # a word or a vector, and its weight in a query


class NamedRows(Protocol):
    """Rows of integers with a name per column."""

    @property
    def matrix(self) -> Any:
        """Words x features."""

    @property
    def feature_names(self) -> Sequence[str]:
        """A name per column."""


class PlaceRows(NamedRows, Protocol):
    """Rows about where words stand."""

    @property
    def n_joined(self) -> int:
        """How many columns, the last ones, say what is joined with a word."""


class WordRows(NamedRows, Protocol):
    """What metrics know of a model: its words, their rows, and what was found out about them."""

    @property
    def index_to_key(self) -> Sequence[str]:
        """The word of each row."""

    @property
    def place(self) -> PlaceRows | None:
        """Rows about where words stand."""

    @property
    def row_features(self) -> NDArray[np.intp]:
        """The column of each row's own word."""

    @property
    def has_named_features(self) -> bool:
        """Whether columns are words."""

    @property
    def has_profiles(self) -> bool:
        """Whether rows are integers with names, so that they have profiles."""

    @property
    def profiles(self) -> Any:
        """What stands out in the rows: `omnitm.similarity.profiles.Profiles`."""

    @property
    def lengths(self) -> RowLengths:
        """Lengths of the rows."""

    @property
    def vector_size(self) -> int:
        """Number of columns."""

    def get_index(self, word: str) -> int:
        """Row of a word."""

    def feature_index(self, word: str) -> int:
        """Column of a word."""

    def part_vector(self, item: str | NDArray[Any]) -> NDArray[Any]:
        """Vector of a word, or the vector itself."""
