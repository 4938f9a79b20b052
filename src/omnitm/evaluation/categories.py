"""Lists and groups: do words of one category stand together? The counterpart of correlations over pairs."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitm.errors import FileError, ParameterError
from omnitm.evaluation.correlation import interval
from omnitm.evaluation.datasets import CATEGORY_SETS, OWN_FILE, data_set, known_set, locate, spelling
from omnitm.evaluation.results import PlainTable, Report, number
from omnitm.files.plain import read_text
from omnitm.parameters import check_integer
from omnitm.similarity.nearest import best
from omnitm.similarity.row_profile import unit_rows
from omnitm.similarity.word_forms import n_common_letters
from omnitm.vectors import WordVectors

N_NEAREST = 10  # as many as a list shows
N_COMPANIONS = 4  # words of one category beside the intruder, as Chang et al. (2009) show five or six words
Compare = Callable[[Sequence[tuple[str, str]]], NDArray[np.float64]]
_WORDS_AT_ONCE = 256
_CLUSTER_SEEDS = range(5)
_WANTED = "expected a category and a word per line, separated by a tab"

# Endings that one stem may have, so that two words with endings of one line are forms of a word.
_PLAIN = ("", "s", "es", "ed", "ing", "er", "ers", "est", "ly")
_PARADIGMS = (
    _PLAIN,
    ("e", "es", "ed", "ing", "er", "ers", "est", "ely"),
    ("y", "ies", "ied", "ying", "ier", "iers", "iest", "ily"),
    ("f", "fe", "ves"),
)
_BASE_ENDINGS = {"", "e", "y", "f", "fe"}
_SHORTEST_STEM = 3
_SHORTEST_STEM_ALONE = 4  # where neither is the base form: walks and walking, but not string and strer


@dataclass(frozen=True)
class Categories:
    """Words by category; a word may be in several.

    Attributes
    ----------
    use
        "tuned on" if settings of omnitm were chosen by this set, "report" if not, "own file" for others.
    """

    name: str
    members: Mapping[str, tuple[str, ...]]
    use: str = OWN_FILE

    @property
    def of_word(self) -> dict[str, frozenset[str]]:
        """The categories of each word."""
        found: dict[str, set[str]] = {}
        for category, words in self.members.items():
            for word in words:
                found.setdefault(word, set()).add(category)
        return {word: frozenset(names) for word, names in found.items()}


@dataclass(frozen=True)
class Estimate:
    """A share with its confidence interval over resamples of words."""

    value: float
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        between = "" if self.low is None else f" ({self.low:.3f} to {self.high:.3f})"
        return f"{self.value:.3f}{between}"


@dataclass(frozen=True)
class CategoryResult:
    """One model on one set.

    Attributes
    ----------
    n_words, n_asked
        Words of the set that all models know, and how many of them were asked for their neighbours.
    n_candidates
        Words that may be listed: those that all models know, since a neighbour that only one of them knows
        could never be right for the others.
    precision, precision_in_set
        Share of the ten nearest that are of the word's category: among all candidates, and among the words
        of the set. Forms of the word are passed over.
    precision_distinct
        The same among all candidates, where one form of each word is listed: share of the ten nearest
        distinct words of which any form that is near is of the category. The same rule for all models.
    forms
        Share of forms of the word among its ten nearest before they are passed over.
    odd_one_out
        How often a word is less similar to four words of one category than they are to each other.
    k_means, agglomerative
        Purity of as many clusters as there are categories; None where words are in several categories.
    difference
        Precision minus that of the first model, on the same words.
    """

    model: str
    metric: str
    set: str
    use: str
    n_words: int
    n_asked: int
    n_candidates: int
    precision: Estimate
    precision_in_set: Estimate
    precision_distinct: Estimate
    forms: Estimate
    odd_one_out: Estimate
    k_means: float | None = None
    k_means_deviation: float | None = None
    agglomerative: float | None = None
    difference: Estimate | None = None


@dataclass(frozen=True)
class CategoryReport(Report):
    """All rows of an evaluation by categories."""

    rows: tuple[CategoryResult, ...]
    n_resamples: int
    confidence: float
    notes: tuple[str, ...] = ()
    version: int = 1
    kind: str = "omnitm categories"

    def tables(self) -> list[PlainTable]:
        """Make a table per set: a row per model."""
        tables = []
        for name in dict.fromkeys(row.set for row in self.rows):
            rows = [row for row in self.rows if row.set == name]
            header = ["model", "metric", "P@10, all words", "to the first", "P@10, distinct words"]
            header += ["P@10, words of the set", "forms", "odd one out"]
            header += ["purity, k-means", "purity, agglomerative"]
            table = PlainTable(f"{name} ({rows[0].use}, {rows[0].n_asked:,} words)", header, n_labels=2)
            for row in rows:
                clusters = "-" if row.k_means is None else f"{row.k_means:.3f} ±{row.k_means_deviation:.3f}"
                cells = [row.model, row.metric, str(row.precision), str(row.difference or "-")]
                cells.append(str(row.precision_distinct))
                cells += [f"{part.value:.3f}" for part in (row.precision_in_set, row.forms, row.odd_one_out)]
                table.rows.append([*cells, clusters, number(row.agglomerative)])
            tables.append(table)
        return tables

    def lines(self) -> Iterator[Sequence[Any]]:
        """Yield a line per set and model."""
        plain = ("set", "use", "model", "metric", "n_words", "n_asked", "n_candidates")
        shares = ("precision", "precision_in_set", "precision_distinct", "forms", "odd_one_out", "difference")
        clusters = ("k_means", "k_means_deviation", "agglomerative")
        yield *plain, *(name + end for name in shares for end in ("", "_low", "_high")), *clusters
        for row in self.rows:
            estimates = [getattr(row, name) or Estimate(float("nan")) for name in shares]
            figures = (figure for part in estimates for figure in (part.value, part.low, part.high))
            yield (
                *(getattr(row, name) for name in plain),
                *figures,
                *(getattr(row, name) for name in clusters),
            )


def load_categories(
    source: str | Path, data: str | Path | None = None, *, download: bool = False
) -> Categories:
    """Read a published set of categories by name, or any file with a category and a word per line."""
    if known_set(str(source)) is None and Path(source).is_file():
        return read_categories(Path(source))
    known = data_set(str(source), "categories")
    return read_categories(locate(known, data, download=download), known.name, known.use)


def read_categories(path: Path, name: str | None = None, use: str = OWN_FILE) -> Categories:
    """Read a table of words by category; blank lines and empty words don't count."""
    members: dict[str, list[str]] = {}
    for place, line in enumerate(read_text(path).splitlines(), 1):
        if not line.strip():
            continue
        category, tab, word = line.partition("\t")
        if not (category.strip() and tab):
            raise FileError(path, f"line {place}: {line[:60]!r} names no category and word; {_WANTED}")
        if word.strip():  # published tables have rows with an empty cell
            members.setdefault(category.strip(), []).append(word.strip())
    if len(members) < 2:
        raise FileError(path, f"has {len(members)} categories, but two are needed; {_WANTED}")
    kept = {category: tuple(dict.fromkeys(words)) for category, words in members.items()}
    return Categories(name or path.stem, kept, use)


