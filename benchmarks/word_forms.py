"""How often pairs of words that are called forms are forms, by judged pairs, and how many are found.

    python benchmarks/word_forms.py MODEL --data DIR        # writes results/word-forms.json

`results/word-forms-judged.tsv` has random pairs of forms among 40,000 words of Wikipedia: 300 of the present
rule (`--draw 20261117`), and older ones, 300 of a wider rule and 109 of a narrower one. "yes": the same word,
or one derived from it that keeps its meaning; a negation (`unequal`) is not. Each sample was judged by one
reader; towns and township, bats and batsmen are in doubt, and count as wrong. Those pairs count that are
forms by the model at hand; the precision is that of the sample of the present rule.
`results/word-forms-judged-imdb.tsv` has 150 random pairs among 20,000 words of the IMDb's 50,000 reviews,
judged by one reader: a text without clear subjects.

Coverage is compared with the first rule: words with a common beginning of four letters or more and at most
four more after it, or three letters and at most one more, of which one has at most one letter after the
beginning, with a cosine above 0.2.

Of the ten neighbours of words of SEMCAT it is counted how many look like forms of the word, by the rule of
spelling that `omnitm evaluate categories` has: as lists show them, and with all forms listed.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from omnitm.evaluation.categories import is_word_form, load_categories
from omnitm.similarity.row_profile import unit_rows
from omnitm.similarity.word_forms import PATTERNS_FOR_FORMS, form_pairs, pairs_by_rule
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

RESULTS = Path(__file__).parent / "results"
JUDGED = RESULTS / "word-forms-judged.tsv"
WORDS = 500  # of SEMCAT, drawn by the hash of the word
SAMPLE, PRESENT = 300, "present rule"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("--data", type=Path, default=os.environ.get("OMNITM_DATA"))
    parser.add_argument("--draw", type=int, metavar="SEED", help="print a random sample of pairs instead")
    arguments = parser.parse_args()
    vectors = WordVectors.load(arguments.model)
    words, smooth = vectors.index_to_key, vectors.profiles.topic.smooth
    smooth = unit_rows(smooth[:, :PATTERNS_FOR_FORMS])
    pairs = [(words[a], words[b]) for a, b in form_pairs(words, smooth)[0].tolist()]
    if arguments.draw is not None:
        for k in sorted(np.random.default_rng(arguments.draw).choice(len(pairs), SAMPLE, replace=False)):
            print(*pairs[k], sep="\t")
        return
    forms = {frozenset(pair) for pair in pairs}
    with JUDGED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t"))[1:]
    judged = [(verdict == "yes", sample) for a, b, verdict, sample in rows if {a, b} in forms]
    present = [right for right, sample in judged if sample == PRESENT]
    facts = {
        "judged pairs of the present rule": len(present),
        "of which right": sum(present),
        "precision": round(float(np.mean(present)), 4),
        "judged pairs of all samples": len(judged),
        "of which right, all samples": sum(right for right, _ in judged),
        "pairs of forms": len(pairs),
        "pairs by the first rule": count_by_first_rule(words, smooth),
    }
    of_word = load_categories("SEMCAT", arguments.data).of_word
    asked = [word for word in sorted(of_word, key=_hash) if word in vectors][:WORDS]
    facts |= {
        "words asked for lists": len(asked),
        "shown": share_of_forms(vectors, asked, forms=False),
        "shown unfolded": share_of_forms(vectors, asked, forms=True),
    }
    text = json.dumps(facts, indent=2) + "\n"
    (RESULTS / "word-forms.json").write_text(text, encoding="utf-8")
    print(text, end="")


def _hash(word: str) -> str:
    return hashlib.sha256(word.encode()).hexdigest()


def share_of_forms(vectors: WordVectors, asked: Sequence[str], *, forms: bool) -> float:
    """Share of ten neighbours that look like forms of the word."""
    looks = [
        is_word_form(word, other)
        for word in asked
        for other, _ in vectors.most_similar(word, topn=10, forms=forms)
    ]
    return round(float(np.mean(looks)), 4)


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
