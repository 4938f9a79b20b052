"""One word on two sides: how far its use differs, by which features, and how likely that is by chance."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from omnitm.comparison.features import Thinned, spread
from omnitm.comparison.machines import Drawn, draw_documents
from omnitm.comparison.shuffling import ShuffleTest, chance
from omnitm.comparison.sides import ALL_OTHERS, FEWEST_DOCUMENTS, Sides
from omnitm.corpus import DocumentIndex
from omnitm.corpus.groups import Grouping
from omnitm.corpus.running import OFFSETS, PATTERNS, parted
from omnitm.explain.evidence import read_documents
from omnitm.explain.records import Record
from omnitm.machine import AutoencoderSettings, Contexts
from omnitm.machine.settings import word_key
from omnitm.parameters import check_integer

N_PERMUTATIONS = 2_000
N_EXAMPLES = 250
N_SHOWN = 10
SURE = 0.05  # of p and q
EXCERPT = 240  # characters
_MOST_DOCUMENTS = 4_000  # with the word, per side
_MOST_TIMES = 3  # as many documents of one side as of the other: means of fewer are the noisier ones anyway
_BY_CHANCE = 0.2  # of the features that are named, at most
_OWNER = "compare"
_BETWEEN_SPACES = re.compile(r"\S+")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,80}>")  # such as <br />, which nobody wants to read


@dataclass(frozen=True)
class Change(Record):
    """A feature that the compared word goes with more, or less, on the second side.

    Attributes
    ----------
    name
        A word in the same document, or a coordinate of place such as `to _`.
    kind
        "topic" or "place".
    share
        Its part of the whole change; the shares of all features of both kinds add up to 1.
    p
        How often chance would share its documents out as unevenly, given how frequent it is on each side
        without the word: two-sided.
    lift_before, lift_after
        How many times as frequent it is with the word as without, on the first and on the second side.
    documents_before, documents_after
        Documents with both, of those that were compared.
    before, after
        How far it stands out in the word's profile on each side: in units of the profile's baseline.
    q
        Of the features of its kind and side that are at least as telling, the share that shuffled groups
        give, too.
    """

    name: str
    kind: str
    share: float
    p: float
    lift_before: float
    lift_after: float
    documents_before: int
    documents_after: int
    before: float
    after: float
    q: float

    def phrase(self, word: str) -> str:
        """Return the feature as it is read: a place with the compared word in it.

        >>> Change("waste * _", "place", 0.1, 0.01, 1.0, 2.0, 0, 9, 0.0, 1.0, 0.1).phrase("time")
        'waste … time'
        """
        return phrase(self.name, word)


def phrase(feature: str, word: str) -> str:
    """Return the name of a feature with a word in its place: `not _` of `even` is "not even"."""
    if " " not in feature:
        return feature
    column, other = parted(feature)
    parts = {"{}": other, "*": "…", "_": word}
    return " ".join(parts[part] for part in PATTERNS[column].split())


@dataclass(frozen=True)
class Excerpt(Record):
    """Part of a document that has the compared word and one of the features that it gained or lost.

    Attributes
    ----------
    number
        The document's place in the corpus, from 0.
    feature
        Its name; empty where none is named.
    """

    number: int
    feature: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Step(Record):
    """A word in one of several groups.

    Attributes
    ----------
    n_documents
        Documents of the group that have the word.
    profile
        How far features stand out in its profile there; empty if there are too few documents.
    """

    group: str
    n_documents: int
    profile: dict[str, float]


@dataclass(frozen=True)
class Comparison(Record):
    """How the use of a word differs between two sides.

    Attributes
    ----------
    first, second
        Names of the sides; "gained" is what the second has more of.
    n_first, n_second
        Documents with the word on each side.
    compared_first, compared_second
        Those that were compared: at most 4,000, and at most three times as many as on the other side.
    change
        Length of the change, squared: see `ShuffleTest`.
    strength
        By how many standard deviations the change exceeds that of shuffled groups: how sure it is.
    distance
        How large it is, whatever the number of documents: 0 is as shuffled groups, 2 the most there can be.
    p
        How often shuffled groups give at least this change, itself counted.
    gained, lost
        Features that make the change, the most telling first: at most one in five of them by chance.
    documents_first, documents_second
        Documents of each side that have the word and what it goes with there.
    trajectory
        The word in all groups, if there are more than two in an order.
    """

    TABLE: ClassVar[tuple[str, ...]] = ("gained", "lost")
    SHOWN: ClassVar[Mapping[str, str]] = {
        "list": "list",
        "name": "goes with",
        "share": "share",
        "p": "p",
        "q": "q",
        "documents_before": "documents before",
        "documents_after": "documents after",
        "lift_before": "lift before",
        "lift_after": "lift after",
    }

    word: str
    by: str
    first: str
    second: str
    n_first: int
    n_second: int
    compared_first: int
    compared_second: int
    change: float
    strength: float
    distance: float
    p: float
    n_permutations: int
    gained: tuple[Change, ...]
    lost: tuple[Change, ...]
    documents_first: tuple[Excerpt, ...] = ()
    documents_second: tuple[Excerpt, ...] = ()
    trajectory: tuple[Step, ...] = ()

    def caption(self) -> str:
        """Return what is said above the table."""
        documents = f"documents {self.n_first:,} and {self.n_second:,}"
        chance = f"p = {self.p:.3g} of {self.n_permutations:,} shuffled groups"
        title = f"{self.word} by {self.by}: {self.first} -> {self.second}"
        return f"{title}, {chance}, distance {self.distance:.2f}, {documents}"

    def plot(self, path: Any = None) -> Any:
        """Draw gained and lost features, and the trajectory if there is one; returns the figure."""
        from omnitm.comparison.report import plot_comparison

        return plot_comparison(self, path)


def compare(
    index: DocumentIndex,
    word: str,
    *,
    by: str | Sequence[Any] | Grouping | Sides,
    groups: Sequence[object] | None = None,
    n_permutations: int = N_PERMUTATIONS,
    n_examples: int = N_EXAMPLES,
    n_shown: int = N_SHOWN,
    n_documents: int = 2,
    seed: int = 0,
) -> Comparison:
    """Compare the use of a word in two groups of documents.

    Parameters
    ----------
    by, groups
        See `Sides`, which may be given itself.
    n_permutations
        Shuffled groups for the p-values.
    n_examples
        Training examples of a machine.
    n_shown
        Gained and lost features to name, at most.
    n_documents
        Documents of each side to read as evidence.

    Examples
    --------
    >>> from omnitm.corpus import DocumentIndex
    >>> texts = ["bank river water"] * 30 + ["bank money loan"] * 30 + ["tree leaf"] * 60
    >>> index = DocumentIndex.from_documents(texts, order=False)
    >>> labels = ["old"] * 30 + ["new"] * 30 + ["old", "new"] * 30
    >>> found = compare(index, "bank", by=labels, groups=["old", "new"], n_permutations=20)
    >>> sorted(change.name for change in found.gained), sorted(change.name for change in found.lost)
    (['loan', 'money'], ['river', 'water'])
    """
    check_integer(_OWNER, "n_shown", n_shown, 0)
    check_integer(_OWNER, "n_documents", n_documents, 0)
    sides = by if isinstance(by, Sides) else Sides(index, by, groups)
    options = {"n_permutations": n_permutations, "n_examples": n_examples, "seed": seed}
    return read_excerpts(index, [compare_word(sides, word, n_shown, n_documents, **options)])[0]


def compare_word(
    sides: Sides,
    word: str,
    n_shown: int = N_SHOWN,
    n_documents: int = 2,
    *,
    n_permutations: int,
    n_examples: int,
    seed: int,
) -> Comparison:
    """Compare a word as `compare` does; the texts of its documents are not read yet."""
    check_integer(_OWNER, "n_permutations", n_permutations, 1, 1_000_000)
    index = sides.index
    word = index.known_word(word)
    contexts: Contexts = "topic" if index.running is None else "both"
    settings = AutoencoderSettings(n_examples=n_examples, accumulation_growth=1, contexts=contexts)
    n_first, n_second = sides.check(word)
    compared = _Compared(sides, word, n_permutations, seed)
    gained, lost = compared.changes(settings, n_shown)
    comparison = Comparison(
        word=word,
        by=sides.grouping.name,
        first=sides.first,
        second=sides.second,
        compared_first=compared.n_documents[0],
        compared_second=compared.n_documents[1],
        n_first=n_first,
        n_second=n_second,
        change=compared.test.change,
        strength=compared.test.strength,
        distance=compared.test.distance,
        p=compared.test.p,
        n_permutations=n_permutations,
        gained=tuple(change for _, change in gained),
        lost=tuple(change for _, change in lost),
        documents_first=compared.excerpts(0, lost, n_documents),
        documents_second=compared.excerpts(1, gained, n_documents),
    )
    return replace(comparison, trajectory=_trajectory(sides, comparison, [*gained, *lost], settings, seed))


class _Feature(NamedTuple):
    """A feature of one of the kinds of a pair of sides."""

    kind: int
    number: int


class _Compared:
    """A word's documents on two sides, and the test of their difference."""

    def __init__(self, sides: Sides, word: str, n_permutations: int, seed: int) -> None:
        self._sides, self._word, self._seed = sides, word, seed
        target = sides.index.word_id(word)
        inside = sides.index.documents_with(target).astype(np.int64)
        found = [inside[sides.of_documents[inside] == side] for side in (0, 1)]
        self._drawn = draw_documents(word, seed, found, sides.members)
        # More documents of the larger side hardly sharpen a difference of means, but cost time.
        most = min(_MOST_DOCUMENTS, _MOST_TIMES * min(map(len, found)))
        self._sides_documents = [spread(documents, most) for documents in found]
        self.n_documents = [len(documents) for documents in self._sides_documents]
        self._documents = np.concatenate(self._sides_documents)
        of_documents = np.repeat(np.array([0, 1], dtype=np.int8), self.n_documents)
        self._kinds: list[Thinned] = [
            features.thinned(target, self._documents, of_documents) for features in sides.features
        ]
        directions = [features.directions for features in sides.features]
        self.test = ShuffleTest(self._kinds, directions, n_permutations, word_key(seed, word))

    def changes(
        self, settings: AutoencoderSettings, n_shown: int
    ) -> tuple[list[tuple[_Feature, Change]], list[tuple[_Feature, Change]]]:
        """Name the most telling features, gained and lost."""
        profiles = [
            profiles_of(self._sides, self._word, drawn, settings, self._seed) for drawn in self._drawn
        ]
        chosen = [self._telling(sign, n_shown) for sign in (1, -1)]
        gained, lost = ([(f, self._change(f, profiles)) for f in features] for features in chosen)
        return gained, lost

    def _telling(self, sign: int, count: int) -> list[_Feature]:
        """Choose the features that chance gives the fewest of, whatever their kind."""
        found: list[tuple[float, float, _Feature]] = []
        for kind in range(len(self._kinds)):
            reasons, expected = self.test.reasons[kind], self.test.expected[kind]
            is_sure = (reasons > 0) & (self.test.levels[kind] <= _BY_CHANCE)
            some = np.flatnonzero(is_sure & (self.test.differences[kind] * sign > 0))
            best = some[np.lexsort((-reasons[some], expected[some]))[:count]]
            found += [(float(expected[k]), -float(reasons[k]), _Feature(kind, k)) for k in best.tolist()]
        return [feature for *_, feature in sorted(found)[:count]]

    def _change(self, feature: _Feature, profiles: list[list[NDArray[np.float32]]]) -> Change:
        kind, k = feature
        features, thinned = self._sides.features[kind], self._kinds[kind]
        before, after = (round(float(profile[kind][k]), 4) for profile in profiles)
        return Change(
            name=features.name(k),
            kind=features.kind,
            share=float(self.test.shares[kind][k]),
            p=chance(thinned, k),
            lift_before=round(float(thinned.lifts[0, k]), 4),
            lift_after=round(float(thinned.lifts[1, k]), 4),
            documents_before=int(thinned.counts[0, k]),
            documents_after=int(thinned.counts[1, k]),
            before=before,
            after=after,
            q=round(float(self.test.levels[kind][k]), 4),
        )

    def excerpts(self, side: int, changes: list[tuple[_Feature, Change]], count: int) -> tuple[Excerpt, ...]:
        """Choose for each of the first features a document of a side that has it, and most of the others."""
        if not changes:
            return tuple(
                Excerpt(number, "", "") for number in spread(self._sides_documents[side], count).tolist()
            )
        start = side * self.n_documents[0]
        rows = slice(start, start + self.n_documents[side])
        has = [self._kinds[f.kind].present[rows, f.number].toarray().reshape(-1) > 0 for f, _ in changes]
        n_features = np.sum(has, axis=0)
        chosen: dict[int, Change] = {}
        for column, (_, change) in zip(has, changes, strict=True):
            candidates = np.flatnonzero(column)
            best = candidates[np.argsort(-n_features[candidates], kind="stable")]
            free = [number for number in self._sides_documents[side][best].tolist() if number not in chosen]
            if free and len(chosen) < count:
                chosen[free[0]] = change
        return tuple(Excerpt(number, change.name, "") for number, change in chosen.items())


