"""Pictures of evaluations: quality against factors, and word maps whose labels do not cover each other."""

from __future__ import annotations

import html
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from omnitm.errors import FileError, needs_extra

if TYPE_CHECKING:
    from omnitm.evaluation.ablation import AblationResult
    from omnitm.evaluation.word_maps import WordMap

_COLUMNS = 3  # panels beside each other
ENDINGS = (".png", ".svg", ".html")
_MARKERS = "os^Dv"
_DISTANCES = (3, 6, 10, 15, 21, 28, 36, 46, 58)  # points between a word and its label, the nearest free wins
_N_DIRECTIONS = 16
_FAR = 9  # from here on a line leads from the word to its label
_DPI = 150


def figure_class() -> Any:
    """Return matplotlib's figure class, or say how to install it."""
    with needs_extra("A plot", "plots"):
        from matplotlib.figure import Figure
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


def plot_map(found: WordMap, path: str | Path) -> None:
    """Draw a word map into a PNG, SVG or HTML file; HTML carries the picture and the figures."""
    path = check_ending(Path(path))
    content = (
        map_html(found).encode() if path.suffix.lower() == ".html" else map_picture(found, path.suffix[1:])
    )
    try:
        path.write_bytes(content)
    except OSError as error:
        raise FileError(path, f"cannot be written: {error.strerror}") from None


def check_ending(path: Path) -> Path:
    """Refuse a file name that does not say which kind of picture is wanted."""
    if path.suffix.lower() not in ENDINGS:
        raise FileError(path, f"a map must end with {', '.join(ENDINGS)}")
    return path


def map_picture(found: WordMap, form: str = "png") -> bytes:
    """Draw a word map as PNG or SVG."""
    figure_class()
    from matplotlib import rc_context

    figure, _ = draw_map(found)
    out = io.BytesIO()
    is_svg = form.lower() == "svg"
    with rc_context({"svg.hashsalt": "omnitm"}):  # the same map gives the same bytes
        figure.savefig(out, format=form.lower(), dpi=_DPI, metadata={"Date": None} if is_svg else None)
    return out.getvalue()


def map_html(found: WordMap) -> str:
    """Write a self-contained page: the picture, how well groups separate, the words."""
    picture = map_picture(found, "svg").decode()
    original, on_map = found.original, found.on_map
    members: dict[str, list[str]] = {}
    for word, group in zip(found.words, found.groups, strict=True):
        members.setdefault(group, []).append(word)
    lists = "".join(
        f"<li><b>{html.escape(group)}</b>: {html.escape(', '.join(words))}</li>"
        for group, words in members.items()
    )
    unknown = (
        f"<p>Not known to the model: {html.escape(', '.join(found.unknown))}.</p>" if found.unknown else ""
    )
    alone = f"<p>{html.escape(left_alone(found))}.</p>" if found.alone else ""
    return (
        "<!doctype html><html lang='en'><meta charset='utf-8'>"
        f"<title>{html.escape(found.model)}: words</title>"
        "<style>body{font-family:sans-serif;max-width:75em;margin:auto;padding:0 1em}"
        "svg{width:100%;height:auto}td,th{padding:.2em 1em;text-align:right}</style>"
        f"<h1>{html.escape(_title(found))}</h1>{picture[picture.index('<svg') :]}"
        "<table><tr><th></th><th>original space</th><th>map</th></tr>"
        f"<tr><th>silhouette</th><td>{original.silhouette:.3f}</td><td>{on_map.silhouette:.3f}</td></tr>"
        f"<tr><th>10-nearest purity (at most {original.highest_purity:.2f}, by chance "
        f"{original.chance_purity:.2f})</th><td>{original.purity:.3f}</td><td>{on_map.purity:.3f}</td></tr>"
        f"</table><ul>{lists}</ul>{unknown}{alone}</html>\n"
    )


def left_alone(found: WordMap) -> str:
    """Say which words are not on the map although the model knows them."""
    return f"Left out, the only known words of their groups: {', '.join(found.alone)}"


def draw_map(found: WordMap) -> tuple[Any, list[Any]]:
    """Draw a word map; return the figure and the labels."""
    figure = figure_class()(figsize=(13, 9), dpi=_DPI)
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)  # measures texts
    axes = figure.add_axes((0.02, 0.05, 0.77, 0.89))
    names = list(dict.fromkeys(found.groups))
    colours = _colours(len(names))
    for number, name in enumerate(names):
        mine = found.positions[[k for k, group in enumerate(found.groups) if group == name]]
        marker = _MARKERS[number % len(_MARKERS)]
        axes.scatter(
            mine[:, 0], mine[:, 1], s=26, color=colours[number], marker=marker, zorder=3,
            label=_plain(name),
        )  # fmt: skip
    axes.set_xticks([])
    axes.set_yticks([])
    axes.margins(0.06)
    axes.set_title(_plain(_title(found)), loc="left")
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=10)
    figure.text(0.02, 0.018, _caption(found), fontsize=9)
    tint = {name: colours[number] for number, name in enumerate(names)}
    return figure, _label(figure, axes, found, tint)


def _title(found: WordMap) -> str:
    return f"{found.model}: {len(found.words)} words in {len(set(found.groups))} groups (t-SNE)"


