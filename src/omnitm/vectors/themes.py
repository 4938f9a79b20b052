"""Themes: what stands out in words, as sums of a few non-negative patterns that people can read.

A theme is a pattern of features (`omnitm.similarity.nonnegative`). How near a word and a feature are is the
share that the feature has in the word's profile (the squares of a profile add up to 1) and the share that
the word, as a feature, has in the other's, times the cosine of their smoothed profiles. Words that are near
to a few features count more than words that are near to everything. The patterns are found in the most
frequent words; then every word is described by how much of each theme is in it, and in words like it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus.preparation import LOWER_CASE_ONLY
from omnitm.errors import ParameterError
from omnitm.parameters import check_integer
from omnitm.similarity.nearest import best
from omnitm.similarity.nonnegative import N_ROUNDS, common_patterns, pattern_weights
from omnitm.similarity.profiles import best_known, most_frequent, places_in_vocabulary
from omnitm.tables import Table
from omnitm.vectors.document_vectors import count_words
from omnitm.vectors.word_vectors import WordVectors

Reals = NDArray[np.float32]

ThemeProgress = Callable[[str, int, int], object]
"""Told what is done, how much of it is finished, and how much there is."""

RECIPE = 6  # of all numbers of this module and of similarity/nonnegative.py; themes of others are made again
N_THEMES = 200  # by default
_WORDS_PER_THEME = 10  # of small models, if no number is asked for
_WORDS_AT_ONCE = 4_096  # bounds the memory of `Nearness.of_rows`
_COSINES_AT_ONCE = 512  # words, so that their cosines take 16 MB
_WORDS_OF_A_NAME = 3
# Chosen on development documents: benchmarks/themes.py, with the figures in docs/themes.md.
_OF_PLACES = np.float32(0.3)  # in the cosine of smoothed profiles; the rest is of topics
_COUNTS = 0.5  # rows are divided by their length to this power: 1 makes all words count alike
_OF_LIKE_WORDS = np.float32(6)  # what words like it have of a theme, beside what the word has itself
_FOUND_IN = 6_000  # most frequent words; more make themes of subjects that few texts have
_KNOWN_FIRST = 0.2  # words of a theme are ordered by weight / (place in the vocabulary to this power)


@dataclass(frozen=True, eq=False)
class Themes(Table):
    """The themes of a model, the most used first, numbered from 0.

    `print`, notebooks and `to_frame()` show a row for each.

    Attributes
    ----------
    vectors
        The word vectors that the themes describe.
    patterns
        features x themes, float32: how much each feature belongs to each theme; columns have length 1.
    weights
        words x themes, float32: how much of each theme is in each word's profile.

    Examples
    --------
    >>> from omnitm import WordVectors
    >>> words = [f"{topic}{k}" for topic in ("rail", "ship", "bird") for k in range(10)]
    >>> leaned_on = np.kron(np.eye(3), np.ones((10, 10))) > 0
    >>> vectors = WordVectors(np.where(leaned_on, -10, -100).astype(np.int16), words, words)
    >>> vectors.themes(3)
    Themes(3 of 30 words)
    """

    vectors: WordVectors
    patterns: Reals
    weights: Reals

    def __len__(self) -> int:
        return int(self.patterns.shape[1])

    def __repr__(self) -> str:
        return f"Themes({len(self)} of {len(self.vectors):,} words)"

    def caption(self) -> str:
        """Return what is said above the table."""
        return f"{len(self)} themes of {len(self.vectors):,} words"

    def rows(self) -> list[dict[str, Any]]:
        """Rows of the table: names of columns and plain values."""
        return [
            {
                "theme": theme,
                "share": float(self.shares[theme]),
                "words": ", ".join(word for word, _ in self.best_words(theme)),
                "features": ", ".join(name for name, _ in self.features(theme, _WORDS_OF_A_NAME)),
            }
            for theme in range(len(self))
        ]

    @cached_property
    def names(self) -> list[str]:
        """A name per theme, none twice: its three best words, or as many as it takes to differ."""
        found: dict[str, int] = {}
        for theme in range(len(self)):
            words = [word for word, _ in self.best_words(theme, _WORDS_OF_A_NAME)]
            if " ".join(words) in found:
                words = [word for word, _ in self.best_words(theme, len(self.vectors))]
            sizes = range(_WORDS_OF_A_NAME, len(words) + 1)
            names = (" ".join(words[:size]) for size in sizes)
            name = next((name for name in names if name not in found), f"{' '.join(words[:3])} {theme}")
            found[name] = theme
        return list(found)

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """How much of what stands out in all words is of each theme; adds up to 1."""
        return _shares(self.weights.sum(axis=0, dtype=np.float64))

    def name(self, theme: int) -> str:
        """Return the name of a theme."""
        return self.names[self._checked(theme)]

    def words(self, theme: int, n: int = 10) -> list[tuple[str, float]]:
        """List the words with most of a theme, well known ones first, and how much they count."""
        column = self._shown(theme)
        rows = best(column, check_integer("words", "n", n, 0))
        words = self.vectors.index_to_key
        return [(words[row], float(column[row])) for row in rows.tolist() if column[row] > 0]

    def best_words(self, theme: int, n: int = 5) -> list[tuple[str, float]]:
        """List frequent words with most of a theme, of each word and its forms the best."""
        column = self._shown(theme)
        known = self._known[np.argsort(-column[self._known], kind="stable")]
        forms, seen, found = self.vectors.profiles.forms, set[int](), list[tuple[str, float]]()
        for row in known[column[known] > 0].tolist():
            if len(found) >= n:
                break
            if row not in seen:
                found.append((self.vectors.index_to_key[row], float(column[row])))
            seen |= {form for form, _ in forms.of_row(row)}
        return found

    def features(self, theme: int, n: int = 10) -> list[tuple[str, float]]:
        """List the features that make a theme, and how much they count."""
        column = self.patterns[:, self._checked(theme)]
        places = best(column, check_integer("features", "n", n, 0))
        names = self.vectors.feature_names
        return [(names[place], float(column[place])) for place in places.tolist() if column[place] > 0]

    def of_word(self, word: str, n: int = 10) -> list[tuple[int, float]]:
        """List the themes of a word, the strongest first: their numbers and shares, which add up to 1."""
        return _strongest(self.weights[self.vectors.get_index(word)], n)

    def of_text(self, text: str | Sequence[str], n: int = 10) -> list[tuple[int, float]]:
        """List the themes of a text or of a list of words: their numbers and shares, which add up to 1.

        Words count by how much of themes is in them, so that those about nothing in particular say little.
        """
        noted = self.vectors.preparation
        preparation = None if noted is LOWER_CASE_ONLY else noted
        counts = count_words([text], self.vectors.key_to_index, preparation)[0]
        return _strongest(np.asarray(counts.astype(np.float32) @ self.weights).ravel(), n)

    @cached_property
    def _known(self) -> NDArray[np.intp]:
        return best_known(self.vectors)

    @cached_property
    def _prominence(self) -> Reals:
        return prominence_of(self.vectors.row_features)

    def _shown(self, theme: int) -> Reals:
        found: Reals = self.weights[:, self._checked(theme)] * self._prominence
        return found

    def _checked(self, theme: int) -> int:
        return check_integer("Themes", "theme", theme, 0, len(self) - 1)


def usual_number(vectors: WordVectors) -> int:
    """How many themes are found if no number is asked for: 200, or a tenth of the words."""
    return min(N_THEMES, max(1, len(vectors) // _WORDS_PER_THEME))


def theme_patterns(vectors: WordVectors, k: int, progress: ThemeProgress | None = None) -> Reals:
    """Find the themes of the most frequent words: features x themes."""
    check_themes(vectors, k)
    report = None if progress is None else lambda done: progress("finding themes", done, N_ROUNDS)
    if report is not None:
        report(0)  # it takes seconds to come to the first round
    known = most_frequent(vectors, _FOUND_IN)
    nearness = Nearness(vectors, known)
    found = common_patterns(nearness.of_rows(known), min(k, len(known)), N_ROUNDS, report)
    patterns = np.zeros((vectors.vector_size, found.shape[1]), dtype=np.float32)
    patterns[vectors.row_features[known]] = found
    return patterns


def theme_weights(vectors: WordVectors, patterns: Reals, progress: ThemeProgress | None = None) -> Reals:
    """Find how much of each theme is in every word: words x themes."""
    known = most_frequent(vectors, _FOUND_IN)
    nearness = Nearness(vectors, known)
    report = None if progress is None else lambda done: progress("describing words", done, len(vectors))
    of_known = np.ascontiguousarray(patterns[vectors.row_features[known]])
    return weights_of_rows(nearness, of_known, np.arange(len(vectors)), known, report)


def weights_of_rows(
    nearness: Nearness,
    patterns: Reals,
    rows: NDArray[np.intp],
    known: NDArray[np.intp],
    report: Callable[[int], object] | None = None,
) -> Reals:
    """Find how much of each pattern is in some words, and in words like them: words x patterns.

    Words that are like a word may have more of a theme than words do on average; six times what they have
    more is added to what the word has itself, and then the same once more. So a theme has all words of its
    kind.
    """
    own = np.concatenate([pattern_weights(nearness.of_rows(part), patterns) for part in _in_parts(known)])
    once = own + _more_than_usual(
        np.concatenate([nearness.means(part, own) for part in _in_parts(known)]), own
    )
    both = np.hstack([own, once])
    weights = np.empty((len(rows), patterns.shape[1]), dtype=np.float32)
    done = 0
    for part in _in_parts(rows):
        found = pattern_weights(nearness.of_rows(part), patterns)
        of_like_words, once_more = np.hsplit(_more_than_usual(nearness.means(part, both), both), 2)
        weights[done : done + len(part)] = found + of_like_words + once_more
        done += len(part)
        if report is not None:
            report(done)
    return weights


def _more_than_usual(means: Reals, of_known: Reals) -> Reals:
    found: Reals = _OF_LIKE_WORDS * np.maximum(means - of_known.mean(axis=0), 0)
    return found


def _in_parts(rows: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    return [rows[start : start + _WORDS_AT_ONCE] for start in range(0, len(rows), _WORDS_AT_ONCE)]


def prominence_of(row_features: NDArray[Any]) -> Reals:
    """How much words count when those of a theme are listed: 1 for the most frequent word, others less."""
    found: Reals = places_in_vocabulary(row_features).astype(np.float32) ** -_KNOWN_FIRST
    return found


class Nearness:
    """How near words are to the most frequent words, as features."""

    def __init__(self, vectors: WordVectors, known: NDArray[np.intp]) -> None:
        profiles = vectors.profiles
        self.profile, self.columns = profiles.topic, vectors.row_features
        self.known = self.columns[known]
        # Squares of a profile add up to 1, so they are shares of its features.
        self.by_feature = self.profile.some(known).power(2).T.tocsr()
        parts = [(profiles.topic, 1 - _OF_PLACES), (profiles.place, _OF_PLACES)]
        kinds = [(part.smooth, share) for part, share in parts if part is not None]
        self.kinds = [(smooth, share * smooth[known].T) for smooth, share in kinds if smooth.shape[1]]

    def of_rows(self, rows: NDArray[np.intp]) -> Any:
        """Words x the most frequent words, sparse."""
        # Share of the frequent word b in the profile of a, plus share of a in the profile of b.
        nearness = self.profile.some(rows).power(2)[:, self.known] + self.by_feature[self.columns[rows]]
        self._times_cosines(nearness, rows)
        lengths = np.sqrt(np.asarray(nearness.power(2).sum(axis=1))).ravel()
        scales = np.maximum(lengths, 1e-30) ** _COUNTS
        nearness.data /= np.repeat(scales, np.diff(nearness.indptr)).astype(np.float32)
        return nearness

    def means(self, rows: NDArray[np.intp], values: Reals) -> Reals:
        """Average values of the most frequent words by cosine ** 1.5 with each word; 0 without cosines."""
        found = np.zeros((len(rows), values.shape[1]), dtype=np.float32)
        for start, cosines in self._cosines(rows):
            counts = cosines * np.sqrt(cosines)
            total = np.maximum(counts.sum(axis=1, keepdims=True), np.float32(1e-30))
            found[start : start + len(cosines)] = counts @ values / total
        return found

    def _times_cosines(self, nearness: Any, rows: NDArray[np.intp]) -> None:
        """Multiply what is stored with the cosines of smoothed profiles; without those, with nothing."""
        for start, cosines in self._cosines(rows):
            starts = nearness.indptr[start : start + len(cosines) + 1]
            owners = np.repeat(np.arange(len(cosines)), np.diff(starts))
            nearness.data[starts[0] : starts[-1]] *= cosines[owners, nearness.indices[starts[0] : starts[-1]]]
        nearness.eliminate_zeros()

    def _cosines(self, rows: NDArray[np.intp]) -> Iterator[tuple[int, Reals]]:
        """Cosines of smoothed profiles with the most frequent words, some rows at a time; 0 if negative."""
        for start in range(0, len(rows) if self.kinds else 0, _COSINES_AT_ONCE):
            some = rows[start : start + _COSINES_AT_ONCE]
            cosines: Reals = np.sum([smooth[some] @ known for smooth, known in self.kinds], axis=0)
            yield start, np.maximum(cosines, 0, out=cosines)


def check_themes(vectors: WordVectors, k: int) -> None:
    """Refuse vectors that have no themes, and numbers of themes that they cannot have."""
    if not vectors.has_profiles:
        raise ParameterError(
            "Only integer vectors with named features have themes; use reduce(n_components)."
        )
    check_integer("themes", "k", k, 1, min(len(vectors), vectors.vector_size))


def _shares(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    total = float(weights.sum())
    return weights / total if total > 0 else weights


def _strongest(weights: Reals, n: int) -> list[tuple[int, float]]:
    shares = _shares(weights.astype(np.float64))
    places = best(shares, check_integer("themes", "n", n, 0))
    return [(place, float(shares[place])) for place in places.tolist() if shares[place] > 0]
