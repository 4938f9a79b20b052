"""What of a text says which words are alike? Ways to count neighbours, in place of what place machines learn.

    python benchmarks/place_evidence.py MODEL INDEX TEXT --data DIR

Asked of development data alone. MODEL was trained on INDEX, which was made of TEXT, a document per line; for
the log that is kept, results/place-evidence.json, 40,000 words of Wikipedia and the present defaults. A row
per way:

- learned: the smoothed place profile as the model has it,
- counted: PPMI (contexts to the power 0.75) of the same neighbours of the same words, smoothed alike,
- gaps: the same, but numbers and punctuation take a place of their own, in which no neighbour is seen,
- content: the nearest word of the vocabulary on either side, whatever function words stand between,
- both: gaps and content in one matrix.

Each is scored alone, by its cosine, and in place of the smoothed place profile with all other parts as they
are. A last block of rows says what a coordinate of place is: how well it is explained by the share of merged
examples that have the feature.
"""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from similarity_weights import category_score, pair_score, spread

from omnitm.corpus import DocumentIndex
from omnitm.evaluation.categories import load_categories, neighbour_precision
from omnitm.evaluation.datasets import load_pairs
from omnitm.similarity.combined import Combined
from omnitm.similarity.profiles import PATTERNED, PLACE, best_known, closeness_of, coded, most_frequent
from omnitm.similarity.row_profile import unit_rows
from omnitm.similarity.truncated_svd import patterns_of_rows
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

RESULTS = Path(__file__).parent / "results" / "place-evidence.json"
OFFSETS = (-2, -1, 1, 2)
N_FEATURES = 10_000
N_CATEGORY_WORDS = 500
CONTEXT_POWER = 0.75
# A word with its hyphens, a number, or one sign of punctuation. Apostrophes were taken out before.
PIECES = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*|\d[\w.,]*\w|\d|[,;.:()\"!?]")
END, OTHER, GAP = -1, -2, -3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model", type=Path, metavar="MODEL")
    parser.add_argument("index", type=Path, metavar="INDEX")
    parser.add_argument("text", type=Path, metavar="TEXT")
    parser.add_argument("--data", type=Path)
    arguments = parser.parse_args()
    vectors = WordVectors.load(arguments.model)
    index = DocumentIndex.open(arguments.index)
    with_gaps = read(arguments.text, index)
    plain = with_gaps[with_gaps != GAP]
    n_words, numbers = len(index.vocabulary), {word: k for k, word in enumerate(index.vocabulary)}
    rows_of_words = np.array([numbers[word] for word in vectors.index_to_key])
    features = feature_numbers(plain)
    content = plain[(plain == END) | ((plain >= 0) & (plain < n_words))]
    counted = [neighbours(plain, offset, n_words, features) for offset in OFFSETS]
    gaps = [neighbours(with_gaps, offset, n_words, features) for offset in OFFSETS]
    beside = [neighbours(content, offset, n_words, features) for offset in (-1, 1)]
    ways = {"counted": counted, "gaps": gaps, "content": beside, "both": [*gaps, *beside]}
    log = [scored(vectors, "learned", vectors.profiles.place_rows, arguments.data)]
    for name, blocks in ways.items():
        counts = sparse.hstack(blocks).tocsr()[rows_of_words]
        log.append(scored(vectors, name, smoothed(vectors, ppmi(counts)), arguments.data))
    place_counts = sparse.hstack(counted).tocsr()[rows_of_words]
    explained = what_coordinates_are(vectors, index, place_counts, features)
    content_of_log = {"category_words": N_CATEGORY_WORDS, "rows": log, "coordinates": explained}
    RESULTS.write_text(json.dumps(content_of_log, indent=1) + "\n")


