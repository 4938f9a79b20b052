"""Pictures of literals: how one moved during training, and all of a clause."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from omnitm.errors import FileError, needs_extra
from omnitm.explain.traces import Trace, TraceEvent
from omnitm.explain.words import ClauseStates

# Blue and orange of Okabe and Ito: told apart by the colour-blind, and in grey.
_UP, _DOWN, _QUIET = "#0072B2", "#D55E00", "#999999"
_SHOWN_EVENTS = 2
_TEXT_WIDTH = 120
_BANDS_PER_POWER = 6  # of words by frequency, per power of ten of their rank
_STANDS_OUT = 2.0  # deviations
_ENDINGS = (".png", ".svg", ".pdf")


def plot_trace(trace: Trace, path: str | os.PathLike[str]) -> None:
    """Draw a literal's state over the examples, with the threshold and the examples that moved it most.

    Parameters
    ----------
    path
        A file that ends with .png, .svg or .pdf.
    """
    figure = _new_figure(path, height=6.4)
    axes = figure.add_axes((0.08, 0.36, 0.89, 0.56))
    examples = np.arange(1, trace.n_examples + 1)
    for clause in trace.positive:
        axes.plot(examples, trace.states[:, clause], color=_UP, alpha=0.15, linewidth=0.7)
    axes.plot(
        examples, trace.opposite_mean, color=_DOWN, linewidth=1.2, linestyle=":", label=_opposite(trace)
    )
    axes.plot(examples, trace.mean, color=_UP, linewidth=2, label=f"{_literal(trace)}: mean of the clauses")
    _draw_threshold(axes, trace.include_from)
    _draw_moves(axes, trace, examples)
    notes = _draw_events(axes, trace)
    top = max(int(trace.states.max()), trace.include_from)
    axes.set(xlim=(0, trace.n_examples + 1), ylim=(-14, top + 45))
    axes.set(xlabel="training example", ylabel="state of the automaton")
    title = f"{_literal(trace)!r} in the {len(trace.positive)} positive clauses of {trace.word!r}"
    axes.set_title(title, loc="left")
    axes.legend(loc="upper left", fontsize=8, framealpha=0.9)
    figure.text(0.08, 0.26, "\n".join(notes), fontsize=8, va="top", linespacing=1.4)
    _save(figure, path)


def plot_clause(
    states: ClauseStates,
    features: Sequence[str],
    path: str | os.PathLike[str],
    *,
    named: Sequence[str] = (),
    n_named: int = 12,
) -> None:
    """Draw all literals of a clause side by side as the paper does: words first, then their negations.

    Parameters
    ----------
    named
        Words to name; none: included literals, then words that stand out among equally frequent ones.
    """
    figure = _new_figure(path, height=4.8)
    axes = figure.add_axes((0.08, 0.12, 0.89, 0.78))
    n_words = len(features)
    places = np.arange(1, n_words + 1)
    size = 2 if n_words > 5_000 else 5
    axes.plot(places, states.present, ".", color=_QUIET, markersize=size, alpha=0.6, rasterized=True)
    axes.plot(places + n_words, states.absent, ".", color=_DOWN, markersize=size, alpha=0.4, rasterized=True)
    axes.axvline(n_words + 0.5, color="0.8", linewidth=1)
    _draw_threshold(axes, states.include_from)
    top = max(int(states.present.max()), int(states.absent.max()), states.include_from)
    axes.set(xlim=(0, 2 * n_words + 1), ylim=(-4, 1.12 * top))
    columns = {word: k for k, word in enumerate(features)}
    chosen = [columns[word] for word in named] or _telling_literals(states, features, n_named)
    _name_literals(axes, states, features, chosen)
    axes.set(
        xlabel=f"literal: {n_words:,} words, then {n_words:,} negations", ylabel="state of the automaton"
    )
    axes.set_title(f"Clause {states.clause} of {states.word!r}, weight {states.weight}", loc="left")
    _save(figure, path)


def _telling_literals(states: ClauseStates, features: Sequence[str], count: int) -> list[int]:
    """Find the included words, the included negations, then words that stand out among equally frequent ones.

    A literal's number is the place of its word, plus the number of words for a negation.
    """
    values, n_words = states.present.astype(np.float64), len(features)
    bands = np.floor(_BANDS_PER_POWER * np.log10(np.arange(1, n_words + 1))).astype(np.intp)
    sizes = np.maximum(np.bincount(bands), 1)
    means = np.bincount(bands, values) / sizes
    spreads = np.sqrt(np.maximum(np.bincount(bands, values**2) / sizes - means**2, 1.0))
    surplus = (values - means[bands]) / spreads[bands]
    surplus += np.where(values >= states.include_from, 1e9, 0.0)
    negations = np.where(states.absent >= states.include_from, 1e6 + states.absent.astype(np.float64), 0.0)
    both = np.concatenate([surplus, negations])
    order = np.argsort(-both, kind="stable")[: count + 2].tolist()
    return [k for k in order if features[k % n_words] != states.word and both[k] > _STANDS_OUT][:count]


def _name_literals(axes: Any, states: ClauseStates, features: Sequence[str], chosen: Sequence[int]) -> None:
    """Mark literals and write their names where they cover no other name, no mark, and not the threshold."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    letter, line = 0.0085 * (right - left), 0.045 * (high - low)
    edge, dot, n_words = float(states.include_from), 0.004 * (right - left), len(features)
    values = np.concatenate([states.present, states.absent]).astype(np.float64)
    placed = [(k + 1 - dot, k + 1 + dot, float(values[k])) for k in chosen]
    for k in sorted(chosen, key=lambda k: -values[k]):
        x, y = k + 1.0, float(values[k])
        name, colour = (features[k], _UP) if k < n_words else (f"NOT {features[k - n_words]}", _DOWN)
        at = x + 0.015 * (right - left)
        end = at + letter * len(name)
        if end > right:  # no room to the right of the mark
            at, end = x - 0.015 * (right - left) - letter * len(name), x - 0.015 * (right - left)
        heights = [y + sign * step * line / 2 for step in range(60) for sign in (1, -1)]
        free = [
            height
            for height in heights
            if low + line / 2 < height < high - line / 2
            and abs(height - edge) > 0.6 * line
            and all(end < a or b < at or abs(height - h) > line for a, b, h in placed)
        ]
        height = free[0] if free else y
        placed.append((at, end, height))
        axes.plot(x, y, "o", color=colour, markersize=4)
        axes.annotate(
            plain_text(name), (x, y), (at, height), fontsize=8, color=colour, va="center",
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.5},
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.5, "alpha": 0.6, "shrinkA": 1},
        )  # fmt: skip


