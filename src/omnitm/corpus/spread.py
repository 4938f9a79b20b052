"""Work spread over threads, with results in order."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Item = TypeVar("Item")
Result = TypeVar("Result")


class Spread:
    """Threads for work that leaves the interpreter; one thread means the one that asks."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._pool = ThreadPoolExecutor(n_threads)

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Results in the order of the items, which are begun a few at a time."""
        if self.n_threads == 1:
            yield from map(work, items)
            return
        ahead: deque[Future[Result]] = deque()
        try:
            for item in items:
                ahead.append(self._pool.submit(work, item))
                if len(ahead) > self.n_threads:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for future in ahead:
                future.cancel()

    def ranges(self, size: int) -> list[tuple[int, int]]:
        """One range (from, to) of `size` things per thread."""
        bounds = [size * k // self.n_threads for k in range(self.n_threads + 1)]
        return list(pairwise(bounds))

    def __enter__(self) -> Spread:  # noqa: PYI034  # typing.Self needs Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()
