"""SHA-256 of several files at a time is that of Python's library, on every processor."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from omnitm import _native
from omnitm.files.checked import FileDigest, update_digests
from omnitm.files.hashing import BLOCK, Sha256, update_together

SIZES = (0, 1, BLOCK - 9, BLOCK - 8, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK, 1000)


@pytest.fixture(params=["instructions", "library"])
def _kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "library":
        monkeypatch.setattr(_native, "has_sha256", lambda: False)
    elif not _native.has_sha256():
        pytest.skip("this processor has no instructions for SHA-256")


@pytest.mark.usefixtures("_kind")
@pytest.mark.parametrize("n_files", [1, 2, 3, 4])
def test_pieces_of_any_size(n_files: int) -> None:
    random = np.random.default_rng(n_files)
    ours, known = [Sha256() for _ in range(n_files)], [hashlib.sha256() for _ in range(n_files)]
    for _ in range(60):
        pieces = [random.integers(0, 256, int(random.choice(SIZES)), dtype=np.uint8) for _ in range(n_files)]
        update_together(list(zip(ours, pieces, strict=True)))
        for sha256, piece in zip(known, pieces, strict=True):
            sha256.update(piece.data)
        # What is known in the middle does not change what follows.
        assert [sha256.hexdigest() for sha256 in ours] == [sha256.hexdigest() for sha256 in known]


@pytest.mark.usefixtures("_kind")
def test_digests_of_files_that_grow_side_by_side() -> None:
    first, second = (np.random.default_rng(seed).integers(0, 256, 30_000, dtype=np.uint8) for seed in (1, 2))
    together, alone = (FileDigest(), FileDigest()), (FileDigest(first), FileDigest(second))
    for start in range(0, 30_000, 7_001):
        part = slice(start, start + 7_001)
        update_digests([(together[0], first[part]), (together[1], second[part])])
    assert [digest.entry for digest in together] == [digest.entry for digest in alone]
    assert together[0].entry == (30_000, hashlib.sha256(first.data).hexdigest())
    for digest, whole in zip(together, alone, strict=True):
        np.testing.assert_array_equal(digest.sums(), whole.sums())
