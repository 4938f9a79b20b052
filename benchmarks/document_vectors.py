"""Document vectors and scikit-learn's defaults: classify IMDb reviews with `OmniVectorizer` and with tf-idf.

omnitm index reviews.txt -o reviews.index --max-words 3500   (a training review per line: --write-reviews)
omnitm train reviews.index -o passages
omnitm train reviews.index -o whole --passage-reach 0
python benchmarks/document_vectors.py passages whole         (writes results/document-vectors.json)

How vectors are scaled and weighted is chosen on the training reviews alone, by cross-validation; the test
reviews are for the table. Models are called by the names of their folders.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import random
from pathlib import Path
from typing import Any

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from omnitm import OmniVectorizer

RESULTS = Path(__file__).parent / "results" / "document-vectors.json"
CLASSIFIERS = (LogisticRegression, LinearSVC, SVC, RidgeClassifier, SGDClassifier, KNeighborsClassifier)
OPTIONS: dict[str, dict[str, Any]] = {
    "OmniVectorizer(model)": {},
    'weighting="idf"': {"weighting": "idf"},
    "unit_length=False": {"unit_length": False},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("models", metavar="MODEL", nargs="*", help="folders of trained models")
    parser.add_argument("--data", type=Path, default=os.environ.get("OMNITM_DATA", "data"))
    parser.add_argument("--size", type=int, default=2000, help="reviews to train and to test (default: 2000)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw of reviews")
    parser.add_argument("--write-reviews", metavar="FILE", type=Path, help="write the training reviews")
    arguments = parser.parse_args()
    with lzma.open(Path(arguments.data) / "documents" / "imdb.jsonl.xz", "rt", encoding="utf-8") as file:
        reviews = [json.loads(line) for line in file]
    if arguments.write_reviews:
        lines = [" ".join(review["text"].split()) for review in reviews if review["split"] == "train"]
        arguments.write_reviews.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return
    parts = {split: draw(reviews, split, arguments.size, arguments.seed) for split in ("train", "test")}
    rows = [measured("tf-idf", TfidfVectorizer(), parts)]
    rows += [
        measured(f"{Path(model).name}: {name}", OmniVectorizer(model, **options), parts)
        for model in arguments.models
        for name, options in OPTIONS.items()
    ]
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def draw(reviews: list[dict[str, str]], split: str, size: int, seed: int) -> tuple[list[str], list[str]]:
    """Draw reviews of a split: texts and labels."""
    part = [review for review in reviews if review["split"] == split]
    random.Random(seed).shuffle(part)  # noqa: S311 - a draw of reviews, not a secret
    return [review["text"] for review in part[:size]], [review["label"] for review in part[:size]]


def measured(name: str, vectorizer: Any, parts: dict[str, tuple[list[str], list[str]]]) -> dict[str, Any]:
    """Measure the accuracy of all classifiers, and one of them on the training reviews, in five folds."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    found = cross_val_score(make_pipeline(vectorizer, LogisticRegression()), *parts["train"], cv=folds)
    row = {"vectors": name, "LogisticRegression, five folds": round(float(found.mean()), 4)}
    for classifier in CLASSIFIERS:
        seeded = {"random_state": 0} if classifier is SGDClassifier else {}
        pipeline = make_pipeline(vectorizer, classifier(**seeded)).fit(*parts["train"])
        row[classifier.__name__] = round(pipeline.score(*parts["test"]), 4)
    print(json.dumps(row), flush=True)
    return row


if __name__ == "__main__":
    main()
