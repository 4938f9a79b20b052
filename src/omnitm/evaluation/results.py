"""What an evaluation found: typed, versioned, readable again from JSON; tables on screen and in files."""

from __future__ import annotations

import csv
import io
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from omnitm.errors import FileError, ParameterError
from omnitm.evaluation.correlation import Interval

if TYPE_CHECKING:
    from rich.console import Console

VERSION = 1
MEASURED = "measured"

Correlation = Literal["spearman", "kendall"]


_NOTHING = "-"


@dataclass
class PlainTable:
    """A table of texts; the first `n_labels` columns are left-aligned."""

    title: str
    header: list[str]
    rows: list[list[str]] = field(default_factory=list)
    n_labels: int = 1

    def to_markdown(self) -> str:
        """Write the table in Markdown."""
        marks = ["---" if column < self.n_labels else "--:" for column in range(len(self.header))]
        lines = [self.header, marks, *self.rows]
        body = "\n".join(
            "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
        )
        return f"**{self.title}**\n\n{body}\n"

    def show(self, console: Console) -> None:
        """Print the table."""
        from rich.table import Table
        from rich.text import Text

        table = Table(title=Text(self.title, style="bold"), title_justify="left", box=None, pad_edge=False)
        for column, name in enumerate(self.header):
            table.add_column(name, justify="left" if column < self.n_labels else "right")
        for row in self.rows:
            table.add_row(*(Text(cell) for cell in row))
        console.print(table)


class Report(ABC):
    """What an evaluation found, a frozen dataclass: tables to read, JSON and CSV for programs."""

    notes: tuple[str, ...]

    @abstractmethod
    def tables(self) -> list[PlainTable]:
        """Make the tables that people read."""

    @abstractmethod
    def lines(self) -> Iterable[Sequence[Any]]:
        """Yield the lines of a CSV file, the names of its columns first."""

    def to_json(self) -> str:
        """Write the report as JSON."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False)  # type: ignore[call-overload]

    def to_csv(self) -> str:
        """Write the report as CSV: real numbers with six digits, nothing where there is no number."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        for line in self.lines():
            cells = (f"{cell:.6f}" if isinstance(cell, float) else cell for cell in line)
            writer.writerow(["" if cell in {None, "nan"} else cell for cell in cells])
        return out.getvalue()


@dataclass(frozen=True)
class Agreement:
    """How well scores agree with human judgements; None where there are too few pairs to say."""

    spearman: float | None
    kendall: float | None
    spearman_interval: Interval | None = None
    kendall_interval: Interval | None = None


@dataclass(frozen=True)
class GroupResult:
    """The agreement on a part of a set: a frequency band or a part of speech."""

    kind: Literal["frequency", "part of speech"]
    name: str
    n_used: int
    agreement: Agreement


@dataclass(frozen=True)
class SetResult:
    """The agreement on one set; `n_used` of its `n_pairs` pairs are known to all models compared."""

    name: str
    n_pairs: int | None
    n_used: int | None
    agreement: Agreement
    groups: tuple[GroupResult, ...] = ()


@dataclass(frozen=True)
class ModelResult:
    """One row of the table: a model read out by one metric."""

    model: str
    metric: str
    sets: tuple[SetResult, ...]
    average: Agreement | None = None
    """Mean over the paper's five sets, if all of them were scored."""
    difference: Agreement | None = None
    """Average minus that of the first row, on the same resamples; None for the first row."""
    source: str = MEASURED
    n_words: int | None = None
    vector_size: int | None = None
    megabytes: float | None = None
    n_seeds: int = 1
    """Trainings that all figures are means of."""
    seed_averages: tuple[float, ...] = ()
    """Mean Spearman over the paper's five sets, by seed."""


