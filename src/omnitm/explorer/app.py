"""The application: the page's files, its questions, and the guard before them."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from omnitm.errors import needs_extra

with needs_extra("The explorer", "explorer"):
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

from omnitm.explorer.answers import Answers
from omnitm.explorer.guard import Guard
from omnitm.explorer.routes import Api
from omnitm.explorer.schemas import ExplorerSettings
from omnitm.explorer.vocabulary_map import MapKeeper

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable
    from pathlib import Path

    from starlette.requests import Request

    from omnitm.explain import Explainer

_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


_NOTHING_HERE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Nothing here · omnitm</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml"><link rel="stylesheet" href="/style.css"></head>
<body><main><section class="empty"><h1>There is nothing at this address</h1>
<p class="soft">A word is at /?word=road, a comparison at /?view=compare&amp;word=road&amp;other=car.</p>
<p><a class="button" href="/">To the start</a></p></section></main></body></html>
"""


def create_app(
    explainer: Explainer,
    settings: ExplorerSettings | None = None,
    *,
    groups: str = "",
    comparison: Path | None = None,
) -> Starlette:
    """Make the web application of one model.

    Parameters
    ----------
    explainer
        The model, with its index or without.
    settings
        Limits; None: the defaults.
    groups
        Groups of words to colour the map by, a line each: `vehicles: car bus train`.
    comparison
        Words that were compared between groups of documents: as `omnitm compare -o change.json` writes them.
    """
    settings = settings or ExplorerSettings()
    answers = Answers(explainer, groups, comparison)
    api = Api(answers, MapKeeper(explainer), settings)
    app = Starlette(
        routes=[*api.routes(), *_file_routes()],
        middleware=[Middleware(Guard, settings=settings)],
        exception_handlers={404: _nothing_here, 405: _nothing_here},
    )
    app.state.answers, app.state.maps = answers, api.maps
    return app


def _file_routes() -> list[Route]:
    """Serve exactly the files that belong to the page, read once; no path ever reaches the disk."""
    pages = {
        path: _file_answer(name, content)
        for path, name, content in _files(files(__package__) / "static", "/")
    }
    pages["/"] = pages.pop("/index.html")
    return [Route(path, answer, methods=["GET"]) for path, answer in pages.items()]


def _files(folder: Traversable, path: str) -> Iterator[tuple[str, str, bytes]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _files(entry, f"{path}{entry.name}/")
        elif entry.name.rsplit(".", 1)[-1] in _TYPES:
            yield f"{path}{entry.name}", entry.name, entry.read_bytes()


def _file_answer(name: str, content: bytes) -> Response:
    return Response(content, media_type=_TYPES[name.rsplit(".", 1)[-1]])


async def _nothing_here(request: Request, error: Exception) -> Response:
    """Answer programs as data, and people with a page."""
    status = getattr(error, "status_code", 404)
    if "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/api/"):
        return Response(_NOTHING_HERE, status_code=status, media_type="text/html")
    return JSONResponse({"error": "there is nothing at this address"}, status_code=status)
