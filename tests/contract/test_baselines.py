"""Every baseline is trained, saved and asked in the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm.baselines import BASELINES, CONTEXTUAL, MODELS, OMNI, make_baseline
from omnitm.cli.train import MODEL_NAMES
from omnitm.corpus import DocumentIndex, build_index
from omnitm.errors import CorpusError, ParameterError, UnknownWordError
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from pathlib import Path

    from omnitm.training.progress import Progress

pytest.importorskip("gensim", reason="Word2Vec and FastText need the extra 'baselines'")

LETTERS = np.random.default_rng(1).choice(list("abcdefghiklmnoprstu"), (40, 6))
WORDS = ["".join(letters) for letters in LETTERS]
TOPICS = (["road", *WORDS[:20]], ["ship", *WORDS[20:]])
# Small enough to be quick, long enough to tell two topics apart.
SETTINGS: dict[str, dict[str, Any]] = {
    "word2vec": {"vector_size": 10, "n_epochs": 40},
    "fasttext": {"vector_size": 10, "n_epochs": 40},
    "glove": {"vector_size": 10, "n_epochs": 40},
    "ppmi": {},
    "svd": {"vector_size": 10},
    "tmae": {"n_clauses": 20, "n_examples": 40, "n_epochs": 5},
    "two-phase": {"n_examples": 100, "n_epochs": 3, "second_n_examples": 40, "second_n_epochs": 5},
}
PLAIN = [
    name for name in BASELINES if name not in CONTEXTUAL
]  # the others: tests/baselines/test_contextual.py
each_model = pytest.mark.parametrize("name", PLAIN)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> DocumentIndex:
    folder = tmp_path_factory.mktemp("topics")
    rng = np.random.default_rng(3)
    lines = [" ".join(rng.choice(TOPICS[line % 2], 12)) for line in range(300)]
    (folder / "text.txt").write_text("\n".join(lines) + "\n")
    return DocumentIndex.open(build_index(folder / "text.txt", folder / "index"))


@pytest.fixture(scope="module")
def trained(index: DocumentIndex) -> dict[str, WordVectors]:
    return {name: make_baseline(name, SETTINGS[name]).train(index) for name in PLAIN}


def test_the_command_line_knows_the_same_models() -> None:
    assert set(MODELS) == set(MODEL_NAMES) == {*OMNI, *BASELINES}
    assert set(SETTINGS) == set(PLAIN)


@each_model
def test_words_of_a_topic_find_each_other(trained: dict[str, WordVectors], name: str) -> None:
    vectors = trained[name]
    of_topic = np.array([word in TOPICS[0] for word in vectors.index_to_key])
    rows = np.array([vectors.get_vector(word, norm=True) for word in vectors.index_to_key])
    cosines = rows @ rows.T
    same = of_topic[:, None] == of_topic
    np.fill_diagonal(cosines, np.nan)
    assert np.nanmean(cosines[same]) > np.nanmean(cosines[~same]) + 0.1


@each_model
def test_rows_are_the_vocabulary_or_the_words_asked_for(
    index: DocumentIndex, trained: dict[str, WordVectors], name: str
) -> None:
    assert trained[name].index_to_key == list(index.vocabulary)
    some = make_baseline(name, SETTINGS[name]).train(index, ["ship", "road"])
    assert some.index_to_key == ["ship", "road"]


@each_model
def test_the_same_seed_gives_the_same_bytes(
    index: DocumentIndex, trained: dict[str, WordVectors], name: str
) -> None:
    again = make_baseline(name, SETTINGS[name]).train(index)
    assert np.array_equal(again.matrix, trained[name].matrix)


@each_model
def test_saved_and_loaded_it_is_the_same(trained: dict[str, WordVectors], name: str, tmp_path: Path) -> None:
    trained[name].save(tmp_path / "model")
    loaded = WordVectors.load(tmp_path / "model", verify=True)
    assert np.array_equal(loaded.matrix, trained[name].matrix)
    assert loaded.matrix.dtype == trained[name].matrix.dtype
    assert loaded.has_named_features == trained[name].has_named_features
    assert loaded.training == trained[name].training
    assert loaded.training is not None
    assert loaded.training.settings.items() >= SETTINGS[name].items()  # type: ignore[union-attr]
    assert loaded.most_similar("road") == trained[name].most_similar("road")


@each_model
def test_progress_ends_at_the_end(index: DocumentIndex, name: str) -> None:
    heard: list[Progress] = []
    make_baseline(name, SETTINGS[name]).train(index, progress=heard.append)
    done = [progress.done for progress in heard]
    assert done == sorted(done)
    assert done[-1] == heard[-1].total > 0


@each_model
def test_mistakes_are_named(index: DocumentIndex, name: str) -> None:
    with pytest.raises(ParameterError, match=rf"{name} has no setting 'colour'; it has .*seed"):
        make_baseline(name, {"colour": 1})
    with pytest.raises(ParameterError, match="'seed' parameter"):
        make_baseline(name, {"seed": -1})
    with pytest.raises(UnknownWordError, match="'raod' is not in the vocabulary; spelled like it: road"):
        make_baseline(name, SETTINGS[name]).train(index, ["raod"])


@pytest.mark.parametrize("name", ["word2vec", "fasttext", "glove"])
def test_models_of_neighbours_need_the_text(board: DocumentIndex, name: str) -> None:
    with pytest.raises(CorpusError, match="does not know its text"):
        make_baseline(name, SETTINGS[name]).train(board)


def test_an_unknown_model_is_named() -> None:
    with pytest.raises(ParameterError, match=r"must be one of 'word2vec', .* Got 'skipgram' instead"):
        make_baseline("skipgram", {})