def is_word_form(first: str, second: str) -> bool:
    """Whether two English words are forms of one word, by their spelling alone.

    The same rule for all models, so that none is judged by a rule of its own.

    >>> is_word_form("king", "kings"), is_word_form("happy", "happier"), is_word_form("run", "running")
    (True, True, True)
    >>> is_word_form("think", "thing"), is_word_form("car", "care"), is_word_form("happy", "happen")
    (False, False, False)
    """
    if first == second:
        return True
    longest = n_common_letters(first, second)
    for length in range(longest, _SHORTEST_STEM - 1, -1):
        ends = {first[length:], second[length:]}
        is_stem_seen = bool(ends & _BASE_ENDINGS) or length >= _SHORTEST_STEM_ALONE
        if is_stem_seen and any(ends <= set(paradigm) for paradigm in _PARADIGMS):
            return True
        # A doubled consonant: stop, stopped, stopping.
        last = first[length - 1]
        if "" in ends and any(last + end in ends for end in ("ed", "ing", "er", "ers", "est")):
            return True
    return False


def distinct_words(nearest: Sequence[str]) -> list[list[str]]:
    """Put the forms of a word together, in the order of the first of each.

    >>> distinct_words(["truck", "bus", "trucks", "buses"])
    [['truck', 'trucks'], ['bus', 'buses']]
    """
    found: list[list[str]] = []
    for word in nearest:
        known = (forms for forms in found if any(is_word_form(word, form) for form in forms))
        if (forms := next(known, None)) is None:
            found.append([word])
        else:
            forms.append(word)
    return found


