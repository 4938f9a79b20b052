"""Which weights should the parts of the similarity have? Asked of the development data alone.

    python benchmarks/similarity_weights.py MODEL --data DIR

MODEL is trained on both kinds of contexts, with 40,000 words of Wikipedia for the log that is kept:
`results/similarity-weights.json`. A row has the weights of association, topic profile, smoothed topic
profile, place profile and smoothed place profile, in units of their spreads over random pairs.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from development import development_scores

from omnitm.similarity.combined import PARTS, WEIGHTS_OF_PARTS
from omnitm.vectors import WordVectors

RESULTS = Path(__file__).parent / "results" / "similarity-weights.json"
WEIGHTS = (
    (1, 1, 1, 0, 0),
    (1, 1, 1, 1, 1),
    (1, 1, 1, 1, 2),
    (1, 1, 1, 2, 1),
    (1, 1, 1, 2, 2),
    (1, 1, 1, 3, 2),
    (1, 1, 1, 4, 2),
    (1, 1, 1, 2, 4),
    (1, 2, 1, 3, 2),
    (0.5, 1, 1, 3, 2),
    (0, 0, 0, 1, 1),
    (0, 0, 0, 3, 2),
)
N_CATEGORY_WORDS = 300


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model", type=Path, metavar="MODEL")
    parser.add_argument("--data", type=Path)
    arguments = parser.parse_args()
    vectors = WordVectors.load(arguments.model)
    profiles = vectors.profiles
    units = profiles.scales / WEIGHTS_OF_PARTS
    rows = []
    for weights in WEIGHTS:
        vectors.profiles = replace(profiles, scales=units * np.array(weights, dtype=float))
        scores = development_scores(vectors, "similarity", data=arguments.data, semcat_words=N_CATEGORY_WORDS)
        rows.append({"weights": weights, **{name: round(score, 4) for name, score in scores.items()}})
        print(json.dumps(rows[-1]), flush=True)
    content = {"parts": PARTS, "category_words": N_CATEGORY_WORDS, "rows": rows}
    RESULTS.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
