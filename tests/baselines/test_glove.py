from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm import _native
from omnitm.baselines import glove
from omnitm.baselines.glove import ENTRY, N_GROUPS, GloVe
from omnitm.baselines.texts import Tokens, tokens_of
from omnitm.corpus import DocumentIndex, build_index
from omnitm.errors import CorpusError, ParameterError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


def made_text(n_words: int, lengths: list[int], seed: int = 0) -> Tokens:
    rng = np.random.default_rng(seed)
    ids = rng.integers(0, n_words, sum(lengths)).astype(np.uint32)
    return Tokens(ids, np.cumsum([0, *lengths]).astype(np.uint64))


def plain_counts(tokens: Tokens, window: int) -> dict[tuple[int, int], float]:
    counts: dict[tuple[int, int], float] = defaultdict(float)
    for first, end in zip(tokens.offsets[:-1].tolist(), tokens.offsets[1:].tolist(), strict=True):
        words = tokens.ids[first:end].tolist()
        for i, word in enumerate(words):
            for j, other in enumerate(words):
                if i != j and abs(i - j) <= window:
                    counts[word, other] += 1 / abs(i - j)
    return counts


@pytest.mark.parametrize("window", [1, 5, 100])
def test_counts_equal_the_plain_ones_however_little_memory_there_is(
    monkeypatch: pytest.MonkeyPatch, window: int
) -> None:
    tokens = made_text(23, [0, 1, 2, 40, 7, 0, 13])
    wanted = plain_counts(tokens, window)
    for at_once in (1, 50, 1 << 20):
        monkeypatch.setattr(glove, "NEIGHBOURS_AT_ONCE", at_once)
        model = GloVe(window=window, x_max=2.0, alpha=0.5)
        with model.counts(tokens, 23, np.random.default_rng(0)) as blocks:
            for number, block in enumerate(blocks):
                assert (block["row"] % N_GROUPS == number // N_GROUPS).all()
                assert (block["column"] % N_GROUPS == number % N_GROUPS).all()
            entries = np.concatenate(blocks)
        found = {(int(e["row"]), int(e["column"])): e for e in entries}
        assert len(found) == len(entries) == len(wanted)
        for pair, count in wanted.items():
            assert found[pair]["log_count"] == pytest.approx(math.log(count), abs=1e-5)
            assert found[pair]["importance"] == pytest.approx(min(1.0, (count / 2) ** 0.5), abs=1e-5)


def plain_steps(words: NDArray[Any], contexts: NDArray[Any], size: int, entries: Any, rate: float) -> float:
    """The same AdaGrad, one entry after the other, in double precision."""
    width, cost = words.shape[1] // 2, 0.0
    for row, column, log_count, importance in entries.tolist():
        word, context = words[row], contexts[column]
        error = word[:size] @ context[:size] + word[size] + context[size + 1] - log_count
        cost += 0.5 * importance * error**2
        word_gradient, context_gradient = context[:width].copy(), word[:width].copy()
        word_gradient[size + 1] = context_gradient[size] = 0  # these coordinates stay 1
        for vector, gradient in ((word, word_gradient), (context, context_gradient)):
            step = rate * importance * error * gradient
            vector[:width] -= step / np.sqrt(vector[width:])
            vector[width:] += step**2
    return cost


@pytest.mark.parametrize("size", [1, 6, 7, 100])
def test_steps_equal_the_plain_ones(size: int) -> None:
    rng = np.random.default_rng(1)
    tokens = made_text(17, [60, 60])
    with GloVe(x_max=3.0).counts(tokens, 17, rng) as blocks:
        entries = np.concatenate(blocks)
    words, contexts = (glove._first_vectors(17, size, bias, rng) for bias in (size, size + 1))
    plain_words, plain_contexts = words.astype(np.float64), contexts.astype(np.float64)
    for _ in range(5):
        cost = _native.glove_train(words, contexts, size, [entries.view(np.uint8)], 0.05, 1)
        plain_cost = plain_steps(plain_words, plain_contexts, size, entries, 0.05)
        assert cost == pytest.approx(plain_cost, rel=1e-4)
    width = words.shape[1] // 2
    for native, plain in ((words, plain_words), (contexts, plain_contexts)):
        np.testing.assert_allclose(native[:, :size], plain[:, :size], atol=2e-4)
        assert (native[:, size + 2 : width] == 0).all()
    assert (words[:, size + 1] == 1).all()
    assert (contexts[:, size] == 1).all()


def test_products_approach_the_logarithms() -> None:
    rng = np.random.default_rng(2)
    tokens = made_text(12, [400])
    model = GloVe(vector_size=20, x_max=1e-3, learning_rate=0.1)
    with model.counts(tokens, 12, rng) as blocks:
        entries = np.concatenate(blocks)
    words, contexts = (glove._first_vectors(12, 20, bias, rng) for bias in (20, 21))
    costs = [_native.glove_train(words, contexts, 20, [entries.view(np.uint8)], 0.1, 1) for _ in range(400)]
    assert costs[-1] < 0.001 * costs[0]


def test_the_number_of_threads_does_not_matter(topics: DocumentIndex) -> None:
    first, second = (GloVe(n_epochs=5, vector_size=9, n_jobs=n).train(topics) for n in (1, 3))
    assert np.array_equal(first.matrix, second.matrix)
    other = GloVe(n_epochs=5, vector_size=9, seed=1).train(topics)
    assert not np.array_equal(first.matrix, other.matrix)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"vector_size": 0}, "'vector_size' parameter of GloVe must be an int from 1"),
        ({"x_max": 0.0}, "'x_max' parameter of GloVe"),
        ({"alpha": -1.0}, "'alpha' parameter of GloVe"),
        ({"learning_rate": math.nan}, "'learning_rate' parameter of GloVe"),
        ({"seed": -1}, "'seed' parameter of GloVe"),
    ],
)
def test_bad_settings_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        GloVe(**settings)


