"""Measure the Tsetlin machine classifier against TMU and against what it has to reach, on IMDb.

`replay`: TMU's own functions, fed with our coins, end with our states and weights (s = 1, random documents).
`speed`: CPU seconds of one epoch, 25,000 reviews x 20,000 words, one thread. TMU starts from our states after
half an epoch, so that it does the work of the middle of an epoch, and its time per review is scaled.
`sample`: accuracy of both on the same small sample. `accuracy`: ours, 10 epochs, official split.

All but `replay` need the data: OMNITM_DATA or --data names the folder that has documents/imdb.jsonl.xz.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import statistics
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from peers import ask_tmu
from report import Row, faster, keep, show
from scipy import sparse
from sklearn.feature_selection import chi2

from omnitm import DocumentIndex, TsetlinMachineClassifier
from omnitm.corpus import Preparation, VocabularyRules
from omnitm.machine.classifier import ClauseBanks, Documents, active_clauses, draw_epoch
from omnitm.machine.reference import ReferenceClassifier
from omnitm.machine.settings import ClassifierSettings, classifier_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

PAPER = ClassifierSettings()
#: Small enough for TMU: 2,000 reviews of 5,000 words.
SAMPLE = ClassifierSettings(n_clauses=500, threshold=2000)
PREPARATION = Preparation(stop_words=None, punctuation="space")
SCRIPT = "peer_tmu_classifier.py"


class Reviews(NamedTuple):
    """Documents as a binary matrix, and their labels."""

    documents: Any
    labels: NDArray[np.int64]

    def some(self, rows: Any) -> Reviews:
        """Pick rows."""
        return Reviews(self.documents[rows], self.labels[rows])


def as_matrix(index: DocumentIndex) -> Any:
    ones = np.ones(len(index.document_words), dtype=np.uint8)
    places = index.document_words.astype(np.int32), index.document_offsets.astype(np.int64)
    return sparse.csr_matrix((ones, *places), shape=(index.n_documents, index.n_words))


@cache
def imdb(data: Path, n_words: int) -> tuple[Reviews, Reviews]:
    """Read the official split.

    Of the training reviews' 40,000 most frequent words, stop words included, those stay that tell the labels
    apart best.
    """
    with lzma.open(data / "documents" / "imdb.jsonl.xz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    rules, sides = VocabularyRules(max_words=40_000), []
    for split in ("train", "test"):
        chosen = [row for row in rows if row["split"] == split]
        texts = [row["text"].replace("<br />", " ") for row in chosen]
        index = DocumentIndex.from_documents(texts, preparation=PREPARATION, vocabulary=rules)
        rules = VocabularyRules(fixed=index.vocabulary)
        labels = np.array([row["label"] == "pos" for row in chosen], dtype=np.int64)
        sides.append(Reviews(as_matrix(index), labels))
    train, test = sides
    scores, _ = chi2(train.documents, train.labels)
    best = np.sort(np.argsort(-scores, kind="stable")[:n_words])
    return Reviews(train.documents[:, best], train.labels), Reviews(test.documents[:, best], test.labels)


def settings_job(settings: ClassifierSettings) -> dict[str, Any]:
    names = ("n_clauses", "threshold", "specificity", "clause_drop", "max_included_literals")
    return {name: getattr(settings, name) for name in names}


def stored(folder: Path, name: str, reviews: Reviews) -> dict[str, str]:
    """Write reviews where TMU can read them."""
    sparse.save_npz(folder / f"{name}.npz", reviews.documents, compressed=False)
    np.save(folder / f"{name}.npy", reviews.labels)
    return {name: str(folder / f"{name}.npz"), f"{name}_labels": str(folder / f"{name}.npy")}


# ---- the same coins


def replay(n_documents: int = 200, n_words: int = 301) -> dict[str, int]:
    """Compare with TMU's own functions, which get our examples and coins."""
    settings = ClassifierSettings(n_clauses=20, threshold=50, specificity=1.0, clause_drop=0.25)
    key, n_classes, random = classifier_key(5), 3, np.random.default_rng(5)
    presence = random.random((n_documents, n_words)) < random.random(n_words) ** 3
    reviews = Reviews(sparse.csr_matrix(presence), random.integers(0, n_classes, n_documents))
    banks = ClauseBanks.new(settings, n_classes, n_words, key)
    banks.learn_epoch(Documents.from_csr(reviews.documents), reviews.labels)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_draws(folder / "draws.npz", settings, key, reviews.labels, n_classes)
        job = {"draws": str(folder / "draws.npz"), "result": str(folder / "result.npz")}
        job |= stored(folder, "train", reviews)
        ask_tmu("replay", script=SCRIPT, settings=settings_job(settings), **job)
        with np.load(folder / "result.npz") as theirs:
            states = sum(int((theirs[f"states{k}"] != banks.states(k)).sum()) for k in range(n_classes))
            weights = int((theirs["weights"] != banks.weights).sum())
    automata, changed = n_classes * 20 * 2 * n_words, int((np.abs(banks.weights) > 1).sum())
    return {
        "automata": automata,
        "different_states": states,
        "different_weights": weights,
        "learnt_weights": changed,
    }


