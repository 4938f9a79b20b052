"""Words that were not trained: trained on the spot, or composed from their forms."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm.cli import main
from omnitm.corpus import DocumentIndex, VocabularyRules, build_index
from omnitm.errors import ParameterError, UnknownWordError
from omnitm.explain import Explainer
from omnitm.explain.infer import (
    InferredWord,
    _composed,
    _forms_of,
    _Lent,
    _of_compound,
    _of_letters,
    _text_of,
    _trained,
    _trained_row,
    infer_word,
)
from omnitm.explain.pairs import is_place
from omnitm.machine import AutoencoderSettings
from omnitm.similarity.combined import Combined
from omnitm.similarity.row_profile import baseline_of
from omnitm.similarity.scorers import Metric
from omnitm.store import index_fingerprint
from omnitm.store.model_notes import SEAL_NOTE, index_of_model
from omnitm.training.vocabulary import train_model, train_vectors
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from pathlib import Path

STEMS = [f"{a}{b}lam" for a in "bdgkmnprst" for b in "aeiou"]
SETTINGS = AutoencoderSettings(n_examples=40, contexts="both")


def sentences() -> list[str]:
    """Stem k and its plural stand between the words of topic k % 5."""
    random = np.random.default_rng(0)
    lines = []
    for _ in range(12):
        for k, stem in enumerate(STEMS):
            form = stem + "s" * int(random.integers(2))
            lines.append(f"before{k % 5} {form} after{k % 5} topic{'abcde'[k % 5]} thing{'abcde'[k % 5]}")
    return [*lines, "before0 rareword after0 topica thinga", "before0 rareword after0"]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> DocumentIndex:
    folder = tmp_path_factory.mktemp("infer")
    text = folder / "text.txt"
    text.write_text("\n".join(sentences()) + "\n", encoding="utf-8")
    rules = VocabularyRules(min_count=3)
    return DocumentIndex.open(build_index(text, folder / "text.index", vocabulary=rules))


@pytest.fixture(scope="module")
def model(index: DocumentIndex, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All words but one are trained."""
    path = tmp_path_factory.mktemp("infer") / "model"
    words = [word for word in index.vocabulary if word != STEMS[0]]
    train_model(index, path, words, settings=SETTINGS)
    return path


def test_a_word_of_the_vocabulary_is_trained_as_ever(index: DocumentIndex, model: Path) -> None:
    found = infer_word(WordVectors.load(model), STEMS[0].upper())
    count = index.running.counts[index.word_id(STEMS[0])] if index.running else 0
    assert (found.word, found.how) == (STEMS[0], f"trained on the spot from {count} occurrences")
    trained = train_vectors(index, [STEMS[0]], settings=SETTINGS)
    n_topics = trained.vector_size
    assert found.vector[:n_topics].tolist() == trained.get_vector(STEMS[0]).tolist()
    assert trained.place is not None
    assert found.vector[n_topics:].tolist() == trained.place.matrix[0].tolist()


def test_a_word_outside_the_vocabulary_is_trained_on_documents_and_places(
    index: DocumentIndex, model: Path
) -> None:
    vectors = WordVectors.load(model)
    assert "rareword" not in index.vocabulary
    found = infer_word(vectors, "rareword", index)
    assert found.how == "trained on the spot from 2 occurrences"
    topics = dict(zip(vectors.feature_names, found.vector[: vectors.vector_size].tolist(), strict=True))
    assert min(topics["topica"], topics["thinga"]) > max(topics["topicb"], topics["thingb"])
    assert topics[index.vocabulary[-1]] == baseline_of(found.vector[: vectors.vector_size - 1])
    assert len(set(found.vector[vectors.vector_size :].tolist())) > 1
    neighbours = [word for word, _ in vectors.most_similar([found.vector], topn=5)]
    assert len(neighbours) == 5
    with pytest.raises(ParameterError, match="one per feature"):
        vectors.most_similar([found.vector], metric="cosine")


def test_documents_of_the_running_text_are_those_of_the_index(index: DocumentIndex) -> None:
    for number in (0, 7, len(index.vocabulary) - 1):
        lent = _Lent.to(index, number)
        start, end = index.word_offsets[number : number + 2].astype(int)
        assert lent.word_documents.tolist() == index.word_documents[start:end].tolist()
        assert lent.word_offsets.tolist() == [0] * len(index.vocabulary) + [end - start]


