"""Means of building an index: arrays set aside in files or memory, and work spread over threads."""

from __future__ import annotations

import os
import threading
from bisect import insort
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from omnitm.errors import FileError
from omnitm.files import system


class Handle(NamedTuple):
    """Where an array was put."""

    offset: int  # bytes, or number in memory
    size: int  # elements
    dtype: DTypeLike
    file: int = 0


class Scratch(Protocol):
    """A place for arrays that are read back later, from any thread."""

    def put(self, array: NDArray[Any]) -> Handle:
        """Set an array aside."""

    def get(self, handle: Handle, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return elements `start` to `stop` of an array that was set aside."""

    def free(self, handle: Handle) -> None:
        """Forget an array; its place may be taken by another one."""


class MemoryScratch:
    """Keeps copies of the arrays."""

    def __init__(self) -> None:
        self._arrays: list[NDArray[Any]] = []
        self._lock = threading.Lock()

    def put(self, array: NDArray[Any]) -> Handle:
        """Set an array aside."""
        with self._lock:
            self._arrays.append(array.copy())
            return Handle(len(self._arrays) - 1, array.size, array.dtype)

    def get(self, handle: Handle, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return elements `start` to `stop` of an array that was set aside."""
        return self._arrays[handle.offset][start:stop]

    def free(self, handle: Handle) -> None:
        """Forget an array."""
        self._arrays[handle.offset] = self._arrays[handle.offset][:0].copy()


class FileScratch:
    """Growing files without a name: they vanish with the process, however it ends.

    One per thread that puts arrays aside, since a system lets only one thread at a time write to a file.
    """

    def __init__(self, folder: Path, n_files: int = 1) -> None:
        self._files: list[_ScratchFile] = []
        try:
            for k in range(n_files):
                self._files.append(_ScratchFile(folder / f"scratch{k}.bin"))
        except FileError:
            self.close()
            raise

    def put(self, array: NDArray[Any]) -> Handle:
        """Write an array to a file that is not being written to."""
        # The first file that nobody writes to; if all are busy, wait for the first one.
        free = (k for k, file in enumerate(self._files) if file.lock.acquire(blocking=False))
        number = next(free, None)
        if number is None:
            number = 0
            self._files[number].lock.acquire()
        try:
            return Handle(self._files[number].put(array), array.size, array.dtype, number)
        finally:
            self._files[number].lock.release()

    def free(self, handle: Handle) -> None:
        """Let other arrays take the place of this one: pages in use cost less than new ones."""
        end = handle.offset + handle.size * np.dtype(handle.dtype).itemsize
        with self._files[handle.file].lock:
            self._files[handle.file].free(handle.offset, end)

    def get(self, handle: Handle, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Read elements `start` to `stop` of an array back."""
        stop = handle.size if stop is None else stop
        array = np.empty(stop - start, dtype=handle.dtype)
        self._files[handle.file].read_into(array, handle.offset + start * array.itemsize)
        return array

    def close(self) -> None:
        """Give the space back."""
        for file in self._files:
            file.close()


class _ScratchFile:
    """Arrays in a file; whoever changes it holds its lock."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = system.open_scratch(path)
        except OSError as error:
            raise not_written(path, error) from error
        self._end = 0
        self._gaps: list[tuple[int, int]] = []  # from, to; in order, never touching
        self.lock = threading.Lock()

    def put(self, array: NDArray[Any]) -> int:
        """Write an array into the first gap that is large enough, or at the end."""
        offset = self._place_for(array.nbytes)
        write_at(self._file, array, offset, self._path)
        return offset

    def _place_for(self, n_bytes: int) -> int:
        for k, (start, end) in enumerate(self._gaps):
            if end - start >= n_bytes:
                # What is left of the gap stays a gap.
                self._gaps[k : k + 1] = [(start + n_bytes, end)] if end - start > n_bytes else []
                return start
        start, self._end = self._end, self._end + n_bytes
        return start

    def free(self, start: int, end: int) -> None:
        insort(self._gaps, (start, end))
        at = self._gaps.index((start, end))
        # Only its neighbours can touch a new gap.
        near = self._gaps[max(0, at - 1) : at + 2]
        self._gaps[max(0, at - 1) : at + 2] = _joined(near)

    def read_into(self, array: NDArray[Any], offset: int) -> None:
        view = memoryview(array.view(np.uint8).data)
        done = 0
        while done < len(view):
            got = system.read_into(self._file, view[done:], offset + done)
            if got == 0:
                raise FileError(self._path, "the temporary file ends too early")
            done += got

    def close(self) -> None:
        os.close(self._file)


def _joined(gaps: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in gaps:
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        elif end > start:
            joined.append((start, end))
    return joined


def open_new(path: Path) -> int:
    """Open a file that is not there yet for writing."""
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | system.CAREFULLY, 0o666)
    except OSError as error:
        raise not_written(path, error) from error


def not_written(path: Path, error: OSError) -> FileError:
    """Build the error for a file of a build that is given up."""
    return FileError(path, f"cannot be written: {error.strerror}; nothing was left behind")


def write_at(file: int, array: NDArray[Any], offset: int, path: Path) -> None:
    """Write a whole array at a byte offset; a full disk is reported by the name of the file."""
    if array.size == 0:
        return
    view = np.ascontiguousarray(array).view(np.uint8).data
    done = 0
    try:
        while done < len(view):
            done += system.write_at(file, view[done:], offset + done)
    except OSError as error:
        raise not_written(path, error) from error


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
                # Results are handed out in the order of the items, whichever is done first.
                ahead.append(self._pool.submit(work, item))
                # One more than there are threads: none waits, and few results are held.
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
