"""A tiny task in the form of SemEval-2020 Task 1: `bank_nn` changes, `stone_nn` does not."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omnitm.cli import main
from omnitm.errors import CorpusError, FileError
from omnitm.evaluation.change import ChangeTask, evaluate_change

if TYPE_CHECKING:
    from pathlib import Path

WATER, MONEY, FILLER = "river water shore flood", "loan money credit debt", "tree leaf sky wind sun rain"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    random = np.random.default_rng(3)
    for name, topic in (("corpus1", WATER), ("corpus2", MONEY)):
        lines = []
        for k in range(240):
            words = random.choice(FILLER.split(), 2).tolist()
            words += ["bank_nn", *random.choice(topic.split(), 2)] if k % 2 else []
            words += ["stone_nn"] if k % 4 == 0 else []
            words += ["rare_vb"] if k < 5 else []
            lines.append(" ".join(words))
        (tmp_path / name / "lemma").mkdir(parents=True)
        with gzip.open(tmp_path / name / "lemma" / "c.txt.gz", "wt") as file:
            file.write("\n".join(lines) + "\n")
    (tmp_path / "targets.txt").write_text("bank_nn\nstone_nn\nrare_vb\nabsent_nn\n")
    (tmp_path / "truth").mkdir()
    (tmp_path / "truth" / "binary.txt").write_text("bank_nn\t1\nstone_nn\t0\nrare_vb\t0\n")
    (tmp_path / "truth" / "graded.txt").write_text("bank_nn\t0.9\nstone_nn\t0.1\nrare_vb\t0.2\n")
    return tmp_path


def test_scores(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = evaluate_change(ChangeTask.read(folder), n_permutations=200)
    bank, stone, rare, absent = report.words
    assert (report.accuracy, report.most_frequent, report.spearman) == (1, 0.5, None)
    assert bank.distance is not None
    assert stone.distance is not None
    assert bank.distance > 2 * stone.distance
    assert set(bank.gained.split(", ")) & set(MONEY.split())
    assert (rare.p, absent.p, report.n_too_rare) == (None, None, 2)
    command = ["evaluate", "change", "--data", str(folder), "--permutations", "200", "--quiet"]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert "accuracy 1.000 (always the same answer: 0.500)" in printed
    assert "2 words are too rare" in printed
    assert main([*command, "--format", "csv"]) == 0
    assert capsys.readouterr().out.startswith("word,distance,p,q,changed,graded,gained,lost\nbank_nn,")
    assert main([*command, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["accuracy"] == 1


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("targets.txt", "\n", "names no word"),
        (
            "truth/binary.txt",
            "bank_nn yes\n",
            "line 1: expected a word, a tab and a number, found 'bank_nn yes'",
        ),
        ("truth/graded.txt", None, "is missing; expected the folder of SemEval-2020"),
        ("corpus2/lemma/c.txt.gz", None, "has no .txt or .txt.gz file"),
    ],
)
def test_mistakes(folder: Path, file: str, content: str | None, message: str) -> None:
    if content is None:
        (folder / file).unlink()
    else:
        (folder / file).write_text(content)
    with pytest.raises(FileError, match=message):
        ChangeTask.read(folder)


def test_corpora_that_cannot_be_used(folder: Path) -> None:
    with pytest.raises(FileError, match="no such folder; expected that of SemEval-2020 Task 1"):
        ChangeTask.read(folder / "nowhere")
    (folder / "targets.txt").write_text("absent_nn\n")
    with pytest.raises(CorpusError, match=r"No word of targets\.txt is in the corpora, such as 'absent_nn'"):
        evaluate_change(ChangeTask.read(folder))
    (folder / "corpus1" / "lemma" / "c.txt.gz").write_bytes(b"no gzip")
    with pytest.raises(FileError, match="cannot be read"):
        evaluate_change(ChangeTask.read(folder))
