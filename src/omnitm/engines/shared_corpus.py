"""A corpus for other processes: mapped where its seal is right, or copied to a machine that lacks it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus import DocumentIndex, storage
from omnitm.errors import FileError
from omnitm.files import system
from omnitm.files.checked import FileDigest, FileEntry
from omnitm.files.manifest import (
    CHECKSUMS,
    CHECKSUMS_ENTRY,
    MANIFEST,
    Manifest,
    read_manifest,
    write_manifest,
)
from omnitm.machine.autoencoder import running_of

Read = Callable[[str, int, int], bytes]

ARRAYS = ("document_offsets", "document_words", "word_offsets", "word_documents")
ORDER_ARRAYS = ("tokens", "word_starts", "places")
_PREFIX = "omnitm-work-"  # of temporary folders
_OWNED = "owned"  # a file in them, locked as long as the process that made the folder lives


class SharedCorpus(NamedTuple):
    """Where a corpus is, and the SHA-256 of the manifest that it must have there."""

    path: str
    seal: str
    has_order: bool = False
    """Whether its running text is wanted too."""

    @property
    def files(self) -> list[str]:
        """Names of the files that training reads."""
        return [f"{name}.bin" for name in (*ARRAYS, *(ORDER_ARRAYS if self.has_order else ()))]


class MappedText(NamedTuple):
    """A running text, memory-mapped; see `omnitm.corpus.RunningText`."""

    tokens: NDArray[np.uint32]
    word_starts: NDArray[np.uint64]
    places: NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class MappedCorpus:
    """The arrays that training reads, memory-mapped: all processes of a machine share one copy."""

    document_offsets: NDArray[np.uint64]
    document_words: NDArray[np.uint32]
    word_offsets: NDArray[np.uint64]
    word_documents: NDArray[np.uint32]
    running: MappedText | None = None

    @property
    def n_words(self) -> int:
        """Size of the vocabulary."""
        return len(self.word_offsets) - 1

    @classmethod
    def open(cls, shared: SharedCorpus) -> MappedCorpus:
        """Map a corpus and check it; refuse another one that has taken its place."""
        manifest = sealed_manifest(Path(shared.path), shared.seal)
        # Mapped files stay what they are even if others take their names; the seal is compared again.
        arrays = {name: _array(manifest, name) for name in ARRAYS}
        running = MappedText(*(_array(manifest, name) for name in ORDER_ARRAYS)) if shared.has_order else None
        sealed_manifest(manifest.folder, shared.seal, sums=False)  # nothing was put in its place meanwhile
        return cls(**arrays, running=running)


def sealed_manifest(folder: Path, seal: str, *, sums: bool = True) -> Manifest:
    """Read the manifest of a corpus, which says by its hash that it is the expected one."""
    manifest = read_manifest(folder, storage.KIND, sums=sums)
    if manifest.sha256 != seal:
        raise FileError(
            folder / MANIFEST, "belongs to another index than the one that the training began with"
        )
    return manifest


def _array(manifest: Manifest, name: str) -> NDArray[Any]:
    manifest.check_size(f"{name}.bin")
    return storage.array(manifest, name)


@contextlib.contextmanager
def shared(index: DocumentIndex, *, has_order: bool = False) -> Iterator[SharedCorpus]:
    """Yield where other processes find an index; one in memory is written to a temporary folder."""
    if has_order:
        running_of(index)
    if index.path is not None and index.seal is not None:
        yield SharedCorpus(str(index.path.resolve()), index.seal, has_order)
        return
    with temporary_folder() as folder:
        yield _written(index, folder, has_order=has_order)


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder for other processes; what a process that was killed has left, the next one removes."""
    for owned in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_OWNED}"):
        with contextlib.suppress(OSError), owned.open("r+b") as file:
            if system.lock(file.fileno(), wait=False):  # nobody has it: its process is no more
                shutil.rmtree(owned.parent, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as name:
        folder = Path(name)
        store_file(folder / "new", b"")
        with (folder / "new").open("r+b") as own:
            system.lock(own.fileno(), wait=True)
            with contextlib.suppress(PermissionError):  # Windows renames no open files: it stays
                (folder / "new").rename(folder / _OWNED)  # locked before others can find it
            yield folder


def _written(index: DocumentIndex, folder: Path, *, has_order: bool) -> SharedCorpus:
    digests = {}
    for name in (*ARRAYS, *(ORDER_ARRAYS if has_order else ())):
        path = folder / f"{name}.bin"
        source = index.running if name in ORDER_ARRAYS else index
        content = np.ascontiguousarray(getattr(source, name), dtype=storage.ARRAYS[name]).view(np.uint8)
        store_file(path, content.data)
        digests[path.name] = FileDigest(content)
    write_manifest(folder, storage.KIND, digests)
    return SharedCorpus(str(folder), read_manifest(folder, storage.KIND, sums=False).sha256, has_order)


def store_file(path: Path, content: bytes | memoryview) -> None:
    """Write a temporary file for other processes."""
    try:
        with path.open("xb") as file:
            file.write(content)
    except OSError as error:
        problem = f"cannot be written: {error.strerror or error}"
        raise FileError(path, f"{problem}; set TMPDIR to a folder with room for the index") from error


CHUNK = 1 << 23  # bytes per message; far below what Ray can send at once, and larger than any manifest
CACHE_VARIABLE = "OMNITM_CACHE"


class CorpusSource:
    """Reads parts of a corpus for those that do not see it."""

    def __init__(self, corpus: SharedCorpus) -> None:
        self._folder, self._files = Path(corpus.path), corpus.files

    def read(self, name: str, offset: int, size: int) -> bytes:
        """Read a part of the manifest or of an array."""
        if name not in {MANIFEST, CHECKSUMS, *self._files}:
            raise FileError(self._folder / name, "is not given away")
        with (self._folder / name).open("rb") as file:
            file.seek(offset)
            return file.read(size)


def local_copy(corpus: SharedCorpus, read: Read | None) -> MappedCorpus | None:
    """Map this machine's own copy of a corpus; fetch it first if need be.

    Parameters
    ----------
    read
        Gives a part of a file: name, offset, size. None: don't fetch.

    Returns
    -------
    MappedCorpus or None
        None if there is no copy and it may not be fetched.
    """
    cache = _private_folder()
    folder = cache / corpus.seal
    here = corpus._replace(path=str(folder))
    with _locked(cache / f"{corpus.seal}.lock"):  # one worker fetches, the others wait
        # Missing, of another index or damaged: fetched again in all cases.
        with contextlib.suppress(FileError):
            return MappedCorpus.open(here)
        if read is None:
            return None
        _fetch(corpus, read, folder)
    return MappedCorpus.open(here)


def _fetch(corpus: SharedCorpus, read: Read, folder: Path) -> None:
    partial = folder.with_suffix(".partial")
    try:
        for old in (partial, folder):
            shutil.rmtree(old, ignore_errors=True)
        partial.mkdir(mode=0o700)
        (partial / MANIFEST).write_bytes(read(MANIFEST, 0, CHUNK))
        manifest = sealed_manifest(partial, corpus.seal, sums=False)
        for name in corpus.files:
            _fetch_file(name, manifest.files[name], read, partial)
        if CHECKSUMS_ENTRY in manifest.facts:
            _fetch_file(CHECKSUMS, FileEntry(**manifest.facts[CHECKSUMS_ENTRY]), read, partial)
        # Whole or not there: a copy has its name only when all of it has been fetched.
        partial.rename(folder)
    except FileError:
        raise
    except OSError as error:
        problem = f"cannot be written: {error.strerror or error}"
        advice = f"set {CACHE_VARIABLE} to a folder with room for the index"
        raise FileError(partial, f"{problem}; {advice}") from error


def _fetch_file(name: str, entry: FileEntry, read: Read, folder: Path) -> None:
    digest, size = hashlib.sha256(), 0
    with (folder / name).open("xb") as file:
        while size < entry.size:
            chunk = read(name, size, CHUNK)
            if not chunk:
                break
            digest.update(chunk)
            size += file.write(chunk)
    if FileEntry(size, digest.hexdigest()) != entry:
        raise FileError(folder / name, "arrived damaged: the manifest says otherwise; check the original")


def _private_folder() -> Path:
    """Folder for copies that nobody else can write to."""
    chosen = os.environ.get(CACHE_VARIABLE)
    folder = Path(chosen) if chosen else Path(tempfile.gettempdir()) / f"omnitm-{system.user()}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Not `stat`: a link that somebody else put there must not lead elsewhere.
        facts = folder.lstat()
    except OSError as error:
        raise FileError(folder, f"cannot be made: {error.strerror}; set {CACHE_VARIABLE}") from error
    if not stat.S_ISDIR(facts.st_mode) or not system.is_own(facts):
        raise FileError(folder, f"is not a folder of this user; set {CACHE_VARIABLE} to one")
    return folder


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | system.CAREFULLY, 0o600)
    try:
        system.lock(descriptor, wait=True)
        yield
    finally:
        os.close(descriptor)
