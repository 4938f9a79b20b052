"""How long a word takes to train, by the length of documents: CPU milliseconds, one thread.

    python benchmarks/time_per_word.py sentences=wiki.idx reviews=reviews.idx messages=news.idx

Writes benchmarks/results/time-per-word.json.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from omnitm.corpus import DocumentIndex
from omnitm.machine import PAPER, Autoencoder, AutoencoderSettings, word_key

RESULTS = Path(__file__).parent / "results" / "time-per-word.json"


def milliseconds(index: DocumentIndex, settings: dict[str, Any], n_words: int) -> float:
    """Train words of all frequencies, after one that warms the machine up; return the mean time."""
    machine = Autoencoder(index, AutoencoderSettings(**settings))
    words = np.linspace(0, index.n_words - 1, n_words).astype(int).tolist()
    machine.train(words[0], word_key(0, index.vocabulary[words[0]]))
    started = time.process_time()
    for word in words:
        machine.train(word, word_key(0, index.vocabulary[word]))
    return round(1000 * (time.process_time() - started) / n_words, 1)


def main() -> None:
    found = {}
    for source in sys.argv[1:]:
        name, _, folder = source.partition("=")
        index = DocumentIndex.open(folder)
        found[name] = {
            "words_per_document": round(float(index.document_frequencies.sum()) / index.n_documents, 1),
            "defaults_ms": milliseconds(index, {}, 80),
            "paper_ms": milliseconds(index, PAPER, 16),
        }
        print(name, found[name])
    RESULTS.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
