"""The paper's Table 3: how well clusters of document vectors agree with the labels of the documents."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from omnitm.errors import ParameterError
from omnitm.evaluation.labelled import LabelledDocuments, load_documents
from omnitm.evaluation.results import MEASURED, PlainTable, Report
from omnitm.parameters import check_integer
from omnitm.similarity.row_profile import unit_rows
from omnitm.similarity.truncated_svd import truncated_svd
from omnitm.vectors.document_vectors import count_words
from omnitm.vectors.vectorizer import OmniVectorizer
from omnitm.vectors.word_vectors import WordVectors

VERSION = 1
_ROWS_AT_ONCE = 1_000
_SAMPLED_ROWS = 2_000
MOST_PLACED_CLUSTERS = 1_000  # k-means++ takes minutes for more
Weighting = Literal["mean", "length", "idf", "raw"]
WEIGHTINGS: tuple[Weighting, ...] = ("mean", "length", "idf", "raw")


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation over the seeds of K-means; no deviation for a single figure."""

    mean: float
    deviation: float | None = None

    def __str__(self) -> str:
        return f"{self.mean:.3f}" + ("" if self.deviation is None else f" ±{self.deviation:.3f}")


@dataclass(frozen=True)
class SetClustering:
    """How well clusters of one set agree with its labels."""

    name: str
    nmi: Spread
    ari: Spread


@dataclass(frozen=True)
class ModelClustering:
    """One model on all sets; `nmi` and `ari` are means over the sets."""

    model: str
    weighting: str
    sets: tuple[SetClustering, ...]
    nmi: float
    ari: float
    source: str = MEASURED


@dataclass(frozen=True)
class ClusteringReport(Report):
    """All rows of a clustering evaluation, and how they were measured."""

    rows: tuple[ModelClustering, ...]
    seeds: tuple[int, ...]
    n_components: int
    n_axes: int | None
    notes: tuple[str, ...] = ()
    version: int = VERSION
    kind: str = "omnitm clustering"

    def tables(self) -> list[PlainTable]:
        """Make one table per score: a row per model and weighting, a column per set."""
        names = list(dict.fromkeys(part.name for row in self.rows for part in row.sets))
        tables = []
        for score, title in (("nmi", "Normalised mutual information"), ("ari", "Adjusted Rand index")):
            header = ["model", "weighting", *names, "average"]
            table = PlainTable(f"{title} of clusters and labels", header, n_labels=2)
            for row in self.rows:
                found = {part.name: str(getattr(part, score)) for part in row.sets}
                label = row.model if row.source == MEASURED else f"{row.model} ({row.source})"
                cells = [found.get(name, "-") for name in names]
                of_some = f" ({len(found)} of {len(names)})" if len(found) < len(names) else ""
                table.rows.append([label, row.weighting, *cells, f"{getattr(row, score):.3f}{of_some}"])
            tables.append(table)
        return tables

    def lines(self) -> Iterator[Sequence[Any]]:
        """Yield a line per model, weighting and set."""
        yield "model", "weighting", "source", "set", "nmi", "nmi_deviation", "ari", "ari_deviation"
        for row in self.rows:
            start = row.model, row.weighting, row.source
            for part in row.sets:
                figures = part.nmi.mean, part.nmi.deviation, part.ari.mean, part.ari.deviation
                yield *start, part.name, *figures
            yield *start, "average", row.nmi, None, row.ari, None


