r"""The list of a folder's files with their sizes and checksums: what makes a folder whole.

```text
manifest.json   format, version and facts; "files": size and SHA-256 of each; "checksums": the same of
                checksums.bin; "checksum": SHA-256 of this very text with 64 zeros in its place
checksums.bin   CRC-32C of every 4,096 bytes of every file, in the order of the manifest (little-endian)
```

Folders made before there were checksums of blocks have neither of the last two entries, and still open.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from omnitm.errors import FileError
from omnitm.files.checked import CheckedFile, FileDigest, FileEntry, n_blocks
from omnitm.files.plain import open_regular, read_file, sha256_of, sync_folder, write_file, writing

MANIFEST, CHECKSUMS = "manifest.json", "checksums.bin"
NEXT_CHECKSUMS = f".{CHECKSUMS}.next"  # those of a manifest that is about to be written
CHECKSUMS_ENTRY, CHECKSUM_ENTRY = "checksums", "checksum"
LARGEST_MANIFEST = 1 << 16
_LARGEST_SUMS = 1 << 32
_LARGEST = 1 << 62
_NO_CHECKSUM = "0" * 64


class FolderKind(NamedTuple):
    """What a folder is, and what helps when it is damaged."""

    format: str
    version: int
    advice: str

    @property
    def problem(self) -> str:
        """What to say of a file that is not as it was written."""
        return f"the file is damaged (it differs from the manifest); {self.advice}"


@dataclass(frozen=True, eq=False)
class Manifest:
    """What a folder should hold.

    Attributes
    ----------
    facts
        What is said besides the files.
    sha256
        Of the manifest itself: the same, the same bytes in every file.
    sums
        Checksums of the blocks of every file; None in older folders.
    """

    folder: Path
    kind: FolderKind
    facts: dict[str, Any]
    files: dict[str, FileEntry]
    sha256: str
    sums: dict[str, NDArray[np.uint32]] | None

    def check_size(self, name: str, *, may_grow: bool = False) -> None:
        """Refuse a file that is missing or has another size; one that `may_grow` can be longer."""
        descriptor = open_regular(self.folder / name)
        found, size = os.fstat(descriptor).st_size, self.files[name].size
        os.close(descriptor)
        if found < size or (found > size and not may_grow):
            problem = f"should have {size:,} bytes but has {found:,}; {self.kind.problem}"
            raise FileError(self.folder / name, problem)

    def read(self, name: str, limit: int = _LARGEST) -> bytes:
        """Read a whole file and compare its SHA-256."""
        content = read_file(self.folder / name, limit, self.files[name].size)
        if hashlib.sha256(content).hexdigest() != self.files[name].sha256:
            raise FileError(self.folder / name, self.kind.problem)
        return content

    def verify(self, name: str) -> None:
        """Read a file of any size and compare its SHA-256."""
        if sha256_of(self.folder / name, self.files[name].size) != self.files[name].sha256:
            raise FileError(self.folder / name, self.kind.problem)

    def map(self, name: str) -> CheckedFile:
        """Map a file, to be checked by blocks when they are first read."""
        sums = None if self.sums is None else self.sums[name]
        return CheckedFile(self.folder / name, self.files[name].size, sums, self.kind.problem)


def manifest_text(
    kind: FolderKind, facts: Mapping[str, Any], files: Mapping[str, FileEntry]
) -> dict[str, Any]:
    """Return what a manifest says, without what protects it."""
    listed = {name: entry._asdict() for name, entry in files.items()}
    return {"format": kind.format, "version": kind.version, **facts, "files": listed}


def write_manifest(
    folder: Path, kind: FolderKind, digests: Mapping[str, FileDigest], facts: Mapping[str, Any] | None = None
) -> None:
    """Declare a folder whole; everything listed must be durable by now.

    The new checksums get their name after the manifest has its own: until then the former ones are in their
    place, and a reader takes those that fit the manifest. So a crash at any moment leaves one of two states.
    """
    sums = np.concatenate([np.empty(0, dtype="<u4"), *(digest.sums() for digest in digests.values())])
    stored = np.ascontiguousarray(sums, dtype="<u4").tobytes()
    content = manifest_text(kind, facts or {}, {name: digest.entry for name, digest in digests.items()})
    content[CHECKSUMS_ENTRY] = FileDigest(stored).entry._asdict()
    # The hash of the text with zeros in its own place, which are then replaced by it.
    text = (json.dumps({**content, CHECKSUM_ENTRY: _NO_CHECKSUM}, indent=1) + "\n").encode()
    checksum = hashlib.sha256(text).hexdigest()
    # Sums, manifest, name of the sums: in this order, see above.
    write_file(folder / NEXT_CHECKSUMS, stored)
    write_file(folder / MANIFEST, _with_checksum(text, _NO_CHECKSUM, checksum))
    with writing(folder / CHECKSUMS):
        (folder / NEXT_CHECKSUMS).replace(folder / CHECKSUMS)
    sync_folder(folder)


def read_manifest(folder: Path, kind: FolderKind, *, sums: bool = True) -> Manifest:
    """Read and check a manifest; without `sums` what is mapped is not checked."""
    path = folder / MANIFEST
    text = read_file(path, LARGEST_MANIFEST)
    content = json_object(path, text)
    if content.get("format") != kind.format:
        raise FileError(path, f"is not the manifest of an {kind.format} ('format' must be {kind.format!r})")
    if content.get("version") != kind.version:
        wanted = f"version {kind.version}, which this omnitm reads; a newer omnitm may be needed"
        raise FileError(path, f"has version {str(content.get('version'))[:20]} instead of {wanted}")
    _check_own_checksum(path, text, content, kind)
    files = file_entries(path, content)
    of_sums = content.get(CHECKSUMS_ENTRY)
    stored = _read_sums(folder, kind, _entry(path, CHECKSUMS, of_sums), files) if of_sums and sums else None
    return Manifest(folder, kind, content, files, hashlib.sha256(text).hexdigest(), stored)


def file_entries(path: Path, content: Mapping[str, Any]) -> dict[str, FileEntry]:
    """Return the files that a manifest lists."""
    files = content.get("files")
    if not isinstance(files, dict):
        raise FileError(path, "must list files under 'files'")
    return {name: _entry(path, name, value) for name, value in files.items()}


def json_object(path: Path, content: bytes) -> dict[str, Any]:
    """Parse a small JSON file that must hold an object."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise FileError(path, f"is not JSON ({str(error)[:100]})") from None
    if not isinstance(value, dict):
        raise FileError(path, f"must hold a JSON object, not {type(value).__name__}")
    return value


