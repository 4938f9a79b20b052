"""Topics of long documents, learned from passages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omnitm import Explainer, OmniTMAE
from omnitm.cli import main
from omnitm.corpus import DocumentIndex
from omnitm.engines import ProcessesEngine, ThreadsEngine
from omnitm.errors import CorpusError, OmniTMWarning, ParameterError, TrainingStopped
from omnitm.explain.infer import infer_word
from omnitm.explain.matches import carriers, firing_rates
from omnitm.explain.words import fresh_examples
from omnitm.machine import PAPER, AutoencoderSettings, training_examples, word_key
from omnitm.store import index_fingerprint, omni_record
from omnitm.training import train_model, train_vectors
from omnitm.training.shards import Shard, merge_models
from omnitm.training.vocabulary import add_words, default_settings
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from omnitm.engines import Engine

PASSAGES = AutoencoderSettings(n_clauses=10, n_examples=200, accumulation=4, passage_reach=5)
SUBJECTS = {
    "sea": ("ship", "sail", "harbour", "wave", "captain", "anchor"),
    "road": ("car", "wheel", "driver", "lane", "engine", "brake"),
    "kitchen": ("oven", "pan", "cook", "flour", "knife", "salt"),
}


def long_texts() -> list[str]:
    """Documents that are about everything, one subject after the other: 12 words of it at a time."""
    random = np.random.default_rng(0)
    texts = []
    for _ in range(40):
        order = random.permutation([*SUBJECTS] * 4)
        parts = [" ".join(random.permutation(SUBJECTS[subject] * 2)) for subject in order]
        texts.append(" ".join(parts))
    return texts


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> DocumentIndex:
    folder = tmp_path_factory.mktemp("passages")
    (folder / "long.txt").write_text(
        "\n".join([*long_texts(), "the lighthouse guides ship and captain"]) + "\n"
    )
    assert (
        main(["index", str(folder / "long.txt"), "-o", str(folder / "index"), "--min-count", "5", "--quiet"])
        == 0
    )
    return DocumentIndex.open(folder / "index")


def same_subject(vectors: WordVectors) -> float:
    """Share of the five nearest words by association that are of the word's own subject."""
    hits = [
        other in words
        for words in SUBJECTS.values()
        for word in words
        for other, _ in vectors.most_similar(word, topn=5, metric="association")
    ]
    return float(np.mean(hits))


def test_passages_tell_subjects_of_long_documents_apart(index: DocumentIndex) -> None:
    words = [word for words in SUBJECTS.values() for word in words]
    with pytest.warns(OmniTMWarning, match="'ship', 'captain' are in every document"):
        whole = train_vectors(index, words, settings=replace(PASSAGES, passage_reach=0))
    passages = train_vectors(index, words, settings=PASSAGES)
    assert same_subject(passages) > 0.9
    assert same_subject(whole) < 0.6  # every document has every word


def test_passages_are_the_default_where_documents_are_long(index: DocumentIndex) -> None:
    assert default_settings(index).passage_reach == 25
    assert default_settings(index, contexts="topic").passage_reach == 25
    assert default_settings(index, contexts="place").passage_reach == 0
    assert default_settings(index, passage_reach=0).passage_reach == 0
    short = DocumentIndex.from_documents(["car and road"] * 3 + ["sea " * 97])
    assert default_settings(short).passage_reach == 0
    # More than 100 words on the average: twice as many as a passage has.
    for n_words, reach in ((100, 0), (101, 25)):
        assert default_settings(DocumentIndex.from_documents(["sea " * n_words])).passage_reach == reach
    assert PAPER["passage_reach"] == 0
    for given, expected in ((None, 25), (3, 3), (0, 0)):
        model = OmniTMAE(n_examples=5, n_jobs=1, passage_reach=given).fit(index, words=["car"])
        assert omni_record(model.word_vectors_.training, "be asked").settings.passage_reach == expected