def _caption(found: WordMap) -> str:
    first, second = found.original, found.on_map
    return (
        f"silhouette {first.silhouette:.3f} in the original space, {second.silhouette:.3f} on the map;   "
        f"10-nearest-neighbour purity {first.purity:.3f} and {second.purity:.3f} "
        f"(at most {first.highest_purity:.2f}, by chance {first.chance_purity:.2f})"
    )


def _colours(count: int) -> list[Any]:
    """Colours that are told apart; shapes of points help where there are many."""
    from matplotlib import colormaps

    palette: Any = colormaps["tab20"](range(20))
    order = [*range(0, 20, 2), *range(1, 20, 2)]
    return [palette[order[k % len(order)]] for k in range(count)]


def _ink(colour: Any) -> list[float]:
    """Darken a colour until small letters of it can be read on white."""
    red, green, blue = (float(part) for part in colour[:3])
    light = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return [part * min(0.72, 0.4 / max(light, 0.01)) for part in (red, green, blue)]


def _plain(text: str) -> str:
    """Text that matplotlib does not take for mathematics."""
    return text.replace("$", r"\$")


def _label(figure: Any, axes: Any, found: WordMap, tint: dict[str, Any]) -> list[Any]:
    """Write each word beside its point where nothing else is; crowded words first."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    points = axes.transData.transform(found.positions)
    scale = figure.dpi / 72
    taken = _Taken(points, 3.5 * scale, axes.get_window_extent(renderer))
    labels = []
    for k in np.argsort(_nearest_distance(points), kind="stable").tolist():
        text = axes.annotate(
            _plain(found.words[k]),
            tuple(found.positions[k].tolist()),
            (0, 0),
            textcoords="offset points",
            fontsize=8,
            color=_ink(tint[found.groups[k]]),
            annotation_clip=False,
            zorder=4,
        )
        box = text.get_window_extent(renderer)
        offset = taken.place(points[k], box.width, box.height, scale)
        text.set_position((offset[0] / scale, offset[1] / scale))
        if math.hypot(*taken.gap(offset, box.width, box.height)) > _FAR * scale:
            _lead(axes, found.positions[k], offset, (box.width, box.height), scale)
        labels.append(text)
    return labels


def _lead(axes: Any, point: Any, offset: Any, size: tuple[float, float], scale: float) -> None:
    end = ((offset[0] + size[0] / 2) / scale, (offset[1] + size[1] / 2) / scale)
    axes.annotate(
        "", tuple(point.tolist()), end, textcoords="offset points", zorder=1, annotation_clip=False,
        arrowprops={"arrowstyle": "-", "color": "0.75", "linewidth": 0.6, "shrinkA": 0, "shrinkB": 2},
    )  # fmt: skip


class _Taken:
    """Boxes on the canvas, in pixels, that no label may touch: points, other labels, what is outside."""

    def __init__(self, points: NDArray[Any], radius: float, frame: Any) -> None:
        self._boxes = [(x - radius, y - radius, x + radius, y + radius) for x, y in points.tolist()]
        self._frame = (frame.x0, frame.y0, frame.x1, frame.y1)

    def place(self, point: NDArray[Any], width: float, height: float, scale: float) -> tuple[float, float]:
        """Find the nearest free place for a label and take it; the offset of its lower left corner."""
        best, least = (3 * scale, 3 * scale), math.inf
        for distance in _DISTANCES:
            for step in range(_N_DIRECTIONS):
                offset = _offset(2 * math.pi * step / _N_DIRECTIONS, distance * scale, width, height)
                x, y = point[0] + offset[0], point[1] + offset[1]
                covered = self._covered((x, y, x + width, y + height))
                if covered < least:
                    best, least = offset, covered
                if covered == 0:
                    break
            if least == 0:
                break
        x, y = point[0] + best[0], point[1] + best[1]
        self._boxes.append((x, y, x + width, y + height))
        return best

    @staticmethod
    def gap(offset: tuple[float, float], width: float, height: float) -> tuple[float, float]:
        """How far a point is from the box of its label."""
        across = max(offset[0], -(offset[0] + width), 0)
        return across, max(offset[1], -(offset[1] + height), 0)

    def _covered(self, box: tuple[float, float, float, float]) -> float:
        """Area that a box shares with what is taken; its own point touches it at most at the edge."""
        x0, y0, x1, y1 = box
        inside = max(0, min(x1, self._frame[2]) - max(x0, self._frame[0])) * max(
            0, min(y1, self._frame[3]) - max(y0, self._frame[1])
        )
        outside = (x1 - x0) * (y1 - y0) - inside
        shared = (
            max(0, min(x1, b[2]) - max(x0, b[0])) * max(0, min(y1, b[3]) - max(y0, b[1])) for b in self._boxes
        )
        return float(outside + sum(shared))


def _offset(angle: float, distance: float, width: float, height: float) -> tuple[float, float]:
    """Offset of a label's lower left corner such that the label lies in a direction from its point."""
    x, y = math.cos(angle) * distance, math.sin(angle) * distance
    left = x if x > 0.3 * distance else x - width if x < -0.3 * distance else x - width / 2
    low = y if y > 0.3 * distance else y - height if y < -0.3 * distance else y - height / 2
    return left + math.copysign(3, x), low + math.copysign(3, y)


def _nearest_distance(points: NDArray[Any]) -> NDArray[np.float64]:
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    nearest: NDArray[np.float64] = distances.min(axis=1)
    return nearest
