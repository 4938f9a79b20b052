"""The addresses of the page's questions: check the question, answer it in a thread, return JSON.

The number of threads is bounded, and a slow question never holds up the others.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.to_thread
from starlette.responses import Response
from starlette.routing import Route

from omnitm.errors import OmniTMError, ParameterError, UnknownWordError
from omnitm.explorer.answers import METRICS
from omnitm.explorer.schemas import Question, TooLargeError, as_json, parse_body

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

    from omnitm.explorer.answers import Answers
    from omnitm.explorer.schemas import ExplorerSettings
    from omnitm.explorer.vocabulary_map import MapKeeper

    Handler = Callable[[Question], Awaitable[Any]]

Result = TypeVar("Result")


class BusyError(OmniTMError):
    """Too many questions at once, or one that took too long."""


class Threads:
    """A few threads for one kind of question."""

    def __init__(self, count: int, settings: ExplorerSettings) -> None:
        self._count, self._settings = count, settings
        self._limiter: anyio.CapacityLimiter | None = None
        self._n_asked = 0

    async def run(self, function: Callable[..., Result], *arguments: object, **named: object) -> Result:
        """Call a function in a thread; refuse when many wait, give up when it takes too long."""
        if self._limiter is None:  # belongs to the event loop, which is not there before the first question
            self._limiter = anyio.CapacityLimiter(self._count)
        if self._n_asked >= self._count + self._settings.max_waiting:
            raise BusyError("too many questions at once; wait a moment and ask again")
        call = partial(function, *arguments, **named)
        self._n_asked += 1
        try:
            with anyio.move_on_after(self._settings.timeout):
                return await anyio.to_thread.run_sync(call, limiter=self._limiter, abandon_on_cancel=True)
        finally:
            self._n_asked -= 1
        raise BusyError(f"no answer within {self._settings.timeout:g} seconds; ask for less, or again later")


_MOST_DOCUMENTS = 20
_MOST_CHANGES = 10_000
_BODY_SECONDS = 10


class Api:
    """The handlers of one model's questions."""

    def __init__(self, answers: Answers, maps: MapKeeper, settings: ExplorerSettings) -> None:
        self.answers, self.maps, self.settings = answers, maps, settings
        self.quick = Threads(settings.n_quick, settings)
        self.heavy = Threads(settings.n_heavy, settings)

    def routes(self) -> list[Route]:
        """All addresses under /api."""
        asked = {
            "model": self.model,
            "complete": self.complete,
            "invitations": self.invitations,
            "neighbours": self.neighbours,
            "row": self.row,
            "standing-out": self.standing_out,
            "compare": self.compare,
            "rules": self.rules,
            "document-rules": self.document_rules,
            "senses": self.senses,
            "themes": self.themes,
            "theme": self.theme,
            "clause": self.clause,
            "trace": self.trace,
            "change": self.change,
            "changes": self.changes,
            "map": self.map,
        }
        told = {
            "matches": self.matches,
            "evidence": self.evidence,
            "common": self.common,
            "map": self.start_map,
            "themes": self.start_themes,
            "changes": self.start_changes,
        }
        return [
            *(Route(f"/api/{name}", self._get(handler), methods=["GET"]) for name, handler in asked.items()),
            *(Route(f"/api/{name}", self._post(handler), methods=["POST"]) for name, handler in told.items()),
            Route("/api/map/words", self._get(self.map_words), methods=["GET"]),
            Route("/api/vocabulary", self._get(self.vocabulary), methods=["GET"]),
            Route("/api/map/points", self._get(self.map_points), methods=["GET"]),
        ]

    def _get(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            return await self._answer(handler, lambda: _finished(dict(request.query_params)))

        return answer

    def _post(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            return await self._answer(handler, lambda: self._body(request))

        return answer

    async def _answer(self, handler: Handler, read: Callable[[], Awaitable[dict[str, Any]]]) -> Response:
        try:
            found = await handler(Question(await read(), self.settings))
        except OmniTMError as error:
            return _json(problem(error), status_of(error))
        return found if isinstance(found, Response) else _json(found)

    async def _body(self, request: Request) -> dict[str, Any]:
        content = bytearray()
        with anyio.move_on_after(_BODY_SECONDS):
            async for chunk in request.stream():
                content += chunk
                if len(content) > self.settings.max_body:
                    raise TooLargeError(f"a request may have at most {self.settings.max_body:,} bytes")
            return parse_body(bytes(content))
        raise BusyError("the request came too slowly; send it again")

    async def model(self, _: Question) -> Any:
        """Describe the model."""
        return await self.quick.run(self.answers.model)

    async def invitations(self, _: Question) -> Any:
        """Name questions to begin with."""
        return await self.heavy.run(self.answers.invitations)

    async def complete(self, question: Question) -> Any:
        """Complete a word."""
        return await self.quick.run(self.answers.complete, question.text("q", ""), question.count("k", 12))

    async def neighbours(self, question: Question) -> Any:
        """Find the neighbours of a word."""
        metric = question.choice("metric", self.answers.vectors.default_metric, METRICS)
        word, count = question.text("word"), question.count("k", 20)
        return await self.quick.run(self.answers.neighbours, word, metric, count)

    async def row(self, question: Question) -> Any:
        """Read the vector of a word."""
        return await self.quick.run(self.answers.row, question.text("word"), question.count("k", 20))

    async def standing_out(self, question: Question) -> Any:
        """Find what stands out in the vector of a word."""
        return await self.quick.run(self.answers.standing_out, question.text("word"), question.count("k", 20))

    async def compare(self, question: Question) -> Any:
        """Compare two words."""
        metric = question.choice("metric", self.answers.explainer.default_metric, METRICS)
        pair = question.text("word"), question.text("other")
        return await self.heavy.run(self.answers.compare, *pair, metric, question.count("k", 12))

    async def rules(self, question: Question) -> Any:
        """Read the rules of a word."""
        return await self.heavy.run(self.answers.rules, question.text("word"), question.count("k", 10))

    async def document_rules(self, question: Question) -> Any:
        """Find rules about single documents."""
        return await self.heavy.run(
            self.answers.document_rules, question.text("word"), question.count("k", 5)
        )

    async def senses(self, question: Question) -> Any:
        """Tell the senses of a word apart."""
        return await self.heavy.run(self.answers.senses, question.text("word"))

    async def themes(self, question: Question) -> Any:
        """Name the themes of a word, or of all words."""
        return await self.quick.run(self.answers.themes, question.text("word", ""), question.count("k", 6))

    async def start_themes(self, _: Question) -> Any:
        """Begin to find the themes in the background."""
        return await self.quick.run(self.answers.start_themes)

    async def theme(self, question: Question) -> Any:
        """Describe a theme."""
        theme = question.count("theme", 0, most=1_000_000)
        return await self.heavy.run(self.answers.theme, theme, question.count("k", 20))

    async def clause(self, question: Question) -> Any:
        """Read the states of a clause."""
        clause = question.count("clause", 0, most=1_000_000)
        return await self.heavy.run(self.answers.clause, question.text("word"), clause)

    async def trace(self, question: Question) -> Any:
        """Follow a literal through the training."""
        negated = question.choice("negated", "no", ("no", "yes")) == "yes"
        pair = question.text("word"), question.text("literal")
        return await self.heavy.run(self.answers.trace, *pair, negated=negated)

    async def change(self, question: Question) -> Any:
        """Compare the use of a word in two groups of documents."""
        return await self.heavy.run(self.answers.change, *_groups(question), question.text("word"))

    async def changes(self, question: Question) -> Any:
        """Rank words that were compared in two groups of documents."""
        count = question.count("k", 100, most=_MOST_CHANGES)
        return await self.heavy.run(self.answers.changes, *_groups(question), count)

    async def start_changes(self, question: Question) -> Any:
        """Begin to compare many words in two groups of documents."""
        return await self.heavy.run(self.answers.start_changes, *_groups(question))

    async def matches(self, question: Question) -> Any:
        """Count the documents that satisfy a rule."""
        documents = question.count("documents", 0, _MOST_DOCUMENTS)
        present, absent = question.words("present"), question.words("absent")
        return await self.heavy.run(self.answers.matches, question.text("word"), present, absent, documents)

    async def evidence(self, question: Question) -> Any:
        """Read documents that have all of some words."""
        words = question.words("words")
        if not 1 <= len(words) <= 10:
            raise ParameterError(
                f"The 'words' parameter must have 1 to 10 words. Got {len(words):,} instead."
            )
        return await self.heavy.run(self.answers.evidence, words, question.count("k", 5, _MOST_DOCUMENTS))

    async def common(self, question: Question) -> Any:
        """Tell what words have in common."""
        words = question.words("words")
        if len(set(words)) < 2:
            raise ParameterError("The 'words' parameter must have at least two different words.")
        return await self.heavy.run(self.answers.common, words, question.count("k", 12))

    async def map(self, _: Question) -> Any:
        """Tell which map there is, and how far a better one has come."""
        return await self.quick.run(self.maps.state)

    async def start_map(self, _: Question) -> Any:
        """Start to compute the full map in the background."""
        return await self.quick.run(self.maps.start)

    async def vocabulary(self, _: Question) -> Any:
        """Name all words of the vocabulary, in the order of coordinates and literals."""
        return {"words": self.answers.vectors.feature_names}

    async def map_words(self, _: Question) -> Any:
        """Name the words of the map, in the order of its points."""
        order = await self.quick.run(lambda: self.answers.map_order)
        return {"words": self.answers.vectors.index_to_key, "order": order}

    async def map_points(self, _: Question) -> Any:
        """Send the points of the map as they are stored."""
        found = await self.heavy.run(self.maps.points)
        return Response(found, media_type="application/octet-stream")


def _groups(question: Question) -> tuple[str, str, str]:
    return question.text("by", ""), question.text("first", ""), question.text("second", "")


async def _finished(values: dict[str, Any]) -> dict[str, Any]:
    return values


def _json(content: Any, status: int = 200) -> Response:
    return Response(as_json(content), status, media_type="application/json")


def problem(error: OmniTMError) -> dict[str, Any]:
    """Say what went wrong, as data."""
    if isinstance(error, UnknownWordError):
        return {"error": str(error), "word": error.word, "near": error.near}
    return {"error": str(error)}


def status_of(error: OmniTMError) -> int:
    """Choose the status that fits an error best."""
    kinds = ((UnknownWordError, 404), (TooLargeError, 413), (ParameterError, 400), (BusyError, 503))
    return next((status for kind, status in kinds if isinstance(error, kind)), 409)
