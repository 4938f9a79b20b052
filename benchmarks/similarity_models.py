"""Train the models of the similarity table on one index, one after the other, and note what each cost.

    omnitm index enwiki.txt -o wiki.idx
    python benchmarks/similarity_models.py wiki.idx -o models --models omni word2vec fasttext glove ppmi
    python benchmarks/similarity_models.py wiki.idx -o models --models omni-paper tmae --words words.txt

CPU seconds (user + system, all threads, reading the text and saving included) go to
benchmarks/results/similarity-cost.json; a model that is there already is left alone.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omnitm.baselines import BASELINES, make_baseline
from omnitm.cli.train import prepare_similarity
from omnitm.corpus import DocumentIndex
from omnitm.machine import PAPER
from omnitm.store.record import plain_settings
from omnitm.training.vocabulary import default_settings, train_model
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnitm.training.progress import Progress

OMNI: dict[str, dict[str, Any]] = {
    "omni": {},
    "omni-paper": PAPER,
    "fast-omni": {"algorithm": "fast"},
    "fast-omni-paper": {**PAPER, "algorithm": "fast"},
}
COSTS = Path(__file__).parent / "results" / "similarity-cost.json"
_SECONDS_BETWEEN_LINES = 30


def cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def log_lines(name: str) -> Callable[[Progress], None]:
    next_time = 0.0

    def log(progress: Progress) -> None:
        nonlocal next_time
        if time.monotonic() >= next_time:
            next_time = time.monotonic() + _SECONDS_BETWEEN_LINES
            share, left = progress.done / max(1, progress.total), f"{progress.seconds_left:,.0f} s left"
            print(f"{name}: {share:.1%}, {cpu_seconds():,.0f} CPU s, {left}", flush=True)

    return log


def train(
    name: str, index: DocumentIndex, words: list[str] | None, settings: dict[str, Any], output: Path
) -> None:
    started, cpu_before = time.monotonic(), cpu_seconds()
    if name in OMNI:
        own = default_settings(index, **{**OMNI[name], **settings})
        vectors = train_model(index, output, words, settings=own, force=True, progress=log_lines(name))
        prepare_similarity(output, quiet=True)
    else:
        vectors = make_baseline(name, settings).train(index, words, progress=log_lines(name))
        vectors.save(output, force=True)
    cost = {
        "cpu_seconds": round(cpu_seconds() - cpu_before, 1),
        "seconds": round(time.monotonic() - started, 1),
        "words": len(vectors),
        "settings": plain_settings(vectors.training) if vectors.training else {},
    }
    print(f"{name}: {cost}", flush=True)
    costs = json.loads(COSTS.read_text()) if COSTS.exists() else {}
    COSTS.write_text(json.dumps({**costs, output.name: cost}, indent=2, sort_keys=True) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--models", nargs="+", choices=[*OMNI, *BASELINES], required=True)
    parser.add_argument(
        "--words", type=Path, help="only these words, one per line; unknown ones are left out"
    )
    parser.add_argument("--suffix", default="", help="of the names of the models' folders")
    parser.add_argument("--force", action="store_true", help="train again what is there already")
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=JSON", help="settings for all models")
    arguments = parser.parse_args()
    settings = {name: json.loads(value) for name, value in (pair.split("=", 1) for pair in arguments.set)}
    index = DocumentIndex.open(arguments.index)
    words = arguments.words and [w for w in arguments.words.read_text().split() if w in set(index.vocabulary)]
    for name in arguments.models:
        output = arguments.output / (name + arguments.suffix)
        if not arguments.force and (output / "manifest.json").exists():
            print(f"{name}: {WordVectors.load(output)} is there already", flush=True)
            continue
        train(name, index, words, settings, output)


if __name__ == "__main__":
    main()
