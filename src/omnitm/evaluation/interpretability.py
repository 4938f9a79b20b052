"""Numbers for interpretability: coherence, intruders, sparsity, faithfulness, stability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from omnitm.evaluation.coherence import Coherence
from omnitm.explain.records import Record
from omnitm.parameters import check_integer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex
    from omnitm.evaluation.readouts import Readout

N_TOP = 10
N_SHOWN = 5  # top words of an intrusion test
REMOVED = (1, 3, 10, 30, 100)


@dataclass(frozen=True)
class Faithfulness(Record):
    """What is left of the similarity of near words, as a share, without `removed` coordinates."""

    removed: int
    left_without_top: float
    left_without_random: float


@dataclass(frozen=True)
class Interpretability(Record):
    """What a model's dimensions and words are worth to a reader.

    Attributes
    ----------
    n_words, n_dimensions, n_used
        Words looked at; dimensions of the model; those to choose from: named after one of the words, if
        they have names, and used by at least ten of the words.
    dimension_coherence, word_coherence
        Mean NPMI, on held-out documents, of the ten words that a dimension, or a word, puts first. A word
        puts first the names of its highest dimensions or, where they have none, its nearest words; out of
        the words looked at, for every model.
    intruders_found
        Share of dimensions whose five first words let an intruder be told by NPMI; by chance 1/6.
    zeros
        Share of values that are 0.
    faithfulness
        How the similarity of near words falls without the coordinates that contribute most, and without
        as many of the contributing ones at random.
    stability
        Mean share (Jaccard) of a word's ten first that another seed gives as well; None: not measured.
    """

    name: str
    n_words: int
    n_dimensions: int
    n_used: int
    dimension_coherence: float | None
    word_coherence: float | None
    intruders_found: float | None
    zeros: float
    faithfulness: tuple[Faithfulness, ...]
    stability: float | None = None


def measure_interpretability(
    readout: Readout,
    held_out: DocumentIndex,
    *,
    again: Readout | None = None,
    n_dimensions: int = 200,
    n_pairs: int = 200,
    seed: int = 0,
) -> Interpretability:
    """Measure a model on documents that it was not trained on.

    Parameters
    ----------
    again
        The same model with another seed; it may have fewer words.
    n_dimensions, n_pairs
        How many dimensions, and pairs of near words, to look at; chosen at random.
    """
    check_integer("measure_interpretability", "n_dimensions", n_dimensions, 1)
    check_integer("measure_interpretability", "n_pairs", n_pairs, 1)
    random = np.random.default_rng(seed)
    own = np.array(readout.own_dimensions, dtype=np.intp)
    used = own[(readout.values[:, own] > 0).sum(axis=0) >= N_TOP]
    chosen = random.permutation(used)[:n_dimensions]
    tops = {int(k): _top_words(readout, int(k), N_TOP) for k in chosen}
    firsts = word_tops(readout)
    coherence = Coherence(held_out, {*readout.words, *(w for first in firsts.values() for w in first)})
    return Interpretability(
        name=readout.name,
        n_words=len(readout.words),
        n_dimensions=readout.values.shape[1],
        n_used=len(used),
        dimension_coherence=_mean(coherence.mean(top) for top in tops.values()),
        word_coherence=_mean(coherence.mean(first) for first in firsts.values()),
        intruders_found=_intruders_found(readout, tops, coherence, random),
        zeros=float((readout.values == 0).mean()),
        faithfulness=faithfulness(readout, n_pairs, random),
        stability=None if again is None else stability(firsts, word_tops(again, readout)),
    )


def word_tops(readout: Readout, among: Readout | None = None) -> dict[str, list[str]]:
    """List the ten words that each word puts first: names of dimensions or, without names, nearest words.

    Parameters
    ----------
    among
        Choose from this read-out's words; None: from those of `readout`.
    """
    if readout.dimension_names is not None:
        own = readout.own_dimensions if among is None else among.own_dimensions
        names = [readout.dimension_names[k] for k in own]
        values = readout.values[:, own]
        order = np.argsort(-values, axis=1, kind="stable")[:, :N_TOP]
        return {
            word: [names[k] for k in row.tolist() if values[i, k] > 0]
            for i, (word, row) in enumerate(zip(readout.words, order, strict=True))
        }
    units = readout.units()
    near = units @ units.T
    np.fill_diagonal(near, -np.inf)
    order = np.argsort(-near, axis=1, kind="stable")[:, :N_TOP]
    return {
        word: [readout.words[k] for k in row.tolist()] for word, row in zip(readout.words, order, strict=True)
    }


def stability(firsts: dict[str, list[str]], again: dict[str, list[str]]) -> float | None:
    """Mean share of first words that two seeds agree on."""
    common = [word for word in again if word in firsts]
    shares = [
        len({*firsts[word]} & {*again[word]}) / max(len({*firsts[word]} | {*again[word]}), 1)
        for word in common
    ]
    return float(np.mean(shares)) if shares else None


def faithfulness(readout: Readout, n_pairs: int, random: np.random.Generator) -> tuple[Faithfulness, ...]:
    """Remove coordinates from pairs of near words and compare what is left of their cosine."""
    units = readout.units()
    near = units @ units.T
    np.fill_diagonal(near, -np.inf)
    partners = near.argmax(axis=1)
    rows = [int(i) for i in random.permutation(len(units)) if near[i, partners[i]] > 0][:n_pairs]
    counts = [k for k in REMOVED if k < units.shape[1]] if rows else []
    left = np.array([_left(units[row], units[partners[row]], counts, random) for row in rows])
    return tuple(Faithfulness(k, *left[:, place].mean(axis=0).tolist()) for place, k in enumerate(counts))


def _left(
    first: NDArray[np.float64], second: NDArray[np.float64], counts: list[int], random: np.random.Generator
) -> list[tuple[float, float]]:
    """Compare a cosine without its strongest, and without random, contributions with the whole."""
    shares = first * second
    score = float(shares.sum())
    strongest = np.argsort(-shares, kind="stable")
    drawn = random.permutation(np.flatnonzero(shares))
    return [
        (
            _cosine_without(first, second, strongest[:k]) / score,
            _cosine_without(first, second, drawn[:k]) / score,
        )
        for k in counts
    ]


def _cosine_without(
    first: NDArray[np.float64], second: NDArray[np.float64], removed: NDArray[np.intp]
) -> float:
    """Cosine of two unit vectors without some coordinates."""
    dot = first @ second - first[removed] @ second[removed]
    squares = [1.0 - float(vector[removed] @ vector[removed]) for vector in (first, second)]
    product = float(np.sqrt(max(squares[0], 0.0) * max(squares[1], 0.0)))
    return float(dot / product) if product > 1e-12 else 0.0


def _top_words(readout: Readout, dimension: int, count: int) -> list[str]:
    order = np.argsort(-readout.values[:, dimension], kind="stable")[:count]
    return [readout.words[k] for k in order.tolist()]


def _intruders_found(
    readout: Readout, tops: dict[int, list[str]], coherence: Coherence, random: np.random.Generator
) -> float | None:
    """Mix an intruder, high elsewhere and low here, among the first words of each dimension."""
    found = []
    for dimension, top in tops.items():
        others = [word for k, words in tops.items() if k != dimension for word in words[:N_SHOWN]]
        low = {*_lower_half(readout, dimension)}
        candidates = sorted({word for word in others if word in low and word not in top})
        if candidates:
            intruder = candidates[int(random.integers(len(candidates)))]
            shown = sorted([*top[:N_SHOWN], intruder])
            found.append(coherence.odd_one_out(shown) == intruder)
    return float(np.mean(found)) if found else None


def _lower_half(readout: Readout, dimension: int) -> list[str]:
    values = readout.values[:, dimension]
    order = np.argsort(values, kind="stable")[: len(values) // 2]
    return [readout.words[k] for k in order.tolist()]


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None
