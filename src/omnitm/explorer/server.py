"""Run the page on this machine."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import threading
from typing import TYPE_CHECKING

from omnitm.errors import ParameterError, needs_extra
from omnitm.explorer.app import create_app

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from omnitm.explain import Explainer
    from omnitm.explorer.schemas import ExplorerSettings

_WAITING_CONNECTIONS = 1024


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
