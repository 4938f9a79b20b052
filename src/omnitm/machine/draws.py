"""Random draws by number: any draw of any example can be made without making the ones before it.

The native kernels make the same draws (`native/draws.hpp`); a word's draws depend on its key alone.
What a word is trained on, the labels and documents of all examples, so is known without training it.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from omnitm.machine.autoencoder import running_of
from omnitm.machine.settings import AutoencoderSettings

if TYPE_CHECKING:
    from omnitm.corpus import DocumentIndex

_GAMMA = 0x9E3779B97F4A7C15  # 2**64 / golden ratio, odd: the step of SplitMix64
_MASK = (1 << 64) - 1
LITERAL_BLOCK = 256  # negated literals start at a multiple of this among a clause's coins


class Purpose(IntEnum):
    """What a draw decides; each purpose has a sequence of its own."""

    INITIAL_WEIGHT = 1
    LABEL = 2
    DOCUMENT = 3
    GATE_AND_FEEDBACK = 4
    WEIGHT = 5
    LITERAL = 6
    ORDER = 7
    CLAUSE_DROP = 8
    OTHER_CLASS = 9


def mix(value: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble 64 bits (the output function of SplitMix64, Steele et al. 2014)."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def draw(key: int, purpose: Purpose, first: int, count: int) -> NDArray[np.uint64]:
    """Return draws number `first` to `first + count - 1` for one purpose: 64 random bits each."""
    # Numbers are counted from 1: draw 0 of a stream would be the stream itself, scrambled once more.
    stream = int(mix(np.array([(key + purpose * _GAMMA) & _MASK], dtype=np.uint64))[0])
    numbers = np.arange(first + 1, first + count + 1, dtype=np.uint64)
    return mix(np.uint64(stream) + numbers * np.uint64(_GAMMA))


def below(bits: NDArray[np.uint64], bound: int) -> NDArray[np.int64]:
    """Turn 32 random bits each into a number from 0 to `bound - 1` (bound at most 2**31)."""
    # Multiplication instead of a remainder (Lemire 2019); off by at most bound / 2**32 from even chances.
    return ((bits * np.uint64(bound)) >> np.uint64(32)).astype(np.int64)


def high(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Upper 32 of 64 bits."""
    return bits >> np.uint64(32)


