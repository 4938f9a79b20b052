"""Questions are answered in threads, so that a slow one never holds up the others; how many is bounded."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.to_thread

from omnitm.errors import OmniTMError

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnitm.explorer.settings import ExplorerSettings

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
