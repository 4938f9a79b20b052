"""SINr (Prouteau et al. 2021, PyPI `sinr`) on the counts of benchmarks/themes.py.

    python -m venv sinr-env && sinr-env/bin/pip install sinr
    sinr-env/bin/python benchmarks/peer_sinr.py FOLDER N_DOCUMENTS

The graph has the pairs of words that meet in at least 20 documents and twice as often as by chance, weighted
by how often; communities are found with the resolution that gives about 100 of them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from networkit import setNumberOfThreads, setSeed
from scipy.sparse import csr_matrix
from sinr.graph_embeddings import SINr

K = 100
FEWEST, RATIO = 20, 2


def main() -> None:
    """Find communities for two seeds, and write how much of each word's weight goes to each."""
    folder, n_documents = Path(sys.argv[1]), int(sys.argv[2])
    words = json.loads((folder / "words.json").read_text())
    counts = np.load(folder / "counts.npy")
    single = np.diag(counts).copy()
    np.fill_diagonal(counts, 0)
    counts[(counts < FEWEST) | (counts * n_documents <= RATIO * np.outer(single, single))] = 0
    setNumberOfThreads(1)
    labels = {word: number for number, word in enumerate(words)}
    model = SINr.load_from_adjacency_matrix(csr_matrix(counts), labels=labels, n_jobs=1)
    gamma = None
    for seed in (0, 1):
        setSeed(seed, False)
        if gamma is None:
            gamma = resolution(model)
        communities = model.detect_communities(gamma=gamma, inspect=False, par="none randomized")
        print(f"seed {seed}: {communities.numberOfSubsets()} communities", flush=True)
        model.extract_embeddings(communities)
        values = np.asarray(model.get_nr().todense())
        rows = np.zeros((len(words), values.shape[1]), dtype=np.float32)
        for word, row in model.get_wrd_to_id().items():
            rows[labels[word]] = values[row]
        np.save(folder / "readouts" / f"SINr.{seed}.npy", rows)


def resolution(model: SINr) -> float:
    """Find the resolution at which there are about K communities."""
    low, high = 1.0, 60.0
    for _ in range(7):
        gamma = float((low * high) ** 0.5)
        found = model.detect_communities(gamma=gamma, inspect=False, par="none randomized").numberOfSubsets()
        print(f"resolution {gamma:.2f}: {found} communities", flush=True)
        if abs(found - K) <= K // 20:
            break
        low, high = (gamma, high) if found < K else (low, gamma)
    return gamma


if __name__ == "__main__":
    main()