def low(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Lower 32 of 64 bits."""
    return bits & np.uint64(0xFFFFFFFF)


def literal_coins(key: int, number: int, n_words: int, probability: int) -> NDArray[np.bool_]:
    """Toss one coin per literal of a clause; heads with `probability / 2**32`.

    A coin is heads when 32 random bits, highest first, make a number below `probability`. Bit r of 32
    neighbouring coins is one hash of (key, number, r, block), so that 32 coins cost one hash where
    one bit decides, as it does for a specificity of 2.
    """
    # Both halves are filled up to whole blocks, which is what native code works on.
    padded = -(-n_words // LITERAL_BLOCK) * LITERAL_BLOCK
    if probability >= 1 << 32:
        return np.ones(2 * n_words, dtype=bool)
    bits = draw(key, Purpose.LITERAL, number, 1)
    first, second = np.uint32(high(bits)[0]), np.uint32(low(bits)[0])
    n_blocks = 2 * padded // 32
    heads = np.zeros(2 * padded, dtype=bool)
    # A coin is a random number, compared with the probability bit by bit, highest first: r-th bits of 32
    # coins come from one hash.
    undecided = np.ones(2 * padded, dtype=bool)
    for r in range(32):
        counters = np.arange(r * n_blocks, (r + 1) * n_blocks, dtype=np.uint32)
        random = np.unpackbits(hash32(counters, first, second).view(np.uint8), bitorder="little").astype(bool)
        # A coin is decided at the first bit in which it differs from the probability.
        if probability >> (31 - r) & 1:
            heads |= undecided & ~random
            undecided &= random
        else:
            undecided &= ~random
    return np.concatenate([heads[:n_words], heads[padded : padded + n_words]])


def hash32(counters: NDArray[np.uint32], first: np.uint32, second: np.uint32) -> NDArray[np.uint32]:
    """Scramble 32-bit counters with a 64-bit key given as two halves."""
    # Multipliers and shifts are those of "lowbias32" (C. Wellons, 2018), after a Weyl step of 2**32 / phi.
    x = counters * np.uint32(0x9E3779B1) + first
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
    x ^= second
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


class Examples(NamedTuple):
    """The training examples of one word."""

    labels: NDArray[np.bool_]
    """Whether each example is meant to show the word."""
    documents: NDArray[np.int64]
    """Examples x documents: the documents, or places, merged into each example."""


def training_examples(index: DocumentIndex, settings: AutoencoderSettings, target: int, key: int) -> Examples:
    """Draw the examples that the machine of word number `target` learns from: documents, or passages."""
    if settings.passage_reach:
        return _places_of_examples(index, settings, target, key, settings.accumulation)
    inside = index.documents_with(target).astype(np.int64)
    merged = settings.accumulation
    labels, bits = _labels_and_bits(settings, key, merged)
    n_outside = index.n_documents - len(inside)
    if len(inside) == 0 or n_outside == 0:
        return Examples(labels, scaled(bits, index.n_documents).reshape(-1, merged))
    # The r-th document without the word is r plus the documents with it that come before: those whose number,
    # less the documents with it before them, is at most r.
    ranks = scaled(bits, n_outside)
    outside = ranks + np.searchsorted(inside - np.arange(len(inside)), ranks, side="right")
    drawn = np.where(np.repeat(labels, merged), inside[scaled(bits, len(inside))], outside)
    return Examples(labels, drawn.reshape(-1, merged))


def training_places(index: DocumentIndex, settings: AutoencoderSettings, target: int, key: int) -> Examples:
    """Draw the places, of a running text, that the machine of number `target` for places learns from."""
    starts = running_of(index).word_starts
    merged = settings.merged_places(int(starts[target + 1] - starts[target]))
    return _places_of_examples(index, settings, target, key, merged)


def _places_of_examples(
    index: DocumentIndex, settings: AutoencoderSettings, target: int, key: int, merged: int
) -> Examples:
    """Draw places of a word and of other words, so many for each example."""
    running = running_of(index)
    start, end, total = (int(running.word_starts[k]) for k in (target, target + 1, -1))
    labels, bits = _labels_and_bits(settings, key, merged)
    if start == end or end - start == total:
        ranks = scaled(bits, total)
    else:
        # Places are sorted by word, so those of the target are one gap, which ranks beyond its start jump.
        outside = scaled(bits, total - (end - start))
        outside += np.where(outside < start, 0, end - start)
        ranks = np.where(np.repeat(labels, merged), start + scaled(bits, end - start), outside)
    return Examples(labels, running.places[ranks].astype(np.int64).reshape(-1, merged))


def _labels_and_bits(
    settings: AutoencoderSettings, key: int, merged: int
) -> tuple[NDArray[np.bool_], NDArray[np.uint64]]:
    coins = high(draw(key, Purpose.LABEL, 0, settings.total_examples))
    labels = np.asarray(coins < np.uint64(int(settings.output_balancing * 2**32)))
    return labels, draw(key, Purpose.DOCUMENT, 0, settings.total_examples * merged)


def scaled(bits: NDArray[np.uint64], bound: int) -> NDArray[np.int64]:
    """Turn 64 random bits each into a number from 0 to `bound - 1` (bound below 2**32)."""
    # floor(bits * bound / 2**64) without 128-bit numbers: the low half's product gives only its carry.
    factor = np.uint64(bound)
    carried = (low(bits) * factor) >> np.uint64(32)
    return ((high(bits) * factor + carried) >> np.uint64(32)).astype(np.int64)
