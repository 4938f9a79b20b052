"""Results of long work are kept with a checksum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnitm.errors import OmniTMWarning
from omnitm.files.plain import keep_result, kept_result

if TYPE_CHECKING:
    from pathlib import Path


def test_a_damaged_result_is_made_again(tmp_path: Path) -> None:
    path, result = tmp_path / "part.json", {"accuracy": 0.8125, "notes": ["é", None], "by": {"b": 1, "a": 2}}
    assert kept_result(path, "plan") is None
    keep_result(path, "plan", result)
    assert kept_result(path, "plan") == result
    assert kept_result(path, "another plan") is None
    sound = path.read_bytes()
    for place in range(len(sound)):
        changed = bytearray(sound)
        changed[place] ^= 1 << place % 8
        path.write_bytes(changed)
        if changed.split() != sound.split():  # white space between two parts makes no difference
            with pytest.warns(
                OmniTMWarning, match=r"part\.json: is damaged, or of an earlier version; it is"
            ):
                assert kept_result(path, "plan") is None
    for content in (b"", b"[]", b"3", b"{}", sound[:-9], b'{"plan": "plan", "result": 1}'):
        path.write_bytes(content)
        with pytest.warns(OmniTMWarning, match="it is made again"):
            assert kept_result(path, "plan") is None
