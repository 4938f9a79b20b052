"""Linux and macOS."""

from __future__ import annotations

import ctypes
import fcntl
import os
from pathlib import Path

#: How files are opened: never through a link, and never for the processes that are started here.
CAREFULLY = os.O_NOFOLLOW | os.O_CLOEXEC
#: For reading what others have made: a FIFO would make a plain open() wait for ever.
READING = os.O_RDONLY | os.O_NONBLOCK | CAREFULLY
HAS_WORKERS = True
_HERE, _EXCHANGE = -100, 2  # AT_FDCWD, RENAME_EXCHANGE


def read_at(descriptor: int, size: int, offset: int) -> bytes:
    """Read up to `size` bytes from a place of a file."""
    return os.pread(descriptor, size, offset)


def read_into(descriptor: int, view: memoryview, offset: int) -> int:
    """Read from a place of a file until the view is full or the file ends; return the bytes read."""
    return os.preadv(descriptor, [view], offset)


def write_at(descriptor: int, content: bytes | memoryview, offset: int) -> int:
    """Write at a place of a file; return the bytes written."""
    return os.pwrite(descriptor, content, offset)


def lock(descriptor: int, *, wait: bool) -> bool:
    """Lock a file against all who lock it, until it is closed; False if it is locked and we don't wait."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def remove_locked(path: Path, descriptor: int) -> None:
    """Remove a file that is locked, and give the lock up: in this order nobody can lock what is gone."""
    try:
        path.unlink()
    finally:
        os.close(descriptor)


def sync(path: Path) -> None:
    """Make the content of a file, or renames and removals in a folder, durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def exchange(first: Path, second: Path) -> bool:
    """Swap two folders in one step; False where the system cannot (macOS), and nothing has happened."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    if rename is None:
        return False
    return bool(rename(_HERE, os.fsencode(first), _HERE, os.fsencode(second), _EXCHANGE) == 0)


def open_scratch(path: Path) -> int:
    """Make a file that is gone when it is closed, or when this process ends."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    path.unlink()
    return descriptor


def user() -> str:
    """Return what tells the users of this machine apart."""
    return str(os.getuid())


def is_own(facts: os.stat_result) -> bool:
    """Whether a file or folder belongs to this user."""
    return facts.st_uid == os.getuid()


def memory_size() -> int:
    """Bytes of memory that this machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
