"""How often pairs of words that are called forms are forms, by judged pairs, and how many are found.

    python benchmarks/word_forms.py MODEL

`results/word-forms-judged.tsv` has random pairs of forms among 40,000 words of Wikipedia: 300 of a wider
rule, then 109 of a narrower one. "yes": the same word, or one derived from it that keeps its meaning; a
negation (`unequal`) is not. Judged by one reader. Those pairs count that are forms by the model at hand.

Coverage is compared with the first rule: words with a common beginning of four letters or more and at most
four more after it, or three letters and at most one more, of which one has at most one letter after the
beginning, with a cosine above 0.2.
"""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from omnitm.similarity.word_forms import form_pairs, pairs_by_rule
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

JUDGED = Path(__file__).parent / "results" / "word-forms-judged.tsv"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model", metavar="MODEL")
    vectors = WordVectors.load(parser.parse_args().model)
    words, smooth = vectors.index_to_key, vectors.profiles.topic.smooth
    forms = {(words[a], words[b]) for a, b in form_pairs(words, smooth)[0].tolist()}
    with JUDGED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t"))[1:]
    judged = [verdict == "yes" for a, b, verdict in rows if (a, b) in forms or (b, a) in forms]
    facts = {
        "judged pairs that are forms": len(judged),
        "of which right": sum(judged),
        "precision": round(float(np.mean(judged)), 4),
        "pairs of forms": len(forms),
        "pairs by the first rule": count_by_first_rule(words, smooth),
    }
    print(json.dumps(facts, indent=2))


def count_by_first_rule(words: Sequence[str], smooth: NDArray[np.float32]) -> int:
    found = set()
    for (short, long), pairs in pairs_by_rule(words).items():
        if len(short) <= 1:
            most = {(a, b) for a, b in pairs if len(words[a]) - len(short) >= 4 or len(long) <= 1}
            found |= most
    places = np.array(sorted(found))
    return int((np.einsum("ij,ij->i", smooth[places[:, 0]], smooth[places[:, 1]]) > 0.2).sum())


if __name__ == "__main__":
    main()
