"""Senses of words that were made ambiguous: two words under one name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from omnitm import OmniTMAE
from omnitm.cli import main
from omnitm.errors import ParameterError
from omnitm.explain import Explainer
from omnitm.explain.contexts import Substitutes, bags_of
from omnitm.explain.senses import (
    WordSenses,
    _clearness,
    _cosines,
    _evidence,
    _found_again,
    _joined,
    _most_often,
    _squares,
    _to_join,
    assigned_to,
    centres_of,
    two_groups,
)
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from pathlib import Path

LETTERS = "abcdefghij"
TOPICS = [[f"{first}{LETTERS[k % 10]}{LETTERS[k // 10]}" for k in range(30)] for first in "abcdef"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six topics; "bank" occurs in two of them, as often, and "loan" in one."""
    folder = tmp_path_factory.mktemp("senses")
    random = np.random.default_rng(2)
    lines = []
    for number in range(3000):
        topic = TOPICS[number % 6]
        words = random.choice(topic, size=5, replace=False).tolist()
        if number % 6 < 2 and random.random() < 0.4:
            words.append("bank")
        if number % 6 == 2 and random.random() < 0.4:
            words.append("loan")
        lines.append(" ".join(words))
    (folder / "text.txt").write_text("\n".join(lines) + "\n")
    train = ["train", str(folder / "text.txt"), "-o", str(folder / "model"), "--quiet", "--no-map"]
    assert main([*train, "--n-examples", "200", "--accumulation", "4"]) == 0
    return folder / "model"


def test_a_word_of_two_topics_has_two_senses_and_others_have_one(model: Path) -> None:
    explainer = Explainer.open(model)
    found = explainer.senses("bank", n_documents=2)
    assert len(found.senses) == 2
    assert {sense.features[0][0][0] for sense in found.senses} == {"a", "b"}
    for sense in found.senses:
        letter = sense.features[0][0][0]
        assert {name[0] for name, _ in sense.features} == {letter}
        assert {name[0] for name, _ in sense.neighbours} == {letter}
        assert sense.rule[0] == letter
        assert all(f" {letter}" in f" {document}" for document in sense.documents)
        vector = explainer.sense_vector("bank", sense.number)
        nearest = explainer.vectors.most_similar([vector], topn=3, metric="related")
        assert {word[0] for word, _ in nearest} == {letter}
        assert np.array_equal(explainer.vectors.sense_vector("bank", sense.number), vector)
        names = [name for name, _ in sense.features[:2]]
        best, scores = explainer.sense_of("bank", f"The bank: {' '.join(names)}")
        assert best == sense.number
        assert all(-1 <= score <= 1 for score in scores.values())
        assert {explainer.sense_of("bank", name)[0] for name in names} == {sense.number}
    assert len(explainer.senses("loan").senses) == 1
    assert explainer.sense_of("bank", "nothing") == (None, {1: 0.0, 2: 0.0})
    assert explainer.sense_of("bank", "bank")[0] is None
    assert "neighbours" in str(found)


def test_shares_count_documents(model: Path) -> None:
    explainer = Explainer.open(model)
    found, index = explainer.senses("bank"), explainer.index
    mine = index.documents_with(index.word_id("bank"))
    assert found.n_assigned == found.n_documents == len(mine)
    for sense in found.senses:
        letter = sense.features[0][0][0]
        words = [{index.vocabulary[word][0] for word in index.words_of(int(k))} for k in mine]
        expected = sum(letters - {"b"} == {letter} or letters == {letter} for letters in words)
        assert sense.share == pytest.approx(expected / len(mine))


def test_without_documents_features_are_grouped(model: Path) -> None:
    vectors = WordVectors.load(model)
    found = Explainer(vectors).senses("bank")
    assert {sense.features[0][0][0] for sense in found.senses} == {"a", "b"}
    assert found.senses[0].share is None
    assert found.n_documents == 0
    in_memory = WordVectors(np.array(vectors.matrix), vectors.index_to_key, vectors.feature_names)
    assert np.array_equal(in_memory.sense_vector("bank", 1), Explainer(vectors).sense_vector("bank", 1))


def test_words_that_are_not_trained_say_nothing(model: Path) -> None:
    explainer = Explainer.open(model)
    vectors, kept = explainer.vectors, [*TOPICS[0], *TOPICS[1], *TOPICS[2], *TOPICS[3], "bank"]
    rows = [vectors.get_index(word) for word in kept]
    part = Explainer(
        WordVectors(np.array(vectors.matrix)[rows], kept, vectors.feature_names), explainer.index
    )
    contexts = part._contexts
    untrained = vectors.feature_index(TOPICS[5][0])
    assert contexts.topic.weights[untrained] == 0
    assert not contexts.topic.rows[untrained].any()
    assert len(part.senses("bank").senses) == 2


