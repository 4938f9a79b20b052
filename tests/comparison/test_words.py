"""A word whose use is made to differ is found, with its reasons; one whose use is the same is not."""

from __future__ import annotations

import importlib.util
import json
import signal
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

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
from omnitm.comparison.features import Thinned
from omnitm.comparison.machines import Documents, Drawn, draw_documents, train_place
from omnitm.comparison.report import page
from omnitm.comparison.shuffling import ShuffleTest, false_discoveries
from omnitm.comparison.words import _Compared, compare_word, cut_around, profiles_of
from omnitm.corpus import DocumentIndex, build_index
from omnitm.corpus.groups import Grouping, keep_grouping
from omnitm.corpus.running import feature_numbers
from omnitm.engines import make_engine, processes
from omnitm.errors import (
    CorpusError,
    EngineError,
    FileError,
    OmniTMWarning,
    ParameterError,
    UnknownWordError,
)
from omnitm.machine import AutoencoderSettings

if TYPE_CHECKING:
    from pathlib import Path

    from omnitm.training.progress import Progress

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


def test_only_what_chance_does_not_give_is_named(found: Comparison) -> None:
    index, labels = corpus()
    shuffled = np.random.default_rng(1).permutation(labels).tolist()
    same = compare(index, "bank", by=shuffled, groups=["old", "new"], n_permutations=200)
    assert same.p > 0.05
    assert (same.gained, same.lost) == ((), ())
    assert [len(same.documents_first), len(same.documents_second)] == [2, 2]
    assert all("bank" in excerpt.text for excerpt in (*same.documents_first, *same.documents_second))
    assert {excerpt.feature for excerpt in same.documents_first} == {""}
    assert all(0 <= change.q <= 0.2 for change in (*found.gained, *found.lost))
    text = page(CorpusComparison("side", "old", "new", (WordChange(same, 0.9),), 0), 1)
    assert text.count("nothing that shuffled groups would not give as well") == 2


def test_reasons_by_chance() -> None:
    """Gained and lost features are counted apart; a feature's q is never above that of a weaker one."""
    reasons, signs = np.array([9.0, 4.0, 2.0, 9.0]), np.array([1.0, 1.0, 1.0, -1.0])
    expected, levels = false_discoveries(reasons, signs, (np.array([1, 5, 8.0]), np.array([9.0])), 10)
    assert expected.tolist() == [0, 0.2, 0.2, 0.1]
    assert levels == pytest.approx([0, 0.2 / 3, 0.2 / 3, 0.1])


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
    inside = index.documents_with(index.word_id("bank")).astype(np.int64)
    with_word = [inside[sides[inside] == side] for side in (0, 1)]
    drawn = draw_documents("bank", 0, with_word, [np.flatnonzero(sides == side) for side in (0, 1)])
    assert [len(side.inside) for side in drawn] == [50, 50]
    assert len(drawn[0].outside) == len(drawn[1].outside)
    has_word = np.isin(np.arange(index.n_documents), inside)
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
    change = Change("inter", "topic", 0.1, 0.01, 1.0, 2.0, 0, 9, 0.0, 1.0, 0.1)
    place = Change("old _", "place", 0.1, 0.01, 1.0, 2.0, 0, 9, 0.0, 1.0, 0.1)
    text = f"Bank of old. {'x ' * 200}the old bank was closed {'y ' * 200}by INTER-x"
    assert cut_around("short text", "bank", change) == "short text"
    assert (
        cut_around("It is.<br /><br />A <i>short</i> text, 1 < 2 > 1", "bank", None)
        == "It is. A short text, 1 < 2 > 1"
    )
    assert "the old bank was closed" in cut_around(text, "bank", place)
    both = cut_around(text, "bank", change, lambda piece: piece.lower().split("-"))
    assert "the old bank" in both
    assert both.endswith("by INTER-x")
    assert " ... " in both
    far = f"{text} {'z ' * 200}the old, old river bank"
    assert cut_around(far, "bank", replace(place, name="old * _")).endswith("the old, old river bank")
    assert cut_around(text, "river", replace(change, name="lake")).startswith("Bank of old.")


