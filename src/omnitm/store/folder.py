"""Write a model so that it can be killed at any moment and continued, and never loads half-done."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitm.errors import CorpusError, FileError
from omnitm.files import system
from omnitm.files.checked import FileDigest, FileEntry
from omnitm.files.kinds import kind_of, refuse_to_replace, shell_name
from omnitm.files.manifest import MANIFEST, write_manifest
from omnitm.files.plain import read_file, sync_folder, words_from_bytes, words_to_bytes, write_file, writing
from omnitm.similarity.row_matrix import RowMatrix, row_blocks
from omnitm.store.journal import Journal, finished_rows
from omnitm.store.loading import load_model, stored_model
from omnitm.store.manifest import (
    ALL_FILES,
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
    model_manifest,
)
from omnitm.store.model_notes import CARD, INDEX, INDEX_NOTE, SHARD_NOTE, remove_card
from omnitm.store.packed import StoredModel
from omnitm.store.record import (
    AnyRecord,
    TrainingRecord,
    is_sparse,
    keep_top_of,
    omni_record,
    record_from_bytes,
)
from omnitm.store.rows import (
    RowEncoder,
    RowFile,
    SparseEncoder,
    place_encoder,
    row_encoder,
    row_files,
    row_type,
)
from omnitm.vectors.named_rows import PlaceVectors
from omnitm.vectors.word_vectors import WordVectors

_NOTES = (INDEX_NOTE, SHARD_NOTE, CARD)
_OWN_FILES = {JOURNAL, *_NOTES, *(f".{name}.tmp" for name in (*ALL_FILES, *_NOTES)), *ALL_FILES}
_PLAN = (SETTINGS, FEATURES, WORDS)  # and PLACES, where places are trained
_NO_LIMIT = 1 << 62


class ModelFolder:
    """A model that this process is writing; use it as a context manager to give the lock up.

    Attributes
    ----------
    record, features, places, words
        What is being trained: settings, names of the columns (topic, then place), names of all rows.
    n_kept
        Rows of the finished model that words are being added to; 0 for a new model.
    """

    def __init__(self, path: Path, journal: Journal) -> None:
        self.path, self._journal = path, journal
        names = (*_PLAN, PLACES) if (path / PLACES).exists() else _PLAN
        plan = {name: read_file(path / name, _NO_LIMIT) for name in names}
        if journal.plan != _digest(plan):
            problem = f"one of {', '.join(names)} has changed since the training began"
            raise FileError(path, f"{problem}; start again with --force")
        self.record = omni_record(record_from_bytes(path / SETTINGS, plan[SETTINGS]), "be trained by words")
        self.features = words_from_bytes(path / FEATURES, plan[FEATURES])
        self.places = words_from_bytes(path / PLACES, plan.get(PLACES, b""))
        self.words = words_from_bytes(path / WORDS, plan[WORDS])
        self._finished = model_manifest(path).files if (path / MANIFEST).exists() else None
        self._plan = plan
        self._files = row_files(self.record, len(self.features), len(self.places))
        last = self._files[-1]
        self.n_kept = self._finished[last.name].size // last.row_size if self._finished else 0
        self._descriptors = self._open_files()

    @classmethod
    def create(
        cls,
        path: str | Path,
        words: Sequence[str],
        features: Sequence[str],
        record: TrainingRecord,
        *,
        places: Sequence[str] = (),
        force: bool = False,
    ) -> ModelFolder:
        """Start a new model; `force` replaces an existing one."""
        path, contents = Path(path), _names(features, words, places)
        check_free_for_use(path, force=force)
        with writing(path):
            path.mkdir(parents=True, exist_ok=True)
        journal = Journal(path / JOURNAL)
        try:
            # In this order: a kill in between leaves a journal without a plan, which `resume` clears away.
            journal.forget()
            remove_model(path)
            return cls._begin(path, journal, [record.to_bytes(), *contents])
        except BaseException:
            journal.close()
            raise

    @classmethod
    def resume(cls, path: str | Path) -> ModelFolder | None:
        """Continue a model in training; None when there is nothing to continue."""
        path = Path(path)
        if kind_of(path) != "model" or not (path / JOURNAL).exists():
            return None
        journal = Journal(path / JOURNAL)
        try:
            if journal.plan is None:  # killed before it began
                if (path / MANIFEST).exists():  # words were to be added: the old ones stay
                    write_file(path / WORDS, model_manifest(path).read(WORDS))
                journal.remove()
                return None
            return cls(path, journal)
        except BaseException:
            journal.close()
            raise

    @classmethod
    def add(cls, path: str | Path, words: Sequence[str]) -> ModelFolder:
        """Append rows for more words to a finished model; until they are done it loads as before."""
        path = Path(path)
        load_model(path)  # refuses what is no model before a journal is put into it
        journal = Journal(path / JOURNAL)
        if journal.plan is not None:
            journal.close()
            raise FileError(
                path,
                "words are already being added; finish that first: "
                f"omnitm train CORPUS -o {shell_name(path)} --resume",
            )
        try:
            model = load_model(path)
            omni_record(model.record, "be extended")
            all_words = [*model.words, *words]
            places = () if model.places is None else model.places.feature_names
            contents = _names(model.features, all_words, places)
            return cls._begin(path, journal, [model.record.to_bytes(), *contents])
        except BaseException:
            journal.close()
            raise

    @classmethod
    def _begin(cls, path: Path, journal: Journal, contents: Sequence[bytes]) -> ModelFolder:
        plan = dict(zip((*_PLAN, PLACES)[: len(contents)], contents, strict=True))
        for name, content in plan.items():
            if not (path / name).exists() or read_file(path / name, _NO_LIMIT) != content:
                write_file(path / name, content)
        journal.begin(_digest(plan))
        return cls(path, journal)

    def pending(self) -> list[int]:
        """Rows that are still to be trained."""
        return [row for row in range(self.n_kept, len(self.words)) if row not in self._journal.rows]

    def write(self, row: int, vector: NDArray[np.int16]) -> None:
        """Store one row and note it in the journal; safe to call from several threads."""
        # The row first, then its record: a kill in between costs one row, never the trust in one.
        crc = 0
        for file, descriptor in zip(self._files, self._descriptors, strict=True):
            content = file.encode(vector)
            try:
                written = system.write_at(descriptor, content, row * file.row_size)
                problem = "" if written == len(content) else os.strerror(errno.ENOSPC)
                crc = zlib.crc32(content, crc)
            except OSError as error:
                problem = error.strerror or str(error)
            if problem:
                raise self._not_written(file, problem)
        try:
            self._journal.add(row, crc)
        except OSError as error:
            raise self._not_written(self._files[0], error.strerror or str(error)) from error

    def _not_written(self, file: RowFile, problem: str) -> FileError:
        return FileError(
            self.path / file.name,
            f"cannot be written: {problem}; finished rows are kept, continue with --resume",
        )

    def read(self, row: int) -> NDArray[np.int16]:
        """Read all coordinates of one row that is finished."""
        parts = zip(self._files, self._row_contents(row), strict=True)
        return np.concatenate([file.decode(self.path / file.name, content) for file, content in parts])

    def is_sound(self, row: int) -> bool:
        """Whether a row is finished, and on the disk as it was written."""
        return row < self.n_kept or self._is_as_written(row, self._row_contents(row))

    def _is_as_written(self, row: int, contents: Sequence[bytes]) -> bool:
        crc = 0
        for content in contents:
            crc = zlib.crc32(content, crc)
        return self._journal.rows.get(row) == crc

    def finish(self) -> list[int]:
        """Declare the model finished, unless rows are damaged or missing: those are returned."""
        digests, damaged = self._check_rows()
        if damaged:
            for row in damaged:
                self._journal.rows.pop(row, None)
            return damaged
        # Rows on the disk, then the manifest that vouches for them, then the end of the journal.
        for file, descriptor in zip(self._files, self._descriptors, strict=True):
            with writing(self.path / file.name):
                os.fsync(descriptor)
        texts = {name: FileDigest(content) for name, content in self._plan.items()}
        rows = {file.name: digest for file, digest in zip(self._files, digests, strict=True)}
        write_manifest(self.path, KIND, {**texts, **rows})
        self._journal.remove()
        sync_folder(self.path)
        return []

    def close(self) -> None:
        """Give the lock up; unfinished rows can be continued by anyone."""
        while self._descriptors:
            os.close(self._descriptors.pop())
        self._journal.close()

    def __enter__(self) -> ModelFolder:  # noqa: PYI034 - typing.Self came with Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _row_contents(self, row: int) -> list[bytes]:
        return [
            system.read_at(descriptor, file.row_size, row * file.row_size)
            for file, descriptor in zip(self._files, self._descriptors, strict=True)
        ]

    def _open_files(self) -> list[int]:
        row_size = sum(file.row_size for file in self._files)
        # Rows still to be written; said before hours of training, not after.
        missing = (len(self.words) - self.n_kept - len(self._journal.rows)) * row_size
        free = shutil.disk_usage(self.path).free
        if missing > free:
            kept = row_type(1000).itemsize + sum(file.row_size for file in self._files[1:])
            hint = (
                "" if self.record.keep_top else f"; --keep-top 1000 stores {kept // 1000} kB per word instead"
            )
            raise FileError(
                self.path / self._files[0].name,
                f"needs {missing:,} more bytes, but only {free:,} are free on its disk{hint}",
            )
        descriptors = []
        for file in self._files:
            with writing(self.path / file.name):
                flags = os.O_RDWR | os.O_CREAT | system.CAREFULLY
                descriptors.append(os.open(self.path / file.name, flags, 0o666))
                # Rows have fixed places, so threads write them in any order; what is not written yet is a
                # hole of the file.
                os.ftruncate(descriptors[-1], len(self.words) * file.row_size)
        return descriptors

    def _check_rows(self) -> tuple[list[FileDigest], list[int]]:
        """Hash the whole files, and compare each new row with the journal on the way."""
        digests, damaged = [FileDigest() for _ in self._files], []
        for row in range(len(self.words)):
            contents = self._row_contents(row)
            for digest, content in zip(digests, contents, strict=True):
                digest.update(content)
            # Digests run over the whole file: that of the old rows is known when their last one has passed.
            if row + 1 == self.n_kept:
                self._check_kept(digests)
            if row >= self.n_kept and not self._is_as_written(row, contents):
                damaged.append(row)
        return digests, damaged

    def _check_kept(self, digests: Sequence[FileDigest]) -> None:
        for file, digest in zip(self._files, digests, strict=True):
            if self._finished and digest.entry != self._finished[file.name]:
                raise FileError(
                    self.path / file.name, "is damaged in the rows trained before; restore it from a copy"
                )


def _names(features: Sequence[str], words: Sequence[str], places: Sequence[str]) -> list[bytes]:
    """Contents of the files with the names; the last one only if there are names of places."""
    contents = [words_to_lines(features), words_to_lines(words)]
    return [*contents, words_to_lines(places)] if places else contents


def adding(path: str | Path) -> tuple[int, int] | None:
    """How many words are being added to a finished model: trained, and in all; None if none are."""
    path = Path(path)
    if not (path / JOURNAL).exists() or not (path / MANIFEST).exists():
        return None
    # The manifest still speaks of the old words: lines after its size are those being added.
    kept = model_manifest(path, sums=False).files[WORDS].size
    total = read_file(path / WORDS, _NO_LIMIT)[kept:].count(b"\n")
    return finished_rows(path / JOURNAL), total


def words_to_lines(words: Sequence[str]) -> bytes:
    """Write one word per line, or refuse a word that does not fit on one."""
    for word in words:
        if "\n" in word or word.encode(errors="ignore").decode() != word:
            raise CorpusError(f"The word {word!r} cannot be stored: words are text without line breaks.")
    return words_to_bytes(words)


def remove_model(path: Path) -> None:
    """Remove a model's files, the manifest first."""
    with writing(path):
        # Without its manifest, which is the first of ALL_FILES, a folder is no model any more.
        for name in (*ALL_FILES, SHARD_NOTE):
            (path / name).unlink(missing_ok=True)
        remove_card(path)


