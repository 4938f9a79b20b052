"""Numbers for interpretability: coherence, intruders, categories, sparsity, faithfulness, stability."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitm import _native
from omnitm.corpus import DocumentIndex
from omnitm.errors import ParameterError
from omnitm.explain.records import Record
from omnitm.parameters import check_integer
from omnitm.similarity.row_profile import unit_rows
from omnitm.vectors import WordVectors

_SPARSE = 0.5  # share of zeros from which values are kept as a sparse matrix
_ROWS_AT_A_TIME = 500
_DIGITS = 6  # of cosines: float32 has no more


@dataclass(frozen=True, eq=False)
class Readout:
    """Some words of a model, and their values in every dimension.

    Attributes
    ----------
    values
        words x dimensions: an array, or a sparse matrix where most values are 0.
    dimension_names
        A word per dimension; None where dimensions have no name.
    """

    name: str
    words: list[str]
    values: Any
    dimension_names: list[str] | None

    @cached_property
    def own_dimensions(self) -> list[int]:
        """Dimensions that are named after one of the words; all dimensions where they have no names."""
        if self.dimension_names is None:
            return list(range(self.values.shape[1]))
        words = set(self.words)
        return [k for k, name in enumerate(self.dimension_names) if name in words]

    @property
    def zeros(self) -> float:
        """Share of values that are 0."""
        nonzero = np.count_nonzero(self.values) if isinstance(self.values, np.ndarray) else self.values.nnz
        return float(1 - nonzero / max(self.values.shape[0] * self.values.shape[1], 1))

    def columns(self, dimensions: Sequence[int]) -> NDArray[np.float32]:
        """Values of all words in some dimensions: words x dimensions."""
        return _dense(self.values[:, list(dimensions)])

    def rows(self, rows: Sequence[int]) -> NDArray[np.float32]:
        """Values of some words in all dimensions."""
        return _dense(self.values[list(rows)])

    def units(self, rows: Sequence[int]) -> NDArray[np.float64]:
        """Rows of some words scaled to length 1; rows of zeros stay."""
        return unit_rows(self.rows(rows), np.float64)

    def cosines(self, rows: Sequence[int]) -> NDArray[np.float64]:
        """Cosines of some words with all words; -inf with themselves."""
        lengths = self._lengths
        near = np.asarray(self.values @ self.rows(rows).T.astype(np.float64)).T
        scale = np.outer(lengths[list(rows)], lengths)
        found: NDArray[np.float64] = np.divide(near, scale, out=np.zeros_like(near), where=scale > 0)
        found[np.arange(len(found)), list(rows)] = -np.inf
        return found

    @cached_property
    def _lengths(self) -> NDArray[np.float64]:
        if isinstance(self.values, np.ndarray):
            squares = np.einsum("ij,ij->i", self.values, self.values, dtype=np.float64)
        else:
            squares = np.asarray(self.values.astype(np.float64).multiply(self.values).sum(axis=1)).ravel()
        lengths: NDArray[np.float64] = np.sqrt(squares)
        return lengths


def choose_words(models: Sequence[WordVectors], held_out: DocumentIndex, count: int) -> list[str]:
    """Choose the words that most held-out documents have, of those that all models know."""
    common = [word for word in held_out.frequent_first if all(word in model for model in models)]
    if len(common) < 20:
        raise ParameterError(
            f"Only {len(common)} words are in all models and in the held-out documents; 20 are needed."
        )
    return common[:count]


def read_out(name: str, vectors: WordVectors, words: Sequence[str]) -> Readout:
    """Read a model out: what stands out in integers with names, whatever the model; others as they are.

    What stands out is what the default similarity compares, see `omnitm.similarity.row_profile`: raw
    coordinates mostly tell how frequent a feature is.
    """
    if vectors.has_profiles:
        rows = vectors.profiles.topic.some(
            np.array([vectors.get_index(word) for word in words], dtype=np.intp)
        )
        return Readout(name, list(words), rows.tocsr(), vectors.feature_names)
    return read_out_raw(name, vectors, words)


def read_out_raw(name: str, vectors: WordVectors, words: Sequence[str]) -> Readout:
    """Read vectors out as they are."""
    values = _sparse_or_dense(vectors.matrix, [vectors.get_index(word) for word in words])
    return Readout(name, list(words), values, vectors.feature_names if vectors.has_named_features else None)


def read_out_themes(name: str, vectors: WordVectors, words: Sequence[str], k: int) -> Readout:
    """Read the themes of words out: dimensions without names."""
    rows = [vectors.get_index(word) for word in words]
    return Readout(f"{name}, {k} themes", list(words), np.array(vectors.themes(k).weights[rows]), None)


def read_out_again(vectors: WordVectors, again: WordVectors) -> Readout:
    """Read some words of Omni that were trained once more, by the standards of the whole first model."""
    from scipy.sparse import csr_matrix

    profile, words = vectors.profiles.topic, again.index_to_key
    baseline = np.empty(len(again), dtype=np.int16)
    _native.row_modes(again.matrix, baseline)
    rows = [
        profile.of_vector(profile.relative(again.get_vector(word), level, vectors.feature_index(word)))
        for word, level in zip(words, baseline.tolist(), strict=True)
    ]
    return Readout("again", list(words), csr_matrix(np.array(rows)), vectors.feature_names)


def _sparse_or_dense(matrix: NDArray[Any], rows: list[int]) -> Any:
    from scipy.sparse import csr_matrix, vstack

    sample = matrix[rows[:_ROWS_AT_A_TIME]]
    if matrix.dtype != np.int16 or (sample == 0).mean() < _SPARSE:
        return matrix[rows].astype(np.float32)
    parts = range(0, len(rows), _ROWS_AT_A_TIME)
    blocks = [csr_matrix(matrix[rows[start : start + _ROWS_AT_A_TIME]].astype(np.float32)) for start in parts]
    return vstack(blocks, format="csr")


def _dense(values: Any) -> NDArray[np.float32]:
    return np.asarray(values if isinstance(values, np.ndarray) else values.toarray())


def nmf_of_ppmi(
    index: DocumentIndex,
    words: Sequence[str],
    n_components: int = 50,
    seed: int = 0,
    name: str = "NMF of PPMI",
) -> Readout:
    """Factorise how words occur together in the documents of `index`: a small, sparse, nameless baseline."""
    from sklearn.decomposition import NMF
    from sklearn.exceptions import ConvergenceWarning

    components = min(n_components, len(words) - 1)
    model = NMF(components, init="nndsvdar", max_iter=200, tol=1e-3, random_state=seed)
    with warnings.catch_warnings():  # a baseline need not be the optimum to the last digit
        warnings.simplefilter("ignore", ConvergenceWarning)
        return Readout(name, list(words), model.fit_transform(positive_pmi(index, words)), None)


def positive_pmi(index: DocumentIndex, words: Sequence[str]) -> NDArray[np.float32]:
    """Positive pointwise mutual information of words in the same document; 0 on the diagonal."""
    counts = pair_counts(index, words)
    single = np.diag(counts).copy()
    # Documents with both words if they were independent: n_a n_b / N.
    expected = np.outer(single, single) / max(index.n_documents, 1)
    # PPMI = max(0, log(n_ab N / (n_a n_b))); words that never meet have ratio 1, so 0.
    ratio = np.divide(counts, expected, out=np.ones_like(counts), where=(counts > 0) & (expected > 0))
    np.fill_diagonal(ratio, 1.0)
    return np.maximum(np.log(ratio), 0.0).astype(np.float32)


class Coherence:
    """NPMI of pairs out of a list of words, counted once.

    NPMI is 1 for words that only occur together, 0 for words that know nothing of each other, -1 for words
    that never meet.

    Examples
    --------
    >>> from omnitm.corpus import DocumentIndex
    >>> index = DocumentIndex.from_documents(["cat dog", "cat dog", "bird", "fish"])
    >>> coherence = Coherence(index, ["cat", "dog", "bird"])
    >>> coherence.mean(["cat", "dog"]), coherence.mean(["cat", "bird"])
    (1.0, -1.0)
    """

    def __init__(self, index: DocumentIndex, words: Iterable[str]) -> None:
        known = set(index.vocabulary)
        self.words = sorted(set(words) & known)
        self._places = {word: place for place, word in enumerate(self.words)}
        counts = pair_counts(index, self.words)
        self._npmi = _npmi(counts, index.n_documents)
        self._shares = np.diag(counts) / max(index.n_documents, 1)

    def __contains__(self, word: str) -> bool:
        return word in self._places

    def pairs(self, words: Sequence[str]) -> NDArray[np.float64]:
        """NPMI of every word with every other; words that the documents don't have are left out."""
        places = [self._places[word] for word in words if word in self._places]
        return self._npmi[np.ix_(places, places)]

    def mean(self, words: Sequence[str]) -> float | None:
        """Mean NPMI of all pairs; None if fewer than two of the words are known."""
        pairs = self.pairs(words)
        if len(pairs) < 2:
            return None
        return float(pairs[np.triu_indices(len(pairs), 1)].mean())

    def c_v(self, words: Sequence[str]) -> float | None:
        """Mean cosine of each word's NPMI with all words and their sum over words; None for unknown words.

        C_v of Roeder et al. 2015, if the documents are windows of 110 words: words are alike if the same of
        the words go with them. As there, words that never meet count as if they met in 1e-12 of all.
        """
        pairs = self.pairs(words)
        if len(pairs) < 2:
            return None
        shares = self._shares[[self._places[word] for word in words if word in self._places]]
        # Words that never meet: C_v (Roeder et al. 2015) has NPMI with p_ab = 1e-12 instead of -1.
        unmet = (np.log(_NEVER_MET) - np.log(np.outer(shares, shares))) / -np.log(_NEVER_MET)
        pairs[pairs == -1] = unmet[pairs == -1]
        # Each word is a vector of its NPMI with all words, and is compared with the sum of these vectors.
        total = pairs.sum(axis=0)
        cosines = pairs @ total / (np.linalg.norm(pairs, axis=1) * np.linalg.norm(total))
        return float(cosines.mean())

    def odd_one_out(self, words: Sequence[str]) -> str:
        """Name the word that goes least well with the others; one that the documents don't have is odd."""
        unknown = [word for word in words if word not in self]
        if unknown:
            return unknown[0]
        pairs = self.pairs(words)
        np.fill_diagonal(pairs, 0.0)
        return words[int(np.argmin(pairs.sum(axis=1)))]


