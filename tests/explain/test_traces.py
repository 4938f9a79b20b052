from __future__ import annotations

import builtins
import json
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from matplotlib.text import Text

from omnitm.errors import FileError, MissingExtraError, UnknownWordError
from omnitm.explain import Document, plots
from omnitm.explain.plots import plot_clause, plot_trace
from omnitm.explain.words import ClauseStates
from omnitm.machine import Feedback

if TYPE_CHECKING:
    from pathlib import Path

    from omnitm.corpus import DocumentIndex
    from omnitm.explain import Explainer


def test_a_trace_ends_where_the_model_is(explainer: Explainer) -> None:
    for literal in ("a1", "b0"):
        trace = explainer.trace("a0", literal)
        machine, column = explainer.machines["a0"], explainer.vectors.feature_index(literal)
        assert trace.coordinate == explainer.vectors["a0"][column]
        np.testing.assert_array_equal(trace.states[-1], machine.states[:, column])
        np.testing.assert_array_equal(trace.opposite[-1], machine.states[:, column + 12])
        np.testing.assert_array_equal(trace.weights[-1], machine.weights)
        assert set(trace.positive) == set(machine.positive_clauses)
        assert trace.mean[-1] == machine.mean_states[column]
        assert trace.n_examples == 300


def test_steps_are_counted_over_the_clauses_that_count(explainer: Explainer) -> None:
    trace = explainer.trace("a0", "a1")
    states = trace.states[:, list(trace.positive)].astype(int)
    before = np.vstack([np.full(states.shape[1], 127), states[:-1]])  # all begin one below inclusion
    assert trace.rewarded.tolist() == (states > before).sum(axis=1).tolist()
    assert trace.penalised.tolist() == (states < before).sum(axis=1).tolist()
    assert trace.rewarded.max() > 1
    assert trace.penalised.max() > 1


def test_the_negation_is_the_other_half(explainer: Explainer) -> None:
    plain, negated = explainer.trace("a0", "a1"), explainer.trace("a0", "a1", negated=True)
    np.testing.assert_array_equal(plain.states, negated.opposite)
    np.testing.assert_array_equal(plain.mean, negated.opposite_mean)
    assert plain.coordinate == negated.coordinate
    assert plain.rewards[0].gain == -negated.penalties[0].gain


def test_documents_that_moved_a_literal(board: DocumentIndex, explainer: Explainer) -> None:
    """At specificity 1 a clause that remembers is moved up by documents with the literal, by no others."""
    trace = explainer.trace("a0", "a1", n_events=300)
    assert trace.rewards
    assert trace.penalties
    for event in trace.rewards:
        assert event.gain > 0
        assert event.rewarded == trace.rewarded[event.example]
        drawn = event.documents[0].number
        assert event.label == (0 in board.words_of(drawn))
        assert event.occurs == ("a1" in event.documents[0].words)
    moves = np.diff(trace.states.astype(int), axis=0, prepend=127)
    remembering = trace.feedback == Feedback.REMEMBER
    assert (moves[remembering & trace.occurs[:, None]] == 1).all()
    assert (moves[remembering & ~trace.occurs[:, None]] == -1).all()
    assert (moves[trace.feedback == Feedback.NONE] == 0).all()
    counts = trace.feedback_counts()
    assert counts["remember"] == remembering[:, list(trace.positive)].sum()


def test_traces_are_plain_data(explainer: Explainer) -> None:
    trace = explainer.trace("a0", "a1")
    small, all_of_it = trace.to_dict(), trace.to_dict(clauses=True)
    assert json.loads(json.dumps(all_of_it)) == all_of_it
    assert "states" not in small
    assert len(all_of_it["states"]) == len(small["mean"]) == 300


def test_unknown_words(explainer: Explainer) -> None:
    with pytest.raises(UnknownWordError, match="'a8' is not in the vocabulary"):
        explainer.trace("a0", "a8")
    explainer.machines.check_once("a0")
    with pytest.raises(UnknownWordError, match="'a5' is not in the trained words, only in the vocabulary"):
        explainer.trace("a5", "a1")


