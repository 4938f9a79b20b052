r"""Arrays and what is said of them in one file that notices any damage: caches that can be made again.

```text
"OMNITMD\x01" (8 bytes)   length of the header (8)   SHA-256 of the header (32)   header (JSON)
arrays, each from the next multiple of 64 bytes on
```

The header has the CRC-32C of everything after it, which is looked at whenever the file is opened.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitm import _native
from omnitm.errors import FileError
from omnitm.files.checked import mapped
from omnitm.files.plain import new_file

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
