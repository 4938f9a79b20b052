"""Find words whose use was changed on purpose, against aligned models and overlap of neighbours.

    python benchmarks/compare.py prepare enwiki.txt -o change --share 0.25      text, index and truth
    python benchmarks/compare.py score -o change [--rivals]                     results/compare-0.25.json
    python benchmarks/compare.py false-alarms -o change --words 400             p-values of shuffled groups

Every eighth sentence is drawn into one of two halves. In the second half a share of the occurrences of a
donor word is renamed to a target of about the same frequency; controls are words of that frequency that
nothing is done to.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from omnitm.comparison import Sides, compare_corpora
from omnitm.comparison.machines import draw_documents, train_sides
from omnitm.corpus import DocumentIndex, Preparation, Reading, VocabularyRules, build_index
from omnitm.corpus.groups import group_index, keep_grouping
from omnitm.machine import AutoencoderSettings
from omnitm.machine.settings import word_key

RESULTS = Path(__file__).parent / "results"
EVERY, N_PAIRS, N_WORDS = 8, 80, 15_000
FEWEST, MOST = 150, 2_500  # documents of a pair's words
_STANDS_OUT = 0.95  # a feature of the donor stands out when its coordinate is among the highest 5 %


def prepare(source: Path, output: Path, share: float) -> None:
    """Write both halves with renamed words, index them, and keep the truth."""
    chosen = random.Random(1)  # noqa: S311  # no secret
    tokens = Preparation().tokens
    with source.open(encoding="utf-8") as lines:
        texts = [tokens(line) for k, line in enumerate(lines) if k % EVERY == 3 and line.count(" ") > 5]
    frequency = Counter(word for text in texts for word in set(text))
    words = sorted((w for w, n in frequency.items() if FEWEST <= n <= MOST), key=lambda w: (-frequency[w], w))
    pairs, controls = [], []
    for place in chosen.sample(range(0, len(words) - 3, 3), N_PAIRS):
        donor, target, control = chosen.sample(words[place : place + 3], 3)
        pairs.append((donor, target))
        controls.append(control)
    renamed = dict(pairs)
    halves = np.random.default_rng(0).integers(0, 2, len(texts))
    output.mkdir(parents=True, exist_ok=True)
    with (output / "text.jsonl").open("w", encoding="utf-8") as file:
        for half, text in zip(halves.tolist(), texts, strict=True):
            if half:
                text = [renamed[w] if w in renamed and chosen.random() < share else w for w in text]  # noqa: PLW2901
            file.write(json.dumps({"text": " ".join(text), "half": "ab"[half]}) + "\n")
    rules = VocabularyRules(max_words=N_WORDS, keep=[*renamed, *renamed.values(), *controls])
    reading = Reading(column="text")
    index = build_index(
        output / "text.jsonl", output / "index", reading=reading, vocabulary=rules, overwrite=True
    )
    keep_grouping(index, group_index(index, "half"))
    truth = {"share": share, "pairs": pairs, "controls": controls}
    (output / "truth.json").write_text(json.dumps(truth))


def score(output: Path, *, rivals: bool) -> dict[str, Any]:
    """Rank targets and controls by how much they changed, and measure the average precision."""
    truth = json.loads((output / "truth.json").read_text())
    sides = Sides(DocumentIndex.open(output / "index"), "half")
    targets = [target for _, target in truth["pairs"]]
    words = [*targets, *truth["controls"]]
    started = time.process_time()
    strengths = []
    for seed in (0, 1):
        found = compare_corpora(sides.index, by=sides, words=words, seed=seed, n_threads=1)
        by_word = {word.comparison.word: word for word in found.words}
        strengths.append([by_word[word].comparison.strength for word in words])
        if seed == 0:
            first = by_word
    scores = {"omnitm": strengths[0]}
    seconds = time.process_time() - started
    if rivals:
        scores |= _rivals(output, words)
    labels = np.array([1] * len(targets) + [0] * len(truth["controls"]))
    result: dict[str, Any] = {
        "share": truth["share"],
        "words": len(words),
        "average_precision": {name: average_precision(labels, np.array(s)) for name, s in scores.items()},
        "difference": {
            name: _interval(labels, np.array(scores["omnitm"]), np.array(s))
            for name, s in scores.items()
            if name != "omnitm"
        },
        "found_at_p_0.05": float(np.mean([first[word].comparison.p < 0.05 for word in targets])),
        "found_at_q_0.05": float(np.mean([first[word].q <= 0.05 for word in targets])),
        "false_at_p_0.05": float(np.mean([first[word].comparison.p < 0.05 for word in truth["controls"]])),
        "false_at_q_0.05": float(np.mean([first[word].q <= 0.05 for word in truth["controls"]])),
        "kendall_of_two_seeds": _kendall(*strengths),
        "reasons_precision": _reasons(sides, truth["pairs"], first),
        "cpu_seconds_per_word": seconds / 2 / len(words),
    }
    (RESULTS / f"compare-{truth['share']}.json").write_text(json.dumps(result, indent=1) + "\n")
    return result


def average_precision(labels: np.ndarray[Any, Any], scores: np.ndarray[Any, Any]) -> float:
    """Mean of the precision at every word that did change, in the order of the scores."""
    ranked = labels[np.argsort(-scores, kind="stable")]
    precision = np.cumsum(ranked) / np.arange(1, len(ranked) + 1)
    return float(precision[ranked == 1].mean())


def _interval(labels: Any, ours: Any, theirs: Any) -> list[float]:
    """95 % interval of the difference in average precision, words drawn again 2,000 times."""
    generator = np.random.default_rng(0)
    differences = []
    for _ in range(2_000):
        drawn = generator.integers(0, len(labels), len(labels))
        pair = [average_precision(labels[drawn], scores[drawn]) for scores in (ours, theirs)]
        differences.append(pair[0] - pair[1])
    return [float(value) for value in np.quantile(differences, [0.025, 0.975])]


def _kendall(first: list[float], second: list[float]) -> float:
    from scipy.stats import kendalltau

    return float(kendalltau(first, second).statistic)


def _reasons(sides: Sides, pairs: list[tuple[str, str]], found: dict[str, Any]) -> dict[str, float]:
    """Of ten gained words, how many stand out in the donor's own vector in the half that was not changed."""
    index, settings = sides.index, AutoencoderSettings()
    only_first = np.where(sides.of_documents == 0, 0, -1).astype(np.int8)
    precisions, by_chance = [], []
    for donor, target in pairs:
        drawn = draw_documents(index, only_first, donor, seed=0)
        profile = train_sides(drawn, settings, word_key(0, donor))[0]
        high = drawn.features[profile > np.quantile(profile, _STANDS_OUT)]
        known = {index.vocabulary[k] for k in high.tolist()}
        gained, lost = (
            [c.name for c in changes]
            for changes in (found[target].comparison.gained, found[target].comparison.lost)
        )
        precisions.append(np.mean([name in known for name in gained]))
        by_chance.append(np.mean([name in known for name in lost]))
    return {"gained": float(np.mean(precisions)), "lost": float(np.mean(by_chance))}


