"""A copy of the corpus for a machine that does not see the original: fetched once, checked, then mapped."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from omnitm.engines.shared_corpus import MappedCorpus, SharedCorpus, sealed_manifest
from omnitm.errors import FileError
from omnitm.files.checked import FileEntry
from omnitm.files.manifest import CHECKSUMS, CHECKSUMS_ENTRY, MANIFEST
from omnitm.files.system import system

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Read = Callable[[str, int, int], bytes]

CHUNK = 1 << 23
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
