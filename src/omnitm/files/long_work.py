"""Work that takes long and has no bar: what is done is logged, and every second that it goes on."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Iterator

LONG_WORK = "omnitm.long_work"  # the log that the command line shows
_EVERY = 1.0  # seconds


@contextlib.contextmanager
def long_work(text: str) -> Iterator[None]:
    """Log a text, and then, for those who want details, how many seconds the work has taken so far.

    These records have the number as `seconds`, and None when the work has ended.
    """
    log, ended = logging.getLogger(LONG_WORK), threading.Event()
    log.info(text)
    if not log.isEnabledFor(logging.DEBUG):
        yield
        return

    def tell() -> None:
        started = time.monotonic()
        while not ended.wait(_EVERY):
            seconds = round(time.monotonic() - started)
            log.debug("%s: %d s", text, seconds, extra={"seconds": seconds})

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()
        log.debug("%s: ended", text, extra={"seconds": None})