def test_a_text_without_neighbours(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("cat\ndog\n")
    index = DocumentIndex.open(build_index(tmp_path / "text.txt", tmp_path / "index"))
    with pytest.raises(CorpusError, match="GloVe has nothing to learn"):
        GloVe().train(index)


def test_wrong_arrays_are_refused() -> None:
    ids, offsets = np.array([0, 5], np.uint32), np.array([0, 2], np.uint64)
    with pytest.raises(ValueError, match="numbers of words"):
        _native.glove_neighbours(ids, offsets, 5, 2)
    with pytest.raises(ValueError, match="must ascend and end where"):
        _native.glove_neighbours(ids, offsets[:1], 6, 2)
    with pytest.raises(ValueError, match="must ascend"):
        _native.glove_neighbours(ids, np.array([9, 2], np.uint64), 6, 2)
    with pytest.raises(ValueError, match="`first` and `end` must be numbers of words"):
        _native.glove_count(ids, offsets, 6, 2, 0, 7, 8, 100.0, 0.75)
    vectors = np.zeros((6, 16), np.float32)
    entries = np.array([(6, 0, 1, 1)], ENTRY).view(np.uint8)
    with pytest.raises(ValueError, match="no such word"):
        _native.glove_train(vectors, vectors.copy(), 4, [entries], 0.05, 1)
    with pytest.raises(ValueError, match="room for as many squares as parameters"):
        _native.glove_train(vectors, vectors.copy(), 9, [], 0.05, 1)


def test_tokens_are_the_text_in_its_order(topics: DocumentIndex) -> None:
    with tokens_of(topics) as tokens:
        assert tokens.n_documents == topics.n_documents
        first = [topics.vocabulary[k] for k in tokens.ids[: int(tokens.offsets[1])]]
    assert first == next(topics.token_stream())
