"""What lies at a path: a model, a packed model, an index, or text; told by what it holds, not by its name."""

from __future__ import annotations

import os
import re
import shlex
from contextlib import suppress
from pathlib import Path
from typing import Literal

from omnitm.errors import FileError

Kind = Literal["model", "packed model", "saved model", "index", "text", "folder", "nothing"]

MODEL_FORMAT = "omnitm model"
INDEX_FORMAT = "omnitm index"
PACKED_MAGIC = b"OMNITMP\x01"  # the first and the last bytes of a packed model
JOURNAL_MAGIC = b"OMNITMJ\x01"  # the first bytes of the journal of a model in training
PACKED_FILE = "model.omnitm"  # in the folder that `save_pretrained` writes

_NAMES: dict[Kind, str] = {
    "model": "a model",
    "packed model": "a packed model",
    "saved model": "a folder with a packed model",
    "index": "an index",
    "text": "a file of text or data",
    "folder": "a folder",
}
_OPEN: tuple[Kind, ...] = ("folder", "nothing")  # the caller knows what to do with them
_HEAD = 200
_FORMAT = re.compile(rb'\s*\{\s*"format"\s*:\s*"omnitm (model|index)"')
_MODEL_FILES = ("settings.json", "words.txt")
_INDEX_FILES = ("word_offsets.bin", "document_offsets.bin")


def kind_of(path: str | os.PathLike[str]) -> Kind:
    """Tell what lies at a path; any text may be given as one.

    - "model": a folder that training writes, finished or not; "packed model": a file that packing writes
    - "saved model": a folder with a packed model in it; "index": a folder that indexing writes
    - "text": any other file; "folder": any other folder; "nothing": there is no such path

    The manifest decides; where it is missing or damaged, the names of the other files do.
    """
    if os.path.isdir(path):  # noqa: PTH112 - unlike Path.is_dir it takes texts that no path can be
        return _kind_of_folder(Path(path))
    if os.path.isfile(path):  # noqa: PTH113
        return "packed model" if _is_packed(Path(path)) else "text"
    return "text" if os.path.exists(path) else "nothing"  # noqa: PTH110


def there_is(path: str | os.PathLike[str], otherwise: str, *wanted: Kind) -> str:
    """Say what there is beside a missing path that is spelled like it, of some kinds; else the other text."""
    from difflib import get_close_matches

    folder, names = Path(path).parent, list[str]()
    with suppress(OSError):  # a folder that is not there, or may not be read
        names = [file.name for file in folder.iterdir()]
    near = get_close_matches(Path(path).name, names, n=3)
    near = [name for name in near if not wanted or kind_of(folder / name) in wanted]
    return f"there is {', '.join(near)}" if near else otherwise


def refuse_other_kinds(path: str | os.PathLike[str], *wanted: Kind) -> None:
    """Refuse what is clearly something else, by name and with the next step; the rest is the caller's."""
    kind = kind_of(path)
    if kind not in (*_OPEN, *wanted):
        expected = (
            {"text": "text", "model": "the folder of one"} if kind == "packed model" else {"text": "text"}
        )
        problem = f"is {_NAMES[kind]}, not {expected.get(wanted[0], _NAMES[wanted[0]])}"
        raise FileError(str(path), f"{problem}; {_next_step(Path(path), kind, wanted)}")


def refuse_to_replace(path: Path, own: Kind) -> None:
    """Refuse to write over something of another kind, whatever the options say."""
    kind = kind_of(path)
    if kind not in (*_OPEN, own):
        problem = f"is {_NAMES[kind]}, not {_NAMES[own]}, so it is not replaced"
        raise FileError(path, f"{problem}; choose another name for the output")


def shell_name(path: str | os.PathLike[str]) -> str:
    """Write a path as it is typed in a command."""
    return shlex.quote(str(path))


def _next_step(path: Path, kind: Kind, accepted: tuple[Kind, ...]) -> str:
    name, wanted = shell_name(path / PACKED_FILE if kind == "saved model" else path), accepted[0]
    if kind == "saved model" and "packed model" in accepted:
        return f"give the file: {name}"
    if kind in {"index", "text"}:
        steps = {
            "index": f"omnitm index {name} -o INDEX makes one of it",
            "text": f"omnitm train {name} -o MODEL trains a model on it",
            "packed model": f"omnitm train {name} -o MODEL and omnitm pack MODEL -o FILE make one of it",
        }
        return steps.get(wanted, f"omnitm train {name} -o MODEL trains one on it")
    if wanted == "packed model":
        return f"omnitm pack {name} -o FILE packs it"
    if wanted == "model":
        return f"omnitm unpack {name} -o MODEL makes a folder of it"
    if wanted == "index" and kind_of(path / "index") == "index":
        return f"its index is {shell_name(path / 'index')}"
    return f"omnitm info {name} says what is in it"


def _kind_of_folder(folder: Path) -> Kind:
    found = _FORMAT.match(_head(folder / "manifest.json"))
    if found is not None:
        return "model" if found[1] == b"model" else "index"
    if any((folder / name).is_file() for name in _INDEX_FILES):
        return "index"
    has_model_files = all((folder / name).is_file() for name in _MODEL_FILES)
    if (folder / "journal").is_file():
        head = _head(folder / "journal")[: len(JOURNAL_MAGIC)]
        if JOURNAL_MAGIC.startswith(head) or has_model_files:  # empty: killed before it began
            return "model"
    if has_model_files and any(folder.glob("vectors.*")):
        return "model"
    return "saved model" if _is_packed(folder / PACKED_FILE) else "folder"


def _is_packed(path: Path) -> bool:
    if _head(path).startswith(PACKED_MAGIC):
        return True
    return _tail(path) == PACKED_MAGIC


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD)
    except OSError:
        return b""


def _tail(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(-len(PACKED_MAGIC), os.SEEK_END)
            return file.read()
    except OSError:
        return b""
