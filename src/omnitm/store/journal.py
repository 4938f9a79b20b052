"""The rows of a model in training that are finished: an append-only file that a crash cannot confuse.

```text
header:  magic (8 bytes)  SHA-256 of the plan (32)   CRC-32 of the 40 bytes before (4)
record:  row (4)          CRC-32 of the row (4)      CRC-32 of the 8 bytes before (4)
```

Numbers are little-endian. Every record checks itself, so a torn or damaged one only means that its row is
trained again. The open file is also the lock that keeps a second trainer out.
"""

from __future__ import annotations

import errno
import os
import struct
import zlib
from pathlib import Path

from omnitm.errors import FileError
from omnitm.files import system
from omnitm.files.kinds import JOURNAL_MAGIC
from omnitm.files.plain import open_regular, writing

# Layout: magic, SHA-256 of the plan, CRC-32 of both; then a record per row: row, CRC-32 of its bytes, CRC-32
# of the record. A record that does not check is as if it were not there: its row is trained again.
_CHECK = struct.Struct("<I")
_RECORD = struct.Struct("<II")
_HEADER_SIZE = len(JOURNAL_MAGIC) + 32 + _CHECK.size
_RECORD_SIZE = _RECORD.size + _CHECK.size


class Journal:
    """The journal of a model that this process alone may train.

    Attributes
    ----------
    plan
        SHA-256 of the files that the training started from, or None before `begin`.
    rows
        CRC-32 of every finished row.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = _open_locked(path)
        content = system.read_at(self._descriptor, os.fstat(self._descriptor).st_size, 0)
        self.plan, self.rows = _parse(content)
        if self.plan is not None:  # a torn tail would shift every later record
            whole = (len(content) - _HEADER_SIZE) // _RECORD_SIZE * _RECORD_SIZE + _HEADER_SIZE
            with writing(path):
                os.ftruncate(self._descriptor, whole)

    def forget(self) -> None:
        """Forget the plan and all rows."""
        with writing(self.path):
            os.ftruncate(self._descriptor, 0)
        self.plan, self.rows = None, {}

    def begin(self, plan: bytes) -> None:
        """Forget all rows and start again for the plan with this SHA-256."""
        self.forget()
        with writing(self.path):
            # On the disk before any record is: records without a plan would belong to nothing.
            self._append(_checked(JOURNAL_MAGIC + plan))
            os.fsync(self._descriptor)
        self.plan = plan

    def add(self, row: int, crc: int) -> None:
        """Note that a row is written; safe to call from several threads."""
        # After the row itself is written: a record without its row would be worse than a row without record.
        self._append(_checked(_RECORD.pack(row, crc)))
        self.rows[row] = crc

    def _append(self, content: bytes) -> None:
        if os.write(self._descriptor, content) != len(content):  # only a full disk takes a part of so little
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def remove(self) -> None:
        """Delete the file and give the lock up."""
        descriptor, self._descriptor = self._descriptor, -1
        with writing(self.path):
            system.remove_locked(self.path, descriptor)

    def close(self) -> None:
        """Give the lock up."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def finished_rows(path: Path) -> int:
    """Count the finished rows of a model that may be in training elsewhere; 0 if there is no journal."""
    if not path.exists():
        return 0
    with os.fdopen(open_regular(path), "rb") as file:
        return len(_parse(file.read())[1])


def _open_locked(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | system.CAREFULLY
    while True:
        with writing(path):
            descriptor = os.open(path, flags, 0o666)
        if not system.lock(descriptor, wait=False):
            os.close(descriptor)
            problem = "another process is training this model; wait until it ends, or choose another folder"
            raise FileError(path.parent, problem)
        # The lock is on a file that may have lost its name since; only the one that has it now counts.
        if path.exists() and os.path.samestat(os.fstat(descriptor), path.stat()):
            return descriptor
        os.close(descriptor)  # its owner finished and removed it between our open and our lock


def _parse(content: bytes) -> tuple[bytes | None, dict[int, int]]:
    header = content[:_HEADER_SIZE]
    if len(header) < _HEADER_SIZE or not header.startswith(JOURNAL_MAGIC) or not _is_sound(header):
        return None, {}
    rows = {}
    for start in range(_HEADER_SIZE, len(content) - _RECORD_SIZE + 1, _RECORD_SIZE):
        record = content[start : start + _RECORD_SIZE]
        if _is_sound(record):
            row, crc = _RECORD.unpack_from(record)
            rows[row] = crc
    return header[len(JOURNAL_MAGIC) : -_CHECK.size], rows


def _checked(content: bytes) -> bytes:
    return content + _CHECK.pack(zlib.crc32(content))


def _is_sound(content: bytes) -> bool:
    return _checked(content[: -_CHECK.size]) == content
