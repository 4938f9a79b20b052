"""Run mteb's classification on the AG News of the local data: no network.

    python benchmarks/mteb_local.py MODEL [--data DIR] [--output FILE]

Needs `omnitm[mteb]`. The training part of mteb's procedure draws 8 texts per class ten times; the test is a
logistic regression on those.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import time
from pathlib import Path
from typing import Any

import mteb
from datasets import Dataset, DatasetDict
from mteb.abstasks.classification import AbsTaskClassification
from mteb.abstasks.task_metadata import TaskMetadata

from omnitm import WordVectors


class LocalNews(AbsTaskClassification):  # type: ignore[misc]
    """AG News, four classes, read from a local file."""

    metadata = TaskMetadata(
        name="LocalNews",
        description="AG News: the official test set and a sample of the training set",
        dataset={"path": "local", "revision": "1"},
        type="Classification",
        eval_langs=["eng-Latn"],
        main_score="accuracy",
    )
    file: Path

    def load_data(self, **_: Any) -> None:
        """Read the texts."""
        parts: dict[str, dict[str, list[Any]]] = {}
        with lzma.open(self.file, "rt", encoding="utf-8") as lines:
            for document in map(json.loads, lines):
                part = parts.setdefault(document["split"], {"text": [], "label": []})
                part["text"].append(document["text"])
                part["label"].append(int(document["label"]))
        self.dataset = DatasetDict({name: Dataset.from_dict(part) for name, part in parts.items()})
        self.data_loaded = True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("model", type=Path, help="a model, packed or not")
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("OMNITM_DATA"), help="folder with the data"
    )
    parser.add_argument("--output", type=Path, help="JSON file for the result")
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("give --data or set OMNITM_DATA")
    task = LocalNews()
    task.file = Path(arguments.data) / "documents" / "agnews.jsonl.xz"
    vectors = WordVectors.load(arguments.model)
    started = time.process_time()
    found = mteb.evaluate(vectors.sentence_encoder, task, cache=None, show_progress_bar=False)
    (scores,) = found.task_results[0].scores["test"]
    result = {
        "task": "AG News, 8 texts per class, mean of 10 draws",
        "model": arguments.model.name,
        "mteb": mteb.__version__,
        "accuracy": round(scores["accuracy"], 4),
        "f1": round(scores["f1"], 4),
        "cpu_seconds": round(time.process_time() - started, 1),
    }
    text = json.dumps(result, indent=2)
    print(text)
    if arguments.output:
        arguments.output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