def score_rows(
    vectors: WordVectors, metric: str | None, words: Sequence[str]
) -> Iterator[NDArray[np.floating[Any]]]:
    """Score every trained word against each of `words`, in the order of `index_to_key`."""
    chosen = vectors.scorer(metric).name  # type: ignore[arg-type]
    if chosen == "cosine" and vectors.matrix.dtype == np.float32:
        units = unit_rows(vectors.matrix)
        for first in range(0, len(words), _WORDS_AT_ONCE):
            rows = [vectors.get_index(word) for word in words[first : first + _WORDS_AT_ONCE]]
            yield from units[rows] @ units.T
        return
    trained = vectors.row_features if chosen == "association" else slice(None)
    for word in words:
        yield vectors.scorer(metric).scores(vectors, [(word, 1.0)])[trained]  # type: ignore[arg-type]


def evaluate_categories(
    models: Mapping[str, WordVectors],
    sets: Iterable[str | Path | Categories] = CATEGORY_SETS,
    *,
    metrics: Mapping[str, str] | str | None = None,
    most_words: int | None = 1000,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    data: str | Path | None = None,
    on_row: Callable[[str], object] | None = None,
) -> CategoryReport:
    """Measure how well lists of neighbours, clusters and odd ones out follow categories of words.

    Parameters
    ----------
    models
        Word vectors by name; all are asked for the words that all of them know, and the first is what the
        others are compared with.
    metrics
        A metric of `WordVectors` for all models, or by the name of the model; None: each model's own.
    most_words
        Ask for at most so many words of a set, the same for all models; None: for all.
    """
    if not models:
        raise ParameterError("evaluate_categories needs at least one model. Got none.")
    if most_words is not None:
        check_integer("evaluate_categories", "most_words", most_words, N_COMPANIONS + 1)
    check_integer("evaluate_categories", "n_resamples", n_resamples, 0, 1_000_000)
    rows: list[CategoryResult] = []
    notes: list[str] = []
    for source in sets:
        categories = source if isinstance(source, Categories) else load_categories(source, data)
        asked = _Asked(categories, [vectors.key_to_index for vectors in models.values()], most_words)
        notes.append(
            f"{categories.name} ({categories.use}): {len(asked.known):,} of {asked.n_listed:,} words are "
            f"known, {len(asked.words):,} are asked"
        )
        first: NDArray[np.float64] | None = None
        for name, vectors in models.items():
            metric = metrics.get(name) if isinstance(metrics, dict) else metrics
            if on_row:
                on_row(f"{categories.name}: {name}")
            rows_of_model = score_rows(vectors, metric, asked.words)  # type: ignore[arg-type]
            measured = asked.measure(vectors.index_to_key, rows_of_model)
            compare = partial(vectors.similarities, metric=metric)  # type: ignore[arg-type]
            estimates = _Estimates(n_resamples, confidence)
            difference = None if first is None else estimates.of(measured.precision - first)
            first = measured.precision if first is None else first
            labels = asked.labels()
            purities = None if labels is None else cluster_purities(asked.scores(compare), labels)
            rows.append(
                CategoryResult(
                    model=name,
                    metric=vectors.scorer(metric).name,  # type: ignore[arg-type]
                    set=categories.name,
                    use=categories.use,
                    n_words=len(asked.known),
                    n_asked=len(asked.words),
                    n_candidates=len(asked.candidates),
                    precision=estimates.of(measured.precision),
                    precision_in_set=estimates.of(measured.precision_in_set),
                    precision_distinct=estimates.of(measured.precision_distinct),
                    forms=estimates.of(measured.forms),
                    odd_one_out=estimates.of(asked.odd_ones(compare)),
                    k_means=None if purities is None else float(np.mean(purities[0])),
                    k_means_deviation=None if purities is None else float(np.std(purities[0])),
                    agglomerative=None if purities is None else purities[1],
                    difference=difference,
                )
            )
    return CategoryReport(tuple(rows), n_resamples, confidence, tuple(notes))


