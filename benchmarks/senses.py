"""Senses of pseudowords: two words under one name, and how well their occurrences are told apart.

```console
$ python benchmarks/senses.py merge INDEX -o FOLDER
$ omnitm index FOLDER/merged.txt -o FOLDER/merged.index
$ omnitm train FOLDER/merged.index -o FOLDER/merged.model --top 8000
$ omnitm train FOLDER/merged.index -o FOLDER/merged.model-seed1 --top 8000 --seed 1
$ export OMP_NUM_THREADS=1    # on a busy machine, threads of k-means wait for each other for minutes
$ python benchmarks/senses.py measure FOLDER INDEX -o benchmarks/results/senses.json
$ python benchmarks/senses.py seeds INDEX MODEL MODEL_OF_SEED_1 -o benchmarks/results/senses-seeds.json
```

Pairs of words of like frequency are merged in every third document of INDEX; all vectors are trained on the
merged text, those of Omni of the 8,000 most frequent words. Documents with a merged word are assigned to its
senses, whose number Omni finds by itself; also with two senses, given. Compared with one sense for all
(majority) and with Word2Vec (CBOW, trained here on the merged text without stop words): means of the vectors
of a document's words, in two clusters, also weighted by the rarity of the words; in as many clusters
as have the highest silhouette, of two to five; and as Omni does it, number of senses and all (`like omni`).
V-measure and B-cubed F1, means over pairs with 95 % intervals (bootstrap), and of differences. 60 pairs were
used to choose the method (`--development`), 200 others are reported. Single words of the pairs are the
control: how many of them are split. With a second seed: how alike the two partitions are (adjusted Rand
index). `seeds` says that of the unmerged words of two models with different seeds.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score, v_measure_score

from omnitm.baselines.texts import tokens_of
from omnitm.corpus import DocumentIndex
from omnitm.explain.contexts import Contexts, bags_of
from omnitm.explain.senses import assigned_to, centres_of, two_groups, word_senses
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEWEST, MOST = 300, 3_000  # documents of a word, in the whole text
STEP = 3
N_PAIRS, N_DEVELOPMENT = 260, 60
DOCUMENTS_OF_A_WORD = 300
NAMES = (
    *("omni", "omni, two", "word2vec", "word2vec, rarity"),
    *("word2vec, silhouette", "word2vec, like omni", "majority"),
)
MOST_CLUSTERS = 5  # tried for the silhouette
N_WORDS = 100  # whose senses two seeds are compared in


def main() -> None:
    """Merge the text, or measure what was trained on it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    steps = parser.add_subparsers(dest="step", required=True)
    merging = steps.add_parser("merge")
    merging.add_argument("index", type=Path)
    merging.add_argument("-o", "--output", type=Path, required=True)
    measuring = steps.add_parser("measure")
    measuring.add_argument("folder", type=Path)
    measuring.add_argument("index", type=Path)
    measuring.add_argument("-o", "--output", type=Path, required=True)
    measuring.add_argument("--development", action="store_true", help="the pairs for choosing a method")
    comparing = steps.add_parser("seeds")
    comparing.add_argument("index", type=Path)
    comparing.add_argument("models", type=Path, nargs=2)
    comparing.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    if arguments.step == "merge":
        merge(DocumentIndex.open(arguments.index), arguments.output)
    elif arguments.step == "seeds":
        compared = compare_seeds(DocumentIndex.open(arguments.index), arguments.models)
        arguments.output.write_text(json.dumps(compared, indent=1) + "\n", encoding="utf-8")
        print(json.dumps({name: value for name, value in compared.items() if name != "rows"}, indent=1))
    else:
        found = measure(arguments.folder, DocumentIndex.open(arguments.index), arguments.development)
        rows = found.pop("rows")
        lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in rows)
        summary = json.dumps(found, indent=1)
        arguments.output.write_text(f'{summary[:-2]},\n "rows": [\n{lines}\n ]\n}}\n', encoding="utf-8")
        print(summary)


