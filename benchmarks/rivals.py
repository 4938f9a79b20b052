"""Tune the rivals on a tenth of the text, by the development data alone, and train the best on all of it.

    omnitm index enwiki.txt.xz -o wiki.idx
    python benchmarks/rivals.py prepare wiki.idx -o rivals
    python benchmarks/rivals.py search [NAME ...] -o rivals            every tenth sentence
    python benchmarks/rivals.py score -o rivals --data DIR             results/rivals-search.json
    python benchmarks/rivals.py train NAME -o rivals [--seed 1]        all sentences, kept after each epoch
    python benchmarks/rivals.py report -o rivals --data DIR [--omni wiki.model]    results/rivals.json and .md

    python benchmarks/rivals.py candidates -o rivals --data DIR --omni wiki.model    semcat-candidates.json

    python benchmarks/rivals.py analogies -o rivals --data DIR                     rivals-analogies.json

`candidates` measures SEMCAT where only the 8,000 most frequent words and those of SEMCAT may be listed.
`report --keep` leaves rivals that are not in the folder as they are in the last report, and says so: their
own figures are right, what Omni is ahead of them by is about the Omni of that report.

Vectors are of the words of the index. One thread each, so that the same seed gives the same vectors. A run
that is there already is left alone; what `score` has not found is listed as not run.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from development import development_scores, report_scores, semcat_of_frequent_words

from omnitm.baselines.ppmi import SVD, neighbour_counts
from omnitm.baselines.texts import Tokens, tokens_of
from omnitm.corpus import DocumentIndex
from omnitm.evaluation.analogies import evaluate_analogies
from omnitm.evaluation.categories import evaluate_categories
from omnitm.evaluation.datasets import CATEGORY_SETS, PAPER_SETS
from omnitm.evaluation.similarity import evaluate_similarity
from omnitm.similarity.scorers import SCORERS, Cosine
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from omnitm.similarity.word_rows import WordRows

RESULTS = Path(__file__).parent / "results"
SETS = (*PAPER_SETS, "MEN, even lines", "SimLex-999", "MEN, odd lines")
TENTH = 10
_SENTENCES_AT_ONCE = 10_000
_FASTTEXT_BUCKETS = 500_000  # 40,000 words have about 200,000 different n-grams

_SG = {"model": "word2vec", "sg": 1, "vector_size": 300, "n_epochs": 8, "function_words": True}
_CBOW = {**_SG, "sg": 0, "alpha": 0.05, "n_epochs": 10}
_SVD = {"model": "svd", "vector_size": 300, "smoothing": 0.75, "function_words": True}

#: What is tried on a tenth of the text.
SEARCH: dict[str, dict[str, Any]] = {
    "sg-w5-n5-s4": {**_SG, "window": 5, "negative": 5, "sample": 1e-4},
    "sg-w5-n5-s5": {**_SG, "window": 5, "negative": 5, "sample": 1e-5},
    "sg-w2-n5-s4": {**_SG, "window": 2, "negative": 5, "sample": 1e-4},
    "sg-w10-n5-s5": {**_SG, "window": 10, "negative": 5, "sample": 1e-5},
    "sg-w5-n15-s5": {**_SG, "window": 5, "negative": 15, "sample": 1e-5},
    "sg-w5-n10-s4": {**_SG, "window": 5, "negative": 10, "sample": 1e-4},
    "sg-w5-n10-s4-e5": {**_SG, "window": 5, "negative": 10, "sample": 1e-4, "n_epochs": 5},
    "sg-w5-n5-s4-content": {**_SG, "window": 5, "negative": 5, "sample": 1e-4, "function_words": False},
    "cbow-w5-n10-s4": {**_CBOW, "window": 5, "negative": 10, "sample": 1e-4},
    "cbow-w5-n10-s5": {**_CBOW, "window": 5, "negative": 10, "sample": 1e-5},
    "cbow-w2-n10-s4": {**_CBOW, "window": 2, "negative": 10, "sample": 1e-4},
    "cbow-w10-n10-s4": {**_CBOW, "window": 10, "negative": 10, "sample": 1e-4},
    "fasttext-w5-n5-s4": {**_SG, "model": "fasttext", "window": 5, "negative": 5, "sample": 1e-4},
    "fasttext-w5-n5-s5": {**_SG, "model": "fasttext", "window": 5, "negative": 5, "sample": 1e-5},
} | {
    f"svd-w{window}{'-marked' if marked else ''}-p{power}": {
        **_SVD,
        "window": window,
        "positions": marked,
        "power": power,
    }
    for window in (2, 5)
    for marked in (False, True)
    for power in (0.0, 0.5)
}


def cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def prepare(index_folder: Path, output: Path) -> None:
    """Keep the running text as numbers of words: those of the index, then its function words."""
    index = DocumentIndex.open(index_folder)
    output.mkdir(parents=True, exist_ok=True)
    with tokens_of(index, function_words=True) as tokens:
        tokens.ids.tofile(output / "tokens.u32")
        np.save(output / "offsets.npy", tokens.offsets.astype(np.int64))
        facts = {"words": list(tokens.names), "n_content": index.n_words, "cpu_seconds": cpu_seconds()}
    (output / "words.json").write_text(json.dumps(facts))


class Text:
    """The prepared text, or every `step`-th sentence of it, with or without function words."""

    def __init__(self, folder: Path, step: int, *, function_words: bool) -> None:
        facts = json.loads((folder / "words.json").read_text())
        self.n_content: int = facts["n_content"]
        names: list[str] = facts["words"] if function_words else facts["words"][: self.n_content]
        ids = np.asarray(np.memmap(folder / "tokens.u32", dtype=np.uint32, mode="r"))
        offsets = np.load(folder / "offsets.npy")
        if step > 1:
            starts, ends = offsets[:-1][::step], offsets[1:][::step]
            ids = np.concatenate([ids[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)])
            offsets = np.concatenate([[0], np.cumsum(ends - starts)])
        if not function_words:
            kept = ids < self.n_content
            offsets = np.concatenate([[0], np.cumsum(kept)])[offsets]
            ids = ids[kept]
        self.tokens = Tokens(ids, offsets.astype(np.uint64), names)

    def __iter__(self) -> Iterator[list[str]]:
        names = np.array(self.tokens.names, dtype=object)
        for first in range(0, self.tokens.n_documents, _SENTENCES_AT_ONCE):
            bounds = self.tokens.offsets[first : first + _SENTENCES_AT_ONCE + 1].astype(np.int64)
            words = names[self.tokens.ids[bounds[0] : bounds[-1]]].tolist()
            bounds -= bounds[0]
            for start, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
                yield words[start:end]


def train_gensim(
    settings: dict[str, Any], text: Text, seed: int, on_epoch: Callable[[int, NDArray[np.float32]], None]
) -> NDArray[np.float32]:
    """Train Word2Vec or FastText, as `omnitm train` does, but hand out the vectors after each epoch."""
    import gensim.models
    from gensim.models.callbacks import CallbackAny2Vec

    tokens = text.tokens

    def rows(model: Any) -> NDArray[np.float32]:
        places = [model.wv.key_to_index[word] for word in tokens.names[: text.n_content]]
        return np.asarray(model.wv.vectors[places], dtype=np.float32)

    class Kept(CallbackAny2Vec):  # type: ignore[misc]
        epoch = 0

        def on_epoch_end(self, model: Any) -> None:
            self.epoch += 1
            on_epoch(self.epoch, rows(model))

    names = ("sg", "vector_size", "window", "negative", "sample", "alpha")
    options = {name: settings[name] for name in names if name in settings}
    if settings["model"] == "fasttext":
        model: Any = gensim.models.FastText(
            min_count=1, seed=seed, workers=1, bucket=_FASTTEXT_BUCKETS, **options
        )
    else:
        model = gensim.models.Word2Vec(min_count=1, seed=seed, workers=1, **options)
    counts = np.maximum(tokens.counts, 1).tolist()
    model.build_vocab_from_freq(dict(zip(tokens.names, counts, strict=True)))
    sizes = {"total_examples": tokens.n_documents, "total_words": len(tokens.ids)}
    model.train(text, epochs=settings["n_epochs"], callbacks=[Kept()], **sizes)
    return rows(model)


def train_svd(settings: dict[str, Any], text: Text) -> NDArray[np.float32]:
    model = SVD(**{name: value for name, value in settings.items() if name != "model"})
    counts = neighbour_counts(text.tokens, text.n_content, model.window, model.positions, lambda _: None)
    return model.fit(counts)


def run(name: str, folder: Path, output: Path, step: int, seed: int) -> None:
    """Train one setting; keep its vectors and CPU seconds, and on all text each epoch until all are done."""
    label = name if seed == 0 else f"{name}-seed{seed}"
    if (output / f"{label}.npy").exists():
        print(f"{label}: is there already", flush=True)
        return
    settings, started, before = SEARCH[name], time.monotonic(), cpu_seconds()
    text = Text(folder, step, function_words=settings["function_words"])
    output.mkdir(parents=True, exist_ok=True)

    def keep(epoch: int, vectors: NDArray[np.float32]) -> None:
        if step == 1:
            np.save(output / f"{label}.epoch{epoch}.npy", vectors)
        print(f"{label}: epoch {epoch}, {cpu_seconds() - before:,.0f} CPU s", flush=True)

    if settings["model"] == "svd":
        vectors = train_svd(settings, text)
    else:
        vectors = train_gensim(settings, text, seed, keep)
    np.save(output / f"{label}.npy", vectors)
    cost = {"cpu_seconds": round(cpu_seconds() - before, 1), "seconds": round(time.monotonic() - started, 1)}
    (output / f"{label}.json").write_text(json.dumps({"settings": settings, "seed": seed, **cost}))
    for unfinished in output.glob(f"{label}.epoch*.npy"):
        unfinished.unlink()
    print(f"{label}: {cost}", flush=True)


def as_vectors(folder: Path, matrix: NDArray[np.float32], *, centred: bool) -> WordVectors:
    facts = json.loads((folder / "words.json").read_text())
    rows = matrix - matrix.mean(axis=0) if centred else matrix
    return WordVectors(rows, facts["words"][: facts["n_content"]], None)


def score(folder: Path, data: Path | None) -> None:
    """Score what was searched by the development data alone, centred and not, and write the log."""
    rows = []
    for name in SEARCH:
        if not (folder / "search" / f"{name}.json").exists():
            continue
        facts = json.loads((folder / "search" / f"{name}.json").read_text())
        matrix = np.load(folder / "search" / f"{name}.npy")
        for centred in (False, True):
            scores = development_scores(as_vectors(folder, matrix, centred=centred), "cosine", data=data)
            rows.append({"name": name, "centred": centred, **scores, **facts})
            print(f"{name}, centred {centred}: {scores}", flush=True)
    rows.sort(key=lambda row: -row["mean"])
    missing = [name for name in SEARCH if not any(row["name"] == name for row in rows)]
    content = {"kind": "omnitm rivals search", "use": "tuned on", "step": TENTH, "rows": rows}
    path = RESULTS / "rivals-search.json"
    path.write_text(json.dumps({**content, "not_run": missing}, indent=1) + "\n")
    print(path)


def report(folder: Path, data: Path | None, omni: Path | None, *, keep: bool) -> None:
    """Score what was trained on all text: a row per model, centred or not; unfinished ones say so.

    With a model of ours, the centred rivals are compared with it, with intervals.
    """
    last: dict[str, Any] = json.loads((RESULTS / "rivals.json").read_text()) if keep else {"rows": []}
    kept = {row["name"] for row in last["rows"] if not (folder / "full" / f"{row['name']}.npy").exists()}
    rows = [row for row in last["rows"] if row["name"] in kept]
    for path in sorted((folder / "full").glob("*.npy")):
        finished = path.with_suffix(".json")
        cost = json.loads(finished.read_text()) if finished.exists() else {"unfinished": True}
        for centred in (False, True):
            vectors = as_vectors(folder, np.load(path), centred=centred)
            development = development_scores(vectors, "cosine", data=data)
            scores = report_scores(vectors, "cosine", data=data)
            rows.append(
                {"name": path.stem, "centred": centred, "tuned_on": development, "report": scores, **cost}
            )
    facts: dict[str, Any] = {"kind": "omnitm rivals", "rows": rows, "kept": sorted(kept)}
    tuned, reported = ("simlex", "men_odd", "semcat_p10", "card660", "mean"), ("five", "men_even", "ap_p10")
    header = [*(f"{key} (tuned on)" for key in tuned), *(f"{key} (report)" for key in reported), "CPU s"]
    lines = [f"| model | {' | '.join(header)} |", "|---" + "|--:" * len(header) + "|"]
    for row in rows:
        figures = [row["tuned_on"][key] for key in tuned] + [row["report"][key] for key in reported]
        seconds = f"{row['cpu_seconds']:,.0f}" if "cpu_seconds" in row else "unfinished"
        label = f"{row['name']}{', centred' if row['centred'] else ''}"
        lines.append(f"| {label} | {' | '.join(f'{figure:.3f}' for figure in figures)} | {seconds} |")
    if omni is not None:
        models = {"omni": WordVectors.load(omni), **trained_rivals(folder)}
        pairs = evaluate_similarity(models, SETS, data=data)
        lists = evaluate_categories(models, CATEGORY_SETS, data=data)
        facts |= {"pairs": json.loads(pairs.to_json()), "categories": json.loads(lists.to_json())}
        tables = [pairs.tables()[0], *lists.tables()]
        lines += ["", "Centred, beside Omni", "", *(table.to_markdown() for table in tables)]
        for part in ("pairs", "categories") if kept else ():
            old = [row for row in last[part]["rows"] if row["model"] in kept]
            facts[part]["rows"] += [{**row, "is_kept": True} for row in old]
        lines += [
            f"Kept from an earlier report, beside the Omni of that time: {name}." for name in sorted(kept)
        ]
    (RESULTS / "rivals.json").write_text(json.dumps(facts, indent=1) + "\n")
    (RESULTS / "rivals.md").write_text("\n".join(lines) + "\n")


def trained_rivals(folder: Path) -> dict[str, WordVectors]:
    """Open what was trained on all text, centred."""
    paths = sorted((folder / "full").glob("*.npy"))
    return {path.stem: as_vectors(folder, np.load(path), centred=True) for path in paths}


class CosineProducts(Cosine):
    """The cosine, which answers analogies by products, as 3CosMul of Levy and Goldberg (2014) does."""

    name = "cosine, products"

    def joined(
        self, rows: WordRows, scores: Sequence[NDArray[Any]], weights: Sequence[float]
    ) -> NDArray[np.float64]:
        """Multiply cosines, brought between 0 and 1, to the power of their weights."""
        del rows
        parts = zip(scores, weights, strict=True)
        logarithms = [weight * np.log((score + 1) / 2 + 0.001) for score, weight in parts]
        return np.asarray(np.sum(logarithms, axis=0))


def analogies(folder: Path, data: Path | None) -> None:
    """Ask the rivals Google's analogies, by sums and by products."""
    found, products = {}, CosineProducts()
    SCORERS[products.name] = products
    for name, vectors in trained_rivals(folder).items():
        for metric in (Cosine.name, products.name):
            answered = evaluate_analogies(vectors, name=name, metric=metric, data=data)
            parts = (answered.total(part) for part in ("semantic", "grammar", "all"))
            label = f"{name}, {metric}"
            found[label] = {part.name: round(part.accuracy or 0.0, 4) for part in parts}
            print(label, found[label], flush=True)
    (RESULTS / "rivals-analogies.json").write_text(json.dumps(found, indent=1) + "\n")


