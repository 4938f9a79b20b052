"""Rules: how often the first rule about single documents is a good one, and how much a machine's vote knows.

```console
$ python benchmarks/rules.py lift MODEL INDEX -o benchmarks/results/document-rules.json
$ python benchmarks/rules.py vote INDEX -o benchmarks/results/vote.json
```
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from omnitm import OmniTMAE
from omnitm.corpus import DocumentIndex
from omnitm.corpus.cooccurrence import document_lengths, words_of_documents
from omnitm.explain import DocumentRule, Explainer
from omnitm.explain.document_rules import document_rules, set_aside
from omnitm.machine import Autoencoder, AutoencoderSettings, training_examples, word_key
from omnitm.vectors import WordVectors

FEWEST, MOST = 300, 10_000  # documents of a word of middling frequency
GOOD_LIFT = 20
N_FREQUENT = 1_000  # words that are trained to know what is usual
N_DOCUMENTS = 1_000_000  # of the corpus, for votes


def middling(index: DocumentIndex, count: int, seed: int) -> list[str]:
    """Draw words of middling frequency."""
    frequencies = index.document_frequencies
    words = np.flatnonzero((frequencies >= FEWEST) & (frequencies <= MOST))
    drawn = np.random.default_rng(seed).choice(words, size=min(count, len(words)), replace=False)
    return [index.vocabulary[k] for k in np.sort(drawn).tolist()]


def measure_lift(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure the first rule of each word on documents that neither training nor choice has seen.

    Words are trained on the other four fifths, with the most frequent words, so that it is known what is
    usual; the model only says which words are forms of each other.
    """
    whole, known = DocumentIndex.open(arguments.index), WordVectors.load(arguments.model)
    numbers = np.arange(whole.n_documents, dtype=np.uint32)
    training = _part(whole, numbers[~set_aside(numbers)])
    words = middling(whole, arguments.words, arguments.seed)
    frequent = np.argsort(-whole.document_frequencies, kind="stable")[:N_FREQUENT].tolist()
    trained = dict.fromkeys([*(whole.vocabulary[k] for k in frequent), *words])
    vectors = OmniTMAE(contexts="topic").fit(training, words=trained).word_vectors_
    explainer, start = Explainer(vectors, training), time.process_time()
    rows: list[dict[str, Any]] = []
    for word in words:
        named = [name for name, _ in explainer.standing_out(word, 50)]
        forms = known.forms(word)
        rules = document_rules(explainer.machines[word], whole, named, forms, n=3, n_documents=0)
        rows.append({"word": word, "rules": [_figures(rule) for rule in rules]})
    lifts = np.array([(row["rules"][0]["match"]["lift"] or 0.0) if row["rules"] else 0.0 for row in rows])
    return {
        "words": len(words),
        "documents_of_a_word": [FEWEST, MOST],
        "seed": arguments.seed,
        f"share_with_lift_{GOOD_LIFT}": float((lifts >= GOOD_LIFT).mean()),
        "median_lift": float(np.median(lifts)),
        "cpu_seconds_per_word": (time.process_time() - start) / max(len(words), 1),
        "rows": rows,
    }


def _figures(rule: DocumentRule) -> dict[str, Any]:
    measured = {name: getattr(rule, name).to_dict() for name in ("match", "chosen")}
    for match in measured.values():
        del match["examples"], match["counterexamples"]
    return {"text": str(rule), **measured, "recall": rule.recall}