def _check_own_checksum(path: Path, text: bytes, content: Mapping[str, Any], kind: FolderKind) -> None:
    """Compare a manifest with its own checksum; older ones have neither entry."""
    checksum = content.get(CHECKSUM_ENTRY)
    if checksum is None and CHECKSUMS_ENTRY not in content:
        return
    blank = _with_checksum(text, str(checksum), _NO_CHECKSUM)
    if hashlib.sha256(blank).hexdigest() != checksum:
        raise FileError(path, f"is damaged: it does not fit its own checksum; {kind.advice}")


def _with_checksum(text: bytes, old: str, new: str) -> bytes:
    start, found, end = text.rpartition(f'"{CHECKSUM_ENTRY}": "{old}"'.encode())
    return start + (f'"{CHECKSUM_ENTRY}": "{new}"'.encode() if found else b"") + end


def _entry(path: Path, name: str, value: object) -> FileEntry:
    if not isinstance(value, dict) or set(value) != {"size", "sha256"}:
        raise FileError(path, f"must give size and sha256 of {name}")
    size, sha256 = value["size"], value["sha256"]
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size <= _LARGEST:
        raise FileError(path, f"gives {name} a size that is no size: {str(size)[:40]}")
    if not isinstance(sha256, str) or not re.fullmatch(r"[0-9a-f]{64}", sha256):
        raise FileError(path, f"gives {name} a sha256 that is none")
    return FileEntry(size, sha256)


def _read_sums(
    folder: Path, kind: FolderKind, entry: FileEntry, files: Mapping[str, FileEntry]
) -> dict[str, NDArray[np.uint32]]:
    """Read the checksums that fit the manifest; right after it was written they have another name."""
    counts = [n_blocks(file.size) for file in files.values()]
    if entry.size != 4 * sum(counts):
        raise FileError(folder / MANIFEST, f"does not fit its own checksums; {kind.advice}")
    for name in (CHECKSUMS, NEXT_CHECKSUMS):
        if (folder / name).exists():
            content = read_file(folder / name, _LARGEST_SUMS)
            if FileEntry(len(content), hashlib.sha256(content).hexdigest()) == entry:
                sums = np.frombuffer(content, dtype="<u4").astype(np.uint32, copy=False)
                return dict(zip(files, np.split(sums, np.cumsum(counts)[:-1]), strict=True))
    raise FileError(
        folder / CHECKSUMS, f"is missing or damaged (it differs from the manifest); {kind.advice}"
    )
