"""What each setting does to quality and time: train the words of MEN with one setting changed at a time.

    python benchmarks/parameters.py INDEX [--data DIR] [--output FILE]

Quality is Spearman's correlation with MEN's judgements, by `association-symmetric`, which needs no other
words than those of the pairs. Time is CPU seconds of one thread per word.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

from scipy.stats import spearmanr

from omnitm import DocumentIndex
from omnitm.engines import ThreadsEngine
from omnitm.machine import PAPER, AutoencoderSettings
from omnitm.training import train_vectors

CHANGES: tuple[dict[str, Any], ...] = (
    {},
    {"n_examples": 125},
    {"n_examples": 250},
    {"n_examples": 1000},
    {"n_examples": 2000},
    {"accumulation": 1},
    {"accumulation": 6},
    {"accumulation": 12},
    {"accumulation": 48},
    {"n_clauses": 8},
    {"n_clauses": 16},
    {"n_clauses": 64},
    {"n_clauses": 128},
    {"specificity": 1.2},
    {"specificity": 2.0},
    {"threshold": 1000},
    {"max_included_literals": None},
    {"output_balancing": 0.25},
    {"algorithm": "fast"},
    PAPER,
)


def read_pairs(path: Path, index: DocumentIndex) -> list[tuple[str, str, float]]:
    known = set(index.vocabulary)
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    pairs = [(first, second, float(score)) for first, second, score in rows]
    return [pair for pair in pairs if pair[0] in known and pair[1] in known]


def measure(
    index: DocumentIndex, pairs: list[tuple[str, str, float]], change: dict[str, Any]
) -> dict[str, Any]:
    words = sorted({word for first, second, _ in pairs for word in (first, second)})
    started = time.process_time()
    vectors = train_vectors(index, words, settings=AutoencoderSettings(**change), engine=ThreadsEngine(1))
    seconds = (time.process_time() - started) / len(words)
    scores = [vectors.similarity(a, b, metric="association-symmetric") for a, b, _ in pairs]
    correlation = float(spearmanr(scores, [score for *_, score in pairs]).statistic)
    return {"change": change, "spearman": round(correlation, 4), "ms_per_word": round(seconds * 1000, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("index", type=Path, help="an index made by `omnitm index`")
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("OMNITM_DATA"), help="folder with the data"
    )
    parser.add_argument("--output", type=Path, help="JSON file for the results")
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("give --data or set OMNITM_DATA")
    index = DocumentIndex.open(arguments.index)
    pairs = read_pairs(Path(arguments.data) / "wordsim" / "EN-MEN-TR-3k.txt", index)
    results = []
    for change in CHANGES:
        results.append(measure(index, pairs, change))
        print(results[-1], flush=True)
    if arguments.output:
        content = {"pairs": len(pairs), "documents": index.n_documents, "results": results}
        arguments.output.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
