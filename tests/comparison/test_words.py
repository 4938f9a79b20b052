"""A word whose use is made to differ is found, with its reasons; one whose use is the same is not."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import omnitm
from omnitm.comparison import (
    Change,
    Comparison,
    CorpusComparison,
    Sides,
    WordChange,
    compare,
    compare_corpora,
)
from omnitm.comparison.corpora import false_discovery_rates
from omnitm.comparison.machines import draw_documents
from omnitm.comparison.report import page
from omnitm.comparison.words import _Compared, compare_word, cut_around
from omnitm.corpus import DocumentIndex
from omnitm.corpus.groups import Grouping
from omnitm.errors import CorpusError, FileError, ParameterError, UnknownWordError

if TYPE_CHECKING:
    from pathlib import Path

WATER, MONEY, FILLER = (
    ["river", "water", "shore", "flood"],
    ["loan", "money", "credit", "debt"],
    ["tree", "leaf", "sky"],
)


def corpus(n: int = 150) -> tuple[DocumentIndex, list[str]]:
    """Index a corpus where `bank` goes from water to money, `stone` stays, and `rare` is in 5 documents."""
    random = np.random.default_rng(2)
    texts, labels = [], []
    for k in range(4 * n):
        label = ("old", "new")[k % 2]
        topic = (WATER if label == "old" else MONEY) if k < 2 * n else [*WATER, *MONEY, *FILLER]
        words = [*random.choice(topic, 2), *random.choice(FILLER, 1)]
        if k < 2 * n:
            words.append("bank")
        elif k % 4 < 2:
            words.append("stone")
        texts.append(" ".join([*words, "rare"] if k < 5 else words))
        labels.append(label)
    return DocumentIndex.from_documents(texts), labels


@pytest.fixture(scope="module")
def found() -> Comparison:
    index, labels = corpus()
    return compare(index, "bank", by=labels, groups=["old", "new"], n_permutations=200)


def test_gained_and_lost(found: Comparison) -> None:
    assert {change.name for change in found.gained[:4]} == set(MONEY)
    assert {change.name for change in found.lost[:4]} == set(WATER)
    assert found.p == pytest.approx(1 / 201)
    assert found.strength > 10


def test_profiles_and_documents_agree_with_the_change(found: Comparison) -> None:
    for change in found.gained[:4]:
        assert change.after > change.before
        assert change.documents_before == 0 < change.documents_after
        assert change.p < 0.01
        assert change.lift_after > 1 > change.lift_before
    for excerpt in found.documents_second:
        assert excerpt.feature in {change.name for change in found.gained}
        assert {"bank", excerpt.feature.strip(" _*")} <= set(excerpt.text.split())


def test_shares_add_up(found: Comparison) -> None:
    index, labels = corpus()
    whole = compare(index, "bank", by=labels, groups=["old", "new"], n_permutations=10, n_shown=100)
    negative = 1 - sum(change.share for change in (*whole.gained, *whole.lost))
    assert abs(negative) < 0.1  # what is not named counts against the change or occurs with other words only
    assert sum(change.share for change in found.gained[:4]) > 0.3


def test_equally_many_documents_of_each_side() -> None:
    index, labels = corpus()
    sides = Sides(index, labels, ["old", "new"]).of_documents
    sides[:200:2] = -1  # the old side is rarer now
    drawn = draw_documents(index, sides, "bank", seed=0)
    assert [len(side.inside) for side in drawn] == [50, 50]
    assert len(drawn[0].outside) == len(drawn[1].outside)
    has_word = np.isin(np.arange(index.n_documents), index.documents_with(index.word_id("bank")))
    for number, side in enumerate(drawn):
        assert has_word[side.inside].all()
        assert not has_word[side.outside].any()
        assert (sides[np.concatenate(side)] == number).all()


def test_no_change_on_shuffled_groups() -> None:
    """Where the groups mean nothing, p is uniform: of 60 words about 3 are below 0.05."""
    random = np.random.default_rng(5)
    words = [f"w{k}" for k in range(60)]
    texts = [random.choice(words, 6, replace=False).tolist() for _ in range(1500)]
    index = DocumentIndex.from_documents(texts)
    labels = random.permutation(["a", "b"] * 750).tolist()
    p = [
        word.comparison.p for word in compare_corpora(index, by=labels, n_permutations=99, n_threads=1).words
    ]
    assert len(p) == 60
    assert sum(value <= 0.05 for value in p) <= 9  # more has a chance of 0.2 %
    assert 0.35 < np.mean(p) < 0.65


def test_difference_of_everything_cancels_out() -> None:
    """A word in every third document of one side is no change of the other words."""
    random = np.random.default_rng(6)
    words = [f"w{k}" for k in range(40)]
    labels = ["a", "b"] * 800
    texts = [
        [*random.choice(words, 5, replace=False).tolist(), *(["drift"] if k % 6 == 1 else [])]
        for k, _ in enumerate(labels)
    ]
    index = DocumentIndex.from_documents(texts)
    p = [w.comparison.p for w in compare_corpora(index, by=labels, words=words, n_permutations=99).words]
    assert sum(value <= 0.05 for value in p) <= 7


def test_what_is_more_frequent_anyway_is_not_gained() -> None:
    """`tax` is ten times as frequent on side b, with `bank` and without; `loan` is gained with `bank`."""
    random = np.random.default_rng(8)
    filler = [f"w{k}" for k in range(40)]
    texts, labels = [], []
    for k in range(4000):
        label, has_bank = "ab"[k % 2], k % 8 < 2
        words = random.choice(filler, 4).tolist()
        words += ["bank"] if has_bank else []
        words += ["tax"] if random.random() < (0.5 if label == "b" else 0.05) else []
        words += ["loan"] if random.random() < (0.3 if has_bank and label == "b" else 0.1) else []
        texts.append(words)
        labels.append(label)
    index = DocumentIndex.from_documents(texts, order=False)
    found = compare(index, "bank", by=labels, n_permutations=200)
    by_name = {change.name: change for change in (*found.gained, *found.lost)}
    assert found.gained[0].name == "loan"
    assert by_name["loan"].p < 0.001
    assert by_name["loan"].lift_after == pytest.approx(3, rel=0.3)
    assert "tax" not in by_name or by_name["tax"].p > 0.05


def test_places_are_compared_too() -> None:
    """`bank` comes after `the` on one side, after `a` on the other; the documents have the same words."""
    random = np.random.default_rng(9)
    texts, labels = [], []
    for k in range(600):
        label, (one, two, three) = "ab"[k % 2], random.choice([*WATER, *MONEY, *FILLER], 3)
        article, other = ("the", "a") if label == "a" else ("a", "the")
        word = ("bank", "stone")[k % 4 // 2]
        texts.append(f"{other} {one} {two} saw {article} {word} near {three}")
        labels.append(label)
    index = DocumentIndex.from_documents(texts)
    found = compare(index, "bank", by=labels, n_permutations=200)
    names = [change.name for change in found.gained]
    assert "a _" in names
    assert "the _" in [change.name for change in found.lost]
    place = found.gained[names.index("a _")]
    assert (place.kind, place.after > place.before) == ("place", True)
    without = compare(DocumentIndex.from_documents(texts, order=False), "bank", by=labels, n_permutations=20)
    assert {change.kind for change in (*without.gained, *without.lost)} <= {"topic"}


def test_shares_of_both_kinds_add_up() -> None:
    index, labels = corpus()
    compared = _Compared(Sides(index, labels, ["old", "new"]), "bank", 50, seed=0)
    assert sum(float(shares.sum()) for shares in compared.test.shares) == pytest.approx(1, abs=1e-4)


def test_excerpts_show_the_word_and_the_feature() -> None:
    change = Change("inter", "topic", 0.1, 0.01, 1.0, 2.0, 0, 9, 0.0, 1.0)
    place = Change("old _", "place", 0.1, 0.01, 1.0, 2.0, 0, 9, 0.0, 1.0)
    text = f"Bank of old. {'x ' * 200}the old bank was closed {'y ' * 200}by INTER-x"
    assert cut_around("short text", "bank", change) == "short text"
    assert "the old bank was closed" in cut_around(text, "bank", place)
    both = cut_around(text, "bank", change, lambda piece: piece.lower().split("-"))
    assert "the old bank" in both
    assert both.endswith("by INTER-x")
    assert " ... " in both
    far = f"{text} {'z ' * 200}the old, old river bank"
    assert cut_around(far, "bank", replace(place, name="old * _")).endswith("the old, old river bank")
    assert cut_around(text, "river", replace(change, name="lake")).startswith("Bank of old.")


def test_same_for_any_number_of_threads() -> None:
    index, labels = corpus()
    one, two = (
        compare_corpora(index, by=labels, groups=["old", "new"], n_permutations=50, n_threads=n)
        for n in (1, 2)
    )
    assert one.to_dict() == two.to_dict()
    assert one.top(1)[0].comparison.word == "bank"
    assert one.top(1)[0].q < 0.2
    assert list(one.to_frame().columns[:3]) == ["word", "p", "q"]


def test_frame_and_picture(found: Comparison, tmp_path: Path) -> None:
    frame = found.to_frame()
    assert set(frame["list"]) == {"gained", "lost"}
    assert "list" in str(found).splitlines()[1]
    assert "<td>money</td>" in found._repr_html_()
    assert set(frame["name"][:4]) == set(MONEY)
    found.plot(tmp_path / "bank.png")
    assert (tmp_path / "bank.png").read_bytes().startswith(b"\x89PNG")


def test_trajectory() -> None:
    index, labels = corpus(200)
    years = [{"old": 1990, "new": 2000}[label] + 5 * (k % 4 > 1) for k, label in enumerate(labels)]
    years[-1] = 2024
    grouping = Grouping.of(years, "year")
    found = omnitm.compare(index, "bank", by=grouping, groups=[1990, 2000], n_permutations=20)
    assert [step.group for step in found.trajectory] == ["1990", "1995", "2000", "2005", "2024"]
    assert found.trajectory[-1].profile == {}
    assert found.trajectory[0].profile["money"] < found.trajectory[3].profile["money"]
    lines = found.plot().axes[1].lines
    assert lines[0].get_ydata()[0] < lines[0].get_ydata()[2]
    assert len(lines) == 8
    steps = [step.group for step in found.trajectory if step.profile]
    svg = page(CorpusComparison("year", "1990", "2000", (WordChange(found, 0.01),), 0), 1).split("<svg")[1]
    assert [f">{step}</text>" in svg for step in steps] == [True] * 4
    assert svg.count("<polyline") == 8


def test_false_discovery_rates() -> None:
    """By hand: 0.01 x 4 / 1, 0.02 x 4 / 2 and 0.03 x 4 / 3 are all 0.04."""
    assert false_discovery_rates([0.9, 0.03, 0.01, 0.02]) == pytest.approx([0.9, 0.04, 0.04, 0.04])


def test_page_needs_nothing_else() -> None:
    index, labels = corpus()
    found = compare_corpora(
        index, by=labels, groups=["old", "new"], words=["bank", "stone"], n_permutations=50
    )
    text = found.to_html(1)
    assert ">bank</b>" in text
    assert ">stone</b>" not in text
    assert "http" not in text
    assert "<mark>" in text


def test_words_are_kept_and_not_compared_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index, labels = corpus()
    log = tmp_path / "log.jsonl"
    options: dict[str, Any] = {"by": labels, "groups": ["old", "new"], "n_permutations": 50}
    first = compare_corpora(index, words=["bank", "stone"], log=log, **options)
    log.write_text(log.read_text()[:-20])  # the last line is cut off
    compared = []

    def watched(*arguments: Any, **rest: Any) -> Comparison:
        compared.append(arguments[1])
        return compare_word(*arguments, **rest)

    monkeypatch.setattr("omnitm.comparison.corpora.compare_word", watched)
    again = compare_corpora(index, words=["bank", "stone"], log=log, **options)
    assert len(compared) == 1
    assert again.to_dict() == first.to_dict()
    with pytest.raises(FileError, match="compared in another way"):
        compare_corpora(index, words=["bank"], log=log, seed=3, **options)
    log.write_text("no json\n")
    with pytest.raises(FileError, match="not a file of compared words"):
        compare_corpora(index, words=["bank"], log=log, **options)
    with pytest.raises(FileError, match="cannot be written"):
        compare_corpora(index, words=["bank"], log=tmp_path / "no" / "log", **options)


def test_long_work_is_announced(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    index, labels = corpus()
    caplog.set_level("INFO", logger="omnitm.long_work")
    Sides(index, labels).features  # noqa: B018  # asked for
    assert not caplog.messages
    monkeypatch.setattr("omnitm.comparison.sides._MANY", 100)
    Sides(index, labels).features  # noqa: B018  # asked for
    assert "finding out which features go together" in caplog.messages[0]


def test_words_as_people_type_them() -> None:
    index, labels = corpus()
    typed, known = (compare(index, word, by=labels, n_permutations=9) for word in ("Bank", "bank"))
    assert typed == known
    found = compare_corpora(index, by=labels, words=["Bank", "bank", "Stone"], n_permutations=9)
    assert {word.comparison.word for word in found.words} == {"bank", "stone"}


def test_progress_is_told() -> None:
    index, labels = corpus()
    told: list[tuple[int, int]] = []
    compare_corpora(
        index, by=labels, groups=["old", "new"], words=["bank", "rare"], n_permutations=5,
        progress=lambda done, total: told.append((done, total)),
    )  # fmt: skip
    assert told == [(0, 1), (1, 1)]


@pytest.mark.parametrize(
    ("word", "by", "groups", "error", "message"),
    [
        (
            "bamk",
            None,
            None,
            UnknownWordError,
            "'bamk' is not in the vocabulary; the nearest words are 'bank'",
        ),
        ("rare", None, None, CorpusError, "'rare' is in 2 documents of 'new' and 3 of 'old': too few"),
        ("stone", ["a"] * 600, None, CorpusError, "one group only, 'a'"),
        (
            "bank",
            ["a"] * 300 + ["b"] * 300,
            None,
            CorpusError,
            "'bank' is in 300 documents of 'a' and 0 of 'b': too few to compare; at least 20 are needed",
        ),
        ("stone", None, ["old", "newer"], ParameterError, "no group 'newer'; there are 'new', 'old'"),
        ("stone", None, ["old", "old"], ParameterError, "Two different groups"),
        ("stone", ["a", "b"], None, ParameterError, "one label for each of the 600 documents. Got 2"),
        ("stone", "year", None, CorpusError, "has no groups 'year': it has no groups yet; make them"),
        ("stone", ["a", "b", "c"] * 200, None, ParameterError, "3 groups in no order .* choose two"),
        ("stone", [None] * 600, None, CorpusError, "No document has a value"),
    ],
)
def test_bad_input(word: str, by: Any, groups: Any, error: type[Exception], message: str) -> None:
    index, labels = corpus()
    with pytest.raises(error, match=message):
        compare(index, word, by=labels if by is None else by, groups=groups, n_permutations=5)


def test_groups_without_what_is_needed() -> None:
    index, labels = corpus()
    grouping = Grouping("kind", ("a", "b"), np.zeros(600, dtype=np.uint32))
    with pytest.raises(CorpusError, match="No document is in the group 'b' of 'kind'"):
        Sides(index, grouping)
    with pytest.raises(ParameterError, match="'n_permutations' parameter of compare must be an int"):
        compare(index, "bank", by=labels, n_permutations=0)
    everywhere = DocumentIndex.from_documents(["cat dog", "cat mouse"] * 30)
    with pytest.raises(CorpusError, match="Every document of a group has 'cat'"):
        compare(everywhere, "cat", by=["a"] * 30 + ["b"] * 30)
    with pytest.raises(CorpusError, match="No word is in 20 or more documents of both"):
        compare_corpora(everywhere, by=["a"] * 59 + ["b"])


def test_labels_with_commas_and_unicode() -> None:
    index, labels = corpus()
    names = {"old": 'früher, "alt"', "new": "後 <b>"}
    by = [names[label] for label in labels]
    found = compare_corpora(
        index, by=by, groups=[names["old"], names["new"]], words=["bank"], n_permutations=9
    )
    assert (found.first, found.second) == ('früher, "alt"', "後 <b>")
    assert "後 &lt;b&gt;" in found.to_html()
    assert "後 <b>" in str(found)
    assert found.to_frame()["documents 後 <b>"][0] == 150


def test_one_group_against_all_others() -> None:
    index, labels = corpus()
    found = compare(index, "bank", by=labels, groups=["new"], n_permutations=5)
    assert (found.first, found.second) == ("all others", "new")
    assert found.gained[0].name in MONEY
    assert json.loads(json.dumps(found.to_dict()))["word"] == "bank"
