"""Which files a model has, and what its manifest must list."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from omnitm.errors import FileError
from omnitm.files.checked import FileEntry
from omnitm.files.kinds import MODEL_FORMAT
from omnitm.files.manifest import (
    CHECKSUMS,
    MANIFEST,
    NEXT_CHECKSUMS,
    FolderKind,
    Manifest,
    file_entries,
    manifest_text,
    read_manifest,
)

KIND = FolderKind(MODEL_FORMAT, 1, "restore it from a copy or train the model again")
SETTINGS, FEATURES, WORDS, VECTORS = "settings.json", "features.txt", "words.txt", "vectors.i16"
COORDINATES = "coordinates.txt"  # in place of FEATURES where columns are not words
REALS = "vectors.f32"  # in place of VECTORS
TOP = "vectors.top"  # in place of VECTORS, if rows keep few coordinates, see rows.py
PLACES, PLACE_VECTORS = "places.txt", "places.top"  # of the coordinates of place, if there are any
SPARSE = "vectors.sparse"  # in place of VECTORS, if most are zero, see rows.py
JOURNAL = "journal"
SIMILARITY = "similarity.bin"  # follows from the vectors, see similarity_cache.py; not listed
TYPES = {VECTORS: "<i2", REALS: "<f4"}
ALL_FILES = (
    *(MANIFEST, CHECKSUMS, NEXT_CHECKSUMS),
    *(SETTINGS, FEATURES, COORDINATES, WORDS, VECTORS, REALS, TOP, SPARSE, SIMILARITY, PLACES, PLACE_VECTORS),
)
_LISTED = (SETTINGS, FEATURES, WORDS, VECTORS)
_INSTEAD = {COORDINATES: FEATURES, REALS: VECTORS, TOP: VECTORS, SPARSE: VECTORS}


def model_manifest(folder: Path, *, sums: bool = True) -> Manifest:
    """Read the manifest of a model; it must list exactly the files that a model has."""
    path = folder / MANIFEST
    manifest = read_manifest(folder, KIND, sums=sums)
    _check_listed(path, manifest.files)
    return manifest


def manifest_content(entries: Mapping[str, FileEntry]) -> dict[str, Any]:
    """Return what the manifest of a model says of its files."""
    return manifest_text(KIND, {}, entries)


def manifest_entries(path: Path, content: Mapping[str, Any]) -> dict[str, FileEntry]:
    """Check what a packed file says of the model that was packed."""
    if content.get("format") != KIND.format or content.get("version") != KIND.version:
        raise FileError(path, f"has no manifest of an {KIND.format}, version {KIND.version}")
    entries = file_entries(path, content)
    _check_listed(path, entries)
    return entries


def vectors_name(entries: Mapping[str, FileEntry]) -> str:
    """Return the name of the file with the vectors."""
    return next(name for name in (VECTORS, REALS, TOP, SPARSE) if name in entries)


def _check_listed(path: Path, files: Mapping[str, FileEntry]) -> None:
    listed = [*_LISTED, PLACES, PLACE_VECTORS] if PLACES in files else _LISTED
    if sorted(_INSTEAD.get(name, name) for name in files) != sorted(listed):
        instead = ", ".join(f"{other} for {usual}" for other, usual in _INSTEAD.items())
        raise FileError(path, f"must list exactly the files {', '.join(_LISTED)} (or {instead})")
