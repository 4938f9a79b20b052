"""Cluster the paper's five sets of documents with all models; tables go to results/clustering.md and .json.

    python benchmarks/clustering.py --data DATA omni=models/omni word2vec=models/word2vec glove=models/glove

Every model is measured with several weightings, on the main axes of the documents and without them; what was
measured before is not measured again. The first model has to lead in both averages, by 0.03 of NMI, in the
documented configuration; how far it leads over the best of each other model is said as well.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

from omnitm.cli.evaluate import open_models
from omnitm.evaluation.clustering import (
    ClusteringReport,
    ModelClustering,
    SetClustering,
    Spread,
    evaluate_clustering,
)
from omnitm.evaluation.labelled import CLUSTERING_SETS, LabelledDocuments, load_documents
from omnitm.evaluation.results import to_markdown
from omnitm.paper.published import published_clusterings

RESULTS = Path(__file__).parent / "results"
CONFIGURATION = ("length", 30)  # the documented one: weighting and main axes
LEAD = 0.03
PLANS: tuple[tuple[int | None, str], ...] = (
    (30, "length"),
    (30, "mean"),
    (30, "idf"),
    (None, "length"),
    (None, "mean"),
)
KEPT = RESULTS / "clustering.json"


def verdict(reports: list[ClusteringReport]) -> tuple[list[str], bool]:
    """Compare the first model with the others: in the documented configuration, and with the best of each."""
    found = [(row, report.n_axes) for report in reports for row in report.rows]
    first = found[0][0].model
    documented = {row.model: row for row, axes in found if (row.weighting, axes) == CONFIGURATION}
    ours = documented.pop(first)
    leads, wins = [], []
    lines = [f"documented configuration ({_how(ours, CONFIGURATION[1])}):"]
    lines += [f"  {row.model}: NMI {row.nmi:.3f}, ARI {row.ari:.3f}" for row in (ours, *documented.values())]
    lines.append("the best that each other model reaches in any configuration:")
    for name, same in documented.items():
        rows = [(row, axes) for row, axes in found if row.model == name]
        nmi, ari = max(rows, key=lambda pair: pair[0].nmi), max(rows, key=lambda pair: pair[0].ari)
        lines.append(f"  {name}: NMI {nmi[0].nmi:.3f} ({_how(*nmi)}), ARI {ari[0].ari:.3f} ({_how(*ari)})")
        leads.append(ours.nmi - same.nmi >= LEAD and ours.ari > same.ari)
        wins.append(ours.nmi - nmi[0].nmi >= LEAD and ours.ari > ari[0].ari)
    for text, reached in (("in the documented configuration", leads), ("over the best of each", wins)):
        lines.append(
            f"{first} leads in both averages, by {LEAD} of NMI, {text}: {'yes' if all(reached) else 'no'}"
        )
    return lines, all(leads)


def _how(row: ModelClustering, n_axes: int | None) -> str:
    return f"{row.weighting}, {f'{n_axes} axes' if n_axes else 'no axes'}"


def measured(
    name: str, folder: str, plan: tuple[int | None, str], sets: list[LabelledDocuments], seeds: int
) -> tuple[ModelClustering, tuple[str, ...]]:
    """Measure one model in one configuration."""
    n_axes, weighting = plan
    report = evaluate_clustering(
        open_models([f"{name}={folder}"]),
        sets,
        weightings=(weighting,),  # type: ignore[arg-type]
        seeds=range(seeds),
        n_axes=n_axes,
    )
    return report.rows[0], report.notes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("models", nargs="+", help="NAME=FOLDER, ours first")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    sets: list[LabelledDocuments] = []
    for source, plan in product(arguments.models, PLANS):
        name, _, folder = source.partition("=")
        key = f"{name}, {plan[1]}, {f'{plan[0]} axes' if plan[0] else 'no axes'}, {arguments.seeds} seeds"
        if key in kept:
            continue
        sets = sets or [load_documents(name, arguments.data) for name in CLUSTERING_SETS]
        started = time.process_time()
        row, notes = measured(name, folder, plan, sets, arguments.seeds)
        seconds = round(time.process_time() - started, 1)
        kept[key] = {"n_axes": plan[0], "row": asdict(row), "notes": notes, "cpu_seconds": seconds}
        KEPT.write_text(json.dumps(kept, indent=2) + "\n")
        print(f"{key}: NMI {row.nmi:.3f}, ARI {row.ari:.3f}, {seconds} CPU s", flush=True)
    return write_tables(kept)


def write_tables(kept: dict[str, Any]) -> int:
    """Write all that was measured as Markdown, with the paper's rows and the verdict."""
    paper = ClusteringReport(published_clusterings(), (), 0, None)
    parts = ["# Clustering documents\n", "## The paper's Table 3\n", to_markdown(paper.tables())]
    reports = []
    for n_axes in dict.fromkeys(plan[0] for plan in PLANS):
        chosen = [entry for entry in kept.values() if entry["n_axes"] == n_axes]
        rows = tuple(read_row(entry["row"]) for entry in chosen)
        notes = tuple(dict.fromkeys(note for entry in chosen for note in entry["notes"]))
        reports.append(ClusteringReport(rows, (), 300, n_axes, notes))
        heading = f"## Ours, on {n_axes} main axes\n" if n_axes else "## Ours, without main axes\n"
        parts += [heading, to_markdown(reports[-1].tables(), notes)]
    lines, reached = verdict(reports)
    seconds = sum(entry["cpu_seconds"] for entry in kept.values())
    lines.append(f"{seconds:,.0f} CPU seconds in all")
    (RESULTS / "clustering.md").write_text(
        "\n".join([*parts, "## Verdict\n", *(f"- {x}" for x in lines)]) + "\n"
    )
    print("\n".join(lines))
    return 0 if reached else 1


def read_row(row: dict[str, Any]) -> ModelClustering:
    """Read a row that `asdict` wrote."""
    sets = tuple(
        SetClustering(part["name"], Spread(**part["nmi"]), Spread(**part["ari"])) for part in row["sets"]
    )
    return ModelClustering(**{**row, "sets": sets})


if __name__ == "__main__":
    sys.exit(main())
