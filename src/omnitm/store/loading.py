"""Open a finished model: names are read and checked, vectors stay on disk."""

from __future__ import annotations

import hashlib
import mmap
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from omnitm.errors import FileError
from omnitm.files.kinds import refuse_other_kinds, shell_name
from omnitm.files.plain import open_regular, read_file, sha256_of, words_from_bytes
from omnitm.store.journal import finished_rows
from omnitm.store.manifest import (
    COORDINATES,
    FEATURES,
    JOURNAL,
    MANIFEST,
    SETTINGS,
    SPARSE,
    TOP,
    TYPES,
    VECTORS,
    WORDS,
    FileEntry,
    read_manifest,
    vectors_name,
)
from omnitm.store.packed import is_packed, read_packed
from omnitm.store.record import JSON_LIMIT, AnyRecord, is_sparse, keep_top_of, record_from_bytes
from omnitm.store.sparse import SparseMatrix
from omnitm.store.top import TopMatrix, row_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORDS_LIMIT = 1 << 28


@dataclass(frozen=True, eq=False)
class StoredModel:
    """The content of a model's folder or of a packed model.

    Attributes
    ----------
    matrix
        A numpy array, or a `RowMatrix` where rows are made when they are read.
    is_named
        Whether columns are words.
    """

    words: list[str]
    features: list[str]
    matrix: NDArray[Any]
    record: AnyRecord
    is_named: bool = True


def load_model(folder: str | Path, *, verify: bool = False) -> StoredModel:
    """Open a finished model, a folder or packed; `verify` also reads all vectors and checks their SHA-256."""
    folder = Path(folder)
    refuse_other_kinds(folder, "model", "packed model")
    if is_packed(folder):
        return _packed_model(folder, verify=verify)
    _check_finished(folder)
    entries = read_manifest(folder)
    for name, entry in entries.items():
        _check_size(folder, name, entry)
    record = record_from_bytes(folder / SETTINGS, _checked(folder, SETTINGS, entries, JSON_LIMIT))
    columns = FEATURES if FEATURES in entries else COORDINATES
    features = words_from_bytes(folder / columns, _checked(folder, columns, entries, _WORDS_LIMIT))
    words = words_from_bytes(folder / WORDS, _checked(folder, WORDS, entries, _WORDS_LIMIT))
    unknown = set(words).difference(features)
    if unknown and columns == FEATURES:
        raise FileError(folder / WORDS, f"names {min(unknown)!r}, which {FEATURES} does not have")
    vectors = vectors_name(entries)
    if (vectors == TOP) != (keep_top_of(record) is not None):
        raise FileError(folder / SETTINGS, f"does not say the same of 'keep_top' as {MANIFEST}")
    if vectors in {VECTORS, SPARSE} and (vectors == SPARSE) != is_sparse(record):
        raise FileError(folder / SETTINGS, f"does not say the same of 'sparse' as {MANIFEST}")
    matrix = _map_vectors(folder / vectors, entries[vectors], len(words), len(features), keep_top_of(record))
    if verify and sha256_of(folder / vectors, entries[vectors].size) != entries[vectors].sha256:
        raise FileError(folder / vectors, _DAMAGED)
    return StoredModel(words, features, matrix, record, columns == FEATURES)


def _check_finished(folder: Path) -> None:
    if not folder.is_dir():
        problem = "is not a folder" if folder.exists() else "does not exist"
        raise FileError(folder, f"{problem}; a model is the folder that `omnitm train -o` writes")
    if (folder / MANIFEST).is_symlink() or (folder / MANIFEST).exists():
        return
    if not (folder / JOURNAL).exists():
        raise FileError(folder, f"is not a model: it has no {MANIFEST}")
    total = read_file(folder / WORDS, _WORDS_LIMIT).count(b"\n") if (folder / WORDS).exists() else 0
    raise FileError(
        folder,
        f"this model is not finished: {finished_rows(folder / JOURNAL):,} of {total:,} words are trained; "
        f"continue with: omnitm train CORPUS -o {shell_name(folder)} --resume",
    )


def _check_size(folder: Path, name: str, entry: FileEntry) -> None:
    descriptor = open_regular(folder / name)
    found = os.fstat(descriptor).st_size
    os.close(descriptor)
    may_grow = name in {WORDS, VECTORS, TOP} and (folder / JOURNAL).exists()  # words are being added
    if found < entry.size or (found > entry.size and not may_grow):
        raise FileError(folder / name, f"should have {entry.size:,} bytes but has {found:,}; {_DAMAGED}")


def _checked(folder: Path, name: str, entries: dict[str, FileEntry], limit: int) -> bytes:
    content = read_file(folder / name, limit, entries[name].size)
    if hashlib.sha256(content).hexdigest() != entries[name].sha256:
        raise FileError(folder / name, _DAMAGED)
    return content


def _packed_model(path: Path, *, verify: bool) -> StoredModel:
    packed = read_packed(path, verify=verify)
    matrix = cast("NDArray[Any]", packed.matrix)
    return StoredModel(packed.words, packed.features, matrix, packed.record, packed.is_named)


def _map_vectors(
    path: Path, entry: FileEntry, n_rows: int, n_columns: int, keep_top: int | None
) -> NDArray[Any]:
    if path.name == SPARSE:
        content = _mapped(path, entry.size, np.dtype(np.uint8))
        return cast("NDArray[Any]", SparseMatrix(content, n_rows, n_columns, path))
    if keep_top is None:
        kind, shape = np.dtype(TYPES[path.name]), (n_rows, n_columns)
    else:
        kind, shape = row_type(keep_top), (n_rows, 1)
    expected = n_rows * shape[1] * kind.itemsize
    if entry.size != expected:
        problem = f"should have {expected:,} bytes for {n_rows:,} words x {n_columns:,} features"
        raise FileError(path, f"{problem}, but the manifest says {entry.size:,}")
    rows = _mapped(path, expected, kind).reshape(shape)
    return rows if keep_top is None else cast("NDArray[Any]", TopMatrix(path, rows[:, 0], n_columns))


def _mapped(path: Path, size: int, kind: np.dtype[Any]) -> NDArray[Any]:
    if size == 0:
        return np.zeros(0, dtype=kind)
    descriptor = open_regular(path)
    try:
        buffer = mmap.mmap(descriptor, size, access=mmap.ACCESS_READ)
    finally:
        os.close(descriptor)
    return np.frombuffer(buffer, dtype=kind)


_DAMAGED = (
    "the file is damaged (it differs from the manifest); restore it from a copy or train the model again"
)
