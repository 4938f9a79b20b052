"""The card beside a model's files: made with the model, kept in step with it, never taken from its owner."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from omnitm.cli import main
from omnitm.errors import OmniTMWarning, ParameterError
from omnitm.evaluation.results import Agreement, ModelResult, SetResult, SimilarityReport
from omnitm.machine import AutoencoderSettings
from omnitm.sharing.card import CardFacts, kept_facts, make_card
from omnitm.store import pack_model, unpack_model
from omnitm.training import train_model
from omnitm.training.shards import Shard, merge_models
from omnitm.training.vocabulary import add_words
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from omnitm.corpus import DocumentIndex

SETTINGS = AutoencoderSettings(n_clauses=6, n_examples=40, accumulation=2)
FACTS: dict[str, Any] = {"corpus": "News --> & <views>", "license": "cc0-1.0", "scores": {"WS-353": 0.7}}


def card(folder: Path) -> str:
    return (folder / "README.md").read_text()


def test_training_leaves_a_card_that_keeps_up_with_the_model(board: DocumentIndex, tmp_path: Path) -> None:
    model = tmp_path / "m"
    train_model(board, model, ["a0", "b0"], settings=SETTINGS)
    for text in ("2 words x 12 coordinates", "| n&#95;clauses | 6 |", "Not stated", "WordVectors.load("):
        assert text in card(model)
    add_words(board, model, ["a1"])
    assert "3 words x 12 coordinates" in card(model)
    (model / "README.md").unlink()  # as if it was killed just before
    train_model(board, model, resume=True)
    assert "3 words x 12 coordinates" in card(model)


def test_what_is_said_about_a_model_goes_with_it(board: DocumentIndex, tmp_path: Path) -> None:
    train_model(board, tmp_path / "m", ["a0", "b0"], settings=SETTINGS)
    WordVectors.load(tmp_path / "m").save(tmp_path / "said", **FACTS)
    for text in ('license: "cc0-1.0"', "| WS-353 | 0.7 |", "News --&#62; &#38; &#60;views&#62;"):
        assert text in card(tmp_path / "said")
    pack_model(tmp_path / "said", tmp_path / "m.omnitm")
    unpack_model(tmp_path / "m.omnitm", tmp_path / "unpacked")
    WordVectors.load(tmp_path / "m.omnitm").save(tmp_path / "saved")
    merge_models([tmp_path / "said"], tmp_path / "merged")
    for name in ("unpacked", "saved", "merged"):
        assert card(tmp_path / name) == card(tmp_path / "said"), name
    WordVectors.load(tmp_path / "said").save_pretrained(tmp_path / "hub", license="mit")
    assert 'license: "mit"' in card(tmp_path / "hub")
    assert "| WS-353 | 0.7 |" in card(tmp_path / "hub")
    assert kept_facts(tmp_path / "hub" / "model.omnitm").license == "mit"


def test_shards_have_cards_and_a_new_model_does_not_inherit(board: DocumentIndex, tmp_path: Path) -> None:
    train_model(board, tmp_path / "m", settings=SETTINGS, shard=Shard(1, 2))
    WordVectors.load(tmp_path / "m").save(tmp_path / "m2", **FACTS)
    train_model(board, tmp_path / "m2", ["a0"], settings=SETTINGS, force=True)
    assert "cc0" not in card(tmp_path / "m2")


@pytest.mark.parametrize("edited", ["My own words.\n", b"\xff\xfe"])
def test_a_card_that_somebody_wrote_is_left_alone(
    board: DocumentIndex, tmp_path: Path, edited: str | bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    model, content = tmp_path / "m", edited.encode() if isinstance(edited, str) else edited
    model.mkdir()
    (model / "README.md").write_bytes(content)
    train_model(board, model, ["a0"], settings=SETTINGS)
    train_model(board, model, ["a0", "b0"], settings=SETTINGS, force=True)
    assert (model / "README.md").read_bytes() == content
    assert main(["card", str(model), "--license", "mit"]) == 2
    assert "README.md: was edited by hand; go on so, or replace it with --force" in capsys.readouterr().err
    assert main(["card", str(model), "--license", "mit", "--force"]) == 0
    assert 'license: "mit"' in card(model)


def test_an_edited_card_still_knows_what_was_said(board: DocumentIndex, tmp_path: Path) -> None:
    train_model(board, tmp_path / "m", ["a0"], settings=SETTINGS).save(tmp_path / "m2", **FACTS)
    text = card(tmp_path / "m2").replace("# Word vectors", "# My vectors")
    (tmp_path / "m2" / "README.md").write_text(text)
    add_words(board, tmp_path / "m2", ["b0"])
    assert card(tmp_path / "m2") == text
    assert kept_facts(tmp_path / "m2") == CardFacts(**FACTS)


@pytest.mark.parametrize(
    "line", ["<!-- made by omnitm nonsense -->\n", "<!-- made by omnitm [] -->\n", "<!-- made by omnitm "]
)
def test_a_forged_last_line_says_nothing(tmp_path: Path, line: str) -> None:
    (tmp_path / "README.md").write_text("text\n" + line)
    assert kept_facts(tmp_path) == CardFacts()


@pytest.mark.parametrize("facts", [{"license": 5}, {"scores": [1]}, {"scores": {"a": "b"}}, "text", {"x": 1}])
def test_forged_facts_say_nothing(tmp_path: Path, facts: object) -> None:
    (tmp_path / "README.md").write_text("<!-- made by omnitm " + json.dumps({"facts": facts}) + " -->\n")
    assert kept_facts(tmp_path) == CardFacts()


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"license": 5}, "'license' parameter must be text. Got 5"),
        ({"scores": [1]}, r"'scores' parameter must map names to numbers. Got \[1\]"),
        ({"scores": {"a": "b"}}, "'scores' parameter must map names to numbers. Got a: 'b'"),
    ],
)
def test_facts_are_checked(facts: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        CardFacts(**facts)


def report(*models: str) -> SimilarityReport:
    sets = (
        SetResult("WS-353", 353, 300, Agreement(0.61, 0.4)),
        SetResult("RG-65", 65, 1, Agreement(None, None)),
    )
    published = ModelResult("paper's", "cosine", sets, source="published")
    ours = (ModelResult(name, "cosine", sets, Agreement(0.5, 0.4)) for name in models)
    return SimilarityReport((published, *ours), 0, 0.95, 0)


def test_the_command(board: DocumentIndex, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, scores = tmp_path / "m", tmp_path / "scores.json"
    train_model(board, model, ["a0"], settings=SETTINGS)
    scores.write_text(report("other", "m").to_json())
    assert main(["card", str(model), "--corpus", "News.", "--language", "en", "--scores", str(scores)]) == 0
    assert capsys.readouterr().out == f"the card is {model / 'README.md'}\n"
    for text in (
        "News.",
        'language: "en"',
        "| WS-353 (Spearman, cosine) | 0.61 |",
        "(Spearman, cosine) | 0.5 |",
    ):
        assert text in card(model)
    assert "RG-65" not in card(model)
    assert main(["card", str(model), "--license", "mit"]) == 0
    assert "| WS-353 (Spearman, cosine) | 0.61 |" in card(model)
    scores.write_text(report("the only one").to_json())
    assert main(["card", str(model), "--scores", str(scores)]) == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read: No such file or directory"),
        ("{}", "is not a report of `omnitm evaluate similarity --format json`"),
        ("no JSON", "is not a report of"),
        (report("x", "y").to_json(), "The report has no row for 'm'"),
    ],
)
def test_wrong_scores(
    board: DocumentIndex,
    tmp_path: Path,
    content: str | None,
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    train_model(board, tmp_path / "m", ["a0"], settings=SETTINGS)
    if content is not None:
        (tmp_path / "s.json").write_text(content)
    assert main(["card", str(tmp_path / "m"), "--scores", str(tmp_path / "s.json")]) == 2
    assert message in capsys.readouterr().err


def test_a_packed_model_has_no_folder_for_a_card(
    board: DocumentIndex, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train_model(board, tmp_path / "m", ["a0"], settings=SETTINGS)
    pack_model(tmp_path / "m", tmp_path / "m.omnitm")
    assert main(["card", str(tmp_path / "m.omnitm"), "--license", "mit"]) == 2
    assert "is a packed model, not the folder of one; omnitm unpack" in capsys.readouterr().err


def test_the_licence_can_be_said_when_training(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("car wheel road\nship sea wave\n" * 20)
    command = ["train", str(text), "-o", str(tmp_path / "m"), "--quiet", "--n-examples", "20"]
    assert main([*command, "--license", "cc0-1.0"]) == 0
    assert 'license: "cc0-1.0"' in card(tmp_path / "m")


@pytest.mark.parametrize(
    "damage", [lambda text: text[:9], lambda text: text[:-9], lambda text: text.replace('"mit"', '"mid"')]
)
def test_a_card_that_has_lost_its_facts_says_so(
    board: DocumentIndex, tmp_path: Path, damage: Callable[[str], str]
) -> None:
    train_model(board, tmp_path / "m", ["a0"], settings=SETTINGS)
    make_card(WordVectors.load(tmp_path / "m"), tmp_path / "m", CardFacts(license="mit"))
    (tmp_path / "m" / "README.md").write_text(damage(card(tmp_path / "m")))
    with pytest.warns(
        OmniTMWarning, match=r"README\.md: its last line, with what was said .*`omnitm card --force`"
    ):
        assert kept_facts(tmp_path / "m") == CardFacts()
