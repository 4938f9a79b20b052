"""What every model offers, so that all can be trained and scored alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar

from numpy.typing import NDArray

from omnitm.corpus import DocumentIndex
from omnitm.corpus.preparation import LOWER_CASE_ONLY
from omnitm.parameters import check_flag, check_integer, check_real
from omnitm.similarity.row_matrix import RowMatrix
from omnitm.store import ModelRecord, index_fingerprint
from omnitm.training.progress import ProgressOption
from omnitm.training.vocabulary import check_targets
from omnitm.vectors.word_vectors import WordVectors

Learned = tuple[NDArray[Any] | RowMatrix, dict[str, Any]]

Limits = Mapping[str, tuple[Any, ...]]  # of numbers: the least, and the largest if there is one


class Baseline(ABC):
    """A model with its settings: a frozen dataclass whose fields are the settings.

    The same seed and `n_jobs=1` give the same bytes. A model has a `name`, the `limits` of its numbers,
    and `learn`.
    """

    name: ClassVar[str]
    limits: ClassVar[Limits]
    coordinates_are_words: ClassVar[bool] = False
    __dataclass_fields__: ClassVar[dict[str, Any]]
    seed: int
    n_jobs: int

    def __post_init__(self) -> None:
        owner = type(self).__name__
        for setting, limits in self.limits.items():
            check = check_real if isinstance(getattr(type(self), setting), float) else check_integer
            check(owner, setting, getattr(self, setting), *limits)
        for setting in self.__dataclass_fields__:
            if isinstance(getattr(type(self), setting), bool):
                check_flag(owner, setting, getattr(self, setting))

    def train(
        self, index: DocumentIndex, words: Iterable[str] | None = None, *, progress: ProgressOption = False
    ) -> WordVectors:
        """Learn from the text behind an index; the vectors of `words`, or of all its vocabulary."""
        targets = check_targets(index, words)
        matrix, facts = self.learn(index, targets, progress)
        settings = {name: value for name, value in asdict(self).items() if name not in {"seed", "n_jobs"}}
        record = ModelRecord(self.name, {**settings, **facts}, self.seed, index_fingerprint(index))
        features = index.vocabulary if self.coordinates_are_words else None
        vectors = WordVectors(matrix, targets, features, training=record)
        vectors.preparation = index.preparation or LOWER_CASE_ONLY
        return vectors

    @abstractmethod
    def learn(self, index: DocumentIndex, words: Sequence[str], progress: ProgressOption) -> Learned:
        """Return the vectors of words, and what the record says besides the settings."""
