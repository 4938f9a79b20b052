"""Words in groups, maps of them (the paper's t-SNE figure), and how well the groups separate."""

from __future__ import annotations

import html
import inspect
import io
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitm.errors import FileError, ParameterError, needs_extra
from omnitm.evaluation.results import PlainTable
from omnitm.explain.plots import plain_text
from omnitm.files.plain import read_file
from omnitm.parameters import check_integer
from omnitm.vectors.document_vectors import dense_rows
from omnitm.vectors.word_vectors import WordVectors

#: Groups as the paper names them (its section on clustering). It prints only a few of its 130 words
#: (computer, internet, robot; engineer; partner; those are here); the others are our own choice.
WORD_GROUPS = {
    name: tuple(words.split())
    for name, words in (
        line.split(": ")
        for line in """\
emotions: happy sad angry afraid joy love hate pride grief hope
professions: doctor teacher engineer lawyer nurse journalist architect scientist artist farmer
nature: tree river mountain forest ocean flower rain desert lake storm
technology: computer internet robot software network phone camera digital machine data
relationships: mother father sister brother friend wife husband partner daughter marriage
food: bread cheese meat rice fruit sugar soup wine milk vegetable
geography: country city continent island border capital region europe africa coast
abstract concepts: freedom justice truth knowledge time idea reason beauty morality existence
animals: dog cat horse lion elephant bird fish wolf snake monkey
vehicles: car truck bus train airplane bicycle motorcycle ship helicopter boat
sports: football basketball tennis baseball hockey golf swimming boxing rugby cricket
royalty and leadership: king queen prince princess emperor president minister duke throne leader
miscellaneous: music book house money war school color door hospital election""".splitlines()
    )
}

_LARGEST = 1 << 20  # bytes
_WANTED = (
    'expected JSON such as {"animals": ["dog", "cat"]}, or a line per group such as "animals: dog, cat", '
    'or a line per word such as "dog<TAB>animals"'
)


def read_groups(path: str | Path) -> dict[str, tuple[str, ...]]:
    """Read words in groups from a file; a word may be in several groups.

    A file that ends with `.json` is an object of lists. In others a line is `group: word word`, with spaces
    or commas between the words, or `word<TAB>group`; empty lines and those that start with `#` are skipped.
    """
    path = Path(path)
    try:
        text = read_file(path, _LARGEST).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(path, f"must be UTF-8 text; byte {error.start:,} is not") from None
    found = _from_json(path, text) if path.suffix.lower() == ".json" else _from_lines(path, text)
    if not found:
        raise FileError(path, f"has no groups; {_WANTED}")
    for name, words in found.items():
        if not name or ":" in name or len(name.splitlines()) > 1:
            raise FileError(
                path, f"{name!r} is no name of a group: it is empty, or has a colon or line break"
            )
        if not words:
            raise FileError(path, f"the group {name!r} has no words; {_WANTED}")
    return {name: tuple(dict.fromkeys(words)) for name, words in found.items()}


def load_groups(path: str | Path | None = None) -> dict[str, tuple[str, ...]]:
    """Read groups for a map: at least two, and no word in two; None: the groups of the paper's map."""
    if path is None:
        return dict(WORD_GROUPS)
    groups = read_groups(path)
    if len(groups) < 2:
        raise FileError(path, "has one group, but two are needed to tell them apart; add another")
    seen: dict[str, str] = {}
    for name, words in groups.items():
        for word in words:
            if word in seen:
                raise FileError(path, f"{word!r} is in {seen[word]!r} and in {name!r}; one group per word")
            seen[word] = name
    return groups