def test_pictures(explainer: Explainer, tmp_path: Path) -> None:
    trace = explainer.trace("a0", "a1")
    plot_trace(trace, tmp_path / "trace.png")
    assert (tmp_path / "trace.png").read_bytes().startswith(b"\x89PNG")
    plot_trace(explainer.trace("a0", "b0", negated=True), tmp_path / "trace.svg")
    drawn = (tmp_path / "trace.svg").read_text()
    assert "<svg" in drawn
    plot_clause(explainer.clause("a0", 0), explainer.vectors.feature_names, tmp_path / "clause.png")
    assert (tmp_path / "clause.png").stat().st_size > 5_000
    plot_clause(explainer.clause("a0", 0), explainer.vectors.feature_names, tmp_path / "clause.svg")
    assert "included from N" in (tmp_path / "clause.svg").read_text()
    with pytest.raises(FileError, match=r"a picture must end with \.png, \.svg, \.pdf"):
        plot_trace(trace, tmp_path / "trace.txt")
    with pytest.raises(FileError, match="cannot be written"):
        plot_trace(trace, tmp_path / "nowhere" / "trace.png")


def test_names_in_a_clause_cover_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures: list[Any] = []
    monkeypatch.setattr(plots, "_save", lambda figure, _: figures.append(figure))
    present = np.full(40, 126, np.uint8)
    named = [20, 22, 25, 30, 33]
    present[named] = [128, 129, 128, 128, 127]
    states = ClauseStates("other", 0, 1, 128, 255, present, np.full(40, 120, np.uint8), ())
    words = [f"word{k}" for k in range(40)]
    plot_clause(states, words, tmp_path / "clause.png", named=[words[k] for k in named])
    figures[0].canvas.draw()
    axes, renderer = figures[0].axes[0], figures[0].canvas.get_renderer()
    names = [text for text in axes.texts if text.get_text().startswith("word")]
    boxes = [Text.get_window_extent(text, renderer) for text in names]
    marks = axes.transData.transform([(k + 1, present[k]) for k in named])
    threshold = axes.transData.transform((0, 128))[1]
    assert len(boxes) == 5
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
    assert not any(box.contains(x, y) for box in boxes for x, y in marks)
    assert not any(box.y0 < threshold < box.y1 for box in boxes)


def test_pictures_need_the_extra(
    explainer: Explainer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = builtins.__import__

    def without_matplotlib(name: str, *rest: Any, **named: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return plain(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without_matplotlib)
    with pytest.raises(MissingExtraError, match=r"pip install 'omnitm\[plots\]'"):
        plot_trace(explainer.trace("a0", "a1"), tmp_path / "trace.png")


def test_excerpts_show_the_word() -> None:
    text = " ".join(["before"] * 40 + ["vehicle,"] + ["after"] * 40)
    cut = Document(3, text, ()).excerpt(["nothing", "vehicle"], 60)
    assert "vehicle," in cut
    assert cut.startswith("... before")
    assert cut.endswith("after ...")
    assert len(cut) <= 68
    assert Document(3, "short  text", ()).excerpt() == "short text"
    assert Document(3, text, ()).excerpt(width=20) == "before before ..."
    assert Document(3, "x " * 79 + "xx", ()).excerpt() == "x " * 79 + "xx"
    assert Document(3, "x " * 80 + "x", ()).excerpt() == "x " * 79 + "x ..."
    assert Document(3, text + " the end", ()).excerpt(["end"], 20).endswith(" the end")
    assert "vehicle" in Document(3, text + " the end", ()).excerpt(["end", "vehicle"], 60)


def test_included_literals_are_named_negations_too(tmp_path: Path) -> None:
    present, absent = np.full(40, 100, np.uint8), np.full(40, 110, np.uint8)
    present[[3, 7]], absent[[9, 39]], present[30] = [140, 150], [130, 160], 120
    words = [f"word{k}" for k in range(40)]
    states = ClauseStates("word7", 0, 1, 128, 255, present, absent, ())
    plot_clause(states, words, tmp_path / "clause.svg")
    drawn = (tmp_path / "clause.svg").read_text()
    assert [name for name in words if f"<!-- {name} -->" in drawn] == ["word3", "word30"]
    assert [name for name in words if f"<!-- NOT {name} -->" in drawn] == ["word9", "word39"]
