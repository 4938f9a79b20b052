"""The index as a folder: fixed names, a manifest with sizes and checksums, written aside and then renamed."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import threading
from bisect import insort
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from omnitm._native import first_defect
from omnitm.errors import FileError
from omnitm.files import system
from omnitm.files.checked import FileDigest, update_digests
from omnitm.files.kinds import (
    INDEX_FORMAT,
    kind_of,
    refuse_other_kinds,
    refuse_to_replace,
    shell_name,
    there_is,
)
from omnitm.files.manifest import (
    CHECKSUMS,
    MANIFEST,
    NEXT_CHECKSUMS,
    FolderKind,
    Manifest,
    read_manifest,
    write_manifest,
)


class Handle(NamedTuple):
    """Where an array was put."""

    offset: int  # bytes, or number in memory
    size: int  # elements
    dtype: DTypeLike
    file: int = 0


class Scratch(Protocol):
    """A place for arrays that are read back later, from any thread."""

    def put(self, array: NDArray[Any]) -> Handle:
        """Set an array aside."""

    def get(self, handle: Handle, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return elements `start` to `stop` of an array that was set aside."""

    def free(self, handle: Handle) -> None:
        """Forget an array; its place may be taken by another one."""


class MemoryScratch:
    """Keeps copies of the arrays."""

    def __init__(self) -> None:
        self._arrays: list[NDArray[Any]] = []
        self._lock = threading.Lock()

    def put(self, array: NDArray[Any]) -> Handle:
        """Set an array aside."""
        with self._lock:
            self._arrays.append(array.copy())
            return Handle(len(self._arrays) - 1, array.size, array.dtype)

    def get(self, handle: Handle, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return elements `start` to `stop` of an array that was set aside."""
        return self._arrays[handle.offset][start:stop]

    def free(self, handle: Handle) -> None:
        """Forget an array."""
        self._arrays[handle.offset] = self._arrays[handle.offset][:0].copy()


class FileScratch:
    """Growing files without a name: they vanish with the process, however it ends.

    One per thread that puts arrays aside, since a system lets only one thread at a time write to a file.
    """

    def __init__(self, folder: Path, n_files: int = 1) -> None:
        self._files: list[_ScratchFile] = []
        try:
            for k in range(n_files):
                self._files.append(_ScratchFile(folder / f"scratch{k}.bin"))
        except FileError:
            self.close()
            raise

    def put(self, array: NDArray[Any]) -> Handle:
        """Write an array to a file that is not being written to."""
        # The first file that nobody writes to; if all are busy, wait for the first one.
        free = (k for k, file in enumerate(self._files) if file.lock.acquire(blocking=False))
        number = next(free, None)
        if number is None:
            number = 0
            self._files[number].lock.acquire()
        try:
            return Handle(self._files[number].put(array), array.size, array.dtype, number)
        finally:
            self._files[number].lock.release()

    def free(self, handle: Handle) -> None:
        """Let other arrays take the place of this one: pages in use cost less than new ones."""
        end = handle.offset + handle.size * np.dtype(handle.dtype).itemsize
        with self._files[handle.file].lock:
            self._files[handle.file].free(handle.offset, end)

    def get(self, handle: Handle, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Read elements `start` to `stop` of an array back."""
        stop = handle.size if stop is None else stop
        array = np.empty(stop - start, dtype=handle.dtype)
        self._files[handle.file].read_into(array, handle.offset + start * array.itemsize)
        return array

    def close(self) -> None:
        """Give the space back."""
        for file in self._files:
            file.close()


class _ScratchFile:
    """Arrays in a file; whoever changes it holds its lock."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = system.open_scratch(path)
        except OSError as error:
            raise not_written(path, error) from error
        self._end = 0
        self._gaps: list[tuple[int, int]] = []  # from, to; in order, never touching
        self.lock = threading.Lock()

    def put(self, array: NDArray[Any]) -> int:
        """Write an array into the first gap that is large enough, or at the end."""
        offset = self._place_for(array.nbytes)
        write_at(self._file, array, offset, self._path)
        return offset

    def _place_for(self, n_bytes: int) -> int:
        for k, (start, end) in enumerate(self._gaps):
            if end - start >= n_bytes:
                # What is left of the gap stays a gap.
                self._gaps[k : k + 1] = [(start + n_bytes, end)] if end - start > n_bytes else []
                return start
        start, self._end = self._end, self._end + n_bytes
        return start

    def free(self, start: int, end: int) -> None:
        insort(self._gaps, (start, end))
        at = self._gaps.index((start, end))
        # Only its neighbours can touch a new gap.
        near = self._gaps[max(0, at - 1) : at + 2]
        self._gaps[max(0, at - 1) : at + 2] = _joined(near)

    def read_into(self, array: NDArray[Any], offset: int) -> None:
        view = memoryview(array.view(np.uint8).data)
        done = 0
        while done < len(view):
            got = system.read_into(self._file, view[done:], offset + done)
            if got == 0:
                raise FileError(self._path, "the temporary file ends too early")
            done += got

    def close(self) -> None:
        os.close(self._file)


def _joined(gaps: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in gaps:
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        elif end > start:
            joined.append((start, end))
    return joined


def open_new(path: Path) -> int:
    """Open a file that is not there yet for writing."""
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | system.CAREFULLY, 0o666)
    except OSError as error:
        raise not_written(path, error) from error


def not_written(path: Path, error: OSError) -> FileError:
    """Build the error for a file of a build that is given up."""
    return FileError(path, f"cannot be written: {error.strerror}; nothing was left behind")


# For larger ones Linux takes memory in units of up to 2 MB, which it seldom has at hand: 200 MB in writes of
# 8 MB took 0.36 to 0.50 s of the processor, in writes of 256 KB 0.05 to 0.13.
BYTES_PER_WRITE = 256 << 10


def write_at(file: int, array: NDArray[Any], offset: int, path: Path) -> None:
    """Write a whole array at a byte offset; a full disk is reported by the name of the file."""
    if array.size == 0:
        return
    view = np.ascontiguousarray(array).view(np.uint8).data
    done = 0
    try:
        while done < len(view):
            done += system.write_at(file, view[done : done + BYTES_PER_WRITE], offset + done)
    except OSError as error:
        raise not_written(path, error) from error


Item = TypeVar("Item")
Result = TypeVar("Result")


class Spread:
    """Threads for work that leaves the interpreter; one thread means the one that asks."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._pool = ThreadPoolExecutor(n_threads)

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Results in the order of the items, which are begun a few at a time."""
        if self.n_threads == 1:
            yield from map(work, items)
            return
        ahead: deque[Future[Result]] = deque()
        try:
            for item in items:
                # Results are handed out in the order of the items, whichever is done first.
                ahead.append(self._pool.submit(work, item))
                # One more than there are threads: none waits, and few results are held.
                if len(ahead) > self.n_threads:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for future in ahead:
                future.cancel()

    def ranges(self, size: int) -> list[tuple[int, int]]:
        """One range (from, to) of `size` things per thread."""
        bounds = [size * k // self.n_threads for k in range(self.n_threads + 1)]
        return list(pairwise(bounds))

    def __enter__(self) -> Spread:  # noqa: PYI034  # typing.Self needs Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()


KIND = FolderKind(INDEX_FORMAT, 1, "build the index again")
ARRAYS = {
    "document_offsets": "<u8",
    "document_words": "<u4",
    "word_offsets": "<u8",
    "word_documents": "<u4",
    "word_counts": "<u8",
    "positions": "<u8",
    "tokens": "<u4",
    "word_starts": "<u8",
    "places": "<u4",
}
OTHER_WORDS = "other_words.txt"
ORDER_FILES = ("tokens.bin", "word_starts.bin", "places.bin", OTHER_WORDS)  # of one with the running text
GROUPS = "groups.bin"  # beside what the manifest lists: groups are made later, and the index stays the same
TEXTS = ("vocabulary.txt", "options.json", "summary.json", "sources.json")
FILES = (*(f"{name}.bin" for name in ARRAYS if f"{name}.bin" not in ORDER_FILES), *TEXTS)
# Which rows they are cut into.
MEMBERS = {"document_words": "document_offsets", "word_documents": "word_offsets"}
SMALL = 1 << 20  # bytes; pieces up to this size are not worth a second thread
BYTES_PER_SYNC = 128 << 20  # of one file, before they are sent to the disk while the next ones are computed
Parsed = TypeVar("Parsed")
Number = TypeVar("Number", bound=np.generic)


class _GrowingFile:
    """A file that is hashed while it is being written."""

    def __init__(self, path: Path) -> None:
        self.path, self.size, self.n_unsynced = path, 0, 0
        self.digest = FileDigest()
        self._file = open_new(path)

    def write(self, data: NDArray[np.uint8]) -> None:
        write_at(self._file, data, self.size, self.path)
        self.size += data.nbytes
        self.n_unsynced += data.nbytes

    def close(self) -> None:
        os.close(self._file)


class FolderSink:
    """The files of an index, in a folder that is not yet at its final place."""

    def __init__(self, folder: Path, n_threads: int = 1) -> None:
        self.folder = folder
        self._files: dict[str, _GrowingFile] = {}
        self._hashes_aside = n_threads > 1
        self._helpers = ThreadPoolExecutor(len(FILES) + len(ORDER_FILES))
        self._synced: list[Future[None]] = []

    def append(self, name: str, array: NDArray[Any]) -> None:
        """Put `array` at the end of the file of `name`."""
        self.append_all({name: array})

    def append_all(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put each array at the end of the file of its name: sooner than one after the other."""
        self._append(
            {
                f"{name}.bin": np.ascontiguousarray(array, dtype=ARRAYS[name]).view(np.uint8)
                for name, array in arrays.items()
            }
        )

    def write_text(self, name: str, text: str) -> None:
        """Write a small text file; names of files in it may have bytes that are no UTF-8."""
        self._append({name: np.frombuffer(text.encode("utf-8", "surrogateescape"), dtype=np.uint8)})

    def _append(self, pieces: Mapping[str, NDArray[np.uint8]]) -> None:
        files = [self._file(name) for name in pieces]
        digested = [(file.digest, data) for file, data in zip(files, pieces.values(), strict=True)]
        # Hashing and writing both leave the interpreter, so they overlap.
        is_aside = self._hashes_aside and sum(data.nbytes for data in pieces.values()) > SMALL
        hashed = self._helpers.submit(update_digests, digested) if is_aside else None
        for file, data in zip(files, pieces.values(), strict=True):
            file.write(data)
        if hashed is None:
            update_digests(digested)
        else:
            hashed.result()
        for file in files:
            # One at a time: a second one would wait for the first, and threads would pile up.
            if file.n_unsynced >= BYTES_PER_SYNC and all(sync.done() for sync in self._synced):
                self._sync(file)

    def _file(self, name: str) -> _GrowingFile:
        if name not in self._files:
            self._files[name] = _GrowingFile(self.folder / name)
        return self._files[name]

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
        names = sorted((*FILES, *ORDER_FILES) if "n_tokens" in figures else FILES)
        for name, dtype in ARRAYS.items():
            # An array that nothing was appended to is an empty file, not a missing one.
            if f"{name}.bin" in names:
                self.append(name, np.empty(0, dtype=dtype))
        self._wait_until_synced()  # an error is reported once only
        for file in self._files.values():
            self._sync(file)
        self._wait_until_synced()
        digests = {name: self._files[name].digest for name in names}
        write_manifest(self.folder, KIND, digests, figures)


def to_json_text(value: Any) -> str:
    """JSON that is the same for the same value, and readable."""
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _sync(path: Path) -> None:
    try:
        system.sync(path)
    except OSError as error:
        raise not_written(path, error) from error


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
        # `mkdtemp` makes folders that only their owner may open.
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
    known = {MANIFEST, CHECKSUMS, NEXT_CHECKSUMS, GROUPS, *FILES, *ORDER_FILES}
    others = {entry.name for entry in output.iterdir()} - known
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
    # The mask can only be read by setting it.
    mask = os.umask(0)
    os.umask(mask)
    return mask


def put_in_place(made: Path, output: Path) -> None:
    """Rename a finished folder to its final name; what was there before is removed only afterwards."""
    try:
        if not os.path.lexists(output):
            made.rename(output)
        # After the exchange `made` is the name of the old index.
        elif system.exchange(made, output):
            shutil.rmtree(made)
        else:
            # Where two names cannot be exchanged in one step there is a moment without an index.
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


def open_folder(path: Path) -> Manifest:
    """Open an index: every file is there and has the right size; its content is checked when it is read."""
    refuse_other_kinds(path, "index")
    if not path.is_dir():
        makes_one = f"make one with: omnitm index TEXT -o {shell_name(path)}"
        raise FileError(path, f"no such index; {there_is(path, makes_one, 'index')}")
    if not os.path.lexists(path / MANIFEST):
        raise FileError(path / MANIFEST, "is missing: this folder is not an omnitm index")
    manifest = read_manifest(path, KIND)
    listed = {*FILES, *ORDER_FILES} if has_order(manifest) else {*FILES}
    names = ("n_documents", "n_words", "n_pairs", *(("n_tokens",) if has_order(manifest) else ()))
    figures = [manifest.facts.get(name) for name in names]
    # Older indexes have no marks between words.
    figures.append(manifest.facts.get("n_marks", 0))
    if set(manifest.files) != listed or not all(map(_is_size, figures)):
        raise FileError(path / MANIFEST, f"does not list the files of an index; {KIND.advice}")
    _check_sizes(manifest)
    for name in manifest.files:
        manifest.check_size(name)
    return manifest


def has_order(manifest: Manifest) -> bool:
    """Whether an index has the running text."""
    return "tokens.bin" in manifest.files


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _check_sizes(manifest: Manifest) -> None:
    n_documents, n_words, n_pairs = (manifest.facts[name] for name in ("n_documents", "n_words", "n_pairs"))
    expected = {
        "document_offsets": 8 * (n_documents + 1),
        "document_words": 4 * n_pairs,
        "word_offsets": 8 * (n_words + 1),
        "word_documents": 4 * n_pairs,
        "word_counts": 8 * n_words,
    }
    if has_order(manifest):
        n_tokens, n_marks = manifest.facts["n_tokens"], manifest.facts.get("n_marks", 0)
        # Of the tokens, n_documents + 1 are ends of documents, which have no place, as marks have none.
        expected |= {"tokens": 4 * n_tokens, "places": 4 * (n_tokens - n_marks - n_documents - 1)}
    for name, size in expected.items():
        if manifest.files[f"{name}.bin"].size != size:
            problem = f"should have {size:,} bytes by the figures of {MANIFEST}; {KIND.problem}"
            raise FileError(manifest.folder / f"{name}.bin", problem)


class StoredArray(Generic[Number]):
    """Field for an array, or for a function that maps and checks one: called when the array is first used."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, index: object | None, owner: type | None = None) -> NDArray[Number]:
        if index is None:
            raise AttributeError(self._name)  # so that the field has no default
        found = index.__dict__[self._name]
        if callable(found):
            found = index.__dict__[self._name] = found()
        array: NDArray[Number] = found
        return array

    def __set__(self, index: object, value: NDArray[Number] | Callable[[], NDArray[Number]]) -> None:
        index.__dict__[self._name] = value


def array(manifest: Manifest, name: str) -> NDArray[Any]:
    """Map an array of an index and check all of it."""
    found = manifest.map(f"{name}.bin").array(ARRAYS[name])
    if manifest.sums is None and name in MEMBERS:
        _check_members(manifest, name, found)
    return found


def _check_members(manifest: Manifest, name: str, members: NDArray[np.uint32]) -> None:
    """Check the numbers of an older index, which has no checksums of blocks: they are used as places."""
    others = next(other for other in MEMBERS if other != name)
    # The other order has an offset of 8 bytes per row and one at the end, so this is its number of rows.
    limit = manifest.files[f"{MEMBERS[others]}.bin"].size // 8 - 1
    row = first_defect(array(manifest, MEMBERS[name]), members, limit)
    if row >= 0:
        problem = f"row {row} has numbers out of range or out of order; {KIND.problem}"
        raise FileError(manifest.folder / f"{name}.bin", problem)


def read_json(manifest: Manifest, name: str, parse: Callable[[Any], Parsed]) -> Parsed:
    """Content of one of the small JSON files, made into what it stands for."""
    file = manifest.folder / name
    try:
        content = json.loads(manifest.read(name).decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        raise FileError(file, "damaged: not JSON; build the index again") from None
    try:
        return parse(content)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise FileError(file, f"damaged: {error!r}; build the index again") from None


def read_words(manifest: Manifest, name: str = "vocabulary.txt") -> list[str]:
    """Vocabulary, or the other words of the running text, one per line."""
    file = manifest.folder / name
    try:
        words = manifest.read(file.name).decode("utf-8").split("\n")[:-1]
    except UnicodeDecodeError as error:
        raise FileError(file, f"damaged: not UTF-8 at byte {error.start}; build the index again") from None
    if name == "vocabulary.txt" and len(words) != manifest.facts["n_words"]:
        raise FileError(file, f"damaged: another number of words than in {MANIFEST}")
    return words


def vocabulary_text(words: Sequence[str]) -> str:
    """Vocabulary as it is stored: every word followed by a newline."""
    return "\n".join([*words, ""])
