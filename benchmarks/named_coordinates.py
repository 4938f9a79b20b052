"""Does the machine earn its keep? Named coordinates alone, learned or counted, read in the same way.

    omnitm index enwiki.txt -o wiki.index && omnitm train wiki.index -o models/omni
    omnitm train wiki.index --model ppmi -o models/ppmi
    python benchmarks/named_coordinates.py models --index wiki.index --data DIR

Cosines of profiles (what stands out, see docs/similarity.md), without smoothing, association and
word forms: of the coordinates of topic, of place, and the sum of both in units of their spread. PPMI of place
counts the same neighbours at the same four offsets. Writes results/named-coordinates.json and .md.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.baselines.ppmi import STEPS_PER_NAT, SVD, neighbour_counts
from omnitm.baselines.texts import tokens_of
from omnitm.corpus import DocumentIndex
from omnitm.evaluation.correlation import correlations, draw_counts, interval, pair_weights
from omnitm.evaluation.datasets import load_pairs
from omnitm.similarity.profiles import PLACE, best_known
from omnitm.similarity.row_profile import RowProfile
from omnitm.store.rows import SparseMatrix
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

RESULTS = Path(__file__).parent / "results"
SETS = ("SimLex-999", "WS-353", "MTURK-287", "MTURK-771", "RG-65", "MEN")
SMOOTHING = (1.0, 0.75)  # of the contexts of PPMI
N_RESAMPLES = 1000
N_RANDOM = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("models", type=Path, help="folder with the models omni and ppmi")
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--data", type=Path)
    arguments = parser.parse_args()
    omni, ppmi = (WordVectors.load(arguments.models / name) for name in ("omni", "ppmi"))
    place = omni.profiles.place
    if place is None or omni.index_to_key != ppmi.index_to_key:
        raise SystemExit("omni needs places, and the two models the same words")
    known, index = best_known(omni), DocumentIndex.open(arguments.index)
    counted = {
        f"PPMI, contexts to the power {power}": RowProfile.of(matrix, None, known, known, PLACE)
        for power, matrix in counted_places(index, power_of=SMOOTHING)
    }
    profiles = {
        "topic": {"Omni": omni.profiles.topic, "PPMI": ppmi.profiles.topic},
        "place": {"Omni": place, **counted},
    }
    random = np.random.default_rng(0).choice(known, size=(2, N_RANDOM))
    both = {"Omni": ("Omni", "Omni")} | {f"PPMI and {name}": ("PPMI", name) for name in counted}
    rows = []
    for name in SETS:
        pairs = load_pairs(name, arguments.data)
        kept = [
            k
            for k, ab in enumerate(zip(pairs.first, pairs.second, strict=True))
            if all(w in omni for w in ab)
        ]
        first, second = (
            np.array([omni.get_index(side[k]) for k in kept]) for side in (pairs.first, pairs.second)
        )
        words, places = np.unique([first, second], return_inverse=True)
        weights = pair_weights(draw_counts(len(words), N_RESAMPLES, 0), *places.reshape(2, -1))
        for kind in ("topic", "place", "both"):
            if kind == "both":
                scores = {
                    label: np.sum(
                        [
                            in_spreads(profiles[k][n], first, second, random)
                            for k, n in zip(profiles, names, strict=True)
                        ],
                        axis=0,
                    )
                    for label, names in both.items()
                }
            else:
                scores = {label: cosines(found, first, second) for label, found in profiles[kind].items()}
            judged = pairs.scores[kept]
            ours = correlations(scores["Omni"], judged, weights).spearman
            for label, found in scores.items():
                theirs = correlations(found, judged, weights).spearman
                between = interval(ours - theirs)
                rows.append(
                    {
                        "set": name,
                        "kind": kind,
                        "model": label,
                        "spearman": round(float(correlations(found, judged).spearman[0]), 4),
                        "omni_ahead_by": None
                        if label == "Omni" or between is None
                        else [round(x, 4) for x in between],
                    }
                )
                print(json.dumps(rows[-1]), flush=True)
    (RESULTS / "named-coordinates.json").write_text(
        json.dumps({"pairs": "words resampled", "rows": rows}, indent=1) + "\n"
    )
    (RESULTS / "named-coordinates.md").write_text(table(rows))


def counted_places(index: DocumentIndex, power_of: tuple[float, ...]) -> Iterator[tuple[float, SparseMatrix]]:
    """Count the neighbours that machines see, 10,000 words at four offsets, and weigh them by PPMI."""
    running = index.running
    if running is None:
        raise SystemExit("the index has no running text")
    with tokens_of(index, function_words=True) as tokens:
        counts = neighbour_counts(tokens, index.n_words, 2, True, lambda _: None).tocsc()
        number = {name: k for k, name in enumerate(tokens.names)}
    names = [running.names[k] for k in running.feature_words(10_000).tolist()]
    blocks = range(4)
    columns = [number[name] + block * len(number) for block in blocks for name in names if name in number]
    chosen = counts[:, columns].tocsr()
    for power in power_of:
        weighed = SVD(smoothing=power).information(chosen)
        weighed.data = np.rint(weighed.data * STEPS_PER_NAT)
        yield (
            power,
            SparseMatrix.of((dense_row(weighed, row) for row in range(weighed.shape[0])), len(columns)),
        )


def dense_row(matrix: Any, row: int) -> NDArray[np.int16]:
    return np.asarray(matrix[row].toarray()[0], dtype=np.int16)


def cosines(profile: RowProfile, first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.float64]:
    found = profile.some(first).multiply(profile.some(second)).sum(axis=1)
    return np.asarray(found, dtype=np.float64).ravel()


def in_spreads(
    profile: RowProfile, first: NDArray[Any], second: NDArray[Any], random: NDArray[Any]
) -> NDArray[np.float64]:
    """Measure cosines in units of their spread over random pairs, as the similarity does."""
    found: NDArray[np.float64] = cosines(profile, first, second) / cosines(profile, *random).std()
    return found


def table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| set | coordinates | model | Spearman | Omni ahead by (95 %, words resampled) |",
        "|---|---|---|--:|--:|",
    ]
    for row in rows:
        between = row["omni_ahead_by"]
        ahead = "" if between is None else f"{between[0]:+.3f} to {between[1]:+.3f}"
        lines.append(f"| {row['set']} | {row['kind']} | {row['model']} | {row['spearman']:.3f} | {ahead} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
