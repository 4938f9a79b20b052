"""The card beside a model's files: README.md, with a last line that says what it was made from.

```text
<!-- made by omnitm {"facts": {...}, "sha256": "of all text above"} -->
```

So the card can be made again when the model changes, with what its owner said about it, and a card that
somebody has edited since is left alone. It is no part of the model: nothing fails without it.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from omnitm.errors import FileError
from omnitm.files.plain import read_file, write_file

if TYPE_CHECKING:
    from pathlib import Path

CARD = "README.md"
_BEFORE, _AFTER = "\n<!-- made by omnitm ", " -->\n"
_LARGEST = 1 << 22


def write_card(folder: Path, text: str, facts: dict[str, Any], *, force: bool = False) -> bool:
    """Write a card made from these facts; False if one is there that somebody has edited."""
    path = folder / CARD
    there = _text(path)
    if there is not None and not force and _mark(there) is None:
        return False
    card = signed(text, facts)
    if card != there:
        write_file(path, card.encode())
    return True


def remove_card(folder: Path) -> None:
    """Remove the card of a model that is replaced, unless somebody has edited it."""
    there = _text(folder / CARD)
    if there is not None and _mark(there) is not None:
        (folder / CARD).unlink()


def read_facts(folder: Path) -> dict[str, Any]:
    """Return what the owner of a model said about it; nothing if there is no card, or it is another's."""
    there = _text(folder / CARD)
    mark = None if there is None else _mark(there, edited=True)
    facts = {} if mark is None else mark.get("facts")
    return facts if isinstance(facts, dict) else {}


def signed(text: str, facts: dict[str, Any]) -> str:
    """Add the last line to a card."""
    mark = {"facts": facts, "sha256": hashlib.sha256(text.encode()).hexdigest()}
    return text + _BEFORE + json.dumps(mark).replace(">", "\\u003e") + _AFTER


def _mark(card: str, *, edited: bool = False) -> dict[str, Any] | None:
    """Read the last line; None if there is none, or it does not fit the text and that matters."""
    text, before, rest = card.rpartition(_BEFORE)
    if not before or not rest.endswith(_AFTER):
        return None
    try:
        mark = json.loads(rest.removesuffix(_AFTER))
    except (ValueError, RecursionError):
        return None
    if not isinstance(mark, dict):
        return None
    fits = mark.get("sha256") == hashlib.sha256(text.encode()).hexdigest()
    return mark if fits or edited else None


def _text(path: Path) -> str | None:
    """Read a card; None if there is none. One that is no text was not written by us."""
    if not path.exists() and not path.is_symlink():
        return None
    try:
        return read_file(path, _LARGEST).decode()
    except (FileError, UnicodeDecodeError):
        return ""
