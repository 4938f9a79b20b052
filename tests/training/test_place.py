"""Words trained on where they stand: beside topic, alone, and wherever rows are written."""

from __future__ import annotations

import json
import logging
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omnitm import OmniTMAE
from omnitm.cli import main
from omnitm.corpus import DocumentIndex
from omnitm.engines import ThreadsEngine
from omnitm.errors import CorpusError, FileError, ParameterError, TrainingStopped
from omnitm.files.checked import FileDigest
from omnitm.files.manifest import write_manifest
from omnitm.machine import (
    Autoencoder,
    AutoencoderSettings,
    WordTrainer,
    kind_key,
    n_features,
    word_key,
)
from omnitm.store import index_fingerprint
from omnitm.store.manifest import KIND, model_manifest
from omnitm.store.packing import pack_model, unpack_model
from omnitm.store.rows import place_encoder
from omnitm.training import train_model, train_vectors
from omnitm.training.shards import Shard, merge_models
from omnitm.training.vocabulary import add_words, default_settings, extend_vectors
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnitm.engines import Engine

BOTH = AutoencoderSettings(n_clauses=6, n_examples=40, accumulation=2, contexts="both", n_place_features=7)
JOINED = replace(BOTH, joiners=(0, 3))
FILES = (
    "manifest.json",
    "settings.json",
    "features.txt",
    "words.txt",
    "vectors.i16",
    "places.txt",
    "places.top",
)


def assert_equal(one: WordVectors, other: WordVectors) -> None:
    assert one.index_to_key == other.index_to_key
    np.testing.assert_array_equal(one.matrix, other.matrix)
    assert one.place is not None
    assert other.place is not None
    assert one.place.feature_names == other.place.feature_names
    np.testing.assert_array_equal(one.place.matrix[:], other.place.matrix[:])


def assert_same_files(one: Path, other: Path) -> None:
    for name in FILES:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


def test_words_that_stand_alike_are_found_by_their_places() -> None:
    """`big` and `small` never occur together, nor in the same documents as other words of their own."""
    texts = [f"the {size} {thing} is here" for size in ("big", "small") for thing in ("dog", "cat")] * 20
    texts += [f"{name} went to {town}" for name in ("anna", "peter") for town in ("rome", "bonn")] * 20
    model = OmniTMAE(n_examples=200, accumulation=2, n_jobs=1, contexts="place").fit(texts)
    vectors = model.word_vectors_
    assert vectors.default_metric == "cosine"
    for word, alike in (("big", "small"), ("rome", "bonn"), ("anna", "peter"), ("dog", "cat")):
        assert vectors.similar_by_word(word, topn=1)[0][0] == alike
    assert vectors.place is not None
    row = vectors.place.matrix[vectors.get_index("rome")]
    strongest = [vectors.place.feature_names[k] for k in np.argsort(-row)[:2]]
    assert set(strongest) == {"to _", "went * _"}


def test_a_row_is_that_of_each_machine(topics: DocumentIndex) -> None:
    vectors = train_vectors(topics, ["road", "sea"], settings=BOTH, seed=5)
    assert vectors.place is not None
    assert vectors.place.matrix.shape == (2, n_features(topics, BOTH, "place")) == (2, 28)
    for row, word in enumerate(vectors.index_to_key):
        for kind, found in (("topic", vectors.matrix[row]), ("place", vectors.place.matrix[row])):
            machine = Autoencoder(topics, BOTH, kind=kind)  # type: ignore[arg-type]
            machine.train(topics.word_id(word), kind_key(word_key(5, word), kind))  # type: ignore[arg-type]
            np.testing.assert_array_equal(machine.embedding(), found)
    alone = train_vectors(
        topics, ["sea"], settings=AutoencoderSettings(n_clauses=6, n_examples=40, accumulation=2), seed=5
    )
    np.testing.assert_array_equal(alone.matrix[0], vectors.matrix[1])


def test_kinds_have_keys_of_their_own() -> None:
    keys = {
        kind_key(word_key(seed, word), kind)
        for seed in (0, 1)
        for word in "ab"
        for kind in ("topic", "place")
    }
    assert len(keys) == 8
    assert kind_key(7, "topic") == 7


