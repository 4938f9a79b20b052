"""Show measured rows as a table, and keep them as Markdown and JSON in `results/`."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).parent / "results"
HEADINGS = ["measure", "TMU", "omnitm", "result", "to reach", "reached", "note"]


@dataclass(frozen=True)
class Row:
    """One measured line: what, theirs, ours, what follows, what was wanted."""

    measure: str
    theirs: str
    ours: str
    result: str
    reach: str
    reached: bool | None
    note: str = ""

    @property
    def cells(self) -> list[str]:
        """The line as text."""
        verdict = {True: "yes", False: "NO", None: ""}[self.reached]
        return [self.measure, self.theirs, self.ours, self.result, self.reach, verdict, self.note]


def faster(measure: str, theirs: float, ours: float, reach: float | None, note: str = "") -> Row:
    """Compare CPU seconds: how many times faster we are."""
    ratio = theirs / ours
    wanted, reached = ("", None) if reach is None else (f">= {reach:g}x", ratio >= reach)
    return Row(measure, f"{theirs:.2f} s", f"{ours:.4f} s", f"{ratio:.0f}x", wanted, reached, note)


def at_most(measure: str, theirs_and_ours: tuple[str, str], value: float, limit: float, note: str) -> Row:
    """Compare a value with its limit."""
    return Row(measure, *theirs_and_ours, f"{value:.3g}", f"<= {limit:g}", value <= limit, note)


def show(rows: list[Row]) -> None:
    """Print the rows to a terminal."""
    table = Table(*HEADINGS)
    for row in rows:
        table.add_row(*row.cells)
    Console(width=None if Console().is_terminal else 160).print(table)


def keep(rows: list[Row], name: str, seconds: float) -> None:
    """Write the rows as `results/<name>.md` and `.json`, with the machine they were measured on."""
    RESULTS.mkdir(exist_ok=True)
    lines = [HEADINGS, ["---"] * len(HEADINGS), *(row.cells for row in rows)]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    where = ", ".join(f"{key}: {value}" for key, value in machine().items())
    (RESULTS / f"{name}.md").write_text(f"{table}\n\n{where}\n", encoding="utf-8")
    measured = {"machine": machine(), "seconds": round(seconds), "rows": [asdict(row) for row in rows]}
    (RESULTS / f"{name}.json").write_text(json.dumps(measured, indent=2) + "\n", encoding="utf-8")


def machine() -> dict[str, str]:
    """Say what the figures were measured on."""
    return {
        "processor": processor(),
        "cores": str(os.cpu_count()),
        "load": f"{os.getloadavg()[0]:.1f}",
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def processor() -> str:
    """Return the processor's name as Linux gives it."""
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()