def check_free_for_use(path: Path, *, force: bool) -> None:
    """Refuse a folder that holds a model, unless `force` is given, or that belongs to something else."""
    if not path.exists():
        return
    refuse_to_replace(path, "model")
    names = (entry.name for entry in path.iterdir())
    entries = {name for name in names if name != INDEX and not name.startswith(f".{INDEX}.")}
    if kind_of(path) == "model":
        if not force:
            state, options = _held(path, entries)
            raise FileError(path, f"already holds {state}; --force replaces it{options}")
        if JOURNAL in entries:
            Journal(path / JOURNAL).close()  # refuses while another process is training
    elif entries - _OWN_FILES or entries & {MANIFEST, JOURNAL}:
        foreign = min(entries - _OWN_FILES or entries & {MANIFEST, JOURNAL})
        raise FileError(path, f"is not empty (it has {foreign}); a model needs a folder of its own")


def _held(path: Path, entries: set[str]) -> tuple[str, str]:
    """Name what a folder holds of a model, and what else can be done than to replace it."""
    command = f"omnitm train CORPUS -o {shell_name(path)}"
    if JOURNAL in entries:
        state = "a model to which words are being added" if MANIFEST in entries else "an unfinished model"
        return state, f" ({command} --resume continues it)"
    if MANIFEST in entries:
        return "a model", f" ({command} --add adds words)"
    return "what is left of a model", ""


def _digest(plan: dict[str, bytes]) -> bytes:
    return hashlib.sha256(b"".join(hashlib.sha256(content).digest() for content in plan.values())).digest()


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


def write_stored(
    path: str | Path, model: StoredModel, *, force: bool = False, expected: dict[str, FileEntry] | None = None
) -> None:
    """Write a model that is stored elsewhere, or in memory, as `write_model` does."""
    how: dict[str, Any] = {"is_named": model.is_named, "places": model.places, "force": force}
    write_model(path, model.matrix, model.words, model.features, model.record, **how, expected=expected)


def write_vectors(path: str | Path, vectors: WordVectors, *, force: bool = False) -> None:
    """Write vectors as a model folder; `force` replaces an existing model."""
    write_stored(path, stored_model(vectors), force=force)


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
