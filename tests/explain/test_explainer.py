from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

import omnitm
from omnitm.corpus import DocumentIndex, build_index
from omnitm.errors import CorpusError, FileError, ParameterError
from omnitm.explain import Explainer
from omnitm.machine import AutoencoderSettings
from omnitm.training import train_model, train_vectors
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SETTINGS = AutoencoderSettings(n_clauses=8, n_examples=60, accumulation=2)


def write_text(path: Path) -> Path:
    lines = ["road car wheel", "sea ship wind", "car wheel driver", "ship harbour wind"] * 20
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def index(tmp_path: Path) -> DocumentIndex:
    build_index(write_text(tmp_path / "news.txt"), tmp_path / "news.index")
    return DocumentIndex.open(tmp_path / "news.index")


@pytest.fixture
def model(index: DocumentIndex, tmp_path: Path) -> Path:
    train_model(index, tmp_path / "model", settings=SETTINGS)
    return tmp_path / "model"


def test_the_index_is_found_where_it_was(model: Path, index: DocumentIndex) -> None:
    explainer = omnitm.Explainer.open(model)
    assert index.path is not None
    assert explainer.index.path == index.path.resolve()
    assert explainer.has_index
    assert explainer.explain("car").rules


@pytest.mark.parametrize("place", ["model/index", "index"])
def test_the_index_is_found_in_the_model_and_next_to_it(model: Path, tmp_path: Path, place: str) -> None:
    shutil.move(tmp_path / "news.index", tmp_path / place)
    assert Explainer.open(model).index.path == tmp_path / place


def test_an_index_can_be_given(model: Path, index: DocumentIndex, tmp_path: Path) -> None:
    shutil.move(tmp_path / "news.index", tmp_path / "elsewhere")
    assert Explainer.open(model, tmp_path / "elsewhere").explain("car").rules
    assert Explainer.open(model, index).index is index
    with pytest.raises(FileError, match="nowhere"):
        Explainer.open(model, tmp_path / "nowhere")


def test_a_missing_index_is_named_with_the_command_that_makes_it(model: Path, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "news.index")
    explainer = Explainer.open(model)
    assert not explainer.has_index
    with pytest.raises(FileError, match=r"--index INDEX.*omnitm index TEXT -o .*model/index"):
        explainer.explain("car")
    with pytest.raises(FileError, match=r"needs the index .* omnitm index TEXT -o .*index$"):
        explainer.trace("car", "wheel")


def test_another_vocabulary_is_refused(model: Path) -> None:
    other = DocumentIndex.from_documents([["cat", "dog"]] * 4)
    with pytest.raises(CorpusError, match="is not the index that the model was trained from"):
        Explainer.open(model, other)


def test_other_documents_are_noticed(model: Path, index: DocumentIndex) -> None:
    vocabulary = list(index.vocabulary)
    documents = [
        [vocabulary[i % len(vocabulary)], vocabulary[(i * 3 + 1) % len(vocabulary)]] for i in range(60)
    ]
    from omnitm.corpus import VocabularyRules

    other = DocumentIndex.from_documents(documents, vocabulary=VocabularyRules(fixed=vocabulary))
    assert list(other.vocabulary) == vocabulary
    questions: list[Callable[[Explainer], object]] = [
        lambda explainer: explainer.explain("car"),
        lambda explainer: explainer.why("car", "wheel"),
        lambda explainer: explainer.trace("car", "wheel"),
    ]
    for ask in questions:
        explainer = Explainer.open(model, other)
        with pytest.raises(CorpusError, match="a word trained again from it"):
            ask(explainer)


def test_vectors_of_unknown_origin(index: DocumentIndex) -> None:
    trained = train_vectors(index, ["car", "ship"], settings=SETTINGS)
    unknown = WordVectors(trained.matrix, trained.index_to_key, trained.feature_names)
    explainer = Explainer(unknown, index)
    assert explainer.why("car", "ship", metric="cosine").together is not None
    with pytest.raises(ParameterError, match="unknown origin cannot be explained by clauses"):
        explainer.explain("car")


def test_text_is_shown_while_it_is_there(model: Path, tmp_path: Path) -> None:
    found = Explainer.open(model).together("car", "driver", n_documents=1)
    assert str(found.documents[0]) == "car wheel driver"
    (tmp_path / "news.txt").unlink()
    found = Explainer.open(model).together("car", "driver", n_documents=1)
    assert found.documents[0].text is None
    assert set(str(found.documents[0]).split()) == {"car", "wheel", "driver"}


def test_a_model_without_its_index_in_a_folder_has_no_note(index: DocumentIndex, tmp_path: Path) -> None:
    in_memory = DocumentIndex.from_documents([["cat", "dog"], ["bird", "fish"]] * 5)
    train_model(in_memory, tmp_path / "other", settings=SETTINGS)
    assert not (tmp_path / "other" / "index-path.txt").exists()
    train_model(index, tmp_path / "other", settings=SETTINGS, force=True)
    assert (tmp_path / "other" / "index-path.txt").read_text() == f"{tmp_path / 'news.index'}\n"
    train_model(in_memory, tmp_path / "other", settings=SETTINGS, force=True)
    assert not (tmp_path / "other" / "index-path.txt").exists()


def test_machines_are_kept_and_forgotten(model: Path, index: DocumentIndex) -> None:
    explainer = Explainer.open(model)
    first = explainer.machines["car"]
    assert explainer.machines["car"] is first
    others = [word for word in index.vocabulary if word != "car"]
    for word in [*others, *others][:8]:
        explainer.machines[word]
    again = explainer.machines["car"]
    assert (again.states == first.states).all()


def test_vectors_whose_dimensions_have_no_names(index: DocumentIndex) -> None:
    trained = train_vectors(index, ["car", "ship"], settings=SETTINGS)
    dense = WordVectors(trained.matrix[:, :3].copy(), ["car", "ship"], ["0", "1", "2"])
    setattr(dense, "has_named_features", False)  # noqa: B010 - as vectors of other models say
    explainer = Explainer(dense, index)
    found = explainer.why("car", "ship", metric="cosine")
    assert found.total_for + found.total_against == pytest.approx(found.score)
    assert all(part.with_first is None for part in (*found.contributions_for, *found.contributions_against))
    assert explainer.why("car", "ship").metric == "cosine"
    with pytest.raises(ParameterError, match=r"The metric 'similarity' reads the coordinate of a word"):
        explainer.why("car", "ship", metric="similarity")
