"""Notes in a model's folder, not part of it: where its index was and which it is, its shard, its card.

The card, README.md, has a last line that says what it was made from:

```text
<!-- made by omnitm {"facts": {...}, "facts_sha256": "of the facts", "sha256": "of all text above"} -->
```

So the card can be made again when the model changes, with what its owner said about it, and a card that
somebody has edited since is left alone. Nothing fails without it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omnitm.errors import FileError, OmniTMWarning
from omnitm.files.kinds import kind_of
from omnitm.files.plain import read_file, write_file, writing

if TYPE_CHECKING:
    from omnitm.corpus import DocumentIndex, Preparation

INDEX = "index"  # the corpus index may live inside the model's folder
INDEX_NOTE = "index-path.txt"
SEAL_NOTE = "index-seal.txt"
SHARD_NOTE = "shard.txt"
CARD = "README.md"
_LONGEST_PATH = 1 << 16
_BEFORE, _AFTER = "\n<!-- made by omnitm ", " -->\n"
_OURS = "---\nlibrary_name: omnitm"  # how every card begins that we write
_LARGEST_CARD = 1 << 22


def note_index(model: Path, index: DocumentIndex) -> None:
    """Write down where the index is, unless it is in memory or in the model's own folder."""
    if index.path is None or index.path.resolve() == (model / INDEX).resolve():
        with writing(model / INDEX_NOTE):
            (model / INDEX_NOTE).unlink(missing_ok=True)
        return
    content = f"{index.path.resolve()}\n".encode(errors="surrogateescape")
    if not (model / INDEX_NOTE).exists() or read_file(model / INDEX_NOTE, _LONGEST_PATH) != content:
        write_file(model / INDEX_NOTE, content)


def noted_index(model: Path) -> Path | None:
    """Read where the index was when the model was trained."""
    if not (model / INDEX_NOTE).is_file():
        return None
    content = read_file(model / INDEX_NOTE, _LONGEST_PATH)
    return Path(content.decode(errors="surrogateescape").removesuffix("\n"))


def likely_indexes(model: Path) -> list[Path]:
    """Folders where the index of a model may be, the likeliest first."""
    noted = noted_index(model)
    return [model / INDEX, *([noted] if noted else []), model.absolute().parent / INDEX]


def index_of_model(
    model: Path, given: DocumentIndex | str | os.PathLike[str] | None = None
) -> DocumentIndex | None:
    """Open the index that a model was trained from; None if it cannot be found.

    An index that was not given is looked for in the model's folder, where it was when the model was trained,
    and next to the model.
    """
    from omnitm.corpus import DocumentIndex

    if isinstance(given, DocumentIndex):
        return given
    places = [place for place in likely_indexes(model) if kind_of(place) == "index"]
    return DocumentIndex.open(given or places[0]) if given or places else None


def is_known_index(model: Path, index: DocumentIndex, fingerprint: str) -> bool:
    """Tell whether an index was found to have the fingerprint before; hashing all of it takes long."""
    note = model / SEAL_NOTE
    if index.seal is None or not note.is_file():
        return False
    with contextlib.suppress(FileError):
        return read_file(note, _LONGEST_PATH) == _known(index.seal, fingerprint)
    return False


def note_known_index(model: Path, index: DocumentIndex, fingerprint: str) -> None:
    """Write down that an index has the fingerprint, if the model is a folder that can be written."""
    if index.seal is not None and model.is_dir():
        with contextlib.suppress(FileError):  # it is hashed again next time
            write_file(model / SEAL_NOTE, _known(index.seal, fingerprint))


def _known(seal: str, fingerprint: str) -> bytes:
    return f"{seal} {fingerprint}\n".encode()


def noted_preparation(model: Path) -> Preparation | None:
    """Read how the text of a model became words, from its index; None if that cannot be found."""
    index = index_of_model(model)
    return None if index is None else index.preparation


def write_card(folder: Path, text: str, facts: dict[str, Any], *, force: bool = False) -> bool:
    """Write a card made from these facts; False if one is there that somebody has edited."""
    path = folder / CARD
    there = _text(path)
    if there is not None and not force and _mark(there) is None:
        return False
    # A name of a file may have bytes that are no characters.
    card = signed(text.encode(errors="replace").decode(), facts)
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
    if there is None:
        return {}
    mark = _mark(there, edited=True) or {}
    facts = mark.get("facts")
    if isinstance(facts, dict) and mark.get("facts_sha256", _sha256(facts)) == _sha256(facts):
        return facts
    if _OURS.startswith(there[: len(_OURS)]):
        problem = f"{folder / CARD}: its last line, with what was said about the model, is gone or damaged"
        warnings.warn(f"{problem}; say it again with `omnitm card --force`", OmniTMWarning, stacklevel=2)
    return {}


def signed(text: str, facts: dict[str, Any]) -> str:
    """Add the last line to a card."""
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    mark = {"facts": facts, "facts_sha256": _sha256(facts), "sha256": sha256}
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
    """Read a card; None if there is none."""
    if not path.exists() and not path.is_symlink():
        return None
    try:
        return read_file(path, _LARGEST_CARD).decode(errors="replace")
    except FileError:
        return "not a plain file"


def _sha256(facts: object) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