def test_the_first_word_outside_the_vocabulary_is_outside(index: DocumentIndex, model: Path) -> None:
    assert index.running is not None
    word = index.running.names[len(index.vocabulary)]  # "after", which people cannot ask for
    vectors = WordVectors.load(model)
    found = _trained(vectors, word, _text_of(vectors, index))
    assert found is not None
    n_topics = vectors.vector_size
    assert found.vector[n_topics - 1] == baseline_of(found.vector[: n_topics - 1])
    assert found.vector[vectors.vector_size :].any()


def test_composed_words_have_topics_and_places(model: Path) -> None:
    vectors = WordVectors.load(model)
    vectors._folder = None
    assert vectors.place is not None
    found = infer_word(vectors, STEMS[0])
    row = vectors.get_index(STEMS[0] + "s")
    assert found.vector.tolist() == [*vectors.matrix[row].tolist(), *vectors.place.matrix[row].tolist()]
    topics = WordVectors(vectors.matrix, vectors.index_to_key, vectors.feature_names)
    assert infer_word(topics, STEMS[0]).vector.tolist() == vectors.matrix[row].tolist()


def test_a_word_that_is_not_in_the_text_is_composed_from_its_forms(model: Path) -> None:
    vectors = WordVectors.load(model)
    # a plural of the text whose singular was not trained has no other form than itself
    assert infer_word(vectors, STEMS[0], None).how.startswith("trained")
    vectors._folder = None  # so that there is no index
    found = infer_word(vectors, STEMS[0])
    assert found.how == f"composed from its forms: {STEMS[0]}s"
    assert found.vector[: vectors.vector_size].tolist() == vectors.get_vector(STEMS[0] + "s").tolist()
    with pytest.raises(UnknownWordError, match="zzzz"):
        infer_word(vectors, "zzzz")


def test_four_letters_in_common_are_enough() -> None:
    stems = [f"{letter}abe" for letter in "bcdfghjklmn"]
    words = [*stems, *(stem + "s" for stem in stems[1:]), *(stem + "ville" for stem in stems[1:]), "pab"]
    rows = np.arange(2 * len(words)).reshape(-1, 2)
    vectors: Any = SimpleNamespace(
        index_to_key=words,
        get_index=words.index,
        profiles=SimpleNamespace(
            topic=SimpleNamespace(smooth=np.ones((len(words), 1), np.float32)),
            forms=SimpleNamespace(same_thing=[0.3]),
        ),
        matrix=rows,
        place=None,
    )
    found = _composed(vectors, "babes")
    assert found is not None
    assert (found.how, found.vector.tolist()) == ("composed from its forms: babe", [0, 1])
    hyphened = _composed(vectors, "ba-be")
    assert hyphened is not None
    assert hyphened.how == found.how  # not from babes and the like: it is the same word
    assert _composed(vectors, "pabs") is None  # three letters are not
    assert _composed(vectors, "babeville") is None  # and five are no ending


