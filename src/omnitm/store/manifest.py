"""The list of a model's files with their sizes and hashes: what makes a folder a finished model."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from omnitm.errors import FileError
from omnitm.files.kinds import MODEL_FORMAT
from omnitm.files.plain import write_file
from omnitm.store.record import read_json

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST, SETTINGS, FEATURES, WORDS, VECTORS = (
    "manifest.json",
    "settings.json",
    "features.txt",
    "words.txt",
    "vectors.i16",
)
COORDINATES = "coordinates.txt"  # in place of FEATURES where columns are not words
REALS = "vectors.f32"  # in place of VECTORS
TOP = "vectors.top"  # in place of VECTORS, if rows keep few coordinates, see top.py
SPARSE = "vectors.sparse"  # in place of VECTORS, if most are zero, see sparse.py
JOURNAL = "journal"
SIMILARITY = "similarity.bin"  # follows from the vectors, see derived.py; not listed
TYPES = {VECTORS: "<i2", REALS: "<f4"}
_VERSION = 1
_LISTED = (SETTINGS, FEATURES, WORDS, VECTORS)
_INSTEAD = {COORDINATES: FEATURES, REALS: VECTORS, TOP: VECTORS, SPARSE: VECTORS}
_LARGEST = 1 << 62


class FileEntry(NamedTuple):
    """One file of a model; the file may be longer while words are being added."""

    size: int
    sha256: str


def write_manifest(folder: Path, entries: dict[str, FileEntry]) -> None:
    """Declare the folder a finished model; everything listed must be durable by now."""
    write_file(folder / MANIFEST, (json.dumps(manifest_content(entries), indent=2) + "\n").encode())


def manifest_content(entries: dict[str, FileEntry]) -> dict[str, Any]:
    """Return what a manifest says."""
    files = {name: entry._asdict() for name, entry in entries.items()}
    return {"format": MODEL_FORMAT, "version": _VERSION, "files": files}


def read_manifest(folder: Path) -> dict[str, FileEntry]:
    """Read and check the manifest; it must list exactly the files that a model has."""
    path = folder / MANIFEST
    return manifest_entries(path, read_json(path))


def vectors_name(entries: dict[str, FileEntry]) -> str:
    """Return the name of the file with the vectors."""
    return next(name for name in (VECTORS, REALS, TOP, SPARSE) if name in entries)


def manifest_entries(path: Path, content: dict[str, Any]) -> dict[str, FileEntry]:
    """Check what a manifest says."""
    if content.get("format") != MODEL_FORMAT:
        raise FileError(path, f"is not the manifest of an omnitm model ('format' must be {MODEL_FORMAT!r})")
    if content.get("version") != _VERSION:
        wanted = f"version {_VERSION}, which this omnitm reads; a newer omnitm may be needed"
        raise FileError(path, f"has version {str(content.get('version'))[:20]} instead of {wanted}")
    files = content.get("files")
    if not isinstance(files, dict) or sorted(_INSTEAD.get(str(n), str(n)) for n in files) != sorted(_LISTED):
        instead = ", ".join(f"{other} for {usual}" for other, usual in _INSTEAD.items())
        raise FileError(path, f"must list exactly the files {', '.join(_LISTED)} (or {instead})")
    return {name: _entry(path, name, files[name]) for name in files}


def _entry(path: Path, name: str, value: object) -> FileEntry:
    if not isinstance(value, dict) or set(value) != {"size", "sha256"}:
        raise FileError(path, f"must give size and sha256 of {name}")
    size, sha256 = value["size"], value["sha256"]
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size <= _LARGEST:
        raise FileError(path, f"gives {name} a size that is no size: {str(size)[:40]}")
    if not isinstance(sha256, str) or not re.fullmatch(r"[0-9a-f]{64}", sha256):
        raise FileError(path, f"gives {name} a sha256 that is none")
    return FileEntry(size, sha256)