def neighbour_precision(
    categories: Categories,
    vocabulary: Sequence[str],
    rows_of: Callable[[Sequence[str]], Iterable[NDArray[np.floating[Any]]]],
    most_words: int | None = 1000,
) -> float:
    """Return the precision of the ten nearest (P@10) for any way of scoring words.

    Parameters
    ----------
    rows_of
        For some words, a row of scores each, in the order of `vocabulary`.
    """
    asked = _Asked(categories, [dict.fromkeys(vocabulary, 0)], most_words)
    return float(asked.measure(vocabulary, rows_of(asked.words)).precision.mean())


@dataclass(frozen=True)
class _Measured:
    """Figures per word that was asked for."""

    precision: NDArray[np.float64]
    precision_in_set: NDArray[np.float64]
    precision_distinct: NDArray[np.float64]
    forms: NDArray[np.float64]


@dataclass(frozen=True)
class _Estimates:
    n_resamples: int
    confidence: float

    def of(self, values: NDArray[np.float64]) -> Estimate:
        """Mean over words, with the interval of means over words drawn with replacement."""
        if not len(values):
            return Estimate(float("nan"))
        # The seed is the number of words: models with the same words have the same draws, and differences are
        # paired.
        draws = np.random.default_rng(len(values)).integers(len(values), size=(self.n_resamples, len(values)))
        found = interval(values[draws].mean(axis=1), self.confidence)
        return Estimate(float(values.mean()), *(found or ()))


class _Asked:
    """The words of a set that all models know, and those of them that are asked for their neighbours."""

    def __init__(
        self, categories: Categories, vocabularies: Sequence[Mapping[str, int]], most_words: int | None
    ) -> None:
        self.categories = categories
        listed = categories.of_word
        self.n_listed = len(listed)
        self.of_word: dict[str, frozenset[str]] = {}
        for word, names in listed.items():
            forms = {spelling(word, vocabulary.__contains__) for vocabulary in vocabularies}
            if len(forms) == 1 and (form := forms.pop()) is not None:
                self.of_word[form] = self.of_word.get(form, frozenset()) | names
        others = [set(vocabulary) for vocabulary in vocabularies[1:]]
        self.candidates = [word for word in vocabularies[0] if all(word in other for other in others)]
        self.known = sorted(self.of_word)
        # A sample that depends on the words alone: the same for every model, run and order of the set.
        by_hash = sorted(self.known, key=lambda word: hashlib.sha256(word.encode()).digest())
        self.words = by_hash[:most_words]
        if len({name for word in self.words for name in self.of_word[word]}) < 2:
            raise ParameterError(
                f"{categories.name}: the models know words of fewer than two of its categories; train such "
                "words, or leave the set out."
            )

    def measure(self, vocabulary: Sequence[str], rows: Iterable[NDArray[np.floating[Any]]]) -> _Measured:
        places = {word: place for place, word in enumerate(vocabulary)}
        listed = np.array([places[word] for word in self.candidates])
        in_set = np.array([places[word] for word in self.known])
        figures = []
        for word, row in zip(self.words, rows, strict=True):
            nearest = [other for other in _nearest(row[listed], self.candidates) if other != word]
            kept = [other for other in nearest if not is_word_form(word, other)]
            in_set_names = _nearest(row[in_set], self.known)
            of_set = [other for other in in_set_names if not is_word_form(word, other)]
            forms = sum(is_word_form(word, other) for other in nearest[:N_NEAREST]) / N_NEAREST
            lists = ([[one] for one in kept], [[one] for one in of_set], distinct_words(kept))
            figures.append((*(self._precision(word, found) for found in lists), forms))
        precision, in_set, distinct, forms_share = np.array(figures, dtype=np.float64).T
        return _Measured(precision, in_set, distinct, forms_share)

    def _precision(self, word: str, nearest: Sequence[Sequence[str]]) -> float:
        """Share of the ten nearest words of which any form is of the word's category."""
        own = self.of_word[word]
        names_of = (
            frozenset().union(*(self.of_word.get(form, frozenset()) for form in forms))
            for forms in nearest[:N_NEAREST]
        )
        return sum(bool(own & names) for names in names_of) / N_NEAREST

    def scores(self, compare: Compare) -> NDArray[np.float64]:
        """Compare all words that are asked for with each other."""
        pairs = [(first, second) for first in self.words for second in self.words]
        return compare(pairs).reshape(len(self.words), len(self.words))

    def odd_ones(self, compare: Compare) -> NDArray[np.float64]:
        """Let every word be the intruder once, beside words of one category drawn at random."""
        shown = np.array(self._with_intruders())
        if not len(shown):
            return np.zeros(0)
        words = np.array(self.words, dtype=object)[shown]
        pairs = [(first, second) for group in words.tolist() for first in group for second in group]
        scores = compare(pairs).reshape(len(shown), N_COMPANIONS + 1, N_COMPANIONS + 1)
        # Scores need not be symmetric. The intruder is the first; it should be the least near.
        near = (scores + scores.transpose(0, 2, 1)) * (1 - np.eye(N_COMPANIONS + 1))
        return np.asarray(near.sum(axis=2).argmin(axis=1) == 0, dtype=np.float64)

    def _with_intruders(self) -> list[list[int]]:
        """Words by their places: an intruder, and some of one category that it is not of."""
        random = np.random.default_rng(0)
        places: dict[str, list[int]] = {}
        for place, word in enumerate(self.words):
            for name in sorted(self.of_word[word]):
                places.setdefault(name, []).append(place)
        large = sorted(name for name, found in places.items() if len(found) >= N_COMPANIONS)
        found = []
        for intruder, word in enumerate(self.words):
            foreign = [name for name in large if name not in self.of_word[word]]
            if foreign:
                others = random.choice(places[foreign[random.integers(len(foreign))]], N_COMPANIONS, False)
                found.append([intruder, *others.tolist()])
        return found

    def labels(self) -> list[str] | None:
        """Give each word's only category; None if some word that is asked for has several."""
        names = [self.of_word[word] for word in self.words]
        return [next(iter(name)) for name in names] if all(len(name) == 1 for name in names) else None


