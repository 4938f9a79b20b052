"""What a word is trained on, without training it: the labels and documents of all examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from omnitm.machine.autoencoder import running_of
from omnitm.machine.draws import Purpose, draw, high, low

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex
    from omnitm.machine.settings import AutoencoderSettings


class Examples(NamedTuple):
    """The training examples of one word."""

    labels: NDArray[np.bool_]
    """Whether each example is meant to show the word."""
    documents: NDArray[np.int64]
    """Examples x accumulation: the documents, or places, merged into each example."""


def training_examples(index: DocumentIndex, settings: AutoencoderSettings, target: int, key: int) -> Examples:
    """Draw the examples that the machine of word number `target` learns from."""
    count, merged = settings.total_examples, settings.accumulation
    coins = high(draw(key, Purpose.LABEL, 0, count))
    labels = np.asarray(coins < np.uint64(int(settings.output_balancing * 2**32)))
    bits = draw(key, Purpose.DOCUMENT, 0, count * merged)
    inside = index.documents_with(target).astype(np.int64)
    n_outside = index.n_documents - len(inside)
    if len(inside) == 0 or n_outside == 0:
        return Examples(labels, scaled(bits, index.n_documents).reshape(count, merged))
    ranks = scaled(bits, n_outside)
    outside = ranks + np.searchsorted(inside - np.arange(len(inside)), ranks, side="right")
    drawn = np.where(np.repeat(labels, merged), inside[scaled(bits, len(inside))], outside)
    return Examples(labels, drawn.reshape(count, merged))


def training_places(index: DocumentIndex, settings: AutoencoderSettings, target: int, key: int) -> Examples:
    """Draw the places, of a running text, that the machine of number `target` for places learns from."""
    count, merged = settings.total_examples, settings.accumulation
    running = running_of(index)
    start, end, total = (int(running.word_starts[k]) for k in (target, target + 1, -1))
    coins = high(draw(key, Purpose.LABEL, 0, count))
    labels = np.asarray(coins < np.uint64(int(settings.output_balancing * 2**32)))
    bits = draw(key, Purpose.DOCUMENT, 0, count * merged)
    if start == end or end - start == total:
        ranks = scaled(bits, total)
    else:
        outside = scaled(bits, total - (end - start))
        outside += np.where(outside < start, 0, end - start)
        ranks = np.where(np.repeat(labels, merged), start + scaled(bits, end - start), outside)
    return Examples(labels, running.places[ranks].astype(np.int64).reshape(count, merged))


def scaled(bits: NDArray[np.uint64], bound: int) -> NDArray[np.int64]:
    """Turn 64 random bits each into a number from 0 to `bound - 1` (bound below 2**32)."""
    factor = np.uint64(bound)
    carried = (low(bits) * factor) >> np.uint64(32)
    return ((high(bits) * factor + carried) >> np.uint64(32)).astype(np.int64)
