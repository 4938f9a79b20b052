"""The senses of a word: groups of its documents that have nothing in common.

A document is what `omnitm.explain.contexts` says of it: what it is about, and how it uses the word. The
documents with a word are divided in two along the direction in which they differ most (then by spherical
k-means, Dhillon & Modha 2001), as long as the parts have next to nothing in common, and half of the documents
and the other half are divided alike; nothing is drawn. Without documents, the features that stand out
in the word's vector take their place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus import DocumentIndex
from omnitm.explain.contexts import Contexts, bags_of
from omnitm.explain.evidence import Document, read_documents, spread
from omnitm.explain.matches import Match, evidence_of, match_rule
from omnitm.explain.records import Record
from omnitm.similarity.combined import Combined
from omnitm.similarity.row_profile import baseline_of, unit_rows
from omnitm.vectors import WordVectors

Reals = NDArray[np.float32]
Numbers = NDArray[np.intp]

_FEATURES = 150  # that stand out most, and are divided among the senses
# Chosen on pseudowords for development (benchmarks/senses.py) and by reading the senses of thirty words.
_IN_COMMON = 0.2  # at most: cosine of the means of two new senses, measured from the usual
_IN_COMMON_LATER = 0.4  # the same of all senses, after documents have moved between them
_ALIKE = 0.5  # at least: adjusted Rand index of two divisions, each found in half of the documents
_LEAST_SHARE = 0.05  # of the documents
_FEWEST = 5  # documents, or features, of a sense
_MOST_SENSES = 8  # people tell no more apart in a table
_STEPS = 30  # of k-means
_TRIED = 10  # features, for the rule of a sense
_CLEAR = 4  # one of so many documents, the clearest, is shown as an example
_DOCUMENTS = 20_000  # at most so many are assigned to senses, evenly spread
_DIVIDED = 5_000  # and so many decide what the senses are


@dataclass(frozen=True)
class Sense(Record):
    """One sense of a word.

    Attributes
    ----------
    number
        From 1 on; the one with most documents is the first.
    features
        The features of the word's vector that its documents have most often, those that tell most first,
        and how far they stand out.
    share
        Of the documents with the word and any other known word; None without an index.
    neighbours
        The words nearest to the vector of the sense.
    rule, match
        The word that tells most of the sense in single documents, and what it is worth.
    documents
        Some documents that clearly belong to the sense.
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
        Documents with the word that were looked at, and those of them that have another known word.
    """

    TABLE = ("senses",)
    SHOWN: ClassVar[Mapping[str, str]] = {
        "number": "sense",
        "share": "share",
        "features": "features",
        "neighbours": "neighbours",
        "rule": "rule",
        "lift": "lift",
    }
    SHARES = ("share",)

    word: str
    senses: tuple[Sense, ...]
    n_documents: int = 0
    n_assigned: int = 0

    def caption(self) -> str:
        """Return how many senses there are, and in how many documents."""
        counted = f", in {self.n_assigned:,} documents" if self.n_documents else ""
        return f"{self.word}: {len(self.senses)} {'sense' if len(self.senses) == 1 else 'senses'}{counted}"


@dataclass(frozen=True, eq=False)
class WordSenses:
    """What tells the senses of a word apart.

    Attributes
    ----------
    centres
        senses x dimensions: their mean documents, at length 1.
    columns, deviations, groups
        The features that stand out in the word's vector, those that the documents of their sense bear out
        most first (without documents: the strongest): how far, and of which sense.
    documents, assigned
        The documents with the word that were looked at, and the sense of each from 0 on; -1: no word in it
        says anything.
    clearness
        How much higher the score of its sense is than the next, per document; with one sense, the score.
    """

    centres: Reals
    columns: Numbers
    deviations: NDArray[np.float64]
    groups: Numbers
    documents: NDArray[np.uint32]
    assigned: Numbers
    clearness: Reals

    @property
    def n_senses(self) -> int:
        """How many senses the word has."""
        return len(self.centres)

    def clear_documents(self, sense: int) -> NDArray[np.uint32]:
        """Return the quarter of the documents of a sense that belong to it most clearly, in their order."""
        members = np.flatnonzero(self.assigned == sense)
        clear = np.argsort(-self.clearness[members], kind="stable")[: -(-len(members) // _CLEAR)]
        return self.documents[members[np.sort(clear)]]


def word_senses(
    vectors: WordVectors, contexts: Contexts, index: DocumentIndex | None, word: str
) -> WordSenses:
    """Tell the senses of a word apart."""
    deviations = Combined("related").deviations(vectors, vectors.get_index(word))[: vectors.vector_size]
    own = np.array([vectors.feature_index(name) for name in (word, *vectors.forms(word))], dtype=np.intp)
    columns = _standing_out(contexts, deviations, own)
    rows = contexts.topic.by_features(columns)
    if index is None:
        centres = centres_of(rows)
        nothing = np.zeros(0, dtype=np.uint32), np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.float32)
        return WordSenses(centres, columns, deviations[columns], (rows @ centres.T).argmax(axis=1), *nothing)
    mine = np.array(spread(index.documents_with(index.word_id(word)), _DOCUMENTS), dtype=np.uint32)
    bags = bags_of(index, mine, own)
    said = contexts.of_documents(index, mine, word, bags)
    centres = centres_of(said[spread(np.arange(len(said), dtype=np.uint32), _DIVIDED)])
    assigned = assigned_to(said, centres)
    # Senses are numbered by size; `argsort(order)` is the new number of each old one.
    order = np.argsort(-np.bincount(assigned[assigned >= 0], minlength=len(centres)), kind="stable")
    centres, assigned = centres[order], np.where(assigned >= 0, np.argsort(order)[assigned], -1)
    having = bags[:, columns]
    groups = _most_often(having, assigned, rows @ centres[:, : rows.shape[1]].T)
    shares = index.document_frequencies[columns] / index.n_documents
    # What stands out most are rare words, which tell a reader little; documents bear out the telling ones.
    order = np.argsort(-_evidence(having, assigned, groups, shares), kind="stable")
    columns, groups = columns[order], groups[order]
    clearness = _clearness(said @ centres.T)
    return WordSenses(centres, columns, deviations[columns], groups, mine, assigned, clearness)


def _clearness(scores: Reals) -> Reals:
    """Subtract the second highest score of each document from its highest; one score stays as it is."""
    ordered = np.sort(scores, axis=1)
    found: Reals = ordered[:, -1] - ordered[:, -2] if scores.shape[1] > 1 else ordered[:, 0]
    return found


def _standing_out(contexts: Contexts, deviations: NDArray[np.float64], own: Numbers) -> Numbers:
    """Choose the features that stand out most, of those that say something."""
    order = np.argsort(-deviations, kind="stable")[: 2 * _FEATURES]
    kept = (deviations[order] > 1) & (contexts.topic.weights[order] > 0) & ~np.isin(order, own)
    return order[kept][:_FEATURES]


def _most_often(bags: Any, assigned: Numbers, scores: Reals) -> Numbers:
    """Give each feature to the sense whose documents have it most often; to the likeliest if none has it."""
    n_senses = scores.shape[1]
    known = assigned >= 0
    member = np.eye(n_senses, dtype=np.float32)[assigned[known]]
    counts = np.asarray(bags[known].T @ member)
    rates = counts / np.maximum(member.sum(axis=0), 1)
    found: Numbers = np.where(counts.any(axis=1), rates.argmax(axis=1), scores.argmax(axis=1))
    return found


def _evidence(
    bags: Any, assigned: Numbers, groups: Numbers, shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Measure how much the documents of its sense bear each feature out, as `evidence_of` does for rules.

    `bags` are documents x features, `shares` of all documents have each feature.
    """
    member = (assigned[:, None] == np.arange(int(groups.max(initial=0)) + 1)).astype(np.float32)
    hits = np.asarray(bags.T @ member)[np.arange(len(groups)), groups]
    expected = shares * member.sum(axis=0)[groups]
    found: NDArray[np.float64] = np.log2((hits + 1) / (expected + 1))
    return found