def merge(index: DocumentIndex, folder: Path) -> None:
    """Draw pairs of words of like frequency and write every third document with both under one name."""
    frequencies = index.document_frequencies
    usable = np.flatnonzero((frequencies >= FEWEST) & (frequencies <= MOST))
    drawn = np.random.default_rng(0).choice(usable, size=2 * N_PAIRS, replace=False)
    pairs = drawn[np.argsort(frequencies[drawn], kind="stable")].reshape(-1, 2)
    pairs = pairs[np.random.default_rng(5).permutation(N_PAIRS)]
    folder.mkdir(parents=True, exist_ok=True)
    with tokens_of(index, function_words=True) as tokens, (folder / "merged.txt").open("w") as text:
        names, ids = np.array(tokens.names, dtype=object), np.asarray(tokens.ids)
        offsets = tokens.offsets.astype(np.int64)
        merged = np.arange(len(names))
        merged[pairs[:, 1]] = pairs[:, 0]
        names = names[merged]
        for start, end in zip(offsets[:-1][::STEP].tolist(), offsets[1:][::STEP].tolist(), strict=True):
            text.write(" ".join(names[ids[start:end]].tolist()) + "\n")
    named = [[index.vocabulary[word] for word in pair] for pair in pairs.tolist()]
    (folder / "pairs.json").write_text(json.dumps(named))


def measure(folder: Path, whole: DocumentIndex, development: bool) -> dict[str, Any]:
    """Assign the documents of all pairs, and summarise."""
    index = DocumentIndex.open(folder / "merged.index")
    pairs = json.loads((folder / "pairs.json").read_text())
    pairs = pairs[:N_DEVELOPMENT] if development else pairs[N_DEVELOPMENT:]
    models = [folder / name for name in ("merged.model", "merged.model-seed1")]
    contexts = [Contexts.of(WordVectors.load(path), index) for path in models if path.exists()]
    trained = _word2vec(folder, index)
    start = time.process_time()
    rows = [_measured(whole, index, contexts, trained, pair) for pair in pairs]
    cpu = (time.process_time() - start) / len(pairs)
    return {"development": development, **_summary(rows), "cpu_seconds_per_pair": cpu, "rows": rows}


def _word2vec(folder: Path, index: DocumentIndex) -> NDArray[np.float32]:
    """Train CBOW once; a row per word of the index, zeros for words that it does not have."""
    from gensim.models import KeyedVectors, Word2Vec

    path, text = folder / "word2vec.kv", folder / "content.txt"
    if not path.exists():
        with text.open("w") as lines:
            lines.writelines(" ".join(words) + "\n" for words in index.token_stream())
        options = {"vector_size": 100, "window": 5, "min_count": 5, "epochs": 5, "workers": 1, "seed": 1}
        Word2Vec(corpus_file=str(text), **options).wv.save(str(path))
    vectors = KeyedVectors.load(str(path))
    found = np.zeros((index.n_words, vectors.vector_size), dtype=np.float32)
    for number, word in enumerate(index.vocabulary):
        if word in vectors:
            found[number] = vectors[word]
    return found


