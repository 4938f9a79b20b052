"""Comparisons as a picture, and as one page that needs no other file and no network."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Any

from omnitm.comparison.corpora import CorpusComparison, WordChange
from omnitm.comparison.words import SURE, Change, Comparison, Excerpt, phrase
from omnitm.corpus.running import parted
from omnitm.errors import needs_extra

# Blue and orange of Okabe and Ito: told apart by the colour-blind, and in grey.
_GAINED, _LOST = "#0072B2", "#D55E00"
_N_LINES = 4
_N_PREVIEW = 3
_WIDTH, _HEIGHT = 640, 160  # of a trajectory, without its labels
_FEWEST_STEPS = 3
_MOST_TICKS = 12
_BLUES = ("#08306b", "#0072B2", "#56B4E9", "#9ecae1")
_ORANGES = ("#7f2704", "#D55E00", "#E69F00", "#fdd0a2")


def page(found: CorpusComparison, count: int) -> str:
    """Return the words that changed most as a page: both sides of each, and documents to read."""
    style, script = ((files(__package__) / f"page.{kind}").read_text("utf-8") for kind in ("css", "js"))
    title = f"How words differ by {found.by}: {found.first} and {found.second}"
    n_changed = found.n_changed
    left_out = f" {found.n_left_out:,} words had too few documents." if found.n_left_out else ""
    entries = "\n".join(_entry(word, is_open=k == 0) for k, word in enumerate(found.top(count)))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{escape(title)}</title><style>
{style}</style></head><body>
<h1>{escape(title)}</h1>
<p>{n_changed:,} of {len(found.words):,} words are used differently in the groups of “{escape(found.by)}”: at
most one in twenty of them by chance (q ≤ 0.05).{left_out} The surest come first, each with what it goes with
more in one group than in the other, and texts to read.</p>
<details><summary>How to read this page</summary><ul>
<li><b>What a word goes with</b>: a word in the same document (“money”), or what stands beside it (“not even”;
“…” is any word). The most telling first; at most one in five by chance. What is more frequent in a group
anyway, also without the word, is no change of the word.</li>
<li><b>Bar</b>: its share of the whole difference. <b>Documents</b>: how many of the word's documents have it,
{escape(found.first)} → {escape(found.second)}. <b>Times</b>: how many times as many that is as of the group's
documents without the word.</li>
<li><b>p</b>: how often groups that are shuffled at random differ as much. <b>q</b>: of the words with this q
or less, the share expected to differ by chance. <b>Distance</b>: how far the use differs, from 0 (as shuffled
groups) to 2.</li></ul></details>
<p><input type="search" placeholder="find a word" aria-label="find a word"></p>
{entries}
<script>
{script}</script></body></html>
"""


def _entry(word: WordChange, *, is_open: bool) -> str:
    found = shown(word.comparison, word.q)
    first, second = found["sides"]
    named = [found["word"], *(change["name"] for side in (second, first) for change in side["changes"])]
    figures = f"{found['chance']} &nbsp; {found['rate']} &nbsp; distance {found['distance']}"
    sides = "".join(
        f'<div class="{kind}"><h3>More in {escape(side["name"])} ({side["n_documents"]:,} documents)</h3>'
        f"{_bars(side['changes'])}{_texts(side['texts'])}</div>"
        for kind, side in (("first", first), ("second", second))
    )
    preview = " → ".join(
        escape(", ".join(change["phrase"] for change in side["changes"][:_N_PREVIEW]) or "nothing")
        for side in (first, second)
    )
    return (
        f'<details class="word"{" open" * is_open} data-words="{escape(" ".join(named).lower())}">'
        f"<summary><b>{escape(found['word'])}</b> <span>{figures}</span> <span>{preview}</span></summary>"
        f'<div class="sides">{sides}</div>{_svg(found)}</details>'
    )


