from __future__ import annotations

import builtins
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm.cli import main
from omnitm.corpus import build_index
from omnitm.errors import FileError, MissingExtraError, OmniTMWarning, ParameterError
from omnitm.evaluation import ablation as room
from omnitm.evaluation.ablation import (
    FACTORS,
    QUICK_FACTORS,
    READ_OUTS,
    Ablation,
    check_factors,
    plot_ablation,
    read_out,
    train_read_outs,
)
from omnitm.evaluation.datasets import WordPairs
from omnitm.evaluation.word_maps import figure_class
from omnitm.machine import AutoencoderSettings
from omnitm.training import train_vectors

if TYPE_CHECKING:
    from pathlib import Path

    from omnitm.corpus import DocumentIndex

SMALL = AutoencoderSettings(n_examples=60, n_clauses=8, accumulation=2)
STATES = np.array([[130, 10, 5, 140], [100, 20, 127, 0], [1, 2, 3, 4]], dtype=np.uint8)
WEIGHTS = np.array([3, 1, -2], dtype=np.int32)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("all literals", [(125 - 27) // 2, (-130 + 20) // 2]),
        ("included only", [65, -70]),
        ("positive only", [115, 15]),
        ("negated only", [-66, -70]),
        ("weighted", [(3 * 125 - 27) // 4, (3 * -130 + 20) // 4]),
        ("all clauses", [(125 - 27 - 2) // 3, (-130 + 20 - 2) // 3]),
    ],
)
def test_read_outs_by_hand(name: str, wanted: list[int]) -> None:
    assert read_out(name, STATES, WEIGHTS, 128).tolist() == wanted


def test_a_literal_is_included_from_n_on() -> None:
    states = np.array([[128, 127, 127, 129]], dtype=np.uint8)
    weights = np.array([1], dtype=np.int32)
    assert read_out("included only", states, weights, 128).tolist() == [128, -129]


def test_no_positive_clause() -> None:
    assert read_out("weighted", STATES, -np.abs(WEIGHTS), 128).tolist() == [0, 0]


def test_the_paper_s_read_out_is_the_embedding(board: DocumentIndex) -> None:
    found = train_read_outs(board, SMALL, board.vocabulary, n_jobs=2)
    assert list(found) == list(READ_OUTS)
    assert np.array_equal(found["all literals"], train_vectors(board, settings=SMALL).matrix)
    assert not np.array_equal(found["all literals"], found["positive only"])


def pairs(board: DocumentIndex) -> WordPairs:
    words = list(board.vocabulary)
    both = [(a, b) for a in words for b in words if a < b]
    first, second = zip(*both, strict=True)
    return WordPairs("board", first, second, np.array([float(a[0] == b[0]) for a, b in both]))


def test_one_thing_at_a_time_and_resumed(
    board: DocumentIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ablation = Ablation(board, tuple(board.vocabulary), (pairs(board),), tmp_path, SMALL)
    factors: dict[str, tuple[Any, ...]] = {"n_clauses": (4, 8), "max_included_literals": (None,)}
    seen: list[str] = []
    results = ablation.run(factors, on_configuration=seen.append)
    assert seen == ["read-outs", "n_clauses = 4", "n_clauses = 8", "max_included_literals = None"]
    assert [result.factor for result in results] == [
        *["read-out"] * 6,
        *["n_clauses"] * 2,
        "max_included_literals",
    ]
    assert [result.is_default for result in results] == [True, *[False] * 5, False, True, False]
    assert results[0].spearman == results[7].spearman  # the same training
    assert results[0].spearman["association-symmetric"] > 0.6

    def never(*_: object, **__: object) -> None:
        raise AssertionError("trained again")

    monkeypatch.setattr(room, "train_vectors", never)
    monkeypatch.setattr(room, "train_read_outs", never)
    assert ablation.run(factors) == results
    (tmp_path / "n_clauses=4.json").write_text("{")
    with pytest.warns(OmniTMWarning, match="made again"), pytest.raises(AssertionError, match="trained"):
        ablation.run(factors)
    with pytest.raises(AssertionError, match="trained again"):
        Ablation(board, tuple(board.vocabulary[:5]), (pairs(board),), tmp_path, SMALL).run(factors)


def test_judgements_that_tell_nothing_count_nothing(board: DocumentIndex, tmp_path: Path) -> None:
    words = board.vocabulary
    equal = WordPairs("equal", tuple(words[:4]), tuple(words[4:8]), np.ones(4))
    ablation = Ablation(board, tuple(words), (equal,), tmp_path, SMALL)
    (result,) = ablation.run({"n_clauses": (2,)}, read_outs=False)
    assert set(result.spearman.values()) == set(result.kendall.values()) == {0.0}


def test_factors() -> None:
    assert check_factors(None, quick=False) == FACTORS
    assert check_factors(["n_clauses", "read-out"], quick=True) == {"n_clauses": (8, 32, 128)}
    assert all(set(QUICK_FACTORS[name]) <= {*values, None} for name, values in FACTORS.items())
    with pytest.raises(ParameterError, match="'clauses' is no factor; choose from read-out, n_clauses"):
        check_factors(["clauses"], quick=False)
    defaults = AutoencoderSettings()
    assert all(getattr(defaults, name) in values for name, values in FACTORS.items())
    assert FACTORS == {
        "n_clauses": (8, 16, 32, 64, 128),
        "accumulation": (1, 4, 8, 16, 24, 32, 64),
        "max_included_literals": (1, 3, 8, 32, None),
        "output_balancing": (0.3, 0.5, 0.7, 0.85),
        "specificity": (1.0, 1.5, 2.0, 5.0),
        "threshold": (200, 2_000, 20_000),
        "n_examples": (125, 250, 500, 1_000, 2_000, 8_000),
        "algorithm": ("exact", "fast"),
    }
    assert QUICK_FACTORS["n_examples"] == (125, 500, 1_000)


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    random = np.random.default_rng(1)
    topics = [["road", "car", "wheel", "driver"], ["sea", "ship", "harbour", "sailor"]]
    lines = [" ".join(random.choice(topics[i % 2], size=3, replace=False)) for i in range(100)]
    (tmp_path / "text.txt").write_text("\n".join(lines) + "\n")
    build_index(tmp_path / "text.txt", tmp_path / "index")
    judged = "road car 9\nsea ship 8\nroad ship 1\nwheel sailor 2\nunknown car 3\n"
    (tmp_path / "pairs.txt").write_text(judged)
    out = tmp_path / "out"
    start = [
        "evaluate",
        "ablation",
        str(tmp_path / "index"),
        "-o",
        str(out),
        "--sets",
        str(tmp_path / "pairs.txt"),
    ]
    assert main([*start, "--only", "threshold", "--quick", "--threads", "1"]) == 0
    assert "threshold" in capsys.readouterr().out
    assert (out / "ablation.png").stat().st_size > 1000
    assert "| threshold | 20000 * |" in (out / "ablation.md").read_text()
    content = json.loads((out / "ablation.json").read_text())
    assert (content["words"], len(content["results"])) == (6, 2)
    (tmp_path / "words.txt").write_text("road\ncar\nsea\nship\n")
    words = ["--words", str(tmp_path / "words.txt")]
    assert main([*start, *words, "--only", "algorithm", "--no-plot", "--quiet"]) == 0
    assert json.loads((out / "ablation.json").read_text())["words"] == 4
    (tmp_path / "pairs.txt").write_text("x y 1\n")
    assert main([*start, "--quiet"]) == 2
    assert "No word of the pairs is in the index" in capsys.readouterr().err


def test_the_table_marks_the_default() -> None:
    first, second = room.METRICS[:2]
    default = room.AblationResult("n_clauses", "8", True, {first: 0.5}, {second: 0.25})
    other = room.AblationResult("n_clauses", "16", False, {second: -0.125}, {})
    table = room.ablation_table([default, other])
    assert table.header[:4] == ["factor", "value", f"{first}, Spearman", f"{first}, Kendall"]
    assert table.rows[0][:6] == ["n_clauses", "8 *", "0.500", "-", "-", "0.250"]
    assert table.rows[1][:6] == ["n_clauses", "16", "-", "-", "-0.125", "-"]
    assert table.to_markdown().splitlines()[3].startswith("| --- | --- | --: |")


def test_plots_need_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    result = room.AblationResult("n_clauses", "8", True, {"similarity": 0.5}, {"similarity": 0.4})
    with pytest.raises(FileError, match=r"plot\.png: cannot be written"):
        plot_ablation([result], tmp_path / "no" / "plot.png")
    real = builtins.__import__

    def without(name: str, *rest: Any, **options: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r"A plot needs an extra .*pip install 'omnitm\[plots\]'"):
        figure_class()
