"""Work that takes longer than a question may: in a thread of its own, and it tells how far it has come."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from omnitm.errors import OmniTMError


class StoppedError(OmniTMError):
    """The work was stopped, because its answer is no longer wanted."""


class Work:
    """One piece of work, begun at once.

    Parameters
    ----------
    action
        Called with this object; says what it does by `tell`. What it returns is the `result`.
    """

    def __init__(self, action: Callable[[Work], Any]) -> None:
        self.result: Any = None
        self.problem: OmniTMError | None = None
        self._action, self._is_stopped = action, False
        self._stage, self._done, self._total = "", 0, 0
        self._since = time.monotonic()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def tell(self, stage: str, done: int = 0, total: int = 0) -> None:
        """Say what is done, and how much of it; raises if the work is to stop."""
        if self._is_stopped:
            raise StoppedError("stopped")
        if (stage, total) != (self._stage, self._total):
            self._since = time.monotonic()
        self._stage, self._done, self._total = stage, done, total

    def stop(self) -> None:
        """Make the next `tell` the last one."""
        self._is_stopped = True

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the work has ended, or so long; return whether it has."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def state(self) -> dict[str, Any]:
        """Say how far the work has come; `left` is in seconds, None as long as that cannot be said."""
        done, total = self._done, self._total
        passed = time.monotonic() - self._since
        return {
            "stage": self._stage,
            "done": done / total if total else None,
            "left": passed * (total - done) / done if done else None,
            "problem": "" if self.problem is None else str(self.problem),
        }

    def _run(self) -> None:
        try:
            self.result = self._action(self)
        except OmniTMError as error:
            self.problem = error
