"""Words that a vocabulary does not have: Card-660 with unknown words counted, beside FastText.

    omnitm index enwiki.txt.xz -o wiki.idx
    python benchmarks/unknown_words.py train wiki.idx -o fasttext [--epochs 3]    kept after each epoch
    python benchmarks/unknown_words.py report wiki.model fasttext --index wiki.idx --data DIR

`report` writes results/unknown-words.json and .md. FastText (skip-gram with character n-grams) reads the same
running text as Omni, function words and the words beyond the vocabulary included; it composes what it does
not know from n-grams. One thread. An expression is the mean of its parts for both; if both words of a pair
have a part in common, Omni leaves it out. A pair with a word of which nothing is known gets the mean of the
others. Card-660 is development data: Omni's ways to compose a
word and FastText's reading (an expression whole or by parts, centred or not) were chosen on it. Intervals
resample words, in pairs with the rival.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.corpus import DocumentIndex
from omnitm.errors import UnknownWordError
from omnitm.evaluation.correlation import correlations, draw_counts, interval, pair_weights
from omnitm.evaluation.datasets import WordPairs, load_pairs
from omnitm.explain.infer import InferredWord, infer_word
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Scores = NDArray[np.float64]

SET = "Card-660"
N_RESAMPLES = 2000
RESULTS = Path(__file__).parent / "results"
_FASTTEXT = {"sg": 1, "vector_size": 100, "window": 5, "negative": 5, "sample": 1e-4, "bucket": 500_000}
_SENTENCES_AT_ONCE = 10_000


def cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Sentences:
    """The documents of an index, in their order; words that have no number are left out."""

    def __init__(self, index: DocumentIndex) -> None:
        running = index.running
        if running is None:
            raise SystemExit("the index has no running text: make it without --no-order")
        self.running, self.ends = running, running.document_ends

    def __iter__(self) -> Iterator[list[str]]:
        names = np.array([*self.running.names, None], dtype=object)
        for first in range(0, len(self.ends) - 1, _SENTENCES_AT_ONCE):
            bounds = self.ends[first : first + _SENTENCES_AT_ONCE + 1]
            tokens = self.running.tokens[bounds[0] : bounds[-1]]
            words = names[np.minimum(tokens, len(names) - 1)].tolist()
            bounds = (bounds - bounds[0]).tolist()
            for start, end in pairwise(bounds):
                yield [word for word in words[start + 1 : end] if word is not None]


def train(index: DocumentIndex, output: Path, n_epochs: int) -> None:
    """Train FastText; keep its vectors of words and n-grams, and its CPU seconds, after each epoch."""
    import gensim.models
    from gensim.models.callbacks import CallbackAny2Vec

    output.mkdir(parents=True, exist_ok=True)
    before = cpu_seconds()

    class Kept(CallbackAny2Vec):  # type: ignore[misc]
        epoch = 0

        def on_epoch_end(self, model: Any) -> None:
            self.epoch += 1
            model.wv.save(str(output / f"epoch{self.epoch}.kv"))
            facts = {**_FASTTEXT, "epoch": self.epoch, "of_epochs": n_epochs}
            facts["cpu_seconds"] = round(cpu_seconds() - before, 1)
            (output / "facts.json").write_text(json.dumps(facts))
            print(facts, flush=True)

    sentences = Sentences(index)
    counts = sentences.running.counts[:-1].tolist()
    model = gensim.models.FastText(min_count=5, seed=0, workers=1, **_FASTTEXT)
    model.build_vocab_from_freq(dict(zip(sentences.running.names, counts, strict=True)))
    sizes = {"total_examples": len(sentences.ends) - 1, "total_words": sum(counts)}
    model.train(sentences, epochs=n_epochs, callbacks=[Kept()], **sizes)


def omni_scores(model: Path, index: Path, pairs: WordPairs) -> tuple[Scores, dict[str, str]]:
    """Score all pairs by the default similarity, and say of each word how it is known; nan: not known."""
    vectors = WordVectors.load(model)
    items: dict[str, str | InferredWord | None] = {}
    how: dict[str, str] = {}
    for word in sorted({*pairs.first, *pairs.second}):
        known = word if word in vectors else vectors.preparation.known_word(word, vectors)
        if known:
            items[word], how[word] = known, "in the vocabulary"
            continue
        try:
            found = infer_word(vectors, word, index, from_letters=True)
        except UnknownWordError:
            items[word], how[word] = None, "not known"
            continue
        items[word] = found
        how[word] = (
            found.how.split(" from ")[0] if found.how.startswith("trained") else found.how.split(":")[0]
        )
    scores = np.full(len(pairs.first), np.nan)
    for number, (first, second) in enumerate(zip(pairs.first, pairs.second, strict=True)):
        one, other = items[first], items[second]
        if isinstance(one, str) and isinstance(other, InferredWord):
            one, other = other, one
        if isinstance(one, str) and isinstance(other, str):
            scores[number] = vectors.similarity(one, other, metric="similarity")
        elif isinstance(one, InferredWord) and other is not None:
            scores[number] = one.similarity(vectors, other, metric="similarity")
    return scores, how


def fasttext_scores(wv: Any, pairs: WordPairs, *, by_parts: bool, centred: bool) -> Scores:
    """Score all pairs by the cosine; every word has n-grams."""
    mean = wv.vectors.mean(axis=0) if centred else 0.0

    def unit(word: str) -> NDArray[Any]:
        vector = wv.get_vector(word) - mean
        return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-9))

    def row(word: str) -> NDArray[Any]:
        whole = re.sub(r"[\W_]+", "", word.lower()) or word
        parts = [part for part in re.split(r"[\W_]+", word.lower()) if part]
        split = by_parts and whole not in wv.key_to_index and len(parts) > 1
        found = np.mean([unit(part) for part in parts], axis=0) if split else unit(whole)
        return np.asarray(found / np.linalg.norm(found))

    return np.array([row(a) @ row(b) for a, b in zip(pairs.first, pairs.second, strict=True)])


def report(model: Path, fasttext: Path, index: Path, data: Path | None) -> None:
    """Compare Omni with the last complete epoch of FastText, read in the way that suits it best."""
    from gensim.models.fasttext import FastTextKeyedVectors

    pairs, before = load_pairs(SET, data), cpu_seconds()
    scores, how = omni_scores(model, index, pairs)
    seconds = cpu_seconds() - before
    filled = np.where(np.isnan(scores), np.nanmean(scores), scores)
    facts = json.loads((fasttext / "facts.json").read_text())
    wv = FastTextKeyedVectors.load(str(fasttext / f"epoch{facts['epoch']}.kv"))
    readings = {
        (by_parts, centred): fasttext_scores(wv, pairs, by_parts=by_parts, centred=centred)
        for by_parts in (False, True)
        for centred in (False, True)
    }
    rho = {key: float(correlations(found, pairs.scores).spearman[0]) for key, found in readings.items()}
    best = max(rho, key=rho.__getitem__)
    words = {word: place for place, word in enumerate(sorted({*pairs.first, *pairs.second}))}
    first, second = (np.array([words[word] for word in side]) for side in (pairs.first, pairs.second))
    weights = pair_weights(draw_counts(len(words), N_RESAMPLES, seed=0), first, second)
    ours, theirs = (correlations(found, pairs.scores, weights).spearman for found in (filled, readings[best]))
    counts: dict[str, int] = {}
    for way in how.values():
        counts[way] = counts.get(way, 0) + 1
    content = {
        "kind": "omnitm unknown words",
        "use": "tuned on",
        "set": SET,
        "n_pairs": len(pairs.first),
        "omni": float(correlations(filled, pairs.scores).spearman[0]),
        "omni_interval": interval(ours),
        "omni_pairs_not_known": int(np.isnan(scores).sum()),
        "words": counts,
        "omni_cpu_seconds": round(seconds, 1),
        "fasttext": rho[best],
        "fasttext_interval": interval(theirs),
        "fasttext_readings": [
            {"by_parts": by_parts, "centred": centred, "spearman": value}
            for (by_parts, centred), value in rho.items()
        ],
        "fasttext_training": facts,
        "ahead": float(correlations(filled, pairs.scores).spearman[0]) - rho[best],
        "ahead_interval": interval(ours - theirs),
    }
    (RESULTS / "unknown-words.json").write_text(json.dumps(content, indent=1) + "\n")
    rows = [
        ("Omni", content["omni"], content["omni_interval"]),
        (
            f"FastText, epoch {facts['epoch']} of {facts['of_epochs']}",
            rho[best],
            content["fasttext_interval"],
        ),
        ("Omni is ahead by", content["ahead"], content["ahead_interval"]),
    ]
    lines = [
        f"{SET}, all {len(pairs.first)} pairs, Spearman",
        "",
        "| | | 95 % of resampled words |",
        "|---|--:|--:|",
    ]
    lines += [
        f"| {name} | {value:.3f} | {'' if span is None else f'{span[0]:.3f} to {span[1]:.3f}'} |"
        for name, value, span in rows
    ]
    lines += ["", "| how Omni knows a word | words |", "|---|--:|"]
    lines += [f"| {way} | {count} |" for way, count in sorted(counts.items(), key=lambda item: -item[1])]
    (RESULTS / "unknown-words.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    steps = parser.add_subparsers(dest="step", required=True)
    training = steps.add_parser("train")
    training.add_argument("index", type=Path)
    training.add_argument("-o", "--output", type=Path, required=True)
    training.add_argument("--epochs", type=int, default=3)
    reporting = steps.add_parser("report")
    reporting.add_argument("model", type=Path)
    reporting.add_argument("fasttext", type=Path)
    reporting.add_argument("--index", type=Path, required=True)
    reporting.add_argument("--data", type=Path)
    arguments = parser.parse_args()
    if arguments.step == "report":
        report(arguments.model, arguments.fasttext, arguments.index, arguments.data)
        return
    train(DocumentIndex.open(arguments.index), arguments.output, arguments.epochs)


if __name__ == "__main__":
    main()