def evaluate_clustering(
    models: Mapping[str, WordVectors],
    sets: Sequence[str | Path | LabelledDocuments],
    *,
    weightings: Sequence[Weighting] = ("length",),
    seeds: Sequence[int] = (0, 1, 2),
    n_components: int = 300,
    n_axes: int | None = 30,
    limit: int | None = None,
    data: str | Path | None = None,
    on_row: Callable[[str], object] | None = None,
) -> ClusteringReport:
    """Cluster documents by K-means with as many clusters as there are labels.

    Every model goes the same way: vectors of words at length 1, their weighted mean per document, scaled to
    length 1, the main axes of all documents, again scaled to length 1, K-means from each of the seeds. With
    the weighting "raw" it is the paper's way: the mean of the vectors as they are, and K-means.

    Parameters
    ----------
    sets
        Names or files of labelled documents, see `load_documents`, or the documents themselves.
    weightings
        "mean", "length" or "idf", see `OmniVectorizer`, or "raw"; a row of the table for each.
    n_components
        Most numbers of a vector; longer ones are turned onto their strongest common patterns.
    n_axes
        Keep the main axes (PCA) of the documents' vectors; None: cluster the vectors themselves.
    limit
        Draw at most so many documents of each set.
    """
    if not models or not sets or not seeds:
        raise ParameterError("evaluate_clustering needs at least one model, one set and one seed.")
    for seed in seeds:
        check_integer("evaluate_clustering", "seeds", seed, 0)
    if n_axes is not None:
        check_integer("evaluate_clustering", "n_axes", n_axes, 1)
    notes: list[str] = []
    found: dict[tuple[str, str], list[SetClustering]] = {}
    raw: dict[str, NDArray[np.float32]] = {}
    for source in sets:
        documents = source if isinstance(source, LabelledDocuments) else load_documents(source, data)
        measured = _Measured(documents.sample(limit), notes, n_axes)
        for name, vectors in models.items():
            for weighting in weightings:
                if on_row:
                    on_row(f"{documents.name}: {name}, {weighting}")
                if weighting == "raw":
                    if name not in raw:
                        raw[name] = raw_rows(vectors, n_components)
                    rows = measured.raw_documents(vectors, raw[name])
                else:
                    rows = measured.documents(vectors, weighting, n_components)
                found.setdefault((name, weighting), []).append(measured.cluster(rows, seeds))
    notes += [f"{name}: {_raw_note(vectors, raw[name])}" for name, vectors in models.items() if name in raw]
    results = tuple(_row(model, weighting, parts) for (model, weighting), parts in found.items())
    return ClusteringReport(
        results, tuple(seeds), n_components, n_axes, (_pipeline(n_axes), *dict.fromkeys(notes))
    )


