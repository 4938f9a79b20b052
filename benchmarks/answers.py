"""CPU milliseconds of answers of an open model: neighbours of a word, of 64 at once, a word not trained.

    python benchmarks/answers.py wiki.model --index wiki.idx          results/answers.json

Medians over words drawn from the first 20,000; the first answer of each kind, which reads files, is apart.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from omnitm.corpus import DocumentIndex
from omnitm.explain.infer import infer_word
from omnitm.similarity.combined import Combined
from omnitm.vectors import WordVectors

RESULTS = Path(__file__).parent / "results"
AT_ONCE = 64
_FIRST_WORDS = 20_000
_FEWEST_OCCURRENCES = 10


def milliseconds(work: Callable[[], object]) -> float:
    before = time.process_time()
    work()
    return 1000 * (time.process_time() - before)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--index", type=Path)
    arguments = parser.parse_args()
    vectors, random = WordVectors.load(arguments.model), np.random.default_rng(0)
    rows = random.choice(min(_FIRST_WORDS, len(vectors)), AT_ONCE, replace=False)
    words, question = [vectors.index_to_key[row] for row in rows], Combined("similarity")
    first = milliseconds(lambda: vectors.most_similar(words[0]))
    for word in words:  # so that the rows of all of them were read once
        vectors.most_similar(word)
    one = [milliseconds(lambda word=word: vectors.most_similar(word)) for word in words]  # type: ignore[misc]
    many = [milliseconds(lambda: question.nearest_of_rows(vectors, rows, 10)) / AT_ONCE for _ in range(5)]
    found = {
        "kind": "omnitm answers",
        "n_words": len(vectors),
        "first_ms": round(first, 1),
        "one_word_ms": round(float(np.median(one)), 2),
        "each_of_64_ms": round(float(np.median(many)), 2),
    }
    if arguments.index is not None:
        running = DocumentIndex.open(arguments.index).running
        if running is None:
            raise SystemExit("the index has no running text: make it without --no-order")
        counts = running.counts[:-1]
        numbers = np.flatnonzero(counts >= _FEWEST_OCCURRENCES)
        numbers = random.permutation(numbers[numbers >= len(running.vocabulary)])
        # Function words have numbers, too, and cannot be asked for.
        new = [running.names[k] for k in numbers if vectors.preparation.words(running.names[k])][:AT_ONCE]
        infer = [
            milliseconds(lambda word=word: infer_word(vectors, word, arguments.index))  # type: ignore[misc]
            for word in new
        ]
        found["first_on_the_spot_ms"] = round(infer[0], 1)
        found["on_the_spot_ms"] = round(float(np.median(infer[1:])), 2)
    (RESULTS / "answers.json").write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
