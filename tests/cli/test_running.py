"""`omnitm train --engine --shard --log` and `omnitm merge`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from omnitm.cli import main
from omnitm.engines import processes
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from pathlib import Path

QUICK = ["--n-examples", "40", "--n-clauses", "8", "--accumulation", "2"]
CRASH = """
import os, sys
from omnitm.engines import processes, protocol

class Bad(protocol.WordTrainer):
    def train(self, target, key):
        return target != 1 and super().train(target, key) or os._exit(9)

protocol.WordTrainer = Bad
processes.serve(int(sys.argv[1]))
"""


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("road car wheel\nsea ship sail\nroad car driver\nsea ship wave\n" * 10)
    return path


def events(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def test_shards_from_text_to_one_model(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for shard in ("1/2", "2/2"):
        part = str(tmp_path / f"part-{shard[0]}")
        assert main(["train", str(text), "-o", part, "--shard", shard, "--quiet", *QUICK]) == 0
    merged, whole = str(tmp_path / "merged"), str(tmp_path / "whole")
    assert main(["merge", str(tmp_path / "part-2"), str(tmp_path / "part-1"), "-o", merged]) == 0
    assert "8 words x 8 features, from 2 models" in capsys.readouterr().err
    assert main(["train", str(text), "-o", whole, "--quiet", "--engine", "processes", *QUICK]) == 0
    for name in ("words.txt", "vectors.i16", "manifest.json"):
        assert (tmp_path / "merged" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_the_log_of_a_run_with_a_word_that_crashes(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(processes, "BOOT", CRASH)
    log, model = tmp_path / "log.jsonl", tmp_path / "m"
    command = ["train", str(text), "-o", str(model), "--log", str(log), *QUICK]
    assert main([*command, "--engine", "processes", "--workers", "1"]) == 3
    shown = capsys.readouterr().err
    assert "words/s" in shown
    assert "3 failures, 1 words set aside" in shown
    assert f"omnitm: error: {model}: 7 of 8 words are trained and kept; set aside" in shown
    said = events(log)
    assert [e["set_aside"] for e in said if e["event"] == "failure"] == [False, False, True]
    assert {"event": "start", "engine": "processes", "model": str(model)}.items() <= said[0].items()
    assert said[-1]["event"] == "end"
    assert said[-1]["status"] == "stopped"
    assert "set aside" in said[-1]["problem"]
    assert (said[-1]["done"], said[-1]["failures"], said[-1]["set_aside"]) == (7, 3, 1)
    assert main(["merge", str(model), "-o", str(tmp_path / "without"), "--allow-missing"]) == 0
    assert "left out, not trained: 1 words" in capsys.readouterr().err
    assert len(WordVectors.load(tmp_path / "without", verify=True)) == 7
    monkeypatch.undo()
    assert main([*command, "--resume", "--quiet"]) == 0
    said = events(log)[len(said) :]
    assert [said[0]["event"], said[-1]["event"]] == ["start", "end"]
    assert {e["event"] for e in said[1:-1]} == {"progress"}  # one for every second that it takes
    assert said[-1]["status"] == "finished"
    assert (said[-1]["done"], said[-1]["seconds_left"]) == (8, 0.0)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("train {text} -o {tmp}/m --shard 3/2", "A shard must be K/N"),
        ("train {text} -o {tmp}/m --shard 1/2 --add", "--add and --shard don't go together"),
        ("train {text} -o {tmp}/m --log {tmp}/no/log", "log: cannot be written: No such file"),
        ("train {text} -o {tmp}/m --model ppmi --engine processes", "--engine is for the Omni models"),
        ("train {text} -o {tmp}/m --model ppmi --shard 1/2", "--shard is for the Omni models"),
        ("train {text} -o {tmp}/m --model ppmi --log {tmp}/x", "--log is for the Omni models"),
        ("merge {tmp}/a -o {tmp}/m", "a: does not exist"),
    ],
)
def test_mistakes(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, message: str
) -> None:
    assert main(command.format(text=text, tmp=tmp_path).split()) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "m" / "manifest.json").exists()
