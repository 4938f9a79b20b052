"""A corpus that other processes map instead of copying: its place on disk, and the seal that it must bear."""

from __future__ import annotations

import contextlib
import hashlib
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from omnitm.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex

MANIFEST = "manifest.json"
ARRAYS = {
    "document_offsets": "<u8",
    "document_words": "<u4",
    "word_offsets": "<u8",
    "word_documents": "<u4",
}
_LARGEST_MANIFEST = 1 << 16


class SharedCorpus(NamedTuple):
    """Where a corpus is, and the SHA-256 of the manifest that it must have there."""

    path: str
    seal: str


@dataclass(frozen=True, eq=False)
class MappedCorpus:
    """The arrays that training reads, memory-mapped: all processes of a machine share one copy."""

    document_offsets: NDArray[np.uint64]
    document_words: NDArray[np.uint32]
    word_offsets: NDArray[np.uint64]
    word_documents: NDArray[np.uint32]

    @property
    def n_words(self) -> int:
        """Size of the vocabulary."""
        return len(self.word_offsets) - 1

    @classmethod
    def open(cls, shared: SharedCorpus) -> MappedCorpus:
        """Map a corpus; refuse another one that has taken its place."""
        folder = Path(shared.path)
        files = sealed_manifest(folder, shared.seal)["files"]
        arrays = {name: _mapped(folder / f"{name}.bin", files, kind) for name, kind in ARRAYS.items()}
        sealed_manifest(folder, shared.seal)  # nothing was put in its place meanwhile
        return cls(**arrays)


def sealed_manifest(folder: Path, seal: str) -> dict[str, Any]:
    """Read the manifest of a corpus, which says by its hash that it is the expected one."""
    path = folder / MANIFEST
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_MANIFEST)
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}") from None
    if hashlib.sha256(content).hexdigest() != seal:
        raise FileError(path, "belongs to another index than the one that the training began with")
    manifest: dict[str, Any] = json.loads(content)  # what bears the seal was checked when it was opened
    return manifest


@contextlib.contextmanager
def shared(index: DocumentIndex) -> Iterator[SharedCorpus]:
    """Yield where other processes find an index; one in memory is written to a temporary folder."""
    if index.path is not None and index.seal is not None:
        yield SharedCorpus(str(index.path.resolve()), index.seal)
        return
    with tempfile.TemporaryDirectory(prefix="omnitm-corpus-") as name:
        yield _written(index, Path(name))


def _written(index: DocumentIndex, folder: Path) -> SharedCorpus:
    files = {}
    for name, kind in ARRAYS.items():
        path = folder / f"{name}.bin"
        content = np.ascontiguousarray(getattr(index, name), dtype=kind)
        _store(path, content.data)
        files[path.name] = {"size": content.nbytes, "sha256": hashlib.sha256(content.data).hexdigest()}
    manifest = json.dumps({"files": files}).encode()
    _store(folder / MANIFEST, manifest)
    return SharedCorpus(str(folder), hashlib.sha256(manifest).hexdigest())


def _store(path: Path, content: bytes | memoryview) -> None:
    try:
        with path.open("xb") as file:
            file.write(content)
    except OSError as error:
        problem = f"cannot be written: {error.strerror or error}"
        raise FileError(path, f"{problem}; set TMPDIR to a folder with room for the index") from error


def _mapped(path: Path, files: dict[str, Any], kind: str) -> NDArray[Any]:
    expected = files[path.name]["size"]
    try:
        found = path.stat().st_size
        if found == 0 == expected:
            return np.empty(0, dtype=kind)
        if found == expected:
            return np.memmap(path, dtype=kind, mode="r").view(np.ndarray)
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}") from None
    raise FileError(path, f"damaged: {expected:,} bytes expected, {found:,} found; build the index again")
