from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm.baselines import FastText, Word2Vec, gensim_models
from omnitm.baselines.tokens import Tokens, tokens_of
from omnitm.corpus import DocumentIndex, VocabularyRules, build_index
from omnitm.errors import FileError, MissingExtraError, ParameterError

if TYPE_CHECKING:
    from pathlib import Path

gensim = pytest.importorskip("gensim", reason="needs the extra 'baselines'")


def test_equal_to_gensim_fed_by_hand(topics: DocumentIndex) -> None:
    """Same sentences, same counts, same seed: gensim itself gives the same numbers."""
    sentences = list(topics.token_stream())
    theirs = gensim.models.Word2Vec(
        sentences, vector_size=8, window=3, epochs=4, min_count=1, seed=5, workers=1
    )
    ours = Word2Vec(vector_size=8, window=3, n_epochs=4, seed=5).train(topics)
    for word in topics.vocabulary:
        np.testing.assert_array_equal(ours.get_vector(word), theirs.wv[word])


def test_the_vocabulary_is_the_index_s(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("cat dog mouse\ncat dog\ncat\n")
    rules = VocabularyRules(fixed=["dog", "cat", "unicorn"])
    index = DocumentIndex.open(build_index(tmp_path / "text.txt", tmp_path / "index", vocabulary=rules))
    for model in (Word2Vec, FastText):
        vectors = model(vector_size=4, n_epochs=1).train(index)
        assert vectors.index_to_key == list(index.vocabulary)
        assert "unicorn" in vectors
        assert vectors.matrix.dtype == np.float32


def test_long_documents_are_cut_not_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gensim_models, "_LONGEST_SENTENCE", 3)
    monkeypatch.setattr(gensim_models, "_DOCUMENTS_AT_ONCE", 2)
    tokens = Tokens(np.array([0, 1, 0, 1, 1, 0, 0], np.uint32), np.array([0, 0, 5, 6, 7], np.uint64))
    read: list[int] = []
    sentences = gensim_models._Sentences(tokens, ["a", "b"], read.append)
    assert list(sentences) == [["a", "b", "a"], ["b", "b"], ["a"], ["a"]]
    assert sentences.count() == 4
    assert read == [5, 7]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"vector_size": 0}, "'vector_size' parameter of Word2Vec must be an int >= 1. Got 0"),
        ({"window": 2.5}, "'window' parameter"),
        ({"n_epochs": True}, "'n_epochs' parameter"),
        ({"n_jobs": 0}, "'n_jobs' parameter"),
        ({"seed": 2**32}, "'seed' parameter of Word2Vec must be an int from 0"),
    ],
)
def test_bad_settings_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Word2Vec(**settings)


def test_a_missing_extra_gives_the_command(topics: DocumentIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(
        MissingExtraError, match=r"Word2Vec and FastText need.* pip install 'omnitm\[baselines\]'"
    ):
        Word2Vec().train(topics)


def test_text_that_has_gone_is_named(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("cat dog\n")
    index = DocumentIndex.open(build_index(tmp_path / "text.txt", tmp_path / "index"))
    (tmp_path / "text.txt").unlink()
    with pytest.raises(FileError, match="not there any more"), tokens_of(index):
        pass
