"""Whole explanations of one small model, as they were: what no other test looks at has not changed unnoticed.

OMNITM_GOLDEN=write pytest tests/explain/test_golden.py     # after a change that is meant; then read the diff
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from omnitm.explain import Explainer
from omnitm.explain.infer import infer_word
from omnitm.explain.places import match_place_rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnitm.tables import Table


def absent_word(told: Explainer) -> str:
    return next(word for word in told.index.vocabulary if word not in told.vectors)


def inferred(told: Explainer, word: str, **given: Any) -> Any:
    found = infer_word(told.vectors, word, told.index, **given)
    return [found.word, found.how, found.vector[:40]]


QUESTIONS: dict[str, Callable[[Explainer], Any]] = {
    "explain": lambda told: told.explain("bank", n_literals=4),
    "explain, places": lambda told: told.explain("bank", kind="place", n_literals=4),
    "document_rules": lambda told: told.document_rules("bank", n=4),
    "senses": lambda told: told.senses("bank", n=4),
    "senses of a plain word": lambda told: told.senses("mader", n=4),
    "sense_of": lambda told: told.sense_of("bank", "mader mager meder of nader"),
    "sense_vector": lambda told: told.sense_vector("bank", 1)[:40],
    "clause": lambda told: told.clause("bank", 3, n_literals=4),
    "match": lambda told: told.match("bank", ["mader"], ["mager"], n_documents=2),
    "standing_out": lambda told: told.standing_out("bank", 6),
    "trace": lambda told: told.trace("bank", "mader", n_events=2),
    "trace, negated": lambda told: told.trace("bank", "pader", negated=True, n_events=2),
    "together": lambda told: told.together("bank", "mader", n_documents=2),
    "infer_word": lambda told: inferred(told, absent_word(told)),
    "infer_word, sentences": lambda told: inferred(told, "quay", sentences=["quay mader", "quay nager"]),
    "why, similarity": lambda told: told.why("bank", "mader", metric="similarity", n=4),
    "why, related": lambda told: told.why("bank", "mader", metric="related", n=4),
    "why, alike": lambda told: told.why("bank", "mader", metric="alike", n=4),
    "why, association": lambda told: told.why("bank", "mader", metric="association"),
    "why, association-symmetric": lambda told: told.why("bank", "mader", metric="association-symmetric"),
    "why, cosine": lambda told: told.why("bank", "mader", metric="cosine", n=4),
    "why, through": lambda told: told.why("bank", "mader", metric="related", n=2, through=["nader"]),
}


WORDS = ("bass", "cold", "common", "barned", "dend", "fund")


def rows(found: Table) -> Any:
    """What a table of an answer shows, all columns of it, without their names."""
    return [list(row.values()) for row in found.rows()]


OF_MANY_WORDS: dict[str, Callable[[Explainer, str], Any]] = {
    "explain": lambda told, word: rows(told.explain(word, n_literals=5)),
    "explain, places": lambda told, word: rows(told.explain(word, kind="place", n_literals=5)),
    "document_rules": lambda told, word: [
        [rule.present, rule.absent, rule.match.hits, rule.match.precision, rule.recall]
        for rule in told.document_rules(word, n=8)
    ],
    "senses": lambda told, word: rows(told.senses(word, n=4)),
    "senses, no index": lambda told, word: rows(Explainer(told.vectors).senses(word, n=4)),
    "sense_of, uneven": lambda told, word: told.sense_of(word, "the common darn fest"),
    "standing_out": lambda told, word: told.standing_out(word, 8),
    "match": lambda told, word: told.match(word, ["common"], ["hot"], n_documents=1),
    "match, places": lambda told, word: match_place_rule(told.index, word, ["the _"], ["_ and"], 1),
    "trace": lambda told, word: rows(told.trace(word, "common", n_events=3)),
    "together": lambda told, word: told.together(word, "common", n_documents=2),
    "why": lambda told, word: {
        metric: rows(told.why(word, "barn", metric=metric, n=5)) for metric in ("related", "alike", "cosine")
    },
}


@pytest.mark.parametrize("question", OF_MANY_WORDS)
def test_answers_about_many_words_are_what_they_were(
    uneven: Explainer, golden: Callable[[str, Any], None], question: str
) -> None:
    golden(f"{question}, many words", {word: OF_MANY_WORDS[question](uneven, word) for word in WORDS})


@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_are_what_they_were(
    told: Explainer, golden: Callable[[str, Any], None], question: str
) -> None:
    golden(question, QUESTIONS[question](told))


def test_numbers_of_the_room(same_numbers: Callable[[str], None]) -> None:
    """Constants and defaults: whoever changes one keeps the new one too, and measures again what it gave."""
    same_numbers("explain")
