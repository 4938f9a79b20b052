r"""Files that notice damage: mapped ones that are checked block by block, and containers of arrays.

A file that a manifest lists is read through the memory map; each block of 4,096 bytes is checked when it is
first used. Checksums are CRC-32C, which notices every single flipped bit, at about 10 gigabytes per second.

A container has arrays, and what is said of them, in one file; caches that can be made again are such files:

```text
"OMNITMD\x01" (8 bytes)   length of the header (8)   SHA-256 of the header (32)   header (JSON)
arrays, each from the next multiple of 64 bytes on
```

The header has the checksum of everything after it, which is looked at whenever the file is opened.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from omnitm import _native
from omnitm.errors import FileError
from omnitm.files.hashing import Sha256, update_together
from omnitm.files.plain import new_file, open_regular

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
        self._sha256 = Sha256()
        self._sums: list[NDArray[np.uint32]] = []
        self._rest = b""  # the beginning of a block whose end is still to come
        self.update(content)

    def update(self, content: Bytes) -> None:
        """Take the next piece."""
        data = np.frombuffer(content, dtype=np.uint8) if len(content) else np.empty(0, dtype=np.uint8)
        update_digests([(self, data)])

    def _add_sums(self, data: NDArray[np.uint8]) -> None:
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


def update_digests(pieces: Sequence[tuple[FileDigest, NDArray[np.uint8]]]) -> None:
    """Give each of several digests its next piece: sooner than one after the other."""
    update_together([(digest._sha256, data) for digest, data in pieces])  # noqa: SLF001  # of the same module
    for digest, data in pieces:
        digest._add_sums(data)  # noqa: SLF001


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


_MAGIC = b"OMNITMD\x01"
_START = len(_MAGIC) + 8 + 32
_ALIGNMENT = 64  # a cache line, enough for every vector instruction
_LONGEST_HEADER = 1 << 20  # bytes; a forged length must not make us read more
_CHECKSUM, _FORMER_CHECKSUM = "crc32c", "crc32"


def write_container(path: Path, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays, and what is said of them, in one step."""
    entries = {name: (array.dtype.str, list(array.shape)) for name, array in arrays.items()}
    header = {**facts, "arrays": entries, _CHECKSUM: "0" * 8}  # of fixed width: it moves nothing
    content = _content(arrays, _START + len(json.dumps(header)))
    header[_CHECKSUM] = f"{_native.crc32c(content):08x}"
    text = json.dumps(header).encode()
    with new_file(path) as file:
        file.write(_MAGIC + len(text).to_bytes(8, "little") + hashlib.sha256(text).digest() + text)
        file.write(content.data)


def read_container(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Map the arrays of a file and return what is said of them; FileError if anything is damaged."""
    content = mapped(path, path.stat().st_size)
    length = int.from_bytes(content[len(_MAGIC) : len(_MAGIC) + 8].tobytes(), "little")
    if content[: len(_MAGIC)].tobytes() != _MAGIC or not 0 < length <= min(len(content), _LONGEST_HEADER):
        raise FileError(path, "is damaged, or of another version: it does not begin as it should")
    text, rest = content[_START : _START + length].tobytes(), content[_START + length :]
    if hashlib.sha256(text).digest() != content[len(_MAGIC) + 8 : _START].tobytes():
        raise FileError(path, "is damaged: its header does not fit its checksum")
    header: dict[str, Any] = json.loads(text)  # only what was written here has the right hash
    if not _is_sound(rest, header.pop(_CHECKSUM, None), header.pop(_FORMER_CHECKSUM, None)):
        raise FileError(path, "is damaged: its content does not fit its checksum")
    return header, _arrays(content, _START + length, header.pop("arrays"))


def _is_sound(content: NDArray[np.uint8], checksum: str | None, former: str | None) -> bool:
    # Files of earlier versions have the slower CRC-32 of zlib.
    if former is not None:
        return former == f"{zlib.crc32(content.data):08x}"
    return checksum == f"{_native.crc32c(content):08x}"


def _content(arrays: Mapping[str, NDArray[Any]], place: int) -> NDArray[np.uint8]:
    """All that follows the header, which ends at `place`: arrays and the gaps before them."""
    parts, start = [np.empty(0, dtype=np.uint8)], place
    for array in arrays.values():
        gap = -start % _ALIGNMENT
        parts += [np.zeros(gap, dtype=np.uint8), np.ascontiguousarray(array).reshape(-1).view(np.uint8)]
        start += gap + array.nbytes
    return np.concatenate(parts)


def _arrays(
    content: NDArray[np.uint8], place: int, entries: Mapping[str, tuple[str, list[int]]]
) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {}
    for name, (kind, shape) in entries.items():
        place += -place % _ALIGNMENT
        end = place + int(np.prod(shape, dtype=np.int64)) * np.dtype(kind).itemsize
        arrays[name] = content[place:end].view(kind).reshape(shape)
        place = end
    return arrays
