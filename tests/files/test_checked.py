"""Checksums of blocks: what they are, when they are looked at, and what a crash can leave."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omnitm import _native
from omnitm.errors import FileError
from omnitm.files.checked import BLOCK, CheckedFile, FileDigest, block_checksums, mapped
from omnitm.files.manifest import (
    CHECKSUMS,
    MANIFEST,
    NEXT_CHECKSUMS,
    FolderKind,
    read_manifest,
    write_manifest,
)

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

KIND = FolderKind("omnitm thing", 1, "make it again")


def some_bytes(size: int) -> NDArray[np.uint8]:
    return np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8)


def test_the_checksum_is_crc32c_on_every_processor() -> None:
    digits = np.frombuffer(b"123456789", dtype=np.uint8)
    assert _native.crc32c(digits) == 0xE3069283  # the check value of CRC-32C
    for size in (0, 1, 7, 8, 9, 4096, 5001, 1 << 18, (1 << 18) - 1, (3 << 18) + 777):
        assert _native.crc32c(some_bytes(size)) == _native.crc32c(some_bytes(size), portable=True)


@pytest.mark.parametrize(
    "size", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 9 * BLOCK + 77, 150 * BLOCK + 5]
)
def test_blocks_are_the_same_however_a_file_is_given(size: int) -> None:
    content, random = some_bytes(size), np.random.default_rng(0)
    expected = [_native.crc32c(content[start : start + BLOCK]) for start in range(0, size, BLOCK)]
    assert block_checksums(content).tolist() == expected
    for longest in (1, 100, BLOCK, 3 * BLOCK):
        digest, start = FileDigest(), 0
        while start < size and longest * 200 > size:
            step = int(random.integers(1, longest + 1))
            digest.update(content[start : start + step].tobytes())
            start += step
        if longest * 200 > size:
            assert digest.sums().tolist() == expected
            assert digest.entry == FileDigest(content).entry


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "numbers.bin"
    path.write_bytes(some_bytes(10 * BLOCK + 100).tobytes())
    return path


def test_only_what_is_read_is_checked_and_only_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = file.read_bytes()
    sums = FileDigest(content).sums()
    damaged = bytearray(content)
    damaged[5 * BLOCK + 7] ^= 1
    file.write_bytes(damaged)
    checked = CheckedFile(file, len(content), sums, "it is bad")
    checked.check_spans(np.array([0, 9 * BLOCK]), BLOCK + 50)
    checked.check_spans(np.array([5 * BLOCK - 8, 6 * BLOCK]), 8)
    assert checked._checked.tolist() == [1, 1, 0, 0, 1, 0, 1, 0, 0, 1, 1]
    with pytest.raises(FileError, match=r"numbers\.bin: damaged near byte 20,480: it is bad"):
        checked.check_spans(np.array([5 * BLOCK - 4]), 8)
    for read in (checked.check, lambda: checked.array("<u4")):
        with pytest.raises(FileError, match="damaged near byte 20,480"):
            read()
    file.write_bytes(content)
    sound = CheckedFile(file, len(content), sums, "it is bad")
    assert sound.array("<u4").tobytes() == content
    monkeypatch.delattr(_native, "check_spans")  # nothing is left to be checked
    sound.check_spans(np.array([0]), 8)


def test_files_without_checksums_and_empty_files_are_not_checked(file: Path) -> None:
    CheckedFile(file, 40, None, "").check()
    assert CheckedFile(file, 0, FileDigest().sums(), "").array("<u4").tolist() == []


def test_spans_must_lie_in_the_file(file: Path) -> None:
    checked = CheckedFile(file, 2 * BLOCK, FileDigest(file.read_bytes()[: 2 * BLOCK]).sums(), "")
    for start, span in ((-1, 8), (2 * BLOCK - 7, 8), (0, 2 * BLOCK + 1)):
        with pytest.raises(ValueError, match="a span must lie within `content`"):
            checked.check_spans(np.array([start]), span)
    with pytest.raises(ValueError, match="must have a place per block"):
        _native.check_spans(some_bytes(9), np.zeros(2, np.uint32), np.zeros(2, np.uint8), np.zeros(1, int), 1)
    with pytest.raises(ValueError, match="`sums` must have a place per block"):
        _native.block_checksums(some_bytes(9), np.zeros(2, np.uint32))


def test_a_file_that_was_cut_off_is_not_mapped(file: Path) -> None:
    with pytest.raises(FileError, match="should have 99,999 bytes but has 41,060; it has been cut off"):
        mapped(file, 99_999)


def made(folder: Path, content: bytes) -> None:
    (folder / "a.bin").write_bytes(content)
    write_manifest(folder, KIND, {"a.bin": FileDigest(content)}, {"n": 3})


def test_a_manifest_notices_every_flipped_bit_and_cut_of_its_own(tmp_path: Path) -> None:
    made(tmp_path, b"abc")
    assert read_manifest(tmp_path, KIND).facts["n"] == 3
    for name in (MANIFEST, CHECKSUMS):
        sound = (tmp_path / name).read_bytes()
        flipped = []
        for bit in range(8 * len(sound)):
            flip = bytearray(sound)
            flip[bit // 8] ^= 1 << bit % 8
            flipped.append(bytes(flip))
        for content in (*flipped, *(sound[:size] for size in range(len(sound))), sound + b" "):
            (tmp_path / name).write_bytes(content)
            with pytest.raises(FileError, match=str(tmp_path)):
                read_manifest(tmp_path, KIND)
        (tmp_path / name).write_bytes(sound)


class WritesUntil:
    """Writes files until it is killed."""

    def __init__(self, last: int) -> None:
        self._left = last

    def __call__(self, path: Path, content: bytes) -> None:
        self._left -= 1
        if not self._left:
            raise OSError(5, "killed")
        path.write_bytes(content)


def test_a_crash_while_a_manifest_is_replaced_leaves_the_old_or_the_new_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path, b"old")
    monkeypatch.setattr("omnitm.files.manifest.sync_folder", lambda _: None)
    for broken_write in (1, 2, 3):
        (tmp_path / "a.bin").write_bytes(b"old and new")
        counted = WritesUntil(broken_write)
        with monkeypatch.context() as patch:
            patch.setattr("omnitm.files.manifest.write_file", counted)
            if broken_write == 3:  # the rename of the checksums
                patch.setattr("pathlib.Path.replace", lambda *_: WritesUntil(1)(tmp_path, b""))
            with pytest.raises(OSError, match="killed"):
                made_again(tmp_path)
        found = read_manifest(tmp_path, KIND)
        assert found.files["a.bin"].size == (11 if broken_write == 3 else 3)
        found.map("a.bin").check()
    made_again(tmp_path)
    assert not (tmp_path / NEXT_CHECKSUMS).exists()
    read_manifest(tmp_path, KIND).map("a.bin").check()


def made_again(folder: Path) -> None:
    write_manifest(folder, KIND, {"a.bin": FileDigest(b"old and new")}, {"n": 3})


def test_a_manifest_whose_checksums_are_of_other_sizes_is_refused(tmp_path: Path) -> None:
    made(tmp_path, b"abc")
    text = (tmp_path / MANIFEST).read_text()
    manifest = json.loads(text)
    manifest["files"]["a.bin"]["size"] = 2 * BLOCK
    manifest["checksum"] = "0" * 64
    blank = json.dumps(manifest, indent=1).encode()
    own = FileDigest(blank).entry.sha256
    (tmp_path / MANIFEST).write_bytes(blank.replace(b"0" * 64, own.encode()))
    with pytest.raises(FileError, match=r"manifest\.json: does not fit its own checksums; make it again"):
        read_manifest(tmp_path, KIND)
