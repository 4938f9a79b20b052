"""Rules about single documents: chosen by some documents, measured on others."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm.cli import main
from omnitm.corpus import DocumentIndex
from omnitm.errors import ParameterError
from omnitm.explain import DocumentRule, Explainer
from omnitm.explain.document_rules import (
    FEWEST_DOCUMENTS,
    MOST_LITERALS,
    _better,
    _candidates,
    _conjunctions,
    _Counts,
    _covering,
    _needs_all,
    _Rule,
    _with_negations,
    set_aside,
)
from omnitm.machine import AutoencoderSettings
from omnitm.training import train_vectors

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


@pytest.fixture(scope="module")
def index() -> DocumentIndex:
    """Bank occurs with money and loan together, with river unless there is a boat, and rarely otherwise."""
    random = np.random.default_rng(5)
    noise = [f"n{k}" for k in range(30)]
    documents = []
    for number in range(1200):
        words = random.choice(noise, size=3, replace=False).tolist()
        kind = number % 12
        if kind == 0:
            words += ["money", "loan", "bank"]
        elif kind == 1:
            words += ["river", "bank"]
        elif kind in {2, 3}:
            words += ["money"]
        elif kind in {4, 5}:
            words += ["loan"]
        elif kind == 6:
            words += ["river", "boat"]
        documents.append(words)
    return DocumentIndex.from_documents(documents)


@pytest.fixture(scope="module")
def rules(index: DocumentIndex) -> list[DocumentRule]:
    settings = AutoencoderSettings(n_clauses=10, n_examples=300, accumulation=2)
    return Explainer(train_vectors(index, ["bank"], settings=settings), index).document_rules("bank")


def test_the_rules_that_made_the_text_are_found(rules: list[DocumentRule]) -> None:
    found = {(frozenset(rule.present), rule.absent) for rule in rules[:2]}
    assert found == {(frozenset({"river"}), ("boat",)), (frozenset({"money", "loan"}), ())}
    for rule in rules[:2]:
        assert rule.match.precision == rule.chosen.precision == 1.0
        assert rule.recall == pytest.approx(0.5, abs=0.15)


def test_forms_of_the_word_make_no_rule(index: DocumentIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = AutoencoderSettings(n_clauses=10, n_examples=300, accumulation=2)
    explainer = Explainer(train_vectors(index, ["bank"], settings=settings), index)
    monkeypatch.setattr(explainer.vectors, "forms", lambda _: ["river"])
    found = explainer.document_rules("bank")
    assert found
    assert not any("river" in rule.present for rule in found)


def test_figures_are_those_of_documents_set_aside(index: DocumentIndex, rules: list[DocumentRule]) -> None:
    numbers = np.arange(index.n_documents, dtype=np.uint32)
    aside = set_aside(numbers)
    assert 0.15 < aside.mean() < 0.25
    for rule in rules:
        assert len(rule.present) + len(rule.absent) <= MOST_LITERALS
        assert rule.chosen.hits >= FEWEST_DOCUMENTS
        for match, among in ((rule.match, aside), (rule.chosen, ~aside)):
            words = [{index.vocabulary[k] for k in index.words_of(int(n)).tolist()} for n in numbers[among]]
            holds = [set(rule.present) <= found and not found & set(rule.absent) for found in words]
            has = ["bank" in found for found in words]
            hits = sum(a and b for a, b in zip(holds, has, strict=True))
            assert (match.support, match.hits) == (sum(holds), hits)
            assert match.lift == pytest.approx(hits / sum(holds) / (sum(has) / len(has)))
        assert {document.number for document in rule.match.examples} <= set(numbers[aside].tolist())


def test_which_documents_are_set_aside() -> None:
    aside = set_aside(np.arange(40, dtype=np.uint32))
    assert np.flatnonzero(aside).tolist() == [k for k in range(40) if (k * 2654435761 % 2**32 >> 16) % 5 == 0]


def test_the_bound_of_a_precision_and_the_value_of_a_rule(index: DocumentIndex) -> None:
    """By hand: Wilson's lower bound at two standard errors, and the logarithm of the lift."""
    counts = _Counts(index, index.word_id("bank"))
    assert (counts.n_chosen + counts.n_aside, len(counts.mine)) == (
        1200,
        len(bank(index)[~set_aside(bank(index))]),
    )

    def rule(n_documents: int, n_hits: int) -> _Rule:
        numbers = np.arange(n_documents, dtype=np.uint32)
        return _Rule((1,), (), numbers, numbers[:n_hits])

    assert counts.bound(rule(10, 8)) == pytest.approx((0.8 + 0.2 - 2 * np.sqrt(0.016 + 0.01)) / 1.4)
    assert counts.bound(rule(10, 10)) == pytest.approx(10 / 14)
    assert counts.bound(rule(0, 0)) == 0
    base = len(counts.mine) / counts.n_chosen
    lift = counts.bound(rule(10, 8)) / base
    assert counts.value(rule(10, 8), 8) == pytest.approx(np.log2(lift) * np.sqrt(8))
    assert counts.value(rule(10, 8), 50) == pytest.approx(np.log2(lift) * np.sqrt(20))
    assert counts.value(rule(10, 8), 0) == 0
    assert counts.value(rule(10, 1), 1) == 0  # bound below the share of the word


