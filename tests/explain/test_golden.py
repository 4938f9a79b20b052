"""Whole explanations of one small model, as they were: what no other test looks at has not changed unnoticed.

OMNITM_GOLDEN=write pytest tests/explain/test_golden.py     # after a change that is meant; then read the diff
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from omnitm.explain import Explainer
from omnitm.explain.infer import infer_word
from omnitm.explain.words import match_place_rule

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


def test_numbers_of_the_room(room_numbers: Callable[[str], dict[str, float]]) -> None:
    """Whoever changes a constant or a default does it here too."""
    expected = {
        "document_rules.FEWEST_DOCUMENTS": 5,
        "document_rules.MOST_LITERALS": 3,
        "document_rules._OF_EACH_CLAUSE": 3,
        "document_rules._CANDIDATES": 60,
        "document_rules._PAIRED": 30,
        "document_rules._NEGATED": 20,
        "document_rules._GAIN": 1.2,
        "document_rules._ERRORS": 2.0,
        "document_rules._ENOUGH": 20,
        "document_rules._PARTS": 5,
        "document_rules.document_rules.n": 5,
        "document_rules.document_rules.n_documents": 1,
        "evidence.Document.excerpt.width": 160,
        "evidence.together.n_documents": 0,
        "evidence.standing.n_documents": 0,
        "explainer.Explainer.explain.n_literals": 10,
        "explainer.Explainer.explain.n_documents": 1,
        "explainer.Explainer.document_rules.n": 5,
        "explainer.Explainer.document_rules.n_documents": 1,
        "explainer.Explainer.senses.n": 8,
        "explainer.Explainer.senses.n_documents": 1,
        "explainer.Explainer.clause.n_literals": 10,
        "explainer.Explainer.match.n_documents": 1,
        "explainer.Explainer.why.n": 10,
        "explainer.Explainer.why.n_documents": 1,
        "explainer.Explainer.standing_out.n": 10,
        "explainer.Explainer.trace.negated": False,
        "explainer.Explainer.trace.n_events": 5,
        "explainer.Explainer.trace.n_documents": 1,
        "explainer.Explainer.together.n_documents": 3,
        "infer.MOST_FORMS": 5,
        "infer.PATTERNS_FOR_FORMS": 300,
        "infer._SHORTEST_STEM": 4,
        "infer._LONGEST_ENDING": 4,
        "matching.DOCUMENT_END": 4294967295,
        "matching._MOST_EXAMPLES": 1000,
        "pairs.clause_shares.factor": 1.0,
        "pairs.Comparison.__init__.share_together": 0.0,
        "pairs._IN_A_SENTENCE": 3,
        "pairs.compare_by_clauses.n_documents": 1,
        "pairs.compare_by_coordinates.n": 10,
        "pairs.compare_by_coordinates.n_documents": 1,
        "plots._SHOWN_EVENTS": 2,
        "plots._TEXT_WIDTH": 120,
        "plots._BANDS_PER_POWER": 6,
        "plots._STANDS_OUT": 2.0,
        "plots.plot_clause.n_named": 12,
        "records._LISTED": 6,
        "rules._KEPT": 8,
        "senses._FEATURES": 150,
        "senses._IN_COMMON": 0.25,
        "senses._IN_COMMON_LATER": 0.4,
        "senses._ALIKE": 0.5,
        "senses._LEAST_SHARE": 0.05,
        "senses._FEWEST": 5,
        "senses._MOST_SENSES": 8,
        "senses._STEPS": 30,
        "senses._TRIED": 10,
        "senses._DOCUMENTS": 20000,
        "senses._DIVIDED": 5000,
        "senses.Senses.__init__.n_documents": 0,
        "senses.Senses.__init__.n_assigned": 0,
        "senses.senses_of.n": 8,
        "senses.senses_of.n_documents": 1,
        "traces.Trace.to_dict.clauses": False,
        "words.explain_word.n_literals": 10,
        "words.explain_word.n_documents": 1,
        "words.match_place_rule.n_documents": 1,
        "words.match_rule.n_documents": 1,
        "words.clause_states.n_literals": 10,
    }
    found = room_numbers("explain")
    assert {name: found.get(name, number) for name, number in expected.items()} == expected
