"""Write a whole model at once: the vectors are all there already, so there is nothing to resume."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.embedding.store.files import sync_folder, write_file, writing
from omnitm.embedding.store.folder import check_free_for_use, remove_model, words_to_lines
from omnitm.embedding.store.journal import Journal
from omnitm.embedding.store.manifest import (
    COORDINATES,
    FEATURES,
    JOURNAL,
    REALS,
    SETTINGS,
    TYPES,
    VECTORS,
    WORDS,
    FileEntry,
    write_manifest,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from omnitm.embedding.store.record import AnyRecord

_BYTES_AT_ONCE = 1 << 24


def write_model(
    path: str | Path,
    matrix: NDArray[Any],
    words: Sequence[str],
    features: Sequence[str],
    record: AnyRecord,
    *,
    is_named: bool = True,
    force: bool = False,
) -> None:
    """Write a model folder: the manifest last, so that half a model never loads.

    Parameters
    ----------
    matrix
        int16 or float32, words x features.
    is_named
        Whether features are words; if not, they are written as coordinates.
    force
        Replace an existing model.
    """
    path = Path(path)
    names = FEATURES if is_named else COORDINATES
    texts = {SETTINGS: record.to_bytes(), names: words_to_lines(features), WORDS: words_to_lines(words)}
    check_free_for_use(path, force=force)
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)
    journal = Journal(path / JOURNAL)  # the lock, and the mark of a model that is not finished
    try:
        remove_model(path)
        for name, content in texts.items():
            write_file(path / name, content)
        entries = {n: FileEntry(len(c), hashlib.sha256(c).hexdigest()) for n, c in texts.items()}
        vectors = VECTORS if matrix.dtype == np.int16 else REALS
        entries[vectors] = _write_vectors(path / vectors, matrix)
        write_manifest(path, entries)
        journal.remove()
        sync_folder(path)
    finally:
        journal.close()


def _write_vectors(path: Path, matrix: NDArray[Any]) -> FileEntry:
    digest, size = hashlib.sha256(), 0
    rows_at_once = max(1, _BYTES_AT_ONCE // max(1, matrix[:1].nbytes))
    with writing(path), path.open("xb") as file:
        for start in range(0, len(matrix), rows_at_once):
            rows = np.ascontiguousarray(matrix[start : start + rows_at_once], dtype=TYPES[path.name])
            content = rows.tobytes()
            digest.update(content)
            size += file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return FileEntry(size, digest.hexdigest())