def bank(index: DocumentIndex) -> NDArray[np.uint32]:
    return index.documents_with(index.word_id("bank"))


def test_literals_are_kept_if_they_raise_the_bound_by_a_fifth(index: DocumentIndex) -> None:
    counts = _Counts(index, index.word_id("bank"))
    money, loan, river, boat = (
        counts.rule((index.word_id(word),)) for word in ("money", "loan", "river", "boat")
    )
    (both,) = _better(counts, [(money, loan), (money, river)])  # money and river have no document
    assert both.present == (*money.present, *loan.present)
    assert both.documents.tolist() == both.hits.tolist() == np.intersect1d(money.hits, loan.hits).tolist()
    assert _better(counts, [(both, money)]) == []  # no better than both alone
    assert _needs_all(counts, both)
    assert not _needs_all(counts, _Rule((*both.present, *money.present), (), both.documents, both.hits))
    dry = _with_negations(counts, river, [*money.present, *boat.present])
    assert (dry.present, dry.absent) == (river.present, boat.present)
    assert dry.documents.tolist() == dry.hits.tolist() == river.hits.tolist()
    assert _with_negations(counts, both, [*boat.present]) == both
    chosen = _covering(counts, [money, both, river, both], 5)
    assert [rule.present for rule in chosen] == [both.present, river.present]
    assert len(_covering(counts, [money, both, river], 1)) == 1


def test_a_rule_is_chosen_while_it_adds_five_documents_and_is_worth_something(index: DocumentIndex) -> None:
    counts = _Counts(index, index.word_id("bank"))

    def rule(word: int, first: int, last: int, n_misses: int = 0) -> _Rule:
        hits = counts.mine[first:last]
        return _Rule((word,), (), np.arange(len(hits) + n_misses, dtype=np.uint32), hits)

    first, second, third = rule(1, 0, 40), rule(2, 35, 45), rule(3, 41, 49)
    # After the first, the second adds five documents and the third eight; after the third, the second one.
    assert _covering(counts, [first, second, third], 9) == [first, third]
    assert _covering(counts, [first, second], 9) == [first, second]
    assert _covering(counts, [first, rule(2, 36, 44)], 9) == [first]  # four more
    assert _covering(counts, [rule(1, 0, 40, n_misses=4000)], 9) == []  # no better than chance
    assert _covering(counts, [], 9) == []


def test_no_rule_has_more_than_three_literals() -> None:
    """Word occurs with lead unless one of four others does, each of which takes a fifth of the rest away."""
    lines = [["lead", "word"]] * 60 + [["lead", f"x{k}"] for k in range(4) for _ in range(60)]
    index = DocumentIndex.from_documents([*lines, *[["filler"]] * 300])
    counts = _Counts(index, index.word_id("word"))
    lead, *others = (index.word_id(name) for name in ("lead", "x0", "x1", "x2", "x3"))
    found = _with_negations(counts, counts.rule((lead,)), others)
    assert (found.present, len(found.absent)) == ((lead,), MOST_LITERALS - 1)
    assert not set(found.hits) - set(counts.mine)
    assert len(found.documents) == len(counts.rule((lead,)).documents) - sum(
        len(counts.documents(word)) for word in found.absent
    )
    pair = counts.rule((lead, others[0]))
    assert _with_negations(counts, pair, others) == pair  # no document of it has the word


