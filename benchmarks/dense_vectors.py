"""Omni's vectors of few dimensions, which other tools compare by cosine: how to make them, how good they are.

    python benchmarks/dense_vectors.py search MODEL --data DIR                      dense-vectors-search.json
    python benchmarks/dense_vectors.py report MODEL --data DIR --rivals rivals      dense-vectors.json, .md

`search` asks the development data alone how topics and places should be put together (`DenseRecipe`): the
share of places, and how many patterns of both go into one dimension. `report` compares what was chosen with
topics alone, and with the tuned rivals that `rivals.py train` made in 300 dimensions.
"""

from __future__ import annotations

import argparse
import json
from itertools import product
from pathlib import Path

from development import development_scores, semcat_of_frequent_words
from rivals import SETS, trained_rivals

from omnitm.evaluation.categories import evaluate_categories
from omnitm.evaluation.datasets import CATEGORY_SETS
from omnitm.evaluation.similarity import evaluate_similarity
from omnitm.similarity.row_profile import unit_rows
from omnitm.vectors import WordVectors
from omnitm.vectors.compact import DENSE, DenseRecipe, dense_rows_of_profiles

RESULTS = Path(__file__).parent / "results"
SIZE = 300
RECIPES = [DENSE] + [DenseRecipe(*parts) for parts in product((0.3, 0.4, 0.5), (1, 2, 3), (1, 2, 4))]
CHOSEN_BY = ("simlex", "men_odd", "semcat_p10")  # words outside the vocabulary have no vectors here


def search(vectors: WordVectors, data: Path | None) -> None:
    """Score every recipe by the development data."""
    rows = []
    for recipe in dict.fromkeys(RECIPES):
        matrix = dense_rows_of_profiles(vectors, SIZE, recipe)
        scores = development_scores(WordVectors(matrix, vectors.index_to_key, None), "cosine", data=data)
        found = {key: round(scores[key], 4) for key in CHOSEN_BY}
        found["mean"] = round(sum(found.values()) / len(found), 4)
        rows.append({**recipe._asdict(), **found, "is_chosen": recipe == DENSE})
        print(rows[-1], flush=True)
    content = {"kind": "omnitm dense vectors", "use": "tuned on", "dimensions": SIZE, "rows": rows}
    (RESULTS / "dense-vectors-search.json").write_text(json.dumps(content, indent=1) + "\n")


def report(vectors: WordVectors, data: Path | None, rivals: Path) -> None:
    """Compare with rivals of as many dimensions, by cosine."""
    topics = unit_rows(vectors.profiles.topic.smooth[:, :SIZE])
    models = {
        f"omni, {SIZE} dimensions": vectors.reduce(SIZE),
        "omni, topics alone": WordVectors(topics, vectors.index_to_key, None),
        "omni, 100 dimensions": vectors.reduce(100),
        **trained_rivals(rivals),
    }
    pairs = evaluate_similarity(models, SETS, data=data)
    lists = evaluate_categories(models, CATEGORY_SETS, data=data)
    few = {name: semcat_of_frequent_words(model, "cosine", data=data)[0] for name, model in models.items()}
    facts = {"pairs": json.loads(pairs.to_json()), "categories": json.loads(lists.to_json())}
    facts["semcat_of_frequent_words"] = {name: round(precision, 4) for name, precision in few.items()}
    (RESULTS / "dense-vectors.json").write_text(json.dumps(facts, indent=1) + "\n")
    lines = ["# Vectors of few dimensions, compared by cosine", ""]
    lines += [table.to_markdown() for table in (pairs.tables()[0], *lists.tables())]
    lines += ["", "SEMCAT among the 8,000 most frequent words and its own:", ""]
    lines += [f"- {name}: {precision:.3f}" for name, precision in few.items()]
    (RESULTS / "dense-vectors.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("step", choices=("search", "report"))
    parser.add_argument("model", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--rivals", type=Path, help="folder of rivals.py, for a report")
    arguments = parser.parse_args()
    vectors = WordVectors.load(arguments.model)
    if arguments.step == "search":
        search(vectors, arguments.data)
        return
    if arguments.rivals is None:
        parser.error("a report needs --rivals, the folder that rivals.py trained in")
    report(vectors, arguments.data, arguments.rivals)


if __name__ == "__main__":
    main()
