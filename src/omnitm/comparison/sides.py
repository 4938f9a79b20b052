"""Two sides of an index: which documents are on which, and what they are compared by."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitm.comparison.features import Features, PlaceFeatures, TopicFeatures
from omnitm.corpus import DocumentIndex, RunningText
from omnitm.corpus.groups import Grouping, grouping_for
from omnitm.errors import CorpusError, ParameterError
from omnitm.files.long_work import long_work
from omnitm.machine.autoencoder import TrainingCorpus

ALL_OTHERS = "all others"
FEWEST_DOCUMENTS = 20
_MANY = 500_000  # words of documents


class Sides:
    """Two sides of an index that words are compared on.

    Parameters
    ----------
    by
        Name of a grouping of the index, or a label per document.
    groups
        The two groups to compare; one: against all others; None: the two that there are, or the first and
        the last of groups in an order.
    """

    def __init__(
        self, index: DocumentIndex, by: str | Sequence[Any] | Grouping, groups: Sequence[object] | None = None
    ) -> None:
        self.index, self.grouping = index, grouping_for(index, by)
        self._names: tuple[Sequence[str], Sequence[str]] = ((), ())  # in another process: see `on`
        self.first, self.second, self.of_documents = _sides(self.grouping, groups)
        for side, name in enumerate((self.first, self.second)):
            if not (self.of_documents == side).any():
                raise CorpusError(f"No document is in the group {name!r} of {self.grouping.name!r}.")

    @cached_property
    def document_frequencies(self) -> NDArray[np.int64]:
        """Count the documents of each word: sides x words."""
        offsets, words = self.index.document_offsets.astype(np.int64), self.index.document_words
        per_pair = np.repeat(self.of_documents, np.diff(offsets))
        return np.stack(
            [np.bincount(words[per_pair == side], minlength=self.index.n_words) for side in (0, 1)]
        )

    @property
    def has_enough(self) -> NDArray[np.bool_]:
        """Whether each word has enough documents on both sides, and enough without it."""
        sizes = np.array([[(self.of_documents == side).sum()] for side in (0, 1)])
        least = np.minimum(self.document_frequencies, sizes - self.document_frequencies).min(axis=0)
        return np.asarray(least >= FEWEST_DOCUMENTS)

    @cached_property
    def features(self) -> tuple[Features, ...]:
        """What documents are compared by: their words, and where the index has its running text, places."""
        text = "finding out which features go together; this takes a quarter of a minute"
        with long_work(text) if len(self.index.document_words) > _MANY else contextlib.nullcontext():
            topic = TopicFeatures(self.index, self.of_documents)
            if self.index.running is None:
                return (topic,)
            return topic, PlaceFeatures(self.index, self.of_documents)

    @cached_property
    def members(self) -> list[NDArray[np.int64]]:
        """Numbers of the documents of each side."""
        return [np.flatnonzero(self.of_documents == side) for side in (0, 1)]

    @cached_property
    def members_of_groups(self) -> list[NDArray[np.int64]]:
        """Numbers of the documents of every group, whichever are compared."""
        order = np.argsort(self.grouping.numbers, kind="stable")
        ends = np.searchsorted(self.grouping.numbers[order], np.arange(len(self.grouping.labels) + 1))
        return [order[start:end] for start, end in pairwise(ends.tolist())]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out of a copy for another process what it maps, or makes again in no time."""
        running = self.index.running
        names = list(self.index.vocabulary), [] if running is None else list(running.other_words)
        left_out = {"index", "members", "members_of_groups"}
        kept = {name: value for name, value in self.__dict__.items() if name not in left_out}
        return {**kept, "_names": names}

    def on(self, corpus: TrainingCorpus) -> Sides:
        """Return these sides with the arrays of the index, which may be mapped in another process."""
        if "index" not in self.__dict__:
            vocabulary, other_words = self._names
            running = corpus.running
            arrays = (
                corpus.document_offsets,
                corpus.document_words,
                corpus.word_offsets,
                corpus.word_documents,
            )
            text = None
            if running is not None:
                order = running.tokens, running.word_starts, running.places
                text = RunningText(vocabulary, other_words, *order)
            self.index = DocumentIndex(vocabulary, *arrays, running=text)
            for features in self.features:
                features.index = self.index
        return self

    @property
    def _others(self) -> str:
        """What may help where there are more groups than two."""
        few = len(self.grouping.labels) < 3
        return "" if few else "; choose others with --groups A B, or make larger ones: omnitm group --help"

    def check(self, word: str) -> tuple[int, int]:
        """Count the documents with a word on each side; an error says that there are too few."""
        documents = self.index.documents_with(self.index.word_id(word))
        n_first, n_second = (int((self.of_documents[documents] == side).sum()) for side in (0, 1))
        if min(n_first, n_second) < FEWEST_DOCUMENTS:
            raise CorpusError(
                f"{word!r} is in {n_first:,} documents of {self.first!r} and {n_second:,} of "
                f"{self.second!r}: too few to compare; at least {FEWEST_DOCUMENTS} are needed on each side"
                f"{self._others}."
            )
        return n_first, n_second


def _sides(grouping: Grouping, groups: Sequence[object] | None) -> tuple[str, str, NDArray[np.int8]]:
    labels = grouping.labels
    if len(labels) < 2:
        raise CorpusError(
            f"{grouping.name!r} has one group only, {labels[0]!r}; a comparison needs two: group the "
            "documents by something else (omnitm group --help)."
        )
    if groups is None:
        if len(labels) > 2 and not grouping.is_ordered:
            raise ParameterError(
                f"{grouping.name!r} has {len(labels):,} groups in no order ({grouping.listed}): choose two, "
                "--groups A B (groups=['A', 'B']), or one against all others, --groups A."
            )
        groups = labels[0], labels[-1]
    chosen = [grouping.number_of(label) for label in groups]
    sides = np.full(len(grouping.numbers), -1, dtype=np.int8)
    if len(chosen) == 1:
        sides[grouping.numbers < len(labels)] = 0
        sides[grouping.numbers == chosen[0]] = 1
        return ALL_OTHERS, labels[chosen[0]], sides
    if len(chosen) != 2 or chosen[0] == chosen[1]:
        raise ParameterError(f"Two different groups are compared. Got {list(groups)!r} instead.")
    for side in (0, 1):
        sides[grouping.numbers == chosen[side]] = side
    return labels[chosen[0]], labels[chosen[1]], sides
