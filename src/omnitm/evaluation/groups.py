"""Results by frequency band and by part of speech: where a model is strong and where it is weak."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from omnitm.evaluation.correlation import correlations
from omnitm.evaluation.results import Agreement, GroupResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from omnitm.evaluation.results import ModelResult

FREQUENCY_EDGES = (300, 1_000, 3_000, 10_000)
_FEWEST_PAIRS = 10  # a correlation of fewer pairs says nothing


def group_results(
    scores: NDArray[np.float64],
    judged: NDArray[np.float64],
    words: Sequence[tuple[str, str]],
    *,
    parts_of_speech: Sequence[str] | None = None,
    frequencies: Mapping[str, int] | None = None,
    edges: Sequence[int] = FREQUENCY_EDGES,
) -> tuple[GroupResult, ...]:
    """Correlate within groups of pairs; small groups are named, but have no correlation."""
    groups: list[GroupResult] = []
    if frequencies is not None:
        rarer = np.array([min(frequencies.get(a, 0), frequencies.get(b, 0)) for a, b in words])
        bands = np.searchsorted(np.asarray(edges), rarer, side="right")
        names = band_names(edges)
        groups.extend(
            _group("frequency", name, scores, judged, bands == number) for number, name in enumerate(names)
        )
    if parts_of_speech is not None:
        kinds = np.asarray(parts_of_speech)
        groups.extend(
            _group("part of speech", kind, scores, judged, kinds == kind)
            for kind in sorted(set(kinds.tolist()))
        )
    return tuple(group for group in groups if group.n_used)


def band_names(edges: Sequence[int]) -> list[str]:
    """Name frequency bands by the documents that the rarer word is in.

    >>> band_names([300, 1000])
    ['under 300', '300 to 999', '1,000 and more']
    """
    if not edges:
        return ["all"]
    middle = [f"{low:,} to {high - 1:,}" for low, high in pairwise(edges)]
    return [f"under {edges[0]:,}", *middle, f"{edges[-1]:,} and more"]


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


def _group(
    kind: Literal["frequency", "part of speech"],
    name: str,
    scores: NDArray[np.float64],
    judged: NDArray[np.float64],
    member: NDArray[np.bool_],
) -> GroupResult:
    count = int(member.sum())
    if count < _FEWEST_PAIRS:
        return GroupResult(kind, name, count, Agreement(None, None))
    found = correlations(scores[member], judged[member])
    spearman, kendall = (float(value[0]) if np.isfinite(value[0]) else None for value in found)
    return GroupResult(kind, name, count, Agreement(spearman, kendall))
