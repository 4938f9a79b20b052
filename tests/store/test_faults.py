"""A disk that fails at any write, trainers that are killed or meet: nothing that was good is lost."""

from __future__ import annotations

import errno
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm.engines import ThreadsEngine
from omnitm.errors import FileError, OmniTMError
from omnitm.machine import AutoencoderSettings
from omnitm.training import train_model, train_vectors
from omnitm.training.shards import merge_models
from omnitm.training.vocabulary import add_words
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnitm.corpus import DocumentIndex

SETTINGS = AutoencoderSettings(n_clauses=6, n_examples=40, accumulation=2)
FILES = ("manifest.json", "checksums.bin", "settings.json", "features.txt", "words.txt", "vectors.i16")
CALLS = ("open", "write", "pwrite", "fsync", "ftruncate", "replace", "rename", "unlink", "mkdir")
TROUBLES = (errno.ENOSPC, errno.EIO, errno.EACCES)


class Disk:
    """Counts what is asked of the disk below a folder's file system, and fails once or for good."""

    def __init__(self, patch: pytest.MonkeyPatch, *, fail_at: int = -1, error: int = errno.EIO) -> None:
        self.count, self.fail_at, self.error, self.hit = 0, fail_at, error, ""
        for name in CALLS:
            patch.setattr(os, name, self._guarded(name, getattr(os, name)))
        opened = io.open

        def open_file(path: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
            if set(mode) & set("wxa+"):
                self._ask(f"open {path}")
            file = opened(path, mode, *arguments, **options)
            return _Written(file, self) if set(mode) & set("wxa+") else file

        patch.setattr(io, "open", open_file)

    def _guarded(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def guarded(*arguments: Any, **options: Any) -> Any:
            reads = name == "open" and not arguments[1] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            if not reads:
                self._ask(f"{name} {arguments[0]}")
            return call(*arguments, **options)

        return guarded

    def _ask(self, what: str) -> None:
        self.count += 1
        if self.count - 1 == self.fail_at:
            self.hit = what
            raise OSError(self.error, os.strerror(self.error))


class _Written:
    """A file whose `write` asks the disk first."""

    def __init__(self, file: Any, disk: Disk) -> None:
        self._file, self._disk = file, disk

    def __enter__(self) -> _Written:  # noqa: PYI034 - typing.Self came with Python 3.11
        self._file.__enter__()
        return self

    def __exit__(self, *exception: object) -> Any:
        return self._file.__exit__(*exception)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, content: Any) -> Any:
        self._disk._ask(f"write {self._file.name}")
        return self._file.write(content)


def fail_everywhere(
    patch: pytest.MonkeyPatch, act: Callable[[], object], check: Callable[[], None], reset: Callable[[], None]
) -> list[str]:
    """Let every single request to the disk fail in turn; return what was hit."""
    reset()
    with patch.context() as counted:
        disk = Disk(counted)
        act()
        total = disk.count
    assert total > 5
    hits = []
    for place in range(total):
        reset()
        with patch.context() as failing:
            disk = Disk(failing, fail_at=place, error=TROUBLES[place % len(TROUBLES)])
            try:
                act()
            except OmniTMError as error:
                assert os.strerror(disk.error) in str(error), (disk.hit, error)  # noqa: PT017
        hits.append(disk.hit)
        check()
    return hits


@pytest.fixture(scope="module")
def whole(board: DocumentIndex) -> WordVectors:
    return train_vectors(board, ["a0", "b0", "a1"], settings=SETTINGS)


def test_a_disk_that_fails_at_any_write_of_a_training(
    board: DocumentIndex, whole: WordVectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "m"

    def act() -> None:
        train_model(board, model, ["a0", "b0", "a1"], settings=SETTINGS, engine=ThreadsEngine(1))

    def check() -> None:
        resumed = train_model(board, model, ["a0", "b0", "a1"], settings=SETTINGS, resume=True)
        assert np.array_equal(resumed.matrix, whole.matrix)
        WordVectors.load(model, verify=True)

    hits = fail_everywhere(monkeypatch, act, check, lambda: shutil.rmtree(model, ignore_errors=True))
    calls = {hit.split()[0] for hit in hits}
    assert {"open", "write", "pwrite", "fsync", "ftruncate", "unlink"} <= calls


def test_a_disk_that_fails_at_any_write_of_an_addition(
    board: DocumentIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, good = tmp_path / "m", tmp_path / "good"
    old = train_model(board, good, ["a0", "b0"], settings=SETTINGS).matrix.copy()
    after = train_vectors(board, ["a0", "b0", "a1"], settings=SETTINGS)

    def reset() -> None:
        shutil.rmtree(model, ignore_errors=True)
        shutil.copytree(good, model)

    def check() -> None:
        kept = WordVectors.load(model, verify=True)  # as it was, or with the new word; never in between
        assert np.array_equal(kept.matrix[:2], old)
        train_model(board, model, resume=True)
        if "a1" not in WordVectors.load(model):
            add_words(board, model, ["a1"])
        assert np.array_equal(WordVectors.load(model, verify=True).matrix, after.matrix)

    fail_everywhere(
        monkeypatch, lambda: add_words(board, model, ["a1"], engine=ThreadsEngine(1)), check, reset
    )


def test_a_disk_that_fails_at_any_write_of_a_save_or_a_merge(
    board: DocumentIndex, whole: WordVectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "m"
    train_model(board, tmp_path / "part", ["a0", "b0", "a1"], settings=SETTINGS)
    for act in (
        lambda: whole.save(model, force=True),
        lambda: merge_models([tmp_path / "part"], model, force=True),
    ):

        def check(act: Callable[[], object] = act) -> None:
            if not (model / "manifest.json").exists():
                with pytest.raises(FileError, match=str(model)):
                    WordVectors.load(model)
            act()
            assert np.array_equal(WordVectors.load(model, verify=True).matrix, whole.matrix)

        fail_everywhere(monkeypatch, act, check, lambda: shutil.rmtree(model, ignore_errors=True))


@pytest.mark.parametrize("rounds", [30, pytest.param(1000, marks=pytest.mark.torture)])
def test_a_damaged_journal_costs_time_but_no_word(
    board: DocumentIndex, whole: WordVectors, tmp_path: Path, rounds: int
) -> None:
    """Cut off or with a flipped bit: rows are trained again, or all of them; never a wrong vector."""
    started, model = tmp_path / "started", tmp_path / "m"

    class Stopped(Exception):  # noqa: N818 - no error
        pass

    def stop(state: Any) -> None:
        if state.done >= 2:
            raise Stopped

    with pytest.raises(Stopped):
        train_model(
            board,
            started,
            ["a0", "b0", "a1"],
            settings=SETTINGS,
            engine=ThreadsEngine(1),
            progress=stop,
        )
    random, sound = np.random.default_rng(9), (started / "journal").read_bytes()
    for number in range(rounds):
        shutil.rmtree(model, ignore_errors=True)
        shutil.copytree(started, model)
        damaged = bytearray(sound)
        if number % 2:
            del damaged[int(random.integers(len(sound))) :]
        else:
            damaged[int(random.integers(len(sound)))] ^= 1 << int(random.integers(8))
        (model / "journal").write_bytes(damaged)
        try:
            resumed = train_model(board, model, ["a0", "b0", "a1"], settings=SETTINGS, resume=True)
        except FileError as error:
            assert str(model) in str(error)  # noqa: PT017 - which one depends on the bit
            resumed = train_model(board, model, ["a0", "b0", "a1"], settings=SETTINGS, force=True)
        assert np.array_equal(resumed.matrix, whole.matrix)


TRAINER = """
import sys
sys.path.insert(0, sys.argv[1])
from conftest import checkerboard
from omnitm.training import train_model
from omnitm.machine import AutoencoderSettings
settings = AutoencoderSettings(n_clauses=6, n_examples=int(sys.argv[3]), accumulation=2)
told = []
def tell(state):
    if not told:
        told.append(print("on", flush=True))
        sys.stdin.readline()
train_model(checkerboard(), sys.argv[2], settings=settings, progress=tell)
"""


def trainer(model: Path, n_examples: int, **environment: str) -> subprocess.Popen[str]:
    """Start to train a model; when it has begun, it says so and waits for a line."""
    command = [sys.executable, "-c", TRAINER, str(Path(__file__).parents[1]), str(model), str(n_examples)]
    variables = {**os.environ, **environment}
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=variables)


def test_the_second_of_two_trainers_is_told_and_the_first_goes_on(
    board: DocumentIndex, tmp_path: Path
) -> None:
    settings = AutoencoderSettings(n_clauses=6, n_examples=40, accumulation=2)
    with trainer(tmp_path / "m", 40) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "on\n"
        for options in ({"resume": True}, {"force": True}):
            with pytest.raises(FileError, match="another process is training this model; wait until it ends"):
                train_model(board, tmp_path / "m", settings=settings, **options)  # type: ignore[arg-type]
        first.communicate("go on\n")
        assert first.returncode == 0
    vectors = WordVectors.load(tmp_path / "m", verify=True)
    assert np.array_equal(vectors.matrix, train_vectors(board, settings=settings).matrix)


def test_hash_seeds_make_no_difference(tmp_path: Path) -> None:
    models = [tmp_path / seed for seed in ("0", "1", "4242")]
    for model in models:
        with trainer(model, 40, PYTHONHASHSEED=model.name) as process:
            process.communicate("go on\n")
            assert process.returncode == 0
    for name in FILES:
        assert len({(model / name).read_bytes() for model in models}) == 1, name


NO_NETWORK = """
import socket, sys
def refuse(*_, **__):
    raise AssertionError("network")
socket.socket.connect = socket.socket.bind = socket.getaddrinfo = socket.create_connection = refuse
import omnitm
from omnitm.vectors import WordVectors
print(WordVectors.load(sys.argv[1], verify=True).most_similar("a0", topn=1)[0][0])
"""


def test_import_and_load_need_no_network(whole: WordVectors, tmp_path: Path) -> None:
    whole.save(tmp_path / "m")
    command = [sys.executable, "-c", NO_NETWORK, str(tmp_path / "m")]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.strip() in {"b0", "a1"}
