from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm.corpus import DocumentIndex
from omnitm.corpus.cooccurrence import words_of_documents
from omnitm.corpus.running import OFFSETS, PATTERNS
from omnitm.explain.matches import matching_documents
from omnitm.explain.places import matching_places, ruled_out_places

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("seed", range(20))
def test_documents_that_satisfy_a_rule_are_found_by_looking_at_each(
    random_index: Callable[..., DocumentIndex], seed: int
) -> None:
    index = random_index(200, 30, density=0.1, seed=seed)
    random = np.random.default_rng(seed)
    words = random.permutation(30).tolist()
    present, absent = words[: seed % 3], words[3 : 3 + int(random.integers(0, 20))]
    expected = [
        document
        for document in range(200)
        if set(present) <= set(index.words_of(document).tolist())
        and not set(absent) & set(index.words_of(document).tolist())
    ]
    assert matching_documents(index, present, absent).tolist() == expected


@pytest.mark.parametrize("seed", range(12))
def test_places_that_satisfy_a_rule_are_found_by_looking_at_each(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("omnitm.explain.places._PLACES_AT_A_TIME", 7)
    random = np.random.default_rng(seed)
    documents = [random.choice(list("abc"), int(random.integers(1, 6))).tolist() for _ in range(40)]
    running = DocumentIndex.from_documents(documents).running
    assert running is not None

    def holds(words: list[str], place: int, literal: tuple[int, str]) -> bool:
        at = place + OFFSETS[literal[0]]
        return 0 <= at < len(words) and words[at] == literal[1]

    literals = [(int(random.integers(4)), str(random.choice(list("abc")))) for _ in range(3)]
    for n_present in range(3):
        present, absent = literals[:n_present], literals[n_present:]
        expected, place = [], 0
        for words in documents:
            for k in range(len(words)):
                place += 1
                wanted = all(holds(words, k, literal) for literal in present)
                if wanted and not any(holds(words, k, literal) for literal in absent):
                    expected.append(place)
            place += 1  # the end of the document
        names = [[PATTERNS[column].format(word) for column, word in some] for some in (present, absent)]
        assert matching_places(running, names[0], names[1]).tolist() == expected
        candidates, counts = ruled_out_places(running, *names)
        with_wanted = matching_places(running, names[0], [])
        assert candidates == len(with_wanted)
        for name, count in zip(names[1], counts, strict=True):
            assert count == len(with_wanted) - len(matching_places(running, names[0], [name]))


def test_both_ways_to_leave_documents_out_are_taken(
    random_index: Callable[..., DocumentIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    from omnitm.explain import matches

    index = random_index(300, 40, density=0.1)
    rare = int(np.argmin(index.document_frequencies))
    frequent = np.argsort(-index.document_frequencies)[:6].tolist()
    taken: list[str] = []

    def watched(name: str) -> Callable[..., Any]:
        plain = getattr(matches, name)

        def call(*arguments: Any) -> Any:
            taken.append(name)
            return plain(*arguments)

        return call

    for name in ("_has_any", "_marked"):
        monkeypatch.setattr(matches, name, watched(name))
    few = matching_documents(index, [frequent[0], frequent[1]], frequent[2:])
    many = matching_documents(index, [frequent[0]], [rare])
    assert taken == ["_has_any", "_marked"]
    assert 0 < len(few) < len(many)


def test_words_of_documents_come_in_order(board: DocumentIndex) -> None:
    documents = np.array([5, 0, 5], dtype=np.uint32)
    expected = np.concatenate([board.words_of(n) for n in documents.tolist()])
    np.testing.assert_array_equal(words_of_documents(board, documents), expected)
