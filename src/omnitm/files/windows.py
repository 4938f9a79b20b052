"""Windows; not yet run there by us, only against a pretended `msvcrt` (tests/files)."""

from __future__ import annotations

import ctypes
import getpass
import msvcrt
import os
import threading
import time
from pathlib import Path
from typing import Any

_BINARY = getattr(os, "O_BINARY", 0)
CAREFULLY = _BINARY | getattr(os, "O_NOINHERIT", 0)  # links are looked for before a file is opened
READING = os.O_RDONLY | CAREFULLY
HAS_WORKERS = False  # processes cannot hand on the ends of a pipe as they do elsewhere
_LOCKED_BYTE = 1 << 40  # beyond any content: others could not read a byte that is locked
_SECONDS_BETWEEN_LOCKS = 0.05
_at_a_place = threading.Lock()  # a file has one position for all threads


def read_at(descriptor: int, size: int, offset: int) -> bytes:
    """Read up to `size` bytes from a place of a file."""
    with _at_a_place:
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.read(descriptor, size)


def read_into(descriptor: int, view: memoryview, offset: int) -> int:
    """Read from a place of a file until the view is full or the file ends; return the bytes read."""
    content = read_at(descriptor, len(view), offset)
    view[: len(content)] = content
    return len(content)


def write_at(descriptor: int, content: bytes | memoryview, offset: int) -> int:
    """Write at a place of a file; return the bytes written."""
    with _at_a_place:
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.write(descriptor, content)


def lock(descriptor: int, *, wait: bool) -> bool:
    """Lock a file against all who lock it, until it is closed; False if it is locked and we don't wait."""
    locking: Any = msvcrt
    while True:
        with _at_a_place:
            os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
            try:
                locking.locking(descriptor, locking.LK_NBLCK, 1)
            except OSError:
                if not wait:
                    return False
            else:
                return True
        time.sleep(_SECONDS_BETWEEN_LOCKS)


def remove_locked(path: Path, descriptor: int) -> None:
    """Remove a file that is locked; an open file cannot be removed here, so the lock is given up first."""
    os.close(descriptor)
    path.unlink()


def sync(path: Path) -> None:
    """Make the content of a file durable; folders cannot be synced here."""
    if path.is_dir():
        return
    descriptor = os.open(path, os.O_RDWR | CAREFULLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def exchange(_: Path, __: Path) -> bool:
    """Swap two folders in one step: Windows cannot."""
    return False


def open_scratch(path: Path) -> int:
    """Make a file that is gone when it is closed, or when this process ends."""
    temporary = getattr(os, "O_TEMPORARY", 0)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | temporary | CAREFULLY, 0o600)


def user() -> str:
    """Return what tells the users of this machine apart."""
    return getpass.getuser()


def is_own(_: os.stat_result) -> bool:
    """Whether a file or folder belongs to this user; temporary folders are each user's own here."""
    return True


class _MemoryStatus(ctypes.Structure):
    _fields_ = (
        ("length", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        ("total", ctypes.c_uint64),
        ("others", ctypes.c_uint64 * 6),
    )


def memory_size() -> int:
    """Bytes of memory that this machine has."""
    status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
    kernel: Any = ctypes
    kernel.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))
    return int(status.total)