def read(text: Path, index: DocumentIndex) -> NDArray[np.int32]:
    """Read the text as numbers of its words, with gaps where there are numbers and punctuation."""
    names = index.running.names if index.running is not None else index.vocabulary
    numbers = {name: number for number, name in enumerate(names)}

    def blocks() -> Iterator[NDArray[np.int32]]:
        held: list[int] = []
        with text.open(encoding="utf-8") as lines:
            for line in lines:
                pieces = PIECES.findall(line.lower().replace("'", "").replace("\u2019", ""))
                held += [numbers.get(one, OTHER if one[0].isalpha() else GAP) for one in pieces]
                held.append(END)
                if len(held) > 5_000_000:
                    yield np.array(held, dtype=np.int32)
                    held.clear()
        yield np.array(held, dtype=np.int32)

    return np.concatenate(list(blocks()))


def feature_numbers(tokens: NDArray[np.int32]) -> NDArray[np.int64]:
    """Give the most frequent words numbers as neighbours; -1: no feature."""
    counts = np.bincount(tokens[tokens >= 0])
    found = np.full(len(counts), -1)
    found[np.argsort(-counts, kind="stable")[:N_FEATURES]] = np.arange(N_FEATURES)
    return found


def neighbours(
    tokens: NDArray[np.int32], offset: int, n_words: int, features: NDArray[np.int64]
) -> sparse.csr_matrix:
    """Count the neighbours at one offset: words x features. No neighbour is beyond the end of a document."""
    n_pairs = len(tokens) - abs(offset)
    words, others = (tokens[start : start + n_pairs] for start in (max(-offset, 0), max(offset, 0)))
    kept = (words >= 0) & (words < n_words) & (others >= 0)
    for step in range(1, abs(offset)):
        kept &= tokens[step : step + n_pairs] != END
    columns = features[others[kept]]
    pairs = words[kept][columns >= 0], columns[columns >= 0]
    return sparse.csr_matrix((np.ones(len(pairs[0]), np.float32), pairs), shape=(n_words, N_FEATURES))