@pytest.fixture(scope="module")
def by_one_thread() -> CorpusComparison:
    index, labels = corpus()
    return compare_corpora(index, by=labels, groups=["old", "new"], n_permutations=50, n_threads=1)


@pytest.mark.parametrize("engine", ["threads-1", "threads-3", "processes-1", "processes-2"])
def test_same_on_every_engine(engine: str, by_one_thread: CorpusComparison) -> None:
    index, labels = corpus()
    name, n_jobs = engine.split("-")
    found = compare_corpora(
        index, by=labels, groups=["old", "new"], n_permutations=50, engine=make_engine(name, int(n_jobs))
    )
    assert found == by_one_thread
    assert found.to_html() == by_one_thread.to_html()
    assert found.top(1)[0].comparison.word == "bank"
    assert found.top(1)[0].q < 0.2
    assert list(found.to_frame().columns[:3]) == ["word", "p", "q"]


def test_same_without_running_text() -> None:
    texts = ["bank river water"] * 30 + ["bank money loan"] * 30 + ["tree leaf"] * 60
    index = DocumentIndex.from_documents(texts, order=False)
    labels = ["old"] * 30 + ["new"] * 30 + ["old", "new"] * 30
    one, other = (
        compare_corpora(index, by=labels, n_permutations=9, engine=make_engine(name, 1))
        for name in ("threads", "processes")
    )
    assert one == other
    assert {change.kind for word in one.words for change in word.comparison.gained} == {"topic"}


def test_sums_are_exact() -> None:
    """Equal points have equal means on both sides in every arrangement, to the last bit."""
    sizes = np.array([4_000, 3_000])
    points = np.full((sizes.sum(), 3), 0.57735, dtype=np.float32)
    nothing, ones = csr_matrix((sizes.sum(), 1), dtype=np.float32), np.ones((2, 1))
    kind = Thinned(nothing, nothing, points, sizes, np.zeros((2, 1), dtype=np.int64), ones, ones)
    found = ShuffleTest([kind], [np.zeros((1, 3), dtype=np.float32)], 20, 0)
    assert (found.change, found.p) == (0, 1)


def test_frame_and_picture(found: Comparison, tmp_path: Path) -> None:
    frame = found.to_frame()
    assert set(frame["list"]) == {"gained", "lost"}
    caption, names = str(found).splitlines()[:2]
    assert caption.startswith("bank by groups: old -> new, p = 0.00498 of 200 shuffled groups, distance 0.")
    assert caption.endswith("documents 150 and 150")
    assert names.split()[:3] == ["list", "goes", "with"]
    assert ">money</td>" in found._repr_html_()
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
    assert compare_corpora(index, words=["bank", "stone"], log=log, **options) == first
    assert len(compared) == 1
    shuffled = {**options, "by": labels[::-1]}
    with pytest.raises(FileError, match="compared in another way"):
        compare_corpora(index, words=["bank"], log=log, **shuffled)
    assert again.to_dict() == first.to_dict()
    with pytest.raises(FileError, match="compared in another way"):
        compare_corpora(index, words=["bank"], log=log, seed=3, **options)
    for foreign in ("no json\n", "no line break", '{"version": 1}\n'):
        log.write_text(foreign)
        with pytest.raises(FileError, match="not a file of compared words, or is damaged; remove it"):
            compare_corpora(index, words=["bank"], log=log, **options)
        assert log.read_text() == foreign
    with pytest.raises(FileError, match="cannot be written"):
        compare_corpora(index, words=["bank"], log=tmp_path / "no" / "log", **options)


