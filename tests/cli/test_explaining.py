from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm.cli import main
from omnitm.explain import Explainer

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explaining")
    random = np.random.default_rng(1)
    topics = [["road", "car", "wheel", "driver"], ["sea", "ship", "harbour", "sailor"]]
    lines = [" ".join(random.choice(topics[i % 2], size=3, replace=False)) for i in range(200)]
    (folder / "news.txt").write_text("\n".join(lines) + "\n")
    train = ["train", str(folder / "news.txt"), "-o", str(folder / "model"), "--quiet"]
    assert main([*train, "--n-examples", "60", "--n-clauses", "10", "--accumulation", "1"]) == 0
    return folder / "model"


def test_explain(model: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["explain", str(model), "car"]) == 0
    out = capsys.readouterr().out
    assert "car: in " in out
    assert "Strongest literals" in out
    assert "example of" in out
    assert main(["explain", str(model), "car", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["rule"]["literals"][0]["word"] for row in found["rules"]} <= {
        "road", "wheel", "driver", "sea", "ship", "harbour", "sailor",
    }  # fmt: skip
    assert found["stands_out"][0][0] in {"road", "wheel", "driver"}
    picture = tmp_path / "clause.svg"
    assert main(["explain", str(model), "car", "--clause", "0", "--plot", str(picture)]) == 0
    assert "<svg" in picture.read_text()
    assert main(["explain", str(model), "car", "--clause", "0"]) == 2
    assert "--clause and --plot go together" in capsys.readouterr().err


def test_what_is_not_shown_of_rules_is_counted(
    model: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    explain_word, document_rules = Explainer.explain, Explainer.document_rules

    def one_new_rule(*given: Any, **options: Any) -> Any:
        found = explain_word(*given, **options)
        first, *_ = found.rules
        return replace(found, rules=(first, replace(first, says_new=False)))

    def one_without_documents(*given: Any, **options: Any) -> Any:
        first, *_ = document_rules(*given, **options)
        return [first, replace(first, match=replace(first.match, hits=0))]

    monkeypatch.setattr(Explainer, "explain", one_new_rule)
    monkeypatch.setattr(Explainer, "document_rules", one_without_documents)
    assert main(["explain", str(model), "car"]) == 0
    out = capsys.readouterr().out
    assert "1 rule, not shown, asks for the same words as one before (--json has all)." in out
    assert "Single documents bear few rules out; --per-document finds rules about these." in out
    assert main(["explain", str(model), "car", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["rules"]) == 2
    assert main(["explain", str(model), "car", "--per-document"]) == 0
    assert "1 rule, not shown, holds in none of those with the word." in capsys.readouterr().out


def test_tables_fit_a_narrow_terminal(
    model: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["explain", str(model), "car", "-n", "3"]) == 0
    assert main(["why", str(model), "car", "wheel"]) == 0
    assert main(["why", str(model), "car", "wheel", "--metric", "association-symmetric", "-n", "3"]) == 0
    assert main(["trace", str(model), "car", "wheel"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in lines) <= 80


def test_why(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", str(model), "car", "wheel"]) == 0
    out = capsys.readouterr().out
    assert "association of car and wheel: " in out
    assert "car and wheel occur together in " in out
    assert main(["why", str(model), "car", "sea", "--metric", "association"]) == 0
    assert "Clauses: states of the other word's two literals" in capsys.readouterr().out
    assert main(["why", str(model), "car", "wheel", "--metric", "cosine", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["total_for"] + found["total_against"] == pytest.approx(found["score"])
    assert main(["why", str(model), "car", "wheel", "--metric", "distance"]) == 2
    assert "'metric' parameter of why must be one of" in capsys.readouterr().err


def test_trace(model: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    picture = tmp_path / "trace.png"
    assert main(["trace", str(model), "car", "wheel", "--plot", str(picture)]) == 0
    out = capsys.readouterr().out
    assert "Coordinate of wheel in the vector of car" in out
    assert "Moved it up most" in out
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert main(["trace", str(model), "car", "sea", "--negated", "--json", "--clauses"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["negated"]
    assert len(found["states"]) == 60


def test_mistakes_are_one_line(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command, message in (
        (["explain", str(model), "cart"], "'cart' is not in the trained words; spelled like it: car"),
        (["trace", str(model), "car", "wheels"], "'wheels' is not in the vocabulary"),
        (["why", str(tmp_path), "car", "road"], "is not a model"),
        (["explain", str(model), "car", "--documents", "-1"], "'n_documents' parameter of explain"),
    ):
        assert main(command) == 2
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == 1
        assert message in lines[0]


def test_without_its_index_a_model_says_what_is_missing(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = tmp_path / "bare" / "model"
    shutil.copytree(model, bare, ignore=shutil.ignore_patterns("index", "index-path.txt"))
    assert main(["why", str(bare), "car", "wheel", "--metric", "cosine"]) == 0
    assert main(["explain", str(bare), "car"]) == 2
    assert f"omnitm index TEXT -o {bare}/index" in capsys.readouterr().err
    assert main(["explain", str(bare), "car", "--index", str(model / "index")]) == 0