def assigned_to(said: Reals, centres: Reals) -> Numbers:
    """Assign documents to the centre with the highest product; -1: no word in them says anything."""
    return np.where(said.any(axis=1), (said @ centres.T).argmax(axis=1), -1)


def centres_of(said: Reals) -> Reals:
    """Divide documents into senses, and return the centres: senses x dimensions, at length 1."""
    rows = unit_rows(said[said.any(axis=1)])
    groups = np.zeros(len(rows), dtype=np.intp)
    fewest = max(_FEWEST, _LEAST_SHARE * len(rows))
    # Groups are divided breadth first; both parts of a divided group are tried again.
    waiting = [0]
    while waiting and groups.max(initial=0) + 1 < _MOST_SENSES:
        group = waiting.pop(0)
        divided = _divided(rows, groups, group, fewest)
        if divided is not None:
            groups = divided
            waiting += [group, int(groups.max())]
    return _centres(rows, groups)


def _divided(rows: Reals, groups: Numbers, group: int, fewest: float) -> Numbers | None:
    """Divide a group in two; None if the parts are small, have something in common, or depend on chance."""
    members = np.flatnonzero(groups == group)
    if len(members) < 2 * fewest:
        return None
    halves = two_groups(rows[members])
    if not _differ(rows[members], halves, fewest, _IN_COMMON) or not _is_found_again(rows[members]):
        return None
    found = groups.copy()
    found[members[halves == 1]] = groups.max() + 1
    found = _k_means(rows, found)
    # k-means of all groups moves documents between them, so all pairs are looked at again, with more
    # tolerance.
    return found if _differ(rows, found, fewest, _IN_COMMON_LATER) else None


def two_groups(rows: Reals) -> Numbers:
    """Divide rows of length 1 in two: along the direction in which they differ most, then by k-means."""
    centred = rows - rows.mean(axis=0)
    # The first principal axis by power iteration, from the row that is farthest from the mean: k-means needs
    # no more than its direction.
    axis = centred[np.argmax((centred**2).sum(axis=1))]
    for _ in range(_STEPS):
        axis = unit_rows(centred.T @ (centred @ axis))
    return _k_means(rows, (centred @ axis > 0).astype(np.intp))


