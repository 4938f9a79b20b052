"""Any bytes as a corpus: an index that is sound, or an error that names the file; never a crash."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from omnitm.corpus import DocumentIndex, build_index
from omnitm.errors import OmniTMError

if TYPE_CHECKING:
    from pathlib import Path

PIECES = (
    b"road ", b"sea", b"\n", b"\r\n", b"\0", b"\xff", b"\xc3", b"\xa9", b"\xed\xa0\x80", b"\xef\xbb\xbf",
    b"\xe2\x80\xa8", b" ", b"\t", b"'", b"-", b"1", b"\xf0\x9f\x98\x80", b"x" * 3000, b'"', b"{", b"\x1a",
)  # fmt: skip


@pytest.mark.parametrize("rounds", [40, pytest.param(5000, marks=pytest.mark.torture)])
def test_any_bytes(tmp_path: Path, rounds: int) -> None:
    random = np.random.default_rng(11)
    text, output = tmp_path / "text.txt", tmp_path / "index"
    outcomes = {"built": 0, "refused": 0}
    for _ in range(rounds):
        drawn = random.integers(0, len(PIECES), int(random.integers(1, 40))).tolist()
        kinds = PIECES if random.random() < 0.5 else [p for p in PIECES if p.decode(errors="ignore")]
        text.write_bytes(b"".join(kinds[k % len(kinds)] for k in drawn))
        try:
            index = DocumentIndex.open(build_index(text, output, overwrite=output.exists()))
        except OmniTMError as error:
            outcomes["refused"] += 1
            assert "Traceback" not in str(error)  # noqa: PT017 - some texts are sound
            continue
        outcomes["built"] += 1
        index.verify()
        assert index.n_words >= 1
    assert min(outcomes.values()) > 0, outcomes