@pytest.mark.parametrize("settings", [BOTH, JOINED])
def test_memory_folder_and_packed_model_agree(
    topics: DocumentIndex, tmp_path: Path, settings: AutoencoderSettings
) -> None:
    memory = train_vectors(topics, settings=settings)
    stored = train_model(topics, tmp_path / "m", settings=settings, engine=ThreadsEngine(2))
    assert_equal(memory, stored)
    memory.save(tmp_path / "saved")
    assert_same_files(tmp_path / "saved", tmp_path / "m")
    pack_model(tmp_path / "m", tmp_path / "packed")
    packed = WordVectors.load(tmp_path / "packed", verify=True)
    assert_equal(packed, stored)
    assert packed.place is not None
    assert stored.place is not None
    np.testing.assert_array_equal(packed.place.matrix[:, 5], stored.place.matrix[:, 5])
    unpack_model(tmp_path / "packed", tmp_path / "unpacked")
    assert_same_files(tmp_path / "unpacked", tmp_path / "m")
    memory.save_pretrained(tmp_path / "shared")
    assert_equal(WordVectors.from_pretrained(tmp_path / "shared"), stored)


def test_what_a_text_joins_is_learned_by_default(joining: DocumentIndex, tmp_path: Path) -> None:
    assert joining.running is not None
    chosen = default_settings(joining, n_examples=100, accumulation=4)
    assert chosen.joiners == joining.running.joiners == (joining.running.number("and"),)
    assert default_settings(joining, contexts="topic").joiners == ()
    vectors = train_model(joining, tmp_path / "m", settings=chosen)
    assert vectors.place is not None
    assert vectors.place.n_joined == len(joining.running.feature_words(10_000))
    names = vectors.place.feature_names[-vectors.place.n_joined :]
    for word in ("bapar", "lnsuv"):
        row = vectors.place.matrix[vectors.get_index(word)][-vectors.place.n_joined :]
        strongest = [names[k] for k in np.argsort(-row.astype(int))[:4]]
        assert {name[:6] for name in strongest} == {f"_ & {word[:2]}"}
    # One that was begun without is continued without.
    older = replace(chosen, joiners=())
    train_model(joining, tmp_path / "older", ["bapar"], settings=older)
    added = add_words(joining, tmp_path / "older", ["batel"])
    assert added.place is not None
    assert added.place.n_joined == 0
    whole = train_vectors(joining, ["bapar", "batel"], settings=older)
    assert_equal(added, whole)


def test_stopped_resumed_extended_and_merged_models_are_the_same(
    topics: DocumentIndex, tmp_path: Path, stop_after: Callable[[int], Engine]
) -> None:
    train_model(topics, tmp_path / "whole", settings=BOTH)
    with pytest.raises(TrainingStopped, match="3 of 10 words"):
        train_model(topics, tmp_path / "m", settings=BOTH, engine=stop_after(3))
    train_model(topics, tmp_path / "m", resume=True)
    assert_same_files(tmp_path / "m", tmp_path / "whole")
    first, rest = list(topics.vocabulary)[:4], list(topics.vocabulary)[4:]
    train_model(topics, tmp_path / "added", first, settings=BOTH)
    with pytest.raises(TrainingStopped, match="6 of 10 words"):
        add_words(topics, tmp_path / "added", rest, engine=stop_after(2))
    assert len(WordVectors.load(tmp_path / "added", verify=True)) == 4
    train_model(topics, tmp_path / "added", resume=True)
    assert_same_files(tmp_path / "added", tmp_path / "whole")
    extended = extend_vectors(topics, train_vectors(topics, first, settings=BOTH), rest)
    assert_equal(extended, WordVectors.load(tmp_path / "whole"))
    parts = [tmp_path / f"part-{k}" for k in (1, 2, 3)]
    for number, part in enumerate(parts, 1):
        train_model(topics, part, settings=BOTH, shard=Shard(number, 3))
    assert merge_models(parts, tmp_path / "merged") == []
    assert_same_files(tmp_path / "merged", tmp_path / "whole")
    with pytest.raises(TrainingStopped, match="4 of 10 words"):
        train_model(topics, tmp_path / "half", settings=BOTH, engine=stop_after(4))
    merge_models([tmp_path / "half"], tmp_path / "rescued", allow_missing=True)
    rescued = WordVectors.load(tmp_path / "rescued", verify=True)
    assert_equal(rescued, train_vectors(topics, first, settings=BOTH))


