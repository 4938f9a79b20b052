"""Whole lists of one small model, as they were: what no other test looks at has not changed unnoticed.

OMNITM_GOLDEN=write pytest tests/similarity/test_golden.py     # after a change that is meant; read the diff
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnitm.explain import Explainer
    from omnitm.similarity.scorers import Metric
    from omnitm.vectors import WordVectors

METRICS: tuple[Metric, ...] = (
    "similarity",
    "related",
    "alike",
    "association",
    "association-symmetric",
    "cosine",
)


def numbers(vectors: WordVectors) -> dict[str, Any]:
    """What similarities are made of."""
    found = vectors.profiles
    return {
        "scales": found.scales,
        "trust": found.trust[::10],
        "closeness": found.closeness[::10],
        "shares": {name: scores[::25] for name, scores in found.random_scores.items()},
        "baseline": found.topic.baseline[::10],
        "gain": found.topic.gain[::10],
        "mean": found.topic.mean[::10],
        "lengths": found.topic_lengths[::10],
        "forms": [[vectors.index_to_key[k] for k in found.forms.members[:20]], found.forms.weights[:20]],
    }


QUESTIONS: dict[str, Callable[[WordVectors], Any]] = {
    "lists": lambda told: {by: told.most_similar("bank", topn=8, metric=by) for by in METRICS},
    "two words": lambda told: told.most_similar(["mader", "bank"], topn=5, metric="similarity"),
    "an analogy": lambda told: told.most_similar(["mader", "nader"], ["mager"], topn=5, metric="similarity"),
    "by cosine": lambda told: told.most_similar(["mader", "nader"], ["mager"], topn=5, metric="cosine"),
    "a vector": lambda told: told.most_similar([told["bank"] // 2], topn=5, metric="similarity"),
    "two vectors": lambda told: told.most_similar([told["bank"], told["nader"]], topn=5, metric="related"),
    "pairs": lambda told: [
        told.similarity("bank", name, metric=by) for name in told.index_to_key[::30] for by in METRICS
    ],
    "numbers": numbers,
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_are_what_they_were(
    told: Explainer, golden: Callable[[str, Any], None], question: str
) -> None:
    golden(question, QUESTIONS[question](told.vectors))


WORDS = ("bass", "cold", "common", "barned", "dend", "fund", "lern")

OF_MANY_WORDS: dict[str, Callable[[WordVectors, str], Any]] = {
    "lists": lambda told, word: {by: told.most_similar(word, topn=6, metric=by) for by in METRICS},
    "with forms": lambda told, word: told.most_similar(word, topn=6, restrict_vocab=90, forms=True),
    "without": lambda told, word: told.most_similar([word], ["barn"], topn=4, metric="alike"),
    "percentiles": lambda told, word: told.similarity(word, "barn", metric="related", scale="percentile"),
    "forms": lambda told, word: told.forms(word),
    "themes": lambda told, word: told.themes(7).of_word(word, 3),
}


@pytest.mark.parametrize("question", OF_MANY_WORDS)
def test_answers_about_many_words_are_what_they_were(
    uneven: Explainer, golden: Callable[[str, Any], None], question: str
) -> None:
    vectors = uneven.vectors
    golden(f"{question}, many words", {word: OF_MANY_WORDS[question](vectors, word) for word in WORDS})


def test_of_equal_scores_the_first_come_first() -> None:
    from omnitm.similarity.nearest import best

    scores = np.array([1.0, 3.0, 2.0, 3.0, 2.0, 2.0])
    assert [best(scores, count).tolist() for count in range(8)] == [
        [], [1], [1, 3], [1, 3, 2], [1, 3, 2, 4], [1, 3, 2, 4, 5], [1, 3, 2, 4, 5, 0], [1, 3, 2, 4, 5, 0],
    ]  # fmt: skip


def test_numbers_of_the_room(same_numbers: Callable[[str], None]) -> None:
    """Constants and defaults: whoever changes one keeps the new one too, and measures again what it gave."""
    same_numbers("similarity")