class _Measured:
    """A set whose words are counted once per vocabulary."""

    def __init__(self, documents: LabelledDocuments, notes: list[str], n_axes: int | None) -> None:
        self._documents, self._notes, self._n_axes = documents, notes, n_axes
        names, self._labels = np.unique(np.array(documents.labels), return_inverse=True)
        self._n_labels = len(names)
        if self._n_labels < 2:
            raise ParameterError(
                f"{documents.name} has one label only, {documents.labels[0]!r}; nothing to cluster."
            )
        self._notes.extend(documents.notes)
        if self._n_labels == len(self._labels):
            notes.append(
                f"{documents.name}: each document has a label of its own, so any vectors that differ score 1"
            )
        if self._n_labels > MOST_PLACED_CLUSTERS:
            notes.append(
                f"{documents.name}: K-means starts from {self._n_labels:,} random documents, not k-means++"
            )
        self._counts: dict[tuple[str, ...], Any] = {}

    def documents(
        self, vectors: WordVectors, weighting: Literal["mean", "length", "idf"], n_components: int
    ) -> NDArray[np.float32]:
        """Make a row per document, of length 1, on the main axes of all of them."""
        vectorizer = OmniVectorizer(vectors, weighting=weighting, n_components=n_components, unit_length=True)
        rows: NDArray[np.float32] = vectorizer.fit_transform_counts(self._counted(vectors))
        return rows if self._n_axes is None else main_axes(rows, self._n_axes)

    def raw_documents(self, vectors: WordVectors, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Average the rows of each document's words; zeros where none is known."""
        counts = self._counted(vectors)
        totals = np.maximum(np.asarray(counts.sum(axis=1), dtype=np.float32), 1)
        return np.asarray((counts @ rows) / totals, dtype=np.float32)

    def cluster(self, rows: NDArray[np.float32], seeds: Sequence[int]) -> SetClustering:
        """Compare clusters of rows with the labels."""
        from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

        clusters = [_k_means(rows, self._n_labels, seed) for seed in seeds]
        nmi = [normalized_mutual_info_score(self._labels, found) for found in clusters]
        ari = [adjusted_rand_score(self._labels, found) for found in clusters]
        return SetClustering(self._documents.name, _spread(nmi), _spread(ari))

    def _counted(self, vectors: WordVectors) -> Any:
        words = tuple(vectors.index_to_key)
        if words not in self._counts:
            counts, coverage = count_words(self._documents.texts, vectors.key_to_index)
            self._counts[words] = counts
            self._notes.append(f"{self._documents.name}: {coverage}")
        return self._counts[words]


def raw_rows(vectors: WordVectors, n_components: int) -> NDArray[np.float32]:
    """Return vectors as they are; those of more numbers turned onto their `n_components` strongest patterns.

    Documents of 40,000 numbers each would not fit into memory. Patterns are those of some vectors, spread
    over the vocabulary. Turning keeps distances, but for what lies outside of them, see `_raw_note`.
    """
    if vectors.vector_size <= n_components:
        return np.asarray(vectors.matrix[:], dtype=np.float32)
    spread = np.unique(np.linspace(0, len(vectors) - 1, _SAMPLED_ROWS).astype(np.intp))
    patterns = truncated_svd(vectors.matrix[spread].astype(np.float32), n_components).right
    blocks = (
        vectors.matrix[start : start + _ROWS_AT_ONCE].astype(np.float32) @ patterns
        for start in range(0, len(vectors), _ROWS_AT_ONCE)
    )
    return np.concatenate(list(blocks))


def _raw_note(vectors: WordVectors, rows: NDArray[np.float32]) -> str:
    if rows.shape[1] == vectors.vector_size:
        return "raw vectors, their mean per document, K-means"
    # Turning onto orthonormal patterns only loses length: the share of squares that is left says how much.
    kept = float(np.sum(rows.astype(np.float64) ** 2)) / max(float(np.sum(vectors.lengths.norms**2)), 1e-300)
    return (
        f"raw vectors on their {rows.shape[1]} strongest patterns, which hold {kept:.2%} of the sum of their "
        "squares; their mean per document, K-means"
    )


def main_axes(rows: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Scale centred rows to length 1, turn them onto their main axes, and scale them again."""
    rows = unit_rows(rows - rows.mean(axis=0))
    # Centred once more: scaling to length 1 has moved the mean.
    rows = rows - rows.mean(axis=0)
    _, axes = np.linalg.eigh(rows.T @ rows)  # eigenvalues ascend
    return unit_rows(rows @ axes[:, ::-1][:, :count])


def _pipeline(n_axes: int | None) -> str:
    axes = f", {n_axes} main axes of all documents of a set, scaled to length 1" if n_axes else ""
    return f"all models alike: weighted mean of words at length 1, scaled to length 1{axes}, K-means"


def _k_means(rows: NDArray[np.float32], n_clusters: int, seed: int) -> NDArray[np.int32]:
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    placing = "k-means++" if n_clusters <= MOST_PLACED_CLUSTERS else "random"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # equal documents leave clusters empty
        found: NDArray[np.int32] = KMeans(n_clusters, init=placing, n_init=1, random_state=seed).fit_predict(
            rows
        )
    return found


def _spread(values: Sequence[float]) -> Spread:
    deviation = float(np.std(values)) if len(values) > 1 else None
    return Spread(float(np.mean(values)), deviation)


def _row(model: str, weighting: str, parts: Sequence[SetClustering]) -> ModelClustering:
    nmi, ari = (float(np.mean([getattr(part, score).mean for part in parts])) for score in ("nmi", "ari"))
    return ModelClustering(model, weighting, tuple(parts), nmi, ari)
