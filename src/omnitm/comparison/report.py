"""Comparisons as a picture, and as one page that needs no other file and no network."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

from omnitm.corpus.running import parted
from omnitm.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnitm.comparison.corpora import CorpusComparison, WordChange
    from omnitm.comparison.words import Change, Comparison, Excerpt

# Blue and orange of Okabe and Ito: told apart by the colour-blind, and in grey.
_GAINED, _LOST = "#0072B2", "#D55E00"
_N_LINES = 4
_N_PREVIEW = 3
_BLUES = ("#08306b", "#0072B2", "#56B4E9", "#9ecae1")
_ORANGES = ("#7f2704", "#D55E00", "#E69F00", "#fdd0a2")
_STYLE = f"""
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 66rem; padding: 0 1rem;
  color: #222; background: #fff }}
h1 {{ font-size: 1.4rem }} input {{ font: inherit; padding: .3rem .5rem; width: 16rem }}
details {{ border-top: 1px solid #ddd; padding: .35rem 0 }} summary {{ cursor: pointer }}
summary b {{ display: inline-block; min-width: 9rem }}
summary span {{ color: #666; font-variant-numeric: tabular-nums }}
.sides {{ display: grid; grid-template-columns: 1fr 1fr; gap: 0 2rem; margin: .5rem 0 1rem }}
.bar {{ display: grid; grid-template-columns: 8rem 1fr 12rem; gap: .5rem; align-items: center }}
p.text small {{ color: #666; border: 1px solid #ddd; border-radius: 3px; padding: 0 .3rem }}
.bar i {{ height: .7rem; display: block; border-radius: 2px }} .bar small {{ color: #666 }}
.first i {{ background: {_LOST} }} .second i {{ background: {_GAINED} }}
p.text {{ color: #444; margin: .3rem 0; overflow-wrap: anywhere }} mark {{ background: #fff2a8 }}
h3 {{ font-size: 1rem; margin: .4rem 0 }} svg text {{ font: 11px system-ui, sans-serif }}
@media (max-width: 44rem) {{ .sides {{ grid-template-columns: 1fr }} }}
"""
_SCRIPT = """
document.querySelector("input").addEventListener("input", event => {
  const wanted = event.target.value.trim().toLowerCase();
  for (const entry of document.querySelectorAll("details"))
    entry.hidden = !entry.dataset.words.includes(wanted);
});
"""


def page(found: CorpusComparison, count: int) -> str:
    """Return the words that changed most as a page: both sides of each, and documents to read."""
    title = f"How words differ: {found.first} and {found.second}"
    n_changed = sum(word.q <= 0.05 for word in found.words)
    left_out = f" {found.n_left_out:,} words had too few documents." if found.n_left_out else ""
    entries = "\n".join(_entry(word) for word in found.top(count))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{escape(title)}</title><style>{_STYLE}</style></head><body>
<h1>{escape(title)}</h1>
<p>{n_changed:,} of {len(found.words):,} words differ between the groups of “{escape(found.by)}” (q ≤ 0.05: at
most one in twenty of them by chance).{left_out} A bar is a feature's share of the change: a word in the same
document, or a place, such as “to _” for a word after “to”. Numbers are how many of the word's documents
have it, {escape(found.first)} → {escape(found.second)}, and how many times as frequent that is as in
documents without the word on the same side. What is more frequent on a side anyway is no change.</p>
<p><input type="search" placeholder="find a word" aria-label="find a word"></p>
{entries}
<script>{_SCRIPT}</script></body></html>
"""


def _entry(word: WordChange) -> str:
    found = word.comparison
    named = [found.word, *(change.name for change in (*found.gained, *found.lost))]
    figures = (
        f"{_chance('p', found.p, found.n_permutations)} &nbsp; q = {word.q:.3f} &nbsp; "
        f"distance {found.distance:.2f}"
    )
    sides = "".join(
        f'<div class="{kind}"><h3>{escape(name)}: {n:,} documents</h3>{_bars(found, changes)}'
        f"{_texts(excerpts, found.word)}</div>"
        for kind, name, n, changes, excerpts in (
            ("first", found.first, found.n_first, found.lost, found.documents_first),
            ("second", found.second, found.n_second, found.gained, found.documents_second),
        )
    )
    preview = " → ".join(
        escape(", ".join(change.name for change in changes[:_N_PREVIEW]))
        for changes in (found.lost, found.gained)
    )
    return (
        f'<details data-words="{escape(" ".join(named).lower())}"><summary><b>{escape(found.word)}</b> '
        f"<span>{figures} &nbsp; {preview}</span></summary>"
        f'<div class="sides">{sides}</div>{_trajectory(found)}</details>'
    )


def _chance(name: str, p: float, n_permutations: int) -> str:
    return f"{name} {'=' if p > 1 / (n_permutations + 1) else '≤'} {p:.2g}"


def _bars(found: Comparison, changes: Sequence[Change]) -> str:
    largest = max((change.share for change in changes), default=1.0)
    return "".join(
        f'<div class="bar" title="{change.share:.2%} of the change, p = {change.p:.3g}">'
        f"<span>{escape(change.name)}</span>"
        f'<i style="width:{100 * change.share / largest:.0f}%"></i>'
        f"<small>{change.documents_before / found.compared_first:.1%} → "
        f"{change.documents_after / found.compared_second:.1%} &nbsp; "
        f"{_times(change.lift_before)} → {_times(change.lift_after)}</small></div>"
        for change in changes
    )


def _times(lift: float) -> str:
    return f"{lift:.0f}&times;" if lift >= 10 else f"{lift:.1f}&times;"


def _texts(excerpts: Sequence[Excerpt], word: str) -> str:
    found = ""
    for excerpt in excerpts:
        feature = parted(excerpt.feature)[1] if " " in excerpt.feature else excerpt.feature
        words = "|".join(re.escape(escape(name)) for name in (word, feature))
        pattern = re.compile(rf"(?<!\w)({words})(?!\w)", re.IGNORECASE)
        marked = pattern.sub(r"<mark>\1</mark>", escape(excerpt.text))
        found += f'<p class="text"><small>{escape(excerpt.feature)}</small> {marked}</p>'
    return found


def _trajectory(found: Comparison) -> str:
    """Draw the profile over the groups: a line per word, gained and lost."""
    steps = [step for step in found.trajectory if step.profile]
    if len(steps) < 3:
        return ""
    names = [(c.name, _GAINED) for c in found.gained[:_N_LINES]] + [
        (c.name, _LOST) for c in found.lost[:_N_LINES]
    ]
    values = [[step.profile[name] for step in steps] for name, _ in names]
    low, high = min(map(min, values)), max(map(max, values))
    width, height = 640, 160

    def point(k: int, value: float) -> tuple[float, float]:
        across = 30 + k * (width - 60) / (len(steps) - 1)
        return across, 10 + height * (high - value) / max(high - low, 1e-9)

    ends = [point(len(steps) - 1, row[-1])[1] for row in values]
    lines = ""
    for (name, colour), row, label in zip(names, values, _apart(ends), strict=True):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (point(k, value) for k, value in enumerate(row)))
        lines += f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        lines += f'<text x="{width - 24}" y="{label + 4:.1f}" fill="{colour}">{escape(name)}</text>'
    every = max(1, len(steps) // 12)
    ticks = "".join(
        f'<text x="{point(k, low)[0]:.1f}" y="{height + 28}" text-anchor="middle">{escape(step.group)}</text>'
        for k, step in enumerate(steps)
        if k % every == 0
    )
    return f'<svg viewBox="0 0 {width + 110} {height + 50}" role="img">{lines}{ticks}</svg>'


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
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("Comparison.plot", "plots") from None
    n_rows = 2 if found.trajectory else 1
    figure = Figure(figsize=(9, 4 * n_rows), layout="constrained")
    axes = figure.add_subplot(n_rows, 1, 1)
    bars = [(change.name, change.share, _GAINED) for change in found.gained]
    bars += [(change.name, -change.share, _LOST) for change in found.lost]
    axes.barh([b[0] for b in bars], [100 * b[1] for b in bars], color=[b[2] for b in bars])
    axes.invert_yaxis()
    axes.axvline(0, color="#444", linewidth=0.8)
    axes.set(
        xlabel=f"share of the change in %: with {found.first} to the left, with {found.second} to the right"
    )
    axes.set_title(f"{found.word}: {found.first} and {found.second}, p = {found.p:.3g}", loc="left")
    if found.trajectory:
        _plot_trajectory(figure.add_subplot(n_rows, 1, 2), found)
    if path is not None:
        figure.savefig(path, dpi=120)
    return figure


def _plot_trajectory(axes: Any, found: Comparison) -> None:
    for changes, colours in ((found.gained, _BLUES), (found.lost, _ORANGES)):
        for change, colour in zip(changes, colours, strict=False):
            values = [step.profile.get(change.name, float("nan")) for step in found.trajectory]
            axes.plot(range(len(values)), values, "o-", label=change.name, color=colour)
    axes.set_xticks(range(len(found.trajectory)), [step.group for step in found.trajectory])
    axes.set(ylabel="stands out in the profile by", xlabel=found.by)
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
