"""The application and its server: the page's files, its questions, and the guard before them."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import threading
from typing import TYPE_CHECKING

from omnitm.errors import ParameterError, needs_extra

with needs_extra("The explorer", "explorer"):
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

from collections.abc import Callable
from pathlib import Path

from omnitm.explain import Explainer
from omnitm.explorer.answers import Answers
from omnitm.explorer.export import static_files
from omnitm.explorer.guard import Guard
from omnitm.explorer.map_keeper import MapKeeper
from omnitm.explorer.routes import Api
from omnitm.explorer.schemas import ExplorerSettings

if TYPE_CHECKING:
    from starlette.requests import Request


_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_WAITING_CONNECTIONS = 1024
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
    routes = []
    for name, content in static_files():
        answer = Response(content, media_type=_TYPES[name.rsplit(".", 1)[-1]])
        routes.append(Route("/" if name == "index.html" else f"/{name}", answer, methods=["GET"]))
    return routes


async def _nothing_here(request: Request, error: Exception) -> Response:
    """Answer programs as data, and people with a page."""
    status = getattr(error, "status_code", 404)
    if "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/api/"):
        return Response(_NOTHING_HERE, status_code=status, media_type="text/html")
    return JSONResponse({"error": "there is nothing at this address"}, status_code=status)


def serve(
    explainer: Explainer,
    settings: ExplorerSettings,
    *,
    ready: Callable[[str], None],
    groups: str = "",
    comparison: Path | None = None,
) -> None:
    """Serve the page until the process is interrupted.

    Parameters
    ----------
    ready
        Called with the page's address once it can be opened.
    groups, comparison
        See `create_app`.
    """
    with needs_extra("The explorer", "explorer"):
        import uvicorn
    app = create_app(explainer, settings, groups=groups, comparison=comparison)
    listener = listen(settings)
    threading.Thread(target=app.state.answers.warm_up, daemon=True).start()
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=32 * 1024,
        ws="none",
        server_header=False,
    )
    logging.getLogger("uvicorn.error").addFilter(is_news)
    ready(address(listener))
    try:
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        app.state.maps.stop()
        app.state.answers.stop()
        listener.close()


def is_news(record: logging.LogRecord) -> bool:
    """Tell whether to show what the server logs: not that an interrupt has cut off questions."""
    cause = record.exc_info[0] if record.exc_info else None
    was_cut_off = cause is not None and issubclass(cause, asyncio.CancelledError)
    return not was_cut_off and "timeout graceful shutdown exceeded" not in record.getMessage()


def listen(settings: ExplorerSettings) -> socket.socket:
    """Open the port, or say what to do about it."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host.strip("[]"), settings.port))
        listener.listen(_WAITING_CONNECTIONS)
    except (OSError, UnicodeError) as error:
        listener.close()
        raise ParameterError(_refusal(settings, error)) from None
    return listener


def address(listener: socket.socket) -> str:
    """Return the address to open in a browser."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def _refusal(settings: ExplorerSettings, error: Exception) -> str:
    number = getattr(error, "errno", None)
    if number == errno.EADDRINUSE:
        return (
            f"Port {settings.port} is in use; choose another with --port, or --port 0 for any that is free."
        )
    if number == errno.EACCES:
        return f"Port {settings.port} needs more rights than you have; choose one above 1023 with --port."
    return f"Cannot listen at {settings.host}:{settings.port}: {getattr(error, 'strerror', None) or error}."
