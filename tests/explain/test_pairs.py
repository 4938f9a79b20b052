from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from omnitm.cli.why import adding_up, print_comparison, share_lines
from omnitm.corpus import DocumentIndex
from omnitm.errors import FileError, ParameterError, UnknownWordError
from omnitm.explain import Comparison, Contribution, Explainer
from omnitm.explain.evidence import standing, together
from omnitm.explain.pairs import _largest, _listed
from omnitm.machine import AutoencoderSettings
from omnitm.similarity import scorers
from omnitm.tables import Percent
from omnitm.training import train_vectors
from omnitm.vectors import WordVectors


@pytest.mark.parametrize("metric", ["cosine", "similarity"])
def test_shares_of_coordinates_add_up(explainer: Explainer, metric: str) -> None:
    found = explainer.why("a0", "a1", metric=metric, n=12)
    parts = [*found.contributions_for, *found.contributions_against]
    shares = [found.share_together, *(part.share for part in parts)]
    assert math.fsum(shares) == pytest.approx(found.score, abs=1e-12)
    assert not {"a0", "a1"} & {part.feature for part in parts}
    assert found.total_for + found.total_against + found.rounding == pytest.approx(found.score, abs=1e-12)
    assert found.n_for + found.n_against == len(parts) + bool(found.share_together)
    shares = [part.share for part in found.contributions_for]
    assert shares == sorted(shares, reverse=True)


def test_a_word_is_not_compared_with_itself(explainer: Explainer) -> None:
    for metric in ("similarity", "cosine", "association"):
        with pytest.raises(
            ParameterError, match="'a0' is compared with itself; why takes two different words"
        ):
            explainer.why("a0", "a0", metric=metric)


def test_the_score_is_that_of_the_vectors(explainer: Explainer) -> None:
    for metric in ("similarity", "cosine", "association", "association-symmetric"):
        expected = explainer.vectors.similarity("a0", "b0", metric=metric)
        assert explainer.why("a0", "b0", metric=metric).score == expected


@pytest.mark.parametrize("pair", [("a0", "a1"), ("a0", "b0"), ("a0", "a5")])
def test_an_association_is_the_sum_of_its_clauses(explainer: Explainer, pair: tuple[str, str]) -> None:
    found = explainer.why(*pair, metric="association")
    machine = explainer.machines[pair[0]]
    column = explainer.vectors.feature_index(pair[1])
    assert {part.clause for part in found.clauses} == set(machine.positive_clauses)
    for part in found.clauses:
        states = machine.states[part.clause]
        assert (part.present_state, part.absent_state) == (states[column], states[column + 12])
        assert part.share == pytest.approx((part.present_state - part.absent_state) / len(found.clauses))
    assert -1 < found.rounding <= 1e-9
    assert math.fsum(part.share for part in found.clauses) + found.rounding == pytest.approx(found.score)


def test_a_symmetric_association_has_the_clauses_of_both(explainer: Explainer) -> None:
    found = explainer.why("a0", "a1", metric="association-symmetric")
    assert {part.machine for part in found.clauses} == {"a0", "a1"}
    for word in ("a0", "a1"):
        mine = [part for part in found.clauses if part.machine == word]
        for part in mine:
            assert part.share == pytest.approx((part.present_state - part.absent_state) / len(mine) / 2)
    assert -1 < found.rounding <= 1e-9
    assert math.fsum(part.share for part in found.clauses) + found.rounding == pytest.approx(found.score)


