"""`omnitm compare` from text to page."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm.cli import main
from omnitm.comparison.words import Comparison, compare_word

if TYPE_CHECKING:
    from pathlib import Path

    from omnitm.comparison import Sides


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, random = tmp_path_factory.mktemp("compare"), np.random.default_rng(1)
    topics = {"1998": "river water shore", "2006": "river loan", "2015": "loan money debt"}
    rows = []
    for year, text in topics.items():
        topic = text.split()
        for k in range(120):
            words = (
                ["bank", *random.choice(topic, 2)] if k % 2 else ["stone", random.choice(["tree", "leaf"])]
            )
            rows.append({"text": " ".join(words), "date": f"{year}-01-01", "<b>": "x, y" if k % 3 else "z"})
    with (folder / "news.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    command = ["index", str(folder / "news.csv"), "--column", "text", "--group", "date", "--group-by", "year"]
    assert main([*command, "--quiet", "-o", str(folder / "index")]) == 0
    assert main(["group", str(folder / "index"), "<b>"]) == 0
    return folder / "index"


def test_a_word(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(index), "bank", "--by", "date", "--permutations", "99"]) == 0
    printed = capsys.readouterr().out
    assert "bank by date: 1998 (60 documents) and 2015 (60)" in printed
    assert "Its use differs between the groups: p = 0.01" in printed
    lost, gained = printed.split("more in 1998")[1].split("more in 2015")
    assert "water" in lost
    assert "money" in gained
    row = next(line for line in gained.splitlines() if line.startswith("money")).split()
    assert (row[1], row[-1]) == ("0.0%", "<0.001")
    assert "2015, money: " in printed or "2015, loan: " in printed or "2015, debt: " in printed
    assert "group by group" in printed
    assert max(map(len, printed.splitlines())) <= 80
    options = ["--groups", "1998", "2006", "--json", "--permutations", "9"]
    assert main(["compare", str(index), "bank", "--by", "date", *options]) == 0
    found = json.loads(capsys.readouterr().out)["words"][0]
    assert (found["first"], found["second"], found["compared_first"]) == ("1998", "2006", 60)


def test_many_words(index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["compare", str(index), "--by", "date", "--permutations", "49", "--quiet"]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert "words differ by date (q <= 0.05); the surest first" in printed
    assert printed.splitlines()[1].split()[4:] == ["more", "in", "1998", "more", "in", "2015"]
    for name in ("c.html", "c.csv", "c.json"):
        assert main([*command, "--top", "3", "-o", str(tmp_path / name)]) == 0
        assert not (tmp_path / f"{name}.words.jsonl").exists()  # kept only until all are done
    assert "bank</b>" in (tmp_path / "c.html").read_text()
    rows = list(csv.DictReader((tmp_path / "c.csv").read_text().splitlines()))
    assert "bank" in [row["word"] for row in rows]
    assert len(rows) == 3
    found = json.loads((tmp_path / "c.json").read_text())["words"]
    assert [word["comparison"]["word"] for word in found] == [row["word"] for row in rows]
    capsys.readouterr()
    assert main([*command, "--json", "--top", "2"]) == 0
    assert len(json.loads(capsys.readouterr().out)["words"]) == 2


def test_a_run_that_was_stopped(
    index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "c.csv.words.jsonl"
    command = ["compare", str(index), "--by", "date", "--permutations", "19", "--quiet", "--threads", "1"]
    command += ["-o", str(tmp_path / "c.csv")]
    assert main(command) == 0
    whole = (tmp_path / "c.csv").read_bytes()

    def stopped(sides: Sides, word: str, **options: Any) -> Comparison:
        if log.read_text().count("\n") > 2:
            raise KeyboardInterrupt
        return compare_word(sides, word, **options)

    with monkeypatch.context() as patch:
        patch.setattr("omnitm.comparison.corpora.compare_word", stopped)
        assert main(command) == 130
    said = capsys.readouterr().err
    assert f"omnitm: stopped: finished words are kept in {log}; the rest with the same command" in said
    kept = log.read_text()
    assert main(command) == 2
    assert "go on with --resume, or begin again with --force" in capsys.readouterr().err
    assert log.read_text() == kept
    assert main([*command, "--resume", "--engine", "processes"]) == 0
    assert (tmp_path / "c.csv").read_bytes() == whole
    assert not log.exists()
    log.write_text("")
    assert main([*command, "--force"]) == 0
    assert (tmp_path / "c.csv").read_bytes() == whole


def test_odd_labels(index: Path, tmp_path: Path) -> None:
    page = tmp_path / "odd.html"
    options = ["--permutations", "9", "--quiet", "-o", str(page)]
    assert main(["compare", str(index), "bank", "--by", "<b>", *options]) == 0
    assert "groups of “&lt;b&gt;”" in page.read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["bank", "--by", "year"], "no groups 'year': there are 'date', '<b>'"),
        (
            ["bank", "--by", "date", "--groups", "1999", "2015"],
            "'date' has no group '1999'; there are '1998'",
        ),
        (["loan", "--by", "date"], "too few to compare"),
        (["bank", "--by", "date", "--resume"], "--resume and --force are for a run with -o FILE"),
        (["bank", "--by", "date", "--engine", "processes"], "--engine is for many words: give -o FILE"),
        (["bank", "--by", "date", "--top", "0"], "--top must be 1 or more"),
        (["bank", "--by", "date", "--documents", "-1"], "'n_documents' parameter of compare must be an int"),
        (["bank", "--by", "date", "-o", "x.pdf"], "the name must end with .html, .csv, .json"),
        (["bank", "--by", "date", "-o", "no/x.csv", "--quiet"], "cannot be written"),
    ],
)
def test_mistakes(index: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(index), *options]) == 2
    assert message in capsys.readouterr().err
