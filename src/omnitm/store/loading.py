"""Open a finished model: names are read and checked, vectors stay on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from omnitm.errors import FileError, ParameterError
from omnitm.files.checked import CheckedFile
from omnitm.files.kinds import refuse_other_kinds, shell_name, there_is
from omnitm.files.manifest import MANIFEST, Manifest
from omnitm.files.plain import read_file, words_from_bytes
from omnitm.similarity.row_matrix import RowMatrix
from omnitm.store.journal import finished_rows
from omnitm.store.manifest import (
    COORDINATES,
    FEATURES,
    JOURNAL,
    PLACE_VECTORS,
    PLACES,
    SETTINGS,
    SPARSE,
    TOP,
    TYPES,
    VECTORS,
    WORDS,
    model_manifest,
    vectors_name,
)
from omnitm.store.packed import StoredModel, is_packed, read_packed
from omnitm.store.record import (
    JSON_LIMIT,
    AnyRecord,
    is_place_only,
    is_sparse,
    keep_places_of,
    keep_top_of,
    record_from_bytes,
)
from omnitm.store.rows import MappedMatrix, SparseMatrix, TopMatrix, row_type
from omnitm.vectors.named_rows import PlaceVectors
from omnitm.vectors.word_vectors import WordVectors

_WORDS_LIMIT = 1 << 28
_GROWING = {WORDS, VECTORS, TOP, PLACE_VECTORS}


def stored_model(vectors: WordVectors) -> StoredModel:
    """Return vectors as a model on the disk has them."""
    if vectors.training is None:
        raise ParameterError("Vectors of unknown origin cannot be saved as a model: 'training' is None.")
    matrix, features = vectors.matrix, vectors.feature_names
    is_named = vectors.has_named_features
    if is_place_only(vectors.training):
        matrix, features, is_named = np.empty((len(vectors), 0), dtype=np.int16), [], True
    return StoredModel(vectors.index_to_key, features, matrix, vectors.training, is_named, vectors.place)


def load_model(folder: str | Path, *, verify: bool = False) -> StoredModel:
    """Open a finished model, a folder or packed; `verify` also reads all vectors and checks their SHA-256."""
    folder = Path(folder)
    refuse_other_kinds(folder, "model", "packed model")
    if is_packed(folder):
        return read_packed(folder, verify=verify)
    _check_finished(folder)
    manifest = model_manifest(folder)
    is_growing = (folder / JOURNAL).exists()  # words are being added
    # While words are added, files are longer than the manifest says; what it says is still all there.
    for name in manifest.files:
        manifest.check_size(name, may_grow=is_growing and name in _GROWING)
    record = record_from_bytes(folder / SETTINGS, manifest.read(SETTINGS, JSON_LIMIT))
    columns = FEATURES if FEATURES in manifest.files else COORDINATES
    features = words_from_bytes(folder / columns, manifest.read(columns, _WORDS_LIMIT))
    words = words_from_bytes(folder / WORDS, manifest.read(WORDS, _WORDS_LIMIT))
    unknown = set(words).difference(features)
    if unknown and columns == FEATURES and not is_place_only(record):
        raise FileError(folder / WORDS, f"names {min(unknown)!r}, which {FEATURES} does not have")
    vectors = vectors_name(manifest.files)
    if (vectors == TOP) != (keep_top_of(record) is not None):
        raise FileError(folder / SETTINGS, f"does not say the same of 'keep_top' as {MANIFEST}")
    if vectors in {VECTORS, SPARSE} and (vectors == SPARSE) != is_sparse(record):
        raise FileError(folder / SETTINGS, f"does not say the same of 'sparse' as {MANIFEST}")
    places = _stored_places(manifest, len(words), record)
    for name in (vectors, PLACE_VECTORS) if verify else ():
        if name in manifest.files:
            manifest.verify(name)
    rows = _rows_of(manifest.map(vectors), len(words), len(features), keep_top_of(record))
    matrix = cast("NDArray[Any]", rows)  # it answers what is asked of arrays
    return StoredModel(words, features, matrix, record, columns == FEATURES, places)


def _check_finished(folder: Path) -> None:
    if not folder.is_dir():
        if folder.exists():
            raise FileError(folder, "is not a folder; a model is a folder, or a packed file that is no link")
        makes_one = f"omnitm train CORPUS -o {shell_name(folder)} makes a model"
        found = there_is(folder, makes_one, "model", "packed model", "saved model")
        raise FileError(folder, f"does not exist; {found}")
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


def _stored_places(manifest: Manifest, n_rows: int, record: AnyRecord) -> PlaceVectors | None:
    kept = keep_places_of(record)
    if (kept is not None) != (PLACES in manifest.files):
        raise FileError(manifest.folder / SETTINGS, f"does not say the same of 'keep_places' as {MANIFEST}")
    if kept is None:
        return None
    names = words_from_bytes(manifest.folder / PLACES, manifest.read(PLACES, _WORDS_LIMIT))
    rows = _rows_of(manifest.map(PLACE_VECTORS), n_rows, len(names), kept)
    return PlaceVectors(cast("NDArray[Any]", rows), names)


def _rows_of(file: CheckedFile, n_rows: int, n_columns: int, keep_top: int | None) -> RowMatrix:
    if file.path.name == SPARSE:
        return SparseMatrix(file.content, n_rows, n_columns, file)
    kind = TYPES[file.path.name] if keep_top is None else row_type(keep_top)
    expected = n_rows * (n_columns if keep_top is None else 1) * np.dtype(kind).itemsize
    if len(file.content) != expected:
        problem = f"should have {expected:,} bytes for {n_rows:,} words x {n_columns:,} features"
        raise FileError(file.path, f"{problem}, but the manifest says {len(file.content):,}")
    if keep_top is None:
        return MappedMatrix(file, (n_rows, n_columns), kind)
    return TopMatrix(file.path, file.content.view(kind), n_columns, file)