def read_excerpts(index: DocumentIndex, comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Read the texts of the documents of comparisons, all at once."""
    excerpts = [one for found in comparisons for one in (*found.documents_first, *found.documents_second)]
    numbers = sorted({one.number for one in excerpts})
    texts = {document.number: str(document) for document in read_documents(index, numbers)}
    tokens = index.preparation_or_default.tokens

    def cut(found: Comparison, excerpts: tuple[Excerpt, ...]) -> tuple[Excerpt, ...]:
        changes = {change.name: change for change in (*found.gained, *found.lost)}
        return tuple(
            replace(one, text=cut_around(texts[one.number], found.word, changes.get(one.feature), tokens))
            for one in excerpts
        )

    return [
        replace(
            found,
            documents_first=cut(found, found.documents_first),
            documents_second=cut(found, found.documents_second),
        )
        for found in comparisons
    ]


def profiles_of(
    sides: Sides, word: str, drawn: Drawn, settings: AutoencoderSettings, seed: int
) -> list[NDArray[np.float32]]:
    """Train the machines of a word on drawn documents: per kind, how far each feature stands out."""
    target, key = sides.index.word_id(word), word_key(seed, word)
    return [features.profile(target, drawn, settings, key) for features in sides.features]


def cut_around(
    text: str,
    word: str,
    change: Change | None,
    tokens: Callable[[str], Sequence[str]] = str.split,
    width: int = EXCERPT,
) -> str:
    """Cut the part of a text that shows the word and a feature of it; two parts if they are far apart.

    Parameters
    ----------
    tokens
        Makes words of a text, so that `U.S.` is seen as `us`.

    Examples
    --------
    >>> topic = Change("money", "topic", 0.1, 0.01, 1.0, 2.0, 0, 9, 0.0, 1.0, 0.1)
    >>> text = "It was late. The bank by the lake in the old town had no more money left."
    >>> cut_around(text, "bank", topic, width=40)
    '... The bank by the ... no more money left.'
    """
    line = " ".join(_TAG.sub(" ", text).split())
    if len(line) <= width:
        return line
    first, second = _nearest(line, word, change, tokens)
    start, end = min(first[0], second[0]), max(first[1], second[1])
    if end - start <= width:
        return _part(line, start - (width - (end - start)) // 2, width)
    parts = [_part(line, at[0] - width // 6, width // 2) for at in sorted((first, second))]
    return f"{parts[0].removesuffix(' ...')} ... {parts[1].removeprefix('... ')}"


def _nearest(
    line: str, word: str, change: Change | None, tokens: Callable[[str], Sequence[str]]
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Find where the word and the feature stand closest; the beginning if they cannot be seen."""
    words = _places(line, word, tokens)
    column, other = (None, "") if change is None else (None, change.name)
    if change is not None and change.kind == "place":
        column, other = parted(change.name)
    others = _places(line, other, tokens) if other else []
    pairs = []
    for one in words:
        for two in others:
            left, right = sorted((one, two))
            if column is None:
                pairs.append((0, right[0] - left[1], one, two))
            elif (two < one) == (OFFSETS[column] < 0):
                n_spaces = line.count(" ", left[1], right[0])
                pairs.append((abs(n_spaces - abs(OFFSETS[column])), right[0] - left[1], one, two))
    if pairs:
        return min(pairs)[2:]
    alone = (words or others or [(0, 0)])[0]
    return alone, alone


def _places(line: str, word: str, tokens: Callable[[str], Sequence[str]]) -> list[tuple[int, int]]:
    """Find a word as it is written; or else the parts between spaces that become it."""
    pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)
    seen = [found.span() for found in pattern.finditer(line)]
    return seen or [found.span() for found in _BETWEEN_SPACES.finditer(line) if word in tokens(found[0])]