def test_a_text_says_what_the_same_document_says(model: Path) -> None:
    explainer = Explainer.open(model)
    index, contexts = explainer.index, explainer._contexts
    assert contexts.place is not None
    own = np.array([index.word_id("bank")])
    documents = index.documents_with(own[0])[:50]
    found = contexts.of_documents(index, documents, "bank", bags_of(index, documents, own))
    for number, row in zip(documents.tolist(), found, strict=True):
        tokens = str(index.document_text(number)).split()
        columns = np.array([index.word_id(token) for token in {*tokens} - {"bank"}])
        assert np.allclose(contexts.of_text(tokens, "bank", columns), row, atol=1e-5)
    n_topics = contexts.topic.rows.shape[1]
    assert not np.allclose(found[:, n_topics:], found[:1, n_topics:])
    nowhere = contexts.of_text(["nothing", "bank", "unheard"], "bank", np.zeros(0, dtype=np.intp))
    assert not nowhere.any()


def test_what_has_no_senses_is_said(model: Path) -> None:
    explainer = Explainer.open(model)
    with pytest.raises(ParameterError, match="'sense' parameter of sense_vector must be an int from 1 to 2"):
        explainer.sense_vector("bank", 3)
    nameless = Explainer(WordVectors(np.ones((2, 3), dtype=np.float32), ["x", "y"], None))
    with pytest.raises(ParameterError, match="What stands out can only be said of integers"):
        nameless.senses("x")


def planted(sizes: tuple[int, ...], in_common: float = 0.0) -> Any:
    """Documents around directions at right angles, but for what all of them have in common."""
    random = np.random.default_rng(0)
    centres = np.eye(20)[: len(sizes)] + in_common * np.eye(20)[19]
    rows = np.repeat(centres, sizes, axis=0)
    return (rows + 0.2 * random.standard_normal(rows.shape)).astype(np.float32)


@pytest.mark.parametrize(
    ("sizes", "in_common", "expected"),
    [
        ((100,), 0.0, 1),
        ((100, 100), 0.0, 2),
        ((100, 100), 1.0, 1),
        ((100, 60, 30), 0.0, 3),
        ((100, 3), 0.0, 1),
        ((4,), 0.0, 1),
    ],
)
def test_documents_are_divided_while_parts_have_nothing_in_common(
    sizes: tuple[int, ...], in_common: float, expected: int
) -> None:
    said = planted(sizes, in_common)
    centres = centres_of(said)
    assert len(centres) == expected
    assert np.allclose(np.linalg.norm(centres, axis=1), 1, atol=1e-5)
    if 1 < expected == len(sizes):
        assigned = assigned_to(said, centres)
        groups = np.split(assigned, np.cumsum(sizes)[:-1])
        assert len({int(np.bincount(group).argmax()) for group in groups}) == expected
        assert assigned_to(np.zeros((1, 20), np.float32), centres).tolist() == [-1]


def test_means_of_few_documents_are_shorter_than_they_seem() -> None:
    """By hand: (0.8, 0.4) has the squared length 0.8; 0.2 / (2 - 1) of it is owed to there being two rows."""
    means = np.array([[0.8, 0.4], [0, 1]])
    assert _squares(means, np.array([2, 2])).tolist() == pytest.approx([0.6, 1])
    assert _squares(means, np.array([3, 3])).tolist() == pytest.approx([0.7, 1])
    cosines = _cosines(means, np.array([2, 2]))
    assert cosines[0, 1] == cosines[1, 0] == pytest.approx(0.4 / np.sqrt(0.6))
    assert cosines[0, 0] == -np.inf  # a group is not compared with itself


def test_groups_are_numbered_anew_when_two_are_joined() -> None:
    groups = np.array([0, 1, 2, 3, 1])
    assert _joined(groups, 1, 3).tolist() == [0, 2, 1, 2, 2]
    assert _joined(groups, 3, 0).tolist() == [0, 1, 2, 0, 1]


def test_small_groups_are_joined_first_then_like_ones_then_vague_ones() -> None:
    means = np.array([[1, 0, 0], [0, 1, 0.1], [0, 0.1, 1]])
    coherent, sizes = np.array([1.0, 1, 1]), np.array([100.0, 50, 10])
    assert _to_join(means, coherent, sizes, 5, None) is None
    assert _to_join(means, coherent, sizes, 20, None) == (2, 1)  # ten are too few
    like = np.array([[1, 0.3, 0], [0, 1, 0], [0, 0, 1]])
    assert _to_join(like, coherent, sizes, 5, None) == (0, 1)  # 0.3 / sqrt(1.09) is more than 0.25
    assert _to_join(means, np.array([1, 1, 0.04]), sizes, 5, None) == (2, 1)
    assert _to_join(means, np.array([0.04, 0.04, 1]), sizes, 5, None) is None  # large ones may be vague