def _rivals(output: Path, words: list[str]) -> dict[str, list[float]]:
    """Score words by Word2Vec with Procrustes, by Word2Vec's neighbours, and by PPMI."""
    from gensim.models import Word2Vec

    halves: dict[str, list[list[str]]] = {"a": [], "b": []}
    with (output / "text.jsonl").open(encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            halves[record["half"]].append(record["text"].split())
    options = {
        "sg": 1,
        "vector_size": 100,
        "window": 10,
        "min_count": 20,
        "epochs": 5,
        "workers": 1,
        "seed": 1,
    }
    models = [Word2Vec(halves[half], **options).wv for half in "ab"]
    shared = [word for word in models[0].index_to_key if word in models[1].key_to_index]
    one, two = (model[shared] / np.linalg.norm(model[shared], axis=1, keepdims=True) for model in models)
    left, _, right = np.linalg.svd(two.T @ one)
    turned = two @ (left @ right)
    place = {word: k for k, word in enumerate(shared)}
    aligned = [1 - float(one[place[w]] @ turned[place[w]]) if w in place else 0.0 for w in words]
    overlap = []
    for word in words:
        near = [_nearest(vectors, place[word], 1_000) if word in place else set() for vectors in (one, two)]
        overlap.append(-float(len(near[0] & near[1])))
    return {
        "Word2Vec, Procrustes": aligned,
        "Word2Vec, neighbours": overlap,
        "PPMI": _ppmi(output, words),
    }


def _nearest(vectors: Any, row: int, count: int) -> set[int]:
    return set(np.argpartition(-(vectors @ vectors[row]), count)[:count].tolist())


def _ppmi(output: Path, words: list[str]) -> list[float]:
    """Cosine distance of a word's rows of smoothed PPMI by documents in the two halves."""
    from scipy.sparse import csr_matrix

    sides = Sides(DocumentIndex.open(output / "index"), "half")
    index = sides.index
    ones = np.ones(len(index.document_words), dtype=np.float32)
    parts = ones, index.document_words.astype(np.int32), index.document_offsets.astype(np.int64)
    matrix = csr_matrix(parts, shape=(index.n_documents, index.n_words))
    halves = [matrix[sides.of_documents == side] for side in (0, 1)]
    frequencies = [np.asarray(half.sum(axis=0)).reshape(-1) for half in halves]
    distances = []
    for word in words:
        k, rows = index.word_id(word), []
        for half, frequency in zip(halves, frequencies, strict=True):
            counts = np.asarray((half[:, k].T @ half).todense()).reshape(-1)
            smoothed = frequency**0.75
            expected = frequency[k] * smoothed / smoothed.sum() * counts.sum() / max(frequency[k], 1)
            row = np.log(np.maximum(counts, 1e-9) / np.maximum(expected, 1e-9)).clip(min=0)
            row[k] = 0
            rows.append(row)
        norms = np.linalg.norm(rows[0]) * np.linalg.norm(rows[1])
        distances.append(1 - float(rows[0] @ rows[1]) / max(float(norms), 1e-9))
    return distances


def false_alarms(output: Path, n_words: int) -> dict[str, float]:
    """Shuffle the halves, and count the words that seem to have changed."""
    index = DocumentIndex.open(output / "index")
    generator = np.random.default_rng(7)
    labels = np.where(generator.permutation(index.n_documents) % 2, "a", "b").tolist()
    frequencies = index.document_frequencies
    usual = np.flatnonzero((frequencies >= FEWEST) & (frequencies <= MOST))
    words = [index.vocabulary[k] for k in generator.choice(usual, n_words, replace=False).tolist()]
    found = compare_corpora(index, by=labels, words=words, n_permutations=500, n_threads=1).words
    result = {
        "words": len(found),
        "p below 0.05": float(np.mean([word.comparison.p < 0.05 for word in found])),
        "q up to 0.05": float(np.mean([word.q <= 0.05 for word in found])),
    }
    (RESULTS / "compare-false-alarms.json").write_text(json.dumps(result, indent=1) + "\n")
    return result


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=("prepare", "score", "false-alarms"))
    parser.add_argument("source", nargs="?", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--share", type=float, default=0.25)
    parser.add_argument("--words", type=int, default=400)
    parser.add_argument("--rivals", action="store_true")
    arguments = parser.parse_args()
    if arguments.step == "prepare":
        prepare(arguments.source, arguments.output, arguments.share)
    elif arguments.step == "score":
        print(json.dumps(score(arguments.output, rivals=arguments.rivals), indent=1))
    else:
        print(json.dumps(false_alarms(arguments.output, arguments.words), indent=1))


if __name__ == "__main__":
    main()
