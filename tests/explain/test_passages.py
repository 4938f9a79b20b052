"""Rules and evidence of models whose topics were learned from passages: counted in passages."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omnitm import Explainer
from omnitm.cli import main
from omnitm.corpus import DocumentIndex, Preparation
from omnitm.corpus.passages import Passages, counted_in, cut_out
from omnitm.errors import CorpusError, OmniTMWarning, ParameterError
from omnitm.explain.document_rules import set_aside
from omnitm.explain.evidence import Passage, spread_over_documents
from omnitm.explain.matches import matching_documents
from omnitm.machine import AutoencoderSettings
from omnitm.training import train_model, train_vectors

if TYPE_CHECKING:
    from pathlib import Path

REACH = 5
SETTINGS = AutoencoderSettings(n_clauses=10, n_examples=200, accumulation=4, passage_reach=REACH)
SUBJECTS = {
    "sea": ("ship", "sail", "harbour", "wave", "captain", "anchor"),
    "road": ("car", "wheel", "driver", "lane", "engine", "brake"),
    "kitchen": ("oven", "pan", "cook", "flour", "knife", "salt"),
}


def texts() -> list[str]:
    """Documents that are about everything, one subject after the other: 11 words of it at a time."""
    random = np.random.default_rng(0)
    return [
        ".  ".join(
            " ".join(random.choice(SUBJECTS[subject], 11)).capitalize()
            for subject in random.permutation([*SUBJECTS] * 3)
        )
        for _ in range(120)
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("passages")
    (folder / "long.txt").write_text("\n".join(texts()) + "\n")
    arguments = ["index", str(folder / "long.txt"), "-o", str(folder / "index"), "--quiet"]
    assert main([*arguments, "--stop-words", "none"]) == 0
    index = DocumentIndex.open(folder / "index")
    train_model(index, folder / "model", settings=SETTINGS)
    return folder


@pytest.fixture(scope="module")
def explainer(folder: Path) -> Explainer:
    return Explainer.open(folder / "model", folder / "index")


def by_hand(index: DocumentIndex, reach: int) -> list[tuple[int, list[int]]]:
    """Document and words of every passage, cut as the definition says."""
    assert index.running is not None
    size = 2 * reach + 1
    return [
        (document, words[start : start + size].tolist())
        for document, words in enumerate(index.running.documents())
        for start in range(0, len(words), size)
    ]


@pytest.mark.parametrize("reach", [1, 2, 7])
@pytest.mark.parametrize("seed", range(4))
def test_documents_are_cut_into_passages(seed: int, reach: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("omnitm.corpus.passages._PLACES_AT_A_TIME", 20)
    random = np.random.default_rng(seed)
    # The words 8 and 9 are not in the vocabulary; some documents have no word, one as many as two passages.
    lengths = [*random.integers(0, 20, 12).tolist(), 0, 2 * (2 * reach + 1), 1, 0]
    documents = [random.choice([*"abcdefghij"], length).tolist() for length in lengths]
    texts = [" ".join(words) for words in documents]
    index = DocumentIndex.from_documents(texts, preparation=Preparation(stop_words=["i", "j"]))
    running, expected = index.running, by_hand(index, reach)
    assert running is not None
    passages = Passages(index, reach)
    assert passages.n_documents == len(expected)
    everything = np.arange(len(expected), dtype=np.uint32)
    assert passages.whole_documents(everything).tolist() == [document for document, _ in expected]
    known = [sorted({word for word in words if word < index.n_words}) for _, words in expected]
    assert [passages.words_of(number).tolist() for number in range(len(expected))] == known
    lengths_found, words = passages.words_of_each(everything)
    assert lengths_found.tolist() == [len(found) for found in known]
    assert words.tolist() == [word for found in known for word in found]
    having = [[k for k, found in enumerate(known) if word in found] for word in range(index.n_words)]
    assert [passages.documents_with(word).tolist() for word in range(index.n_words)] == having
    assert passages.document_frequencies.tolist() == [len(found) for found in having]
    places = np.sort(running.places.astype(np.int64))
    owners = [number for number, (_, words) in enumerate(expected) for _ in words]
    assert passages.documents_at(places).tolist() == owners
    of_documents = [document for document, words in expected for _ in words]
    assert index.documents_at(places).tolist() == of_documents


def test_a_passage_is_read_from_the_text_of_its_document(folder: Path) -> None:
    index = DocumentIndex.open(folder / "index")
    passages, expected = Passages(index, REACH), by_hand(index, REACH)
    assert index.running is not None
    numbers = [0, 4, 8, 9, 300]
    found = passages.document_texts(numbers)
    for number in numbers:
        text, wanted = found[number], [index.running.names[word] for word in expected[number][1]]
        assert text is not None
        shown = index.preparation_or_default.tokens(text)
        # The text may begin a little before the passage and end a little after it.
        start = next(k for k in range(len(shown)) if shown[k : k + len(wanted)] == wanted)
        assert start <= 12
        assert len(shown) <= len(wanted) + 24
        assert text.startswith("... ") == (number % 9 > 1)
        assert text.endswith(" ...") == (number % 9 < 7)


def test_words_stand_in_for_a_passage_whose_text_is_gone(tmp_path: Path) -> None:
    source = tmp_path / "long.txt"
    source.write_text("one two three four five six\nseven eight\n" * 3)
    assert main(["index", str(source), "-o", str(tmp_path / "index"), "--quiet", "--min-count", "1"]) == 0
    passages = Passages(DocumentIndex.open(tmp_path / "index"), 1)
    assert passages.document_texts([1]) == {1: "one two three four five six"}
    source.unlink()
    passages = Passages(DocumentIndex.open(tmp_path / "index"), 1)
    assert passages.document_texts([1]) == {1: None}


def test_passages_are_not_cut_without_the_tokeniser() -> None:
    index = DocumentIndex.from_documents(["one two three four"], preparation=Preparation(tokenizer=str.split))
    asked: list[str] = []

    class Incomplete:
        is_incomplete = True

        def tokens(self, text: str) -> list[str]:
            asked.append(text)
            return []

    passages = Passages(replace(index, preparation=Incomplete()), 1)  # type: ignore[arg-type]
    assert passages.document_texts([0]) == {0: None}
    assert not asked


def test_a_text_without_white_space_is_shown_whole() -> None:
    text = "文" * 200
    assert cut_out(text, 30, 40, list) == text


def test_passages_need_the_running_text() -> None:
    index = replace(DocumentIndex.from_documents(["cat dog"]), running=None)
    with pytest.raises(CorpusError, match="has no running text, which passages are cut from"):
        counted_in(index, 2).n_documents  # noqa: B018
    with pytest.raises(CorpusError, match="has no running text, so there are no places in it"):
        index.documents_at(np.array([1]))
    assert counted_in(index, 0) is index


def test_rules_are_counted_in_passages(explainer: Explainer) -> None:
    index = explainer.index
    passages = by_hand(index, REACH)
    ship = index.word_id("ship")
    n_with = sum(ship in words for _, words in passages)
    found = explainer.explain("ship")
    assert (found.unit, found.measured_on) == ("passages", "passages")
    assert (found.n_documents, found.document_frequency) == (len(passages), n_with)
    assert found.caption().startswith(f"ship: in {n_with:,} of {len(passages):,} passages;")
    for measured in found.rules:
        wanted, unwanted = (
            {index.word_id(word) for word in words} for words in (measured.rule.present, measured.rule.absent)
        )
        holding = [words for _, words in passages if wanted <= {*words} and not unwanted & {*words}]
        match = measured.match
        assert (match.support, match.hits) == (len(holding), sum(ship in words for words in holding))
        assert match.unit == "passages"
        assert match.lift is None or match.lift == pytest.approx(
            match.hits / match.support * len(passages) / n_with
        )
    best = found.first_rules[0]
    assert {*best.rule.present} <= {*SUBJECTS["sea"]}
    # In whole documents, which are about everything, the same rule says nothing.
    whole = matching_documents(index, [index.word_id(word) for word in best.rule.present], [])
    assert len(whole) > 0.95 * index.n_documents
    assert best.match.lift is not None
    assert best.match.lift > 2
    assert "passages" in found.shown_rows()[0]


def test_evidence_is_of_different_documents(explainer: Explainer) -> None:
    found = explainer.match("ship", ["captain"], n_documents=4)
    for documents, has_word in ((found.examples, True), (found.counterexamples, False)):
        assert len({document.number for document in documents}) == 4
        for document in documents:
            assert isinstance(document, Passage)
            assert "captain" in document.words
            assert ("ship" in document.words) == has_word
            assert document.text is not None
            assert "captain" in document.text.lower()
            assert len(document.text) < 200


def test_no_two_passages_of_one_document_are_chosen(explainer: Explainer) -> None:
    passages = explainer.counted
    numbers = np.arange(27, dtype=np.uint32)  # nine of each of three documents
    assert spread_over_documents(passages, numbers, 5) == [0, 9, 18]
    assert spread_over_documents(passages, numbers, 5, {1}) == [0, 18]
    assert spread_over_documents(explainer.index, numbers, 3, {4}) == [5, 14, 22]


def test_rules_of_single_passages_are_measured_on_other_documents(explainer: Explainer) -> None:
    index = explainer.index
    rules = explainer.document_rules("ship", n=3)
    aside = set_aside(np.arange(index.n_documents, dtype=np.uint32))
    ship = index.word_id("ship")
    assert rules
    for rule in rules:
        assert not rule.absent
        wanted = {index.word_id(word) for word in rule.present}
        for match, is_aside in ((rule.match, True), (rule.chosen, False)):
            holding = [
                words
                for document, words in by_hand(index, REACH)
                if wanted <= {*words} and aside[document] == is_aside
            ]
            assert (match.support, match.hits) == (len(holding), sum(ship in words for words in holding))
            assert match.unit == "passages"
        assert wanted <= {index.word_id(word) for word in SUBJECTS["sea"]}
    assert "passages" in rules.shown_rows()[0]


def test_words_occur_together_in_passages(explainer: Explainer) -> None:
    index = explainer.index
    ship, captain, oven = (index.word_id(word) for word in ("ship", "captain", "oven"))
    passages = by_hand(index, REACH)
    count, expected = (
        sum({ship, captain} <= {*words} for _, words in passages),
        np.prod([sum(word in words for _, words in passages) for word in (ship, captain)]) / len(passages),
    )
    found = explainer.together("ship", "captain", n_documents=2)
    assert (found.count, found.unit) == (count, "passages")
    assert found.expected == pytest.approx(expected)
    assert explainer.together("ship", "oven").count == sum({ship, oven} <= {*w} for _, w in passages) == 0
    for metric in ("association", "cosine"):
        compared = explainer.why("ship", "captain", metric=metric)
        assert compared.together is not None
        assert compared.together.count == count


def test_places_are_counted_as_places_and_read_as_passages(explainer: Explainer) -> None:
    compared = explainer.why("ship", "captain", metric="cosine", through=["oven"])
    [asked] = compared.contributions_asked
    assert asked.with_first is not None
    assert asked.with_first.count == 0
    index = explainer.index
    vectors = train_vectors(index, ["ship", "captain"], settings=replace(SETTINGS, contexts="both"))
    found = Explainer(vectors, index).explain("ship", kind="place")
    assert index.running is not None
    assert (found.measured_on, found.n_documents) == ("places", index.running.n_running_words)
    shown = [document for rule in found.rules for document in rule.match.examples]
    assert shown
    assert all("ship" in document.words and len(document.words) <= 11 for document in shown)


def test_senses_are_groups_of_passages(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    # Every document has a passage about each of five subjects, and the word in those about the first two.
    subjects = [[f"{first}{a}{b}er" for a in "aeioub" for b in "dgkl"] for first in "mnprt"]
    lines = [
        " ".join(
            " ".join([*random.choice(subject, 10), ("bank", "fan")[k > 1]])
            for k, subject in enumerate(subjects)
        )
        for _ in range(150)
    ]
    (tmp_path / "long.txt").write_text("\n".join(lines) + "\n")
    assert main(["index", str(tmp_path / "long.txt"), "-o", str(tmp_path / "index"), "--quiet"]) == 0
    index = DocumentIndex.open(tmp_path / "index")
    found = Explainer(train_vectors(index, settings=SETTINGS), index).senses("bank", n_documents=2)
    assert (len(found.senses), found.n_documents, found.unit) == (2, 300, "passages")
    assert found.caption() == "bank: 2 senses, in 300 passages"
    assert [round(sense.share or 0, 2) for sense in found.senses] == [0.5, 0.5]
    subjects_found = {name for sense in found.senses for name, _ in sense.features[:1]}
    assert sum(not subjects_found.isdisjoint(subject) for subject in subjects[:2]) == 2
    for sense in found.senses:
        of_sense = next(words for words in subjects if sense.features[0][0] in words)
        for document in sense.documents:
            assert {*document.words} <= {*of_sense, "bank"}


def test_json_names_the_unit_where_it_is_not_documents(explainer: Explainer) -> None:
    of_passages = explainer.explain("ship").to_dict()
    assert of_passages["unit"] == of_passages["rules"][0]["match"]["unit"] == "passages"
    with pytest.warns(OmniTMWarning, match="in every document"):
        vectors = train_vectors(explainer.index, settings=replace(SETTINGS, passage_reach=0))
    of_documents = Explainer(vectors, explainer.index)
    assert of_documents.counted is explainer.index
    for found in (of_documents.explain("ship"), of_documents.together("ship", "captain")):
        assert '"unit"' not in json.dumps(found.to_dict())
    assert "passages" not in str(of_documents.document_rules("ship"))


def test_an_excerpt_of_a_passage_shows_most_of_the_words() -> None:
    text = "the cat " + "went on and on " * 10 + "until the dog met the cat and the bird"
    assert "dog met the cat" in Passage(0, text, ()).excerpt(["cat", "dog", "bird"], 60)
    assert Passage(0, text, ()).excerpt(["cat"], 60).startswith("the cat")
    assert Passage(0, text, ()).excerpt(["none"], 60).startswith("the cat")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("explain MODEL ship", ["passages (", "passages: how many satisfy", "from the word's passages"]),
        (
            "explain MODEL ship --per-document",
            ["ship: rules about single passages", "counted on the passages of one document in five"],
        ),
        ("why MODEL ship captain", ["ship and captain occur together in", "passages ("]),
        ("senses MODEL ship", ["of its passages that have another known word"]),
    ],
)
def test_commands_say_passages(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str, said: list[str]
) -> None:
    words = [str(folder / "model") if word == "MODEL" else word for word in command.split()]
    assert main([*words, "--index", str(folder / "index")]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    for part in said:
        assert part in printed


def test_places_are_not_learned_from_passages() -> None:
    with pytest.raises(ParameterError, match=r"'passage_reach' parameter .* must be 0 if the 'contexts'"):
        replace(SETTINGS, contexts="place")
