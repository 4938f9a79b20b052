"""One word on two sides: how far its use differs, by which words, and how likely that is by chance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.comparison.machines import FEWEST_DOCUMENTS, Documents, draw_documents, train_sides
from omnitm.comparison.shuffling import ShuffleTest
from omnitm.corpus.groups import Grouping, grouping_for
from omnitm.errors import CorpusError, MissingExtraError, ParameterError
from omnitm.explain.evidence import Document, read_documents
from omnitm.explain.records import Record
from omnitm.machine import AutoencoderSettings
from omnitm.machine.settings import word_key
from omnitm.parameters import check_integer
from omnitm.similarity.truncated_svd import truncated_svd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from omnitm.comparison.machines import Drawn
    from omnitm.corpus import DocumentIndex

N_PERMUTATIONS = 2_000
N_EXAMPLES = 250
N_SHOWN = 10
_N_DIRECTIONS = 100
_DIRECTION_DOCUMENTS, _DIRECTION_PAIRS = 50_000, 1_000_000  # enough for 100 directions, in seconds
_OWNER = "compare"
ALL_OTHERS = "all others"


@dataclass(frozen=True)
class Change(Record):
    """A word that the compared word goes with more, or less, on the second side.

    Attributes
    ----------
    before, after
        How far it stands out in the word's profile on the first and on the second side: in units of the
        profile's baseline.
    share
        Its part of the whole change; the shares of all features add up to 1.
    p
        How often shuffled groups change it as much: two-sided.
    documents_before, documents_after
        Documents with both words, of those that were compared.
    """

    name: str
    before: float
    after: float
    share: float
    p: float
    documents_before: int
    documents_after: int


@dataclass(frozen=True)
class Step(Record):
    """A word in one of several groups.

    Attributes
    ----------
    n_documents
        Documents of the group that have the word.
    profile
        How far features stand out in its profile there; empty if there are too few documents.
    """

    group: str
    n_documents: int
    profile: dict[str, float]


@dataclass(frozen=True)
class Comparison(Record):
    """How the use of a word differs between two sides.

    Attributes
    ----------
    first, second
        Names of the sides; "gained" is what the second has more of.
    n_documents
        Documents with the word that were compared on each side, equally many.
    n_first, n_second
        Documents with the word on each side.
    change
        Length of the change, squared: see `ShuffleTest`.
    strength
        How far the change is above those of shuffled groups, in deviations of them.
    p
        How often shuffled groups give at least this change, itself counted.
    gained, lost
        Words that make the change, largest share first.
    documents_first, documents_second
        Documents of each side that have the word and words that it goes with there.
    trajectory
        The word in all groups, if there are more than two in an order.
    """

    word: str
    by: str
    first: str
    second: str
    n_documents: int
    n_first: int
    n_second: int
    change: float
    strength: float
    p: float
    n_permutations: int
    gained: tuple[Change, ...]
    lost: tuple[Change, ...]
    documents_first: tuple[Document, ...] = ()
    documents_second: tuple[Document, ...] = ()
    trajectory: tuple[Step, ...] = ()

    def to_frame(self) -> Any:
        """Return gained and lost words as a data frame of pandas, one row each."""
        try:
            import pandas as pd  # type: ignore[import-untyped]
        except ImportError:
            raise MissingExtraError("Comparison.to_frame", "frames") from None
        rows = [
            {"word": self.word, "direction": direction, **change.to_dict()}
            for direction, changes in (("gained", self.gained), ("lost", self.lost))
            for change in changes
        ]
        return pd.DataFrame(rows)

    def plot(self, path: Any = None) -> Any:
        """Draw gained and lost words, and the trajectory if there is one; returns the figure."""
        from omnitm.comparison.report import plot_comparison

        return plot_comparison(self, path)


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
        self,
        index: DocumentIndex,
        by: str | Sequence[Any] | Grouping,
        groups: Sequence[object] | None = None,
    ) -> None:
        self.index, self.grouping = index, grouping_for(index, by)
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
    def directions(self) -> NDArray[np.float32]:
        """Words x directions: words that occur in similar documents point the same way.

        Rows are weighted by how rare a word is (the logarithm of documents per document with it). Both sides
        together decide, so that shuffling the groups changes nothing here.
        """
        from scipy.sparse import csr_matrix

        index = self.index
        n = index.n_documents
        step = max(1, n // _DIRECTION_DOCUMENTS, len(index.document_words) // _DIRECTION_PAIRS)
        offsets = index.document_offsets.astype(np.int64)
        ones = np.ones(len(index.document_words), dtype=np.float32)
        shape = n, index.n_words
        matrix = csr_matrix((ones, index.document_words.astype(np.int32), offsets), shape=shape)[::step]
        rarity = np.log(n / np.maximum(index.document_frequencies, 1)).astype(np.float32)
        matrix.data = rarity[matrix.indices]
        right = truncated_svd(matrix, min(_N_DIRECTIONS, min(matrix.shape) - 1)).right
        lengths = np.maximum(np.linalg.norm(right, axis=1, keepdims=True), 1e-12)
        found: NDArray[np.float32] = (right / lengths * rarity[:, None]).astype(np.float32)
        return found

    def check(self, word: str) -> tuple[int, int]:
        """Count the documents with a word on each side; an error says that there are too few."""
        documents = self.index.documents_with(self.index.word_id(word))
        n_first, n_second = (int((self.of_documents[documents] == side).sum()) for side in (0, 1))
        if min(n_first, n_second) < FEWEST_DOCUMENTS:
            raise CorpusError(
                f"{word!r} is in {n_first:,} documents of {self.first!r} and {n_second:,} of "
                f"{self.second!r}: too few to compare; at least {FEWEST_DOCUMENTS} are needed on each side."
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


def compare(
    index: DocumentIndex,
    word: str,
    *,
    by: str | Sequence[Any] | Grouping | Sides,
    groups: Sequence[object] | None = None,
    n_permutations: int = N_PERMUTATIONS,
    n_examples: int = N_EXAMPLES,
    n_shown: int = N_SHOWN,
    n_documents: int = 2,
    seed: int = 0,
) -> Comparison:
    """Compare the use of a word in two groups of documents.

    Parameters
    ----------
    by, groups
        See `Sides`, which may be given itself.
    n_permutations
        Shuffled groups for the p-values.
    n_examples
        Training examples of a machine.
    n_shown
        Gained and lost words to name, at most.
    n_documents
        Documents of each side to read as evidence.

    Examples
    --------
    >>> from omnitm.corpus import DocumentIndex
    >>> texts = ["bank river water"] * 30 + ["bank money loan"] * 30 + ["tree leaf"] * 60
    >>> index = DocumentIndex.from_documents(texts)
    >>> labels = ["old"] * 30 + ["new"] * 30 + ["old", "new"] * 30
    >>> found = compare(index, "bank", by=labels, groups=["old", "new"], n_permutations=20)
    >>> sorted(change.name for change in found.gained), sorted(change.name for change in found.lost)
    (['loan', 'money'], ['river', 'water'])
    """
    sides = by if isinstance(by, Sides) else Sides(index, by, groups)
    check_integer(_OWNER, "n_permutations", n_permutations, 1, 1_000_000)
    settings = AutoencoderSettings(n_examples=n_examples)
    n_first, n_second = sides.check(word)
    drawn = draw_documents(index, sides.of_documents, word, seed)
    test = ShuffleTest(drawn, sides.directions[drawn.features], n_permutations, word_key(seed, word))
    profiles = train_sides(drawn, settings, word_key(seed, word))
    gained, lost = _changes(sides, drawn, test, profiles, n_shown)
    comparison = Comparison(
        word=word,
        by=sides.grouping.name,
        first=sides.first,
        second=sides.second,
        n_documents=drawn.n,
        n_first=n_first,
        n_second=n_second,
        change=test.change,
        strength=test.strength,
        p=test.p,
        n_permutations=n_permutations,
        gained=gained,
        lost=lost,
    )
    return replace(
        comparison,
        documents_first=_evidence(sides, comparison, 0, n_documents),
        documents_second=_evidence(sides, comparison, 1, n_documents),
        trajectory=_trajectory(sides, comparison, settings, seed),
    )


def _changes(
    sides: Sides, drawn: Drawn, test: ShuffleTest, profiles: NDArray[np.float32], n_shown: int
) -> tuple[tuple[Change, ...], tuple[Change, ...]]:
    """Name the features with the largest shares, gained and lost."""
    word = sides.index.vocabulary[int(drawn.features[drawn.own])]
    both = _documents_with_both(sides, word, drawn.features)
    order = np.argsort(-test.shares, kind="stable")
    order = order[(test.shares[order] > 0) & (both[:, order].sum(axis=0) > 0)]
    chosen = [order[test.differences[order] * sign > 0][:n_shown] for sign in (1, -1)]
    named = []
    for features in chosen:
        p = test.p_of(features)
        named.append(
            tuple(
                Change(
                    name=sides.index.vocabulary[int(drawn.features[k])],
                    before=round(float(profiles[0, k]), 4),
                    after=round(float(profiles[1, k]), 4),
                    share=float(test.shares[k]),
                    p=float(p[place]),
                    documents_before=int(both[0, k]),
                    documents_after=int(both[1, k]),
                )
                for place, k in enumerate(features.tolist())
            )
        )
    return named[0], named[1]


def _documents_with_both(sides: Sides, word: str, features: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the documents that have the word and a feature: sides x features."""
    index = sides.index
    inside = index.documents_with(index.word_id(word)).astype(np.int64)
    counts = []
    for side in (0, 1):
        documents = inside[sides.of_documents[inside] == side]
        words = Documents(index.document_offsets, index.document_words).take(documents).words
        counts.append(np.bincount(words, minlength=index.n_words)[features])
    return np.stack(counts)


