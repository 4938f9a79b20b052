"""Keep a likeness beside the model that it follows from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from omnitm.embedding.company import RECIPE, Company
from omnitm.embedding.likeness import PARTS, Likeness
from omnitm.embedding.store.derived import read_derived, write_derived

if TYPE_CHECKING:
    from pathlib import Path

    from omnitm.embedding.word_vectors import WordVectors

_WEIGHTS = "weights"


def kept_likeness(vectors: WordVectors, folder: Path | None) -> Likeness:
    """Read a likeness from a model's folder, or compute it and keep it there if the folder can be written."""
    if folder is None:
        return Likeness.of(vectors)
    found = _read(vectors, folder)
    if found is None:
        found = Likeness.of(vectors)
        write_derived(folder, RECIPE, {**found.company.arrays(), _WEIGHTS: found.weights})
    return found


def _read(vectors: WordVectors, folder: Path) -> Likeness | None:
    arrays = read_derived(folder, RECIPE)
    names = {*Company.__dataclass_fields__, _WEIGHTS}
    if arrays is None or set(arrays) != names:
        return None
    weights = arrays.pop(_WEIGHTS)
    company = Company(**arrays)
    fits = len(company.lengths) == len(vectors) and len(company.mean) == vectors.vector_size
    return Likeness(company, np.array(weights)) if fits and weights.shape == (len(PARTS),) else None