def test_groups_with_the_same_substitutes_are_one_sense() -> None:
    """Both are used between the first two words, of which the mean is taken."""
    words = Substitutes(("one", "two", "other"), np.array([[1, 0], [0.6, 0.8], [0, -1]], np.float32))
    means = np.array([[1, 0, 0.1, 0], [0, 1, 0.08, 0.06]], np.float32)
    coherent, sizes = np.array([1.0, 1]), np.array([100.0, 100])
    assert _to_join(means, coherent, sizes, 5, None) is None
    assert _to_join(means, coherent, sizes, 5, words.kinds(means[:, 2:])) == (0, 1)


def test_substitutes_are_the_nearest_words_without_the_word_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    words = Substitutes(("one", "two", "other"), np.array([[1, 0], [0, 1], [0, -1]], np.float32))
    monkeypatch.setattr("omnitm.explain.contexts._SUBSTITUTES", 1)
    use = np.array([[5, 4]], np.float32)
    assert words.kinds(use).tolist() == [[1, 0]]
    left = words.without({"one", "unknown"})
    assert left.words == ("two", "other")
    assert left.kinds(use).tolist() == [[0, 1]]
    monkeypatch.setattr("omnitm.explain.contexts._SUBSTITUTES", 9)  # more than there are
    assert np.allclose(words.kinds(use), [[1, 0]])


def test_the_best_known_words_of_a_model_are_substitutes(model: Path) -> None:
    vectors = WordVectors.load(model)
    found = Substitutes.of_model(vectors)
    assert found is not None
    assert set(found.words) <= set(vectors.index_to_key)
    assert np.allclose(np.linalg.norm(found.rows, axis=1), 1, atol=1e-5)
    topics_alone = WordVectors(np.array(vectors.matrix), vectors.index_to_key, vectors.feature_names)
    assert Substitutes.of_model(topics_alone) is None