def test_the_five_forms_of_the_best_rules_are_averaged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of equal ones those that come first in the model."""
    shares = {"s": 0.5, "ed": 0.9, "er": 0.5, "ing": 0.7, "ers": 0.6, "": 0.4, "est": 0.8}
    words = ["walks", "walked", "walker", "walking", "walkers", "walk", "walkest"]
    monkeypatch.setattr("omnitm.explain.infer.share_of_rule", lambda *given: shares[given[2][1]])
    vectors: Any = SimpleNamespace(
        index_to_key=words,
        get_index=words.index,
        profiles=SimpleNamespace(
            topic=SimpleNamespace(smooth=np.ones((7, 1), np.float32)), forms=SimpleNamespace(same_thing=[0.3])
        ),
        matrix=np.arange(7)[:, None],
        place=None,
    )
    found = _composed(vectors, "walkful")
    assert found is not None
    assert found.how == "composed from its forms: walked, walkest, walking, walkers, walks"
    assert found.vector.tolist() == [(1 + 6 + 3 + 4 + 0) / 5]


def test_lists_fold_what_the_word_is(model: Path) -> None:
    """Its forms, and what it was composed from, are the word itself; `forms` lists them all the same."""
    vectors = WordVectors.load(model)
    word = next(stem for stem in STEMS if stem in vectors and vectors.forms(stem) == [stem + "s"])
    form, row = word + "s", _trained_row(vectors, word)
    assert _forms_of(vectors, word, row) == (form,)
    other = next(stem for stem in STEMS[::-1] if stem in vectors and stem[0] != word[0])
    topics = vectors.profiles.topic.smooth
    assert topics[vectors.get_index(other)] @ topics[vectors.get_index(form)] < 0.3
    assert _forms_of(vectors, word, _trained_row(vectors, other)) == ()  # about another thing
    inferred = InferredWord("new", "", row, (form,))
    assert form in [name for name, _ in inferred.most_similar(vectors, topn=100, forms=True)]
    shown = [name for name, _ in inferred.most_similar(vectors, topn=5)]
    assert len(shown) == 5
    assert not {word, form}.intersection(shown)
    composed = infer_word(vectors, f"{STEMS[1]} {STEMS[7]}")
    assert composed.folded == (STEMS[1], STEMS[7])
    parts = {form for name in composed.folded for form in (name, *vectors.forms(name))}
    shown = [word for word, _ in composed.most_similar(vectors, topn=5, metric="related")]
    assert len(shown) == 5
    assert not parts.intersection(shown)
    assert infer_word(vectors, "rareword").folded == ()


def test_another_index_trains_nothing(model: Path) -> None:
    other = DocumentIndex.from_documents(["rareword is here", "rareword"])
    with pytest.raises(UnknownWordError, match="rareword"):
        infer_word(WordVectors.load(model), "rareword", other)


def test_similar_says_how_the_word_was_found(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["similar", str(model), "rareword", "-n", "2"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "rareword: not in the model; trained on the spot from 2 occurrences" in shown
    assert main(["similar", str(model), "rareword", "-n", "2", "--json"]) == 0
    assert '"rareword": "trained on the spot from 2 occurrences"' in capsys.readouterr().out


def test_similar_shows_forms_and_small_scores(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vectors = WordVectors.load(model)
    word = next(stem for stem in STEMS if stem in vectors and len(vectors.forms(stem)) == 1)
    assert main(["similar", str(model), word, "-n", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == f"{word}, 1 form: {vectors.forms(word)[0]}"
    asked = ["similar", str(model), STEMS[1], STEMS[7], "--together", "-n", "1"]
    assert main([*asked, "--minus", STEMS[3]]) == 0
    assert re.search(r"\d\.\d{3}$", capsys.readouterr().out.strip())  # a product of shares
    assert main(asked) == 0
    assert re.search(r" \d+\.\d +\d+\.\d\d %$", capsys.readouterr().out.strip())


def test_a_word_that_the_text_does_not_have_is_trained_on_sentences(
    index: DocumentIndex, model: Path
) -> None:
    vectors = WordVectors.load(model)
    sentences = ["The newword stands by topica and thinga.", "topica newword", "unknown here"]
    found = infer_word(vectors, "newword", index, sentences=sentences)
    assert (found.word, found.how) == ("newword", "trained on the spot from 2 sentences")
    topics = dict(zip(vectors.feature_names, found.vector[: vectors.vector_size].tolist(), strict=True))
    others = [value for name, value in topics.items() if name not in {"topica", "thinga"}]
    assert topics["topica"] >= topics["thinga"] > max(others)
    assert not found.vector[vectors.vector_size :].any()
    lent = _Lent.to_documents(index, [[1, 3], [2]])
    n_documents = len(index.document_offsets) - 1
    assert lent.document_words[-3:].tolist() == [1, 3, 2]
    assert np.diff(lent.document_offsets[-3:].astype(int)).tolist() == [2, 1]
    assert lent.word_documents.tolist() == [n_documents, n_documents + 1]


def test_sentences_that_say_nothing(index: DocumentIndex, model: Path, tmp_path: Path) -> None:
    vectors = WordVectors.load(model)
    with pytest.raises(ParameterError, match="No word of the sentences is in the vocabulary"):
        infer_word(vectors, "newword", index, sentences=["qqq"])
    other = tmp_path / "other.txt"
    other.write_text("topica thinga\n" * 9, encoding="utf-8")
    wrong = build_index(other, tmp_path / "other.index", vocabulary=VocabularyRules(min_count=1))
    with pytest.raises(ParameterError, match="its index is not there; name it"):
        infer_word(vectors, "newword", wrong, sentences=["topica"])


def test_sentences_on_the_command_line(
    index: DocumentIndex, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [
        "similar",
        str(model),
        "newword",
        "--index",
        str(index.path),
        "--sentence",
        "topica thinga",
        "topica",
    ]
    assert main([*asked, "--metric", "similarity"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "newword: not in the model; trained on the spot from 2 sentences" in printed
    for metric in ("cosine", "alike"):
        assert main([*asked, "--metric", metric]) == 2
        assert f"--sentence needs --metric similarity or related, not {metric}" in capsys.readouterr().err
    known = index.vocabulary[0]
    assert main(["similar", str(model), known, "--sentence", "topica"]) == 2
    assert f"The model has '{known}'; --sentence is for words" in capsys.readouterr().err
    assert main(["similar", str(model), "one", "two", "--sentence", "topica"]) == 2
    assert "--sentence needs one word" in capsys.readouterr().err


def test_an_expression_is_the_mean_of_its_parts(model: Path) -> None:
    vectors = WordVectors.load(model)
    assert vectors.place is not None
    names = STEMS[1], STEMS[7]
    found = infer_word(vectors, f"{STEMS[1].upper()}-{STEMS[7]}")
    assert found.how == f"composed from its parts: {names[0]}, {names[1]}"
    for part, matrix in zip(
        np.split(found.vector, [vectors.vector_size]), (vectors.matrix, vectors.place.matrix), strict=True
    ):
        rows = [matrix[vectors.get_index(name)].astype(float) for name in names]
        # From the baseline, in units of it; 100 units, since the baseline of the mean is 0.
        units = [(row - baseline_of(row)) / (abs(baseline_of(row)) or 100) for row in rows]
        np.testing.assert_allclose(part, 100 * np.mean(units, axis=0), rtol=1e-4, atol=1e-4)
    assert baseline_of(found.vector) == 0
    # A part that is not trained is trained; one that nothing is known about is left out.
    assert infer_word(vectors, f"{STEMS[0]} {STEMS[1]}").how.endswith(f": {STEMS[0]}, {STEMS[1]}")
    assert infer_word(vectors, f"{STEMS[1]}_zzzz").how.endswith(f": {STEMS[1]}")
    with pytest.raises(UnknownWordError, match="zzzz_yyyy"):
        infer_word(vectors, "zzzz_yyyy")


def test_words_that_share_a_part_are_compared_by_the_others(model: Path) -> None:
    vectors = WordVectors.load(model)
    a, b, c = STEMS[1], STEMS[7], STEMS[12]
    first, second, trained = (infer_word(vectors, asked) for asked in (f"{a}_{b}", f"{a}_{c}", STEMS[0]))
    known = {pair: vectors.similarity(*pair) for pair in ((a, c), (a, b), (b, c))}
    expected = (known[a, c] + known[a, b] + known[b, c]) / 3  # not that of a with itself
    assert first.similarity(vectors, second) == pytest.approx(expected, rel=1e-4)
    assert first.similarity(vectors, c) == pytest.approx((known[a, c] + known[b, c]) / 2, rel=1e-4)
    assert first.similarity(vectors, a) == pytest.approx(known[a, b], rel=1e-4)
    # Words that were trained are compared whole; the same word is nearest.
    between = Combined("related").between(vectors, trained.vector, a)
    assert trained.similarity(vectors, a, metric="related") == pytest.approx(between)
    assert trained.similarity(vectors, trained) == vectors.similarity(a, a)
    with pytest.raises(ParameterError, match="'cosine' does not compare words that were not trained"):
        first.similarity(vectors, a, metric="cosine")


def test_letters_count_by_how_many_are_shared(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("omnitm.explain.infer._ALIKE_BY_LETTERS", 0.01)
    vectors = WordVectors.load(model)
    vectors._folder = None
    found = infer_word(vectors, "xtopica", from_letters=True)
    assert {source.word for source in found.sources} == set(found.folded)
    assert len({source.weight for source in found.sources}) > 1
    word = STEMS[5]
    weights = [source.weight for source in found.sources]
    mean = np.average([vectors.similarity(source.word, word) for source in found.sources], weights=weights)
    assert found.similarity(vectors, word) == pytest.approx(mean, rel=1e-4)


def test_a_compound_is_the_mean_of_two_words(model: Path) -> None:
    vectors = WordVectors.load(model)
    found = infer_word(vectors, "topicathingb")
    assert found.how == "composed from its parts: topica, thingb"
    assert found.vector.tolist() == infer_word(vectors, "topica_thingb").vector.tolist()
    assert infer_word(vectors, "undertopica").how == "composed from its parts: topica"  # under: a stop word
    for asked in ("qqqqtopica", "topicaunder", "xxtopica"):
        with pytest.raises(UnknownWordError, match=asked):
            infer_word(vectors, asked)


def test_of_several_splits_the_most_frequent_words_count() -> None:
    words = ["lead", "crew", "screw", "leads"]

    class Known(SimpleNamespace):
        def __contains__(self, word: str) -> bool:
            return word in words

    vectors: Any = Known(
        index_to_key=words,
        get_index=words.index,
        matrix=np.eye(4, dtype=np.int16),
        place=None,
        vector_size=4,
        preparation=SimpleNamespace(is_stop_word=lambda _: False),
    )
    found = _of_compound(vectors, "leadscrew")
    assert found is not None
    assert found.folded == ("lead", "screw")  # leads, crew: the one is rarer
    assert _of_compound(vectors, "leadsled") is None


def test_a_word_may_be_guessed_from_its_letters(model: Path) -> None:
    vectors = WordVectors.load(model)
    vectors._folder = None
    asked = "xxtopica"
    with pytest.raises(UnknownWordError, match=asked):
        infer_word(vectors, asked)
    found = infer_word(vectors, asked, from_letters=True)
    assert found.how == "composed from words that are spelled alike: topica"
    assert vectors.most_similar([found.vector], topn=1)[0][0] in found.how
    assert found.folded == ("topica",)
    with pytest.raises(UnknownWordError, match="zzzz"):
        infer_word(vectors, "zzzz", from_letters=True)


def test_rare_letters_say_more() -> None:
    words = ["stations", "rations", "quixotic", "nations", "cations", "motions"]
    vectors: Any = SimpleNamespace(
        index_to_key=words,
        get_index=words.index,
        matrix=np.eye(6, dtype=np.int16),
        place=None,
        vector_size=6,
        __contains__=words.__contains__,
    )
    vectors = type("Known", (SimpleNamespace,), {"__contains__": lambda _, word: word in words})(
        **vars(vectors)
    )
    found = _of_letters(vectors, "quixotions")
    assert found is not None
    assert found.how.startswith("composed from words that are spelled alike: quixotic")


def test_the_text_is_opened_and_hashed_once(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[object] = []
    opened: list[object] = []

    def fingerprint(index: DocumentIndex, **given: Any) -> str:
        hashed.append(index)
        return index_fingerprint(index, **given)

    def index_of(*given: Any) -> DocumentIndex | None:
        opened.append(given)
        return index_of_model(*given)

    monkeypatch.setattr("omnitm.explain.infer.index_fingerprint", fingerprint)
    monkeypatch.setattr("omnitm.explain.infer.index_of_model", index_of)
    (model / SEAL_NOTE).unlink(missing_ok=True)
    vectors = WordVectors.load(model)
    first = infer_word(vectors, "rareword")
    assert infer_word(vectors, "rareword").vector.tolist() == first.vector.tolist()
    assert (len(hashed), len(opened)) == (1, 1)
    # What was found to be the right index is noted, so another process need not hash it.
    infer_word(WordVectors.load(model), "rareword")
    assert (len(hashed), len(opened)) == (1, 2)
    # A note about another index counts for nothing.
    (model / SEAL_NOTE).write_text("other other\n")
    infer_word(WordVectors.load(model), "rareword")
    assert (len(hashed), len(opened)) == (2, 3)


def test_documents_of_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("omnitm.corpus.running._TOKENS_AT_ONCE", 3)
    index = DocumentIndex.from_documents(["a cat sat", "", "the cat", "dog and cat and a dog"])
    running = index.running
    assert running is not None
    places = np.array([p for p, token in enumerate(running.tokens.tolist()) if token != 2**32 - 1], np.uint32)
    expected = [running.document_of(int(place)) for place in places]
    assert running.documents_of(places).tolist() == expected
    assert running.documents_of(places[:0]).tolist() == []


def test_similar_guesses_from_letters_if_asked(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["similar", str(model), "xxtopica", "-n", "2"]) == 2
    shown = capsys.readouterr().err
    assert "'xxtopica' is not in the trained words" in shown
    assert "--sentence TEXT learns it" in shown
    assert "--letters guesses it" in shown
    # What cannot be inferred by this metric, or can be no word, gets no such advice.
    for asked in (["xxtopica", "--metric", "cosine"], ["the"]):
        assert main(["similar", str(model), *asked]) == 2
        assert "--letters" not in capsys.readouterr().err
    assert main(["similar", str(model), "xxtopica", "-n", "2", "--letters", "--json"]) == 0
    assert '"xxtopica": "composed from words that are spelled alike: topica' in capsys.readouterr().out


@pytest.fixture(scope="module")
def places(index: DocumentIndex, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that learned places alone; all words but one are trained."""
    path = tmp_path_factory.mktemp("infer") / "places"
    words = [word for word in index.vocabulary if word != STEMS[0]]
    train_model(index, path, words, settings=AutoencoderSettings(n_examples=40, contexts="place"))
    return path


