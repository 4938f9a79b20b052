"""Vectors that tests of sharing have in common."""

from __future__ import annotations

import numpy as np
import pytest

from omnitm.machine import AutoencoderSettings
from omnitm.store import TrainingRecord
from omnitm.vectors import WordVectors


def omni_like(n_words: int, n_features: int, seed: int = 0) -> WordVectors:
    """Make vectors as training makes them: mostly the baseline, more is different in frequent features."""
    random = np.random.default_rng(seed)
    names = [f"w{k}" for k in range(n_features)]
    baseline = random.integers(-115, -60, size=(n_words, 1))
    differs = random.random((n_words, n_features)) < np.linspace(0.6, 0.05, n_features)
    matrix = np.where(differs, random.integers(-118, 110, size=(n_words, n_features)), baseline)
    matrix[np.arange(n_words), np.arange(n_words)] = 0
    record = TrainingRecord(AutoencoderSettings(), 3, "0" * 64)
    return WordVectors(matrix.astype(np.int16), names[:n_words], names, training=record)


@pytest.fixture(scope="session")
def vectors() -> WordVectors:
    return omni_like(150, 200)