def test_every_flipped_bit_of_kept_words_is_noticed(tmp_path: Path) -> None:
    index, labels = corpus()
    log = tmp_path / "log.jsonl"
    options: dict[str, Any] = {"by": labels, "groups": ["old", "new"], "n_permutations": 5}
    options["words"] = ["bank", "stone"]
    whole = compare_corpora(index, log=log, **options)
    sound = log.read_bytes()
    first = sound.index(b"\n") + 1
    for place in np.linspace(0, len(sound) - 2, 24).astype(int).tolist():
        damaged = bytearray(sound)
        damaged[place] ^= 1 << place % 8
        log.write_bytes(damaged)
        if place < first:
            with pytest.raises(FileError, match="is damaged"):
                compare_corpora(index, log=log, **options)
            continue
        with pytest.warns(OmniTMWarning, match=r"words are damaged; they are compared again"):
            assert compare_corpora(index, log=log, **options) == whole
        assert sorted(log.read_bytes().splitlines()) == sorted(sound.splitlines())
    for size in (0, 1, first - 1, first):  # killed before a word was finished
        log.write_bytes(sound[:size])
        assert compare_corpora(index, log=log, **options) == whole


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
    told: list[Progress] = []
    compare_corpora(
        index, by=labels, groups=["old", "new"], words=["bank", "rare"], n_permutations=5,
        progress=told.append,
    )  # fmt: skip
    assert (told[0].done, told[0].total) == (0, 1)
    assert (told[-1].done, told[-1].total) == (1, 1)


KILLED = """
import os, sys
import omnitm.comparison.corpora as corpora
from omnitm.corpus import DocumentIndex
from omnitm.engines import make_engine

class Kept(corpora._Log):
    def add(self, line):
        super().add(line)
        self.n = getattr(self, "n", 0) + 1
        if self.n == 2:
            os.kill(os.getpid(), 9)

corpora._Log = Kept
index = DocumentIndex.open(sys.argv[1])
engine = make_engine(sys.argv[3], 2)
corpora.compare_corpora(index, by="side", n_permutations=50, engine=engine, log=sys.argv[2])
"""


@pytest.mark.parametrize("engine", ["threads", "processes"])
def test_killed_and_resumed(engine: str, tmp_path: Path) -> None:
    """Killed by SIGKILL when the second word is kept; another engine goes on, and the words are the same."""
    whole, labels = corpus()
    texts = tmp_path / "texts.txt"
    texts.write_text("".join(f"{text}\n" for text in _texts(whole)))
    index = DocumentIndex.open(build_index(texts, tmp_path / "index"))
    keep_grouping(tmp_path / "index", Grouping.of(labels, "side"))
    log = tmp_path / "log"
    command = [sys.executable, "-c", KILLED, str(tmp_path / "index"), str(log), engine]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    kept = log.read_text().splitlines()
    assert len(kept) == 3  # what was compared, and two words
    other = make_engine({"threads": "processes", "processes": "threads"}[engine], 1)
    found = compare_corpora(index, by="side", n_permutations=50, engine=other, log=log)
    assert log.read_text().splitlines()[:3] == kept
    assert found == compare_corpora(index, by="side", n_permutations=50, n_threads=1)


def _texts(index: DocumentIndex) -> list[str]:
    assert index.running is not None
    return [" ".join(index.running.names[k] for k in numbers) for numbers in index.running.documents()]