def _evidence(sides: Sides, comparison: Comparison, side: int, count: int) -> tuple[Document, ...]:
    """Read the documents of a side that have most of the words that the word goes with there."""
    index = sides.index
    inside = index.documents_with(index.word_id(comparison.word))
    inside = inside[sides.of_documents[inside] == side]
    found = np.zeros(len(inside))
    for change in comparison.gained if side else comparison.lost:
        found += np.isin(inside, index.documents_with(index.word_id(change.name)), assume_unique=True)
    best = np.argsort(-found, kind="stable")[:count]
    return read_documents(index, [int(number) for number in inside[np.sort(best)]])


def _trajectory(
    sides: Sides, comparison: Comparison, settings: AutoencoderSettings, seed: int
) -> tuple[Step, ...]:
    """Train the word in every group, on equally many documents each."""
    index, grouping, word = sides.index, sides.grouping, comparison.word
    if len(grouping.labels) < 3 or not grouping.is_ordered or sides.first == ALL_OTHERS:
        return ()
    inside = index.documents_with(index.word_id(word))
    counts = np.bincount(grouping.numbers[inside].clip(max=len(grouping.labels)), minlength=1)
    n_least = int(counts[:-1][counts[:-1] >= FEWEST_DOCUMENTS].min(initial=comparison.n_documents))
    names = [change.name for change in (*comparison.gained, *comparison.lost)]
    numbers = [index.word_id(name) for name in names]
    steps = []
    for group, label in enumerate(grouping.labels):
        n_documents = int(counts[group]) if group < len(counts) else 0
        values: dict[str, float] = {}
        if n_documents >= FEWEST_DOCUMENTS:
            of_group = np.where(grouping.numbers == group, 0, -1).astype(np.int8)
            drawn = draw_documents(index, of_group, word, seed, n_least)
            profile = train_sides(drawn, settings, word_key(seed, word))[0]
            row = dict(zip(drawn.features.tolist(), profile.tolist(), strict=True))
            values = {name: round(row.get(k, 0.0), 4) for name, k in zip(names, numbers, strict=True)}
        steps.append(Step(label, n_documents, values))
    return tuple(steps)