def test_a_passage_ends_with_its_document_and_at_the_word_that_it_is_without() -> None:
    running = DocumentIndex.from_documents(["a b c d e", "f b g"]).running
    assert running is not None
    numbers = {name: running.number(name) for name in "abcdefg"}

    def passage(word: str, reach: int, target: str) -> str:
        places = running.places_of(numbers[word])[:1].astype(np.int64)
        row = running.passages(places, reach, numbers[target])[0].tolist()
        return "".join(running.names[number] if number < len(running.names) else "." for number in row)

    assert passage("c", 2, "c") == "abcde"
    assert passage("c", 3, "c") == ".abcde."
    assert passage("c", 2, "b") == "..cde"
    assert passage("c", 2, "d") == "abc.."
    assert passage("a", 1, "g") == ".ab"
    assert passage("g", 3, "a") == ".fbg..."


def test_passages_may_hold_the_word_twice() -> None:
    running = DocumentIndex.from_documents(["sea ship sea car"]).running
    assert running is not None
    places = running.places_of(running.number("sea")).astype(np.int64)
    rows = running.passages(places, 3, running.number("sea"))
    assert [sum(number < 4 for number in row.tolist()) for row in rows] == [4, 4]


def test_the_same_bytes_on_every_engine_and_when_words_are_added(
    index: DocumentIndex, tmp_path: Path
) -> None:
    settings = replace(PASSAGES, contexts="both", n_place_features=20)
    words = ["ship", "car", "oven"]
    one = train_vectors(index, words, settings=settings)
    for engine in (ThreadsEngine(2), ProcessesEngine(2)):
        other = train_vectors(index, words, settings=settings, engine=engine)
        np.testing.assert_array_equal(one.matrix, other.matrix)
    train_model(index, tmp_path / "m", ["ship"], settings=settings)
    added = add_words(index, tmp_path / "m", ["car", "oven"])
    np.testing.assert_array_equal(added.matrix[:], one.matrix)
    alone = train_vectors(index, words, settings=PASSAGES)
    np.testing.assert_array_equal(alone.matrix, one.matrix)