def measure_votes(arguments: argparse.Namespace) -> dict[str, Any]:
    """Compare the vote of clauses with a logistic regression on the same bags of words."""
    whole = DocumentIndex.open(arguments.index)
    numbers = np.arange(min(N_DOCUMENTS, whole.n_documents), dtype=np.uint32)
    aside = set_aside(numbers)
    training, held_out = (_part(whole, numbers[which]) for which in (~aside, aside))
    settings = AutoencoderSettings(contexts="topic")
    machine, rows = Autoencoder(training, settings), []
    for word in middling(whole, arguments.words, arguments.seed):
        target, key = whole.word_id(word), word_key(0, word)
        if min(len(part.documents_with(target)) for part in (training, held_out)) < 20:
            continue
        machine.train(target, key)
        row: dict[str, Any] = {"word": word}
        for name, accumulation in (("merged", settings.accumulation), ("single", 1)):
            drawn = replace(settings, accumulation=accumulation)
            bags, labels = _bags(training, drawn, target, key)
            test_bags, test_labels = _bags(held_out, drawn, target, key ^ 1)
            votes = _votes(machine, test_bags)
            threshold = settings.threshold
            chances = (np.clip(votes, -threshold, threshold) + threshold) / (2 * threshold)
            fitted = _logistic(bags, labels, test_bags)
            row[name] = {
                "vote": _scores(votes, chances, test_labels),
                "logistic": _scores(*fitted, test_labels),
            }
        rows.append(row)
    means = {
        name: {
            model: {
                score: float(np.mean([row[name][model][score] for row in rows]))
                for score in ("auc", "calibration_error")
            }
            for model in ("vote", "logistic")
        }
        for name in ("merged", "single")
    }
    wins = {
        name: float(np.mean([r[name]["vote"]["auc"] >= r[name]["logistic"]["auc"] for r in rows]))
        for name in means
    }
    return {
        "words": len(rows),
        "seed": arguments.seed,
        "means": means,
        "vote_at_least_as_good": wins,
        "rows": rows,
    }


def _part(index: DocumentIndex, documents: np.ndarray) -> DocumentIndex:
    lengths = document_lengths(index, documents)
    words = words_of_documents(index, documents)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    matrix = csr_matrix(
        (np.ones(len(words), dtype=np.int8), words.astype(np.int32), starts),
        shape=(len(documents), index.n_words),
    )
    return DocumentIndex.from_csr(matrix, index.vocabulary)


def _bags(index: DocumentIndex, settings: AutoencoderSettings, target: int, key: int) -> tuple[Any, Any]:
    """Examples as bags of words, without the word itself, and whether they are made of its documents."""
    examples = training_examples(index, settings, target, key)
    flat = examples.documents.reshape(-1).astype(np.uint32)
    words = words_of_documents(index, flat).astype(np.int64)
    rows = np.repeat(np.arange(len(flat)) // examples.documents.shape[1], document_lengths(index, flat))
    kept = words != target
    shape = len(examples.documents), index.n_words
    bags = csr_matrix((np.ones(int(kept.sum())), (rows[kept], words[kept])), shape=shape)
    bags.data[:] = 1.0
    return bags, examples.labels


def _votes(machine: Autoencoder, bags: Any) -> Any:
    """Weights of the clauses that hold, added; a clause without literals says nothing."""
    n_words = bags.shape[1]
    included = machine.states >= machine.settings.include_from
    present, absent = included[:, :n_words], included[:, n_words:]
    bags = bags.minimum(1)
    missing = present.sum(axis=1) - bags @ present.T.astype(np.float64)
    holds = (missing == 0) & (bags @ absent.T.astype(np.float64) == 0) & included.any(axis=1)
    return holds @ machine.weights.astype(np.float64)


def _logistic(bags: Any, labels: Any, test_bags: Any) -> tuple[Any, Any]:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(max_iter=200).fit(bags.minimum(1), labels)
    return model.decision_function(test_bags.minimum(1)), model.predict_proba(test_bags.minimum(1))[:, 1]


def _scores(scores: Any, chances: Any, labels: Any) -> dict[str, float]:
    """AUC, and the mean distance between chance and share in ten equal ranges of chance."""
    from sklearn.metrics import roc_auc_score

    ranges = np.minimum((chances * 10).astype(int), 9)
    errors = [
        abs(chances[ranges == k].mean() - labels[ranges == k].mean()) * (ranges == k).mean()
        for k in np.unique(ranges)
    ]
    return {"auc": float(roc_auc_score(labels, scores)), "calibration_error": float(np.sum(errors))}


def main() -> None:
    """Run one measurement."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    for name, measure, places in (
        ("lift", measure_lift, ("model", "index")),
        ("vote", measure_votes, ("index",)),
    ):
        command = commands.add_parser(name)
        for place in places:
            command.add_argument(place, type=Path)
        command.add_argument("-o", "--output", type=Path, required=True)
        command.add_argument("--words", type=int, default=200 if name == "lift" else 100)
        command.add_argument("--seed", type=int, default=7)
        command.set_defaults(measure=measure)
    arguments = parser.parse_args()
    found = arguments.measure(arguments)
    rows = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in found.pop("rows"))
    summary = json.dumps(found, indent=1)
    arguments.output.write_text(f'{summary[:-2]},\n "rows": [\n{rows}\n ]\n}}\n')
    print(summary)


if __name__ == "__main__":
    main()
