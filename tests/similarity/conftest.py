"""Words in groups of a known order, and slow and obvious versions of what is computed of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm.vectors import WordVectors
from omnitm.vectors.named_rows import PlaceVectors

if TYPE_CHECKING:
    from numpy.typing import NDArray


N_WORDS, N_FEATURES, N_PLACES, N_JOINED = 150, 220, 200, 100


def name_of(number: int) -> str:
    """Name words so that no two of them begin alike."""
    return f"w{number}" if number < 100 else f"{number}w"


def topic_of(word: str) -> int:
    return int(word.strip("w")) % 10


def rows_in_groups(seed: int, n_features: int, group: NDArray[np.int64]) -> NDArray[np.int16]:
    """Rows with a baseline of their own, which stand out at the features of their group."""
    random = np.random.default_rng(seed)
    baseline = random.integers(-120, -40, size=N_WORDS)
    matrix = np.repeat(baseline[:, None], n_features, axis=1).astype(float)
    for row in range(N_WORDS):
        touched = (np.arange(n_features) % 10 == group[row]) | (random.random(n_features) < 0.1)
        touched &= random.random(n_features) < 0.6
        matrix[row, touched] += random.integers(5, 90, size=int(touched.sum()))
    return matrix.astype(np.int16)


@pytest.fixture(scope="module")
def vectors() -> WordVectors:
    """Words in ten topics; word k is of topic k % 10, and stands at the places of k // 10 % 10.

    It is joined with words of k // 30, two or three groups of places.
    """
    matrix = rows_in_groups(4, N_FEATURES, np.arange(N_WORDS) % 10)
    matrix[np.arange(N_WORDS), np.arange(N_WORDS)] = 0
    names = [name_of(k) for k in range(N_FEATURES)]
    of_places = rows_in_groups(5, N_PLACES, np.arange(N_WORDS) // 10 % 10)
    joined = rows_in_groups(6, N_JOINED, np.arange(N_WORDS) // 30)
    named = [*(f"p{k} _" for k in range(N_PLACES)), *(f"_ & p{k}" for k in range(N_JOINED))]
    places = PlaceVectors(np.concatenate([of_places, joined], axis=1), named)
    return WordVectors(matrix, names[:N_WORDS], names, place=places)


@pytest.fixture(scope="module")
def topics(vectors: WordVectors) -> WordVectors:
    """The same without places."""
    return WordVectors(vectors.matrix, vectors.index_to_key, vectors.feature_names)


def slow_rows(
    matrix: NDArray[Any], limit: float, *, has_own: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return relative values, means, and profiles, as the recipe says."""
    values = matrix.astype(int)
    modes = np.array([np.bincount(row + 300).argmax() - 300 for row in values])
    x = (values - modes[:, None]) / np.abs(modes)[:, None]
    if has_own:
        x[np.arange(N_WORDS), np.arange(N_WORDS)] = 0
    mean, deviation = x.mean(axis=0), x.std(axis=0)
    z = (x - mean) / deviation
    rows = np.where(z > limit, np.log(1 + np.maximum(z - limit, 0)), 0)
    return x, mean, rows / np.linalg.norm(rows, axis=1, keepdims=True)


def slow_smooth(rows: NDArray[np.float64], size: int, power: float) -> NDArray[np.float64]:
    left, singular, _ = np.linalg.svd(rows, full_matrices=False)
    smooth = left[:, :size] * singular[:size] ** power
    units: NDArray[np.float64] = smooth / np.linalg.norm(smooth, axis=1, keepdims=True)
    return units


def emphasised(related: NDArray[Any], alike: NDArray[Any]) -> NDArray[np.float64]:
    """Alike counts by a fiftieth of itself, at least 0 and at most twice."""
    return np.array([r + a * min(max(a / 50, 0), 2) for r, a in zip(related, alike, strict=True)])


def slow_closeness(rows: NDArray[Any]) -> NDArray[np.float64]:
    """Return the mean cosine with the second to eighth nearest word, divided by the median; 0.6 at least."""
    cosines = rows.astype(np.float64) @ rows.T
    means = [np.sort(np.delete(row, word))[-8:-1].mean() for word, row in enumerate(cosines)]
    return np.array([max(mean / np.median(means), 0.6) for mean in means])


def slow_units(vectors: WordVectors) -> NDArray[np.float64]:
    """Return what the parts of each word are multiplied by: half of the power -1 of closeness."""
    topic, place = (
        slow_closeness(rows) for rows in (vectors.profiles.topic_rows, vectors.profiles.place_rows)
    )
    units: NDArray[np.float64] = np.stack([topic**-0.5] * 3 + [place**-0.5] * 3, axis=1)
    return units
