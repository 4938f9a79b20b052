"""Replacing words of documents by similar or dissimilar ones, as the paper does before classification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from omnitm.parameters import check_choice, check_integer, check_real

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from omnitm.similarity.scorers import Metric
    from omnitm.vectors.word_vectors import WordVectors

    Ids = NDArray[np.int32]

Reading = Literal["text", "notebook"]
READINGS: tuple[Reading, ...] = ("text", "notebook")
_NEAREST, _WIDE = 5, 400  # the paper's


@dataclass(frozen=True)
class Perturbation:
    """How documents are changed.

    Parameters
    ----------
    share
        Share of a document's words that are replaced; at least one word of a document is.
    reading
        What a word of a negative document becomes: "text": one of the 5 least similar of its 400 most similar
        words, as the paper says; "notebook": one of the 5 least similar of all words, as its published
        notebook does. A word of a positive document becomes one of its 5 most similar words.
    seed
        Gives the places, which do not depend on the vectors, and one fixed replacement per word and label.
    """

    share: float = 0.05
    reading: Reading = "text"
    seed: int = 42

    def __post_init__(self) -> None:
        check_real("Perturbation", "share", self.share, 0, 1)
        check_choice("Perturbation", "reading", self.reading, READINGS)
        check_integer("Perturbation", "seed", self.seed, 0)

    def places(self, document: int, length: int) -> NDArray[np.intp]:
        """Choose which words of a document are replaced."""
        if not length or not self.share:
            return np.zeros(0, dtype=np.intp)
        count = min(length, max(1, round(self.share * length)))
        return np.random.default_rng((self.seed, document)).permutation(length)[:count]


class Replacing(Protocol):
    """Says what each word becomes."""

    def of(self, word: int, label: int) -> int | None:
        """Return what a word becomes in a document of a label, 0 or 1; None: it stays."""


class RandomWords:
    """Words drawn at random, without any model: what the replacing itself costs.

    Parameters
    ----------
    n_words
        Size of the vocabulary; all words are drawn alike.
    """

    def __init__(self, n_words: int, perturbation: Perturbation) -> None:
        self._becomes = np.random.default_rng((perturbation.seed, n_words)).integers(
            n_words, size=(n_words, 2)
        )

    def of(self, word: int, label: int) -> int:
        """Return what a word becomes in a document of a label: always the same."""
        return int(self._becomes[word, label])


class Neighbours:
    """Words of a vocabulary in the order of their similarity to a word, found when it is first asked for.

    Parameters
    ----------
    vectors
        The model that says what is similar.
    vocabulary
        Words that documents consist of; others are left out.
    metric
        How words are compared; None: as the model does by default.
    """

    def __init__(self, vectors: WordVectors, vocabulary: Sequence[str], metric: Metric | None = None) -> None:
        self.vectors, self._vocabulary, self._scorer = vectors, vocabulary, vectors.scorer(metric)
        self.metric = self._scorer.name
        places = {word: place for place, word in enumerate(self._scorer.candidates(vectors))}
        known = [(k, places[word]) for k, word in enumerate(vocabulary) if word in places]
        self._ids = np.array([k for k, _ in known], dtype=np.int32)
        self._columns = np.array([column for _, column in known], dtype=np.intp)
        self._found: dict[int, tuple[Ids, Ids]] = {}

    def of(self, word: int) -> tuple[Ids, Ids] | None:
        """Return the 400 most similar words, nearest first, and the 5 least similar; None: unknown word."""
        if self._vocabulary[word] not in self.vectors or len(self._ids) < 2:
            return None
        if word not in self._found:
            self._found[word] = self._find(word)
        return self._found[word]

    def _find(self, word: int) -> tuple[Ids, Ids]:
        scores = self._scorer.scores(self.vectors, [(self._vocabulary[word], 1.0)])[self._columns]
        is_other = self._ids != word
        scores, others = scores[is_other], self._ids[is_other]
        order = np.argsort(-scores, kind="stable")
        return others[order[:_WIDE]], others[order[-_NEAREST:]]


class Replacements:
    """What each word becomes by the neighbours that a model gives it: one fixed draw per word and label."""

    def __init__(self, neighbours: Neighbours, perturbation: Perturbation) -> None:
        self._neighbours, self._perturbation = neighbours, perturbation

    def of(self, word: int, label: int) -> int | None:
        """Return what a word becomes in a document of a label, 0 or 1; None: the model does not know it."""
        found = self._neighbours.of(word)
        if found is None:
            return None
        similar, least = found
        dissimilar = similar[-_NEAREST:] if self._perturbation.reading == "text" else least
        drawn = np.random.default_rng((self._perturbation.seed, word)).random(2)[label]
        choice = similar[:_NEAREST] if label else dissimilar
        return int(choice[int(drawn * len(choice))])


@dataclass(frozen=True)
class Changed:
    """Documents after replacement: words drawn, and those of them that the model did not know and left."""

    documents: list[Ids]
    n_drawn: int
    n_unknown: int


def perturb(
    documents: Sequence[Ids], labels: Sequence[int], replacements: Replacing, perturbation: Perturbation
) -> Changed:
    """Replace some words of each document; labels are 0 (dissimilar) or 1 (similar)."""
    changed, n_drawn, n_unknown = [], 0, 0
    for number, (words, label) in enumerate(zip(documents, labels, strict=True)):
        places = perturbation.places(number, len(words))
        copy = words.copy()
        for place in places.tolist():
            becomes = replacements.of(int(words[place]), label)
            if becomes is None:
                n_unknown += 1
            else:
                copy[place] = becomes
        n_drawn += len(places)
        changed.append(copy)
    return Changed(changed, n_drawn, n_unknown)
