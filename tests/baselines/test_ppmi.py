from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omnitm.baselines import PPMI, ppmi
from omnitm.corpus import cooccurrence
from omnitm.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnitm.corpus import DocumentIndex

    MakeIndex = Callable[..., DocumentIndex]


@pytest.mark.parametrize("rows_at_once", [1, 7, 1000])
@pytest.mark.parametrize(("shift", "min_documents"), [(1.0, 1), (1.5, 2)])
def test_equal_to_the_plain_definition(
    random_index: MakeIndex,
    monkeypatch: pytest.MonkeyPatch,
    rows_at_once: int,
    shift: float,
    min_documents: int,
) -> None:
    monkeypatch.setattr(ppmi, "_ROWS_AT_ONCE", rows_at_once)
    index = random_index(80, 20)
    matrix = np.asarray(PPMI(shift=shift, min_documents=min_documents).train(index).matrix)
    pairs = cooccurrence(index, list(index.vocabulary)).pairs
    for i in range(20):
        for j in range(20):
            expected = 0
            if i != j and pairs[i, j] >= min_documents:
                information = math.log(80 * pairs[i, j] / (pairs[i, i] * pairs[j, j])) - math.log(shift)
                expected = max(0, round(100 * information))
            assert matrix[i, j] == expected
    assert (matrix > 0).any()


def test_contexts_are_smoothed(random_index: MakeIndex) -> None:
    index = random_index(80, 20)
    matrix = np.asarray(PPMI(smoothing=0.75).train(index).matrix)
    pairs = cooccurrence(index, list(index.vocabulary)).pairs.astype(float)
    counts = np.diag(pairs)
    contexts = counts**0.75 * counts.sum() / (counts**0.75).sum()
    met = pairs > 0
    chance = np.outer(counts, contexts)
    wanted = np.log(80 * np.where(met, pairs, 1) / np.where(met, chance, 1)) * 100
    wanted = np.where(met, np.maximum(0, np.rint(wanted)), 0)
    np.fill_diagonal(wanted, 0)
    np.testing.assert_array_equal(matrix, wanted)
    assert (matrix != np.asarray(PPMI().train(index).matrix)).any()


def test_rows_follow_the_words(random_index: MakeIndex) -> None:
    index = random_index(80, 20)
    some, everything = PPMI().train(index, ["w7", "w3"]), PPMI().train(index)
    assert np.array_equal(some["w3"], everything["w3"])
    assert np.array_equal(some["w7"], everything["w7"])


def test_a_word_in_no_document_is_all_zeros(random_index: MakeIndex) -> None:
    index = random_index(5, 300, density=0.001)
    missing = int(np.flatnonzero(index.document_frequencies == 0)[0])
    assert not PPMI().train(index, [f"w{missing}"]).matrix[:].any()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"shift": 0.0}, "'shift' parameter of PPMI"),
        ({"smoothing": 1.1}, "'smoothing' parameter of PPMI must be a number from 0 to 1"),
        ({"min_documents": 0}, "'min_documents' parameter of PPMI"),
        ({"n_jobs": 0}, "'n_jobs' parameter of PPMI"),
    ],
)
def test_bad_settings_are_named(settings: dict[str, float], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        PPMI(**settings)  # type: ignore[arg-type]
