"""A small model that tests of documents share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnitm.machine import AutoencoderSettings
from omnitm.training import train_vectors

if TYPE_CHECKING:
    from pathlib import Path

    from omnitm.corpus import DocumentIndex


@pytest.fixture(scope="session")
def topics_model(topics: DocumentIndex, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train all ten words of two topics and keep them in a folder."""
    folder = tmp_path_factory.mktemp("topics-model") / "model"
    settings = AutoencoderSettings(n_clauses=8, n_examples=60, accumulation=2)
    train_vectors(topics, settings=settings, seed=1).save(folder)
    return folder


@pytest.fixture(scope="session")
def topics_index(topics: DocumentIndex) -> Path:
    """Return the folder of the index that `topics_model` was trained from."""
    assert topics.path is not None
    return topics.path