def shown(found: Comparison, q: float | None = None) -> dict[str, Any]:
    """Say what is shown of a comparison, here and in the explorer: numbers as texts, texts as marked pieces.

    Parameters
    ----------
    q
        Its false discovery rate among other words, if it was compared with others.
    """
    kinds = (
        (found.first, found.n_first, found.compared_first, found.lost, found.documents_first),
        (found.second, found.n_second, found.compared_second, found.gained, found.documents_second),
    )
    return {
        "word": found.word,
        "by": found.by,
        "chance": f"p {'=' if found.p > 1 / (found.n_permutations + 1) else '≤'} {found.p:.2g}",
        "rate": None if q is None else f"q = {q:.2g}",
        "is_sure": (found.p if q is None else q) <= SURE,
        "distance": f"{found.distance:.2f}",
        "n_permutations": found.n_permutations,
        "sides": [
            {
                "name": name,
                "n_documents": n_documents,
                "n_compared": n_compared,
                "changes": _shown_changes(found, changes),
                "texts": [_shown_text(excerpt, found.word) for excerpt in excerpts],
            }
            for name, n_documents, n_compared, changes, excerpts in kinds
        ],
        "trajectory": _trajectory(found),
    }


def _shown_changes(found: Comparison, changes: Sequence[Change]) -> list[dict[str, Any]]:
    largest = max((change.share for change in changes), default=1.0)
    return [
        {
            "name": change.name,
            "phrase": change.phrase(found.word),
            "length": change.share / largest,
            "share": f"{change.share:.2%} of the change, p = {change.p:.3g}, q = {change.q:.3g}",
            "documents": f"{change.documents_before / found.compared_first:.1%} → "
            f"{change.documents_after / found.compared_second:.1%}",
            "lifts": f"{_times(change.lift_before)} → {_times(change.lift_after)}",
        }
        for change in changes
    ]


def _times(lift: float) -> str:
    return f"{lift:.0f}\N{MULTIPLICATION SIGN}" if lift >= 10 else f"{lift:.1f}\N{MULTIPLICATION SIGN}"


def _shown_text(excerpt: Excerpt, word: str) -> dict[str, Any]:
    """Cut the text where the word and the feature begin and end; every second piece is one of them."""
    feature = parted(excerpt.feature)[1] if " " in excerpt.feature else excerpt.feature
    words = [re.escape(part) for part in (word, feature) if part]
    pieces = re.split(rf"(?<!\w)({'|'.join(words)})(?!\w)", excerpt.text, flags=re.IGNORECASE)
    return {
        "feature": excerpt.feature,
        "phrase": phrase(excerpt.feature, word),
        "number": excerpt.number,
        "pieces": pieces,
    }


def _bars(changes: Sequence[dict[str, Any]]) -> str:
    if not changes:
        return '<p class="none">nothing that shuffled groups would not give as well</p>'
    titles = "<small>documents</small><small>times</small>"
    head = f'<div class="bar"><span></span><i style="width:0"></i>{titles}</div>'
    return head + "".join(
        f'<div class="bar" title="{change["share"]}"><span>{escape(change["phrase"])}</span>'
        f'<i style="width:{100 * change["length"]:.0f}%"></i>'
        f"<small>{change['documents']}</small><small>{change['lifts']}</small></div>"
        for change in changes
    )


def _texts(texts: Sequence[dict[str, Any]]) -> str:
    found = ""
    for text in texts:
        marked = "".join(
            f"<mark>{escape(piece)}</mark>" if k % 2 else escape(piece)
            for k, piece in enumerate(text["pieces"])
        )
        label = f"<small>{escape(text['phrase'])}</small> " if text["phrase"] else ""
        found += f'<p class="text">{label}{marked}</p>'
    return found


