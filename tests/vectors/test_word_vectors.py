from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from omnitm.corpus import Preparation
from omnitm.errors import ParameterError, UnknownWordError, nearest_spellings
from omnitm.similarity.nearest import best
from omnitm.vectors import WordVectors
from omnitm.vectors.word_vectors import _GENSIM_NAMES

WORDS = ["road", "car", "sea"]
FEATURES = ["road", "car", "sea", "ship"]
MATRIX = np.array([[0, 9, -4, 1], [7, 0, -4, 3], [-6, -6, 0, 8]], dtype=np.int16)


@pytest.fixture
def vectors() -> WordVectors:
    return WordVectors(MATRIX, WORDS, FEATURES)


def cosine(a: Any, b: Any) -> float:
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


ROWS = MATRIX.astype(float)


def test_names_and_rows(vectors: WordVectors) -> None:
    assert len(vectors) == 3
    assert vectors.vector_size == 4
    assert "sea" in vectors
    assert "ship" not in vectors
    assert vectors.key_to_index == {"road": 0, "car": 1, "sea": 2}
    assert vectors["car"].tolist() == [7, 0, -4, 3]
    assert vectors[["sea", "road"]].tolist() == MATRIX[[2, 0]].tolist()
    assert vectors.vectors is vectors.matrix
    assert repr(vectors) == "WordVectors(3 words x 4 features, compared by association)"
    assert np.linalg.norm(vectors.get_vector("sea", norm=True)) == pytest.approx(1)


def test_similarity(vectors: WordVectors) -> None:
    assert vectors.similarity("road", "car") == 9
    assert vectors.similarity("road", "ship") == 1
    assert vectors.similarity("road", "car", metric="association-symmetric") == 8
    assert vectors.similarity("road", "car", metric="cosine") == pytest.approx(cosine(ROWS[0], ROWS[1]))
    assert vectors.distance("road", "car") == 255 - 9
    assert vectors.distance("road", "car", metric="cosine") == pytest.approx(1 - cosine(ROWS[0], ROWS[1]))


def test_most_similar_by_association_finds_untrained_words(vectors: WordVectors) -> None:
    assert vectors.most_similar("road") == [("car", 9.0), ("ship", 1.0), ("sea", -4.0)]
    assert vectors.similar_by_word("sea", topn=1) == [("ship", 8.0)]
    assert vectors.most_similar("road", topn=0) == []
    assert vectors.most_similar("car", restrict_vocab=1) == [("road", 7.0)]


def test_most_similar_of_several_words(vectors: WordVectors) -> None:
    assert vectors.most_similar(["road", "car"], ["sea"]) == [
        ("ship", (1 + 3 - 8) / 3),
    ]
    assert vectors.most_similar(("road", "car"), topn=1) == [("ship", 2.0)]
    assert vectors.most_similar([("road", 3.0), ("car", 1.0)], topn=1) == [("ship", 1.5)]
    assert vectors.most_similar(("road", 2.0), topn=1) == [("car", 9.0)]


def test_most_similar_symmetric(vectors: WordVectors) -> None:
    assert vectors.most_similar("road", metric="association-symmetric") == [("car", 8.0), ("sea", -5.0)]


def test_most_similar_by_cosine(vectors: WordVectors) -> None:
    found = vectors.most_similar("road", metric="cosine")
    assert [word for word, _ in found] == ["car", "sea"]
    assert found[0][1] == pytest.approx(cosine(ROWS[0], ROWS[1]), abs=1e-6)
    query = ROWS[0] / np.linalg.norm(ROWS[0]) - ROWS[2] / np.linalg.norm(ROWS[2])
    found = vectors.most_similar("road", "sea", metric="cosine")
    assert found == [("car", pytest.approx(cosine(query, ROWS[1]), abs=1e-6))]


def test_all_scores(vectors: WordVectors) -> None:
    assert vectors.most_similar("road", topn=None).tolist() == [0, 9, -4, 1]  # type: ignore[union-attr]
    scores = vectors.most_similar("road", topn=None, metric="cosine")
    assert scores[0] == pytest.approx(1)


def test_by_vector(vectors: WordVectors) -> None:
    assert vectors.similar_by_vector(np.array([1.0, 0, 3, 2]), topn=2) == [("sea", 3.0), ("ship", 2.0)]
    ((word, score),) = vectors.similar_by_vector(ROWS[1], topn=1, metric="cosine")
    assert word == "car"
    assert score == pytest.approx(1)
    assert vectors.distances("road", ["sea", "car"]).tolist() == [255 + 4, 255 - 9]
    assert len(vectors.distances("road", metric="cosine")) == 3


def test_sets_and_ranks(vectors: WordVectors) -> None:
    assert vectors.n_similarity(["road"], ["car", "sea"]) == 2.5
    assert vectors.n_similarity(["road"], ["car"], metric="cosine") == pytest.approx(cosine(ROWS[0], ROWS[1]))
    assert vectors.doesnt_match(["road", "sea", "car"]) == "sea"
    assert vectors.doesnt_match(["road", "sea", "car"], metric="cosine") == "sea"
    assert vectors.doesnt_match(["road"]) == "road"
    assert vectors.most_similar_to_given("road", ["sea", "car"]) == "car"
    assert vectors.closer_than("road", "sea") == ["car", "ship"]
    assert vectors.rank("road", "sea") == 3
    assert vectors.rank("road", "sea", metric="cosine") == 2


def test_a_row_of_zeros_has_cosine_zero() -> None:
    vectors = WordVectors(np.array([[0, 0], [3, 4]], dtype=np.int16), ["a", "b"], ["a", "b"])
    assert vectors.most_similar("b", metric="cosine") == [("a", 0.0)]
    assert vectors.similarity("a", "b", metric="cosine") == 0