def _is_found_again(rows: Reals) -> bool:
    """Whether two halves of the rows divide all rows in two alike: for two of three ways to halve them."""
    numbers = np.arange(len(rows))
    alike = []
    # Every second row; every second pair of rows; and pairs that begin one row later.
    for half in (numbers % 2, numbers // 2 % 2, (numbers + 1) // 2 % 2):
        parts = (rows[half == 0], rows[half == 1])
        centres = [_centres(part, two_groups(part)) for part in parts]
        alike.append(adjusted_rand_index(*((rows @ found.T).argmax(axis=1) for found in centres)))
    return bool(np.median(alike) >= _ALIKE)


def adjusted_rand_index(one: Numbers, other: Numbers) -> float:
    """Compare two divisions by the pairs that both keep together (Hubert & Arabie 1985).

    1: alike; 0: as by chance, or no division.
    """
    table = np.zeros((int(one.max()) + 1, int(other.max()) + 1))
    np.add.at(table, (one, other), 1)
    pairs, first, second, all_pairs = (
        float((counts * (counts - 1) / 2).sum())
        for counts in (table, table.sum(axis=1), table.sum(axis=0), table.sum())
    )
    expected, most = first * second / max(all_pairs, 1.0), (first + second) / 2
    return (pairs - expected) / (most - expected) if most > expected else 0.0


def _k_means(rows: Reals, groups: Numbers) -> Numbers:
    for _ in range(_STEPS):
        nearest = (rows @ _centres(rows, groups).T).argmax(axis=1)
        if (nearest == groups).all():
            break
        groups = nearest
    return groups


def _centres(rows: Reals, groups: Numbers) -> Reals:
    member = np.eye(int(groups.max(initial=0)) + 1, dtype=np.float32)[groups]
    return unit_rows(member.T @ rows)


def _differ(rows: Reals, groups: Numbers, fewest: float, in_common: float) -> bool:
    """Whether all groups are large, and no two of them have much in common.

    The squared length of a mean of n rows of length 1 is too large by (1 - squared length) / (n - 1).
    """
    sizes = np.bincount(groups)
    if len(sizes) < 2 or sizes.min() < fewest:
        return False
    member = np.eye(len(sizes))[groups] / sizes
    means = member.T @ rows
    products = means @ means.T
    squares = np.diag(products)
    # A mean of n rows of length 1 is too long by chance: E|mean|^2 = m^2 + (1 - m^2) / n, solved for m^2.
    true = np.maximum(squares - (1 - squares) / np.maximum(sizes - 1, 1), 1e-9)
    cosines = products / np.sqrt(np.outer(true, true))
    return bool(cosines[np.triu_indices(len(sizes), 1)].max() < in_common)


def senses_of(
    vectors: WordVectors,
    contexts: Contexts,
    index: DocumentIndex | None,
    word: str,
    *,
    n: int = 8,
    n_documents: int = 1,
) -> Senses:
    """Describe the senses of a word."""
    found = word_senses(vectors, contexts, index, word)
    senses = tuple(_sense(vectors, found, word, number, n) for number in range(found.n_senses))
    if index is None:
        return Senses(word, senses)
    n_assigned = int((found.assigned >= 0).sum())
    described = []
    for number, sense in enumerate(senses):
        n_mine = int((found.assigned == number).sum())
        tried = [name for name, _ in sense.features[:_TRIED]]
        matches = [match_rule(index, word, [name], (), 0) for name in tried]
        best = max(range(len(tried)), key=lambda k: evidence_of(matches[k]), default=None)
        described.append(
            replace(
                sense,
                share=n_mine / max(n_assigned, 1),
                rule="" if best is None else tried[best],
                match=None if best is None else matches[best],
                documents=read_documents(index, spread(found.clear_documents(number), n_documents)),
            )
        )
    return Senses(word, tuple(described), len(found.documents), n_assigned)


def _sense(vectors: WordVectors, found: WordSenses, word: str, number: int, n: int) -> Sense:
    members = found.groups == number
    names = [vectors.feature_names[k] for k in found.columns[members].tolist()]
    features = tuple(zip(names, found.deviations[members].tolist(), strict=True))
    left_out = {word, *vectors.forms(word)}
    nearest = vectors.most_similar(
        [sense_vector(vectors, word, found, number)], topn=n + len(left_out), metric="related"
    )
    pairs = cast("list[tuple[str, float]]", nearest)
    return Sense(
        number + 1, features, neighbours=tuple(pair for pair in pairs if pair[0] not in left_out)[:n]
    )


def sense_vector(vectors: WordVectors, word: str, found: WordSenses, number: int) -> NDArray[Any]:
    """Return the topic vector of a word with the features of one sense; all others at the row's baseline."""
    row = vectors.get_vector(word)
    members = found.columns[found.groups == number]
    vector = np.full_like(row, round(baseline_of(row)))
    vector[members] = row[members]
    return vector
