from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omnitm._native import WordTable, interleave, invert, invert_running, remap_documents
from omnitm.corpus import storage
from omnitm.corpus.storage import FileScratch, Handle, MemoryScratch
from omnitm.files import system

if TYPE_CHECKING:
    from pathlib import Path


def test_large_arrays_are_written_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the system takes only a part of a piece."""
    sizes: list[int] = []
    write = system.write_at

    def noted(file: int, data: memoryview, offset: int) -> int:
        sizes.append(len(data))
        return write(file, data[:700], offset)

    monkeypatch.setattr(system, "write_at", noted)
    monkeypatch.setattr(storage, "BYTES_PER_WRITE", 1024)
    scratch, array = FileScratch(tmp_path), np.arange(1000, dtype=np.uint32)
    assert scratch.get(scratch.put(array)).tolist() == array.tolist()
    assert sizes == [1024, 1024, 1024, 1024, 1024, 500]
    scratch.close()


@settings(max_examples=200, deadline=None)
@given(steps=st.lists(st.tuples(st.booleans(), st.integers(0, 50)), max_size=60))
@pytest.mark.parametrize("kind", ["file", "memory"])
def test_arrays_come_back_whatever_was_freed(
    tmp_path_factory: pytest.TempPathFactory, kind: str, steps: list[tuple[bool, int]]
) -> None:
    scratch = FileScratch(tmp_path_factory.mktemp("scratch")) if kind == "file" else MemoryScratch()
    kept: list[tuple[Handle, list[int]]] = []
    for number, (is_freed, size) in enumerate(steps):
        if is_freed and kept:
            scratch.free(kept.pop(size % len(kept))[0])
        else:
            array = np.full(size, number, dtype=np.uint32)
            kept.append((scratch.put(array), array.tolist()))
            array[:] = 99_999
        assert [scratch.get(handle).tolist() for handle, _ in kept] == [values for _, values in kept]
    if isinstance(scratch, FileScratch):
        scratch.close()


def test_freed_place_is_used_again(tmp_path: Path) -> None:
    scratch = FileScratch(tmp_path)
    handles = [scratch.put(np.zeros(10, dtype=np.uint32)) for _ in range(4)]
    for k in (2, 0, 1):
        scratch.free(handles[k])
    assert scratch.put(np.zeros(30, dtype=np.uint32)).offset == 0
    assert scratch.put(np.zeros(1, dtype=np.uint32)).offset == 160
    scratch.close()


def test_native_code_does_not_write_past_an_array() -> None:
    small, two = np.empty(1, dtype=np.uint32), np.array([0, 1], dtype=np.uint32)
    with pytest.raises(ValueError, match="too small"):
        remap_documents([two], [two[1:]], [two], 2, 2, small, small, small[:0])
    with pytest.raises(ValueError, match="too small"):
        remap_documents([two[1:]], [two], [two], 2, 2, small, small, small[:0])
    with pytest.raises(ValueError, match="too small"):
        remap_documents([two[1:]], [two[1:]], [two], 2, 2, two.copy(), two.copy(), small)
    with pytest.raises(ValueError, match="too small"):
        invert_running(two, 0, two.copy(), small)
    with pytest.raises(ValueError, match="there is no such word"):
        invert_running(two, 0, small, two.copy())
    with pytest.raises(ValueError, match="too small"):
        invert(two, two, 0, two.copy(), small)
    with pytest.raises(ValueError, match="too small"):
        interleave([two], [two], small)


def test_table_has_nothing_in_common_with_itself() -> None:
    table = WordTable([b"the"])
    with pytest.raises(ValueError, match="everything in common with itself"):
        table.take_common(table, 0, 1)


@pytest.mark.parametrize("limit", [0, 1, 7, 30, 59, 60, 100])
def test_the_most_frequent_words_are_chosen_in_the_order_of_the_vocabulary(limit: int) -> None:
    """Many are equally frequent; some begin with the same 8 or 16 letters, or are beginnings of others."""
    random = np.random.default_rng(limit)
    stems = ["", "z", "eightlet", "sixteen-letters-", "sixteen-letters-and-more", "\xe9\xe9\xe9\xe9"]
    words = [f"{stem}{ending}".encode() for stem in stems for ending in "abcdefghi\xe9"]
    counts = random.integers(1, 5, len(words)).astype(np.uint64)
    table = WordTable([])
    letters = np.frombuffer(b"".join(words), dtype=np.uint8)
    table.absorb(letters, np.array([len(word) for word in words], np.uint16), counts, counts)
    ordered = sorted(zip((-counts.astype(np.int64)).tolist(), words, strict=True))
    # Words of three and more are kept, the others are not.
    kept, others, *_ = table.select(3, 0, 2**40, limit, 0, b"", limit, 0, b"")
    for records, expected in (
        (kept, [word for count, word in ordered if count <= -3]),
        (others, [word for count, word in ordered if count > -3]),
    ):
        spelled, lengths, *_ = records
        ends = np.cumsum(lengths, dtype=np.int64).tolist()
        found = [spelled.tobytes()[start:end] for start, end in zip([0, *ends], ends, strict=False)]
        assert found == expected[:limit]
