"""The page as files: what is in them, how large they are said to be, and what is refused."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from starlette.testclient import TestClient

from omnitm.cli import main
from omnitm.errors import FileError, ParameterError
from omnitm.explain import Explainer
from omnitm.explorer import create_app
from omnitm.explorer.answers import Answers
from omnitm.explorer.export import Export, page_files
from omnitm.explorer.map_file import header_of, subset
from omnitm.explorer.map_keeper import MapKeeper

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def export(explainer: Explainer) -> Export:
    answers = Answers(explainer)
    answers.theme_work.start()
    answers.theme_work.wait()
    return Export(answers, MapKeeper(explainer).points(), 12)


def test_the_files_answer_as_the_server_does(export: Export, explainer: Explainer, tmp_path: Path) -> None:
    done: list[int] = []
    n_bytes = export.write(tmp_path / "site", done.append)
    data = tmp_path / "site" / "data"
    assert done == [12]
    assert n_bytes == sum(path.stat().st_size for path in (tmp_path / "site").rglob("*") if path.is_file())
    assert export.cost()[0] == pytest.approx(n_bytes, rel=0.05)
    words = json.loads((data / "words.json").read_text())["words"]
    frequencies = explainer.index.document_frequencies
    assert len(words) == 12
    assert sorted(-frequencies[explainer.index.word_id(word)] for word in words) == [
        -frequencies[explainer.index.word_id(word)] for word in words
    ]
    stored, answers = json.loads((data / "words" / "0.json").read_text()), Answers(explainer)
    expected = answers.neighbours(words[3], "related", 20)["neighbours"]
    assert [row[0] for row in stored[words[3]]["neighbours"]["related"]] == [row["word"] for row in expected]
    assert stored[words[3]]["row"] == answers.row(words[3], 8)
    model = json.loads((data / "model.json").read_text())
    assert model["is_stored"]
    assert set(model["examples"]) <= set(words)
    assert model["invitations"]["meaning"] in words
    themes = json.loads((data / "themes.json").read_text())["themes"]
    theme, share = stored[words[3]]["themes"][0]
    assert 0 < share <= 1
    assert themes[theme]["words"]


def test_senses_rules_and_reasons_are_those_of_the_model(demo: Path) -> None:
    answers = Answers(Explainer.open(demo))
    export = Export(answers, MapKeeper(answers.explainer).points(), 200)
    files = dict(export._common_files())
    model = json.loads(files["data/model.json"])
    assert model["views"] == ["map", "word", "compare", "themes", "rules"]
    assert set(model["invitations"]["why"] or []) <= set(json.loads(files["data/words.json"])["words"])
    word = export._word("file")
    near = [row["word"] for row in answers.neighbours("file", "similarity", 20)["neighbours"]]
    assert list(word["pairs"]) == near[:5]
    pair, expected = word["pairs"][near[0]], answers.compare("file", near[0], "similarity", 8)
    assert pair["sentence"] == expected["sentence"]
    assert pair["score"] == pytest.approx(expected["score"], abs=0.001)
    assert pair["contributions_for"][0][0] == expected["contributions_for"][0]["feature"]
    senses = answers.senses("file")["senses"]
    assert [sense["features"] for sense in word["senses"]] == [
        [name for name, _ in sense["features"][:7]] for sense in senses
    ]
    rules = answers.document_rules("file", 4)["rules"]
    assert [rule["present"] for rule in word["rules"]] == [rule["present"] for rule in rules]
    assert word["rules"][0]["chosen"]["hits"] == rules[0]["chosen"]["hits"]
    assert "examples" not in str(word["rules"])


def test_the_map_has_the_points_of_the_words(explainer: Explainer) -> None:
    content = MapKeeper(explainer).points()
    rows = np.array([5, 2, 9])
    found = subset(content, rows)
    start = found.index(b"\n") + 1
    assert start % 4 == 0
    assert header_of(found)["n_words"] == 3
    assert len(found) == start + 30
    all_points = np.frombuffer(content, "<f4", 2 * 23, content.index(b"\n") + 1).reshape(23, 2)
    assert np.array_equal(np.frombuffer(found, "<f4", 6, start).reshape(3, 2), all_points[rows])


def test_the_page_is_marked_as_stored_and_may_only_run_its_own_scripts() -> None:
    names = [name for name, _ in page_files()]
    start = dict(page_files())["index.html"].decode()
    assert names[-1] == "index.html"
    assert {"style.css", "icon.svg", "js/main.js", "js/stored.js"} <= set(names)
    assert "<html data-stored" in start
    assert "script-src 'self'" in start
    assert "frame-ancestors" not in start
    assert 'src="/' not in start
    assert 'href="/' not in start


def test_a_folder_with_something_in_it_is_refused(export: Export, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(FileError, match="exists and is not an empty folder; choose another for --export"):
        export.write(tmp_path)
    with pytest.raises(FileError, match="exists and is not an empty folder"):
        export.write(tmp_path / "mine.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("n_words", [0, 24])
def test_wrong_numbers_of_words_are_refused(explainer: Explainer, n_words: int) -> None:
    with pytest.raises(ParameterError, match=f"'n_words' parameter.*Got {n_words}"):
        Export(Answers(explainer), MapKeeper(explainer).points(), n_words)


def test_the_command_says_the_size_first(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explore", str(folder), "--export", str(tmp_path / "site"), "--words", "9"]) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("Exporting 9 of 23 words: about 0.2 MB in ")
    assert last.endswith(f"to look at it: python -m http.server --directory {tmp_path / 'site'}")
    assert (tmp_path / "site" / "index.html").exists()


def test_words_are_for_an_export(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", str(folder), "--words", "9", "--no-browser"]) == 2
    assert "--words is for --export" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform in {"darwin", "win32"}, reason="names of files are text there")
def test_names_of_files_that_are_no_text(tmp_path: Path) -> None:
    """A name in Latin-1, as in old archives: bytes that are no UTF-8 become lone surrogates."""
    text, model = (tmp_path / os.fsdecode(b"caf\xe9" + ending) for ending in (b".txt", b".model"))
    text.write_text("road car wheel\nsea ship sail\nroad wheel driver\nsea sail wave\n" * 20)
    commands = [
        ["train", str(text), "-o", str(model), "--n-examples", "20", "--n-clauses", "4", "--quiet"],
        ["info", str(model / "index")],
        ["group", str(model / "index"), "file"],
        ["card", str(model), "--corpus", text.name, "--force"],
        ["explain", str(model), "road"],
        ["explore", str(model), "--export", str(tmp_path / "site")],
    ]
    assert [main(command) for command in commands] == [0] * len(commands)
    assert "caf?.txt" in (model / "README.md").read_text()
    assert json.loads((tmp_path / "site/data/model.json").read_text())["name"] == "caf?.model"
    explainer = Explainer.open(model)
    assert explainer.index.document_text(0) == "road car wheel"
    with TestClient(create_app(explainer), base_url="http://127.0.0.1:8765") as client:
        found = client.get("/api/model")
    assert (found.status_code, found.json()["name"]) == (200, "caf?.model")
