"""One number per development set and their mean: what read-outs, weights and settings may be chosen by.

    python benchmarks/development.py MODEL [NAME=MODEL ...] --data DIR [--metric cosine] [--report]

    from development import development_scores, report_scores
    development_scores(vectors, metric="similarity")          # WordVectors
    development_scores(rows_of, words=words)                  # any function: words -> rows of scores

Development: SimLex-999, the odd lines of MEN (Spearman), SEMCAT (same category among the ten nearest of all
words), Card-660 with unknown words counted (Spearman). `report_scores` are the figures of sets that nothing
may be chosen by: the paper's five sets with the even lines of MEN, AP, ESSLLI-2008.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.evaluation.categories import load_categories, neighbour_precision, score_rows
from omnitm.evaluation.correlation import correlations
from omnitm.evaluation.datasets import load_pairs, scores_of_all_pairs
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    RowsOf = Callable[[Sequence[str]], Iterable[NDArray[Any]]]

DEVELOPMENT_PAIRS = {"simlex": "SimLex-999", "men_odd": "MEN, odd lines", "card660": "Card-660"}
REPORT_PAIRS = {
    "ws353": "WS-353",
    "mturk287": "MTURK-287",
    "mturk771": "MTURK-771",
    "rg65": "RG-65",
    "men_even": "MEN, even lines",
    "men": "MEN",
}
PAPER_FIVE = ("ws353", "mturk287", "mturk771", "rg65", "men")
WITH_UNKNOWN = ("card660",)
FREQUENT_WORDS = 8_000
SEMCAT_WORDS = 1000  # drawn by the hash of the word, so that all models are asked for the same


def development_scores(
    model: WordVectors | RowsOf,
    metric: str | None = None,
    *,
    words: Sequence[str] | None = None,
    data: str | Path | None = None,
    semcat_words: int | None = SEMCAT_WORDS,
    semcat_candidates: int | None = None,
) -> dict[str, float]:
    """Score a model on the development data: simlex, men_odd, semcat_p10, card660 and their mean.

    Parameters
    ----------
    model, metric
        Word vectors and one of their metrics; or a function that gives, for a list of words, a row of scores
        each in the order of `words`.
    semcat_candidates
        Only the first so many words count as neighbours; None: all.
    """
    vocabulary, rows_of = _rows(model, metric, words)
    of_pairs = _rows_of_pairs(model, metric)
    scores = {
        key: pair_score(name, vocabulary, of_pairs, data, key) for key, name in DEVELOPMENT_PAIRS.items()
    }
    count = semcat_candidates or len(vocabulary)
    listed = lambda asked: (row[:count] for row in rows_of(asked))  # noqa: E731
    semcat = load_categories("SEMCAT", data)
    scores["semcat_p10"] = neighbour_precision(semcat, vocabulary[:count], listed, semcat_words)
    return {**scores, "mean": float(np.mean(list(scores.values())))}


def semcat_of_frequent_words(
    model: WordVectors | RowsOf,
    metric: str | None = None,
    *,
    words: Sequence[str] | None = None,
    data: str | Path | None = None,
) -> tuple[float, int]:
    """Measure SEMCAT among the 8,000 most frequent words and those of the set, and count these."""
    vocabulary, rows_of = _rows(model, metric, words)
    semcat = load_categories("SEMCAT", data)
    listed = semcat.of_word
    kept = [place for place, word in enumerate(vocabulary) if place < FREQUENT_WORDS or word in listed]
    chosen = lambda asked: (row[kept] for row in rows_of(asked))  # noqa: E731
    names = [vocabulary[place] for place in kept]
    return neighbour_precision(semcat, names, chosen, SEMCAT_WORDS), len(kept)


def report_scores(
    model: WordVectors | RowsOf,
    metric: str | None = None,
    *,
    words: Sequence[str] | None = None,
    data: str | Path | None = None,
) -> dict[str, float]:
    """Score a model on the data that nothing is chosen by; `five` is the paper's average, with all of MEN."""
    vocabulary, rows_of = _rows(model, metric, words)
    of_pairs = _rows_of_pairs(model, metric)
    scores = {key: pair_score(name, vocabulary, of_pairs, data, key) for key, name in REPORT_PAIRS.items()}
    scores["five"] = float(np.mean([scores[key] for key in PAPER_FIVE]))
    for key, name in (("ap_p10", "AP"), ("esslli_p10", "ESSLLI-2008")):
        scores[key] = neighbour_precision(load_categories(name, data), vocabulary, rows_of, None)
    return scores


def pair_score(
    name: str, vocabulary: Sequence[str], rows_of: RowsOf, data: str | Path | None, key: str
) -> float:
    """Spearman on the known pairs; on all pairs where unknown words count."""
    pairs = load_pairs(name, data)
    scores, known = scores_of_all_pairs(pairs, vocabulary, rows_of)
    kept = np.ones(len(pairs), dtype=bool) if key in WITH_UNKNOWN else known
    return float(correlations(scores[kept], pairs.scores[kept]).spearman[0])


def _rows(
    model: WordVectors | RowsOf, metric: str | None, words: Sequence[str] | None
) -> tuple[Sequence[str], RowsOf]:
    if isinstance(model, WordVectors):
        return model.index_to_key, partial(score_rows, model, metric)
    if words is None:
        raise SystemExit("a function needs words=: what its rows are scores of")
    return words, model


def _rows_of_pairs(model: WordVectors | RowsOf, metric: str | None) -> RowsOf:
    """Score pairs, for which rare words count as any others; in lists they count less."""
    if not isinstance(model, WordVectors):
        return model
    return lambda words: (-model.distances(word, metric=metric) for word in words)  # type: ignore[arg-type]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--metric")
    parser.add_argument("--report", action="store_true", help="the report's figures as well")
    arguments = parser.parse_args()
    for source in arguments.models:
        vectors = WordVectors.load(source)
        scores: dict[str, Any] = development_scores(vectors, arguments.metric, data=arguments.data)
        if arguments.report:
            scores["report"] = report_scores(vectors, arguments.metric, data=arguments.data)
        print(json.dumps({"model": source, "metric": arguments.metric or vectors.default_metric, **scores}))


if __name__ == "__main__":
    main()