def check_picture(path: str | os.PathLike[str]) -> None:
    """Refuse a file name that does not say which kind of picture is wanted."""
    if not str(path).lower().endswith(_ENDINGS):
        raise FileError(Path(path), f"a picture must end with {', '.join(_ENDINGS)}")


def _new_figure(path: str | os.PathLike[str], height: float) -> Any:
    check_picture(path)
    with needs_extra("Drawing", "plots"):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    figure = Figure(figsize=(9, height))
    FigureCanvasAgg(figure)
    return figure


def _save(figure: Any, path: str | os.PathLike[str]) -> None:
    try:
        figure.savefig(path, dpi=140)
    except OSError as error:
        raise FileError(Path(path), f"cannot be written: {error.strerror or error}") from error


def _draw_threshold(axes: Any, include_from: int) -> None:
    axes.axhline(include_from, color="black", linewidth=1, linestyle="--")
    axes.annotate(
        f"included from N = {include_from}", (1, include_from), (-4, 3), xycoords=("axes fraction", "data"),
        textcoords="offset points", ha="right", fontsize=8,
    )  # fmt: skip


def _draw_moves(axes: Any, trace: Trace, examples: Any) -> None:
    """Mark every example that rewarded or penalised the literal, along the lower edge."""
    moved = trace.rewarded - trace.penalised
    for sign, colour, name in ((1, _UP, "rewarded"), (-1, _DOWN, "penalised")):
        at = examples[sign * moved > 0]
        axes.plot(
            at,
            np.full(len(at), -7 - 2.5 * sign),
            "|",
            color=colour,
            markersize=4,
            label=f"{name} ({len(at)})",
        )


def _draw_events(axes: Any, trace: Trace) -> list[str]:
    """Mark the examples that moved the literal most, and write what they were made of."""
    events = [*trace.rewards[:_SHOWN_EVENTS], *trace.penalties[:_SHOWN_EVENTS]]
    notes = []
    for number, event in enumerate(sorted(events, key=lambda event: event.example), start=1):
        colour = _UP if event.gain > 0 else _DOWN
        place = event.example + 1, event.mean
        axes.plot(*place, "o", color=colour, markersize=12)
        axes.annotate(str(number), place, ha="center", va="center", color="white", fontsize=8)
        notes.append(f"{number}  {_note(trace, event)}")
    return notes


def _note(trace: Trace, event: TraceEvent) -> str:
    moved = f"up in {event.rewarded}" if event.gain > 0 else f"down in {event.penalised}"
    kind = "with" if event.label else "without"
    found = f"{trace.literal!r} in {event.n_carriers}" if event.occurs else f"{trace.literal!r} in none"
    text = f"example {event.example + 1}: {moved} clauses; documents {kind} {trace.word!r}, {found} of them"
    if event.documents:
        text += f": {event.documents[0].excerpt([trace.literal, trace.word], _TEXT_WIDTH)}"
    return plain_text("\n    ".join(textwrap.wrap(text, 118)))


def _literal(trace: Trace) -> str:
    return f"NOT {trace.literal}" if trace.negated else trace.literal


def _opposite(trace: Trace) -> str:
    return f"{trace.literal if trace.negated else f'NOT {trace.literal}'}: mean of the clauses"


def plain_text(text: str) -> str:
    """Text that matplotlib does not take for mathematics."""
    return text.replace("$", r"\$")
