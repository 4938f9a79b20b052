"""`omnitm explore`: one-line errors for what a user may get wrong."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omnitm import OmniTMAE, WordVectors, explorer
from omnitm.cli import main
from omnitm.store import ModelRecord

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("uvicorn", reason="needs the extra 'explorer'")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model without an index."""
    path = tmp_path_factory.mktemp("explore") / "model"
    OmniTMAE(n_examples=20, n_jobs=1).fit([["road", "car"], ["sea", "ship"]] * 9).word_vectors_.save(path)
    return path


def test_a_folder_that_is_no_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert "is not a model" in error
    assert error.count("\n") == 1


def test_a_port_in_use(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["explore", str(model), "--port", str(taken.getsockname()[1]), "--no-browser"]) == 2
    error = capsys.readouterr().err
    assert "is in use; choose another with --port" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "has no groups; expected"),
        (b"# a comment\nvehicles car", "line 2: 'vehicles car' names no group"),
        (b"v: car\nempty:", "the group 'empty' has no words"),
        (b"v: \xff", "must be UTF-8 text; byte 3 is not"),
        (b"x" * (1 << 21), "has 2,097,152 bytes"),
        (None, "is missing"),
    ],
)
def test_groups_that_are_none(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, problem: str
) -> None:
    if content is not None:
        (tmp_path / "groups.txt").write_bytes(content)
    assert main(["explore", str(model), "--groups", str(tmp_path / "groups.txt"), "--no-browser"]) == 2
    error = capsys.readouterr().err
    assert problem in error
    assert error.count("\n") == 1


def test_a_model_whose_dimensions_have_no_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vectors = np.ones((2, 3), dtype=np.float32)
    WordVectors(vectors, ["a", "b"], None, training=ModelRecord("glove", {}, 0, "0" * 64)).save(
        tmp_path / "m"
    )
    assert main(["explore", str(tmp_path / "m"), "--no-browser", "--port", "0"]) == 2
    assert "The explorer shows models whose dimensions are words" in capsys.readouterr().err


def test_words_that_were_compared(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = []
    monkeypatch.setattr(explorer, "serve", lambda *_, comparison, **__: given.append(comparison))
    text = tmp_path / "text.txt"
    text.write_text("road car\nsea ship\n" * 9, encoding="utf-8")
    explore = ["explore", str(tmp_path / "model"), "--no-browser", "--comparison"]
    assert main(["train", str(text), "-o", str(tmp_path / "model"), "--quiet", "--threads", "1"]) == 0
    assert main([*explore, "change.json"]) == 0
    assert [path.name for path in given] == ["change.json"]
    monkeypatch.undo()
    assert main([*explore, "change.json"]) == 2
    assert "change.json: cannot be read" in capsys.readouterr().err
    assert main(["explore", str(model), "--comparison", "change.json"]) == 2
    assert "--comparison needs the index that was compared" in capsys.readouterr().err


def test_a_port_that_is_none(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", str(model), "--port", "70000"]) == 2
    assert "'port' parameter" in capsys.readouterr().err


def test_the_page_is_served_until_an_interrupt(model: Path) -> None:
    command = [sys.executable, "-m", "omnitm.cli", "explore", str(model), "--port", "0", "--no-browser"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(2)]
        assert "index is not there" in lines[0]
        address = next(part for part in lines[1].split() if part.startswith("http://127.0.0.1:"))
        with urllib.request.urlopen(address, timeout=120) as answer:  # noqa: S310 - our own server
            assert b"omnitm explorer" in answer.read()
        process.send_signal(signal.SIGINT)
        assert process.wait(120) in {0, 130}


def test_the_map_can_be_computed_first(
    model: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "omnitm.explorer.app.serve", lambda *_, ready, groups, **__: ready(f"http://127.0.0.1:1/{groups}")
    )
    (model.parent / "groups.json").write_text('{"land": ["car", "road"], "water": ["ship"]}')
    assert main(["explore", str(model), "--map", "--no-browser"]) == 0
    assert (model / "map.bin").exists()
    given = ["--groups", str(model.parent / "groups.json")]
    assert main(["explore", str(model), "--map", "--no-browser", *given]) == 0
    shown = capsys.readouterr().out
    assert shown.count("The map of 4 words is there.") == 2
    assert "http://127.0.0.1:1/land: car road\nwater: ship" in shown


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Enough words for the default similarity, and so for a map."""
    random = np.random.default_rng(1)
    topics = [[f"{first}{second}a" for second in "bcdfghjklmnprst"] for first in "bcdfghjk"]
    lines = [" ".join(random.choice(topics[k % 8], 6)) for k in range(400)]
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("\n".join(lines))
    return path


QUICKLY = ["--n-examples", "30", "--n-clauses", "4", "--threads", "1"]


def test_training_prepares_the_map_unless_told_not_to(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "model"
    assert main(["train", str(text), "-o", str(model), *QUICKLY, "--no-map"]) == 0
    assert not (model / "map.bin").exists()
    assert main(["train", str(text), "-o", str(model), *QUICKLY, "--force"]) == 0
    assert (model / "map.bin").exists()
    assert "no map" not in capsys.readouterr().err


def test_a_model_is_trained_even_if_its_map_cannot_be_made(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("omnitm.cli.explore.compute_map", lambda *_, **__: "the disk is full")
    assert main(["train", str(text), "-o", str(tmp_path / "model"), *QUICKLY]) == 0
    assert "no map for `omnitm explore`: the disk is full" in capsys.readouterr().err
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert main(["train", str(text), "-o", str(tmp_path / "other"), *QUICKLY]) == 0
    assert "pip install 'omnitm[explorer]'" in capsys.readouterr().err


def test_a_map_that_cannot_be_computed_first_is_an_error(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("omnitm.cli.explore.compute_map", lambda *_: "the disk is full")
    (model / "map.bin").unlink(missing_ok=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert main(["explore", str(model), "--map", "--no-browser"]) == 2
    assert "the disk is full" in capsys.readouterr().err
