"""Which weights should parts have in products, which answer analogies? Asked of every second question.

    python benchmarks/analogies.py MODEL --data DIR

MODEL is trained on both kinds of contexts. Google's questions whose words are known are counted: the odd ones
are for choosing, the even ones for the report. A row of `results/analogies-weights.json` has the factors of
association, topic profile, smoothed topic profile, place profile and smoothed place profile, beside their
weights in sums, and the share of questions that is answered rightly among all words. Factors are raised and
lowered one by one; whatever answers more of the odd questions is kept. The present factors (`chosen`) were
found from another start, with a script that is not kept and a model without marks; the search goes on from
them.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.evaluation.analogies import load_questions
from omnitm.similarity.combined import Combined
from omnitm.similarity.question import _FLOOR_OF_SHARES, _WEIGHTS_IN_PRODUCTS, PARTS
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESULTS = Path(__file__).parent / "results" / "analogies-weights.json"
FIRST = (2.0, 1.0, 1.0, 1.6, 0.35)  # what was chosen with every 80th question
STEPS = (0.6, 0.85, 1.2, 1.6)
LEAST_GAIN = 0.0005  # four questions


class Analogies:
    """The questions about known words, and every part of the score of their words with all words."""

    def __init__(self, vectors: WordVectors, data: Path | None) -> None:
        asked = [question for section in load_questions(data=data).values() for question in section]
        known = [[word.lower() for word in question] for question in asked]
        is_known = vectors.__contains__
        rows = [[vectors.get_index(word) for word in words] for words in known if all(map(is_known, words))]
        self.words, places = np.unique(np.array(rows), return_inverse=True)
        self.questions = places.reshape(-1, 4)
        self.is_odd = np.arange(len(rows)) % 2 == 1
        names = [vectors.index_to_key[word] for word in self.words.tolist()]
        self.parts = np.empty((len(FIRST), len(names), len(vectors)), dtype=np.float32)
        self.most = np.empty(len(FIRST))
        for part in range(len(FIRST)):
            question = _of_one_part(part)
            self.most[part] = question.most(vectors)
            for number, name in enumerate(names):
                self.parts[part, number] = question.scores(vectors, [(name, 1.0)])

    def is_answered(self, factors: NDArray[Any], asked: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Tell which of the questions that are asked are answered rightly."""
        scores = np.einsum("pwv,p->wv", self.parts, factors.astype(np.float32), optimize=True)
        scores /= np.float32(self.most @ factors)
        logarithms = np.log(np.maximum(scores, 0) + np.float32(_FLOOR_OF_SHARES))
        right = np.zeros(int(asked.sum()), dtype=bool)
        for number, (a, b, c, answer) in enumerate(self.questions[asked].tolist()):
            found = logarithms[b] - logarithms[a] + logarithms[c]
            found[self.words[[a, b, c]]] = -np.inf
            right[number] = found.argmax() == self.words[answer]
        return right


def _of_one_part(part: int) -> Combined:
    """Ask for one part alone, as a factor."""
    question = Combined("similarity").of_factors
    question._asked = np.arange(len(PARTS)) == part  # noqa: SLF001 - every part by itself
    return question


def search(analogies: Analogies, first: tuple[float, ...]) -> list[dict[str, Any]]:
    """Raise and lower one factor after the other, and keep what answers more of the odd questions."""
    best, log = np.array(first), []

    def share(factors: NDArray[Any]) -> float:
        found = float(analogies.is_answered(factors, analogies.is_odd).mean())
        log.append({"factors": factors.round(3).tolist(), "odd": round(found, 4)})
        print(log[-1], flush=True)
        return found

    highest, before = share(best), -1.0
    while highest > before:
        before = highest
        for part in range(len(best)):
            for step in STEPS:
                factors = best.copy()
                factors[part] *= step
                if (found := share(factors)) > highest + LEAST_GAIN:
                    best, highest = factors, found
    return log


def main() -> None:
    """Search, and ask the present factors the even questions too."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--data", type=Path)
    arguments = parser.parse_args()
    analogies = Analogies(WordVectors.load(arguments.model), arguments.data)
    present = np.array(_WEIGHTS_IN_PRODUCTS[: len(FIRST)])
    log = [*search(analogies, FIRST), *search(analogies, tuple(present.tolist()))]
    right = {
        name: round(float(analogies.is_answered(present, asked).mean()), 4)
        for name, asked in (("odd", analogies.is_odd), ("even", ~analogies.is_odd))
    }
    chosen = {"factors": present.tolist(), **right}
    print("chosen:", chosen)
    found = {"model": str(arguments.model), "n_questions": len(analogies.questions), "chosen": chosen}
    RESULTS.write_text(json.dumps({**found, "tried": log}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
