"""Numbers for interpretability: coherence, intruders, sparsity, faithfulness, stability."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from omnitm.explain.records import Record
from omnitm.parameters import check_integer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from omnitm.evaluation.coherence import Coherence
    from omnitm.evaluation.dimensions import Readout

N_TOP = 10
N_SHOWN = 5  # top words of an intrusion test
REMOVED = (1, 3, 10, 30, 100)
_EXAMPLES = 8
_WORDS_AGAIN = 200


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
        Words that may be put first; dimensions of the model; those to choose from: named after one of the
        words, if they have names, and used by at least ten of the words.
    dimension_coherence, word_coherence, neighbour_coherence
        Mean NPMI, on held-out documents, of the ten words that a dimension, or a word, puts first. A word
        puts first the names of its highest dimensions or, where they have none, its nearest words; its
        neighbours are its nearest words by cosine of the values, for every model.
    intruders_found
        Share of dimensions whose five first words let an intruder be told by NPMI; by chance 1/6.
    zeros
        Share of values that are 0.
    faithfulness
        How the similarity of near words falls without the coordinates that contribute most, and without
        as many of the contributing ones at random.
    stability
        Mean share (Jaccard) of a word's ten first that another seed gives as well; None: not measured.
    examples
        Some dimensions, by name or number, with their first words.
    """

    name: str
    n_words: int
    n_dimensions: int
    n_used: int
    dimension_coherence: float | None
    word_coherence: float | None
    neighbour_coherence: float | None
    intruders_found: float | None
    zeros: float
    faithfulness: tuple[Faithfulness, ...]
    stability: float | None = None
    examples: dict[str, list[str]] = field(default_factory=dict)


def measure_interpretability(
    readout: Readout,
    coherence: Coherence,
    *,
    again: Readout | None = None,
    n_dimensions: int = 200,
    n_words: int = 500,
    n_pairs: int = 200,
    seed: int = 0,
) -> Interpretability:
    """Measure a model on documents that it was not trained on.

    Parameters
    ----------
    coherence
        How well the read-out's words go together in documents that the model was not trained on.
    again
        The same model with another seed; it may have fewer words.
    n_dimensions, n_words, n_pairs
        How many dimensions, words and pairs of near words to look at; chosen at random. First words come
        from all words of the read-out, whatever is looked at.
    """
    for name, value in (("n_dimensions", n_dimensions), ("n_words", n_words), ("n_pairs", n_pairs)):
        check_integer("measure_interpretability", name, value, 1)
    random = np.random.default_rng(seed)
    used = _used_dimensions(readout)
    chosen = _Columns.of(readout, random.permutation(used)[:n_dimensions].tolist())
    looked_at = np.sort(random.permutation(len(readout.words))[:n_words]).tolist()
    firsts = word_tops(readout, looked_at)
    return Interpretability(
        name=readout.name,
        n_words=len(readout.words),
        n_dimensions=readout.values.shape[1],
        n_used=len(used),
        dimension_coherence=_mean(coherence.mean(top) for top in chosen.tops),
        word_coherence=_mean(coherence.mean(first) for first in firsts.values()),
        neighbour_coherence=_mean(map(coherence.mean, nearest_words(readout, looked_at).values())),
        intruders_found=_intruders_found(chosen, coherence, random),
        zeros=readout.zeros,
        faithfulness=faithfulness(readout, n_pairs, random),
        stability=None if again is None else _stability(readout, again),
        examples=dict(zip(chosen.names[:_EXAMPLES], chosen.tops, strict=False)),
    )


def word_tops(readout: Readout, rows: Sequence[int], among: Readout | None = None) -> dict[str, list[str]]:
    """List the ten words that each word puts first: names of dimensions or, without names, nearest words.

    Parameters
    ----------
    rows
        Which of the read-out's words.
    among
        Choose from this read-out's words; None: from those of `readout`.
    """
    if readout.dimension_names is None:
        return nearest_words(readout, rows)
    own = (readout if among is None else among).own_dimensions
    values = readout.rows(rows)[:, own].astype(np.float64)
    names = [readout.dimension_names[k] for k in own]
    return _firsts(readout, rows, np.where(values > 0, values, -np.inf), names)


def nearest_words(readout: Readout, rows: Sequence[int]) -> dict[str, list[str]]:
    """List the ten words with the highest cosines to each word."""
    return _firsts(readout, rows, readout.cosines(rows), readout.words)


