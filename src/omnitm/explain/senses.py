"""The senses of a word: groups of the features that stand out in its vector.

A word that means two things leans on two groups of words that have little to do with each other. The
strongest features are the nodes of a graph, their similarity as words its edges; the groups are found by
moving nodes to the neighbouring group that raises modularity most (Blondel et al. 2008), in a fixed order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from omnitm.explain.evidence import read_documents, spread
from omnitm.explain.matching import document_lengths, words_of_documents
from omnitm.explain.records import Record
from omnitm.explain.words import Match, evidence_of, match_rule
from omnitm.similarity.combined import Combined
from omnitm.similarity.row_profile import baseline_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex
    from omnitm.explain.evidence import Document
    from omnitm.vectors import WordVectors

    Reals = NDArray[np.float64]

_FEATURES = 150
_MODULARITY = 0.18  # of a partition; below, groups are noise, and the word has one sense
_SAME = 0.45  # cosine of the means of two groups; from here on they are parts of one sense
_SMALLEST = 5  # features of a sense
_LEAST_SHARE = 0.05  # of the weight of all features
_TRIED = 10  # features, for the rule of a sense
_DOCUMENTS = 20_000  # at most so many are assigned to senses, evenly spread


@dataclass(frozen=True)
class Sense(Record):
    """One sense of a word.

    Attributes
    ----------
    number
        From 1 on; the sense whose features stand out most, all together, is the first.
    features
        The words that it is made of and their weights, the strongest first.
    share
        Of the documents with the word that have a feature of any sense; None without an index.
    neighbours
        The words nearest to the vector of the sense.
    rule, match
        The word that tells most of the sense in single documents, and what it is worth.
    documents
        Some documents of the sense.
    """

    number: int
    features: tuple[tuple[str, float], ...]
    share: float | None = None
    neighbours: tuple[tuple[str, float], ...] = ()
    rule: str = ""
    match: Match | None = None
    documents: tuple[Document, ...] = ()


@dataclass(frozen=True)
class Senses(Record):
    """All senses of a word.

    Attributes
    ----------
    n_documents, n_assigned
        Documents with the word that were looked at, and those of them that have a feature of a sense.
    """

    TABLE = ("senses",)

    word: str
    senses: tuple[Sense, ...]
    n_documents: int = 0
    n_assigned: int = 0


@dataclass(frozen=True, eq=False)
class SenseFeatures:
    """Features of a word by sense: columns, weights, and the sense of each, from 0 on."""

    columns: NDArray[np.intp]
    weights: Reals
    groups: NDArray[np.intp]

    @property
    def n_senses(self) -> int:
        """How many senses the word has."""
        return int(self.groups.max(initial=0)) + 1

    def scores(self, columns: NDArray[Any], owners: NDArray[np.int64], n_owners: int) -> Reals:
        """Add the weights of words by their owner, a document, and sense: owners x senses."""
        found: Reals = np.zeros((n_owners, self.n_senses))
        if not len(self.columns):
            return found
        order = np.argsort(self.columns)
        places = np.minimum(np.searchsorted(self.columns[order], columns), len(order) - 1)
        known = self.columns[order][places] == columns
        features = order[places[known]]
        np.add.at(found, (owners[known], self.groups[features]), self.weights[features])
        return found

    def of_documents(self, index: DocumentIndex, documents: NDArray[np.uint32]) -> NDArray[np.intp]:
        """Assign documents to senses by the weights of their words; -1: it has no feature of any."""
        owners = np.repeat(np.arange(len(documents)), document_lengths(index, documents))
        scores = self.scores(words_of_documents(index, documents), owners, len(documents))
        return np.where(scores.max(axis=1) > 0, scores.argmax(axis=1), -1)


def sense_features(vectors: WordVectors, word: str) -> SenseFeatures:
    """Group the features that stand out in a word's vector."""
    deviations = Combined("related").deviations(vectors, vectors.get_index(word))
    forms = {vectors.feature_index(name) for name in (word, *vectors.forms(word))}
    return grouped_features(vectors, deviations[: len(vectors.feature_names)], forms)


def grouped_features(
    vectors: WordVectors, deviations: Reals, left_out: Collection[int] = ()
) -> SenseFeatures:
    """Group the features that stand out, by how far each does; they must be trained words themselves."""
    names = vectors.feature_names
    strongest = [
        k
        for k in np.argsort(-deviations, kind="stable")[: 2 * _FEATURES].tolist()
        if deviations[k] > 1 and names[k] in vectors and k not in left_out
    ][:_FEATURES]
    columns = np.array(strongest, dtype=np.intp)
    weights = np.log1p(deviations[columns])
    if len(columns) < 2 * _SMALLEST:
        return SenseFeatures(columns, weights, np.zeros(len(columns), dtype=np.intp))
    rows = [vectors.get_index(names[k]) for k in strongest]
    smooth = vectors.profiles.topic.smooth[rows].astype(np.float64)
    groups = _large(_joined(_groups(_graph(smooth)), smooth), weights)
    kept = groups >= 0
    return SenseFeatures(columns[kept], weights[kept], groups[kept])