def test_places_alone_tell_what_is_alike(places: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, both = WordVectors.load(places), WordVectors.load(model)
    assert (vectors.default_metric, both.default_metric) == ("alike", "similarity")
    assert vectors.place is not None
    assert both.place is not None
    np.testing.assert_array_equal(vectors.place.matrix[:], both.place.matrix[:])
    assert vectors.feature_names == vectors.place.feature_names
    word = STEMS[7]
    scores: Any = vectors.most_similar(word, topn=None)
    assert vectors.similarity(word, word) == max(scores) > 0
    assert 99 < vectors.similarity(word, word, scale="percentile") <= 100
    others = [name for name, _ in vectors.most_similar(word, topn=5)]
    assert {STEMS.index(name.removesuffix("s")) % 5 for name in others} == {7 % 5}
    monkeypatch.setattr("omnitm.similarity.nearest._SCORED_IN_FULL", 10)  # so that likely words are sought
    assert [name for name, _ in vectors.most_similar(word, topn=5)] == others
    pairs = [(word, STEMS[k]) for k in (2, 3, 12)]
    singly = [float(scores[vectors.get_index(other)]) for _, other in pairs]
    np.testing.assert_allclose(vectors.similarities(pairs), singly, rtol=1e-4)
    assert vectors.forms(word) == []
    metrics: tuple[Metric, ...] = ("similarity", "related")
    for metric in metrics:
        with pytest.raises(ParameterError, match="trained on place only; use metric='alike'"):
            vectors.similarity(word, STEMS[2], metric=metric)


def test_why_of_places_alone(places: Path, index: DocumentIndex) -> None:
    found = Explainer(WordVectors.load(places), index).why(STEMS[7], STEMS[2], n=50)
    assert found.metric == "alike"
    assert found.total_for + found.total_against == pytest.approx(found.score)
    assert found.sentence.startswith("both stand two places before topicc")
    assert all(is_place(part.feature) for part in found.contributions_for)
    assert found.contributions_for[0].with_first is not None
    assert found.contributions_for[0].with_first.count > 0


def test_words_that_places_alone_did_not_train(places: Path, index: DocumentIndex) -> None:
    vectors = WordVectors.load(places)
    assert vectors.place is not None
    found = infer_word(vectors, STEMS[0], index)
    trained = train_vectors(index, [STEMS[0]], settings=AutoencoderSettings(n_examples=40, contexts="place"))
    assert found.vector.tolist() == trained.matrix[0].tolist()
    others = [name for name, _ in found.most_similar(vectors, topn=5)]
    assert {STEMS.index(name.removesuffix("s")) % 5 for name in others} == {0}
    expression = infer_word(vectors, f"{STEMS[1]} {STEMS[6]}")
    assert expression.vector.shape == (len(vectors.place.feature_names),)
    with pytest.raises(ParameterError, match="trained on place only"):
        infer_word(vectors, "newword", index, sentences=["topica newword"])
