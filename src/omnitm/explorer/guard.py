"""Checks before every request: only our own page may ask, in small requests; and headers for the browser."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders

from omnitm.explorer.schemas import ExplorerSettings

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


class Guard:
    """ASGI middleware that refuses foreign hosts and origins and large bodies, and adds safe headers."""

    def __init__(self, app: ASGIApp, settings: ExplorerSettings) -> None:
        self.app, self.settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(Headers(scope=scope), scope["path"])
        if refusal is not None:
            await _answer(send, *refusal)
            return
        await self.app(scope, receive, _with_headers(send))

    def _refusal(self, headers: Headers, path: str) -> tuple[int, str] | None:
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self.settings.is_own_host(host):
            return 421, "this server only answers to its own address; open the address that it printed"
        if origin is not None and not self.settings.is_own_origin(origin, host):
            return 403, "another page asked; only the explorer's own page may"
        if path.startswith("/api/") and headers.get("sec-fetch-site", "none") not in {"same-origin", "none"}:
            return 403, "another page asked; only the explorer's own page may"
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()) or int(length) > self.settings.max_body:
            return 413, f"a request may have at most {self.settings.max_body:,} bytes"
        return None


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_with_headers


async def _answer(send: Send, status: int, problem: str) -> None:
    content = json.dumps({"error": problem}).encode()
    named = {"Content-Type": "application/json", "Content-Length": str(len(content)), **HEADERS}
    headers = [(name.lower().encode(), value.encode()) for name, value in named.items()]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
