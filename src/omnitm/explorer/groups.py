"""The user's own groups of words, to colour the map by: lines such as `vehicles: car bus train`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnitm.errors import FileError
from omnitm.files.plain import read_file

if TYPE_CHECKING:
    from pathlib import Path

_LARGEST = 1 << 20


def read_groups(path: Path) -> str:
    """Read a file of groups and return its lines, without empty ones and comments.

    A line is a name, a colon, and words between spaces or commas; what follows `#` at the start is a comment.
    """
    try:
        text = read_file(path, _LARGEST).decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileError(path, f"must be UTF-8 text; byte {error.start:,} is not") from None
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    for number, line in enumerate(lines, 1):
        name, colon, words = line.partition(":")
        if not (name.strip() and colon and words.strip()):
            raise FileError(path, f"group {number} must be `name: word word ...`; it is {line[:60]!r}")
    if not lines:
        raise FileError(path, "has no groups; write one per line, such as `vehicles: car bus train`")
    return "\n".join(lines)