def test_damaged_place_rows_are_noticed(
    topics: DocumentIndex, tmp_path: Path, stop_after: Callable[[int], Engine]
) -> None:
    with pytest.raises(TrainingStopped):
        train_model(topics, tmp_path / "m", settings=BOTH, engine=stop_after(3))
    content = bytearray((tmp_path / "m" / "places.top").read_bytes())
    content[9] ^= 1
    (tmp_path / "m" / "places.top").write_bytes(content)
    train_model(topics, tmp_path / "m", resume=True)
    train_model(topics, tmp_path / "whole", settings=BOTH)
    assert_same_files(tmp_path / "m", tmp_path / "whole")
    (tmp_path / "m" / "places.top").write_bytes(content + bytes(len(content)))
    with pytest.raises(FileError, match=r"places.top: should have .* bytes"):
        WordVectors.load(tmp_path / "m")
    content = bytearray((tmp_path / "whole" / "places.top").read_bytes())
    content[9] ^= 1
    (tmp_path / "whole" / "places.top").write_bytes(content)
    with pytest.raises(FileError, match=r"places.top: .*damaged"):
        WordVectors.load(tmp_path / "whole", verify=True)
    with pytest.raises(FileError, match=r"places.top: is damaged in the rows trained before"):
        _add_after_damage(topics, tmp_path)


def _add_after_damage(topics: DocumentIndex, tmp_path: Path) -> None:
    train_model(topics, tmp_path / "some", ["road"], settings=BOTH)
    content = bytearray((tmp_path / "some" / "places.top").read_bytes())
    content[0] ^= 1
    (tmp_path / "some" / "places.top").write_bytes(content)
    add_words(topics, tmp_path / "some", ["sea"])


def test_settings_and_files_must_agree(topics: DocumentIndex, tmp_path: Path) -> None:
    train_model(topics, tmp_path / "m", ["road"], settings=BOTH)
    for change, message in (
        ({"keep_places": None}, r"must have 'keep_places' if 'contexts' names places"),
        ({"keep_places": 0}, r"'keep_places' parameter of train_model must be"),
        ({"contexts": "topic"}, r"must have 'keep_places' if 'contexts' names places, and only then"),
    ):
        model = Path(shutil.copytree(tmp_path / "m", tmp_path / "changed", dirs_exist_ok=True))
        fields = json.loads((model / "settings.json").read_text())
        for name, value in change.items():
            (fields["settings"] if name == "contexts" else fields)[name] = value
        if fields["keep_places"] is None:
            del fields["keep_places"]
        _forge(model, "settings.json", json.dumps(fields).encode())
        with pytest.raises(FileError, match=message):
            WordVectors.load(model)
    model = Path(shutil.copytree(tmp_path / "m", tmp_path / "changed", dirs_exist_ok=True))
    kept = [name for name in model_manifest(model).files if not name.startswith("places")]
    write_manifest(model, KIND, {name: FileDigest((model / name).read_bytes()) for name in kept})
    with pytest.raises(FileError, match=r"does not say the same of 'keep_places' as manifest.json"):
        WordVectors.load(model)


def _forge(model: Path, name: str, content: bytes) -> None:
    """Change a file and make the manifest agree, as a careful forger would."""
    files = model_manifest(model).files
    (model / name).write_bytes(content)
    write_manifest(model, KIND, {name: FileDigest((model / name).read_bytes()) for name in files})


def test_place_alone(topics: DocumentIndex, tmp_path: Path) -> None:
    settings = AutoencoderSettings(
        n_clauses=6, n_examples=40, accumulation=2, contexts="place", n_place_features=7
    )
    vectors = train_model(topics, tmp_path / "m", ["road", "sea"], settings=settings)
    both = train_vectors(topics, ["road", "sea"], settings=BOTH)
    assert both.place is not None
    assert not vectors.has_named_features
    np.testing.assert_array_equal(vectors.matrix[:], both.place.matrix[:])
    add_words(topics, tmp_path / "m", ["car"])
    pack_model(tmp_path / "m", tmp_path / "packed")
    assert WordVectors.load(tmp_path / "packed", verify=True).index_to_key == ["road", "sea", "car"]
    loaded = WordVectors.load(tmp_path / "m", verify=True)
    assert loaded.similarity("road", "road", metric="cosine") == pytest.approx(1)
    loaded.save(tmp_path / "saved")
    assert_same_files(tmp_path / "saved", tmp_path / "m")
    with pytest.raises(ParameterError, match=r"--keep-top\) is about coordinates of topic"):
        train_model(topics, tmp_path / "other", settings=settings, keep_top=3)