def senses_of(
    vectors: WordVectors, index: DocumentIndex | None, word: str, *, n: int = 8, n_documents: int = 1
) -> Senses:
    """Describe the senses of a word."""
    found = sense_features(vectors, word)
    senses = tuple(_sense(vectors, found, word, number, n) for number in range(found.n_senses))
    if index is None:
        return Senses(word, senses)
    mine = index.documents_with(index.word_id(word))
    mine = np.array(spread(mine, _DOCUMENTS), dtype=np.uint32)
    assigned = found.of_documents(index, mine)
    n_assigned = int((assigned >= 0).sum())
    described = []
    for number, sense in enumerate(senses):
        documents = mine[assigned == number]
        tried = [name for name, _ in sense.features[:_TRIED]]
        matches = [match_rule(index, word, [name], (), 0) for name in tried]
        best = max(range(len(tried)), key=lambda k: evidence_of(matches[k]), default=None)
        described.append(
            replace(
                sense,
                share=len(documents) / max(n_assigned, 1),
                rule="" if best is None else tried[best],
                match=None if best is None else matches[best],
                documents=read_documents(index, spread(documents, n_documents)),
            )
        )
    return Senses(word, tuple(described), len(mine), n_assigned)


def _sense(vectors: WordVectors, found: SenseFeatures, word: str, number: int, n: int) -> Sense:
    members = found.groups == number
    names = [vectors.feature_names[k] for k in found.columns[members].tolist()]
    features = tuple(zip(names, found.weights[members].tolist(), strict=True))
    left_out = {word, *vectors.forms(word)}
    nearest = vectors.most_similar(
        [sense_vector(vectors, word, found, number)], topn=n + len(left_out), metric="related"
    )
    pairs = cast("list[tuple[str, float]]", nearest)
    return Sense(
        number + 1, features, neighbours=tuple(pair for pair in pairs if pair[0] not in left_out)[:n]
    )


def sense_vector(vectors: WordVectors, word: str, found: SenseFeatures, number: int) -> NDArray[Any]:
    """Return the topic vector of a word with the features of one sense; all others at the row's baseline."""
    row = vectors.get_vector(word)
    members = found.columns[found.groups == number]
    vector = np.full_like(row, round(baseline_of(row)))
    vector[members] = row[members]
    return vector


def _graph(rows: Reals) -> Reals:
    """Similarities of features, squared so that near ones count most; none with itself."""
    similar: Reals = np.maximum(rows @ rows.T, 0.0) ** 2
    np.fill_diagonal(similar, 0.0)
    return similar


def _groups(graph: Reals) -> NDArray[np.intp]:
    """Find the groups of nodes of the highest modularity that moving nodes and joining groups finds."""
    groups = np.arange(len(graph))
    merged = graph
    while True:
        moved = _moved(merged)
        groups = moved[groups]
        if len(moved) == moved.max() + 1:
            break
        member = np.eye(int(moved.max()) + 1)[moved]
        merged = member.T @ merged @ member
    if _modularity(graph, groups) < _MODULARITY:
        groups = np.zeros_like(groups)
    return groups.astype(np.intp)


def _joined(groups: NDArray[np.intp], rows: Reals) -> NDArray[np.intp]:
    """Join the two groups whose means are most similar, until no two are similar enough."""
    groups = groups.copy()
    while groups.max() > 0:
        means = np.stack([rows[groups == k].mean(axis=0) for k in range(groups.max() + 1)])
        means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-12)
        similar = np.triu(means @ means.T, k=1)
        first, second = np.unravel_index(int(similar.argmax()), similar.shape)
        if similar[first, second] < _SAME:
            break
        groups[groups == second] = first
        groups[groups > second] -= 1
    return groups


def _moved(graph: Reals) -> NDArray[np.intp]:
    """Move each node, in order, to the group where modularity is highest, until none moves."""
    degrees, total = graph.sum(axis=1), max(float(graph.sum()), 1e-12)
    groups, sums = np.arange(len(graph)), degrees.copy()
    moving = True
    while moving:
        moving = False
        for node in range(len(graph)):
            own = groups[node]
            sums[own] -= degrees[node]
            links = np.bincount(groups, weights=graph[node], minlength=len(graph))
            links[own] -= graph[node, node]
            gains = links - degrees[node] * sums / total
            best = int(np.argmax(gains))
            if gains[best] <= gains[own] + 1e-9:
                best = int(own)
            moving |= best != own
            groups[node] = best
            sums[best] += degrees[node]
    return np.unique(groups, return_inverse=True)[1].reshape(-1).astype(np.intp)


def _modularity(graph: Reals, groups: NDArray[np.intp]) -> float:
    total = max(float(graph.sum()), 1e-12)
    member = np.eye(int(groups.max()) + 1)[groups]
    within = member.T @ graph @ member
    return float(np.trace(within) / total - ((within.sum(axis=1) / total) ** 2).sum())


def _large(groups: NDArray[np.intp], weights: Reals) -> NDArray[np.intp]:
    """Give large groups numbers, the heaviest first; features of small ones belong to no sense: -1."""
    sums = np.bincount(groups, weights=weights)
    large = (np.bincount(groups) >= _SMALLEST) & (sums >= _LEAST_SHARE * sums.sum())
    order = [k for k in np.argsort(-sums, kind="stable").tolist() if large[k]] or [int(np.argmax(sums))]
    numbers = np.full(len(sums), -1, dtype=np.intp)
    numbers[order] = np.arange(len(order))
    return numbers[groups]