def _measured(
    whole: DocumentIndex, index: DocumentIndex, contexts: list[Contexts], trained: Any, pair: list[str]
) -> dict[str, Any]:
    first, second = (whole.documents_with(whole.word_id(word)) for word in pair)
    both = np.intersect1d(first, second)
    own = np.array([index.word_id(pair[0])], dtype=np.intp)
    parts = []
    for found in (first, second):
        alone = np.setdiff1d(found, both)
        parts.append((alone[alone % STEP == 0] // STEP).astype(np.uint32))
    kept = [part[:DOCUMENTS_OF_A_WORD] for part in parts]
    documents = np.concatenate(kept)
    truth = np.repeat([0, 1], [len(part) for part in kept])
    bags = bags_of(index, documents, own)
    order = np.argsort(documents)  # contexts ask for documents in their order
    back = np.argsort(order)
    said = [model.of_documents(index, documents[order], pair[0], bags[order])[back] for model in contexts]
    others = [model.substitutes and model.substitutes.without({pair[0]}) for model in contexts]
    senses = [centres_of(*found) for found in zip(said, others, strict=True)]
    assigned = [assigned_to(*found) for found in zip(said, senses, strict=True)]
    rarity = contexts[0].topic.weights
    rare = bags.multiply(rarity).tocsr()
    means = [
        (matrix @ trained) / np.maximum(np.asarray(matrix.sum(axis=1)).reshape(-1, 1), 1e-9)
        for matrix in (bags, rare)
    ]
    clusters = [KMeans(2, n_init=2, random_state=0).fit_predict(rows) for rows in means]
    share = rarity * index.document_frequencies
    from_usual = rare @ (trained - (share @ trained) / share.sum())
    clusters += [_best_silhouette(means[0]), assigned_to(from_usual, centres_of(from_usual))]
    two = two_groups(said[0])
    labels = (assigned[0], two, *clusters, np.zeros(len(documents), dtype=int))
    single = [contexts[0].of_documents(index, part, pair[0], bags_of(index, part, own)) for part in parts]
    row: dict[str, Any] = {
        "pair": pair,
        "senses": len(senses[0]),
        "senses_of_single_words": [len(centres_of(rows, others[0])) for rows in single],
    }
    for name, found in zip(NAMES, labels, strict=True):
        row[name] = {"v": round(float(v_measure_score(truth, found)), 4), "b_cubed": _b_cubed(truth, found)}
    if len(assigned) > 1:
        row["seeds"] = round(float(adjusted_rand_score(*assigned)), 4)
    return row


def _best_silhouette(rows: Any) -> Any:
    tried = [KMeans(k, n_init=2, random_state=0).fit_predict(rows) for k in range(2, MOST_CLUSTERS + 1)]
    return max(tried, key=lambda labels: float(silhouette_score(rows, labels)))


def compare_seeds(index: DocumentIndex, paths: list[Path]) -> dict[str, Any]:
    """Compare the senses that two models find for words of middling frequency."""
    models = [WordVectors.load(path) for path in paths]
    contexts = [Contexts.of(vectors, index) for vectors in models]
    counts = index.document_frequencies
    known = [word for word in models[0].index_to_key if FEWEST <= counts[index.word_id(word)] <= 5 * MOST]
    drawn = np.random.default_rng(0).choice(len(known), size=N_WORDS, replace=False)
    rows: list[dict[str, Any]] = []
    for word in (known[k] for k in np.sort(drawn).tolist()):
        found = [word_senses(*pair, index, word) for pair in zip(models, contexts, strict=True)]
        alike = float(adjusted_rand_score(*(one.assigned for one in found)))
        rows.append({"word": word, "senses": [one.n_senses for one in found], "alike": round(alike, 4)})
    same = [row["senses"][0] == row["senses"][1] for row in rows]
    in_both = [row["alike"] for row in rows if min(row["senses"]) > 1]
    in_one = [row["alike"] for row in rows if max(row["senses"]) > 1]
    return {
        "words": len(rows),
        "same_number_of_senses": float(np.mean(same)),
        "words_split": [float(np.mean([row["senses"][seed] > 1 for row in rows])) for seed in (0, 1)],
        "split_by_both": len(in_both),
        "split_by_any": len(in_one),
        "rand_index_split_by_both": float(np.mean(in_both)),
        "rand_index_split_by_any": float(np.mean(in_one)),
        "rows": rows,
    }


def _b_cubed(truth: Any, labels: Any) -> float:
    """Return the F1 of B-cubed precision and recall: shares of like documents around each one."""
    labels = labels - labels.min()
    table = np.zeros((truth.max() + 1, labels.max() + 1))
    np.add.at(table, (truth, labels), 1)
    size = table.sum()
    precision = (table**2 / np.maximum(table.sum(axis=0, keepdims=True), 1)).sum() / size
    recall = (table**2 / np.maximum(table.sum(axis=1, keepdims=True), 1)).sum() / size
    return round(float(2 * precision * recall / (precision + recall)), 4)


def _summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    draws = np.random.default_rng(0).integers(0, len(rows), size=(2_000, len(rows)))

    def interval(values: NDArray[np.float64]) -> list[float]:
        ends = np.percentile(values[draws].mean(axis=1), [2.5, 97.5])
        return [round(float(value), 4) for value in (values.mean(), *ends)]

    single = np.array([count for row in rows for count in row["senses_of_single_words"]])
    found: dict[str, Any] = {
        "pairs": len(rows),
        "pseudowords_by_senses": np.bincount([row["senses"] for row in rows])[1:].tolist(),
        "single_words_by_senses": np.bincount(single)[1:].tolist(),
        "single_words_split": float((single > 1).mean()),
    }
    if "seeds" in rows[0]:
        found["rand_index_of_seeds"] = interval(np.array([row["seeds"] for row in rows]))
    for score in ("v", "b_cubed"):
        values = {name: np.array([row[name][score] for row in rows]) for name in NAMES}
        for name in NAMES[2:]:
            values[f"omni - {name}"] = values["omni"] - values[name]
            values[f"omni, two - {name}"] = values["omni, two"] - values[name]
        found[score] = {name: interval(value) for name, value in values.items()}
    return found


if __name__ == "__main__":
    main()
