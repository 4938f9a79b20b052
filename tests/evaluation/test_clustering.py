"""Clusters of documents against their labels."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.preprocessing import normalize

from omnitm import WordVectors
from omnitm.cli import main
from omnitm.errors import ParameterError
from omnitm.evaluation import clustering
from omnitm.evaluation.clustering import (
    evaluate_clustering,
    main_axes,
    raw_rows,
)
from omnitm.evaluation.labelled import LabelledDocuments
from omnitm.paper.published import published_clusterings

if TYPE_CHECKING:
    from pathlib import Path

LAND, SEA = ["road", "car", "wheel"], ["sea", "ship", "sail"]


def documents(name: str = "toy", n: int = 40) -> LabelledDocuments:
    """Texts of two topics, then an empty one and one that nobody knows."""
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice((LAND, SEA)[k % 2], 6)) for k in range(n)]
    labels = [("land", "sea")[k % 2] for k in range(n)]
    return LabelledDocuments(name, (*texts, "", "zzz"), (*labels, "land", "sea"))


def two_models() -> dict[str, WordVectors]:
    """One model knows topics; the other mixes them up."""
    topics = np.array([[1, 0]] * 3 + [[0, 1]] * 3, dtype=np.float32)
    mixed = np.array([[1, 0], [0, 1]] * 3, dtype=np.float32)
    return {name: WordVectors(m, LAND + SEA, None) for name, m in (("good", topics), ("bad", mixed))}


def test_a_model_that_knows_the_topics_finds_them() -> None:
    report = evaluate_clustering(two_models(), [documents()], weightings=("mean", "idf"), seeds=(0, 1))
    rows = {(row.model, row.weighting): row for row in report.rows}
    assert set(rows) == {(m, w) for m in ("good", "bad") for w in ("mean", "idf")}
    good, bad = rows["good", "mean"], rows["bad", "mean"]
    labels = [k % 2 for k in range(42)]
    found = [*labels[:40], 0, 0]  # documents without known words are alike, so one of them is wrong
    assert good.nmi == pytest.approx(normalized_mutual_info_score(labels, found), abs=1e-9)
    assert good.ari == pytest.approx(adjusted_rand_score(labels, found), abs=1e-9)
    assert (good.nmi, good.ari) == pytest.approx((0.8610, 0.9047), abs=1e-4)
    assert (bad.nmi, bad.ari) == pytest.approx((0.2113, 0.2564), abs=1e-4)
    assert good.sets[0].nmi == clustering.Spread(good.nmi, 0.0)
    assert report.notes[1:] == (
        "toy: 42 documents, 99.6% of their words known; 1 empty, 1 with no known word",
    )


def test_scores_of_known_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels have an entropy of ln 2, clusters of 1.5 ln 2, and share ln 2: by the mean, NMI is 1 / 1.25."""
    monkeypatch.setattr(clustering, "_k_means", lambda *_: np.array([0, 0, 1, 2]))
    four = LabelledDocuments("four", ("road", "car", "sea", "ship"), ("x", "x", "y", "y"))
    (row,) = evaluate_clustering({"m": two_models()["good"]}, [four]).rows
    assert row.nmi == pytest.approx(0.8)
    assert row.ari == pytest.approx(4 / 7)


def test_averages_are_over_the_sets() -> None:
    (row,) = evaluate_clustering(
        {"m": two_models()["bad"]}, [documents(), documents("b", 20)], seeds=(3,)
    ).rows
    assert [part.name for part in row.sets] == ["toy", "b"]
    assert row.nmi == pytest.approx(np.mean([part.nmi.mean for part in row.sets]))
    assert row.ari == pytest.approx(np.mean([part.ari.mean for part in row.sets]))
    assert row.sets[0].nmi.deviation is None


def test_main_axes_are_those_of_a_principal_component_analysis() -> None:
    rows = np.random.default_rng(0).standard_normal((50, 6)).astype(np.float32) * [9, 1, 5, 1, 1, 1] + 3
    found = main_axes(rows.astype(np.float32), 2)
    unit = normalize(rows - rows.mean(axis=0))
    expected = normalize(PCA(2).fit_transform(unit))
    assert np.allclose(np.abs(found), np.abs(expected), atol=1e-4)


def test_the_vectors_themselves_can_be_clustered() -> None:
    report = evaluate_clustering({"m": two_models()["good"]}, [documents()], seeds=(0,), n_axes=None)
    assert report.rows[0].nmi == pytest.approx(0.8610, abs=1e-4)
    assert report.notes[0].endswith("scaled to length 1, K-means")


def test_many_labels_start_from_random_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clustering, "MOST_PLACED_CLUSTERS", 1)
    report = evaluate_clustering({"m": two_models()["good"]}, [documents()], seeds=(0,), limit=30)
    assert "toy: K-means starts from 2 random documents, not k-means++" in report.notes
    assert "toy: 30 of its 42 documents were drawn at random (seed 0)" in report.notes