def _firsts(
    readout: Readout, rows: Sequence[int], values: NDArray[np.float64], names: list[str]
) -> dict[str, list[str]]:
    order = np.argsort(-values, axis=1, kind="stable")[:, :N_TOP]
    return {
        readout.words[row]: [names[k] for k in best.tolist() if values[place, k] > -np.inf]
        for place, (row, best) in enumerate(zip(rows, order, strict=True))
    }


def _stability(readout: Readout, again: Readout) -> float | None:
    places = {word: row for row, word in enumerate(readout.words)}
    both = [(places[word], row) for row, word in enumerate(again.words) if word in places][:_WORDS_AGAIN]
    mine = word_tops(readout, [row for row, _ in both])
    return stability(mine, word_tops(again, [row for _, row in both], readout))


def stability(firsts: dict[str, list[str]], again: dict[str, list[str]]) -> float | None:
    """Mean share of first words that two seeds agree on; words that put none first are left out."""
    pairs = [({*firsts[word]}, {*again[word]}) for word in again if word in firsts]
    shares = [len(mine & yours) / len(mine | yours) for mine, yours in pairs if mine | yours]
    return float(np.mean(shares)) if shares else None


def faithfulness(readout: Readout, n_pairs: int, random: np.random.Generator) -> tuple[Faithfulness, ...]:
    """Remove coordinates from pairs of near words and compare what is left of their cosine."""
    drawn = random.permutation(len(readout.words))[:n_pairs].tolist()
    near = readout.cosines(drawn)
    partners = near.argmax(axis=1)
    pairs = [
        (row, int(partner)) for k, (row, partner) in enumerate(zip(drawn, partners, strict=True))
        if near[k, partner] > 0
    ]  # fmt: skip
    counts = [k for k in REMOVED if k < readout.values.shape[1]] if pairs else []
    left = np.array([_left(readout.units(pair), counts, random) for pair in pairs])
    return tuple(Faithfulness(k, *left[:, place].mean(axis=0).tolist()) for place, k in enumerate(counts))


def _left(
    pair: NDArray[np.float64], counts: list[int], random: np.random.Generator
) -> list[tuple[float, float]]:
    """Compare a cosine without its strongest, and without random, contributions with the whole."""
    first, second = pair
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


def _used_dimensions(readout: Readout) -> NDArray[np.intp]:
    own = np.array(readout.own_dimensions, dtype=np.intp)
    positive = (readout.values > 0).sum(axis=0)
    return own[np.asarray(positive).ravel()[own] >= N_TOP]


@dataclass(frozen=True, eq=False)
class _Columns:
    """Some dimensions: their values, words x dimensions, and their first words."""

    words: list[str]
    names: list[str]
    values: NDArray[np.float32]
    tops: list[list[str]]

    @classmethod
    def of(cls, readout: Readout, dimensions: list[int]) -> _Columns:
        values = readout.columns(dimensions)
        order = np.argsort(-values, axis=0, kind="stable")[:N_TOP]
        tops = [[readout.words[k] for k in column.tolist()] for column in order.T]
        names = readout.dimension_names or list(map(str, range(readout.values.shape[1])))
        return cls(readout.words, [names[k] for k in dimensions], values, tops)

    def lower_half(self, place: int, random: np.random.Generator) -> set[str]:
        """Words that are low in a dimension; of equal ones some at random."""
        shuffled = random.permutation(len(self.words))
        order = shuffled[np.argsort(self.values[shuffled, place], kind="stable")]
        return {self.words[k] for k in order[: len(order) // 2].tolist()}


def _intruders_found(chosen: _Columns, coherence: Coherence, random: np.random.Generator) -> float | None:
    """Mix an intruder, high elsewhere and low here, among the first words of each dimension."""
    found = []
    for place, top in enumerate(chosen.tops):
        others = {word for k, words in enumerate(chosen.tops) if k != place for word in words[:N_SHOWN]}
        candidates = sorted(others & chosen.lower_half(place, random) - {*top})
        if candidates:
            intruder = candidates[int(random.integers(len(candidates)))]
            shown = sorted([*top[:N_SHOWN], intruder])
            found.append(coherence.odd_one_out(shown) == intruder)
    return float(np.mean(found)) if found else None


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None
