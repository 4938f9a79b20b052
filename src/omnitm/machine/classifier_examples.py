"""Which document a classifier learns from next, against which other class, and with which clauses."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from omnitm.machine.draws import Purpose, below, draw, high

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from omnitm.machine.classifier_settings import ClassifierSettings


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
    others = below(high(bits), n_classes - 1)
    return Epoch(number, first_example, order, targets, others + (others >= targets))


def shuffled(key: int, first_example: int, count: int) -> NDArray[np.int64]:
    """Return 0 .. count - 1 in random order: sorted by one draw per example."""
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
