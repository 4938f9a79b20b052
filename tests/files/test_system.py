"""What both systems must do, tried on both: Windows' side runs here with a pretended `msvcrt`."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import importlib
import os
import sys
import threading
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from omnitm.engines import ProcessesEngine, processes
from omnitm.errors import EngineError
from omnitm.files import posix, system
from omnitm.training import train_vectors

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from omnitm.corpus import DocumentIndex


def pretended_locking(descriptor: int, _: int, size: int) -> None:
    """Lock bytes from the current place on, as `msvcrt.locking` does; for this open file alone."""
    assert size == 1
    assert os.lseek(descriptor, 0, os.SEEK_CUR) > 1 << 30
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise PermissionError(13, "Permission denied") from None


@pytest.fixture(params=["posix", "windows"])
def side(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    if request.param == "posix":
        yield posix
        return
    msvcrt = ModuleType("msvcrt")
    msvcrt.__dict__.update(LK_NBLCK=2, locking=pretended_locking)
    monkeypatch.setitem(sys.modules, "msvcrt", msvcrt)
    yield importlib.import_module("omnitm.files.windows")
    del sys.modules["omnitm.files.windows"]


def test_this_machine_has_its_side() -> None:
    assert system is posix


def test_both_sides_have_the_same_names(side: Any) -> None:
    def public(module: Any) -> set[str]:
        names = {name for name in vars(module) if not name.startswith("_")}
        return {n for n in names if not isinstance(vars(module)[n], ModuleType)} - {"annotations", "Any"}

    assert public(side) == public(posix)


def test_reading_and_writing_at_a_place(side: Any, tmp_path: Path) -> None:
    descriptor = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT | side.CAREFULLY)
    assert side.write_at(descriptor, b"world", 6) == 5
    assert side.write_at(descriptor, memoryview(b"hello "), 0) == 6
    assert side.read_at(descriptor, 100, 3) == b"lo world"
    buffer = bytearray(4)
    assert side.read_into(descriptor, memoryview(buffer), 9) == 2
    assert buffer == b"ld\0\0"
    os.close(descriptor)
    assert (tmp_path / "file").read_bytes() == b"hello world"


def test_many_threads_write_at_their_places(side: Any, tmp_path: Path) -> None:
    descriptor = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT | side.CAREFULLY)

    def write(number: int) -> None:
        for k in range(100):
            side.write_at(descriptor, bytes([number]) * 8, 8 * (8 * k + number))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os.close(descriptor)
    assert (tmp_path / "file").read_bytes() == b"".join(bytes([n]) * 8 for n in range(8)) * 100


def test_a_lock_keeps_others_out_until_it_is_closed(side: Any, tmp_path: Path) -> None:
    first, second = (os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT | side.CAREFULLY) for _ in range(2))
    os.write(first, b"content")
    assert side.lock(first, wait=False)
    assert not side.lock(second, wait=False)
    waiting = threading.Thread(target=side.lock, args=(second,), kwargs={"wait": True})
    waiting.start()
    os.close(first)
    waiting.join(120)
    assert not waiting.is_alive()
    assert (tmp_path / "lock").read_bytes() == b"content"
    side.remove_locked(tmp_path / "lock", second)
    assert not (tmp_path / "lock").exists()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.close(second)


def test_files_and_folders_are_synced(side: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    side.sync(tmp_path / "file")
    side.sync(tmp_path)
    with pytest.raises(FileNotFoundError):
        side.sync(tmp_path / "nothing")


def test_a_scratch_file_can_be_written_and_read(side: Any, tmp_path: Path) -> None:
    """On Windows the system removes it when it is closed (O_TEMPORARY); here that flag does nothing."""
    descriptor = side.open_scratch(tmp_path / "scratch")
    side.write_at(descriptor, b"abc", 0)
    assert side.read_at(descriptor, 3, 0) == b"abc"
    os.close(descriptor)
    with contextlib.suppress(FileNotFoundError):
        (tmp_path / "scratch").unlink()
    (tmp_path / "there").touch()
    with pytest.raises(FileExistsError):
        side.open_scratch(tmp_path / "there")


def test_users_and_memory(side: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def status(reference: Any) -> None:
        found = reference._obj
        assert found.length == ctypes.sizeof(found) == 64
        found.total = 8 << 30

    kernel = SimpleNamespace(kernel32=SimpleNamespace(GlobalMemoryStatusEx=status))
    monkeypatch.setattr(ctypes, "windll", kernel, raising=False)
    assert side.memory_size() > 1 << 28
    assert side.user()
    assert side.is_own(tmp_path.stat())


def test_where_pipes_cannot_be_handed_on_there_are_no_processes(
    board: DocumentIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "system", SimpleNamespace(HAS_WORKERS=False))
    with pytest.raises(EngineError, match="'processes' needs Linux or macOS; use the engine 'threads'"):
        train_vectors(board, engine=ProcessesEngine(2))