def pair_counts(index: DocumentIndex, words: Sequence[str]) -> NDArray[np.float64]:
    """In how many documents each pair of words occurs."""
    from scipy.sparse import csc_matrix

    postings = [index.documents_with(index.word_id(word)) for word in words]
    offsets = np.cumsum([0, *(len(documents) for documents in postings)])
    members = np.concatenate([*postings, np.zeros(0, dtype=np.uint32)]).astype(np.int32)
    ones = np.ones(len(members), dtype=np.float32)
    presence = csc_matrix((ones, members, offsets), shape=(index.n_documents, len(words)))
    # Presence is 0 or 1, so the product of two columns counts the documents that have both.
    counts: NDArray[np.float64] = (presence.T @ presence).toarray().astype(np.float64)
    return counts


def _npmi(counts: NDArray[np.float64], n_documents: int) -> NDArray[np.float64]:
    shares = counts / max(n_documents, 1)
    single = np.diag(shares)
    npmi = np.full(counts.shape, -1.0)
    met = counts > 0
    joint = shares[met]
    rows, columns = np.nonzero(met)
    always = joint >= 1.0  # in every document: 0 / 0; such words know all there is to know of each other
    surprise = np.where(always, 1.0, -np.log(joint, out=np.ones_like(joint), where=~always))
    # NPMI = log(p_ab / (p_a p_b)) / -log(p_ab)
    information = np.log(joint / (single[rows] * single[columns]))
    npmi[met] = np.where(always, 1.0, information / surprise)
    return npmi


