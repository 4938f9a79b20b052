from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm.baselines import SVD, make_baseline, ppmi
from omnitm.baselines.ppmi import neighbour_counts
from omnitm.baselines.texts import Tokens
from omnitm.corpus import DocumentIndex, build_index
from omnitm.errors import CorpusError, ParameterError
from omnitm.store import ModelRecord

if TYPE_CHECKING:
    from pathlib import Path


def made_text(n_words: int, lengths: list[int]) -> Tokens:
    ids = np.random.default_rng(0).integers(n_words, size=sum(lengths)).astype(np.uint32)
    return Tokens(ids, np.cumsum([0, *lengths]).astype(np.uint64), [f"w{k}" for k in range(n_words)])


@pytest.mark.parametrize("words_at_once", [1, 10, 1000])
@pytest.mark.parametrize("positions", [False, True])
def test_counts_equal_the_plain_definition(
    monkeypatch: pytest.MonkeyPatch, words_at_once: int, positions: bool
) -> None:
    monkeypatch.setattr(ppmi, "_WORDS_AT_ONCE", words_at_once)
    tokens, window, n_rows = made_text(9, [0, 1, 2, 30, 0, 12, 7, 0]), 3, 6
    offsets = [1, -1, 2, -2, 3, -3]
    wanted = np.zeros((n_rows, 9 * 6 if positions else 9))
    for start, end in zip(tokens.offsets[:-1].tolist(), tokens.offsets[1:].tolist(), strict=True):
        for place in range(start, end):
            for number, offset in enumerate(offsets):
                if start <= place + offset < end and tokens.ids[place] < n_rows:
                    shift = 9 * number if positions else 0
                    wanted[tokens.ids[place], int(tokens.ids[place + offset]) + shift] += 1
    read: list[int] = []
    found = neighbour_counts(tokens, n_rows, window, positions, read.append)
    np.testing.assert_array_equal(found.toarray(), wanted)
    assert read[-1] == len(tokens.ids)


def test_vectors_are_the_decomposition_of_ppmi() -> None:
    counts = neighbour_counts(made_text(12, [400]), 12, 2, False, lambda _: None)
    model = SVD(vector_size=12, smoothing=0.75, shift=1.01, power=1.0)
    whole = counts.toarray().astype(np.float64)
    contexts = whole.sum(axis=0) ** 0.75
    contexts *= whole.sum() / contexts.sum()
    chance = np.outer(whole.sum(axis=1), contexts) / whole.sum() * 1.01
    with np.errstate(divide="ignore"):
        wanted = np.maximum(0, np.log(whole / chance))
    np.testing.assert_allclose(model.information(counts).toarray(), wanted, rtol=1e-4, atol=1e-6)
    vectors = model.fit(counts)
    np.testing.assert_allclose(vectors @ vectors.T, wanted @ wanted.T, atol=1e-4)
    flat = SVD(vector_size=5, smoothing=0.75, shift=1.01, power=0.0).fit(counts)
    np.testing.assert_allclose(flat.T @ flat, np.eye(5), atol=1e-4)
    centred = SVD(vector_size=5, centred=True).fit(counts)
    np.testing.assert_allclose(centred.mean(axis=0), 0, atol=1e-6)


def test_words_in_the_same_places_are_near(tmp_path: Path) -> None:
    lines = [f"the {animal} eats the {food}" for animal in ("cat", "dog") for food in ("fish", "meat")] * 5
    (tmp_path / "text.txt").write_text("\n".join(lines))
    index = DocumentIndex.open(build_index(tmp_path / "text.txt", tmp_path / "index"))
    vectors = make_baseline("svd", {"vector_size": 3, "power": 0.5}).train(index)
    assert vectors.similarity("cat", "dog") > 0.9 > vectors.similarity("cat", "fish")
    some = make_baseline("svd", {"vector_size": 3, "power": 0.5}).train(index, ["dog"])
    np.testing.assert_array_equal(some["dog"], vectors["dog"])
    assert isinstance(vectors.training, ModelRecord)
    assert vectors.training.settings["positions"] is True


def test_text_without_neighbours_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("cat\ndog\n")
    index = DocumentIndex.open(build_index(tmp_path / "text.txt", tmp_path / "index"))
    with pytest.raises(CorpusError, match="No two words of the text are neighbours more often than chance"):
        SVD().train(index)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"vector_size": 0}, "'vector_size' parameter of SVD must be an int from 1"),
        ({"window": 0}, "'window' parameter of SVD"),
        ({"positions": 2}, "'positions' parameter of SVD must be a bool. Got 2"),
        ({"smoothing": -1}, "'smoothing' parameter of SVD"),
        ({"power": 2}, "'power' parameter of SVD"),
        ({"shift": 0}, "'shift' parameter of SVD"),
        ({"seed": -1}, "'seed' parameter of SVD"),
        ({"epochs": 2}, "svd has no setting 'epochs'; it has vector_size, window, positions"),
    ],
)
def test_bad_settings_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make_baseline("svd", settings)