def test_words_come_in_the_order_of_their_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for three words, the fourth makes no pair, though the word is in every document with both."""
    monkeypatch.setattr("omnitm.explain.document_rules._PAIRED", 3)
    lines = [["aa", "bb", "cc", "word"]] * 40 + [["aa", "bb"], ["aa", "cc"], ["bb", "cc"]] * 20
    lines += [["aa", "dd", "word"]] * 12 + [["dd"]] * 9 + [["ee"]] * 300
    index = DocumentIndex.from_documents(lines)
    counts = _Counts(index, index.word_id("word"))
    a, b, c, d = (index.word_id(name) for name in ("aa", "bb", "cc", "dd"))
    found = [set(rule.present) for rule in _conjunctions(counts, [d, b, a, c])]
    assert found[:4] == [{a}, {c}, {b}, {d}]
    assert found[4:] == [{b, c}, {a, b, c}]


def test_a_triple_is_kept_if_no_pair_of_it_will_do() -> None:
    pairs = [["red", "hot"], ["red", "new"], ["hot", "new"]] * 20
    index = DocumentIndex.from_documents([*pairs, *[["red", "hot", "new", "word"]] * 30, *[["filler"]] * 200])
    counts = _Counts(index, index.word_id("word"))
    a, b, c = (index.word_id(word) for word in ("red", "hot", "new"))
    assert _needs_all(counts, counts.rule((a, b, c)))
    found = _conjunctions(counts, [a, b, c, index.word_id("filler")])
    assert {frozenset(rule.present) for rule in found} >= {frozenset({a, b, c})}


def test_candidates_are_strong_in_clauses_or_on_average_or_stand_out() -> None:
    words = [f"w{k:03d}" for k in range(200)]
    index = DocumentIndex.from_documents([words])
    numbers = [index.word_id(word) for word in words]
    states = np.zeros((2, 400), dtype=np.uint8)
    states[0, numbers[150:154]] = 200, 90, 80, 70  # of these, three
    states[1, numbers[160:164]] = 255
    mean = np.zeros(400)
    mean[numbers[:40]] = np.arange(40, 0, -1)  # of these, thirty, without the word itself
    machine: Any = SimpleNamespace(
        n_words=200, word=words[5], mean_states=mean, states=states, positive_clauses=[0]
    )
    found = [words[numbers.index(k)] for k in _candidates(machine, index, words[60:120])]
    assert found == [*words[60:90], *words[:5], *words[6:30], *words[150:153]]


def test_how_much_is_told_by_default(rules: list[DocumentRule]) -> None:
    assert 2 <= len(rules) <= 5
    assert [len(rule.match.examples) for rule in rules[:2]] == [1, 1]


def test_a_word_that_occurs_with_nothing_in_particular_has_no_rule() -> None:
    random = np.random.default_rng(1)
    words = [f"w{k}" for k in range(40)]
    index = DocumentIndex.from_documents(
        [random.choice(words, size=4, replace=False).tolist() for _ in range(80)]
    )
    settings = AutoencoderSettings(n_clauses=4, n_examples=40, accumulation=1)
    explainer = Explainer(train_vectors(index, ["w0"], settings=settings), index)
    assert explainer.document_rules("w0") == []
    with pytest.raises(ParameterError, match="'n' parameter of document_rules must be an int >= 0"):
        explainer.document_rules("w0", n=-1)


def test_the_command_shows_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "news.txt"
    text.write_text("sea ship wind\nroad car\nsea ship\nroad wheel\n" * 40)
    train = ["train", str(text), "-o", str(tmp_path / "model"), "--quiet", "--no-map", "--n-examples", "60"]
    assert main([*train, "--n-clauses", "6", "--accumulation", "1"]) == 0
    assert main(["explain", str(tmp_path / "model"), "ship", "--per-document"]) == 0
    out = capsys.readouterr().out
    assert "ship: rules about single documents" in out
    assert "example of sea:" in out
    assert main(["explain", str(tmp_path / "model"), "ship", "--per-document", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["document_rules"]
    assert found[0]["present"] == ["sea"]
    assert found[0]["match"]["precision"] == 1.0