_NEVER_MET = 1e-12  # the share of windows that is taken instead of 0
N_TOP = 10  # first words of a dimension
N_SHOWN = 5  # top words of an intrusion test
REMOVED = (1, 3, 10, 30, 100)
_EXAMPLES = 8  # dimensions that a report names
_WORDS_AGAIN = 200
_INTRUDERS = 20  # per dimension
_DRAWS = 2_000  # of dimensions, for intervals
_LAMBDA = 5  # room for a category's words among a dimension's first, as in Senel et al. 2018
_FEWEST_MEMBERS = 10  # a category of few known words is held together by chance


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
        How often an intruder is told by NPMI from a dimension's five first words, over dimensions and up to
        20 intruders each; by chance 1/6.
    category_score
        Interpretability score by categories of words (Senel et al. 2018), mean over dimensions; None: not
        measured.
    zeros
        Share of values that are 0.
    faithfulness
        How the similarity of near words falls without the coordinates that contribute most, and without
        as many of the contributing ones at random.
    stability
        Mean share (Jaccard) of a word's ten first that another seed gives as well; None: not measured.
    dimension_stability
        Mean share of a dimension's ten first words that the most similar dimension of another seed has as
        well; None: not measured.
    dimension_c_v
        Mean C_v of the ten words that a dimension puts first; None: not measured.
    intervals
        95 % intervals of `dimension_coherence`, `dimension_c_v`, `intruders_found`, `category_score` and
        `dimension_stability`: dimensions are drawn again.
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
    category_score: float | None = None
    dimension_stability: float | None = None
    dimension_c_v: float | None = None
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)
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
    categories: Mapping[str, Sequence[str]] | None = None,
    windows: Coherence | None = None,
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
    categories
        Words by category, for `category_score`; None: it is not measured.
    windows
        How words go together in windows of 110 words, for `dimension_c_v`; None: it is not measured.
    """
    for name, value in (("n_dimensions", n_dimensions), ("n_words", n_words), ("n_pairs", n_pairs)):
        check_integer("measure_interpretability", name, value, 1)
    random = np.random.default_rng(seed)
    used = _used_dimensions(readout)
    chosen = _Columns.of(readout, random.permutation(used)[:n_dimensions].tolist())
    looked_at = np.sort(random.permutation(len(readout.words))[:n_words]).tolist()
    firsts = word_tops(readout, looked_at)
    by_dimension: dict[str, Sequence[float | None]] = {
        **_figures(chosen, coherence, categories, windows, random),
        "dimension_stability": [] if again is None else dimension_stability(readout, again),
    }
    return Interpretability(
        name=readout.name,
        n_words=len(readout.words),
        n_dimensions=readout.values.shape[1],
        n_used=len(used),
        **{name: _mean(values) for name, values in by_dimension.items()},
        intervals=_intervals(by_dimension, seed),
        word_coherence=_mean(coherence.mean(first) for first in firsts.values()),
        neighbour_coherence=_mean(map(coherence.mean, nearest_words(readout, looked_at).values())),
        zeros=readout.zeros,
        faithfulness=faithfulness(readout, n_pairs, random),
        stability=None if again is None else _stability(readout, again),
        examples=dict(zip(chosen.names[:_EXAMPLES], chosen.tops, strict=False)),
    )


def measure_dimensions(
    readout: Readout,
    coherence: Coherence,
    *,
    categories: Mapping[str, Sequence[str]] | None = None,
    windows: Coherence | None = None,
    seed: int = 0,
) -> tuple[NDArray[np.float32], dict[str, list[float | None]]]:
    """Measure every used dimension by itself, to compare it with one of another model.

    Returns
    -------
    values, figures
        words x used dimensions; by the names of `Interpretability`, a figure per used dimension, None where
        it cannot be told, and none at all of what is not measured.
    """
    chosen = _Columns.of(readout, _used_dimensions(readout).tolist())
    return chosen.values, _figures(chosen, coherence, categories, windows, np.random.default_rng(seed))


def _figures(
    chosen: _Columns,
    coherence: Coherence,
    categories: Mapping[str, Sequence[str]] | None,
    windows: Coherence | None,
    random: np.random.Generator,
) -> dict[str, list[float | None]]:
    return {
        "dimension_coherence": [coherence.mean(top) for top in chosen.tops],
        "intruders_found": _intruders_found(chosen, coherence, random),
        "category_score": [*category_scores(chosen.words, chosen.values, categories or {})],
        "dimension_c_v": [] if windows is None else [windows.c_v(top) for top in chosen.tops],
    }


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
    """List the ten words with the highest cosines to each word; of equal ones, those that come first.

    All words that have one theme and no other are equally near to a word. Rounding must not order them, for
    it is another on another processor.
    """
    return _firsts(readout, rows, readout.cosines(rows).round(_DIGITS), readout.words)


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


def dimension_stability(readout: Readout, again: Readout) -> list[float]:
    """Share of each dimension's ten first words that the most similar one of another seed has as well.

    None of them unless both read-outs have the same words.
    """
    if readout.words != again.words:
        return []
    mine, yours = (_Columns.of(found, _used_dimensions(found).tolist()).tops for found in (readout, again))
    return [max((len({*top} & {*other}) for other in yours), default=0) / N_TOP for top in mine]


def category_scores(
    words: Sequence[str], values: NDArray[Any], categories: Mapping[str, Sequence[str]]
) -> list[float]:
    """Score each dimension by the category that it holds together best (Senel et al. 2018, lambda = 5).

    The share of a category's words that are among the `5 n` highest, or `5 n` lowest, words of the dimension,
    for a category of n known words. Words of equal value count by the share of them that there is room for,
    so that zeros, of which there are many, tell nothing by their order.
    """
    places = {word: row for row, word in enumerate(words)}
    members = [[places[word] for word in found if word in places] for found in categories.values()]
    members = [rows for rows in members if len(rows) >= _FEWEST_MEMBERS]
    best = np.zeros(values.shape[1] if members else 0)
    for signed in (values, -values) if (values < 0).any() else (values,):
        ordered = np.sort(-signed, axis=0)
        for rows in members:
            room = min(_LAMBDA * len(rows), len(words))
            limit = -ordered[room - 1]
            above, equal = (signed > limit).sum(axis=0), (signed == limit).sum(axis=0)
            # Of words equal at the limit only a part has room: each counts by that part.
            share = (room - above) / equal
            found = (signed[rows] > limit).sum(axis=0) + share * (signed[rows] == limit).sum(axis=0)
            best = np.maximum(best, found / len(rows))
    return list(map(float, best))


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
    # A cosine of unit vectors is the sum of these products.
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
    # Both have length 1, so what is left of the squared length is 1 less what was removed.
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


def _intruders_found(
    chosen: _Columns, coherence: Coherence, random: np.random.Generator
) -> list[float | None]:
    """Mix intruders, high elsewhere and low here, among the first words of each dimension, one at a time.

    None: there is no word that would be an intruder.
    """
    found: list[float | None] = []
    for place, top in enumerate(chosen.tops):
        others = {word for k, words in enumerate(chosen.tops) if k != place for word in words[:N_SHOWN]}
        candidates = sorted(others & chosen.lower_half(place, random) - {*top})
        drawn = [candidates[k] for k in random.permutation(len(candidates))[:_INTRUDERS].tolist()]
        told = [coherence.odd_one_out(sorted([*top[:N_SHOWN], word])) == word for word in drawn]
        found.append(float(np.mean(told)) if told else None)
    return found


def _intervals(
    by_dimension: Mapping[str, Sequence[float | None]], seed: int
) -> dict[str, tuple[float, float]]:
    """95 % intervals of means, dimensions drawn again."""
    found = {}
    for name, values in by_dimension.items():
        known = np.array([value for value in values if value is not None])
        if len(known):
            drawn = np.random.default_rng(seed).integers(0, len(known), (_DRAWS, len(known)))
            low, high = np.quantile(known[drawn].mean(axis=1), [0.025, 0.975])
            found[name] = (float(low), float(high))
    return found


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None