def ppmi(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """Positive pointwise mutual information, rows of length 1."""
    found = counts.tocoo()
    of_rows = np.asarray(counts.sum(axis=1)).ravel()
    of_columns = np.asarray(counts.sum(axis=0)).ravel() ** CONTEXT_POWER
    values = np.log(found.data * of_columns.sum() / (of_rows[found.row] * of_columns[found.col]))
    kept = values > 0
    places = found.row[kept], found.col[kept]
    matrix = sparse.csr_matrix((values[kept], places), shape=counts.shape, dtype=np.float32)
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    matrix = (sparse.diags(1 / np.where(lengths > 0, lengths, 1)) @ matrix).tocsr().astype(np.float32)
    matrix.sort_indices()
    return matrix


def smoothed(vectors: WordVectors, matrix: sparse.csr_matrix) -> NDArray[np.float32]:
    """Smooth as place profiles are: by as many patterns of the same words, all alike."""
    found = patterns_of_rows(matrix[most_frequent(vectors, PATTERNED)], PLACE.n_patterns)
    return unit_rows((matrix @ found.right / found.singular).astype(np.float32))


def scored(
    vectors: WordVectors, name: str, place_rows: NDArray[np.float32], data: Path | None
) -> dict[str, Any]:
    """Score rows alone, and as the smoothed place profile, with their own closeness and spread."""
    profiles = vectors.profiles
    place_codes, step = coded(place_rows)
    closeness = profiles.closeness.copy()
    closeness[:, 1] = closeness_of(place_codes, best_known(vectors))
    wider = spread(profiles.place_rows) / spread(place_rows)
    vectors.profiles = replace(
        profiles,
        scales=profiles.scales * [1, 1, 1, 1, wider, 1],
        place_rows=place_rows,
        place_codes=place_codes,
        code_steps=np.array([profiles.code_steps[0], step]),
        closeness=closeness,
    )
    similarity = Combined("similarity")
    scores = {
        "simlex": pair_score(vectors, similarity, "SimLex-999", data),
        "men_odd": pair_score(vectors, similarity, "MEN, odd lines", data),
        "semcat_p10": category_score(vectors, similarity, data),
    }
    vectors.profiles = profiles
    row = {"way": name, **{f"alone_{key}": score for key, score in alone(vectors, place_rows, data).items()}}
    row |= scores
    found = {key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()}
    print(json.dumps(found), flush=True)
    return found


def alone(vectors: WordVectors, rows: NDArray[np.float32], data: Path | None) -> dict[str, float]:
    """Score plain cosines of rows."""
    from scipy.stats import spearmanr

    found = {}
    for key, name in (("simlex", "SimLex-999"), ("men_odd", "MEN, odd lines")):
        pairs = load_pairs(name, data)
        known = [
            (vectors.get_index(a), vectors.get_index(b), score)
            for a, b, score in zip(pairs.first, pairs.second, pairs.scores.tolist(), strict=True)
            if a in vectors and b in vectors
        ]
        first, second, people = map(np.array, zip(*known, strict=True))
        found[key] = float(spearmanr(np.einsum("ij,ij->i", rows[first], rows[second]), people)[0])

    def scores_of(words: Sequence[str]) -> Iterator[NDArray[np.float32]]:
        return (rows @ rows[vectors.get_index(word)] for word in words)

    semcat = load_categories("SEMCAT", data)
    found["semcat_p10"] = neighbour_precision(semcat, vectors.index_to_key, scores_of, N_CATEGORY_WORDS)
    return found


def what_coordinates_are(
    vectors: WordVectors, index: DocumentIndex, counts: sparse.csr_matrix, features: NDArray[np.int64]
) -> list[dict[str, Any]]:
    """Explain coordinates of some words by the share of merged examples that have the feature.

    An example merges m places, so it has a feature of the share p of a word's places with the probability
    a = 1 - (1 - p)**m; b is the same of all places. Coordinates are measured from their baseline.
    """
    running, profile, place = index.running, vectors.profiles.place, vectors.place
    if running is None or profile is None or place is None:
        raise SystemExit("MODEL and INDEX must know where words stand")
    # Columns of the model are those of the counts: the same words in the same order.
    names = [running.names[number] for number in np.argsort(np.where(features < 0, N_FEATURES, features))]
    column = {name: k for k, name in enumerate(place.feature_names)}
    patterns = ("{} * _", "{} _", "_ {}", "_ * {}")
    known = names[:N_FEATURES]
    places_of = np.array([column.get(pattern.format(name), -1) for pattern in patterns for name in known])
    n_places = running.counts[[index.word_id(word) for word in vectors.index_to_key]]
    usual = np.asarray(counts.sum(axis=0)).ravel() / n_places.sum()
    rows = []
    for row in (100, 1_000, 5_000, 10_000, 20_000, 35_000):
        merged = 24 * min(max(n_places[row] / 1_500, 1), 4)
        share = counts[row].toarray().ravel() / n_places[row]
        a, b = (1 - (1 - np.minimum(part, 1)) ** merged for part in (share, usual))
        vector = profile.relative(
            np.asarray(place.matrix[row])[: profile.n_features], float(profile.baseline[row])
        )
        kept = (places_of >= 0) & ((a > 0) | (b > 0.05))
        given = np.stack([a[kept], b[kept], np.ones(kept.sum())], axis=1)
        x = vector[places_of[kept]]
        weights = np.linalg.lstsq(given, x, rcond=None)[0]
        explained = 1 - float(((x - given @ weights) ** 2).sum() / ((x - x.mean()) ** 2).sum())
        rows.append(
            {
                "word": vectors.index_to_key[row],
                "places": int(n_places[row]),
                "of_share_with": round(float(weights[0]), 2),
                "of_share_everywhere": round(float(weights[1]), 2),
                "explained": round(explained, 3),
            }
        )
        print(json.dumps(rows[-1]), flush=True)
    return rows


if __name__ == "__main__":
    main()