@dataclass(frozen=True)
class SimilarityReport(Report):
    """All rows of a similarity evaluation, and how they were measured."""

    rows: tuple[ModelResult, ...]
    n_resamples: int
    confidence: float
    seed: int
    notes: tuple[str, ...] = ()
    resampled: str = "words"
    """What the intervals resample; "pairs" in reports of former versions."""
    version: int = VERSION
    kind: str = "omnitm similarity"

    def tables(self) -> list[PlainTable]:
        """Make tables of both correlations, of groups if there are any, and of sizes."""
        titles: list[tuple[Correlation, str]] = [("spearman", "Spearman"), ("kendall", "Kendall")]
        tables = [_correlation_table(self, which, title) for which, title in titles]
        groups = (_group_table(self, kind) for kind in ("frequency", "part of speech"))
        return [*tables, *(table for table in (*groups, _size_table(self)) if table.rows)]

    def lines(self) -> Iterator[Sequence[Any]]:
        """Yield a line per model, metric, set and group."""
        columns = ["model", "metric", "source", "set", "group_kind", "group", "pairs", "pairs_used"]
        ends = ("", "_low", "_high")
        yield [*columns, *(which + end for which in ("spearman", "kendall") for end in ends)]
        for row in self.rows:
            start = row.model, row.metric, row.source
            for part in row.sets:
                counts = part.n_pairs, part.n_used
                yield *start, part.name, "", "", *counts, *_figures(part.agreement)
                for group in part.groups:
                    cells = part.name, group.kind, group.name, part.n_pairs, group.n_used
                    yield *start, *cells, *_figures(group.agreement)
            if row.average:
                yield *start, "average", "", "", "", "", *_figures(row.average)

    @classmethod
    def from_json(cls, text: str) -> SimilarityReport:
        """Read a report that `to_json` wrote."""
        content = json.loads(text)
        found = (content.get("kind"), content.get("version")) if isinstance(content, dict) else None
        if found != (cls.kind, VERSION):
            raise ParameterError(
                f"This is not a report that this omnitm reads: expected {(cls.kind, VERSION)}, found {found}."
            )
        rows = tuple(_model_result(row) for row in content.pop("rows"))
        return cls(**{"resampled": "pairs", **content, "rows": rows, "notes": tuple(content["notes"])})

    def row(self, model: str, metric: str | None = None) -> ModelResult:
        """Find the row of a model, the first if it has several metrics and none is named."""
        for row in self.rows:
            if row.model == model and metric in {None, row.metric}:
                return row
        known = ", ".join(f"{row.model} ({row.metric})" for row in self.rows)
        raise ParameterError(f"The report has no row for {model!r} {metric or ''}; it has {known}.")


def _model_result(row: dict[str, Any]) -> ModelResult:
    sets = tuple(_set_result(part) for part in row["sets"])
    averages = {name: row[name] and _agreement(row[name]) for name in ("average", "difference")}
    seeds = tuple(row.get("seed_averages", ()))
    return ModelResult(**{**row, **averages, "sets": sets, "seed_averages": seeds})


def _set_result(part: dict[str, Any]) -> SetResult:
    groups = tuple(
        GroupResult(**{**group, "agreement": _agreement(group["agreement"])}) for group in part["groups"]
    )
    return SetResult(**{**part, "agreement": _agreement(part["agreement"]), "groups": groups})


def _agreement(values: dict[str, Any]) -> Agreement:
    intervals = {
        name: Interval(*values[name]) if values[name] else None
        for name in ("spearman_interval", "kendall_interval")
    }
    return Agreement(**{**values, **intervals})


