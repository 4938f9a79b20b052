"""What the metric "similarity" needs, kept beside the model that it follows from: similarity.bin.

The file is no part of the model: it may be deleted; one that is damaged or of other vectors is made again.
"""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.errors import FileError, OmniTMWarning
from omnitm.files.container import read_container, write_container
from omnitm.similarity.combined import Likeness
from omnitm.similarity.part_scales import PARTS
from omnitm.similarity.row_profile import RECIPE, Company
from omnitm.similarity.word_forms import Families
from omnitm.store.manifest import SIMILARITY, model_manifest, vectors_name
from omnitm.store.packed import is_packed, read_packed

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from omnitm.vectors.word_vectors import WordVectors

_log = logging.getLogger(__name__)
_WEIGHTS = "part_weights"
_FAMILIES = "family_"


def kept_likeness(vectors: WordVectors, model: Path | None) -> Likeness:
    """Read a likeness from beside a model, or compute it and keep it there if the folder can be written."""
    if model is None:
        return Likeness.of(vectors)
    path, facts = _place(model), {"recipe": RECIPE, "vectors_sha256": vectors_sha256(model)}
    found = _read(vectors, path, facts)
    if found is None:
        _log.info("preparing similarities of %d words", len(vectors))
        found = Likeness.of(vectors)
        _log.info("keeping them in %s", path)
        try:
            write_container(path, facts, _arrays(found))
        except FileError:
            return found  # it is computed again next time
    return found


def vectors_sha256(model: Path) -> str:
    """SHA-256 of the vectors of a model, a folder or packed, as its manifest has it."""
    files = read_packed(model).manifest if is_packed(model) else model_manifest(model, sums=False).files
    return files[vectors_name(files)].sha256


def _place(model: Path) -> Path:
    return model.with_name(f"{model.name}.{SIMILARITY}") if is_packed(model) else model / SIMILARITY


def _arrays(likeness: Likeness) -> dict[str, NDArray[Any]]:
    families = {_FAMILIES + name: array for name, array in likeness.families.arrays().items()}
    return {**likeness.company.arrays(), **families, _WEIGHTS: likeness.weights}


def _read(vectors: WordVectors, path: Path, facts: dict[str, Any]) -> Likeness | None:
    if not path.exists():
        return None
    try:
        found, arrays = read_container(path)
    except FileError as error:
        warnings.warn(f"{error}; it is made again", OmniTMWarning, stacklevel=2)
        return None
    of_families = {_FAMILIES + name: name for name in Families.__dataclass_fields__}
    if found != facts or set(arrays) != {*Company.__dataclass_fields__, *of_families, _WEIGHTS}:
        return None
    weights = arrays.pop(_WEIGHTS)
    families = Families(**{name: arrays.pop(stored) for stored, name in of_families.items()})
    company = Company(**arrays)
    fits = len(company.lengths) == len(vectors) and len(company.mean) == vectors.vector_size
    fits = fits and len(families.starts) == len(vectors) + 1 and weights.shape == (len(PARTS),)
    return Likeness(company, families, np.array(weights)) if fits else None
