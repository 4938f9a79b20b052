"""Files that are read through the memory map, and checked block by block when a block is first used.

A block is 4,096 bytes; its checksum is CRC-32C, which notices every single flipped bit. Native code checks
about 10 gigabytes per second.
"""

from __future__ import annotations

import hashlib
import mmap
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from omnitm import _native
from omnitm.errors import FileError
from omnitm.files.plain import open_regular

Bytes = bytes | bytearray | memoryview | NDArray[np.uint8]

BLOCK: int = _native.CHECKSUM_BLOCK
# 128 MiB: at 10 GB per second a whole file of this size is checked in about 13 ms.
_SMALL = 1 << 27  # bytes


class FileEntry(NamedTuple):
    """Size and SHA-256 of a file."""

    size: int
    sha256: str


class FileDigest:
    """Size, SHA-256 and the checksums of all blocks of a file whose content is given piece by piece."""

    def __init__(self, content: Bytes = b"") -> None:
        self.size = 0
        self._sha256 = hashlib.sha256()
        self._sums: list[NDArray[np.uint32]] = []
        self._rest = b""  # the beginning of a block whose end is still to come
        self.update(content)

    def update(self, content: Bytes) -> None:
        """Take the next piece."""
        data = np.frombuffer(content, dtype=np.uint8) if len(content) else np.empty(0, dtype=np.uint8)
        self._sha256.update(data.data)
        self.size += len(data)
        if self._rest:
            missing = BLOCK - len(self._rest)
            self._rest, data = self._rest + data[:missing].tobytes(), data[missing:]
            if len(self._rest) < BLOCK:
                return
            self._sums.append(block_checksums(np.frombuffer(self._rest, dtype=np.uint8)))
        whole = len(data) // BLOCK * BLOCK
        self._sums.append(block_checksums(data[:whole]))
        self._rest = data[whole:].tobytes()

    @property
    def entry(self) -> FileEntry:
        """What a manifest says of the file, as far as it is known."""
        return FileEntry(self.size, self._sha256.hexdigest())

    def sums(self) -> NDArray[np.uint32]:
        """Return the checksums of all blocks; the last block may be shorter."""
        return np.concatenate([*self._sums, block_checksums(np.frombuffer(self._rest, dtype=np.uint8))])


def block_checksums(content: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Compute the checksum of every block."""
    sums = np.empty(n_blocks(len(content)), dtype=np.uint32)
    _native.block_checksums(content, sums)
    return sums


def n_blocks(size: int) -> int:
    """Count the blocks of a file."""
    return -(-size // BLOCK)


class CheckedFile:
    """A memory-mapped file; whoever takes bytes out of `content` asks for a check of them first.

    Parameters
    ----------
    size
        How much of the file counts; it may be longer while words are being added.
    sums
        Checksums of all blocks; None: unknown, and nothing is checked.
    problem
        What to say of a block that does not fit its checksum.
    """

    def __init__(self, path: Path, size: int, sums: NDArray[np.uint32] | None, problem: str) -> None:
        self.path, self.content = path, mapped(path, size)
        self._sums, self._problem = sums, problem
        # A flag per block; threads may set the same one twice, which does no harm.
        self._checked = np.zeros(n_blocks(size), dtype=np.uint8)
        self.is_sound = sums is None or size == 0

    def check(self) -> None:
        """Check all blocks, once."""
        if not self.is_sound:
            self.check_spans(np.zeros(1, dtype=np.int64), len(self.content))
            self.is_sound = True

    def check_spans(self, starts: NDArray[np.int64], span: int) -> None:
        """Check the blocks that hold the `span` bytes from each of these places on."""
        if not self.is_sound and self._sums is not None:
            self._accept(_native.check_spans(self.content, self._sums, self._checked, starts, span))

    def check_cells(self, starts: NDArray[np.int64], span: int) -> None:
        """Check single numbers of many rows; a small file as a whole, as for a column."""
        if len(starts) > 1 and len(self.content) <= _SMALL:
            self.check()
        else:
            self.check_spans(starts, span)

    def check_column(self, start: int, distance: int, span: int) -> None:
        """Check the blocks that hold `span` bytes at the same place of every row of `distance` bytes.

        A file that takes a few milliseconds is checked as a whole: other columns are likely to follow.
        """
        if len(self.content) <= _SMALL:
            self.check()
        elif not self.is_sound and self._sums is not None:
            self._accept(_native.check_column(self.content, self._sums, self._checked, start, distance, span))

    def _accept(self, block: int) -> None:
        # The number of the first bad block, or -1.
        if block >= 0:
            raise FileError(self.path, f"damaged near byte {block * BLOCK:,}: {self._problem}")

    def array(self, dtype: DTypeLike) -> NDArray[Any]:
        """Check the whole file and return it as numbers."""
        self.check()
        return self.content.view(dtype)


def mapped(path: Path, size: int) -> NDArray[np.uint8]:
    """Map the first `size` bytes of a file, which must be there."""
    if size == 0:
        return np.zeros(0, dtype=np.uint8)
    descriptor = open_regular(path)
    try:
        found = os.fstat(descriptor).st_size
        if found < size:
            raise FileError(path, f"should have {size:,} bytes but has {found:,}; it has been cut off")
        # The map keeps the file open by itself, so the descriptor can be closed.
        buffer = mmap.mmap(descriptor, size, access=mmap.ACCESS_READ)
    finally:
        os.close(descriptor)
    return np.frombuffer(buffer, dtype=np.uint8)
