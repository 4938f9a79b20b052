from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm.baselines import FastText, Word2Vec, gensim_models
from omnitm.baselines.texts import Tokens, tokens_of
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


def test_every_setting_reaches_gensim(topics: DocumentIndex) -> None:
    theirs = gensim.models.Word2Vec(
        list(topics.token_stream()),
        sg=1,
        negative=3,
        sample=0.05,
        alpha=0.1,
        vector_size=8,
        window=3,
        epochs=2,
        min_count=1,
        seed=5,
        workers=1,
    )
    settings = {"sg": 1, "negative": 3, "sample": 0.05, "alpha": 0.1, "vector_size": 8, "window": 3}
    ours = Word2Vec(**settings, n_epochs=2, seed=5).train(topics)  # type: ignore[arg-type]
    np.testing.assert_array_equal(ours["road"], theirs.wv["road"])
    centred = Word2Vec(**settings, n_epochs=2, seed=5, centred=True).train(topics)  # type: ignore[arg-type]
    np.testing.assert_allclose(centred.matrix, ours.matrix - ours.matrix.mean(axis=0), atol=1e-7)


def test_function_words_are_read_but_get_no_vectors(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("the cat and the dog\nzebra cat\n")
    rules = VocabularyRules(fixed=["dog", "cat"])
    index = DocumentIndex.open(build_index(tmp_path / "text.txt", tmp_path / "index", vocabulary=rules))
    with tokens_of(index) as tokens:
        assert [tokens.names[k] for k in tokens.ids] == ["cat", "dog", "cat"]
    with tokens_of(index, function_words=True) as tokens:
        assert [tokens.names[k] for k in tokens.ids] == ["the", "cat", "and", "the", "dog", "cat"]
        assert list(tokens.names[:2]) == list(index.vocabulary)
        assert tokens.counts[tokens.names.index("the")] == 2
    vectors = Word2Vec(vector_size=4, n_epochs=1, function_words=True).train(index)
    assert vectors.index_to_key == list(index.vocabulary)


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
    ids, offsets = np.array([0, 1, 0, 1, 1, 0, 0], np.uint32), np.array([0, 0, 5, 6, 7], np.uint64)
    tokens = Tokens(ids, offsets, ["a", "b"])
    read: list[int] = []
    sentences = gensim_models._Sentences(tokens, read.append)
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
        ({"sg": 2}, "'sg' parameter of Word2Vec must be an int from 0 to 1. Got 2"),
        ({"negative": 0}, "'negative' parameter"),
        ({"sample": 1.5}, "'sample' parameter of Word2Vec must be a number from 0 to 1"),
        ({"alpha": 0}, "'alpha' parameter"),
        ({"function_words": 1}, "'function_words' parameter of Word2Vec must be a bool. Got 1"),
        ({"centred": "yes"}, "'centred' parameter"),
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
    index = DocumentIndex.open(build_index(tmp_path / "text.txt", tmp_path / "index", order=False))
    (tmp_path / "text.txt").unlink()
    with pytest.raises(FileError, match="not there any more"), tokens_of(index):
        pass