def test_any_metric_with_contributions_can_be_explained(
    explainer: Explainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Product(scorers.Cosine):
        def pairs(self, rows: Any, first: Any, second: Any) -> Any:
            return np.array(
                [self.contributions(rows, a, b).sum() for a, b in zip(first, second, strict=True)]
            )

        def contributions(self, rows: Any, first: int, second: int) -> Any:
            return rows.matrix[first].astype(float) * rows.matrix[second]

    monkeypatch.setitem(scorers.SCORERS, "product", Product())
    found = explainer.why("a0", "a1", metric="product", n=3)
    assert found.total_for + found.total_against == found.score
    with pytest.raises(ParameterError, match=r"'metric' parameter of why must be one of .*'product'"):
        explainer.why("a0", "a1", metric="euclidean")


def test_words_of_a_topic_share_its_words(board: DocumentIndex, explainer: Explainer) -> None:
    found = explainer.why("a0", "a1", metric="similarity", n_documents=2)
    assert found.score > explainer.why("a0", "b0", metric="similarity").score
    assert math.fsum(found.parts.values()) == pytest.approx(found.score)
    for part in found.contributions_for:
        assert part.with_first is not None
        assert part.with_first.count == sum(
            {board.word_id("a0"), board.word_id(part.feature)} <= set(board.words_of(n).tolist())
            for n in range(120)
        )
    assert found.together is not None
    assert found.together.expected == pytest.approx(
        len(board.documents_with(0)) * len(board.documents_with(1)) / 120
    )
    assert all({"a0", "a1"} <= set(document.words) for document in found.together.documents)
    assert len(found.together.documents) == 2
    assert explainer.together("a0", "b0").count == 0
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()


def test_without_an_index_whole_vectors_can_still_be_compared(explainer: Explainer) -> None:
    bare = Explainer(explainer.vectors)
    found = bare.why("a0", "a1", metric="cosine")
    assert found.score == explainer.why("a0", "a1", metric="cosine").score
    assert found.together is None
    assert found.contributions_for[0].with_first is None
    assert bare.why("a0", "a1").metric == "cosine"
    assert explainer.why("a0", "a1").metric == explainer.vectors.default_metric == "association"
    with pytest.raises(FileError, match="needs the index that the model was trained from"):
        bare.why("a0", "a1", metric="association")


def test_bad_input(explainer: Explainer) -> None:
    with pytest.raises(UnknownWordError, match="'b3' is not in the trained words"):
        explainer.why("a0", "b3", metric="similarity")
    with pytest.raises(UnknownWordError, match="'a7' is not in the vocabulary"):
        explainer.why("a0", "a7", metric="association")
    with pytest.raises(ParameterError, match="'n' parameter of why must be an int >= 0"):
        explainer.why("a0", "a1", n=True)


def test_what_stands_out_names_the_topic(board: DocumentIndex) -> None:
    settings = AutoencoderSettings(n_clauses=16, n_examples=300, accumulation=1)
    everything = Explainer(train_vectors(board, settings=settings), board)
    found = everything.standing_out("a0", 5)
    assert all(word[0] == "a" and word != "a0" and value > 1 for word, value in found)
    assert found
    assert everything.standing_out("a0", 0) == []
    nameless = Explainer(WordVectors(np.ones((2, 3), dtype=np.float32), ["x", "y"], None))
    with pytest.raises(ParameterError, match="What stands out can only be said of integers"):
        nameless.standing_out("x")


def test_why_explains_the_default_similarity_of_a_model_with_many_words() -> None:
    random = np.random.default_rng(1)
    words = [f"w{k}" for k in range(120)]
    index = DocumentIndex.from_documents([random.permutation(words)[:10].tolist() for _ in range(200)])
    settings = AutoencoderSettings(n_clauses=4, n_examples=40, accumulation=1)
    explainer = Explainer(train_vectors(index, settings=settings), index)
    found = explainer.why("w1", "w2", n=120)
    assert found.metric == explainer.vectors.default_metric == "similarity"
    assert found.score == explainer.vectors.similarity("w1", "w2")
    shares = [part.share for part in (*found.contributions_for, *found.contributions_against)]
    assert math.fsum([found.share_together, *shares]) == pytest.approx(found.score, abs=1e-6)
    assert Explainer(explainer.vectors).why("w1", "w2", n=120).score == found.score
    assert found.forms == {"w1": (), "w2": ()}


def test_why_names_the_forms_of_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    """Two topics of 60 words each, in forms with and without an s."""
    random = np.random.default_rng(3)
    stems = ["".join(letters) for letters in random.choice(list("bcdfghjklmnpqrtvwxz"), (60, 7)).tolist()]
    words = [stem + end for stem in stems for end in ("", "s")]
    documents = [random.permutation(words[:60] if k % 2 else words[60:])[:12].tolist() for k in range(400)]
    settings = AutoencoderSettings(n_clauses=8, n_examples=100, accumulation=2)
    index = DocumentIndex.from_documents(documents)
    explainer = Explainer(train_vectors(index, settings=settings), index)
    with_forms = [word for word in words if len(explainer.vectors.forms(word)) == 1]
    assert len(with_forms) > 20
    word, other = with_forms[0], words[0 if words.index(with_forms[0]) >= 60 else 60]
    found = explainer.why(word, other)
    assert found.forms[word] == (word[:-1] if word.endswith("s") else f"{word}s",)
    print_comparison(Console(width=200), found, 3)
    assert f"{word} with its forms: {found.forms[word][0]}" in capsys.readouterr().out


def test_a_word_can_be_asked_about(explainer: Explainer) -> None:
    found = explainer.why("a0", "a1", metric="cosine", n=0, through=["b2", "a3"])
    everything = explainer.why("a0", "a1", metric="cosine", n=12)
    shares = {
        part.feature: part.share
        for part in (*everything.contributions_for, *everything.contributions_against)
    }
    assert [part.feature for part in found.contributions_asked] == ["b2", "a3"]
    assert found.contributions_for == ()
    for part in found.contributions_asked:
        assert part.share == shares.get(part.feature, 0.0)
    with pytest.raises(UnknownWordError, match="'zebra' is not in the vocabulary"):
        explainer.why("a0", "a1", metric="cosine", through=["zebra"])
    with pytest.raises(ParameterError, match="'through' parameter of why has no meaning for 'association'"):
        explainer.why("a0", "a1", metric="association", through=["a3"])


def test_percentages_add_up_and_what_is_against_is_listed_only_if_it_matters() -> None:
    parts = [Contribution(f"w{k}", 10.0 / 3, 1.0, 1.0) for k in range(3)]
    against = (Contribution("x", -0.4, 1.0, -1.0),)
    found = Comparison("a", "b", "similarity", 19.6, 20.0, -0.4, 0.0, 5, 1, tuple(parts), against)
    found = replace(found, share_together=9.0)
    assert replace(found, score=0.0).shown_rows()[0]["share"] == Percent(9.0)
    lines = share_lines(found)
    assert [name for name, _, _ in lines] == ["they occur together", "w0", "w1", "w2", "all other features"]
    assert math.fsum(share for _, share, _ in lines) == pytest.approx(19.6)
    matters = replace(found, score=18.0, total_against=-2.0, contributions_against=(*against, parts[0]))
    names = [name for name, _, _ in share_lines(matters)]
    assert names == [
        "they occur together",
        "w0",
        "w1",
        "w2",
        "other features for",
        "x",
        "other features against",
    ]
    assert math.fsum(share for _, share, _ in share_lines(matters)) == pytest.approx(18.0)
    for comparison in (found, matters):
        written = adding_up([share for _, share, _ in share_lines(comparison)], comparison.score)
        assert math.fsum(float(share[:-1]) for share in written) == pytest.approx(100.0, abs=1e-9)
    assert adding_up([0.5, -0.5], 0.0) == ["+0.5000", "-0.5000"]


def test_documents_of_a_comparison_are_different_ones(explainer: Explainer) -> None:
    found = explainer.why("a0", "a1", metric="cosine", n_documents=2)
    assert found.together is not None
    documents = [document.number for document in found.together.documents]
    for part in (*found.contributions_for, *found.contributions_against):
        for meeting in (part.with_first, part.with_second):
            assert meeting is not None
            documents += [document.number for document in meeting.documents]
    assert len(documents) > 3
    assert len(set(documents)) == len(documents)


def test_reasons_of_both_kinds_are_one_sentence() -> None:
    features = ("to _", "road", "_ from", "the * _", "_ * of")
    parts = tuple(Contribution(name, 1.0, 1.0, 1.0) for name in features)
    found = Comparison("a", "b", "similarity", 5.0, 5.0, 0.0, 0.0, 5, 0, parts)
    assert found.sentence == "both stand after to, before from and two places after the; both occur with road"
    assert (
        replace(found, contributions_for=parts[3:]).sentence
        == "both stand two places after the and two places before of"
    )
    more = tuple(Contribution(name, 1.0, 1.0, 1.0) for name in ("to _", "_ from", "into _"))
    assert replace(found, contributions_for=more).sentence == "both stand after to and into, and before from"
    assert replace(found, contributions_for=()).sentence == ""


def test_places_of_a_word_are_counted_where_a_coordinate_holds() -> None:
    index = DocumentIndex.from_documents(
        ["back to rome", "to rome", "to bonn", "rome fell", "to rome to rome"]
    )
    found = standing(index, "rome", "to _", n_documents=9)
    assert (found.count, found.expected) == (4, 5 * 5 / 13)
    assert [document.number for document in found.documents] == [0, 1, 4]
    assert [document.number for document in standing(index, "rome", "to _", 9, {0, 4}).documents] == [1]
    with pytest.raises(UnknownWordError, match="'oslo' is not in the vocabulary"):
        standing(index, "rome", "oslo _")


def test_the_largest_shares_are_of_words_and_of_places() -> None:
    names = ["road", "to _", "sea", "_ of", "car", "in _"]
    shares = np.array([5.0, 6.0, 4.0, 0.5, -1.0, 0.25])
    order = np.argsort(-shares, kind="stable")

    def chosen(n: int) -> list[str]:
        return [names[k] for k in _largest(shares, order, names, n)]

    assert chosen(4) == ["to _", "road", "sea", "_ of"]
    assert chosen(5) == ["to _", "road", "sea", "_ of", "in _"]  # places fill up what words leave
    assert chosen(3) == ["to _", "road", "sea"]
    assert chosen(1) == ["road"]
    assert chosen(0) == []
    words_only = np.where([" " in name for name in names], 0, shares)
    assert [names[k] for k in _largest(words_only, order, names, 4)] == ["road", "sea"]
    assert _listed(["a"]) == "a"
    assert _listed(["a", "b", "c"]) == "a, b and c"


def test_how_much_is_told_by_default(explainer: Explainer) -> None:
    assert len(explainer.together("a0", "a1").documents) == 3
    found = explainer.why("a0", "a1", metric="cosine")
    assert found.together is not None
    assert len(found.together.documents) == 1
    assert len(found.contributions_for) + len(found.contributions_against) <= 20
    n_listed = explainer.why("a0", "b0", metric="cosine", n=2)
    assert [len(n_listed.contributions_for), len(n_listed.contributions_against)] == [2, 2]
    lowest = sorted(
        part.share for part in explainer.why("a0", "b0", metric="cosine", n=12).contributions_against
    )
    assert [part.share for part in n_listed.contributions_against] == lowest[:2]
    clauses = explainer.why("a0", "a1", metric="association")
    assert clauses.share_together == 0
    assert explainer.trace("a0", "a1").rewards[0].documents[1:] == ()
    assert len(explainer.trace("a0", "a1").rewards) == 5
    assert len(explainer.match("a0", ["a1"]).examples) == 1
    assert len(explainer.explain("a0").strongest) == 10
    assert all(len(measured.match.examples) <= 1 for measured in explainer.explain("a0").rules)
    alone = DocumentIndex.from_documents(["cat dog"])
    assert (together(alone, "cat", "dog").expected, together(alone, "cat", "dog").lift) == (1.0, 1.0)