def test_equal_scores_come_in_the_order_of_the_vocabulary() -> None:
    assert best(np.array([1, 5, 5, 7, 5]), 3).tolist() == [3, 1, 2]
    assert best(np.array([1, 2]), 9).tolist() == [1, 0]
    assert best(np.zeros(0), 3).tolist() == []


def test_unknown_words_name_the_nearest(vectors: WordVectors) -> None:
    with pytest.raises(UnknownWordError, match="'raod' is not in the trained words; spelled like it: road"):
        vectors["raod"]
    with pytest.raises(UnknownWordError, match=r"only in the vocabulary .*--add"):
        vectors.most_similar("ship")
    with pytest.raises(UnknownWordError, match="'shipp' is not in the vocabulary"):
        vectors.similarity("road", "shipp")
    with pytest.raises(UnknownWordError, match=r"2 is not in the trained words.*row 2 is `matrix\[2\]`"):
        vectors[2]  # type: ignore[index]
    with pytest.raises(UnknownWordError, match=r"2\.5 is not in the trained words"):
        vectors.get_vector(2.5)  # type: ignore[arg-type]


def test_words_as_people_type_them(vectors: WordVectors) -> None:
    """The very word first; then what the index would make of it."""
    vectors.preparation = Preparation()
    assert vectors["Road"].tolist() == MATRIX[0].tolist()
    assert vectors.most_similar("ROAD!") == vectors.most_similar("road")
    assert vectors.similarity("Road", "Ship") == vectors.similarity("road", "ship")
    assert vectors.closer_than("Road", "Sea") == vectors.closer_than("road", "sea")
    assert vectors.known_word("the road") == "road"
    with pytest.raises(UnknownWordError, match="'The' is a stop word of this index"):
        vectors.most_similar("The")
    with pytest.raises(UnknownWordError, match="'of the' is stop words"):
        vectors["of the"]
    with pytest.raises(UnknownWordError, match=r"'Road Car' is two words here: road, car; .*--together"):
        vectors["Road Car"]
    with pytest.raises(UnknownWordError, match="'42' has no letters that are kept"):
        vectors["42"]
    with pytest.raises(UnknownWordError, match="'SHIP' is not in the trained words, only in the vocabulary"):
        vectors["SHIP"]
    capitals = WordVectors(MATRIX[:2], ["Road", "road"], FEATURES)
    assert capitals["Road"].tolist() == MATRIX[0].tolist()


def test_without_an_index_only_capitals_are_changed(vectors: WordVectors) -> None:
    assert vectors.known_word("Road") == "road"
    with pytest.raises(UnknownWordError, match="'road!' is not in the trained words"):
        vectors.known_word("road!")


def test_words_are_iterated(vectors: WordVectors) -> None:
    assert list(vectors) == WORDS


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda v: v.most_similar("road", metric="euclid"),
            "'metric' parameter of WordVectors must be one of",
        ),
        (lambda v: v.most_similar(), "needs at least one word or vector"),
        (lambda v: v.most_similar("road", topn=-1), "'topn' parameter of most_similar must be an int >= 0"),
        (lambda v: v.most_similar("road", restrict_vocab=0), "'restrict_vocab' parameter"),
        (lambda v: v.similar_by_vector(np.zeros(3)), "A vector must have 4 numbers"),
        (lambda v: v.similar_by_vector(ROWS[0], metric="association-symmetric"), "only for words"),
        (lambda v: v.doesnt_match("road"), "'words' parameter must be a list"),
        (lambda v: v.n_similarity([], ["road"]), "'ws1' parameter must be a list"),
        (lambda v: v.save("x"), "Vectors of unknown origin cannot be saved"),
        (
            lambda _: WordVectors(MATRIX[:2], WORDS, FEATURES),
            r"int16 or float32 of shape \(3, 4\), words x features",
        ),
        (lambda _: WordVectors(ROWS, WORDS, FEATURES), "Got float64"),
        (lambda _: WordVectors(MATRIX[:2], ["a", "a"], FEATURES), "'index_to_key' .* every word once"),
    ],
)
def test_mistakes_are_named(vectors: WordVectors, call: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        call(vectors)


@pytest.mark.parametrize(
    ("typed", "likeliest"),
    [
        ("godd", "god"),
        ("raod", "road"),
        ("recieve", "receive"),
        ("Kign", "king"),
        ("Röàd", "road"),
        ("uber", "über"),
        ("zzzz", None),
    ],
)
def test_the_likeliest_spelling_comes_first(typed: str, likeliest: str | None) -> None:
    known = ["good", "gold", "king", "raid", "receive", "rod", "kin", "road", "god", "sign", "über"]
    assert nearest_spellings(typed, known, 3)[:1] == ([] if likeliest is None else [likeliest])


def test_of_equal_slips_the_more_frequent_word_is_likelier() -> None:
    assert nearest_spellings("cet", ["cut", "cat"], 2) == ["cut", "cat"]
    assert nearest_spellings("cet", ["cat", "cut"], 2) == ["cat", "cut"]


def test_names_of_gensim_that_are_not_here_say_what_to_use(vectors: WordVectors) -> None:
    with pytest.raises(AttributeError, match="has no 'vocab'; use key_to_index"):
        _ = vectors.vocab  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="object has no attribute 'something'"):
        _ = vectors.something  # type: ignore[attr-defined]
    assert not hasattr(vectors, "has_index_for")
    for name in _GENSIM_NAMES.values():
        assert not name.isidentifier() or hasattr(vectors, name)