def test_the_same_bytes_from_shards_and_after_an_interruption(
    index: DocumentIndex, tmp_path: Path, stop_after: Callable[[int], Engine]
) -> None:
    """Nothing is given, so that each part chooses by itself what it learns from."""
    words = ["ship", "car", "oven"]
    whole = train_model(index, tmp_path / "whole", words)
    assert omni_record(whole.training, "be asked").settings.passage_reach == 25
    for number in (1, 2):
        train_model(index, tmp_path / f"part-{number}", words, shard=Shard(number, 2))
    merge_models([tmp_path / "part-1", tmp_path / "part-2"], tmp_path / "merged")
    with pytest.raises(TrainingStopped):
        train_model(index, tmp_path / "stopped", words, engine=stop_after(1))
    train_model(index, tmp_path / "stopped", resume=True)
    for name in ("merged", "stopped"):
        for file in ("settings.json", "vectors.i16", "places.top"):
            assert (tmp_path / name / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()


def test_settings_are_stored_only_where_there_are_passages(index: DocumentIndex, tmp_path: Path) -> None:
    for reach in (0, 5):
        for contexts in ("topic", "both"):
            settings = replace(PASSAGES, passage_reach=reach, contexts=contexts, n_examples=5)
            folder = tmp_path / f"{reach}-{contexts}"
            train_model(index, folder, ["car"], settings=settings)
            assert ("passage_reach" in (folder / "settings.json").read_text()) == (reach > 0)
            record = omni_record(WordVectors.load(folder).training, "be asked")
            assert record.settings == settings
            with_order = index_fingerprint(index, with_order=reach > 0 or contexts == "both")
            assert record.index_fingerprint == with_order
            assert OmniTMAE.load(folder).passage_reach == reach


def test_rules_and_traces_are_about_passages(index: DocumentIndex) -> None:
    vectors = train_vectors(index, ["ship", "car"], settings=PASSAGES)
    target, key = index.word_id("ship"), word_key(0, "ship")
    examples = training_examples(index, PASSAGES, target, key)
    assert index.running is not None
    centres = index.running.tokens[examples.documents]
    assert (centres[examples.labels] == target).all()
    assert not (centres[~examples.labels] == target).any()
    captain, wheel = index.word_id("captain"), index.word_id("wheel")
    with_captain = carriers(index, examples.documents, [captain, wheel], target, 5).mean(axis=1)
    assert with_captain[examples.labels, 0].mean() > 2 * with_captain[~examples.labels, 0].mean()
    assert with_captain[examples.labels, 1].mean() < with_captain[~examples.labels, 1].mean()
    explainer = Explainer(vectors, index)
    explained = explainer.explain("ship")
    fresh = fresh_examples(index, PASSAGES, target, key)
    assert fresh.documents.shape == (200, 4)
    rules = [found.rule for found in explained.rules]
    rates = firing_rates(index, rules, fresh, target, 5)
    assert [(found.fires_with, found.fires_without) for found in explained.rules] == rates
    trace = explainer.trace("ship", "captain")
    assert trace.coordinate == vectors.matrix[vectors.get_index("ship"), captain]
    occurs = carriers(index, examples.documents, [captain], target, 5).any(axis=(1, 2))
    np.testing.assert_array_equal(trace.occurs, occurs)
    drawn = trace.rewards[0]
    assert "captain" in (drawn.documents[0].text or "")


def test_words_that_were_not_trained_are_learned_from_passages(index: DocumentIndex) -> None:
    words = [word for words in SUBJECTS.values() for word in words]
    vectors = train_vectors(index, words[:-1], settings=PASSAGES)
    trained = train_vectors(index, words[-1:], settings=PASSAGES)
    found = infer_word(vectors, words[-1], index)
    np.testing.assert_array_equal(found.vector, trained.matrix[0])
    # Once in the text: too rare for the vocabulary.
    assert "lighthouse" not in index.vocabulary
    near = infer_word(vectors, "lighthouse", index)
    assert near.how == "trained on the spot from 1 occurrence"
    assert strongest(near.vector, index) == {"ship", "captain"}
    taught = infer_word(vectors, "zzz", index, sentences=["a zzz has a wheel and a brake"])
    assert taught.how == "trained on the spot from 1 sentence"
    assert strongest(taught.vector, index) == {"wheel", "brake"}


def strongest(vector: np.ndarray, index: DocumentIndex) -> set[str]:
    return {index.vocabulary[k] for k in np.argsort(-vector.astype(int), kind="stable")[:2]}


def test_without_order_there_are_no_passages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "long.txt").write_text("\n".join(long_texts()))
    bag = tmp_path / "bag"
    assert main(["index", str(tmp_path / "long.txt"), "-o", str(bag), "--no-order", "--quiet"]) == 0
    assert default_settings(DocumentIndex.open(bag)).passage_reach == 0
    with pytest.raises(CorpusError, match=r"no running text.*--passage-reach 0"):
        train_vectors(DocumentIndex.open(bag), ["ship"], settings=PASSAGES)
    capsys.readouterr()
    assert main(["train", str(bag), "-o", str(tmp_path / "m"), "--passage-reach", "5", "--quiet"]) == 2
    assert "no running text" in capsys.readouterr().err


def test_a_reach_is_a_number_of_words() -> None:
    for wrong in (-1, 2.5, True, 65_537):
        with pytest.raises(ParameterError, match="'passage_reach' parameter of OmniTMAE must be an int"):
            AutoencoderSettings(passage_reach=wrong)  # type: ignore[arg-type]


def test_the_command_says_what_it_learns_from(
    index: DocumentIndex, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--n-examples", "5", "--threads", "1"]
    for number, (given, said) in enumerate((([], 1), (["--passage-reach", "0"], 0), (["--paper"], 0))):
        output = str(tmp_path / str(number))
        assert main(["train", str(index.path), "-o", output, *options, *given]) == 0
        found = capsys.readouterr().err.count("topics are learned from 25 words before and after a word")
        assert found == said
