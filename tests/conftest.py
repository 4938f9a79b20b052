"""Corpora that tests share, all generated."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from omnitm.corpus import DocumentIndex

MakeIndex = Callable[..., DocumentIndex]


@pytest.fixture
def random_index() -> MakeIndex:
    """Make an index of random documents; words differ in frequency."""

    def make(n_documents: int, n_words: int, density: float = 0.2, seed: int = 0) -> DocumentIndex:
        rng = np.random.default_rng(seed)
        frequency = density * 2 * rng.random(n_words)
        presence = rng.random((n_documents, n_words)) < frequency
        return DocumentIndex.from_csr(csr_matrix(presence), [f"w{k}" for k in range(n_words)])

    return make
