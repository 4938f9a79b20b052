"""`omnitm train --model`: one command for all models."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from omnitm.cli import main
from omnitm.corpus import DocumentIndex
from omnitm.store import TrainingRecord
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("road car wheel\nsea ship sail\nroad car driver\nsea ship wave\n" * 10)
    return path


def test_a_baseline_is_trained_from_text(text: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    command = ["train", str(text), "-o", str(model), "--model", "glove", "--n-epochs", "2", "--quiet"]
    assert main([*command, "--set", "vector_size=7", "--set", "alpha=0.5", "--seed", "3"]) == 0
    vectors = WordVectors.load(model)
    assert vectors.vector_size == 7
    assert vectors.training is not None
    assert vectors.training.seed == 3
    assert vectors.training.settings["alpha"] == 0.5  # type: ignore[index]
    assert (
        main(["train", str(model / "index"), "-o", str(tmp_path / "ppmi"), "--model", "ppmi", "--top", "3"])
        == 0
    )
    assert len(WordVectors.load(tmp_path / "ppmi")) == 3


def test_tmae_takes_words_and_the_same_options(text: Path, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("road\nsea\n")
    command = [
        "train",
        str(text),
        "-o",
        str(tmp_path / "m"),
        "--model",
        "tmae",
        "--n-clauses",
        "9",
        "--quiet",
    ]
    assert (
        main([*command, "--n-examples", "5", "--words", str(tmp_path / "words.txt"), "--threads", "1"]) == 0
    )
    vectors = WordVectors.load(tmp_path / "m")
    assert vectors.index_to_key == ["road", "sea"]
    assert vectors.vector_size == 9


def test_fast_omni_is_omni_s_fast_algorithm(text: Path, tmp_path: Path) -> None:
    command = ["train", str(text), "-o", str(tmp_path / "m"), "--model", "fast-omni", "--top", "2", "--quiet"]
    assert main([*command, "--n-examples", "5"]) == 0
    record = WordVectors.load(tmp_path / "m").training
    assert isinstance(record, TrainingRecord)
    assert record.settings.algorithm == "fast"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--model", "ppmi", "--resume"],
            "--resume is for the Omni models, not for ppmi: it is trained in one go",
        ),
        (["--model", "ppmi", "--add"], "--add is for the Omni models"),
        (
            ["--model", "tmae", "--paper"],
            "--paper is for the Omni models, not for tmae: the paper's settings",
        ),
        (
            ["--model", "ppmi", "--set", "shift"],
            "--set must be NAME=VALUE, such as --set window=10. Got 'shift'",
        ),
        (["--model", "ppmi", "--set", "shift=far"], "The 'shift' parameter of PPMI must be"),
        (
            ["--model", "ppmi", "--n-clauses", "3"],
            "ppmi has no setting 'n_clauses'; it has shift, smoothing, min_documents",
        ),
        (["--model", "glove", "--top", "99"], "--top must be from 1 to 8"),
        (["--set", "window=3"], "--set is for models that are not Omni"),
        (["--model", "fast-omni", "--algorithm", "exact"], "--model fast-omni is --algorithm fast"),
    ],
)
def test_mistakes_are_one_line(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert main(["train", str(text), "-o", str(tmp_path / "m"), "--quiet", *options]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_missing_extra_gives_the_command(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    assert main(["train", str(text), "-o", str(tmp_path / "m"), "--model", "word2vec", "--quiet"]) == 2
    assert "pip install 'omnitm[baselines]'" in capsys.readouterr().err


def test_an_unknown_model_is_refused(text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["train", str(text), "-o", str(tmp_path / "m"), "--model", "skipgram"])
    assert "--model: there is no 'skipgram'; choose from omni" in capsys.readouterr().err


@pytest.mark.parametrize("model", ["omni", "ppmi"])
def test_training_prepares_the_default_similarity(model: str, tmp_path: Path) -> None:
    text, output = tmp_path / "text.txt", tmp_path / "model"
    words = [f"w{chr(97 + a)}{chr(97 + b)}" for a in range(10) for b in range(10)]
    text.write_text("\n".join(" ".join(words[k : k + 5]) for k in range(96)) + "\n" + " ".join(words))
    assert main(["train", str(text), "-o", str(output), "--model", model, "--quiet"]) == 0
    assert WordVectors.load(output).default_metric == "similarity"
    assert (output / "similarity.bin").is_file()


def test_the_papers_settings_come_with_the_papers_text(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("Germany's 19th road\n" * 20)
    common = ["train", str(tmp_path / "t.txt"), "--quiet", "--n-examples", "20", "--n-epochs", "1"]
    assert main([*common, "-o", str(tmp_path / "ours")]) == 0
    assert main([*common, "-o", str(tmp_path / "paper"), "--paper"]) == 0
    assert set(WordVectors.load(tmp_path / "ours").index_to_key) == {"germany", "road"}
    assert set(WordVectors.load(tmp_path / "paper").index_to_key) == {"germanys", "th", "road"}


def test_rare_words_of_a_large_text_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, model = tmp_path / "text.txt", str(tmp_path / "model")
    lines = ["road car wheel", "sea ship sail", "road car driver", "sea ship wave"] * 1000
    text.write_text("\n".join([*lines, "ship comet comet", "wave hapax", *["x" * 50] * 900]))
    assert text.stat().st_size > 100_000
    command = ["train", str(text), "-o", model, "--n-examples", "5", "--top", "3", "--threads", "1"]
    assert main(command) == 0
    said = capsys.readouterr().err
    assert "9 words; 2 words that occur fewer than 5 times are left out (--min-count 1 keeps them)" in said
    size = sum((tmp_path / "model" / name).stat().st_size for name in ("vectors.i16", "places.top"))
    assert f"training 3 words: the model will take {size} bytes" in said
    assert "comet" not in WordVectors.load(model).feature_names
    assert main([*command, "--force", "--min-count", "2", "--quiet"]) == 0
    assert "comet" in WordVectors.load(model).feature_names
    assert main([*command, "--force", "--paper", "--n-epochs", "1", "--quiet"]) == 0
    assert "hapax" in WordVectors.load(model).feature_names
    assert main(["index", str(text), "-o", str(tmp_path / "index")]) == 0
    assert "too rare" in capsys.readouterr().out
    assert main(["train", str(tmp_path / "index"), "-o", model, "--force", "--min-count", "2"]) == 2
    assert "--min-count is for text; an index has its words" in capsys.readouterr().err
    assert main(["index", str(text), "-o", str(tmp_path / "index"), "--min-count", "1", "--force"]) == 0
    assert "hapax" in DocumentIndex.open(tmp_path / "index").vocabulary


def test_a_large_model_is_announced_with_a_way_to_make_it_small(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("omnitm.cli.train._LARGE", 20)
    monkeypatch.setattr("omnitm.cli.train._KEEP_TOP", 1)
    command = ["train", str(text), "-o", str(tmp_path / "m"), "--n-examples", "5", "--contexts", "topic"]
    monkeypatch.setattr("omnitm.training.vocabulary.row_bytes", lambda _i, _s, keep: 14 if keep else 100)
    assert main(command) == 0
    assert "training 8 words: the model will take 800 bytes; with --keep-top 1 only 112 bytes" in (
        capsys.readouterr().err
    )
    assert main([*command, "--force", "--keep-top", "2", "--shard", "1/3"]) == 0
    assert "training 3 words: the model will take 42 bytes\n" in capsys.readouterr().err
