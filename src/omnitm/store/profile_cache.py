"""Keep a likeness beside the model that it follows from."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.similarity.combined import Likeness
from omnitm.similarity.part_scales import PARTS
from omnitm.similarity.row_profile import RECIPE, Company
from omnitm.similarity.word_forms import Families
from omnitm.store.derived_arrays import read_derived, write_derived

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from omnitm.vectors.word_vectors import WordVectors

_log = logging.getLogger(__name__)
_WEIGHTS = "part_weights"
_FAMILIES = "family_"


def kept_likeness(vectors: WordVectors, folder: Path | None) -> Likeness:
    """Read a likeness from a model's folder, or compute it and keep it there if the folder can be written."""
    if folder is None:
        return Likeness.of(vectors)
    found = _read(vectors, folder)
    if found is None:
        _log.info("preparing similarities of %d words", len(vectors))
        found = Likeness.of(vectors)
        _log.info("keeping them in %s", folder)
        write_derived(folder, RECIPE, _arrays(found))
    return found


def _arrays(likeness: Likeness) -> dict[str, NDArray[Any]]:
    families = {_FAMILIES + name: array for name, array in likeness.families.arrays().items()}
    return {**likeness.company.arrays(), **families, _WEIGHTS: likeness.weights}


def _read(vectors: WordVectors, folder: Path) -> Likeness | None:
    arrays = read_derived(folder, RECIPE)
    of_families = {_FAMILIES + name: name for name in Families.__dataclass_fields__}
    if arrays is None or set(arrays) != {*Company.__dataclass_fields__, *of_families, _WEIGHTS}:
        return None
    weights = arrays.pop(_WEIGHTS)
    families = Families(**{name: arrays.pop(stored) for stored, name in of_families.items()})
    company = Company(**arrays)
    fits = len(company.lengths) == len(vectors) and len(company.mean) == vectors.vector_size
    fits = fits and len(families.starts) == len(vectors) + 1 and weights.shape == (len(PARTS),)
    return Likeness(company, families, np.array(weights)) if fits else None
