"""The reading test in docs/: as written by its script, every word judged, no rule without a document."""

from __future__ import annotations

import json

import pytest
import reading_test

FOUND = json.loads((reading_test.RESULTS / "reading-test.json").read_text(encoding="utf-8"))
WORDS = [word for words in reading_test.WORDS.values() for word in words]


def test_forty_words_are_judged() -> None:
    assert len({*WORDS}) == 40
    judged = reading_test.judged()
    assert list(FOUND) == list(judged) == WORDS
    for answers in judged.values():
        assert {*answers[: len(reading_test.QUESTIONS)]} <= {*reading_test.ANSWERS}


@pytest.mark.parametrize("word", WORDS)
def test_the_first_rules_hold_in_documents(word: str) -> None:
    rules = FOUND[word]["rules"]
    assert 1 <= len(rules) <= reading_test.N_RULES  # one if all positive clauses ask for the same words
    for rule in [*rules, *FOUND[word]["document_rules"][:1]]:
        assert rule["hits"] > 0
        assert rule["lift"] > 1
        assert len(rule["rule"].split(" AND ")) <= 5  # four literals, and "NOT 3 others"


def test_the_page_is_what_the_script_writes() -> None:
    assert reading_test.PAGE.read_text(encoding="utf-8") == reading_test.render()
