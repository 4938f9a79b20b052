"""Where the index of a model may be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from omnitm.corpus import DocumentIndex
from omnitm.files.kinds import kind_of
from omnitm.store.model_notes import likely_indexes

if TYPE_CHECKING:
    import os


def index_of_model(
    model: Path, given: DocumentIndex | str | os.PathLike[str] | None = None
) -> DocumentIndex | None:
    """Open the index that a model was trained from; None if it cannot be found.

    An index that was not given is looked for in the model's folder, where it was when the model was trained,
    and next to the model.
    """
    if isinstance(given, DocumentIndex):
        return given
    if given is not None:
        return DocumentIndex.open(Path(given))
    for place in likely_indexes(model):
        if kind_of(place) == "index":
            return DocumentIndex.open(place)
    return None
