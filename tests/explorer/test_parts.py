"""Spelling, passages and threads on their own."""

from __future__ import annotations

import asyncio
import doctest
import logging
import threading

import anyio
import pytest

from omnitm.corpus import DocumentIndex
from omnitm.explain import Document
from omnitm.explorer import ExplorerSettings, answers
from omnitm.explorer.answers import PASSAGE, Speller, passage
from omnitm.explorer.app import is_news
from omnitm.explorer.routes import BusyError, Threads


def test_docstrings() -> None:
    result = doctest.testmod(answers)
    assert result.attempted
    assert not result.failed


def test_completion_ignores_case_and_keeps_importance() -> None:
    speller = Speller(["roads", "road", "ROADSIDE", "car", "straße"])
    assert speller.complete("ROAD", 9) == ["road", "roads", "ROADSIDE"]
    assert speller.complete("road", 1) == ["road"]
    assert speller.complete("strass", 9) == ["straße"]
    assert speller.complete("zebra", 9) == []


@pytest.mark.parametrize("word", ["", "x" * 100_000, "\u0000", "😀", "raod "])
def test_nearest_takes_anything(word: str) -> None:
    assert set(Speller(["road", "car"]).nearest(word, 3)) <= {"road", "car"}
    assert Speller([]).nearest(word, 3) == []


@pytest.fixture
def index() -> DocumentIndex:
    return DocumentIndex.from_documents(["A cat sat.", "The dog"])


def marks(found: dict[str, list[dict[str, str | None]]]) -> list[tuple[str | None, str | None]]:
    return [(piece["text"], piece["word"]) for piece in found["pieces"]]


def test_words_are_marked_as_the_corpus_reads_them(index: DocumentIndex) -> None:
    found = passage(index, Document(0, "The Cat, the `(DOG)!`  and\ncat's", ("cat",)), {"cat", "dog"})
    assert marks(found) == [
        ("The ", None), ("Cat", "cat"), (", the `(", None), ("DOG", "dog"), (")!`  and\n", None),
        ("cat's", "cat"),
    ]  # fmt: skip
    assert found["cut"] == [False, False]


def test_a_long_document_is_cut_around_the_first_mark(index: DocumentIndex) -> None:
    text = "far " * 2_000 + "cat " + "away " * 2_000
    found = passage(index, Document(7, text, ("cat",)), {"cat"})
    shown = "".join(str(piece["text"]) for piece in found["pieces"])
    assert "cat" in shown
    assert len(shown) < PASSAGE + 50
    assert found["cut"] == [True, True]


def test_a_monstrous_token_is_shortened(index: DocumentIndex) -> None:
    found = passage(index, Document(7, "x" * 1_000_000, ()), {"cat"})
    assert len(str(found["pieces"][0]["text"])) <= PASSAGE


def test_words_stand_in_for_a_text_that_is_gone(index: DocumentIndex) -> None:
    found = passage(index, Document(7, None, ("cat", "sat")), {"sat"})
    assert found["is_text"] is False
    assert marks(found) == [("cat ", None), ("sat", "sat")]


def test_too_many_questions_are_refused() -> None:
    threads = Threads(1, ExplorerSettings(max_waiting=1))

    release, refused = threading.Event(), []

    async def ask() -> None:
        try:
            await threads.run(release.wait, 120)
        except BusyError as error:
            refused.append(str(error))
            release.set()

    async def ask_three() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(ask)

    anyio.run(ask_three)
    assert refused == ["too many questions at once; wait a moment and ask again"]


@pytest.mark.parametrize(
    ("text", "error", "shown"),
    [
        ("Exception in ASGI application", ValueError(), True),
        ("Exception in ASGI application", asyncio.CancelledError(), False),
        ("Cancel 1 running task(s), timeout graceful shutdown exceeded", None, False),
        ("something else", None, True),
    ],
)
def test_an_interrupt_shows_no_traceback(text: str, error: BaseException | None, shown: bool) -> None:
    cause = None if error is None else (type(error), error, None)
    assert is_news(logging.LogRecord("uvicorn.error", logging.ERROR, "", 0, text, None, cause)) is shown
