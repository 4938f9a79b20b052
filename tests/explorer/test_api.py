"""What the page may ask, and what it is told when that cannot be answered."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from omnitm.errors import ParameterError
from omnitm.explain import Explainer
from omnitm.explain.infer import infer_word
from omnitm.explorer import create_app
from omnitm.explorer.answers import Answers, ThemeWork
from omnitm.vectors import WordVectors


def get(client: TestClient, path: str, **parameters: Any) -> Any:
    answer = client.get(f"/api/{path}", params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


def post(client: TestClient, path: str, **content: Any) -> Any:
    answer = client.post(f"/api/{path}", json=content)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_model_is_described(client: TestClient, explainer: Explainer) -> None:
    model = get(client, "model")
    assert (model["n_words"], model["n_features"]) == (23, 24)
    assert model["has_index"] is True
    assert (model["n_documents"], model["unit"]) == (240, "documents")
    assert set(model["examples"]) <= set(explainer.vectors.index_to_key)
    assert {"association", "cosine"} <= set(model["metrics"])
    assert model["compare_by"] in model["comparable"]


def test_completion_prefers_trained_words_and_falls_back_to_spelling(client: TestClient) -> None:
    assert {row["word"] for row in get(client, "complete", q="CA")["words"]} == {"car", "captain"}
    assert get(client, "complete", q="deck")["words"] == [{"word": "deck", "trained": False}]
    near = get(client, "complete", q="vehcle")
    assert near["is_near"] is True
    assert near["words"][0]["word"] == "vehicle"
    assert get(client, "complete", q="")["words"]


def test_completion_calls_a_stop_word_one(client: TestClient) -> None:
    assert get(client, "complete", q="The")["is_stop_word"] is True
    assert get(client, "complete", q="car")["is_stop_word"] is False
    assert get(client, "complete", q="")["is_stop_word"] is False


@pytest.mark.parametrize("metric", ["association", "association-symmetric", "cosine"])
def test_neighbours_are_those_of_the_vectors(client: TestClient, explainer: Explainer, metric: Any) -> None:
    found = get(client, "neighbours", word="car", metric=metric, k=5)["neighbours"]
    expected = explainer.vectors.similar_by_word("car", topn=5, metric=metric)
    assert [(row["word"], row["score"]) for row in found] == expected
    assert all(row["trained"] == (row["word"] != "deck") for row in found)


def test_a_word_that_was_not_trained_is_trained_when_asked_for(
    client: TestClient, explainer: Explainer
) -> None:
    found = get(client, "inferred", word="Deck", metric="similarity", k=3)
    expected = infer_word(explainer.vectors, "deck", explainer.index)
    assert found["how"] == expected.how
    assert found["how"].startswith("trained on the spot from ")
    near = expected.most_similar(explainer.vectors, 3, metric="similarity")
    assert [(row["word"], row["score"]) for row in found["neighbours"]] == near
    assert all(0 <= row["percentile"] <= 100 for row in found["neighbours"])
    for asked in ({"word": "vehcle", "metric": "similarity"}, {"word": "deck", "metric": "cosine"}):
        refused = client.get("/api/inferred", params=asked)
        assert (refused.status_code, refused.json()["word"]) == (404, asked["word"])


def test_the_row_is_the_vector(client: TestClient, explainer: Explainer) -> None:
    row = get(client, "row", word="car", k=24)
    vector = explainer.vectors.get_vector("car")
    shown = {part["word"]: part["value"] for part in [*row["positive"], *row["negative"]]}
    names = explainer.vectors.feature_names
    assert shown == {name: int(value) for name, value in zip(names, vector, strict=True) if value}
    assert row["n_positive"] + row["n_negative"] + row["n_zero"] == 24
    assert [part["value"] for part in row["positive"]] == sorted(
        (v for v in shown.values() if v > 0), reverse=True
    )
    assert row["n_documents"] == len(explainer.index.documents_with(explainer.index.word_id("car")))


def test_standing_out(client: TestClient, explainer: Explainer) -> None:
    found = get(client, "standing-out", word="car", k=3)["features"]
    assert [(row["word"], row["value"]) for row in found] == explainer.standing_out("car", 3)


@pytest.mark.parametrize("metric", ["cosine", "similarity", "association"])
def test_a_comparison_adds_up(client: TestClient, explainer: Explainer, metric: str) -> None:
    found = get(client, "compare", word="car", other="wheel", metric=metric, k=24)
    assert found["total_for"] + found["total_against"] + found["rounding"] == pytest.approx(found["score"])
    parts = found["clauses"] or [*found["contributions_for"], *found["contributions_against"]]
    shares = [found["share_together"], *(part["share"] for part in parts)]
    assert sum(shares) == pytest.approx(found["score"] - found["rounding"])
    assert found["score"] == explainer.why("car", "wheel", metric=metric).score


def test_association_compares_with_untrained_words(client: TestClient) -> None:
    assert get(client, "compare", word="ship", other="deck", metric="association")["clauses"]
    assert (
        client.get("/api/compare", params={"word": "ship", "other": "deck", "metric": "cosine"}).status_code
        == 404
    )


def test_rules_states_and_counts_agree(client: TestClient, explainer: Explainer) -> None:
    found = get(client, "rules", word="car", k=4)
    rule = found["rules"][0]
    present = [literal["word"] for literal in rule["rule"]["literals"] if not literal["negated"]]
    absent = [literal["word"] for literal in rule["rule"]["literals"] if literal["negated"]]
    counted = post(client, "matches", word="car", present=present, absent=absent)
    assert (counted["support"], counted["hits"]) == (rule["match"]["support"], rule["match"]["hits"])
    clause = get(client, "clause", word="car", clause=rule["rule"]["clauses"][0])
    names = explainer.vectors.feature_names
    included = {names[k] for k, state in enumerate(clause["present"]) if state >= clause["include_from"]}
    assert included == set(present)
    assert get(client, "vocabulary")["words"] == names


def test_matches_mark_the_words_in_their_documents(client: TestClient) -> None:
    found = post(client, "matches", word="car", present=["wheel"], absent=["road"], documents=3)
    assert len(found["examples"]) == 3
    for document in found["examples"]:
        marked = {piece["word"] for piece in document["pieces"] if piece["word"]}
        assert {"car", "wheel"} <= marked
        assert "road" not in marked
    for document in found["counterexamples"]:
        assert "car" not in {piece["word"] for piece in document["pieces"]}


def test_evidence_has_both_words(client: TestClient, explainer: Explainer) -> None:
    found = post(client, "evidence", words=["car", "wheel"], k=2)
    assert found["count"] == explainer.together("car", "wheel", n_documents=0).count
    assert found["expected"] == pytest.approx(explainer.together("car", "wheel", n_documents=0).expected)
    texts = ["".join(piece["text"] for piece in document["pieces"]) for document in found["documents"]]
    numbers = [document["number"] for document in found["documents"]]
    assert texts == [explainer.index.document_text(number) for number in numbers]


def test_the_trace_ends_at_the_coordinate(client: TestClient, explainer: Explainer) -> None:
    found = get(client, "trace", word="car", literal="wheel")
    column = explainer.vectors.feature_index("wheel")
    assert found["coordinate"] == explainer.vectors.get_vector("car")[column]
    assert len(found["mean"]) == 200
    assert get(client, "trace", word="car", literal="wheel", negated="yes")["mean"] == found["opposite_mean"]


def test_what_words_have_in_common(client: TestClient) -> None:
    found = post(client, "common", words=["road", "car", "wheel"], k=5)
    assert found["n_words"] == 3
    assert {part["feature"] for part in found["shares"]} <= {
        "road", "car", "wheel", "driver", "engine", "street", "vehicle", "traffic",
    }  # fmt: skip
    mixed = post(client, "common", words=["road", "ship", "table"], k=5)
    assert found["mean_similarity"] > mixed["mean_similarity"]


@pytest.mark.parametrize(
    ("path", "parameters", "status", "message"),
    [
        ("neighbours", {"word": "vehcle"}, 404, "'vehcle' is not in the trained words"),
        ("neighbours", {"word": "deck"}, 404, "'deck' is not in the trained words"),
        ("neighbours", {}, 400, "The 'word' parameter must be a text"),
        ("neighbours", {"word": "x" * 2000}, 400, "at most 1,000 characters"),
        ("neighbours", {"word": "car", "k": "1000000"}, 400, "whole number from 0 to 200"),
        ("neighbours", {"word": "car", "k": "-1"}, 400, "whole number from 0 to 200"),
        ("neighbours", {"word": "car", "k": "ten"}, 400, "whole number"),
        ("neighbours", {"word": "car", "metric": "feeling"}, 400, "must be one of 'similarity'"),
        ("clause", {"word": "car", "clause": "99"}, 400, "'clause' parameter"),
        ("trace", {"word": "car", "literal": "weel"}, 404, "'weel' is not in the vocabulary"),
        ("nothing", {}, 404, "nothing at this address"),
    ],
)
def test_refusals_of_questions(
    client: TestClient, path: str, parameters: Any, status: int, message: str
) -> None:
    answer = client.get(f"/api/{path}", params=parameters)
    assert answer.status_code == status
    assert message in answer.json()["error"]


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        ("evidence", {"words": []}, "must have 1 to 10 words"),
        ("evidence", {"words": "car"}, "must be a list of words"),
        ("evidence", {"words": [1]}, "must be a list of words"),
        ("common", {"words": ["car", "car"]}, "at least two different words"),
        ("common", {"words": ["car"] * 5001}, "at most 5,000 words"),
        ("matches", {"word": "car", "present": ["wheel"], "documents": 21}, "from 0 to 20"),
        ("matches", {"word": True}, "must be a text"),
    ],
)
def test_refusals_of_contents(client: TestClient, path: str, content: Any, message: str) -> None:
    answer = client.post(f"/api/{path}", json=content)
    assert answer.status_code == 400
    assert message in answer.json()["error"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("matches", rb'{"word": "\ud800", "present": ["wheel"]}'),
        ("matches", rb'{"word": "car", "present": ["\udfffwheel"]}'),
        ("matches", rb'{"word": "car", "absent": ["wheel", "\ud83d"]}'),
        ("evidence", rb'{"words": ["\ud800"]}'),
        ("common", rb'{"words": ["car", "\ud800"]}'),
    ],
)
def test_half_a_character_is_no_word(client: TestClient, path: str, body: bytes) -> None:
    answer = client.post(f"/api/{path}", content=body)
    assert answer.status_code == 400
    assert "half a character" in answer.json()["error"]


@pytest.mark.parametrize(
    ("body", "message"), [(b"{", "must be JSON"), (b"[" * 90_000, "JSON"), (b"[]", "JSON object")]
)
def test_refusals_of_bodies(client: TestClient, body: bytes, message: str) -> None:
    answer = client.post("/api/common", content=body)
    assert answer.status_code == 400
    assert message in answer.json()["error"]


def test_unknown_words_get_the_nearest_trained_spellings(client: TestClient) -> None:
    answer = client.get("/api/row", params={"word": "whel"}).json()
    assert answer["near"][0] == "wheel"
    assert "deck" not in client.get("/api/row", params={"word": "deck"}).json()["near"]


def test_without_its_index_a_model_answers_all_that_needs_none(lonely: TestClient) -> None:
    model = get(lonely, "model")
    assert (model["has_index"], model["n_documents"], model["compare_by"]) == (False, None, "cosine")
    assert get(lonely, "neighbours", word="car", metric="cosine")["neighbours"]
    assert get(lonely, "row", word="car")["n_documents"] is None
    assert get(lonely, "compare", word="car", other="wheel", metric="cosine")["together"] is None
    assert post(lonely, "common", words=["car", "wheel"])["shares"]
    for path in ("rules", "clause"):
        answer = lonely.get(f"/api/{path}", params={"word": "car"})
        assert answer.status_code == 409
        assert "needs the index" in answer.json()["error"]
    assert lonely.post("/api/evidence", json={"words": ["car"]}).status_code == 409


def test_words_are_asked_for_as_people_type_them(client: TestClient) -> None:
    assert client.get("/api/neighbours", params={"word": "Car"}).json()["word"] == "car"
    assert client.get("/api/complete", params={"q": "The Wheel"}).json()["words"][0]["word"] == "wheel"
    refused = client.get("/api/row", params={"word": "the"})
    assert (refused.status_code, refused.json()["near"]) == (404, [])
    assert "'the' is a stop word of this index" in refused.json()["error"]


def test_an_unknown_address_is_a_page_for_people_and_data_for_programs(client: TestClient) -> None:
    people = client.get("/nowhere", headers={"accept": "text/html"})
    assert (people.status_code, people.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "There is nothing at this address" in people.text
    for path, accept in (("/nowhere", "*/*"), ("/api/nowhere", "text/html")):
        programs = client.get(path, headers={"accept": accept})
        assert programs.status_code == 404
        assert programs.json() == {"error": "there is nothing at this address"}


def test_neighbours_have_percentiles_where_the_metric_has_them(client: TestClient) -> None:
    related = client.get("/api/neighbours", params={"word": "car", "metric": "related", "k": 3}).json()
    assert all(0 <= row["percentile"] <= 100 for row in related["neighbours"])
    assert related["forms"] == []
    cosine = client.get("/api/neighbours", params={"word": "car", "metric": "cosine", "k": 3}).json()
    assert [row["percentile"] for row in cosine["neighbours"]] == [None] * 3


def test_invitations_are_about_near_words_and_one_with_senses(client: TestClient) -> None:
    found = client.get("/api/invitations").json()
    model = client.get("/api/model").json()
    for pair in (found["why"], found["compare"]):
        near = client.get("/api/neighbours", params={"word": pair[0], "k": 1}).json()["neighbours"]
        assert pair[0] in model["examples"]
        assert pair[1] != pair[0]
        assert pair == found["compare"] or pair[1] == near[0]["word"]
    assert not set(found["why"]) & set(found["compare"])
    assert found["meaning"] in model["examples"]


def test_a_comparison_is_measured_by_other_pairs(client: TestClient, explainer: Explainer) -> None:
    pair = {"word": "car", "other": "wheel"}
    found = client.get("/api/compare", params={**pair, "metric": "related"}).json()
    assert found["scale"]["most"] > found["score"]
    assert found["scale"]["percentile"] == pytest.approx(
        explainer.vectors.similarity("car", "wheel", metric="related", scale="percentile")
    )
    assert found["sentence"].startswith("both occur with")
    assert client.get("/api/compare", params={**pair, "metric": "cosine"}).json()["scale"] is None


def test_senses_have_their_shares_and_documents(client: TestClient, explainer: Explainer) -> None:
    found = client.get("/api/senses", params={"word": "Car"}).json()
    assert [sense["share"] for sense in found["senses"]] == [
        sense.share for sense in explainer.senses("car").senses
    ]


def test_the_document_of_a_sense_has_most_of_its_words(demo: Path) -> None:
    explainer = Explainer.open(demo)
    found = Answers(explainer).senses("test")["senses"]
    expected = explainer.senses("test", n_documents=12).senses
    assert len(found) == len(expected) > 1
    for shown, sense in zip(found, expected, strict=True):
        told = {"test", *(name for name, _ in sense.features)}
        counts = {document.number: len(told.intersection(document.words)) for document in sense.documents}
        assert len(counts) > 1
        assert [counts[document["number"]] for document in shown["documents"]] == [max(counts.values())]


def test_rules_about_documents(client: TestClient, explainer: Explainer) -> None:
    found = client.get("/api/document-rules", params={"word": "car", "k": 3}).json()
    expected = explainer.document_rules("car", n=3, n_documents=0)
    assert [rule["present"] for rule in found["rules"]] == [list(rule.present) for rule in expected]
    assert found["rules"][0]["match"]["support"] == expected[0].match.support


def test_themes_are_found_in_the_background_when_asked_for(folder: Path) -> None:
    app = create_app(Explainer(WordVectors.load(folder), Explainer.open(folder).index))
    app.state.answers.vectors._folder = None  # nothing is kept
    with TestClient(app, base_url="http://127.0.0.1:8765") as client:
        assert client.get("/api/themes").json() == {"ready": False, "work": None, "word": "", "themes": []}
        refused = client.get("/api/theme", params={"theme": 0})
        assert refused.status_code == 400
        assert refused.json()["error"] == "The themes are not there yet."
        client.post("/api/themes", json={})
        app.state.answers.theme_work.wait()
        everything = client.get("/api/themes").json()
        assert everything["ready"]
        assert sum(row["share"] for row in everything["themes"]) == pytest.approx(1)
        of_word = client.get("/api/themes", params={"word": "Car", "k": 2}).json()
        assert of_word["word"] == "car"
        theme = client.get("/api/theme", params={"theme": of_word["themes"][0]["theme"], "k": 5}).json()
        assert theme["name"] == of_word["themes"][0]["name"]
        assert 1 <= len(theme["words"]) <= 5
        marked = {piece["word"] for piece in theme["documents"][0]["pieces"]} - {None}
        assert marked <= {row["word"] for row in theme["words"]}
        assert marked
        assert client.get("/api/theme", params={"theme": 999}).status_code == 400


def test_themes_that_cannot_be_found_say_why(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = client.app.state.answers  # type: ignore[attr-defined]
    work = ThemeWork(answers.vectors)

    def refuse(**_: Any) -> None:
        raise ParameterError("no themes today")

    monkeypatch.setattr(WordVectors, "themes", lambda *_, **given: refuse(**given))
    work.start()
    work.wait()
    told = {"stage": "", "done": None, "left": None, "problem": "no themes today"}
    assert work.state() == {"ready": False, "work": told}


def test_kept_themes_are_read_without_asking(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("omnitm.vectors.word_vectors.FEWEST_WORDS", 20)  # few words are enough here
    without = shutil.ignore_patterns("themes-*")
    model = Path(shutil.copytree(folder, tmp_path / "model", ignore=without))
    vectors = WordVectors.load(model)
    assert vectors.default_metric == "similarity"
    assert ThemeWork(vectors).found is None
    vectors.themes()
    found = ThemeWork(WordVectors.load(model)).found
    assert found is not None
    assert len(found) == len(vectors.themes())


def test_passages_are_counted_where_topics_were_learned_from_them(long_documents: Explainer) -> None:
    with TestClient(create_app(long_documents), base_url="http://127.0.0.1:8765") as asked:
        model = get(asked, "model")
        found = post(asked, "evidence", words=["car", "wheel"], k=2)
        rules = get(asked, "rules", word="car", k=3)
    assert (model["unit"], model["n_documents"]) == ("passages", 40)
    together = long_documents.together("car", "wheel")
    assert (found["count"], found["expected"]) == (together.count, pytest.approx(together.expected))
    assert 0 < together.count < found["frequencies"][0]
    assert found["frequencies"] == [
        len(long_documents.counted.documents_with(long_documents.index.word_id(word)))
        for word in ("car", "wheel")
    ]
    shown = ["".join(piece["text"] for piece in document["pieces"]) for document in found["documents"]]
    assert len(shown) == 2
    assert all(len(text.split()) < 25 and "car" in text.lower() for text in shown)
    assert (rules["unit"], rules["n_documents"]) == ("passages", long_documents.counted.n_documents)