def _nearest(row: NDArray[np.floating[Any]], vocabulary: Sequence[str]) -> list[str]:
    """List more than the ten nearest, so that ten are left when forms are passed over."""
    return [vocabulary[k] for k in best(row, N_NEAREST + 30).tolist()]


def cluster_purities(scores: NDArray[np.float64], labels: Sequence[str]) -> tuple[list[float], float]:
    """Cluster words by their scores with each other: k-means from several seeds, and average linkage.

    K-means needs points: the rows of the square root of the scores' matrix, without its negative
    eigenvalues. For the cosine those are the unit vectors themselves, turned.
    """
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits  # comes with scikit-learn

    near = (scores + scores.T) / 2
    # A word is at least as near to itself as any pair is.
    np.fill_diagonal(near, -np.inf)
    np.fill_diagonal(near, np.maximum(np.diag(scores), near.max()))
    numbers = np.unique(np.array(labels), return_inverse=True)[1]
    n_clusters = int(numbers.max()) + 1
    # near = A diag(v) A^T, so the rows of A sqrt(v) have these scores as their products.
    values, axes = np.linalg.eigh(near)
    points = axes * np.sqrt(np.maximum(values, 0))
    found = []
    with warnings.catch_warnings(), threadpool_limits(1):  # threads cost more than they save on so little
        warnings.simplefilter("ignore", ConvergenceWarning)  # equal words leave clusters empty
        for seed in _CLUSTER_SEEDS:
            clusters = KMeans(n_clusters, n_init=10, random_state=seed).fit_predict(points)
            found.append(purity(clusters, numbers))
    apart = near.max() - near
    np.fill_diagonal(apart, 0)
    tree = linkage(squareform(apart, checks=False), "average")
    return found, purity(fcluster(tree, n_clusters, "maxclust"), numbers)


def purity(clusters: NDArray[np.integer[Any]], labels: NDArray[np.integer[Any]]) -> float:
    """Share of words whose cluster has their category as its most frequent one.

    >>> purity(np.array([0, 0, 0, 1]), np.array([5, 5, 6, 6]))
    0.75
    """
    names = np.unique(clusters)
    return float(sum(np.bincount(labels[clusters == name]).max() for name in names) / len(labels))
