"""Plots of evaluations; matplotlib is an extra."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omnitm.errors import FileError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from omnitm.evaluation.ablation import AblationResult

_COLUMNS = 3


def figure_class() -> Any:
    """Return matplotlib's figure class, or say how to install it."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("A plot", "plots") from None
    return Figure


def plot_ablation(results: Sequence[AblationResult], path: Path) -> None:
    """Draw quality against every factor, one panel per factor, into a PNG, SVG or PDF file."""
    factors = list(dict.fromkeys(result.factor for result in results))
    n_rows = -(-len(factors) // _COLUMNS)
    figure = figure_class()(figsize=(4.2 * _COLUMNS, 3.2 * n_rows), layout="constrained")
    axes = figure.subplots(n_rows, _COLUMNS, squeeze=False, sharey=True).ravel()
    for axis, factor in zip(axes, factors, strict=False):
        _panel(axis, factor, [result for result in results if result.factor == factor])
    for axis in axes[len(factors) :]:
        axis.set_visible(False)
    axes[0].legend(loc="lower left", fontsize="small")
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise FileError(path, f"cannot be written: {error}") from None


def _panel(axis: Any, factor: str, results: Sequence[AblationResult]) -> None:
    places = range(len(results))
    for metric in results[0].spearman:
        axis.plot(places, [result.spearman[metric] for result in results], marker="o", label=metric)
    for place, result in enumerate(results):
        if result.is_default:
            axis.axvline(place, color="0.8", zorder=0)
    axis.set_title(factor.replace("_", " "))
    axis.set_xticks(list(places), [result.value for result in results], rotation=20, fontsize="small")
    axis.set_ylabel("mean Spearman")
    axis.grid(axis="y", alpha=0.3)
