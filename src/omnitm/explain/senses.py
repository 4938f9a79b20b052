"""The senses of a word: groups of its documents that differ in what they are about and in how they use it.

A document is what `omnitm.explain.contexts` says of it: what it is about, and how it uses the word. The
documents with a word are divided into many small groups (along the direction in which they differ most, then
by spherical k-means, Dhillon & Modha 2001). Then groups are joined that have something in common, and in
which the same words could stand in the place of the word. What is left must be found again in half of the
documents; nothing is drawn. Where topics were learned from passages, passages take the place of documents.
Without either, it is the features that stand out in the word's vector.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus.index import Unit
from omnitm.corpus.passages import Counted
from omnitm.explain.contexts import Contexts, Substitutes, bags_of
from omnitm.explain.evidence import Document, read_documents, spread, spread_over_documents
from omnitm.explain.matches import Match, evidence_of, match_rule
from omnitm.explain.records import Record
from omnitm.similarity.combined import Combined
from omnitm.similarity.row_profile import baseline_of, unit_rows
from omnitm.vectors import WordVectors

Reals = NDArray[np.float32]
Numbers = NDArray[np.intp]

_FEATURES = 150  # that stand out most, and are divided among the senses
# Chosen on pseudowords for development (benchmarks/senses.py) and by reading the senses of forty words.
_SMALL_GROUPS = 12  # that documents are divided into before those that are alike are joined
# Two groups are one sense if cosine of means / the first + cosine of substitutes / the second is 1 or more.
_IN_COMMON = 0.25
_SAME_SUBSTITUTES = 0.25
_COHERENT = 0.05  # at least: mean cosine of two documents of a sense, by what they are about ...
_LARGE_SHARE = 0.3  # ... unless the sense has this share of the documents
_FOUND_AGAIN = 0.4  # at least: Jaccard index with groups found in half of the documents, mean of both halves
_LEAST_SHARE = 0.02  # of the documents
_FEWEST = 15  # documents, or features, of a sense
_MOST_SENSES = 8  # people tell no more apart in a table
_STEPS = 10  # of k-means, and of the power iteration before it
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
    unit
        What was looked at: "documents", or "passages" where topics were learned from these.
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
    unit: Unit = "documents"

    def caption(self) -> str:
        """Return how many senses there are, and in how many documents."""
        counted = f", in {self.n_assigned:,} {self.unit}" if self.n_documents else ""
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


def word_senses(vectors: WordVectors, contexts: Contexts, index: Counted | None, word: str) -> WordSenses:
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
    substitutes = contexts.substitutes and contexts.substitutes.without({word, *vectors.forms(word)})
    centres = centres_of(said[spread(np.arange(len(said), dtype=np.uint32), _DIVIDED)], substitutes)
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


def centres_of(said: Reals, substitutes: Substitutes | None = None) -> Reals:
    """Divide documents into senses, and return the centres: senses x dimensions, at length 1."""
    rows = unit_rows(said[said.any(axis=1)])
    fewest = max(_FEWEST, _LEAST_SHARE * len(rows))
    groups = _senses(rows, fewest, substitutes)
    if groups.max(initial=0) > 0:
        groups = _found_again(rows, groups, fewest, substitutes)
    return _centres(rows, groups)


def _senses(rows: Reals, fewest: float, substitutes: Substitutes | None) -> Numbers:
    """Divide rows of length 1 into many small groups, and join those that are alike."""
    if len(rows) < 2 * fewest:
        return np.zeros(len(rows), dtype=np.intp)
    small = _small_groups(rows, fewest / 2)
    sizes = np.bincount(small)
    n_places = 0 if substitutes is None else substitutes.rows.shape[1]
    about = unit_rows(rows[:, : rows.shape[1] - n_places])
    sums, sums_about = (_member(small).T @ part for part in (rows, about))
    kinds = None if substitutes is None else substitutes.kinds(sums[:, -n_places:])
    senses = np.arange(len(sizes))
    while senses.max(initial=0) > 0:
        member = _member(senses)
        counts = member.T @ sizes
        means, means_about = ((member.T @ part) / counts[:, None] for part in (sums, sums_about))
        pair = _to_join(means, _squares(means_about, counts), counts, fewest, kinds)
        if pair is None:
            break
        one, other = pair
        senses = _joined(senses, one, other)
        if substitutes is not None and kinds is not None:  # those of other groups stay as they are
            both = counts[one] * means[one] + counts[other] * means[other]
            kinds[other] = substitutes.kinds(both[None, -n_places:])[0]
            kinds = np.delete(kinds, one, axis=0)
    return senses[small]


def _small_groups(rows: Reals, fewest: float) -> Numbers:
    """Divide the group with most scatter in two until there are so many; then k-means of all groups."""
    groups = np.zeros(len(rows), dtype=np.intp)
    whole: set[int] = set()  # groups that cannot be divided
    while groups.max(initial=0) + 1 < _SMALL_GROUPS:
        sizes = np.bincount(groups)
        means = (_member(groups).T @ rows) / sizes[:, None]
        scatter = sizes * (1 - _squares(means, sizes))
        scatter[[*whole]] = 0
        group = int(scatter.argmax())
        if scatter[group] <= 0:
            break
        members = np.flatnonzero(groups == group)
        halves = two_groups(rows[members])
        if np.bincount(halves, minlength=2).min() < fewest:
            whole.add(group)
            continue
        groups[members[halves == 1]] = len(sizes)
    return np.unique(_k_means(rows, groups), return_inverse=True)[1]


def _to_join(
    means: Reals, squares: Reals, sizes: NDArray[Any], fewest: float, kinds: Reals | None
) -> tuple[int, int] | None:
    """Choose two groups to be joined; None if all are senses.

    First those that are too small, then those that are most alike, then those that are about nothing in
    particular: `squares` say how much the documents of each group have in common by what they are about,
    `kinds` which kind of word is used in it.
    """
    cosines = _cosines(means, sizes)
    too_small = np.flatnonzero(sizes < fewest)
    if len(too_small):
        group = int(too_small[sizes[too_small].argmin()])
        return group, int(cosines[group].argmax())
    alike = cosines / _IN_COMMON
    if kinds is not None:
        alike += kinds @ kinds.T / _SAME_SUBSTITUTES
    one, other = np.unravel_index(int(alike.argmax()), alike.shape)
    if alike[one, other] >= 1 or len(sizes) > _MOST_SENSES:
        return int(one), int(other)
    vague = (sizes < _LARGE_SHARE * sizes.sum()) & (squares < _COHERENT)
    if not vague.any():
        return None
    group = int(np.where(vague, squares, np.inf).argmin())
    return group, int(cosines[group].argmax())


def _found_again(rows: Reals, groups: Numbers, fewest: float, substitutes: Substitutes | None) -> Numbers:
    """Join groups that are not found again in half of the documents with the nearest other group."""
    again = []
    for half in (rows[::2], rows[1::2]):
        found = _centres(half, _senses(half, fewest / 2, substitutes))
        shared = _member(groups).T @ _member((rows @ found.T).argmax(axis=1))
        # Jaccard index: documents of both groups / documents of either.
        either = shared.sum(axis=1, keepdims=True) + shared.sum(axis=0) - shared
        again.append((shared / either).max(axis=1))
    scores = np.mean(again, axis=0)
    while len(scores) > 1 and scores.min() < _FOUND_AGAIN:
        group = int(scores.argmin())
        sizes = np.bincount(groups)
        cosines = _cosines((_member(groups).T @ rows) / sizes[:, None], sizes)
        groups = _joined(groups, group, int(cosines[group].argmax()))
        scores = np.delete(scores, group)
    return groups


def _joined(groups: Numbers, one: int, other: int) -> Numbers:
    """Give the members of one group to the other; groups after it are numbered anew."""
    found = np.where(groups == one, other, groups)
    return found - (found > one)


def two_groups(rows: Reals) -> Numbers:
    """Divide rows of length 1 in two: along the direction in which they differ most, then by k-means."""
    mean = rows.mean(axis=0)
    # The first principal axis by power iteration, from the row that is farthest from the mean: k-means needs
    # no more than its direction. |r - m|^2 = 1 - 2 r m + |m|^2 is largest where r m is smallest.
    axis = rows[np.argmin(rows @ mean)] - mean
    for _ in range(_STEPS):
        # C' C a with C = R - 1 m', without a copy of the rows; the sum of C a is 0.
        along = rows @ axis - mean @ axis
        axis = unit_rows(along @ rows)
    return _k_means(rows, (rows @ axis - mean @ axis > 0).astype(np.intp))


def _k_means(rows: Reals, groups: Numbers) -> Numbers:
    for _ in range(_STEPS):
        nearest = (rows @ _centres(rows, groups).T).argmax(axis=1)
        if (nearest == groups).all():
            break
        groups = nearest
    return groups


def _member(groups: Numbers) -> Reals:
    """Say which rows belong to which group: rows x groups, 1 or 0."""
    return np.eye(int(groups.max(initial=0)) + 1, dtype=np.float32)[groups]


def _centres(rows: Reals, groups: Numbers) -> Reals:
    return unit_rows(_member(groups).T @ rows)


def _squares(means: NDArray[Any], sizes: NDArray[Any]) -> Reals:
    """Return the squared lengths of means of rows of length 1: how much two of the rows have in common."""
    squares = (means**2).sum(axis=1)
    # A mean of n rows of length 1 is too long by chance: E|mean|^2 = m^2 + (1 - m^2) / n, solved for m^2.
    found: Reals = np.maximum(squares - (1 - squares) / np.maximum(sizes - 1, 1), 1e-9)
    return found


def _cosines(means: NDArray[Any], sizes: NDArray[Any]) -> Reals:
    """Return the cosines of means, as if of many rows each; a group is not compared with itself."""
    lengths = np.sqrt(_squares(means, sizes))
    cosines: Reals = means @ means.T / np.outer(lengths, lengths)
    np.fill_diagonal(cosines, -np.inf)
    return cosines


def senses_of(
    vectors: WordVectors,
    contexts: Contexts,
    index: Counted | None,
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
                documents=read_documents(
                    index, spread_over_documents(index, found.clear_documents(number), n_documents)
                ),
            )
        )
    return Senses(word, tuple(described), len(found.documents), n_assigned, index.unit)


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