def _part(line: str, start: int, width: int) -> str:
    """Cut at most `width` characters, at spaces, and mark where something is left out."""
    start = max(0, min(start, len(line) - width))
    end = start + width
    if start:
        start = line.find(" ", start) + 1 or start
    if end < len(line):
        end = line.rfind(" ", start, end + 1)
    return f"{'... ' if start else ''}{line[start:end]}{' ...' if end < len(line) else ''}"


def _trajectory(
    sides: Sides,
    comparison: Comparison,
    changes: list[tuple[_Feature, Change]],
    settings: AutoencoderSettings,
    seed: int,
) -> tuple[Step, ...]:
    """Train the word in every group, on equally many documents each."""
    index, grouping, word = sides.index, sides.grouping, comparison.word
    if len(grouping.labels) < 3 or not grouping.is_ordered or sides.first == ALL_OTHERS or not changes:
        return ()
    inside = index.documents_with(index.word_id(word)).astype(np.int64)
    of_inside = grouping.numbers[inside]
    counts = np.bincount(of_inside.clip(max=len(grouping.labels)), minlength=len(grouping.labels) + 1)
    n_least = int(
        counts[:-1][counts[:-1] >= FEWEST_DOCUMENTS].min(initial=min(comparison.n_first, comparison.n_second))
    )
    steps = []
    for group, label in enumerate(grouping.labels):
        n_documents = int(counts[group])
        members, values = sides.members_of_groups[group], dict[str, float]()
        if FEWEST_DOCUMENTS <= n_documents < len(members):
            [drawn] = draw_documents(word, seed, [inside[of_inside == group]], [members], n_least)
            profile = profiles_of(sides, word, drawn, settings, seed)
            values = {c.name: round(float(profile[f.kind][f.number]), 4) for f, c in changes}
        steps.append(Step(label, n_documents, values))
    return tuple(steps)
