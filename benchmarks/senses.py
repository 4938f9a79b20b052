"""Senses of pseudowords: two words under one name, and how well their occurrences are told apart.

```console
$ python benchmarks/senses.py MODEL INDEX -o benchmarks/results/senses.json
```

Pairs of words of like frequency are merged in the documents; only the merged words are trained, on the merged
documents, and judged by the profiles of MODEL's other words. Documents with a merged word are assigned to its
senses. Compared with one sense for all (majority) and with Word2Vec (CBOW, on the same documents in their
order): means of the vectors of a document's words, in two clusters. V-measure and B-cubed F1, means over
pairs with 95 % intervals (bootstrap), and of the difference to Word2Vec.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.cluster import KMeans
from sklearn.metrics import v_measure_score

from omnitm.corpus import DocumentIndex
from omnitm.explain.matching import document_lengths, words_of_documents
from omnitm.explain.senses import grouped_features
from omnitm.machine import Autoencoder, AutoencoderSettings, word_key
from omnitm.similarity.row_profile import baseline_of
from omnitm.vectors import WordVectors

FEWEST, MOST = 300, 3_000
N_DOCUMENTS = 600_000
DOCUMENTS_OF_A_WORD = 300


def main() -> None:
    """Merge, train, assign, compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path)
    parser.add_argument("index", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    vectors, whole = WordVectors.load(arguments.model), DocumentIndex.open(arguments.index)
    numbers = np.arange(0, whole.n_documents, max(1, whole.n_documents // N_DOCUMENTS), dtype=np.uint32)
    lengths, words = document_lengths(whole, numbers), words_of_documents(whole, numbers).astype(np.int64)
    frequencies = np.bincount(words, minlength=whole.n_words)
    pairs = _pairs(frequencies, arguments.pairs, arguments.seed)
    merged = np.arange(whole.n_words)
    merged[pairs[:, 1]] = pairs[:, 0]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    matrix = csr_matrix(
        (np.ones(len(words), np.int8), merged[words], starts), shape=(len(numbers), whole.n_words)
    )
    original = csr_matrix((np.ones(len(words), np.int8), words, starts), shape=matrix.shape).tocsc()
    index = DocumentIndex.from_csr(matrix, whole.vocabulary)
    trained = _word2vec(whole, numbers, merged)
    machine, rows = Autoencoder(index, AutoencoderSettings(contexts="topic")), []
    for first, second in pairs.tolist():
        rows.append(_measure(vectors, index, machine, original, trained, pair=(first, second)))
    found = _summary(rows, arguments.seed)
    lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in rows)
    summary = json.dumps(found, indent=1)
    arguments.output.write_text(f'{summary[:-2]},\n "rows": [\n{lines}\n ]\n}}\n')
    print(summary)


def _pairs(frequencies: Any, count: int, seed: int) -> Any:
    """Draw words of middling frequency and pair those of like frequency."""
    usable = np.flatnonzero((frequencies >= FEWEST // 5) & (frequencies <= MOST // 5))
    drawn = np.random.default_rng(seed).choice(usable, size=2 * count, replace=False)
    return drawn[np.argsort(frequencies[drawn], kind="stable")].reshape(-1, 2)


def _word2vec(whole: DocumentIndex, numbers: Any, merged: Any) -> Any:
    """Train CBOW on the documents in their order, merged words under the first one's number."""
    from gensim.models import Word2Vec

    running = whole.running
    if running is None:
        raise SystemExit("the index has no running text")
    ends, n_words = running.document_ends, whole.n_words
    sentences = []
    for number in numbers.tolist():
        tokens = running.tokens[ends[number] + 1 : ends[number + 1]].astype(np.int64)
        sentences.append([str(merged[k]) for k in tokens.tolist() if k < n_words])
    return Word2Vec(sentences, vector_size=100, window=5, min_count=5, epochs=3, workers=1, seed=1).wv


def _measure(
    vectors: WordVectors,
    index: DocumentIndex,
    machine: Autoencoder,
    original: Any,
    trained: Any,
    *,
    pair: Any,
) -> dict[str, Any]:
    first, second = pair
    machine.train(first, word_key(0, index.vocabulary[first]))
    row = machine.embedding()
    topic = vectors.profiles.topic
    deviations = topic.deviations(topic.relative(row, baseline_of(row), first)).astype(np.float64)
    found = grouped_features(vectors, deviations, {first, second})
    in_first, in_second = (set(original[:, word].indices.tolist()) for word in pair)
    documents, truth = [], []
    for own, other, label in ((in_first, in_second, 0), (in_second, in_first, 1)):
        kept = sorted(own - other)[:DOCUMENTS_OF_A_WORD]
        documents += kept
        truth += [label] * len(kept)
    numbers = np.array(documents, dtype=np.uint32)
    assigned = found.of_documents(index, numbers)
    contexts = np.zeros((len(numbers), trained.vector_size))
    for place, number in enumerate(documents):
        known = [trained[str(k)] for k in index.words_of(number).tolist() if k != first and str(k) in trained]
        contexts[place] = np.mean(known, axis=0) if known else 0.0
    clusters = KMeans(2, n_init=4, random_state=0).fit_predict(contexts)
    return {
        "pair": [index.vocabulary[word] for word in pair],
        "senses": found.n_senses,
        "unassigned": float((assigned < 0).mean()),
        **{
            name: {"v": float(v_measure_score(truth, labels)), "b_cubed": _b_cubed(truth, labels)}
            for name, labels in (
                ("omni", assigned),
                ("word2vec", clusters),
                ("majority", np.zeros(len(numbers), dtype=int)),
            )
        },
    }


def _b_cubed(truth: Any, labels: Any) -> float:
    """Return the F1 of B-cubed precision and recall: shares of like documents around each one."""
    truth, labels = np.asarray(truth), np.asarray(labels)
    table = np.zeros((truth.max() + 1, labels.max() - labels.min() + 1))
    np.add.at(table, (truth, labels - labels.min()), 1)
    size = table.sum()
    precision = (table**2 / np.maximum(table.sum(axis=0, keepdims=True), 1)).sum() / size
    recall = (table**2 / np.maximum(table.sum(axis=1, keepdims=True), 1)).sum() / size
    return float(2 * precision * recall / (precision + recall))


def _summary(rows: list[dict[str, Any]], seed: int) -> dict[str, Any]:
    draws = np.random.default_rng(seed).integers(0, len(rows), size=(2_000, len(rows)))
    found: dict[str, Any] = {
        "pairs": len(rows),
        "mean_senses": float(np.mean([row["senses"] for row in rows])),
    }
    for score in ("v", "b_cubed"):
        values = {
            name: np.array([row[name][score] for row in rows]) for name in ("omni", "word2vec", "majority")
        }
        values["omni - word2vec"] = values["omni"] - values["word2vec"]
        values["omni - majority"] = values["omni"] - values["majority"]
        found[score] = {
            name: [float(value.mean()), *np.percentile(value[draws].mean(axis=1), [2.5, 97.5]).tolist()]
            for name, value in values.items()
        }
    return found


if __name__ == "__main__":
    main()
