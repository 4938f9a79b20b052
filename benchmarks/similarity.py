"""The paper's Table 1 on our own text: every model that was trained, on the same pairs.

    python benchmarks/similarity_models.py wiki.idx -o models --models omni word2vec glove ppmi
    python benchmarks/similarity.py models --index wiki.idx --data DIR

Writes benchmarks/results/similarity.md and similarity.json; models that are not there are named at the end. A
model whose folder is NAME may have other seeds beside it, NAME-seed1 and so on: they are one row. Some models
only, kept under another name:

    python benchmarks/similarity.py models --index wiki.idx --only omni ppmi --name similarity-words
    python benchmarks/similarity.py models --index wiki.idx --only omni "omni, 300 dimensions" --keep

With `--keep` the rows of other models stay as they are in the last report of this name.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.corpus import DocumentIndex
from omnitm.evaluation.datasets import PAPER_SETS
from omnitm.evaluation.results import SimilarityReport
from omnitm.evaluation.similarity import evaluate_similarity
from omnitm.paper.published import published_rows
from omnitm.similarity.word_forms import WordForms
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Sequence

RESULTS = Path(__file__).parent / "results"
OTHER_SETS = ("SimLex-999", "WS-353-SIM", "WS-353-REL")
MODELS: dict[str, tuple[str, ...]] = {
    "omni": ("similarity", "related", "alike", "association", "association-symmetric"),
    "fast-omni": ("similarity", "association", "association-symmetric"),
    "omni-paper": ("association", "association-symmetric", "cosine"),
    "fast-omni-paper": ("association", "association-symmetric", "cosine"),
    "word2vec": ("cosine",),
    "fasttext": ("cosine",),
    "glove": ("cosine",),
    "ppmi": ("similarity", "association", "cosine"),
    "ppmi-smoothed": ("similarity",),
    "omni, 300 dimensions": ("cosine",),
    "omni, 100 dimensions": ("cosine",),
    "omni, 256 coordinates": ("cosine",),
}
COMPACT = tuple(name for name in MODELS if name.startswith("omni, "))
AVERAGED = ", forms averaged"
DENSE = ("word2vec", "fasttext", "glove")
RG_65_ONLY = ("tmae-rg65", "two-phase-rg65")  # the paper, too, has these on the smallest set alone


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("models", type=Path, help="folder with one folder per model")
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--data", type=Path)
    parser.add_argument(
        "--rg65-only", action="store_true", help="keep the rows of the other models as they are"
    )
    parser.add_argument("--only", nargs="+", choices=[*MODELS], help="score these models alone")
    parser.add_argument(
        "--keep", action="store_true", help="keep the last rows of models that are not scored"
    )
    parser.add_argument("--name", default="similarity", help="of the files of results")
    arguments = parser.parse_args()
    index = DocumentIndex.open(arguments.index)
    frequencies = dict(zip(index.vocabulary, index.document_frequencies.tolist(), strict=True))
    common: dict[str, Any] = {"data": arguments.data, "frequencies": frequencies, "on_row": print}
    if arguments.only:
        report = full_report(arguments.models, common, arguments.only)
        if arguments.keep:
            last = SimilarityReport.from_json((RESULTS / f"{arguments.name}.json").read_text())
            others = tuple(row for row in last.rows if row.model not in arguments.only)
            report = replace(report, rows=(*report.rows, *others))
        write(report, missing=[], name=arguments.name)
        return
    report = kept_report() if arguments.rg65_only else full_report(arguments.models, common, tuple(MODELS))
    for name in RG_65_ONLY:
        if (folder := arguments.models / name).exists():
            model = {name: WordVectors.load(folder)}
            small = evaluate_similarity(model, ["RG-65"], metrics=["cosine"], data=arguments.data)
            report = replace(report, rows=(*report.rows, *small.rows))
    folders = [name for name in (*MODELS, *RG_65_ONLY) if name not in COMPACT]
    write(report, missing=[name for name in folders if not (arguments.models / name).exists()])


def full_report(folder: Path, common: dict[str, Any], names: Sequence[str]) -> SimilarityReport:
    """Score every model by each of its metrics, all on the pairs that all models know."""
    models: dict[str, Any] = {name: trainings(folder, name) for name in names if (folder / name).exists()}
    if "omni" in models and {*names} & {*COMPACT}:
        models |= {name: form for name, form in compact_forms(models["omni"][0]).items() if name in names}
    if len(names) == len(MODELS):
        models |= {name + AVERAGED: averaged_over_forms(models[name][0]) for name in DENSE if name in models}
    metrics = {name: MODELS[name.removesuffix(AVERAGED)] for name in models}
    return evaluate_similarity(models, [*PAPER_SETS, *OTHER_SETS], metrics=metrics, **common)


def trainings(folder: Path, name: str) -> list[WordVectors]:
    """Open a model and its other seeds, NAME-seed1 and so on."""
    return [WordVectors.load(path) for path in (folder / name, *sorted(folder.glob(f"{name}-seed*")))]


def compact_forms(omni: WordVectors) -> dict[str, Any]:
    """Return what ordinary tools can hold."""
    return {
        "omni, 300 dimensions": omni.reduce(300),
        "omni, 100 dimensions": omni.reduce(100),
        "omni, 256 coordinates": omni.sparsify(256),
    }


def kept_report() -> SimilarityReport:
    """Read the last report, without the models of RG-65."""
    report = SimilarityReport.from_json((RESULTS / "similarity.json").read_text())
    return replace(report, rows=tuple(row for row in report.rows if row.model not in RG_65_ONLY))


def averaged_over_forms(vectors: WordVectors) -> WordVectors:
    """Do to dense vectors what forms do to Omni's similarity: to see whether it is that alone."""
    units = vectors.matrix / np.linalg.norm(vectors.matrix, axis=1, keepdims=True)
    rows = WordForms.of(vectors.index_to_key, units).matrix @ units
    return WordVectors(rows.astype(np.float32), vectors.index_to_key, None)


def write(report: SimilarityReport, missing: list[str], name: str = "similarity") -> None:
    costs = json.loads((RESULTS / "similarity-cost.json").read_text())
    lines = ["# Similarity on English Wikipedia: our rows, and the paper's (another corpus) beside them\n"]
    beside = replace(report, rows=(*published_rows(), *report.rows))
    lines += [table.to_markdown() for table in beside.tables()]
    lines += [
        "**CPU seconds of training, all threads, saving included**\n",
        "| model | words | CPU s | |",
        "|---|--:|--:|---|",
    ]
    lines += [
        f"| {model} | {cost['words']:,} | {cost['cpu_seconds']:,.0f} | {cost.get('source', '')} |"
        for model, cost in costs.items()
    ]
    lines += ["", *(f"- {note}" for note in report.notes), *(f"- not run: {model}" for model in missing)]
    (RESULTS / f"{name}.md").write_text("\n".join(lines) + "\n")
    (RESULTS / f"{name}.json").write_text(report.to_json() + "\n")
    print(f"{RESULTS / name}.md")


if __name__ == "__main__":
    main()
