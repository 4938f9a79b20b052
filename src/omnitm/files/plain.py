"""Reading and writing single files so that a crash, a forgery or a full disk cannot go unnoticed."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from omnitm.errors import FileError, OmniTMWarning
from omnitm.files import system

_CHUNK = 1 << 20  # bytes hashed at a time


def write_file(path: Path, content: bytes) -> None:
    """Write a file under a temporary name, make it durable, and only then give it its name."""
    with new_file(path) as file:
        file.write(content)


@contextlib.contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file under a temporary name; it gets its own when all is written, and is removed on failure."""
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with writing(path):
            temporary.unlink(missing_ok=True)
            with temporary.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
            sync_folder(path.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def sync_folder(folder: Path) -> None:
    """Make renames and removals in a folder durable."""
    with writing(folder):
        system.sync(folder)


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an operating system's refusal to write into an error that begins with the path."""
    with _refused(path, "written"):
        yield


@contextlib.contextmanager
def _refused(path: Path, what: str) -> Iterator[None]:
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        raise FileError(path, f"cannot be {what}: {error.strerror or error}") from error


def open_regular(path: Path) -> int:
    """Open a file for reading if it is a plain file of its folder, not a link or a device."""
    if path.is_symlink():  # it could lead out of the model's folder
        raise FileError(path, "is a symbolic link; a model's files must be plain files")
    try:
        descriptor = os.open(path, system.READING)
    except FileNotFoundError:
        raise FileError(path, "is missing") from None
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise FileError(path, "is not a plain file")
    return descriptor


def read_file(path: Path, limit: int, size: int | None = None) -> bytes:
    """Read a file, or its first `size` bytes; refuse more than `limit` bytes."""
    with _refused(path, "read"), os.fdopen(open_regular(path), "rb") as file:
        wanted = os.fstat(file.fileno()).st_size if size is None else size
        if wanted > limit:
            raise FileError(path, f"has {wanted:,} bytes, which is more than any model needs ({limit:,})")
        content = file.read(wanted)
    if len(content) != wanted:
        raise FileError(path, f"should have {wanted:,} bytes but has {len(content):,}")
    return content


def read_text(path: Path, wanted: str = "") -> str:
    """Read a text that a user names; an error says what is wrong with it, and what is wanted."""
    hint = f"; {wanted}" if wanted else ""
    try:
        return path.read_text(encoding="utf-8-sig")  # with or without the mark that Excel puts first
    except UnicodeDecodeError as error:
        raise FileError(path, f"is not UTF-8 at byte {error.start}{hint}") from None
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}{hint}") from None


def keep_result(path: Path, plan: str, result: Any) -> None:
    """Keep a result of long work as JSON, with a name of all that it depends on and a checksum."""
    content = {"plan": plan, "result": result, "sha256": _sha256_of_result(plan, result)}
    write_file(path, json.dumps(content, indent=2).encode())


def kept_result(path: Path, plan: str) -> Any | None:
    """Read a result that was kept by the same plan; None if there is none, or it has to be made again."""
    if not path.is_file():
        return None
    try:
        content = json.loads(path.read_bytes())
        is_sound = content["sha256"] == _sha256_of_result(content["plan"], content["result"])
    except (ValueError, TypeError, KeyError):
        is_sound = False
    if not is_sound:
        problem = "is damaged, or of an earlier version; it is made again"
        warnings.warn(f"{path}: {problem}", OmniTMWarning, stacklevel=2)
        return None
    return content["result"] if content["plan"] == plan else None


def _sha256_of_result(plan: str, result: Any) -> str:
    return hashlib.sha256(json.dumps([plan, result]).encode()).hexdigest()


def sha256_of(path: Path, size: int) -> str:
    """Hash the first `size` bytes of a file."""
    digest = hashlib.sha256()
    with _refused(path, "read"), os.fdopen(open_regular(path), "rb") as file:
        left = size
        while left:
            chunk = file.read(min(left, _CHUNK))
            if not chunk:
                raise FileError(path, f"should have {size:,} bytes but has {size - left:,}")
            digest.update(chunk)
            left -= len(chunk)
    return digest.hexdigest()


def words_to_bytes(words: Sequence[str]) -> bytes:
    """Write one word per line."""
    return "".join(f"{word}\n" for word in words).encode()


def words_from_bytes(path: Path, content: bytes) -> list[str]:
    """Read one word per line; every word must be there once."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise FileError(path, f"is not UTF-8 at byte {error.start}") from None
    words = text.split("\n")
    if words.pop() != "":
        raise FileError(path, "must end with a line break")
    if len(set(words)) != len(words):
        raise FileError(path, "names a word twice")
    return words