def known_groups(
    groups: Mapping[str, tuple[str, ...]], vocabulary: Mapping[str, int]
) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Keep the words that a model knows, in groups of at least two; return them and the unknown words."""
    unknown = [word for words in groups.values() for word in words if word not in vocabulary]
    kept = {name: tuple(word for word in words if word in vocabulary) for name, words in groups.items()}
    kept = {name: words for name, words in kept.items() if len(words) >= 2}
    if len(kept) < 2:
        lacks = f", and it does not know {_some(unknown)}" if unknown else ""
        raise ParameterError(
            f"The model knows too few of the words: two groups with two known words each are needed{lacks}; "
            "train such words, or list others in a file for --groups."
        )
    return kept, unknown


def _some(words: list[str], most: int = 5) -> str:
    rest = f" and {len(words) - most} others" if len(words) > most else ""
    return ", ".join(map(repr, words[:most])) + rest


def _from_json(path: Path, text: str) -> dict[str, list[str]]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise FileError(path, f"is not JSON ({error}); {_WANTED}") from None
    is_right = isinstance(found, dict) and all(
        isinstance(words, list) and all(isinstance(word, str) for word in words) for words in found.values()
    )
    if not is_right:
        raise FileError(path, f"has no groups of words; {_WANTED}")
    return dict(found)


def _from_lines(path: Path, text: str) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if "\t" in line.strip():
            word, _, name = line.strip().partition("\t")
            words = [word.strip()]
        elif ":" in line:
            name, _, listed = line.partition(":")
            words = listed.replace(",", " ").split()
        else:
            raise FileError(path, f"line {number}: {line[:60]!r} names no group; {_WANTED}")
        groups.setdefault(name.strip(), []).extend(words)
    return groups


NEIGHBOURS = 10
_PERPLEXITY, _LEARNING_RATE, _ITERATIONS = 30.0, 200.0, 2_000  # the paper's
PAPER_SEED = 42
_EXACT = 500  # words; few enough to compare all pairs in every step


@dataclass(frozen=True)
class Separation:
    """How well groups separate.

    Attributes
    ----------
    silhouette
        From -1 to 1; above 0 words are nearer to their own group than to the next one.
    purity
        Share of the 10 nearest neighbours of a word that are of its own group, mean over words.
    highest_purity
        The purity of a perfect separation: a group of ten leaves only nine neighbours.
    chance_purity
        What neighbours drawn at random would give.
    """

    silhouette: float
    purity: float
    highest_purity: float
    chance_purity: float


@dataclass(frozen=True, eq=False)
class WordMap:
    """Words of groups on a plane; row k of `positions` is `words[k]`, which is in `groups[k]`.

    `unknown` are words that the model does not know, `alone` those that it knows as the only ones of their
    group, which is left out.
    """

    model: str
    words: tuple[str, ...]
    groups: tuple[str, ...]
    positions: NDArray[np.float32]
    original: Separation
    on_map: Separation
    unknown: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()

    def to_json(self) -> str:
        """Write everything as JSON."""
        content = {**asdict(self), "positions": self.positions.tolist()}
        return json.dumps({"kind": "omnitm word map", "version": 1, **content}, indent=2)


def map_words(
    vectors: WordVectors,
    groups: Mapping[str, tuple[str, ...]],
    *,
    name: str = "model",
    seed: int = PAPER_SEED,
    raw: bool = False,
) -> WordMap:
    """Lay words out by t-SNE with the paper's settings, and measure how well their groups separate.

    Words are compared by the cosine of the rows that documents are made of, see `dense_rows`; if `raw`, as in
    the paper: by the distance of the vectors as they are.
    """
    check_integer("map_words", "seed", seed, 0, 2**32 - 1)
    known, unknown = known_groups(groups, vectors.key_to_index)
    words = [word for members in known.values() for word in members]
    labels = [group for group, members in known.items() for _ in members]
    wanted = (word for members in groups.values() for word in members)
    alone = tuple(word for word in wanted if word not in {*words, *unknown})
    places = [vectors.get_index(word) for word in words]
    rows = vectors.matrix[places].astype(np.float32) if raw else dense_rows(vectors)[places]
    positions = _arranged(rows, seed)
    return WordMap(
        name,
        tuple(words),
        tuple(labels),
        positions,
        separation(rows, labels),
        separation(positions, labels),
        tuple(unknown),
        alone,
    )


def separation(rows: NDArray[Any], labels: list[str]) -> Separation:
    """Measure how well groups separate, by Euclidean distance; of unit rows that is by cosine."""
    from sklearn.metrics import pairwise_distances, silhouette_score

    distances = pairwise_distances(rows.astype(np.float64))
    np.fill_diagonal(distances, 0.0)
    silhouette = float(silhouette_score(distances, labels, metric="precomputed"))
    np.fill_diagonal(distances, np.inf)
    count = min(NEIGHBOURS, len(labels) - 1)
    names = np.array(labels)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :count]
    purity = float((names[nearest] == names[:, None]).mean())
    others = (names[:, None] == names).sum(axis=1) - 1
    highest = float(np.minimum(others, count).mean()) / count
    return Separation(silhouette, purity, highest, float(others.mean()) / (len(labels) - 1))


def separation_table(maps: list[WordMap]) -> PlainTable:
    """Make one table of several models' maps."""
    header = ["model", "words", "groups", "silhouette", "on the map", "10-nearest purity", "on the map"]
    table = PlainTable("How well groups of words separate", header)
    for found in maps:
        figures = (
            found.original.silhouette,
            found.on_map.silhouette,
            found.original.purity,
            found.on_map.purity,
        )
        counts = (str(len(found.words)), str(len(set(found.groups))))
        table.rows.append([found.model, *counts, *(f"{figure:.3f}" for figure in figures)])
    bounds = [f"{found.original.highest_purity:.3f} / {found.original.chance_purity:.3f}" for found in maps]
    for bound in dict.fromkeys(bounds):
        whose = [found.model for found, own in zip(maps, bounds, strict=True) if own == bound]
        name = "highest / by chance" + (f", {', '.join(whose)}" if len(whose) < len(maps) else "")
        table.rows.append([name, "", "", "1.000", "1.000", bound, bound])
    return table


def _arranged(rows: NDArray[np.float32], seed: int) -> NDArray[np.float32]:
    from sklearn.manifold import TSNE

    # scikit-learn 1.5 gave `n_iter` its new name
    iterations = "max_iter" if "max_iter" in inspect.signature(TSNE).parameters else "n_iter"
    layout = TSNE(
        n_components=2,
        perplexity=min(_PERPLEXITY, (len(rows) - 1) / 3),
        learning_rate=_LEARNING_RATE,
        random_state=seed,
        init="pca" if min(rows.shape) >= 2 else "random",
        method="exact" if len(rows) <= _EXACT else "barnes_hut",
        **{iterations: _ITERATIONS},
    )
    positions: NDArray[np.float32] = layout.fit_transform(rows)
    return positions


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
            label=plain_text(name),
        )  # fmt: skip
    axes.set_xticks([])
    axes.set_yticks([])
    axes.margins(0.06)
    axes.set_title(plain_text(_title(found)), loc="left")
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
            plain_text(found.words[k]),
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
