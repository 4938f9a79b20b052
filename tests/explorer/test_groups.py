"""Groups of documents compared by the page: one word, and a list of words."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient

from omnitm.cli import main
from omnitm.corpus import DocumentIndex
from omnitm.errors import FileError, OmniTMError, OmniTMWarning, ParameterError
from omnitm.explain import Explainer
from omnitm.explorer import create_app, group_changes
from omnitm.explorer.background import StoppedError, Work
from omnitm.explorer.group_changes import GroupChanges

from .conftest import MONEY, WATER

if TYPE_CHECKING:
    from collections.abc import Callable


def opened(model: Path, comparison: Path | None = None) -> TestClient:
    app = create_app(Explainer.open(model), comparison=comparison)
    return TestClient(app, base_url="http://127.0.0.1:8765")


def get(client: TestClient, name: str, **parameters: Any) -> Any:
    answer = client.get(f"/api/{name}", params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


def until(found: Callable[[], Any]) -> Any:
    """Ask until there is no work to wait for."""
    while (answer := found())["work"] is not None:
        assert not answer["work"]["problem"]
    return answer


def test_groupings_are_described(grouped: Path, client: TestClient) -> None:
    years, kinds = get(opened(grouped), "model")["groupings"]
    assert years["name"] == "year"
    assert years["labels"] == [["1990", 160], ["2000", 160], ["2010", 160]]
    assert years["usual"] == ["1990", "2010"]
    assert [label for label, _ in kinds["labels"]] == ["a, b", "c", "über"]
    assert kinds["usual"] == ["all others", "a, b"]
    assert get(client, "model")["groupings"] == []


def test_a_word_is_compared(grouped: Path) -> None:
    client = opened(grouped)
    answer = until(lambda: get(client, "change", word="Bank"))
    found = answer["found"]
    assert (answer["by"], answer["first"], answer["second"]) == ("year", "1990", "2010")
    assert (found["word"], found["is_sure"], found["rate"]) == ("bank", True, None)
    first, second = found["sides"]
    assert {change["name"] for change in first["changes"]} & set(WATER)
    assert {change["name"] for change in second["changes"]} & set(MONEY)
    assert not {change["name"] for change in second["changes"]} & set(WATER)
    assert second["changes"][0]["length"] <= 1
    marked = {piece.lower() for text in second["texts"] for piece in text["pieces"][1::2]}
    assert "bank" in marked
    assert marked & set(MONEY)
    assert [step["group"] for step in found["trajectory"]["steps"]] == ["1990", "2000", "2010"]
    again = get(client, "change", word="bank", by="year", first="2010", second="1990")
    swapped = until(
        lambda: again if again["found"] else get(client, "change", word="bank", first="2010", second="1990")
    )
    assert {change["name"] for change in swapped["found"]["sides"][0]["changes"]} & set(MONEY)


def test_one_group_against_all_others(grouped: Path) -> None:
    client = opened(grouped)
    found = until(lambda: get(client, "change", word="stone", by="kind", first="all others", second="über"))[
        "found"
    ]
    assert [side["name"] for side in found["sides"]] == ["all others", "über"]
    assert found["trajectory"] is None


@pytest.mark.parametrize(
    ("parameters", "status", "problem"),
    [
        ({"word": "bnak"}, 404, "'bnak' is not"),
        ({"word": "bank", "by": "month"}, 400, "not grouped by 'month'"),
        ({"word": "bank", "first": "1890"}, 400, "has no group '1890'"),
        ({"word": "bank", "first": "2010"}, 400, "Two different groups"),
        ({"word": "bank", "by": "kind", "first": "a, b", "second": "c"}, 200, ""),
        ({}, 400, "must be a text"),
    ],
)
def test_bad_questions(grouped: Path, parameters: dict[str, str], status: int, problem: str) -> None:
    answer = opened(grouped).get("/api/change", params=parameters)
    assert answer.status_code == status
    assert problem in answer.text


def test_too_few_documents(grouped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("omnitm.comparison.sides.FEWEST_DOCUMENTS", 200)
    answer = opened(grouped).get("/api/change", params={"word": "bank"})
    assert answer.status_code == 409
    assert "too few to compare" in answer.json()["error"]


def test_documents_in_no_groups(client: TestClient, lonely: TestClient) -> None:
    answer = client.get("/api/changes")
    assert (answer.status_code, "make some: omnitm group --help" in answer.text) == (400, True)
    with pytest.raises(SystemExit, match="0"):
        main(["group", "--help"])
    answer = lonely.get("/api/change", params={"word": "car"})
    assert (answer.status_code, "the index, which is not there" in answer.text) == (400, True)


def test_words_that_differ_most_are_ranked_and_kept(
    grouped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Path(shutil.copytree(grouped.parent, tmp_path / "copy")) / "model"
    client = opened(model)
    before = get(client, "changes")
    assert (before["n_words"], before["work"]) == (0, None)
    assert before["n_wanted"] >= 2
    assert (
        client.post("/api/changes", json={}).json()["work"] is not None or get(client, "changes")["n_words"]
    )
    after = until(lambda: get(client, "changes", k=3))
    assert after["n_words"] == after["n_wanted"] == before["n_wanted"]
    assert len(after["words"]) == 3
    assert after["words"][0]["word"] == "bank"
    shown = " ".join(after["words"][0]["previews"][1]).split()
    assert set(shown) - {"bank", "…"} <= set(MONEY)
    monkeypatch.setattr(group_changes, "compare", None)
    monkeypatch.setattr(group_changes, "compare_corpora", None)
    later = opened(model)
    assert get(later, "changes", k=3)["words"] == after["words"]
    found = get(later, "change", word="bank")["found"]
    assert found["rate"].startswith("q = ")
    assert found["sides"][0]["texts"][0]["pieces"][1]


def test_words_compared_before_are_shown(grouped: Path, tmp_path: Path) -> None:
    index = DocumentIndex.open(grouped.parent / "index")
    saved = tmp_path / "change.json"
    compare = ["compare", str(index.path), "bank", "--by", "year", "--groups", "2000", "2010", "--top", "1"]
    assert main([*compare, "--permutations", "20", "--quiet", "-o", str(saved)]) == 0
    client = opened(grouped, saved)
    assert get(client, "change", word="bank")["found"]["sides"][0]["texts"][0]["pieces"][1]
    assert get(client, "model")["groupings"][0]["usual"] == ["2000", "2010"]
    assert [row["word"] for row in get(client, "changes")["words"]] == ["bank"]
    saved.write_text(saved.read_text().replace('"by": "year"', '"by": "month"'))
    with pytest.raises(FileError, match="compares groups 'month', which the index of this model has not"):
        opened(grouped, saved)
    for content in (b"\xff", b"[]", b"{}", b'{"words": 3}'):
        saved.write_bytes(content)
        with pytest.raises(FileError, match="is no comparison; make one: omnitm compare"):
            opened(grouped, saved)
    with pytest.raises(FileError, match="cannot be read"):
        opened(grouped, tmp_path / "none")


def test_a_damaged_list_is_made_again(grouped: Path, tmp_path: Path) -> None:
    model = Path(shutil.copytree(grouped.parent, tmp_path / "copy")) / "model"
    changes = GroupChanges(Explainer.open(model))
    chosen = changes.choose("", "", "")
    place = changes._place(chosen)
    assert place is not None
    place.write_text("no json\n")
    with pytest.warns(OmniTMWarning, match="not a file of compared words, or is damaged.*it is made again"):
        changes.start(chosen)
    changes._lists[chosen].wait()
    found = changes.changes(chosen, 10)
    assert found["work"] is None
    assert found["words"]
    changes.stop()
    later = GroupChanges(Explainer.open(model))
    assert later.changes(chosen, 10) == found
    place.write_text("no json\n")
    with pytest.warns(OmniTMWarning, match="it is made again"):
        assert GroupChanges(Explainer.open(model)).changes(chosen, 10)["words"] == []
    assert not place.exists()


def test_many_words_at_once_are_refused(grouped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_changes, "_MOST_WAITING", 1)
    monkeypatch.setattr(group_changes, "_PATIENCE", 0)
    changes = GroupChanges(Explainer.open(grouped))
    chosen = changes.choose("", "", "")
    with changes._one_at_a_time:
        assert changes.word(chosen, "bank")["work"]["stage"] == "waiting for another word"
        with pytest.raises(OmniTMError, match="many words are being compared"):
            changes.word(chosen, "stone")
    changes._words[chosen, "bank"].wait()
    assert changes.word(chosen, "bank")["found"]["word"] == "bank"


def test_a_problem_of_the_work_is_told_once_and_the_word_can_be_asked_for_again(
    grouped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = GroupChanges(Explainer.open(grouped))
    chosen = changes.choose("", "", "")

    def refuse(*_: object, **__: object) -> None:
        raise ParameterError("no such thing")

    monkeypatch.setattr(group_changes, "_PATIENCE", None)
    with monkeypatch.context() as patched:
        patched.setattr(group_changes, "compare", refuse)
        with pytest.raises(ParameterError, match="no such thing"):
            changes.word(chosen, "bank")
    assert changes.word(chosen, "bank")["found"]["word"] == "bank"


def test_work_tells_how_far_it_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, go_on, there = [100.0], threading.Event(), threading.Event()
    monkeypatch.setattr("omnitm.explorer.background.time.monotonic", lambda: clock[0])

    def action(work: Work) -> str:
        work.tell("counting", 0, 4)
        clock[0] += 10
        work.tell("counting", 1, 4)
        there.set()
        go_on.wait()
        work.tell("counting", 2, 4)
        return "all"

    work = Work(action)
    there.wait()
    assert work.state() == {"stage": "counting", "done": 0.25, "left": 30.0, "problem": ""}
    assert not work.wait(0)
    work.stop()
    go_on.set()
    assert work.wait()
    assert isinstance(work.problem, StoppedError)
    assert work.result is None