def test_words_that_fail_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bad = """
import sys
from omnitm.comparison import corpora
from omnitm.engines import processes

def compare_word(sides, word, **options):
    if word == "bank":
        raise RuntimeError("no")
    return right(sides, word, **options)

right, corpora.compare_word = corpora.compare_word, compare_word
processes.serve(int(sys.argv[1]))
"""
    monkeypatch.setattr(processes, "BOOT", bad)
    index, labels = corpus()
    options: dict[str, Any] = {"by": labels, "words": ["bank", "stone"], "n_permutations": 9}
    with pytest.raises(EngineError, match="1 words failed again and again, such as 'bank': RuntimeError: no"):
        compare_corpora(index, engine=make_engine("processes", 1), log=tmp_path / "log", **options)
    assert '"word": "stone"' in (tmp_path / "log").read_text()


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="pip install 'omnitm[ray]'")
def test_a_ray_cluster_started_here_gives_the_same(by_one_thread: CorpusComparison, tmp_path: Path) -> None:
    """In a process of its own: Ray reads its token when it is imported, so no test here may."""
    index, labels = corpus()
    (tmp_path / "given").write_text(json.dumps([_texts(index), labels]))
    code = """
import json, sys
from omnitm.comparison import compare_corpora
from omnitm.corpus import DocumentIndex
from omnitm.engines import make_engine

texts, labels = json.loads(open(sys.argv[1]).read())
engine, index = make_engine("ray", 1), DocumentIndex.from_documents(texts)
found = compare_corpora(index, by=labels, groups=["old", "new"], n_permutations=50, engine=engine)
open(sys.argv[2], "w").write(json.dumps(found.to_dict()))
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "given"), str(tmp_path / "found")], check=True)
    expected = json.loads(json.dumps(by_one_thread.to_dict()))
    assert json.loads((tmp_path / "found").read_text()) == expected


@pytest.mark.parametrize(
    ("word", "by", "groups", "error", "message"),
    [
        (
            "bamk",
            None,
            None,
            UnknownWordError,
            "'bamk' is not in the vocabulary; spelled like it: bank",
        ),
        ("rare", None, None, CorpusError, "'rare' is in 2 documents of 'new' and 3 of 'old': too few"),
        ("stone", ["a"] * 600, None, CorpusError, "one group only, 'a'"),
        (
            "bank",
            [1990] * 10 + [1995] * 290 + [2000] * 300,
            None,
            CorpusError,
            "10 documents of '1990' and 0 of '2000': .* side; choose others with --groups A B, or make",
        ),
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


def test_machines_of_a_side() -> None:
    """A profile is of the side's documents: what is not there has the baseline, as the word itself has."""
    index, labels = corpus()
    sides = Sides(index, labels, ["old", "new"])
    target = index.word_id("bank")
    inside = index.documents_with(target).astype(np.int64)
    found = draw_documents(
        "bank", 0, [inside[sides.of_documents[inside] == side] for side in (0, 1)], sides.members
    )
    settings = AutoencoderSettings(n_examples=250, contexts="both")
    for drawn, there, elsewhere in zip(found, (WATER, MONEY), (MONEY, WATER), strict=True):
        topic, place = profiles_of(sides, "bank", drawn, settings, 0)
        assert min(topic[index.word_id(word)] for word in there) > max(
            topic[index.word_id(word)] for word in elsewhere
        )
        assert topic[target] == 0
        names = {sides.features[1].name(k): float(value) for k, value in enumerate(place)}
        assert max(names[f"{word} * _"] for word in there) > 0.5
        assert [names[f"{word} * _"] <= 0 for word in elsewhere] == [True] * 4
        assert names["rare _"] == 0  # it is the last word wherever it stands


def test_places_of_documents() -> None:
    texts = Documents(np.array([0, 3, 4, 9]), np.arange(10, 19, dtype=np.uint32))
    numbers = np.array([2, 0])
    assert texts.take(numbers).words.tolist() == [14, 15, 16, 17, 18, 10, 11, 12]
    assert texts.places(numbers, 8).tolist() == [4, 5, 6, 7, 8, 0, 1, 2]
    assert texts.places(numbers, 4).tolist() == [4, 6, 8, 1]


def test_machines_know_all_feature_words() -> None:
    """Those of a side are as many as there are, and one for no word: more than `n_place_features` maybe."""
    index = DocumentIndex.from_documents(["the car, a big car", "a small cat sat", "the dog ran off"] * 20)
    assert index.running is not None
    n_words = len(index.running.names)
    features = feature_numbers(index.running.word_starts, n_words)
    feature_of = np.append(features[:n_words], np.uint32(n_words))
    drawn = Drawn(np.arange(0, 60, 3), np.arange(1, 60, 3))
    few, many = (
        train_place(
            index.running,
            feature_of,
            index.word_id("car"),
            drawn,
            settings=AutoencoderSettings(n_examples=40, n_place_features=count),
            key=1,
        )
        for count in (3, 10_000)
    )
    assert few.shape == (4 * n_words,)
    np.testing.assert_array_equal(few, many)