def test_few_coordinates_of_both_kinds(topics: DocumentIndex, tmp_path: Path) -> None:
    train_model(topics, tmp_path / "m", settings=BOTH, keep_top=3)
    vectors = WordVectors.load(tmp_path / "m", verify=True)
    whole = train_vectors(topics, settings=BOTH)
    assert vectors.place is not None
    assert whole.place is not None
    np.testing.assert_array_equal(vectors.place.matrix[:], whole.place.matrix[:])
    assert vectors.keep_top == 3


def test_what_is_trained_by_default(topics: DocumentIndex, caplog: pytest.LogCaptureFixture) -> None:
    assert default_settings(topics).contexts == "both"
    assert default_settings(topics, contexts="topic").contexts == "topic"
    matrix = DocumentIndex.from_csr(np.eye(3), ["a", "b", "c"])
    with caplog.at_level(logging.INFO, logger="omnitm"):
        assert default_settings(matrix).contexts == "topic"
    assert [record.message for record in caplog.records] == [
        "The corpus has no word order, so words are trained on topic only, not on place."
    ]
    texts = ["a cat sat", "the dog and the bird"] * 10
    assert OmniTMAE(n_examples=5, n_jobs=1).fit(texts).word_vectors_.place is not None
    assert OmniTMAE.paper(n_examples=5, n_jobs=1).fit(texts).word_vectors_.place is None
    with pytest.raises(CorpusError, match=r"no running text.*omnitm index TEXT -o INDEX.*--contexts topic"):
        OmniTMAE(contexts="both").fit(np.eye(3), vocabulary=["a", "b", "c"])
    with pytest.raises(ParameterError, match=r"'contexts' parameter of OmniTMAE must be"):
        OmniTMAE(contexts="where").fit(texts)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"'n_place_features' parameter of OmniTMAE must be"):
        OmniTMAE(n_place_features=0).fit(texts)


def test_the_command_line(topics: DocumentIndex, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    index, model = str(topics.path), tmp_path / "m"
    options = ["--n-clauses", "6", "--n-examples", "40", "--accumulation", "2", "--quiet"]
    assert main(["train", index, "-o", str(model), "--n-place-features", "7", *options]) == 0
    train_model(topics, tmp_path / "whole", settings=BOTH)
    assert_same_files(model, tmp_path / "whole")
    assert main(["train", index, "-o", str(model), "--resume", *options, "--n-place-features", "7"]) == 0
    assert main(["train", index, "-o", str(tmp_path / "topic"), "--contexts", "topic", *options]) == 0
    assert not (tmp_path / "topic" / "places.top").exists()
    assert main(["train", index, "-o", str(tmp_path / "topic"), "--resume", *options]) == 0
    text = Path(str(topics.path)).parent / "text.txt"
    assert main(["index", str(text), "-o", str(tmp_path / "bag"), "--no-order", "--quiet"]) == 0
    loud = options[:-1]
    assert main(["train", str(tmp_path / "bag"), "-o", str(tmp_path / "b"), *loud]) == 0
    assert capsys.readouterr().err.count("the corpus has no word order: words are trained on topic only") == 1
    assert main(["train", str(tmp_path / "bag"), "-o", str(tmp_path / "c"), "--contexts", "both"]) == 2
    assert "no running text" in capsys.readouterr().err


def test_the_running_text_is_part_of_the_fingerprint() -> None:
    one = DocumentIndex.from_documents(["a cat saw the dog", "bird"])
    other = DocumentIndex.from_documents(["the dog saw a cat", "bird"])
    assert index_fingerprint(one) == index_fingerprint(other)
    assert index_fingerprint(one, with_order=True) != index_fingerprint(other, with_order=True)
    assert index_fingerprint(one, with_order=True) != index_fingerprint(one)
    settings = AutoencoderSettings(n_examples=3, contexts="both")
    vectors = train_vectors(one, ["cat"], settings=settings)
    with pytest.raises(CorpusError, match="was trained on another corpus"):
        extend_vectors(other, vectors, ["dog"])


def test_rows_are_not_written_without_a_record_of_places(topics: DocumentIndex) -> None:
    topic = train_vectors(topics, ["sea"], settings=AutoencoderSettings(n_examples=3))
    with pytest.raises(ParameterError, match="need a record that says how many of each word are kept"):
        place_encoder(topic.training)  # type: ignore[arg-type]


def test_a_trainer_stops_in_the_middle(topics: DocumentIndex) -> None:
    trainer = WordTrainer(topics, BOTH)
    trainer.stop()
    assert not trainer.train(0, 1)
