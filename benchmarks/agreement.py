"""Compare what omnitm learns with what TMU learns, on a small generated corpus.

Two comparisons. *Replay*: TMU's own feedback functions, given our examples and our coins, must end with our
states and weights, bit for bit. *Statistics*: with everybody's own coins, the mean embedding over many seeds
must agree, for a frequent, a middling and a rare word.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import corpora
import numpy as np
from peers import ask_tmu

from omnitm.machine import PAPER, AutoencoderSettings, word_key
from omnitm.machine.autoencoder import Autoencoder
from omnitm.machine.reference import ReferenceAutoencoder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex


def paper_settings(n_examples: int, specificity: float = 1.0) -> AutoencoderSettings:
    changes = {"n_examples": n_examples, "n_epochs": 1, "specificity": specificity}
    return AutoencoderSettings(**{**PAPER, **changes})


def replay(index: DocumentIndex, target: int, n_examples: int) -> dict[str, Any]:
    """Count the automata and weights in which TMU's code, fed with our draws, differs from our kernel."""
    settings, key = paper_settings(n_examples), word_key(1, index.vocabulary[target])
    with tempfile.TemporaryDirectory() as folder:
        draws, result = Path(folder) / "draws.npz", Path(folder) / "result.npz"
        np.savez(draws, allow_pickle=False, **record_draws(index, settings, target, key))
        job = {"corpus": str(corpora.small().path), "draws": str(draws), "result": str(result)}
        ask_tmu("replay", settings=asdict(settings), **job)
        with np.load(result) as stored:
            states, weights = stored["states"], stored["weights"]
    machine = Autoencoder(index, settings)
    machine.train(target, key)
    return {
        "automata": states.size,
        "different_states": int((states != machine.states).sum()),
        "different_weights": int((weights != machine.weights).sum()),
    }


def record_draws(
    index: DocumentIndex, settings: AutoencoderSettings, target: int, key: int
) -> dict[str, NDArray[Any]]:
    """Make all examples and coins of a word ahead of its training."""
    reference = ReferenceAutoencoder(index, settings, target, key)
    examples = [reference.prepare(number) for number in range(settings.total_examples)]
    coins = [reference.coins(number) for number in range(settings.total_examples)]
    gates, feedback_coins, weight_coins = (np.array(each) for each in zip(*coins, strict=True))
    return {
        "target": np.array(target),
        "initial_weights": reference.weights,
        "labels": np.array([label for label, _ in examples]),
        "literals": pack_in_words_of_32(np.array([literals for _, literals in examples])),
        "gates": gates,
        "feedback_coins": feedback_coins,
        "weight_coins": weight_coins,
    }


def pack_in_words_of_32(bits: NDArray[np.bool_]) -> NDArray[np.uint8]:
    padding = -bits.shape[1] % 32
    return np.packbits(np.pad(bits, ((0, 0), (0, padding))), axis=1, bitorder="little")


def statistics(
    index: DocumentIndex, targets: dict[str, int], settings: AutoencoderSettings, n_seeds: int
) -> list[dict[str, Any]]:
    """Correlate mean embeddings over seeds, ours with TMU's and TMU's two halves; the target is left out."""
    theirs = ask_tmu(
        "embeddings",
        corpus=str(corpora.small().path),
        targets=list(targets.values()),
        seeds=list(range(1, n_seeds + 1)),  # seed 0 makes TMU's generator return 0 for ever
        settings=asdict(settings),
    )
    rows = []
    for (name, target), runs in zip(targets.items(), theirs["runs"], strict=True):
        others = np.arange(index.n_words) != target
        tmu = np.array([run["vector"] for run in runs])[:, others]
        ours, weights = train_seeds(index, target, settings, n_seeds)
        tmu_weights = np.array([run["weights"] for run in runs])
        rows.append(
            {
                "word": name,
                "documents": int(index.document_frequencies[target]),
                **agreement(ours[:, others], tmu),
                "positive_clauses": [float((each > 0).sum(axis=1).mean()) for each in (weights, tmu_weights)],
                "mean_absolute_weight": [float(np.abs(each).mean()) for each in (weights, tmu_weights)],
            }
        )
    return rows


def train_seeds(
    index: DocumentIndex, target: int, settings: AutoencoderSettings, n_seeds: int
) -> tuple[NDArray[np.int16], NDArray[np.int32]]:
    """Train one word with many seeds: embeddings and weights."""
    machine = Autoencoder(index, settings)
    vectors, weights = [], []
    for seed in range(1, n_seeds + 1):
        machine.train(target, word_key(seed, index.vocabulary[target]))
        vectors.append(machine.embedding())
        weights.append(machine.weights)
    return np.array(vectors), np.array(weights)


def agreement(ours: NDArray[np.int16], tmu: NDArray[np.float64]) -> dict[str, float]:
    """Pearson correlations of means over seeds, and the ratio of the lengths of the means."""
    half = len(tmu) // 2
    means = ours.mean(axis=0), tmu.mean(axis=0)
    return {
        "correlation": float(np.corrcoef(*means)[0, 1]),
        "tmu_halves": float(np.corrcoef(tmu[:half].mean(axis=0), tmu[half:].mean(axis=0))[0, 1]),
        "our_halves": float(np.corrcoef(ours[:half].mean(axis=0), ours[half:].mean(axis=0))[0, 1]),
        "length_ratio": float(np.linalg.norm(means[0]) / np.linalg.norm(means[1])),
    }


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=8_000, help="training examples per word")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--specificity", type=float, default=1.0)
    options = parser.parse_args(argv)
    index = corpora.read_index(corpora.small())
    targets = corpora.example_targets(index)
    settings = paper_settings(options.examples, options.specificity)
    n_replayed = min(options.examples, 1_000)
    result = {
        "replay": {name: replay(index, target, n_replayed) for name, target in targets.items()},
        "statistics": statistics(index, targets, settings, options.seeds),
    }
    print(json.dumps(result, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
