r"""Arrays that follow from a model's vectors, kept beside them so that they are computed once.

```text
"OMNITMD\x01" (8 bytes)   length of the header (8)   SHA-256 of the header (32)   header (JSON)
arrays, each from the next multiple of 64 bytes on
```

The header has the CRC-32 of everything after it: that is quick enough to be looked at whenever the file is
opened, and no flipped bit gets past it. The file is no part of the model: it may be deleted, and one that is
damaged or does not fit is made again.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.errors import FileError
from omnitm.files.plain import open_regular, sync_folder
from omnitm.store.manifest import SIMILARITY, read_manifest, vectors_name
from omnitm.store.packed import is_packed, read_packed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

_MAGIC = b"OMNITMD\x01"
_START = len(_MAGIC) + 8 + 32
_ALIGNMENT = 64
_LONGEST_HEADER = 1 << 16
_CHECKSUM = "crc32"
_CHECKSUM_DIGITS = 8


def write_derived(folder: Path, recipe: int, arrays: Mapping[str, NDArray[Any]]) -> bool:
    """Keep arrays beside the vectors that they follow from; False if the folder cannot be written."""
    path, sha256 = _place(folder)
    temporary = path.with_name(f".{path.name}.tmp")
    header = _header(recipe, sha256, arrays)
    start = _MAGIC + len(header).to_bytes(8, "little") + hashlib.sha256(header).digest() + header
    try:
        temporary.unlink(missing_ok=True)
        with temporary.open("xb") as file:
            file.write(start)
            for part in _parts(arrays, len(start)):
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError:
        return False
    return True


def _header(recipe: int, sha256: str, arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Say what the arrays are; the checksum has a fixed width, so that it does not move what it is of."""
    entries = {name: (array.dtype.str, list(array.shape)) for name, array in arrays.items()}
    facts = {"recipe": recipe, "vectors_sha256": sha256, "arrays": entries, _CHECKSUM: "0" * _CHECKSUM_DIGITS}
    checksum = 0
    for part in _parts(arrays, _START + len(json.dumps(facts))):
        checksum = zlib.crc32(part, checksum)
    return json.dumps({**facts, _CHECKSUM: f"{checksum:0{_CHECKSUM_DIGITS}x}"}).encode()


def _parts(arrays: Mapping[str, NDArray[Any]], place: int) -> Iterator[bytes | memoryview]:
    """All that follows the header, which ends at `place`: arrays and the gaps before them."""
    for array in arrays.values():
        gap = -place % _ALIGNMENT
        yield bytes(gap)
        yield np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
        place += gap + array.nbytes


def read_derived(folder: Path, recipe: int) -> dict[str, NDArray[Any]] | None:
    """Map the arrays kept beside a model; None if there are none, or they belong to other vectors."""
    path, sha256 = _place(folder)
    try:
        descriptor = open_regular(path)
    except FileError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        facts = _read_header(file.read(_START), file, size)
        if facts is None or (facts.get("recipe"), facts.get("vectors_sha256")) != (recipe, sha256):
            return None
        buffer = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
        place = file.tell()
        with memoryview(buffer) as content, content[place:] as rest:
            checksum = f"{zlib.crc32(rest):0{_CHECKSUM_DIGITS}x}"
        return _arrays(buffer, place, facts["arrays"]) if facts.get(_CHECKSUM) == checksum else None


def _place(model: Path) -> tuple[Path, str]:
    """Where the arrays of a model, a folder or packed, are kept, and the SHA-256 of its vectors."""
    if is_packed(model):
        manifest = read_packed(model).manifest
        return model.with_name(f"{model.name}.{SIMILARITY}"), manifest[vectors_name(manifest)].sha256
    manifest = read_manifest(model)
    return model / SIMILARITY, manifest[vectors_name(manifest)].sha256


def _read_header(start: bytes, file: Any, size: int) -> dict[str, Any] | None:
    length = int.from_bytes(start[8:16], "little")
    if len(start) != _START or start[:8] != _MAGIC or not 0 < length <= min(size, _LONGEST_HEADER):
        return None
    header = file.read(length)
    if hashlib.sha256(header).digest() != start[16:]:
        return None
    facts = json.loads(header)  # only what write_derived wrote has the right hash
    return facts if isinstance(facts, dict) else None


def _arrays(buffer: mmap.mmap, place: int, entries: dict[str, Any]) -> dict[str, NDArray[Any]] | None:
    arrays: dict[str, NDArray[Any]] = {}
    for name, (kind, shape) in entries.items():
        place += -place % _ALIGNMENT
        count = int(np.prod(shape, dtype=np.int64))
        end = place + count * np.dtype(kind).itemsize
        if end > len(buffer):
            return None
        arrays[name] = np.frombuffer(buffer, dtype=kind, count=count, offset=place).reshape(shape)
        place = end
    return arrays if place == len(buffer) else None
