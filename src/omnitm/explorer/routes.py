"""The addresses of the page's questions: check the question, answer it in a thread, return JSON.

The number of threads is bounded, and a slow question never holds up the others.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.to_thread
from starlette.responses import Response
from starlette.routing import Route

from omnitm.errors import OmniTMError, ParameterError, UnknownWordError
from omnitm.explain import Explainer
from omnitm.explorer.answers import METRICS, Answers
from omnitm.explorer.map_keeper import MapKeeper
from omnitm.explorer.schemas import ExplorerSettings, Question, TooLargeError, as_json, parse_body
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from starlette.requests import Request


Parameter = Callable[[Question], Any]

Result = TypeVar("Result")
Address = tuple[Any, ...]  # threads, a function, and what reads each of its parameters from a question


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
_ANY = 1_000_000  # more than there are themes or clauses
_BODY_SECONDS = 10


class Api:
    """The handlers of one model's questions."""

    def __init__(self, answers: Answers, maps: MapKeeper, settings: ExplorerSettings) -> None:
        self.answers, self.maps, self.settings = answers, maps, settings
        self.quick = Threads(settings.n_quick, settings)
        self.heavy = Threads(settings.n_heavy, settings)

    def routes(self) -> list[Route]:
        """All addresses: which threads answer, what they call, and what it is given of the question."""
        ask, quick, heavy, word = self.answers, self.quick, self.heavy, _text("word")
        asked: dict[str, Address] = {
            "model": (quick, ask.model),
            "complete": (quick, ask.complete, _text("q", ""), _count("k", 12)),
            "invitations": (heavy, ask.invitations),
            "neighbours": (quick, ask.neighbours, word, _metric(ask.vectors), _count("k", 20)),
            "inferred": (heavy, ask.inferred, word, _metric(ask.vectors), _count("k", 20)),
            "row": (quick, ask.row, word, _count("k", 20)),
            "standing-out": (quick, ask.standing_out, word, _count("k", 20)),
            "compare": (heavy, ask.compare, word, _text("other"), _metric(ask.explainer), _count("k", 12)),
            "rules": (heavy, ask.rules, word, _count("k", 10)),
            "document-rules": (heavy, ask.document_rules, word, _count("k", 5)),
            "senses": (heavy, ask.senses, word),
            "themes": (quick, ask.themes, _text("word", ""), _count("k", 6)),
            "theme": (heavy, ask.theme, _count("theme", 0, _ANY), _count("k", 20)),
            "clause": (heavy, ask.clause, word, _count("clause", 0, _ANY)),
            "trace": (heavy, ask.trace, word, _text("literal"), _is_negated),
            "change": (heavy, ask.change, *_GROUPS, word),
            "changes": (heavy, ask.changes, *_GROUPS, _count("k", 100, _MOST_CHANGES)),
            "vocabulary": (quick, ask.vocabulary),
            "map": (quick, self.maps.state),
            "map/words": (quick, ask.map_words),
            "map/points": (heavy, self._map_points),
        }
        told: dict[str, Address] = {
            "matches": (
                heavy,
                ask.matches,
                word,
                _words("present"),
                _words("absent"),
                _count("documents", 0, _MOST_DOCUMENTS),
            ),
            "evidence": (heavy, ask.evidence, _one_to_ten_words, _count("k", 5, _MOST_DOCUMENTS)),
            "common": (heavy, ask.common, _several_words, _count("k", 12)),
            "map": (quick, self.maps.start),
            "themes": (quick, ask.start_themes),
            "changes": (heavy, ask.start_changes, *_GROUPS),
        }
        return [
            *(self._route("GET", name, *address) for name, address in asked.items()),
            *(self._route("POST", name, *address) for name, address in told.items()),
        ]

    def _route(
        self, method: str, name: str, threads: Threads, function: Callable[..., Any], *parameters: Parameter
    ) -> Route:
        async def answer(request: Request) -> Response:
            try:
                values = dict(request.query_params) if method == "GET" else await self._body(request)
                question = Question(values, self.settings)
                found = await threads.run(function, *(parameter(question) for parameter in parameters))
            except OmniTMError as error:
                return _json(problem(error), status_of(error))
            return found if isinstance(found, Response) else _json(found)

        return Route(f"/api/{name}", answer, methods=[method])

    async def _body(self, request: Request) -> dict[str, Any]:
        content = bytearray()
        with anyio.move_on_after(_BODY_SECONDS):
            async for chunk in request.stream():
                content += chunk
                if len(content) > self.settings.max_body:
                    raise TooLargeError(f"a request may have at most {self.settings.max_body:,} bytes")
            return parse_body(bytes(content))
        raise BusyError("the request came too slowly; send it again")

    def _map_points(self) -> Response:
        """Send the points of the map as they are stored."""
        return Response(self.maps.points(), media_type="application/octet-stream")


def _text(name: str, default: str | None = None) -> Parameter:
    return lambda question: question.text(name, default)


def _count(name: str, default: int, most: int | None = None) -> Parameter:
    return lambda question: question.count(name, default, most)


def _words(name: str) -> Parameter:
    return lambda question: question.words(name)


def _metric(model: WordVectors | Explainer) -> Parameter:
    return lambda question: question.choice("metric", model.default_metric, METRICS)


def _is_negated(question: Question) -> bool:
    return question.choice("negated", "no", ("no", "yes")) == "yes"


def _one_to_ten_words(question: Question) -> list[str]:
    words = question.words("words")
    if not 1 <= len(words) <= 10:
        raise ParameterError(f"The 'words' parameter must have 1 to 10 words. Got {len(words):,} instead.")
    return words


def _several_words(question: Question) -> list[str]:
    words = question.words("words")
    if len(set(words)) < 2:
        raise ParameterError("The 'words' parameter must have at least two different words.")
    return words


_GROUPS = tuple(_text(name, "") for name in ("by", "first", "second"))


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