def write_draws(
    path: Path, settings: ClassifierSettings, key: int, labels: NDArray[np.int64], n_classes: int
) -> None:
    epoch = draw_epoch(key, 0, 0, labels, n_classes)
    reference = ReferenceClassifier(settings, n_classes, 1, key)
    coins = np.array([reference.coins(step) for step in range(2 * len(labels))])
    coins = coins.reshape(len(labels), 2, 2, settings.n_clauses)
    np.savez(
        path,
        documents=epoch.order,
        targets=epoch.targets,
        others=epoch.others,
        active=[active_clauses(key, settings, 0, label, n_classes) for label in range(n_classes)],
        feedback_coins=coins[:, :, 0],
        weight_coins=coins[:, :, 1],
    )


def same_coins(_data: Path | None) -> list[Row]:
    result = replay()
    differ = result["different_states"] + result["different_weights"]
    note = f"{result['automata']} automata, 60 weights, of which {result['learnt_weights']} have moved"
    return [Row("same coins, s = 1: what differs from TMU", "", "", str(differ), "0", differ == 0, note)]


# ---- speed


def speed(data: Path | None, n_timed: int = 150) -> list[Row]:
    """Compare one epoch; TMU's is scaled from the middle of one."""
    train, _ = imdb(needed(data), 20_000)
    documents = Documents.from_csr(train.documents)
    seconds = []
    for seed in (1, 2):
        banks = ClauseBanks.new(PAPER, 2, documents.n_words, classifier_key(seed))
        seconds.append(epoch_seconds(banks, documents, train.labels))
    rest = np.random.default_rng(0).permutation(len(train.labels))
    half = train.some(rest[: len(rest) // 2])
    banks = ClauseBanks.new(PAPER, 2, documents.n_words, classifier_key(3))
    banks.learn_epoch(Documents.from_csr(half.documents), half.labels)
    theirs = time_tmu(banks, train.some(rest[-n_timed:]))
    epoch = theirs["per_document"] * len(train.labels) + theirs["per_fit"]
    words = train.documents.nnz / len(train.labels)
    note = (
        f"{words:.0f} words per review; TMU: {theirs['per_document'] * 1e3:.1f} ms per review over {n_timed}"
    )
    return [faster("one epoch, 25,000 x 20,000, 1000 clauses", epoch, min(seconds), 100, note)]


def epoch_seconds(banks: ClauseBanks, documents: Documents, labels: NDArray[np.int64]) -> float:
    start = time.process_time()
    banks.learn_epoch(documents, labels)
    return time.process_time() - start


def time_tmu(banks: ClauseBanks, reviews: Reviews) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        states: dict[str, Any] = {f"states{label}": banks.states(label) for label in range(2)}
        np.savez(folder / "start.npz", weights=banks.weights, **states)
        job = stored(folder, "train", reviews)
        start = str(folder / "start.npz")
        return ask_tmu(
            "time_epoch", script=SCRIPT, settings=settings_job(banks.settings), start=start, n_fits=3, **job
        )


# ---- accuracy


def accuracies(
    train: Reviews, test: Reviews, settings: dict[str, Any], seed: int, n_epochs: int
) -> list[float]:
    """Accuracy after each epoch."""
    model, found = TsetlinMachineClassifier(**settings, seed=seed, n_jobs=1), []
    for _ in range(n_epochs):
        model.partial_fit(train.documents, train.labels, classes=[0, 1])
        found.append(float(model.score(test.documents, test.labels)))
    return found


def sample(data: Path | None, n_seeds: int = 3) -> list[Row]:
    """Compare with TMU on 2,000 reviews of 5,000 words: mean over seeds and over epochs 6 to 10."""
    train, test = imdb(needed(data), 5_000)
    random = np.random.default_rng(0)
    few = train.some(random.permutation(len(train.labels))[:2000])
    some = test.some(random.permutation(len(test.labels))[:4000])
    with tempfile.TemporaryDirectory() as name:
        job = stored(Path(name), "train", few) | stored(Path(name), "test", some)
        seeds = list(range(1, n_seeds + 1))
        theirs = ask_tmu(
            "accuracy",
            script=SCRIPT,
            settings=settings_job(SAMPLE),
            seeds=seeds,
            n_epochs=10,
            first_epoch=5,
            **job,
        )
    ours = [accuracies(few, some, settings_job(SAMPLE), seed, 10)[5:] for seed in range(4 * n_seeds)]
    return [compared("2,000 reviews x 5,000 words, 500 clauses, T 2000", theirs["runs"], ours)]


def compared(label: str, theirs: Sequence[Sequence[float]], ours: Sequence[Sequence[float]]) -> Row:
    means = [[statistics.mean(run) for run in runs] for runs in (theirs, ours)]
    middle = [statistics.mean(runs) for runs in means]
    spread = [statistics.stdev(runs) for runs in means]
    points = 100 * abs(middle[1] - middle[0])
    note = (
        f"standard deviation over seeds {spread[0]:.3f} / {spread[1]:.3f}, {len(theirs)} / {len(ours)} seeds"
    )
    theirs_and_ours = f"{middle[0]:.4f}", f"{middle[1]:.4f}"
    return Row(label, *theirs_and_ours, f"{points:.2f} points apart", "< 1 point", points < 1, note)


def accuracy(data: Path | None) -> list[Row]:
    """Ours on the official split."""
    train, test = imdb(needed(data), 20_000)
    settings = settings_job(PAPER)
    rows = []
    for seed in (0, 1, 2):
        found = accuracies(train, test, settings, seed, 10)
        note = "after each epoch: " + " ".join(f"{value:.4f}" for value in found)
        reached = found[-1] >= 0.86
        rows.append(
            Row(f"IMDb, 10 epochs, seed {seed}", "", f"{found[-1]:.4f}", "", ">= 0.86", reached, note)
        )
    return rows


def needed(data: Path | None) -> Path:
    if data is None or not (data / "documents" / "imdb.jsonl.xz").exists():
        sys.exit("Where is documents/imdb.jsonl.xz? Give --data DIR or set OMNITM_DATA.")
    return data


MEASURES: dict[str, Callable[[Path | None], list[Row]]] = {
    "replay": same_coins,
    "speed": speed,
    "sample": sample,
    "accuracy": accuracy,
}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=MEASURES, default=list(MEASURES), help="which measures")
    default = os.environ.get("OMNITM_DATA")
    parser.add_argument(
        "--data", type=Path, default=Path(default) if default else None, help="folder with data"
    )
    options = parser.parse_args(argv)
    start, rows = time.perf_counter(), []
    for name in options.only:
        rows += MEASURES[name](options.data)
        print(f"{name}: measured, {time.perf_counter() - start:.0f} s so far", file=sys.stderr)
    show(rows)
    keep(
        rows,
        "classifier" if options.only == list(MEASURES) else "classifier-" + "-".join(options.only),
        time.perf_counter() - start,
    )
    return 0 if all(row.reached is not False for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
