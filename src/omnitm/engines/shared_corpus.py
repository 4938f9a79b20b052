"""A corpus that other processes map instead of copying: its place on disk, and the seal that it must bear."""

from __future__ import annotations

import contextlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from omnitm.corpus import storage
from omnitm.errors import FileError
from omnitm.files.checked import FileDigest
from omnitm.files.manifest import MANIFEST, Manifest, read_manifest, write_manifest
from omnitm.machine.autoencoder import running_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex

ARRAYS = ("document_offsets", "document_words", "word_offsets", "word_documents")
ORDER_ARRAYS = ("tokens", "word_starts", "places")


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
    with tempfile.TemporaryDirectory(prefix="omnitm-corpus-") as name:
        yield _written(index, Path(name), has_order=has_order)


def _written(index: DocumentIndex, folder: Path, *, has_order: bool) -> SharedCorpus:
    digests = {}
    for name in (*ARRAYS, *(ORDER_ARRAYS if has_order else ())):
        path = folder / f"{name}.bin"
        source = index.running if name in ORDER_ARRAYS else index
        content = np.ascontiguousarray(getattr(source, name), dtype=storage.ARRAYS[name]).view(np.uint8)
        _store(path, content.data)
        digests[path.name] = FileDigest(content)
    write_manifest(folder, storage.KIND, digests)
    return SharedCorpus(str(folder), read_manifest(folder, storage.KIND, sums=False).sha256, has_order)


def _store(path: Path, content: bytes | memoryview) -> None:
    try:
        with path.open("xb") as file:
            file.write(content)
    except OSError as error:
        problem = f"cannot be written: {error.strerror or error}"
        raise FileError(path, f"{problem}; set TMPDIR to a folder with room for the index") from error