def all_trusted(omni: Path) -> WordVectors:
    """Open a model whose scores are not multiplied by the trust in rare words."""
    vectors = WordVectors.load(omni)
    trust = np.ones_like(vectors.profiles.trust)
    vectors.__dict__["profiles"] = replace(vectors.profiles, trust=trust)  # in place of the cached property
    return vectors


def candidates(folder: Path, data: Path | None, omni: Path) -> None:
    """Measure lists of the same category where fewer words can be listed."""
    models, results = (
        {
            "omni": WordVectors.load(omni),
            "omni, all words trusted": all_trusted(omni),
            **trained_rivals(folder),
        },
        RESULTS / "semcat-candidates.json",
    )
    # Figures of rivals that are not in the folder stay: they do not depend on Omni.
    found = json.loads(results.read_text())
    for name, vectors in models.items():
        precision, count = semcat_of_frequent_words(vectors, data=data)
        found[name] = {"semcat_p10": round(precision, 4), "candidates": count}
        print(name, found[name], flush=True)
    results.write_text(json.dumps(found, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "step", choices=("prepare", "search", "score", "train", "report", "candidates", "analogies")
    )
    parser.add_argument("names", nargs="*", help="settings, by name; prepare: the index")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--omni", type=Path, help="report: a model of ours to compare with")
    parser.add_argument("--keep", action="store_true", help="report: rivals of the last report stay")
    arguments = parser.parse_args()
    folder: Path = arguments.output
    if arguments.step == "prepare":
        prepare(Path(arguments.names[0]), folder)
    elif arguments.step == "score":
        score(folder, arguments.data)
    elif arguments.step == "analogies":
        analogies(folder, arguments.data)
    elif arguments.step == "candidates":
        candidates(folder, arguments.data, arguments.omni)
    elif arguments.step == "report":
        report(folder, arguments.data, arguments.omni, keep=arguments.keep)
    else:
        part, step = ("search", TENTH) if arguments.step == "search" else ("full", 1)
        for name in arguments.names or SEARCH:
            run(name, folder, folder / part, step, arguments.seed)


if __name__ == "__main__":
    main()
