"""Our GloVe beside `mittens`, a published one: the same counts, the same objective, the same fit.

`mittens` adds up the gradients of all counts before it takes a step; ours takes a step per count, as the
authors' program does. So steps cannot be the same, but loss, gradients and where both end up must be.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from omnitm import _native
from omnitm.baselines import glove
from omnitm.baselines.glove import GloVe
from omnitm.baselines.texts import Tokens

mittens = pytest.importorskip("mittens.np_mittens", reason="pip install mittens==0.2, or 'omnitm[test]'")

SIZE, N_WORDS, X_MAX = 3, 40, 100.0


class Start(NamedTuple):
    """Counts of a text, and first vectors: ours, and in the form that mittens wants them."""

    counts: np.ndarray[Any, np.dtype[np.float64]]
    entries: np.ndarray[Any, np.dtype[np.uint8]]
    words: np.ndarray[Any, np.dtype[np.float32]]
    contexts: np.ndarray[Any, np.dtype[np.float32]]

    def parameters(self) -> dict[str, Any]:
        """Return the vectors and biases as mittens names them."""
        words, contexts = self.words.astype(np.float64), self.contexts.astype(np.float64)
        return {
            "W": words[:, :SIZE],
            "C": contexts[:, :SIZE],
            "bw": words[:, SIZE : SIZE + 1],
            "bc": contexts[:, SIZE + 1 : SIZE + 2],
        }

    def fitted(self) -> Any:
        """Return the logarithms of counts as the vectors have them."""
        return fitted(**self.parameters())


def fitted(W: Any, C: Any, bw: Any, bc: Any) -> Any:  # noqa: N803 (names of mittens)
    return W @ C.T + bw + bc.T


@pytest.fixture
def start() -> Start:
    """Make a text of documents that lean to one of four topics, and count its neighbours."""
    rng = np.random.default_rng(0)
    its_own = np.repeat(rng.integers(0, 4, 1_000), 20)
    topic = np.where(rng.random(20_000) < 0.5, its_own, rng.integers(0, 4, 20_000))
    rank = np.minimum(rng.geometric(0.25, 20_000) - 1, 9)
    tokens = Tokens((topic * 10 + rank).astype(np.uint32), np.arange(0, 20_001, 20).astype(np.uint64))
    counts = np.zeros((N_WORDS, N_WORDS))
    with GloVe(x_max=X_MAX).counts(tokens, N_WORDS, rng) as blocks:
        entries = np.concatenate(blocks)
    counts[entries["row"], entries["column"]] = np.exp(entries["log_count"])
    words, contexts = (glove._first_vectors(N_WORDS, SIZE, bias, rng) for bias in (SIZE, SIZE + 1))
    return Start(counts, entries.view(np.uint8), words, contexts)


def test_loss_and_gradients_are_those_of_mittens(start: Start) -> None:
    model = mittens.GloVe(n=SIZE, xmax=X_MAX, max_iter=0, display_progress=0, test_mode=True)
    model.fit(start.counts, fixed_initialization=start.parameters())
    weights, log_counts = model._initialize(start.counts)
    gradients, loss = model._get_gradients_and_error(start.fitted(), log_counts, weights)
    before, rate = start.parameters(), 1e-4
    cost = _native.glove_train(start.words, start.contexts, SIZE, [start.entries], rate, 1)
    assert cost == pytest.approx(loss, rel=0.01)
    for name, after in start.parameters().items():  # small steps: their sum is the step of the sum
        moved = (before[name] - after) / rate
        scale = np.abs(gradients[name]).max()
        np.testing.assert_allclose(moved, gradients[name], atol=0.03 * scale, err_msg=name)


def test_both_end_up_with_the_same_fit(start: Start) -> None:
    """Compare products: `W` and `C` themselves are determined only up to a change of coordinates."""
    model = mittens.GloVe(
        n=SIZE, xmax=X_MAX, max_iter=6_000, learning_rate=0.3, display_progress=0, test_mode=True
    )
    model.fit(start.counts, fixed_initialization=start.parameters())
    for _ in range(1_000):
        loss = _native.glove_train(start.words, start.contexts, SIZE, [start.entries], 0.05, 1)
    assert loss == pytest.approx(model.errors[-1], rel=0.1)  # ours while it steps, mittens' between steps
    assert loss < 0.002 * model.errors[0]
    seen = start.counts > 0
    ours, theirs = start.fitted(), fitted(model.W, model.C, model.bw, model.bc)
    assert np.corrcoef(ours[seen], theirs[seen])[0, 1] > 0.999
    assert np.corrcoef(pairwise_cosines(ours), pairwise_cosines(theirs))[0, 1] > 0.999


def pairwise_cosines(log_counts: Any) -> Any:
    """Similarity of every two words by the company that they keep, without what is due to frequency."""
    rows = log_counts - log_counts.mean(axis=1, keepdims=True)
    rows -= rows.mean(axis=0)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows @ rows.T)[np.triu_indices(len(rows), 1)]
