"""What an evaluation found: typed, versioned, and readable again from JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from omnitm.errors import FileError, ParameterError
from omnitm.evaluation.correlation import Interval

if TYPE_CHECKING:
    from pathlib import Path

VERSION = 1
MEASURED = "measured"

Correlation = Literal["spearman", "kendall"]


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
class SimilarityReport:
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

    def to_json(self) -> str:
        """Write the report as JSON."""
        return json.dumps(asdict(self), indent=2)

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
