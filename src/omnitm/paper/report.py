"""What a reproduction found, as one self-contained HTML page and as Markdown."""

from __future__ import annotations

import base64
import html
import importlib.metadata
import os
import platform
from collections.abc import Sequence
from pathlib import Path

from omnitm import __version__
from omnitm.evaluation.classification import CONTROLS
from omnitm.evaluation.results import PlainTable, to_markdown
from omnitm.paper.reproduction import PAPER_WAY, STEPS, StepResult

_PACKAGES = ("numpy", "scipy", "scikit-learn", "gensim", "matplotlib", "torch", "transformers")
_WAYS = ("published", PAPER_WAY, "ours")
_COSINE = "by cosine"
_TITLE = "Omni TM-AE: the paper's tables and figures, measured again"
_STYLE = (
    "body{font:16px/1.5 sans-serif;max-width:80em;margin:2em auto;padding:0 1em;color:#222}"
    "table{border-collapse:collapse;margin:1em 0;font-size:14px;display:block;overflow-x:auto}"
    "caption{text-align:left;font-weight:bold}"
    "td,th{padding:.25em .7em;border-bottom:1px solid #ddd;text-align:right}"
    "td.label,th.label{text-align:left}img{max-width:100%}li{color:#444;font-size:14px}"
    ".paper td{color:#777}.way td{background:#eef4fb}.missing{background:#fff3e0;padding:.5em 1em}"
)


def write_report(results: Sequence[StepResult], folder: Path) -> tuple[Path, Path]:
    """Write report.html, which carries its pictures, and report.md; return both."""
    page, text = folder / "report.html", folder / "report.md"
    page.write_text(as_html(results, folder), encoding="utf-8")
    text.write_text(as_markdown(results), encoding="utf-8")
    return page, text


def as_markdown(results: Sequence[StepResult]) -> str:
    """Write all parts in Markdown; pictures stay files beside it."""
    parts = [f"# {_TITLE}\n", *([to_markdown(summary)] if (summary := _summary(results)) else [])]
    for result in _tables_first(results):
        parts.append(f"## {result.title}\n")
        if result.not_run is not None:
            parts.append(f"Not run: {result.not_run}\n")
            continue
        parts.append(to_markdown(result.tables, result.notes))
        parts += [f"![{result.title}]({picture})\n" for picture in result.pictures]
    parts += ["## How it was run\n", to_markdown(_about(results))]
    return "\n".join(parts)


def as_html(results: Sequence[StepResult], folder: Path) -> str:
    """Write all parts as one page without references to anything outside it."""
    body = [f"<h1>{_TITLE}</h1>", *map(_table, _summary(results))]
    for result in _tables_first(results):
        body.append(f"<h2>{html.escape(result.title)}</h2>")
        if result.not_run is not None:
            body.append(f"<p class='missing'>Not run: {html.escape(result.not_run)}</p>")
            continue
        body += [_table(table) for table in result.tables]
        body += [_picture(folder / picture, result.title) for picture in result.pictures]
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in result.notes)
        body.append(f"<ul>{notes}</ul>" if notes else "")
    body.append("<h2>How it was run</h2>")
    body += [_table(table) for table in _about(results)]
    head = f"<meta charset='utf-8'><title>{_TITLE}</title><style>{_STYLE}</style>"
    return f"<!doctype html><html lang='en'><head>{head}</head><body>{''.join(body)}</body></html>\n"


def _tables_first(results: Sequence[StepResult]) -> list[StepResult]:
    """Put the paper's tables and figures before the corpus and the settings of models."""
    return sorted(results, key=lambda result: result.name not in STEPS)


def _summary(results: Sequence[StepResult]) -> list[PlainTable]:
    """Compare like with like: Omni and the best other as published, in the paper's way, and in ours."""
    header = ["average", *(f"{way}: {who}" for way in _WAYS for who in ("Omni", "best other"))]
    summary = PlainTable("In short (the published figures are of another corpus)", header)
    for result in results:
        for table in result.tables:
            if "average" in table.header:
                cells = [cell for way in _WAYS for cell in _best(table, way)]
                summary.rows.append([f"{result.title}: {table.title}", *cells])
    return [summary] if summary.rows else []


def _best(table: PlainTable, way: str) -> tuple[str, str]:
    """Find the highest average of Omni and of the others, as text."""
    column = table.header.index("average")
    found: dict[tuple[str, bool], tuple[float, str]] = {}
    for row in table.rows:
        name, of_way = row[0], "ours"
        for other, mark in (("published", " (published"), (PAPER_WAY, f" ({PAPER_WAY}")):
            if mark in name:
                name, of_way = name.partition(mark)[0], other
        if name in CONTROLS or not _is_number(row[column]):
            continue
        is_omni = "omni" in name.lower()
        entry = (float(row[column]), row[column] if is_omni else f"{row[column]} ({name})")
        found[of_way, is_omni] = max(found.get((of_way, is_omni), entry), entry)
        # Tables 1 and 2 compare words of other models by cosine, as the paper does
        if of_way == "ours" and not is_omni and (table.header[1] != "metric" or row[1] == "cosine"):
            found[_COSINE, False] = max(found.get((_COSINE, False), entry), entry)
    if (PAPER_WAY, True) in found and (_COSINE, False) in found:
        found.setdefault((PAPER_WAY, False), found[_COSINE, False])
    omni, other = (found.get((way, is_omni), (0.0, "-"))[1] for is_omni in (True, False))
    return omni, other


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).replace("-", "", 1).isdigit()


def _table(table: PlainTable) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        marks = (" class='label'" if k < table.n_labels else "" for k in range(len(cells)))
        marks_of_rows = {"(published": " class='paper'", f"({PAPER_WAY}": " class='way'"}
        kind = next((shown for mark, shown in marks_of_rows.items() if cells and mark in cells[0]), "")
        inside = "".join(
            f"<{tag}{mark}>{html.escape(cell)}</{tag}>" for cell, mark in zip(cells, marks, strict=True)
        )
        return f"<tr{kind}>{inside}</tr>"

    rows = "".join(row(cells, "td") for cells in table.rows)
    return f"<table><caption>{html.escape(table.title)}</caption>{row(table.header, 'th')}{rows}</table>"


def _picture(path: Path, title: str) -> str:
    content = base64.b64encode(path.read_bytes()).decode()
    return f"<img alt='{html.escape(title, quote=True)}' src='data:image/png;base64,{content}'>"


def _about(results: Sequence[StepResult]) -> list[PlainTable]:
    time = PlainTable("Time spent", ["part", "seconds"])
    for result in results:
        time.rows.append(
            [result.title, "not run" if result.not_run is not None else f"{result.seconds:,.1f}"]
        )
    time.rows.append(["all", f"{sum(result.seconds for result in results):,.1f}"])
    versions = PlainTable("Versions", ["what", "version"])
    versions.rows += [["omnitm", __version__], ["Python", platform.python_version()]]
    versions.rows += [[name, found] for name in _PACKAGES if (found := _version(name))]
    versions.rows.append(["machine", f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"])
    return [time, versions]


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