def test_labels_of_one_document_each_are_named() -> None:
    alone = LabelledDocuments("toy", ("road car", "sea ship"), ("x", "y"))
    report = evaluate_clustering(two_models(), [alone])
    assert "toy: each document has a label of its own, so any vectors that differ score 1" in report.notes


def test_raw_vectors_are_averaged_and_clustered_as_they_are(topics_model: Path) -> None:
    vectors, some = WordVectors.load(topics_model), documents()
    known = [[word for word in text.split() if word in vectors] for text in some.texts]
    nothing = np.zeros((1, vectors.vector_size))
    means = np.array(
        [np.mean([*nothing[len(words) > 0 :], *(vectors[w] for w in words)], axis=0) for words in known]
    )
    found = KMeans(2, n_init=1, random_state=0).fit_predict(means.astype(np.float32))
    expected = normalized_mutual_info_score(some.labels, found)
    report = evaluate_clustering({"m": vectors}, [some], weightings=["raw"], seeds=[0])
    assert report.rows[0].weighting == "raw"
    assert report.rows[0].nmi == pytest.approx(expected)
    assert "m: raw vectors, their mean per document, K-means" in report.notes


def test_long_raw_vectors_are_turned_onto_their_strongest_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clustering, "_ROWS_AT_ONCE", 3)
    random = np.random.default_rng(0)
    matrix = (random.integers(-9, 9, (12, 2)) @ random.integers(-9, 9, (2, 40))).astype(np.int16)  # rank 2
    vectors = WordVectors(matrix, [f"w{k}" for k in range(12)], [f"f{k}" for k in range(40)])
    rows = raw_rows(vectors, 2)
    assert rows.shape == (12, 2)
    distances = np.linalg.norm(matrix[:, None].astype(float) - matrix, axis=2)
    assert np.linalg.norm(rows[:, None] - rows, axis=2) == pytest.approx(distances, rel=1e-3, abs=0.05)
    note = clustering._raw_note(vectors, rows)
    assert note.startswith("raw vectors on their 2 strongest patterns, which hold 100.00% of the sum")
    assert "1 strongest patterns, which hold 100.00%" not in clustering._raw_note(
        vectors, raw_rows(vectors, 1)
    )


def test_what_cannot_be_measured() -> None:
    with pytest.raises(ParameterError, match="needs at least one model, one set and one seed"):
        evaluate_clustering(two_models(), [])
    with pytest.raises(ParameterError, match="'seeds' parameter of evaluate_clustering must be an int >= 0"):
        evaluate_clustering(two_models(), [documents()], seeds=(-1,))
    with pytest.raises(ParameterError, match="'n_axes' parameter of evaluate_clustering must be an int >= 1"):
        evaluate_clustering(two_models(), [documents()], n_axes=0)
    with pytest.raises(ParameterError, match="toy has one label only, 'x'; nothing to cluster"):
        evaluate_clustering(two_models(), [LabelledDocuments("toy", ("a", "b"), ("x", "x"))])


def test_tables_show_models_beside_the_papers() -> None:
    report = evaluate_clustering({"m": two_models()["good"]}, [documents("AG News")], seeds=(0, 1))
    report = replace(report, rows=(*published_clusterings(), *report.rows))
    nmi, ari = report.tables()
    assert nmi.header == [
        "model",
        "weighting",
        "20 Newsgroups",
        "Reuters",
        "Yelp",
        "Amazon",
        "AG News",
        "average",
    ]
    assert nmi.rows[0] == [
        "Omni TM-AE (published)", "mean", "0.236", "0.440", "0.541", "0.123", "0.509", "0.370"
    ]  # fmt: skip
    assert ari.rows[1][-1] == "0.153"
    assert nmi.rows[-1][2:6] == ["-"] * 4
    assert "±" in nmi.rows[-1][6]
    assert nmi.rows[-1][-1].endswith(" (1 of 5)")
    lines = report.to_csv().splitlines()
    assert lines[0] == "model,weighting,source,set,nmi,nmi_deviation,ari,ari_deviation"
    assert lines[1] == "Omni TM-AE,mean,published,20 Newsgroups,0.235600,,0.118100,"
    assert json.loads(report.to_json())["kind"] == "omnitm clustering"


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], topics_model: Path) -> None:
    toy = documents()
    rows = zip(toy.texts, toy.labels, strict=True)
    (tmp_path / "toy.tsv").write_text("body\tteam\n" + "".join(f"{a}\t{b}\n" for a, b in rows))
    options = [
        "--sets",
        str(tmp_path / "toy.tsv"),
        "--text-field",
        "body",
        "--label-field",
        "team",
        "--quiet",
    ]
    command = ["evaluate", "clustering", f"ours={topics_model}", *options]
    assert main([*command, "--baseline", "paper", "--format", "markdown", "--seeds", "2"]) == 0
    out = capsys.readouterr().out
    assert "| Word2Vec (published) | mean |" in out
    assert "| ours | length |" in out
    assert "- toy: 42 documents" in out
    assert main([*command, "--format", "json", "--seeds", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["version"] == 1
    assert main([*command, "--seeds", "0"]) == 2
    assert "--seeds must be at least 1" in capsys.readouterr().err
