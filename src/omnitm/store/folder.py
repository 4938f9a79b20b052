"""Write a model so that it can be killed at any moment and continued, and never loads half-done."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from omnitm.errors import CorpusError, FileError
from omnitm.files.checked import FileDigest
from omnitm.files.kinds import kind_of, refuse_to_replace, shell_name
from omnitm.files.manifest import MANIFEST, write_manifest
from omnitm.files.plain import (
    read_file,
    sync_folder,
    words_from_bytes,
    words_to_bytes,
    write_file,
    writing,
)
from omnitm.files.system import system
from omnitm.store.journal import Journal, finished_rows
from omnitm.store.loading import load_model
from omnitm.store.manifest import (
    ALL_FILES,
    FEATURES,
    JOURNAL,
    KIND,
    SETTINGS,
    TOP,
    VECTORS,
    WORDS,
    model_manifest,
)
from omnitm.store.model_notes import CARD, INDEX, INDEX_NOTE, SHARD_NOTE, remove_card
from omnitm.store.record import TrainingRecord, omni_record, record_from_bytes
from omnitm.store.top import TopMatrix, row_encoder, row_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_NOTES = (INDEX_NOTE, SHARD_NOTE, CARD)
_OWN_FILES = {JOURNAL, *_NOTES, *(f".{name}.tmp" for name in (*ALL_FILES, *_NOTES)), *ALL_FILES}
_PLAN = (SETTINGS, FEATURES, WORDS)
_NO_LIMIT = 1 << 62


class ModelFolder:
    """A model that this process is writing; use it as a context manager to give the lock up.

    Attributes
    ----------
    record, features, words
        What is being trained: settings, names of the columns, names of all rows.
    n_kept
        Rows of the finished model that words are being added to; 0 for a new model.
    """

    def __init__(self, path: Path, journal: Journal) -> None:
        self.path, self._journal = path, journal
        plan = {name: read_file(path / name, _NO_LIMIT) for name in _PLAN}
        if journal.plan != _digest(plan):
            problem = f"one of {', '.join(_PLAN)} has changed since the training began"
            raise FileError(path, f"{problem}; start again with --force")
        self.record = omni_record(record_from_bytes(path / SETTINGS, plan[SETTINGS]), "be trained by words")
        self.features = words_from_bytes(path / FEATURES, plan[FEATURES])
        self.words = words_from_bytes(path / WORDS, plan[WORDS])
        self._encode = row_encoder(self.record, np.dtype(np.int16))
        self._vectors_path = path / (VECTORS if self.record.keep_top is None else TOP)
        has_finished = (path / MANIFEST).exists()
        self._finished = model_manifest(path).files[self._vectors_path.name] if has_finished else None
        self.n_kept = self._finished.size // self._row_size if self._finished else 0
        self._plan = plan
        self._vectors = self._open_vectors()

    @classmethod
    def create(
        cls,
        path: str | Path,
        words: Sequence[str],
        features: Sequence[str],
        record: TrainingRecord,
        *,
        force: bool = False,
    ) -> ModelFolder:
        """Start a new model; `force` replaces an existing one."""
        path, contents = Path(path), [words_to_lines(features), words_to_lines(words)]
        check_free_for_use(path, force=force)
        with writing(path):
            path.mkdir(parents=True, exist_ok=True)
        journal = Journal(path / JOURNAL)
        try:
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
                _roll_back(path)
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
            contents = [model.record.to_bytes(), words_to_lines(model.features), words_to_lines(all_words)]
            return cls._begin(path, journal, contents)
        except BaseException:
            journal.close()
            raise

    @classmethod
    def _begin(cls, path: Path, journal: Journal, contents: Sequence[bytes]) -> ModelFolder:
        plan = dict(zip(_PLAN, contents, strict=True))
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
        content = self._encode(vector)
        try:
            written = system.write_at(self._vectors, content, row * self._row_size)
            if written == len(content):
                self._journal.add(row, zlib.crc32(content))
                return
            problem = os.strerror(errno.ENOSPC)
        except OSError as error:
            problem = error.strerror or str(error)
        raise FileError(
            self._vectors_path,
            f"cannot be written: {problem}; finished rows are kept, continue with --resume",
        )

    def read(self, row: int) -> NDArray[np.int16]:
        """Read one row that is finished."""
        content = self._row_bytes(row)
        if self.record.keep_top is None:
            return np.frombuffer(content, dtype="<i2")
        rows = np.frombuffer(content, dtype=row_type(self.record.keep_top))
        return TopMatrix(self._vectors_path, rows, len(self.features)).read_row(0)

    def is_sound(self, row: int) -> bool:
        """Whether a row is finished, and on the disk as it was written."""
        if row < self.n_kept:
            return True
        return self._journal.rows.get(row) == zlib.crc32(self._row_bytes(row))

    def finish(self) -> list[int]:
        """Declare the model finished, unless rows are damaged or missing: those are returned."""
        rows, damaged = self._check_rows()
        if damaged:
            for row in damaged:
                self._journal.rows.pop(row, None)
            return damaged
        with writing(self._vectors_path):
            os.fsync(self._vectors)
        digests = {name: FileDigest(content) for name, content in self._plan.items()}
        write_manifest(self.path, KIND, {**digests, self._vectors_path.name: rows})
        self._journal.remove()
        sync_folder(self.path)
        return []

    def close(self) -> None:
        """Give the lock up; unfinished rows can be continued by anyone."""
        if self._vectors >= 0:
            os.close(self._vectors)
            self._vectors = -1
        self._journal.close()

    def __enter__(self) -> ModelFolder:  # noqa: PYI034 - typing.Self came with Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _row_size(self) -> int:
        keep_top = self.record.keep_top
        return 2 * len(self.features) if keep_top is None else row_type(keep_top).itemsize

    def _row_bytes(self, row: int) -> bytes:
        return system.read_at(self._vectors, self._row_size, row * self._row_size)

    def _open_vectors(self) -> int:
        path, size = self._vectors_path, len(self.words) * self._row_size
        missing = size - self.n_kept * self._row_size - len(self._journal.rows) * self._row_size
        free = shutil.disk_usage(self.path).free
        if missing > free:
            hint = "" if self.record.keep_top else "; --keep-top 1000 stores 6 kB per word instead"
            raise FileError(
                path, f"needs {missing:,} more bytes, but only {free:,} are free on its disk{hint}"
            )
        with writing(path):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | system.CAREFULLY, 0o666)
            os.ftruncate(descriptor, size)
        return descriptor

    def _check_rows(self) -> tuple[FileDigest, list[int]]:
        """Hash the whole file, and compare each new row with the journal on the way."""
        digest, damaged = FileDigest(), []
        for row in range(len(self.words)):
            content = self._row_bytes(row)
            digest.update(content)
            if row + 1 == self.n_kept and digest.entry != self._finished:
                raise FileError(
                    self._vectors_path, "is damaged in the rows trained before; restore it from a copy"
                )
            if row >= self.n_kept and self._journal.rows.get(row) != zlib.crc32(content):
                damaged.append(row)
        return digest, damaged


def adding(path: str | Path) -> tuple[int, int] | None:
    """How many words are being added to a finished model: trained, and in all; None if none are."""
    path = Path(path)
    if not (path / JOURNAL).exists() or not (path / MANIFEST).exists():
        return None
    kept = model_manifest(path, sums=False).files[WORDS].size
    total = read_file(path / WORDS, _NO_LIMIT)[kept:].count(b"\n")
    return finished_rows(path / JOURNAL), total


def words_to_lines(words: Sequence[str]) -> bytes:
    """Write one word per line, or refuse a word that does not fit on one."""
    for word in words:
        if "\n" in word or word.encode(errors="ignore").decode() != word:
            raise CorpusError(f"The word {word!r} cannot be stored: words are text without line breaks.")
    return words_to_bytes(words)


def _roll_back(path: Path) -> None:
    """Undo an addition of words that was killed before it began."""
    if not (path / MANIFEST).exists():
        return
    write_file(path / WORDS, model_manifest(path).read(WORDS))


def remove_model(path: Path) -> None:
    """Remove a model's files, the manifest first."""
    with writing(path):
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
    return hashlib.sha256(b"".join(hashlib.sha256(plan[name]).digest() for name in _PLAN)).digest()