def test_a_sense_is_found_again_in_half_of_the_documents() -> None:
    rows = planted((100, 60))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    groups = np.repeat([0, 1], [100, 60])
    assert _found_again(rows, groups, 15, None).tolist() == groups.tolist()
    three = np.where(np.arange(160) % 10 == 0, 2, groups)  # every tenth document: nothing of its own
    assert set(_found_again(rows, three, 15, None).tolist()) == {0, 1}
    assert not _found_again(rows[:100], three[:100] // 2, 15, None).any()


def test_documents_at_the_very_mean_do_not_hide_the_direction_in_which_others_differ() -> None:
    rows = np.array([[1, 0]] * 3 + [[0.5, 0.5]] + [[0, 1]] * 3, dtype=np.float32)
    groups = two_groups(rows)
    assert len(set(groups[:3])) == len(set(groups[4:])) == 1
    assert groups[0] != groups[-1]


def test_thirty_documents_are_enough_for_two_senses() -> None:
    """Fifteen of each: fewer are no sense."""
    rows = np.repeat(np.eye(4, dtype=np.float32)[:2], 16, axis=0)
    assert sorted(centres_of(rows).tolist()) == [[0, 1, 0, 0], [1, 0, 0, 0]]
    assert len(centres_of(rows[2:])) == 1
    many = np.repeat(np.eye(4, dtype=np.float32)[:2], [980, 18], axis=0)
    assert len(centres_of(many)) == 1  # 18 of 998 are less than a fiftieth


def test_the_caption_counts_documents_if_there_are_any(model: Path) -> None:
    explainer = Explainer.open(model)
    counted = explainer.senses("bank")
    assert counted.caption() == f"bank: 2 senses, in {counted.n_assigned:,} documents"
    assert Explainer(explainer.vectors).senses("bank").caption() == "bank: 2 senses"
    assert explainer.senses("loan").caption().startswith("loan: 1 sense, in ")


def test_features_belong_to_the_sense_whose_documents_have_them_most_often() -> None:
    bags = csr_matrix(np.array([[1, 0, 0, 1, 0], [0, 1, 0, 1, 0], [0, 1, 0, 0, 0], [1, 1, 0, 1, 1]]))
    scores = np.array([[0, 9], [9, 0], [1, 2], [0, 9], [2, 1]], dtype=np.float32)
    assert _most_often(bags, np.array([0, 1, 1, -1]), scores).tolist() == [0, 1, 1, 0, 0]


def test_features_that_documents_bear_out_come_first() -> None:
    # Documents x features: the first is in every document of sense 0, the second in one of sense 0 and in all
    # of sense 1, the third in one of sense 1; the last document has no sense and does not count.
    bags = csr_matrix(
        np.array([[1, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1], [1, 1, 1]], np.float32)
    )
    assigned = np.array([0, 0, 0, 1, 1, -1])
    found = _evidence(bags, assigned, np.array([0, 1, 1]), np.array([0.1, 0.5, 0.0]))
    assert found.tolist() == pytest.approx([np.log2(4 / 1.3), np.log2(3 / 2), 1.0])


def test_documents_that_clearly_belong_to_a_sense_are_shown() -> None:
    scores = np.array([[0.9, 0.1], [0.5, 0.4], [0.2, 0.3], [0.8, 0.1], [0.6, 0.0], [0.7, 0.2]], np.float32)
    assert _clearness(scores).tolist() == pytest.approx([0.8, 0.1, 0.1, 0.7, 0.6, 0.5])
    assert _clearness(scores[:, :1]).tolist() == scores[:, 0].tolist()
    assert _clearness(np.array([[0.1, 0.4, 0.9]], np.float32)).tolist() == pytest.approx([0.5])
    numbers = np.arange(10, 16, dtype=np.uint32)
    nothing = np.zeros(0, dtype=np.intp)
    found = WordSenses(
        np.eye(2, dtype=np.float32), nothing, nothing.astype(float), nothing,
        numbers, scores.argmax(axis=1), _clearness(scores),
    )  # fmt: skip
    assert found.clear_documents(0).tolist() == [10, 13]  # a quarter of five, rounded up, in their order
    assert found.clear_documents(1).tolist() == [12]


def test_a_larger_sense_does_not_win_by_its_size() -> None:
    """The feature is in two of six documents of the first sense and in both of the second."""
    bags = csr_matrix(np.array([[1], [1], [0], [0], [0], [0], [1], [1]]))
    scores = np.zeros((1, 3), dtype=np.float32)
    assert _most_often(bags, np.array([0] * 6 + [1] * 2), scores).tolist() == [1]
    assert _most_often(bags, np.array([2] * 6 + [1] * 2), scores).tolist() == [1]  # the first has no document


def test_a_fitted_model_tells_senses_and_rules_of_documents() -> None:
    documents = ["road car wheel", "sea ship", "car wheel driver", "ship wind"] * 40
    fitted = OmniTMAE(n_examples=100, accumulation=2, n_jobs=1).fit(documents)
    assert fitted.document_rules("car")[0].present[0] in {"wheel", "road", "driver"}
    assert len(fitted.senses("car").senses) == 1  # of few words there are no smoothed profiles


def test_there_are_at_most_so_many_senses(monkeypatch: pytest.MonkeyPatch) -> None:
    said = planted((100, 60, 40))
    assert len(centres_of(said)) == 3
    monkeypatch.setattr("omnitm.explain.senses._MOST_SENSES", 2)
    assert len(centres_of(said)) == 2


def test_the_commands(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["senses", str(model), "bank"]) == 0
    assert "bank: 2 senses" in capsys.readouterr().out
    assert main(["senses", str(model), "bank", "--json"]) == 0
    senses = json.loads(capsys.readouterr().out)["senses"]
    word = senses[1]["features"][0][0]
    assert main(["senses", str(model), "bank", "--text", f"{word} and the bank"]) == 0
    assert capsys.readouterr().out.startswith("sense 2 of bank")
    assert main(["senses", str(model), "bank", "--text", word, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sense"] == 2
    assert main(["similar", str(model), "bank", "--sense", "2", "--json"]) == 0
    nearest = [pair["word"] for pair in json.loads(capsys.readouterr().out)["bank"]]
    assert nearest[0][0] == word[0]
    # The word and its forms are near to each of its senses, and are not listed.
    model_words = len(WordVectors.load(model))
    assert main(["similar", str(model), "bank", "--sense", "2", "--json", "-n", str(model_words)]) == 0
    assert "bank" not in [pair["word"] for pair in json.loads(capsys.readouterr().out)["bank"]]
    assert main(["similar", str(model), "bank", "--sense", "2", "--json", "-n", "3"]) == 0
    assert len(json.loads(capsys.readouterr().out)["bank"]) == 3
    assert main(["similar", str(model), "bank", "loan", "--sense", "2"]) == 2
    assert "--sense needs one word" in capsys.readouterr().err


def test_a_vector_is_looked_up_among_the_likely_words_of_many(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    explainer = Explainer.open(model)
    vector = explainer.sense_vector("bank", 1)
    expected = explainer.vectors.most_similar([vector], topn=3, metric="related")
    monkeypatch.setattr("omnitm.similarity.nearest._SCORED_IN_FULL", 0)
    monkeypatch.setattr("omnitm.similarity.nearest._CANDIDATES_OF_FEW", 100)
    assert explainer.vectors.most_similar([vector], topn=3, metric="related") == expected
