"""Notes in a model's folder: where its index was, which shard it is; hints, not part of the model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from omnitm.files.plain import read_file, write_file, writing

if TYPE_CHECKING:
    from omnitm.corpus import DocumentIndex

INDEX = "index"  # the corpus index may live inside the model's folder
INDEX_NOTE = "index-path.txt"
SHARD_NOTE = "shard.txt"
_LONGEST_PATH = 1 << 16


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
