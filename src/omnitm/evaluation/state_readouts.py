"""Other embeddings from the same trained states: the read-outs of the ablation.

One training per word serves all of them. `S+` and `S-` are the states of a word's positive and negated
literal, N the state from which a literal is included, W a clause's weight.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from omnitm.machine import Autoencoder, word_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex
    from omnitm.machine import AutoencoderSettings

READ_OUTS = {
    "all literals": "mean of S+ - S- over clauses with W > 0: the paper's, and ours",
    "included only": "the same, but states below N count as 0",
    "positive only": "mean of S+ over clauses with W > 0",
    "negated only": "mean of -S- over clauses with W > 0",
    "weighted": "mean of S+ - S- over clauses with W > 0, weighted by W",
    "all clauses": "mean of S+ - S- over all clauses",
}


def read_out(
    name: str, states: NDArray[np.uint8], weights: NDArray[np.int32], include_from: int
) -> NDArray[np.int16]:
    """Make an embedding from states (clauses x literals) and weights; zeros without clauses."""
    kept = np.ones(len(weights), dtype=bool) if name == "all clauses" else weights > 0
    n_words = states.shape[1] // 2
    if not kept.any():
        return np.zeros(n_words, dtype=np.int16)
    shares = (
        weights[kept].astype(np.int64) if name == "weighted" else np.ones(int(kept.sum()), dtype=np.int64)
    )
    chosen = states[kept].astype(np.float32)
    if name == "included only":
        chosen *= chosen >= include_from
    sums = shares.astype(np.float32) @ chosen
    positive, negated = sums[:n_words], sums[n_words:]
    if name == "positive only":
        negated = np.zeros_like(negated)
    elif name == "negated only":
        positive = np.zeros_like(positive)
    mean = (positive.astype(np.float64) - negated) / int(shares.sum())
    return np.asarray(np.floor(mean), dtype=np.int16)


def train_read_outs(
    index: DocumentIndex,
    settings: AutoencoderSettings,
    words: Sequence[str],
    *,
    read_outs: Sequence[str] = tuple(READ_OUTS),
    seed: int = 0,
    n_jobs: int = 1,
    on_word: Callable[[], object] | None = None,
) -> dict[str, NDArray[np.int16]]:
    """Train words once each, and read every embedding out of the same states."""
    matrices = {name: np.empty((len(words), index.n_words), dtype=np.int16) for name in read_outs}

    def work(first: int) -> None:
        machine = Autoencoder(index, settings)
        for row in range(first, len(words), n_jobs):
            target = index.word_id(words[row])
            machine.train(target, word_key(seed, words[row]))
            states, weights = machine.states, machine.weights
            for name, matrix in matrices.items():
                matrix[row] = read_out(name, states, weights, settings.include_from)
                matrix[row, target] = 0  # hidden literals say nothing
            if on_word:
                on_word()

    with ThreadPoolExecutor(n_jobs) as pool:
        list(pool.map(work, range(n_jobs)))
    return matrices
