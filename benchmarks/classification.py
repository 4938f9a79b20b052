"""The paper's Table 2: train every source on IMDb's reviews, replace words, train six classifiers.

    python benchmarks/classification.py --data DATA -o work
    python benchmarks/classification.py --data DATA -o work --sources bert --set model=FOLDER

Both readings of the paper; models and figures are kept in `work`, so that a stopped run goes on and a source
is added by another run, in another environment if need be. Tables go to results/classification.md and .json:
all that was measured so far. Ours, in the documented form, has to be above every other static source.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from omnitm.cli.train import prepare_similarity
from omnitm.evaluation.classification import (
    CONTROLS,
    RANDOM,
    READINGS,
    BinaryTask,
    ClassificationReport,
    Neighbours,
    Perturbation,
    SourceResult,
    evaluate_classification,
    make_task,
)
from omnitm.evaluation.labelled import load_documents
from omnitm.evaluation.results import to_markdown
from omnitm.paper.published import published_classification
from omnitm.paper.reproduction import train_on_reviews

RESULTS = Path(__file__).parent / "results"
KEPT = RESULTS / "classification.json"
OURS = "omni, 300 dimensions"  # the documented form: `reduce(300)`, compared by cosine like the others
STATIC = ("word2vec", "fasttext", "glove")
SOURCES = ("omni", "fast-omni", *STATIC)
LABELS = {"bert": "bert (6-layer MiniLM, frozen)", "elmo": "elmo (small, trained here)"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True, help="for models and figures")
    parser.add_argument("--sources", nargs="+", default=list(SOURCES))
    parser.add_argument("--readings", nargs="+", choices=READINGS, default=list(READINGS))
    parser.add_argument(
        "--set", metavar="NAME=VALUE", nargs="+", default=[], help="settings of a single source"
    )
    arguments = parser.parse_args()
    documents = load_documents("IMDb", arguments.data)
    task = make_task(documents)
    settings = dict(text.split("=", 1) for text in arguments.set)
    for name in arguments.sources:
        sources, notes = train_on_reviews(
            documents, arguments.output, [name], {name: settings}, progress=True, on_step=print
        )
        if notes:
            sys.exit(notes[0])
        if name == "omni":
            prepare_similarity(arguments.output / "models" / name, quiet=True)
            sources[OURS] = sources[name].reduce(300)
        neighbours = {LABELS.get(k, k): Neighbours(v, task.vocabulary) for k, v in sources.items()}
        for reading in arguments.readings:
            measure(neighbours, task, reading, arguments.output / "figures")
    return write_tables()


def measure(sources: dict[str, Neighbours], task: BinaryTask, reading: Any, folder: Path) -> None:
    """Measure one source, and keep its rows."""
    report = evaluate_classification(
        sources,
        task,
        perturbation=Perturbation(reading=reading),
        folder=folder,
        on_step=lambda text: print(f"{reading}: {text}", flush=True),
    )
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    rows = kept.setdefault(reading, {"rows": {}, "notes": []})
    rows["rows"] |= {row.source: asdict(row) for row in report.rows}
    rows["notes"] += [note for note in report.notes if note not in rows["notes"]]
    KEPT.write_text(json.dumps(kept, indent=2) + "\n")


def write_tables() -> int:
    """Write all that was measured as Markdown, with the paper's rows and the verdict."""
    kept = json.loads(KEPT.read_text())
    parts, verdicts = ["# Classifying documents: the paper's Table 2\n"], []
    for reading, found in kept.items():
        rows = sorted((SourceResult(**row) for row in found["rows"].values()), key=place)
        report = ClassificationReport(
            (*published_classification(), *rows), (), Perturbation(reading=reading), notes=()
        )
        parts.append(to_markdown(report.tables(), found["notes"]))
        averages = {row.source: row.average or 0.0 for row in rows}
        others = {averages[name]: name for name in STATIC if name in averages}
        if OURS in averages and others:
            verdicts.append((reading, averages[OURS], max(others), others[max(others)], averages[RANDOM]))
    lines = [
        f"{reading}: {OURS} {ours:.4f}, the best other static source, {name}, {other:.4f}; "
        f"words drawn at random {control:.4f}: {'above' if ours > other else 'not above'}"
        for reading, ours, other, name, control in verdicts
    ]
    (RESULTS / "classification.md").write_text(
        "\n".join([*parts, "## Verdict\n", *(f"- {x}" for x in lines)]) + "\n"
    )
    print("\n".join(lines))
    return 0 if all(ours > other for _, ours, other, _, _ in verdicts) else 1


def place(row: SourceResult) -> tuple[int, float]:
    """Put controls first, then the highest average."""
    return CONTROLS.index(row.source) if row.source in CONTROLS else 2, -(row.average or 0)


if __name__ == "__main__":
    sys.exit(main())
