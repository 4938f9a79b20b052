"""Arrays set aside while an index is being built: in a temporary file, or in memory for small corpora."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from omnitm.errors import FileError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import DTypeLike, NDArray


class Handle(NamedTuple):
    """Where an array was put."""

    offset: int  # bytes, or number in memory
    size: int  # elements
    dtype: DTypeLike


class Scratch(Protocol):
    """A place for arrays that are read back later, from any thread."""

    def put(self, array: NDArray[Any]) -> Handle:
        """Set an array aside."""

    def get(self, handle: Handle, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return elements `start` to `stop` of an array that was set aside."""


class MemoryScratch:
    """Keeps the arrays themselves."""

    def __init__(self) -> None:
        self._arrays: list[NDArray[Any]] = []
        self._lock = threading.Lock()

    def put(self, array: NDArray[Any]) -> Handle:
        """Set an array aside."""
        with self._lock:
            self._arrays.append(array)
            return Handle(len(self._arrays) - 1, array.size, array.dtype)

    def get(self, handle: Handle, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return elements `start` to `stop` of an array that was set aside."""
        return self._arrays[handle.offset][start:stop]


class FileScratch:
    """One growing file without a name: it vanishes with the process, whatever happens."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "scratch.bin"
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        self._path.unlink()
        self._end = 0
        self._lock = threading.Lock()

    def put(self, array: NDArray[Any]) -> Handle:
        """Append an array to the file."""
        with self._lock:
            offset, self._end = self._end, self._end + array.nbytes
        write_at(self._file, array, offset, self._path)
        return Handle(offset, array.size, array.dtype)

    def get(self, handle: Handle, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Read elements `start` to `stop` of an array back."""
        stop = handle.size if stop is None else stop
        width = np.dtype(handle.dtype).itemsize
        array = np.empty(stop - start, dtype=handle.dtype)
        view = memoryview(array.view(np.uint8).data)
        done = 0
        while done < len(view):
            got = os.preadv(self._file, [view[done:]], handle.offset + start * width + done)
            if got == 0:
                raise FileError(self._path, "the temporary file ends too early")
            done += got
        return array

    def close(self) -> None:
        """Give the space back."""
        os.close(self._file)


def write_at(file: int, array: NDArray[Any], offset: int, path: Path) -> None:
    """Write a whole array at a byte offset; a full disk is reported by the name of the file."""
    if array.size == 0:
        return
    view = np.ascontiguousarray(array).view(np.uint8).data
    done = 0
    try:
        while done < len(view):
            done += os.pwrite(file, view[done:], offset + done)
    except OSError as error:
        raise FileError(path, f"cannot be written: {error.strerror}; nothing was left behind") from error
