"""What every model offers, so that all can be trained and scored alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from omnitm.corpus.preparation import LOWER_CASE_ONLY
from omnitm.store import ModelRecord, index_fingerprint
from omnitm.vectors.word_vectors import WordVectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex
    from omnitm.similarity.row_matrix import RowMatrix
    from omnitm.training.progress import ProgressOption


class Baseline(Protocol):
    """A model with its settings: a frozen dataclass whose fields are the settings.

    The same seed and `n_jobs=1` give the same bytes.
    """

    name: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def seed(self) -> int:
        """Seed of all random draws."""

    def train(
        self, index: DocumentIndex, words: Iterable[str] | None = None, *, progress: ProgressOption = False
    ) -> WordVectors:
        """Learn from the text behind an index; the vectors of `words`, or of all its vocabulary."""


def as_word_vectors(
    model: Baseline,
    index: DocumentIndex,
    matrix: NDArray[Any] | RowMatrix,
    words: Sequence[str],
    features: Sequence[str] | None = None,
    **facts: Any,
) -> WordVectors:
    """Wrap a trained matrix; what is recorded are the settings and `facts`, not where it ran."""
    settings = {name: value for name, value in asdict(model).items() if name not in {"seed", "n_jobs"}}
    record = ModelRecord(model.name, {**settings, **facts}, model.seed, index_fingerprint(index))
    vectors = WordVectors(matrix, words, features, training=record)
    vectors.preparation = index.preparation or LOWER_CASE_ONLY
    return vectors