def _trajectory(found: Comparison) -> dict[str, Any] | None:
    """Lay out the profile over the groups: a line per word, gained and lost."""
    steps = [step for step in found.trajectory if step.profile]
    if len(steps) < _FEWEST_STEPS:
        return None
    names = [(change.name, True) for change in found.gained[:_N_LINES]]
    names += [(change.name, False) for change in found.lost[:_N_LINES]]
    values = [[step.profile[name] for step in steps] for name, _ in names]
    low, high = min(map(min, values)), max(map(max, values))

    def point(k: int, value: float) -> tuple[float, float]:
        across = 30 + k * (_WIDTH - 60) / (len(steps) - 1)
        return round(across, 1), round(10 + _HEIGHT * (high - value) / max(high - low, 1e-9), 1)

    labels = _apart([point(len(steps) - 1, row[-1])[1] for row in values])
    every = max(1, len(steps) // _MOST_TICKS)
    below = max(_HEIGHT, *labels) + 28
    return {
        "box": [_WIDTH + 110, round(below + 22, 1)],
        "lines": [
            {
                "name": name,
                "phrase": phrase(name, found.word),
                "is_gained": is_gained,
                "points": [point(k, value) for k, value in enumerate(row)],
                "label": [_WIDTH - 24, round(label + 4, 1)],
            }
            for (name, is_gained), row, label in zip(names, values, labels, strict=True)
        ],
        "ticks": [
            {"x": point(k, low)[0], "y": round(below, 1), "text": step.group}
            for k, step in enumerate(steps)
            if k % every == 0
        ],
        "steps": [
            {
                "group": step.group,
                "n_documents": step.n_documents,
                "values": [f"{row[k]:.2f}" for row in values],
            }
            for k, step in enumerate(steps)
        ],
    }


def _svg(found: dict[str, Any]) -> str:
    drawn = found["trajectory"]
    if drawn is None:
        return ""
    lines = ""
    for line in drawn["lines"]:
        path = " ".join(f"{x},{y}" for x, y in line["points"])
        kind = "gained" if line["is_gained"] else "lost"
        x, y = line["label"]
        lines += f'<polyline class="{kind}" points="{path}"/>'
        lines += f'<text class="{kind}" x="{x}" y="{y}">{escape(line["phrase"])}</text>'
    ticks = "".join(
        f'<text x="{tick["x"]}" y="{tick["y"]}" text-anchor="middle">{escape(tick["text"])}</text>'
        for tick in drawn["ticks"]
    )
    width, height = drawn["box"]
    label = escape(f"{found['word']}: its profile by {found['by']}")
    said = f"By {escape(found['by'])}: how far each stands out in machines trained on that group alone."
    return (
        f'<p class="none">{said}</p><svg viewBox="0 0 {width} {height}" role="img" aria-label="{label}">'
        f"{lines}{ticks}</svg>"
    )


def _apart(heights: Sequence[float], least: float = 13) -> list[float]:
    """Move labels that would lie on each other down, as little as is needed.

    >>> _apart([20, 5, 6])
    [31, 5, 18]
    """
    placed = list(heights)
    lowest = -least
    for k in sorted(range(len(placed)), key=placed.__getitem__):
        placed[k] = lowest = max(placed[k], lowest + least)
    return placed


def plot_comparison(found: Comparison, path: Any = None) -> Any:
    """Draw gained and lost words, and the trajectory if there is one; returns the figure."""
    with needs_extra("Comparison.plot", "plots"):
        from matplotlib.figure import Figure
    n_rows = 2 if found.trajectory else 1
    figure = Figure(figsize=(9, 4 * n_rows), layout="constrained")
    axes = figure.add_subplot(n_rows, 1, 1)
    bars = [
        (change.phrase(found.word), sign * change.share, colour)
        for changes, sign, colour in ((found.gained, 1, _GAINED), (found.lost, -1, _LOST))
        for change in sorted(changes, key=lambda change: -change.share)
    ]
    axes.barh(range(len(bars)), [100 * b[1] for b in bars], color=[b[2] for b in bars])
    axes.set_yticks(range(len(bars)), [b[0] for b in bars])
    axes.invert_yaxis()
    axes.axvline(0, color="#444", linewidth=0.8)
    axes.xaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
    sides = f"more in {found.first} to the left, more in {found.second} to the right"
    axes.set(xlabel=f"share of the whole difference in %: {sides}")
    title = f"{found.word} by {found.by}: {found.first} and {found.second}, p = {found.p:.3g}"
    axes.set_title(title if bars else f"{title}; no feature that chance would not give as well", loc="left")
    if found.trajectory:
        _plot_trajectory(figure.add_subplot(n_rows, 1, 2), found)
    if path is not None:
        figure.savefig(path, dpi=120)
    return figure


def _plot_trajectory(axes: Any, found: Comparison) -> None:
    for changes, colours in ((found.gained, _BLUES), (found.lost, _ORANGES)):
        for change, colour in zip(changes, colours, strict=False):
            values = [step.profile.get(change.name, float("nan")) for step in found.trajectory]
            axes.plot(range(len(values)), values, "o-", label=change.phrase(found.word), color=colour)
    every = max(1, len(found.trajectory) // _MOST_TICKS)
    shown = range(0, len(found.trajectory), every)
    axes.set_xticks(shown, [found.trajectory[k].group for k in shown])
    axes.set(ylabel="stands out in the profile by", xlabel=found.by)
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
