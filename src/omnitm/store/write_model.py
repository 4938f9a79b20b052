"""Write a whole model at once: the vectors are all there already, so there is nothing to resume."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.errors import FileError
from omnitm.files.checked import FileDigest, FileEntry
from omnitm.files.manifest import write_manifest
from omnitm.files.plain import sync_folder, write_file, writing
from omnitm.similarity.row_matrix import row_blocks
from omnitm.store.folder import check_free_for_use, remove_model, words_to_lines
from omnitm.store.journal import Journal
from omnitm.store.loading import stored_model
from omnitm.store.manifest import (
    COORDINATES,
    FEATURES,
    JOURNAL,
    KIND,
    PLACE_VECTORS,
    PLACES,
    REALS,
    SETTINGS,
    SPARSE,
    TOP,
    VECTORS,
    WORDS,
)
from omnitm.store.record import is_sparse, keep_top_of
from omnitm.store.top import place_encoder, row_encoder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from omnitm.similarity.row_matrix import RowMatrix
    from omnitm.store.record import AnyRecord
    from omnitm.store.sparse import SparseEncoder
    from omnitm.store.top import RowEncoder
    from omnitm.vectors.word_vectors import PlaceVectors, WordVectors


def write_model(
    path: str | Path,
    matrix: NDArray[Any] | RowMatrix,
    words: Sequence[str],
    features: Sequence[str],
    record: AnyRecord,
    *,
    is_named: bool = True,
    places: PlaceVectors | None = None,
    force: bool = False,
    expected: dict[str, FileEntry] | None = None,
) -> None:
    """Write a model folder: the manifest last, so that half a model never loads.

    Parameters
    ----------
    matrix
        int16 or float32, words x features.
    is_named
        Whether features are words; if not, they are written as coordinates.
    places
        Coordinates of place, with their names.
    force
        Replace an existing model.
    expected
        What the manifest must come out as; anything else is an error.
    """
    path = Path(path)
    texts = model_texts(record, words, features, is_named=is_named, places=places)
    check_free_for_use(path, force=force)
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)
    journal = Journal(path / JOURNAL)  # the lock, and the mark of a model that is not finished
    try:
        remove_model(path)
        for name, content in texts.items():
            write_file(path / name, content)
        digests = {name: FileDigest(content) for name, content in texts.items()}
        vectors = vectors_file(matrix.dtype, record)
        digests[vectors] = _write_vectors(path / vectors, matrix, row_encoder(record, matrix.dtype))
        if places is not None:
            place_rows = _write_vectors(path / PLACE_VECTORS, places.matrix, place_encoder(record))
            digests[PLACE_VECTORS] = place_rows
        if expected is not None and {name: digest.entry for name, digest in digests.items()} != expected:
            raise FileError(path, "came out other than it should; the source is damaged, fetch it again")
        write_manifest(path, KIND, digests)
        journal.remove()
        sync_folder(path)
    finally:
        journal.close()


def write_vectors(path: str | Path, vectors: WordVectors, *, force: bool = False) -> None:
    """Write vectors as a model folder; `force` replaces an existing model."""
    model = stored_model(vectors)
    names = model.words, model.features
    write_model(
        path, model.matrix, *names, model.record, is_named=model.is_named, places=model.places, force=force
    )


def model_texts(
    record: AnyRecord,
    words: Sequence[str],
    features: Sequence[str],
    *,
    is_named: bool,
    places: PlaceVectors | None = None,
) -> dict[str, bytes]:
    """Return the content of a model's files but the vectors."""
    names = FEATURES if is_named else COORDINATES
    texts = {SETTINGS: record.to_bytes(), names: words_to_lines(features), WORDS: words_to_lines(words)}
    return texts if places is None else {**texts, PLACES: words_to_lines(places.feature_names)}


def vectors_file(dtype: np.dtype[Any], record: AnyRecord) -> str:
    """Return the name of the file with the vectors."""
    if dtype != np.int16:
        return REALS
    if is_sparse(record):
        return SPARSE
    return VECTORS if keep_top_of(record) is None else TOP


def _write_vectors(
    path: Path, matrix: NDArray[Any] | RowMatrix, encode: RowEncoder | SparseEncoder
) -> FileDigest:
    digest = FileDigest()
    with writing(path), path.open("xb") as file:
        for _, block in row_blocks(matrix):
            for row in block:
                content = encode(row)
                digest.update(content)
                file.write(content)
        digest.update(encode.end())
        file.write(encode.end())
        file.flush()
        os.fsync(file.fileno())
    return digest
