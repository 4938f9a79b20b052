"""The index as a folder: fixed names, a manifest with sizes and checksums, written aside and then renamed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from omnitm.corpus.scratch import not_written, open_new, write_at
from omnitm.errors import FileError
from omnitm.files.kinds import INDEX_FORMAT, kind_of, refuse_other_kinds, refuse_to_replace, shell_name
from omnitm.files.system import system

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from numpy.typing import NDArray

VERSION = 1
MANIFEST = "manifest.json"
ARRAYS = {
    "document_offsets": "<u8",
    "document_words": "<u4",
    "word_offsets": "<u8",
    "word_documents": "<u4",
    "word_counts": "<u8",
    "positions": "<u8",
}
TEXTS = ("vocabulary.txt", "options.json", "summary.json", "sources.json")
FILES = (*(f"{name}.bin" for name in ARRAYS), *TEXTS)
SMALL = 1 << 20  # bytes; files up to this size are checked in full whenever an index is opened
LARGEST_MANIFEST = 1 << 16
BYTES_PER_SYNC = 32 << 20  # of one file, before they are sent to the disk while the next ones are computed
Parsed = TypeVar("Parsed")


class _GrowingFile:
    """A file that is hashed while it is being written."""

    def __init__(self, path: Path) -> None:
        self.path, self.size, self.n_unsynced = path, 0, 0
        self._digest = hashlib.sha256()
        self._file = open_new(path)

    def write(self, data: NDArray[np.uint8]) -> None:
        write_at(self._file, data, self.size, self.path)
        self.size += data.nbytes
        self.n_unsynced += data.nbytes

    def hash(self, data: NDArray[np.uint8]) -> None:
        self._digest.update(data.data)

    def facts(self) -> dict[str, int | str]:
        return {"size": self.size, "sha256": self._digest.hexdigest()}

    def close(self) -> None:
        os.close(self._file)


class FolderSink:
    """The files of an index, in a folder that is not yet at its final place."""

    def __init__(self, folder: Path, n_threads: int = 1) -> None:
        self.folder = folder
        self._files: dict[str, _GrowingFile] = {}
        self._hashes_aside = n_threads > 1
        self._helpers = ThreadPoolExecutor(len(FILES))
        self._synced: list[Future[None]] = []

    def append(self, name: str, array: NDArray[Any]) -> None:
        """Put `array` at the end of the file of `name`."""
        self._append(f"{name}.bin", np.ascontiguousarray(array, dtype=ARRAYS[name]).view(np.uint8))

    def write_text(self, name: str, text: str) -> None:
        """Write a small text file."""
        self._append(name, np.frombuffer(text.encode("utf-8"), dtype=np.uint8))

    def _append(self, name: str, data: NDArray[np.uint8]) -> None:
        if name not in self._files:
            self._files[name] = _GrowingFile(self.folder / name)
        file = self._files[name]
        if self._hashes_aside and data.nbytes > SMALL:
            hashed = self._helpers.submit(file.hash, data)
            file.write(data)
            hashed.result()
        else:
            file.write(data)
            file.hash(data)
        if file.n_unsynced >= BYTES_PER_SYNC and all(sync.done() for sync in self._synced):
            self._sync(file)

    def _sync(self, file: _GrowingFile) -> None:
        """Make a file durable while the work goes on."""
        file.n_unsynced = 0
        self._synced.append(self._helpers.submit(_sync, file.path))

    def _wait_until_synced(self) -> None:
        for sync in self._synced:
            sync.result()
        self._synced.clear()

    def close(self) -> None:
        """Close all files."""
        self._helpers.shutdown()
        for file in self._files.values():
            file.close()
        self._files.clear()

    def seal(self, figures: Mapping[str, int]) -> None:
        """Make all files durable, then write the manifest: its presence says that the rest is complete."""
        for name, dtype in ARRAYS.items():
            self.append(name, np.empty(0, dtype=dtype))
        self._wait_until_synced()  # an error is reported once only
        for file in self._files.values():
            self._sync(file)
        self._wait_until_synced()
        facts = {name: self._files[name].facts() for name in sorted(FILES)}
        manifest = {"format": INDEX_FORMAT, "version": VERSION, **figures, "files": facts}
        self.write_text(MANIFEST, to_json_text(manifest))
        _sync(self.folder / MANIFEST)
        _sync(self.folder)


def to_json_text(value: Any) -> str:
    """JSON that is the same for the same value, and readable."""
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _sync(path: Path) -> None:
    try:
        system.sync(path)
    except OSError as error:
        raise not_written(path, error) from error


def checksum(path: Path) -> tuple[int, str]:
    """Size and SHA-256 of a file."""
    digest, size = hashlib.sha256(), 0
    buffer = bytearray(1 << 20)
    try:
        with path.open("rb", buffering=0) as file:
            while n := file.readinto(buffer):
                digest.update(memoryview(buffer)[:n])
                size += n
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}") from error
    return size, digest.hexdigest()


@contextmanager
def folder_in_the_making(output: Path, *, overwrite: bool) -> Iterator[Path]:
    """Make a folder beside `output` that takes its place at the end, and vanishes if anything goes wrong."""
    output = Path(os.path.abspath(output))  # noqa: PTH100  # resolve() would follow a link at the final name
    if os.path.lexists(output):
        _check_replaceable(output, overwrite=overwrite)
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        making = Path(tempfile.mkdtemp(prefix=f".{output.name}.", suffix=".making", dir=output.parent))
    except OSError as error:
        raise FileError(output.parent, f"cannot be written: {error.strerror}") from error
    try:
        yield making
        making.chmod(0o777 & ~_umask())
        put_in_place(making, output)
    finally:
        remove_folder(making)


def _check_replaceable(output: Path, *, overwrite: bool) -> None:
    refuse_to_replace(output, "index")
    if kind_of(output) != "index":
        raise FileError(
            output, "is not an index, so it is not overwritten; remove it yourself or choose another name"
        )
    others = {entry.name for entry in output.iterdir()} - {MANIFEST, *FILES}
    if others:
        problem = f"has {min(others)} in it, which is no part of an index and would be lost"
        raise FileError(output, f"{problem}; move it away first")
    if not overwrite:
        raise FileError(
            output, "exists already; choose another name, or overwrite it with --force (overwrite=True)"
        )


def remove_folder(folder: Path) -> None:
    """Remove what a build no longer needs."""
    shutil.rmtree(folder, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def put_in_place(made: Path, output: Path) -> None:
    """Rename a finished folder to its final name; what was there before is removed only afterwards."""
    try:
        if not os.path.lexists(output):
            made.rename(output)
        elif system.exchange(made, output):
            shutil.rmtree(made)
        else:
            aside = made.with_suffix(".replaced")
            output.rename(aside)
            try:
                made.rename(output)
            except OSError:
                aside.rename(output)
                raise
            shutil.rmtree(aside)
        _sync(output.parent)
    except OSError as error:
        raise FileError(output, f"cannot be put in place: {error.strerror or error}") from error


def read_manifest(path: Path) -> dict[str, Any]:
    """Manifest of an index, with every file present and of the right size, the small ones also in content."""
    refuse_other_kinds(path, "index")
    if not path.is_dir():
        raise FileError(path, f"no such index; make one with: omnitm index TEXT -o {shell_name(path)}")
    manifest = _parsed_manifest(path / MANIFEST)
    for name in FILES:
        file, facts = path / name, manifest["files"][name]
        if file.is_symlink() or not file.is_file():
            raise FileError(file, "is missing from the index; build the index again")
        size = file.stat().st_size
        if size != facts["size"]:
            raise FileError(
                file, f"damaged: {facts['size']} bytes expected, {size} found; build the index again"
            )
        if size <= SMALL:
            check_content(file, facts)
    _check_sizes(path, manifest)
    return manifest


def check_content(file: Path, facts: Mapping[str, Any]) -> None:
    """Compare a file with the checksum in the manifest."""
    if checksum(file) != (facts["size"], facts["sha256"]):
        raise FileError(file, "damaged: its SHA-256 is not the one in manifest.json; build the index again")


def _parsed_manifest(file: Path) -> dict[str, Any]:
    try:
        if file.is_symlink() or file.stat().st_size > LARGEST_MANIFEST:
            raise FileError(file, "is not the manifest of an index")
        manifest = json.loads(file.read_bytes())
    except FileNotFoundError:
        raise FileError(file, "is missing: this folder is not an omnitm index") from None
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(file, f"cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError):
        raise FileError(file, "damaged: not JSON; build the index again") from None
    if not isinstance(manifest, dict) or manifest.get("format") != INDEX_FORMAT:
        raise FileError(file, "is not the manifest of an omnitm index")
    if manifest.get("version") != VERSION:
        raise FileError(
            file, f"has version {manifest.get('version')!r}; this omnitm reads version {VERSION}: update it"
        )
    _check_entries(file, manifest)
    return manifest


def _check_entries(file: Path, manifest: Mapping[str, Any]) -> None:
    files = manifest.get("files")
    figures = [manifest.get(name) for name in ("n_documents", "n_words", "n_pairs")]
    if not isinstance(files, dict) or set(files) != set(FILES) or not all(map(_is_size, figures)):
        raise FileError(file, "damaged: it does not list the files of an index; build the index again")
    for facts in files.values():
        if (
            not isinstance(facts, dict)
            or not _is_size(facts.get("size"))
            or not isinstance(facts.get("sha256"), str)
        ):
            raise FileError(file, "damaged: sizes or checksums are missing; build the index again")


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _check_sizes(path: Path, manifest: Mapping[str, Any]) -> None:
    n_documents, n_words, n_pairs = (manifest[name] for name in ("n_documents", "n_words", "n_pairs"))
    expected = {
        "document_offsets": 8 * (n_documents + 1),
        "document_words": 4 * n_pairs,
        "word_offsets": 8 * (n_words + 1),
        "word_documents": 4 * n_pairs,
        "word_counts": 8 * n_words,
    }
    for name, size in expected.items():
        if manifest["files"][f"{name}.bin"]["size"] != size:
            raise FileError(
                path / f"{name}.bin",
                f"damaged: {size} bytes expected by manifest.json; build the index again",
            )


def mapped(path: Path, name: str) -> NDArray[Any]:
    """Array of an index, memory-mapped and read-only."""
    file = path / f"{name}.bin"
    if file.stat().st_size == 0:
        return np.empty(0, dtype=ARRAYS[name])
    return np.memmap(file, dtype=ARRAYS[name], mode="r").view(np.ndarray)


def read_json(path: Path, name: str, parse: Callable[[Any], Parsed]) -> Parsed:
    """Content of one of the small JSON files, made into what it stands for."""
    try:
        content = json.loads((path / name).read_bytes())
    except (ValueError, RecursionError):
        raise FileError(path / name, "damaged: not JSON; build the index again") from None
    try:
        return parse(content)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise FileError(path / name, f"damaged: {error!r}; build the index again") from None


def read_words(path: Path) -> list[str]:
    """Vocabulary, one word per line."""
    file = path / "vocabulary.txt"
    try:
        return file.read_bytes().decode("utf-8").split("\n")[:-1]
    except UnicodeDecodeError as error:
        raise FileError(file, f"damaged: not UTF-8 at byte {error.start}; build the index again") from None


def vocabulary_text(words: Sequence[str]) -> str:
    """Vocabulary as it is stored: every word followed by a newline."""
    return "".join(f"{word}\n" for word in words)
