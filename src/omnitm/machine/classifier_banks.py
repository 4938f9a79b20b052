"""The clauses of all classes in memory, taught and asked by native code; and what each step learns from.

A step draws a document, another class to learn against, and the clauses that take part.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from omnitm import _native
from omnitm.machine.draws import Purpose, below, draw, high

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from omnitm.machine.settings import ClassifierSettings


class Epoch(NamedTuple):
    """One pass over the documents, before anything is learnt from it."""

    number: int
    first_example: int
    """Examples learnt before this epoch: draws are numbered through all epochs."""
    order: NDArray[np.int64]
    """Which document each example shows."""
    targets: NDArray[np.int64]
    """The class of each example."""
    others: NDArray[np.int64]
    """The class that each example is shown to as one that does not belong to it."""


def draw_epoch(key: int, number: int, first_example: int, labels: NDArray[np.int64], n_classes: int) -> Epoch:
    """Shuffle the documents, and draw one wrong class for each, all wrong ones alike."""
    order = shuffled(key, first_example, len(labels))
    targets = labels[order]
    bits = draw(key, Purpose.OTHER_CLASS, first_example, len(labels))
    # A number below n - 1, moved up by one from the own class on: each wrong class is as likely.
    others = below(high(bits), n_classes - 1)
    return Epoch(number, first_example, order, targets, others + (others >= targets))


def shuffled(key: int, first_example: int, count: int) -> NDArray[np.int64]:
    """Return 0 .. count - 1 in random order: sorted by one draw per example."""
    # Sorting by random numbers is a shuffle that needs no state: any epoch can be drawn without those before
    # it.
    order: NDArray[np.int64] = np.argsort(draw(key, Purpose.ORDER, first_example, count), kind="stable")
    return order


def active_clauses(
    key: int, settings: ClassifierSettings, epoch: int, label: int, n_classes: int
) -> NDArray[np.bool_]:
    """Draw which clauses of a class take part in an epoch."""
    first = (epoch * n_classes + label) * settings.n_clauses
    coins = high(draw(key, Purpose.CLAUSE_DROP, first, settings.n_clauses))
    taking_part: NDArray[np.bool_] = coins >= np.uint64(settings.drop_probability)
    return taking_part


_NO_LIMIT = 2**32 - 1
_CHUNK = 256  # literals that lie together in bit planes
_PLANES = 8  # bits of a state


class Documents(NamedTuple):
    """Documents as sets of words: distinct and ascending, one document after the other."""

    offsets: NDArray[np.uint64]
    words: NDArray[np.uint32]
    n_words: int

    @classmethod
    def from_csr(cls, presence: Any) -> Documents:
        """Read the places of a canonical CSR matrix; its values are not looked at."""
        offsets, words = presence.indptr.astype(np.uint64), presence.indices.astype(np.uint32)
        return cls(offsets, words, presence.shape[1])

    def __len__(self) -> int:
        return len(self.offsets) - 1


class IncludedLiterals(NamedTuple):
    """The literals of every clause of one class, ascending."""

    offsets: NDArray[np.uint64]
    literals: NDArray[np.uint32]

    def of(self, clause: int) -> NDArray[np.uint32]:
        """Return the literals of one clause."""
        return self.literals[int(self.offsets[clause]) : int(self.offsets[clause + 1])]


@dataclass
class ClauseBanks:
    """A bank of clauses per class; plain arrays, so that it can be pickled.

    `planes` holds the automata in the layout of `native/classifier.hpp`:
    classes x clauses x chunks x bits x words of 64 literals.
    """

    settings: ClassifierSettings
    n_words: int
    key: int
    planes: NDArray[np.uint64]
    weights: NDArray[np.int32]
    n_epochs: int = 0
    n_examples: int = 0

    @classmethod
    def new(cls, settings: ClassifierSettings, n_classes: int, n_words: int, key: int) -> ClauseBanks:
        """Start with every literal one step below inclusion and every weight +1 or -1."""
        n_half = -(-n_words // _CHUNK)
        planes = aligned_zeros((n_classes, settings.n_clauses, 2, n_half, _PLANES, _CHUNK // 64))
        # Seven bits set, the highest clear: state 127 of 255, one step below inclusion.
        planes[..., : _PLANES - 1, :] = visible_literals(n_words)[:, None, :]
        signs = np.where(np.arange(settings.n_clauses) < settings.n_clauses // 2, 1, -1)
        return cls(settings, n_words, key, planes, np.tile(signs, (n_classes, 1)).astype(np.int32))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        planes, self.planes = self.planes, aligned_zeros(self.planes.shape)
        # Pickle gives arrays at any address; the kernels load whole cache lines.
        self.planes[...] = planes

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.weights)

    def learn_epoch(
        self, documents: Documents, labels: NDArray[np.int64], *, n_jobs: int = 1, isa: str = "auto"
    ) -> None:
        """Show every document once, to its own class and to one other; classes learn independently."""
        epoch = draw_epoch(self.key, self.n_epochs, self.n_examples, labels, self.n_classes)
        run(n_jobs, lambda label: self._teach(label, epoch, documents, isa), range(self.n_classes))
        self.n_epochs += 1
        self.n_examples += len(labels)

    def _teach(self, label: int, epoch: Epoch, documents: Documents, isa: str) -> None:
        belongs = epoch.targets == label
        shown = np.flatnonzero(belongs | (epoch.others == label))
        # Even steps show the own class, odd ones the other: no draw is used twice.
        steps = 2 * (epoch.first_example + shown) + ~belongs[shown]
        active = active_clauses(self.key, self.settings, epoch.number, label, self.n_classes)
        limit = self.settings.max_included_literals
        _native.teach_class(
            *documents,
            self.planes[label].reshape(-1),
            self.weights[label],
            np.flatnonzero(active).astype(np.uint32),
            epoch.order[shown].astype(np.uint32),
            steps.astype(np.uint64),
            threshold=self.settings.threshold,
            forget_probability=self.settings.forget_probability,
            max_included=_NO_LIMIT if limit is None else limit,
            key=self.key,
            isa=isa,
        )

    def votes(
        self, documents: Documents, included: list[IncludedLiterals], *, n_jobs: int = 1
    ) -> NDArray[np.int64]:
        """Sum each class's weights over its clauses that are true: documents x classes."""
        votes = np.zeros((self.n_classes, len(documents)), dtype=np.int64)
        bounds = np.linspace(0, len(documents), n_jobs + 1).astype(int)

        def ask(part: int) -> None:
            first, last = int(bounds[part]), int(bounds[part + 1])
            for label, lists in enumerate(included):
                _native.class_votes(*documents, first, *lists, self.weights[label], votes[label, first:last])

        run(n_jobs, ask, range(n_jobs))
        return votes.T

    def included_literals(self) -> list[IncludedLiterals]:
        """List the literals of all clauses, one entry per class."""
        return [self._included(label) for label in range(self.n_classes)]

    def _included(self, label: int) -> IncludedLiterals:
        # The highest bit of a state says that the literal is included.
        bits = np.ascontiguousarray(self.planes[label, ..., _PLANES - 1, :]).view(np.uint8)
        rows = np.unpackbits(bits.reshape(self.settings.n_clauses, 2, -1), axis=-1, bitorder="little")
        clauses, halves, words = np.nonzero(rows[:, :, : self.n_words])
        counts = np.bincount(clauses, minlength=self.settings.n_clauses)
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.uint64)
        return IncludedLiterals(offsets, (halves * self.n_words + words).astype(np.uint32))

    def states(self, label: int) -> NDArray[np.uint8]:
        """Return a class's automata, clauses x literals: first "word k occurs", then "word k does not"."""
        bits = np.unpackbits(self.planes[label].view(np.uint8), axis=-1, bitorder="little")
        weights = (1 << np.arange(_PLANES)).astype(np.uint8)
        # A state is the sum of its bits: clause, half, chunk, plane (bit), literal in the chunk.
        states = np.einsum("chkpi,p->chki", bits, weights)
        halves = states.reshape(self.settings.n_clauses, 2, -1)[:, :, : self.n_words]
        flat: NDArray[np.uint8] = halves.reshape(self.settings.n_clauses, 2 * self.n_words)
        return flat


def visible_literals(n_words: int) -> NDArray[np.uint64]:
    """Return a bit per literal of one half, chunks x words of 64: 0 where it only fills up the last chunk."""
    bits = np.arange(-(-n_words // _CHUNK) * _CHUNK) < n_words
    return np.packbits(bits, bitorder="little").view(np.uint64).reshape(-1, _CHUNK // 64)


def aligned_zeros(shape: tuple[int, ...]) -> NDArray[np.uint64]:
    """Return zeros that start at a cache line, as native code wants them; numpy alone and pickle do not."""
    size = int(np.prod(shape))
    # Up to 7 numbers of 8 bytes are skipped to the next multiple of 64 bytes.
    room = np.zeros(size + 8, dtype=np.uint64)
    first = -room.ctypes.data % 64 // 8
    return room[first : first + size].reshape(shape)


def run(n_jobs: int, work: Callable[[int], None], numbers: Iterable[int]) -> None:
    """Do `work` for all numbers in up to `n_jobs` threads."""
    if n_jobs == 1:
        for number in numbers:
            work(number)
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        list(pool.map(work, numbers))
