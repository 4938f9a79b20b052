"""Words are replaced as the paper says, and classifiers are measured on what is left."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm import WordVectors
from omnitm.cli import main
from omnitm.errors import FileError, ParameterError
from omnitm.evaluation import classification
from omnitm.evaluation.classification import (
    CLASSIFIERS,
    RANDOM,
    UNCHANGED,
    Neighbours,
    Perturbation,
    RandomWords,
    Replacements,
    evaluate_classification,
    make_classifier,
    make_task,
    perturb,
)
from omnitm.evaluation.labelled import LabelledDocuments
from omnitm.paper.published import published_classification

if TYPE_CHECKING:
    from pathlib import Path

GOOD, BAD, PLAIN = ["great", "fine", "lovely"], ["dull", "awful", "poor"], ["film", "plot", "actor", "scene"]


def reviews(n: int = 120) -> LabelledDocuments:
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(((BAD, GOOD)[k % 2]) + PLAIN, 12)) for k in range(n)]
    labels = ["neg" if k % 2 == 0 else "pos" for k in range(n)]
    return LabelledDocuments(
        "toy", tuple(texts), tuple(labels), tuple("train" if k < n // 2 else "test" for k in range(n))
    )


def line(n_words: int = 600) -> WordVectors:
    """Words on an arc: the nearer their numbers, the more similar they are."""
    angles = np.linspace(0, np.pi / 2, n_words)
    rows = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    return WordVectors(rows, [f"w{k}" for k in range(n_words)], None)


def test_replacements_follow_the_paper() -> None:
    vectors = line()
    words = vectors.index_to_key
    by_text = Replacements(Neighbours(vectors, words), Perturbation())
    by_notebook = Replacements(Neighbours(vectors, words), Perturbation(reading="notebook"))
    assert by_text.of(0, 1) in range(1, 6)
    assert by_text.of(0, 0) in range(396, 401)
    assert by_notebook.of(0, 1) == by_text.of(0, 1)
    assert by_notebook.of(0, 0) in range(595, 600)
    assert {by_text.of(k, 1) - k for k in range(50)} >= {1, 2}  # type: ignore[operator]
    again = Replacements(Neighbours(vectors, words), Perturbation())
    assert [again.of(k, 0) for k in (5, 3)] == [by_text.of(k, 0) for k in (5, 3)]


def test_only_words_of_the_documents_are_put_in() -> None:
    vocabulary = ["w0", "unknown", "w1", "w500"]
    found = Replacements(Neighbours(line(), vocabulary), Perturbation())
    assert found.of(1, 1) is None
    assert found.of(0, 1) in {2, 3}
    assert Replacements(Neighbours(line(), ["w0", "unknown"]), Perturbation()).of(0, 1) is None


def test_a_share_of_each_document_is_replaced_at_the_same_places_for_all_models() -> None:
    documents = [np.arange(k, k + 40, dtype=np.int32) for k in range(30)] + [np.zeros(0, np.int32)]
    labels = [k % 2 for k in range(31)]
    perturbation = Perturbation(share=0.1)
    vectors = line()
    changed = perturb(
        documents, labels, Replacements(Neighbours(vectors, vectors.index_to_key), perturbation), perturbation
    )
    assert (changed.n_drawn, changed.n_unknown) == (120, 0)
    for number, (before, after) in enumerate(zip(documents, changed.documents, strict=True)):
        places = np.flatnonzero(before != after)
        assert sorted(places) == sorted(perturbation.places(number, len(before)))
        distances = np.abs(after[places].astype(int) - before[places])
        assert (distances <= 5).all() if labels[number] else (distances > 100).all()
    assert len(perturbation.places(0, 3)) == 1
    counts = {length: len(Perturbation().places(0, length)) for length in (0, 1, 29, 31, 49, 51, 69, 71)}
    assert counts == {0: 0, 1: 1, 29: 1, 31: 2, 49: 2, 51: 3, 69: 3, 71: 4}  # 5 %, to the nearest number
    assert len(Perturbation(share=0).places(0, 3)) == 0


def test_random_words_need_no_model() -> None:
    found = RandomWords(50, Perturbation())
    drawn = [[found.of(word, label) for word in range(50)] for label in (0, 1)]
    assert drawn[0] != drawn[1]
    assert 20 < len(set(drawn[0])) < 50
    assert all(0 <= word < 50 for word in drawn[0] + drawn[1])
    assert drawn[0] == [RandomWords(50, Perturbation()).of(word, 0) for word in range(50)]
    assert drawn[0] != [RandomWords(50, Perturbation(seed=43)).of(word, 0) for word in range(50)]


def test_words_are_compared_by_the_metric_asked_for() -> None:
    rows = np.eye(12, dtype=np.int16)
    rows[[0, 7, 8, 9, 10, 11]] = [0, 9, 9, 9, 9, 9, 0, 0, 0, 0, 0, 0]  # leans on 1 to 5, is like 7 to 11
    words = [f"w{k}" for k in range(12)]
    vectors = WordVectors(rows, words, words)
    by_association, by_cosine = (
        Replacements(Neighbours(vectors, words, metric), Perturbation()).of(0, 1)
        for metric in ("association", "cosine")
    )
    assert by_association in range(1, 6)
    assert by_cosine in range(7, 12)


def test_words_that_the_model_does_not_know_stay() -> None:
    documents = [np.array([0, 1, 0, 1], dtype=np.int32)]
    perturbation = Perturbation(share=1)
    changed = perturb(
        documents, [1], Replacements(Neighbours(line(3), ["w0", "zz", "w1"]), perturbation), perturbation
    )
    assert changed.documents[0].tolist() == [2, 1, 2, 1]
    assert (changed.n_drawn, changed.n_unknown) == (4, 2)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"share": 2}, "'share' parameter of Perturbation must be a number from 0 to 1"),
        ({"reading": "both"}, "'reading' parameter of Perturbation must be one of 'text', 'notebook'"),
        ({"seed": -1}, "'seed' parameter of Perturbation must be an int >= 0"),
    ],
)
def test_settings_of_a_perturbation(options: dict[str, Any], match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        Perturbation(**options)


def test_a_task_has_the_most_frequent_words_of_the_training_documents() -> None:
    documents = LabelledDocuments(
        "toy", ("a word<br />word film", "film word", "unseen word", ""), ("b", "a", "a", "b"),
        ("train", "train", "test", "test"),
    )  # fmt: skip
    task = make_task(documents, n_words=1)
    assert task.vocabulary == ("word",)
    assert [document.tolist() for document in task.train] == [[0, 0], [0]]
    assert [document.tolist() for document in task.test] == [[0], []]
    assert task.train_labels.tolist() == [1, 0]
    assert "2 documents to train, 2 to test, 1 words; 'b' is positive" in task.notes[0]


def test_what_is_no_task() -> None:
    three = LabelledDocuments("toy", ("a", "b", "c"), ("x", "y", "z"), ("train",) * 3)
    with pytest.raises(ParameterError, match=r"toy has 3 labels; .* exactly two are needed"):
        make_task(three)
    lopsided = LabelledDocuments("toy", ("a", "b", "c"), ("x", "y", "y"), ("train", "train", "test"))
    with pytest.raises(ParameterError, match="toy has one label only, 'y', in its part 'test'"):
        make_task(lopsided)
    empty = LabelledDocuments("toy", ("", "1", "a", "b"), ("x", "y") * 2, ("train", "train", "test", "test"))
    with pytest.raises(ParameterError, match="toy has no words to learn from"):
        make_task(empty)
    with pytest.raises(ParameterError, match="toy has no documents of the split 'train'"):
        make_task(LabelledDocuments("toy", ("a", "b"), ("x", "y")))
    with pytest.raises(ParameterError, match="'n_words' parameter of make_task must be an int >= 1"):
        make_task(reviews(), n_words=0)


def wide_reviews() -> tuple[list[str], LabelledDocuments]:
    """Eight words of praise, eight of blame and eight plain ones, and reviews made of them."""
    praise, blame, plain = ([f"{kind}{letter}" for letter in "abcdefgh"] for kind in ("good", "bad", "plain"))
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice((blame, praise)[k % 2] + plain, 12)) for k in range(120)]
    splits = ["train"] * 60 + ["test"] * 60
    documents = LabelledDocuments("toy", tuple(texts), ("neg", "pos") * 60, tuple(splits))
    return praise + blame + plain, documents


def test_bad_neighbours_cost_accuracy(tmp_path: Path) -> None:
    """In positive reviews words become similar ones, in negative ones dissimilar ones; here four of five do.

    To the right model praise is like praise, and nothing is less like blame than plain words. To the wrong
    one praise is like blame, and nothing is less like blame than praise: what is learnt is upside down.
    """
    words, documents = wide_reviews()
    right = np.repeat([[0.0, 1.0], [1.0, 0.0], [-1.0, 0.0]], 8, axis=0)
    wrong = np.concatenate([3 * np.eye(8, 10), np.zeros((16, 10))])
    wrong[:16, 8], wrong[16:, 8], wrong[16:, 9] = 1, 0.5, 1
    both = {"right": right, "wrong": wrong}
    sources = {name: WordVectors(rows.astype(np.float32), words, None) for name, rows in both.items()}
    steps: list[str] = []
    common: dict[str, Any] = {
        "classifiers": ["NB"], "perturbation": Perturbation(share=0.8), "folder": tmp_path,
        "on_step": steps.append,
    }  # fmt: skip
    report = evaluate_classification(sources, documents, **common)
    rows = {row.source: row for row in report.rows}
    assert list(rows) == [UNCHANGED, RANDOM, "right", "wrong"]
    right_of_60 = {name: row.accuracies["NB"] * 60 for name, row in rows.items()}
    assert right_of_60 == pytest.approx({UNCHANGED: 60, RANDOM: 50, "right": 57, "wrong": 16})
    assert all(row.average == row.accuracies["NB"] for row in report.rows)
    left = "600 words drawn, 0 of them unknown to it and left as they were"
    assert report.notes[1:3] == (f"random words: {left}", f"right: {left}; neighbours by cosine")
    assert "right: replacing words" in steps
    before = len(steps)
    assert evaluate_classification(sources, documents, **common).rows == report.rows
    assert len(steps) == before


def test_kept_figures_belong_to_documents_and_labels(tmp_path: Path) -> None:
    documents = reviews()
    swapped = replace(documents, labels=tuple({"neg": "pos", "pos": "neg"}[x] for x in documents.labels[60:]))
    swapped = replace(swapped, labels=documents.labels[:60] + swapped.labels)
    common: dict[str, Any] = {"classifiers": ["NB"], "folder": tmp_path / "kept"}
    right, wrong = (evaluate_classification({}, part, **common).rows[0] for part in (documents, swapped))
    assert (right.average, wrong.average) == (1.0, 0.0)
    again = evaluate_classification({"m": line()}, documents, **common)
    assert evaluate_classification({"m": line()}, documents, **common).notes == again.notes
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="file: is no folder that results can go to"):
        evaluate_classification({}, documents, classifiers=["NB"], folder=tmp_path / "file")


def test_a_metric_that_a_model_does_not_have_is_refused() -> None:
    with pytest.raises(ParameterError, match="'association' reads the coordinate of a word"):
        evaluate_classification({"m": line()}, reviews(), classifiers=["NB"], metric="association")


def test_several_draws_are_averaged(tmp_path: Path) -> None:
    words = GOOD + BAD + PLAIN
    vectors = WordVectors(np.random.default_rng(1).normal(size=(10, 4)).astype(np.float32), words, None)
    common: dict[str, Any] = {"documents": reviews(), "classifiers": ["NB", "LR"], "folder": tmp_path}
    shares = [Perturbation(share=0.7, seed=seed) for seed in (42, 43)]
    single = [
        evaluate_classification({"m": vectors}, perturbation=share, **common).rows[-1] for share in shares
    ]
    report = evaluate_classification({"m": vectors}, perturbation=shares[0], n_draws=2, **common)
    both = report.rows[-1]
    assert both.averages == (single[0].average, single[1].average)
    for name in ("NB", "LR"):
        assert both.accuracies[name] == pytest.approx(np.mean([row.accuracies[name] for row in single]))
    table = report.tables()[0]
    assert table.title.endswith("(text), mean of 2 draws")
    assert table.header[-3:] == ["average", "of draws", "CPU s"]
    assert table.rows[0][-2] == "-"
    low, high = sorted(both.averages)
    assert table.rows[-1][-2] == f"{low:.3f} to {high:.3f}"
    plain = evaluate_classification({"m": vectors}, reviews(), classifiers=["NB"], controls=False)
    assert [row.source for row in plain.rows] == ["m"]
    with pytest.raises(ParameterError, match=r"'n_draws' parameter of .* must be an int >= 1"):
        evaluate_classification({}, reviews(), n_draws=0)


def test_classifiers_have_the_settings_of_the_paper() -> None:
    wanted: dict[str, dict[str, Any]] = {
        "RF": {"n_estimators": 100, "random_state": 42},
        "LR": {"random_state": 42},
        "NB": {},
        "SVM": {"random_state": 42},
        "MLP": {"random_state": 42},
        "TM": {
            "n_clauses": 1000,
            "threshold": 8000,
            "specificity": 2.0,
            "clause_drop": 0.75,
            "n_epochs": 10,
            "binarize": 0,
            "seed": 42,
        },
    }
    assert list(CLASSIFIERS) == list(wanted)
    for name, settings in wanted.items():
        classifier = make_classifier(name, 2)
        plain = type(classifier)().get_params()
        jobs = {"n_jobs": 2} if name in {"RF", "TM"} else {}
        assert classifier.get_params() == {**plain, **settings, **jobs}, name


def test_all_classifiers_learn_a_simple_task() -> None:
    report = evaluate_classification({}, reviews(), classifiers=list(CLASSIFIERS), limit=50)
    assert set(report.rows[0].accuracies) == set(CLASSIFIERS)
    assert min(report.rows[0].accuracies.values()) > 0.9
    assert any("50 of its 60 documents" in note for note in report.notes)


def test_no_classifier_and_an_unknown_one() -> None:
    with pytest.raises(ParameterError, match="at least one classifier"):
        evaluate_classification({}, reviews(), classifiers=[])
    with pytest.raises(ParameterError, match="'name' parameter of make_classifier must be one of 'RF'"):
        make_classifier("KNN")
    with pytest.raises(ParameterError, match="'n_jobs' parameter of make_classifier must be an int >= 1"):
        make_classifier("RF", 0)


def test_tables() -> None:
    report = evaluate_classification({}, reviews(), classifiers=["NB"])
    report = classification.ClassificationReport(
        (*published_classification(), *report.rows), ("NB",), report.perturbation
    )
    table = report.tables()[0]
    assert table.header == ["source", "RF", "LR", "NB", "SVM", "MLP", "TM", "average", "CPU s"]
    assert table.rows[0][:3] == ["GloVe (published)", "0.810", "0.830"]
    assert table.rows[-2][:4] == [UNCHANGED, "-", "-", "1.000"]
    assert table.rows[-1][0] == RANDOM
    assert "unchanged text,measured,text,NB,1.000000" in report.to_csv()
    assert json.loads(report.to_json())["perturbation"]["share"] == 0.05


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], topics_model: Path) -> None:
    rows = zip(*(getattr(reviews(), name) for name in ("texts", "labels", "splits")), strict=True)
    (tmp_path / "toy.csv").write_text("text,label,split\n" + "".join(",".join(row) + "\n" for row in rows))
    command = ["evaluate", "classification", str(topics_model), "--set", str(tmp_path / "toy.csv"), "--quiet"]
    assert main([*command, "--classifiers", "NB", "--baseline", "paper", "--format", "markdown"]) == 0
    out = capsys.readouterr().out
    assert "| Omni TM-AE (published) |" in out
    assert "| unchanged text | 1.000 | 1.000 |" in out
    assert "unknown to it" in out
    options = [
        "--classifiers",
        "NB",
        "--format",
        "csv",
        "--draws",
        "2",
        "--metric",
        "cosine",
        "--reduce",
        "4",
    ]
    assert main([*command, *options]) == 0
    out = capsys.readouterr().out
    assert f"{topics_model.name},measured,text,NB," in out
    assert f'"{topics_model.name}, 4 dimensions",measured,text,NB,' in out
