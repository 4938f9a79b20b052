"""Measure what dimensions and first words are worth to a reader, for all models that there are: one table.

    D=/data/documents
    omnitm index $D/imdb.jsonl.xz $D/20news.jsonl.xz $D/reuters21578.jsonl.xz $D/agnews.jsonl.xz \
        $D/yelp.jsonl.xz $D/amazon.jsonl.xz --column text -o held-out.idx
    python benchmarks/interpretability.py models --held-out held-out.idx --trained-on wiki.idx

`models` holds any of the folders omni, word2vec, fasttext, glove, ppmi; `NAME-seed1` beside one of them is
the same model with another seed. The documents are of other kinds than Wikipedia, so that all models are
judged on texts that none of them has seen. Results go to benchmarks/results/interpretability.json and .md.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omnitm.cli.evaluate_interpretability import coherences, trained_again
from omnitm.corpus import DocumentIndex
from omnitm.evaluation.interpretability import (
    Coherence,
    Interpretability,
    choose_words,
    measure_interpretability,
    nmf_of_ppmi,
    read_out,
    read_out_raw,
)
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnitm.evaluation.interpretability import Readout

RESULTS = Path(__file__).parent / "results"
MODELS = ("omni", "word2vec", "fasttext", "glove", "ppmi")
_OMNI = "omni"
_HEAD = (
    "| model | dimensions | NPMI of dimensions | of words | of neighbours | intruders found | zeros "
    "| left without 10 best / random | stable |"
)


def main() -> None:
    """Measure what is there, and write the table after every model."""
    arguments = parse()
    held_out = DocumentIndex.open(arguments.held_out)
    paths = [
        arguments.models / name for name in MODELS if (arguments.models / name / "manifest.json").exists()
    ]
    words = choose_words([WordVectors.load(path) for path in paths], held_out, arguments.vocabulary)
    coherence = Coherence(held_out, words)
    found: list[Interpretability] = []
    for readout, again in readouts(arguments, paths, words):
        start = time.process_time()
        found.append(measure_interpretability(readout, coherence, again=again))
        print(f"{readout.name}: {time.process_time() - start:.1f} CPU s", flush=True)
        write(found, held_out, arguments)


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("models", type=Path)
    parser.add_argument("--held-out", type=Path, required=True)
    parser.add_argument("--trained-on", type=Path, required=True)
    parser.add_argument("--vocabulary", type=int, default=5000)
    parser.add_argument("--components", type=int, default=100, help="of the NMF")
    parser.add_argument("--output", type=Path, default=RESULTS)
    return parser.parse_args()


def readouts(
    arguments: argparse.Namespace, paths: list[Path], words: list[str]
) -> Iterator[tuple[Readout, Readout | None]]:
    """Read every model out, twice where there is a second seed."""
    for path in paths:
        vectors = WordVectors.load(path)
        yield (
            read_out(path.name, vectors, words),
            trained_again(path, vectors, words, arguments.trained_on),
        )
        if path.name == _OMNI:
            yield read_out_raw("omni, raw states", vectors, words), None
    index = DocumentIndex.open(arguments.trained_on)
    first, second = (
        nmf_of_ppmi(index, words, arguments.components, seed, f"NMF of PPMI, {arguments.components}")
        for seed in (0, 1)
    )
    yield first, second


def write(found: list[Interpretability], held_out: DocumentIndex, arguments: argparse.Namespace) -> None:
    """Write JSON for programs and a table for people."""
    facts: dict[str, Any] = {
        "held_out_documents": held_out.n_documents,
        "vocabulary": arguments.vocabulary,
        "results": [result.to_dict() for result in found],
    }
    (arguments.output / "interpretability.json").write_text(
        json.dumps(facts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    (arguments.output / "interpretability.md").write_text(table(found, facts), encoding="utf-8")


def table(found: list[Interpretability], facts: dict[str, Any]) -> str:
    """One line per model, then some dimensions of each."""
    lines = [
        f"# Interpretability, on {facts['held_out_documents']:,} held-out documents",
        "",
        f"First words out of the {facts['vocabulary']:,} words that most of the documents have;",
        "200 dimensions, 500 words and 200 pairs at random. Written by `benchmarks/interpretability.py`;",
        "docs/explain.md says what is measured.",
        "",
        _HEAD,
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
        *map(line, found),
        "",
        "## Dimensions drawn at random",
        "",
    ]
    for result in found:
        lines += [f"**{result.name}**", ""]
        lines += [f"- {name}: {', '.join(words)}" for name, words in list(result.examples.items())[:4]]
        lines += [""]
    return "\n".join(lines)


def line(result: Interpretability) -> str:
    """Write the numbers of a model."""
    left = next((step for step in result.faithfulness if step.removed == 10), None)
    shares = f"{left.left_without_top:.0%} / {left.left_without_random:.0%}" if left else "-"
    coherent = " | ".join("-" if value is None else f"{value:.3f}" for value in coherences(result))
    percents = [
        "-" if value is None else f"{value:.0%}"
        for value in (result.intruders_found, result.zeros, result.stability)
    ]
    return (
        f"| {result.name} | {result.n_dimensions:,} | {coherent} | {percents[0]} | {percents[1]} "
        f"| {shares} | {percents[2]} |"
    )


if __name__ == "__main__":
    main()
