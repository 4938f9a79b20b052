"""Which weights should the parts of the similarity have, and how much trust? Asked of development data alone.

    python benchmarks/similarity_weights.py MODEL --data DIR

MODEL is trained on both kinds of contexts, with 40,000 words of Wikipedia for the log that is kept:
`results/similarity-weights.json`. A row has the weights of association, topic profile, smoothed topic
profile, place profile, smoothed place profile and joined profile, in units of their spreads over random
pairs, how fast the trust in words falls after the best known ones, how many patterns smoothed topic and place
profiles have, the `alike` that counts as it is (none: alike counts without emphasis), and by which powers of
the closeness of both words topics and places are divided.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from omnitm.evaluation.categories import load_categories, neighbour_precision
from omnitm.evaluation.correlation import correlations
from omnitm.evaluation.datasets import load_pairs
from omnitm.similarity import question
from omnitm.similarity.combined import Combined
from omnitm.similarity.profiles import LESS_TRUST, coded
from omnitm.similarity.question import CLEARLY_ALIKE, PARTS, WEIGHTS_OF_PARTS
from omnitm.similarity.row_profile import unit_rows
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

RESULTS = Path(__file__).parent / "results" / "similarity-weights.json"
WEIGHTS = (
    (1, 1, 1, 0, 0, 0),
    (0, 0, 0, 2.5, 3, 1.5),
    (1, 0.5, 2.5, 2.5, 3, 0),
    (1, 0.5, 2.5, 2.5, 3, 0.5),
    (1, 0.5, 2.5, 2.5, 3, 1),
    (1, 0.5, 2.5, 2.5, 3, 2),
    (1, 0.5, 2.5, 2.5, 3, 3),
    (1, 0.5, 2.5, 2.5, 3.5, 1.5),
    (1, 0.5, 3, 2.5, 3.5, 1.5),
    (1, 0.5, 3, 2.5, 3, 1.5),
    (1, 0.5, 2, 2.5, 2.5, 1.5),
    (1, 1, 2.5, 2.5, 3, 1.5),
    (1, 0, 2.5, 2.5, 3, 1.5),
    (1.5, 0.5, 2.5, 2.5, 3, 1.5),
    (0.5, 0.5, 2.5, 2.5, 3, 1.5),
    (1, 0.5, 2.5, 3, 3, 1.5),
    (1, 0.5, 2.5, 2, 3, 1.5),
)
CHOSEN = (1, 0.5, 2.5, 2.5, 3, 1.5)
PATTERNS = (800, 1_000)  # of topics and of places
POWERS = (1.0, 1.0)  # of closeness
SETTINGS = (
    (CHOSEN, LESS_TRUST, PATTERNS, CLEARLY_ALIKE, POWERS),
    *((weights, LESS_TRUST, PATTERNS, CLEARLY_ALIKE, POWERS) for weights in WEIGHTS),
    *((CHOSEN, power, PATTERNS, CLEARLY_ALIKE, POWERS) for power in (0, 0.15, 0.35)),
    *((CHOSEN, LESS_TRUST, patterns, CLEARLY_ALIKE, POWERS) for patterns in ((500, 1_000), (800, 300))),
    *((CHOSEN, LESS_TRUST, PATTERNS, alike, POWERS) for alike in (None, 60, 55, 45, 40)),
    *((CHOSEN, LESS_TRUST, PATTERNS, CLEARLY_ALIKE, powers) for powers in ((0, 0), (1, 0.75), (0.75, 1))),
    ((1, 0.5, 2.5, 2.5, 3, 1), LESS_TRUST, PATTERNS, 45, POWERS),  # the default before
)
N_CATEGORY_WORDS = 500
N_NEAREST = 100  # enough for the ten nearest that are no forms of the word


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model", type=Path, metavar="MODEL")
    parser.add_argument("--data", type=Path)
    arguments = parser.parse_args()
    vectors = WordVectors.load(arguments.model)
    profiles = vectors.profiles
    units = profiles.scales / WEIGHTS_OF_PARTS
    rows = []
    for weights, power, patterns, alike, powers in SETTINGS:
        metric = Combined("similarity", is_emphasised=alike is not None)
        question.CLEARLY_ALIKE = alike or CLEARLY_ALIKE
        topics = unit_rows(profiles.topic_rows[:, : patterns[0]])
        places = unit_rows(profiles.place_rows[:, : patterns[1]])
        (topic_codes, topic_step), (place_codes, place_step) = coded(topics), coded(places)
        wider = [spread(profiles.topic_rows) / spread(topics), spread(profiles.place_rows) / spread(places)]
        vectors.profiles = replace(
            profiles,
            scales=units * np.array(weights, dtype=float) * [1, 1, wider[0], 1, wider[1], 1],
            trust=profiles.trust ** np.float32(power / LESS_TRUST),
            topic_rows=topics,
            place_rows=places,
            topic_codes=topic_codes,
            place_codes=place_codes,
            code_steps=np.array([topic_step, place_step]),
            closeness=profiles.closeness ** np.divide(powers, POWERS, dtype=np.float32),
        )
        scores = {
            "simlex": pair_score(vectors, metric, "SimLex-999", arguments.data),
            "men_odd": pair_score(vectors, metric, "MEN, odd lines", arguments.data),
            "semcat_p10": category_score(vectors, metric, arguments.data),
        }
        scores["mean"] = float(np.mean(list(scores.values())))
        setting = {"weights": weights, "less_trust": power, "patterns": patterns}
        rows.append(
            {
                **setting,
                "clearly_alike": alike,
                "powers_of_closeness": powers,
                **{name: round(score, 4) for name, score in scores.items()},
            }
        )
        print(json.dumps(rows[-1]), flush=True)
    content = {"parts": PARTS, "category_words": N_CATEGORY_WORDS, "rows": rows}
    RESULTS.write_text(json.dumps(content, indent=1) + "\n")


def spread(rows: NDArray[np.float32]) -> float:
    """Deviation of the products of random pairs of frequent words: fewer patterns have a larger one."""
    first, second = np.random.default_rng(0).integers(0, min(8_000, len(rows)), size=(2, 20_000))
    return float(np.einsum("ij,ij->i", rows[first], rows[second]).std())


def pair_score(vectors: WordVectors, metric: Combined, name: str, data: Path | None) -> float:
    """Spearman on the pairs that are known."""
    pairs = load_pairs(name, data)
    both = zip(pairs.first, pairs.second, pairs.scores.tolist(), strict=True)
    known = [(a, b, score) for a, b, score in both if a in vectors and b in vectors]
    first, second = (np.array([vectors.get_index(pair[side]) for pair in known]) for side in (0, 1))
    scores = metric.pairs(vectors, first, second)
    return float(correlations(scores, np.array([score for _, _, score in known])).spearman[0])


def category_score(vectors: WordVectors, metric: Combined, data: Path | None) -> float:
    """Measure the same category among the ten nearest of all words."""

    def rows_of(words: Sequence[str]) -> Iterator[NDArray[np.float64]]:
        for word in words:
            row = np.full(len(vectors), -np.inf)
            places, scores = metric.nearest(vectors, [(word, 1.0)], N_NEAREST)
            row[places] = scores
            yield row

    semcat = load_categories("SEMCAT", data)
    return neighbour_precision(semcat, vectors.index_to_key, rows_of, N_CATEGORY_WORDS)


if __name__ == "__main__":
    main()