def make_folder(folder: Path) -> Path:
    """Make a folder for results unless it is there; an error says why it cannot be one."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            folder, f"is no folder that results can go to ({error.strerror}); name another."
        ) from None
    return folder


def to_markdown(tables: Iterable[PlainTable], notes: Sequence[str] = ()) -> str:
    """Write tables and notes in Markdown."""
    parts = [table.to_markdown() for table in tables]
    if notes:
        parts.append("\n".join(f"- {note}" for note in notes) + "\n")
    return "\n".join(parts)


def _size_table(report: SimilarityReport) -> PlainTable:
    """List how large the vectors of each model are: a line per model, whatever its metrics."""
    table = PlainTable("Size of the vectors", ["model", "words", "numbers per word", "MB"])
    for row in {row.model: row for row in report.rows if row.megabytes is not None}.values():
        table.rows.append([row.model, f"{row.n_words:,}", f"{row.vector_size:,}", f"{row.megabytes:,.1f}"])
    return table


def _interval(row: ModelResult, which: Correlation) -> str:
    """Write the interval of the average, or of the only set that there is."""
    if row.average is not None or len(row.sets) != 1:
        return span(row.average, which)
    found = span(row.sets[0].agreement, which)
    return found if found == _NOTHING else f"{found} ({row.sets[0].name})"


def _correlation_table(report: SimilarityReport, which: Correlation, title: str) -> PlainTable:
    names = list(dict.fromkeys(part.name for row in report.rows for part in row.sets))
    share = f"{report.confidence:.0%}"
    with_difference = any(row.difference for row in report.rows)
    header = ["model", "metric", *names, "average", f"{share} interval"]
    table = PlainTable(title, header, n_labels=2)
    if with_difference:
        header.append("to the first")
    table.rows.append(_pairs_row(report, names, len(header)))
    for row in report.rows:
        found = {part.name: getattr(part.agreement, which) for part in row.sets}
        cells = [_label(row), row.metric, *(number(found.get(name)) for name in names)]
        cells += [number(getattr(row.average, which, None)), _interval(row, which)]
        if with_difference:
            cells.append(_difference(row, which))
        table.rows.append(cells)
    return table


def _label(row: ModelResult) -> str:
    name = row.model if row.n_seeds == 1 else f"{row.model}, {row.n_seeds} seeds"
    return name if row.source == MEASURED else f"{name} ({row.source})"


def _pairs_row(report: SimilarityReport, names: Sequence[str], width: int) -> list[str]:
    counts = {part.name: part for row in report.rows for part in row.sets if part.n_pairs is not None}
    cells = [
        f"{counts[name].n_used:,}/{counts[name].n_pairs:,}" if name in counts else _NOTHING for name in names
    ]
    return ["pairs used", "", *cells, *[""] * (width - 2 - len(cells))]


def _difference(row: ModelResult, which: Correlation) -> str:
    if row.difference is None:
        return _NOTHING
    return f"{getattr(row.difference, which):+.3f} {span(row.difference, which)}"


def _group_table(report: SimilarityReport, kind: str) -> PlainTable:
    unit = " of the rarer word: documents" if kind == "frequency" else ""
    title = f"Spearman by {kind}{unit} (mean over sets, weighted by pairs)"
    measured = [row for row in report.rows if row.source == MEASURED]
    found = {
        id(row): {group.name: group for group in pooled_groups(row) if group.kind == kind} for row in measured
    }
    names = list(dict.fromkeys(name for groups in found.values() for name in groups))
    table = PlainTable(title, ["model", "metric", *names], n_labels=2)
    if not names:
        return table
    sizes = {name: group.n_used for groups in found.values() for name, group in groups.items()}
    table.rows.append(["pairs used", "", *(f"{sizes[name]:,}" for name in names)])
    for row in measured:
        cells = (found[id(row)].get(name) for name in names)
        table.rows.append(
            [row.model, row.metric, *(number(c.agreement.spearman if c else None) for c in cells)]
        )
    return table


def pooled_groups(row: ModelResult, only: Sequence[str] | None = None) -> list[GroupResult]:
    """Average each group over the sets that have it, weighted by pairs."""
    found: dict[tuple[Literal["frequency", "part of speech"], str], list[GroupResult]] = {}
    for part in row.sets:
        if only is None or part.name in only:
            for group in part.groups:
                found.setdefault((group.kind, group.name), []).append(group)
    return [_pool(kind, name, groups) for (kind, name), groups in found.items()]


def _pool(
    kind: Literal["frequency", "part of speech"], name: str, groups: Sequence[GroupResult]
) -> GroupResult:
    known = [group for group in groups if group.agreement.spearman is not None]
    n_used = sum(group.n_used for group in known)
    if not n_used:
        return GroupResult(kind, name, sum(group.n_used for group in groups), Agreement(None, None))
    spearman, kendall = (
        sum(group.n_used * (getattr(group.agreement, which) or 0.0) for group in known) / n_used
        for which in ("spearman", "kendall")
    )
    return GroupResult(kind, name, n_used, Agreement(spearman, kendall))


def number(value: float | None) -> str:
    """Write a correlation with three digits."""
    return _NOTHING if value is None else f"{value:.3f}"


def span(agreement: Agreement | None, which: Correlation) -> str:
    """Write a confidence interval."""
    found = getattr(agreement, f"{which}_interval", None)
    return _NOTHING if found is None else f"{found.low:.3f} to {found.high:.3f}"


def _figures(agreement: Agreement) -> list[float | None]:
    return [
        figure
        for which in ("spearman", "kendall")
        for figure in (getattr(agreement, which), *(getattr(agreement, f"{which}_interval") or (None, None)))
    ]
