"""Labelled documents: any file, the published ones by name, and everything that can be wrong with them."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from omnitm.errors import FileError, ParameterError
from omnitm.evaluation.labelled import (
    CLUSTERING_SETS,
    DOCUMENT_SETS,
    document_set,
    load_documents,
    read_documents,
)

if TYPE_CHECKING:
    from pathlib import Path


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_csv_tsv_and_json_lines_are_alike(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('label,text\nx,"one, two"\ny,three\n')
    (tmp_path / "a.tsv").write_text("text\tlabel\none, two\tx\nthree\ty\n")
    with gzip.open(tmp_path / "a.jsonl.gz", "wt") as file:
        file.write('{"text": "one, two", "label": "x"}\n\n{"text": "three", "label": "y"}\n')
    for name in ("a.csv", "a.tsv", "a.jsonl.gz"):
        found = read_documents(tmp_path / name)
        assert (found.name, found.texts, found.labels) == ("a", ("one, two", "three"), ("x", "y"))
        assert (found.splits, found.notes, found.n_labels, len(found)) == (None, (), 2, 2)


def test_the_mark_that_excel_puts_first_is_no_part_of_a_field(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,label\none,x\ntwo,y\n", encoding="utf-8-sig")
    assert read_documents(tmp_path / "a.csv").texts == ("one", "two")


def test_other_encodings_are_refused_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,label\ncaf\u00e9,x\n", encoding="latin-1")
    with pytest.raises(FileError, match=r"a\.csv: is not UTF-8 at byte 14; convert it: iconv"):
        read_documents(tmp_path / "a.csv")


def test_fields_that_some_rows_lack(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"text": "one", "label": "x", "split": "train"},
        {"text": "two", "label": "y"},
        {"label": "y", "split": None},
    ]
    found = read_documents(write_lines(tmp_path / "a.jsonl", rows))
    assert found.texts == ("one", "two", "")
    assert found.splits == ("train", "", "")
    both = [{"text": "a", "labels": [k], "split": s} for k in ("x", "y") for s in ("train", "test")]
    write_lines(tmp_path / "reuters21578.jsonl", [*both, {"text": "b", "labels": None, "split": "test"}])
    assert load_documents("reuters", tmp_path).labels == ("x", "x", "y", "y")


def test_fields_can_be_named_and_missing_labels_are_counted(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"body": "one", "team": 0},
        {"body": None, "team": 1},
        {"body": "three", "team": None},
    ]
    path = write_lines(tmp_path / "tickets.jsonl", [*rows, {"body": "four", "team": " "}])
    found = load_documents(path, text_field="body", label_field="team")
    assert found.texts == ("one", "")
    assert found.labels == ("0", "1")
    assert found.notes == ("tickets: 2 documents without a label that counts are left out",)


def test_reuters_has_one_topic_per_document(tmp_path: Path) -> None:
    topics = [["b", "a"], ["a"], ["only-in-training", "b"], ["only-in-training"], [], ["b"], ["a"]]
    splits = ["train", "train", "train", "train", "train", "test", "unused"]
    rows: list[dict[str, Any]] = [
        {"split": s, "labels": t, "text": "x"} for s, t in zip(splits, topics, strict=True)
    ]
    rows.append({"split": "test", "labels": ["a"], "text": "x"})
    write_lines(tmp_path / "documents" / "reuters21578.jsonl", rows)
    found = load_documents("reuters-21578", tmp_path)
    assert found.labels == ("a", "a", "b", "b", "a")
    assert found.name == "Reuters"
    assert "5 documents, 2 labels (paper: 10,788, 79)" in found.notes[0]
    assert "3 documents without a label" in found.notes[1]


def test_splits_and_samples(tmp_path: Path) -> None:
    rows = [{"split": "train" if k % 2 else "test", "label": k % 3, "text": str(k)} for k in range(30)]
    found = read_documents(write_lines(tmp_path / "a.jsonl", rows))
    assert found.part("train").texts == tuple(str(k) for k in range(1, 30, 2))
    drawn = found.sample(10, seed=1)
    assert len(drawn) == 10
    assert list(drawn.texts) == sorted(drawn.texts, key=int)
    assert drawn.texts != found.sample(10, seed=2).texts
    assert drawn.notes == ("a: 10 of its 30 documents were drawn at random (seed 1)",)
    assert found.sample(30) is found
    with pytest.raises(
        ParameterError, match=r"a has no documents of the split 'dev' \(it has 'test', 'train'\)"
    ):
        found.part("dev")
    with pytest.raises(ParameterError, match="'limit' parameter of sample must be an int >= 1"):
        found.sample(0)


def test_what_is_wrong_with_a_file_is_said(tmp_path: Path) -> None:
    def refused(match: str, text: str, **fields: str) -> None:
        path = tmp_path / "a.jsonl"
        path.write_text(text)
        with pytest.raises(FileError, match=match):
            read_documents(path, **fields)

    refused("has no documents; expected CSV or TSV with a header", "\n")
    refused(r"line 2: '\[1\]' is not a JSON object", '{"text": "a", "label": 1}\n[1]\n')
    refused("line 1: '{' is not a JSON object", "{\n")
    refused("has no field 'label', only 'text', 'team'", '{"text": "a", "team": 1}\n')
    refused("has only the label '1' in 'label'; at least two", '{"text": "a", "label": 1}\n' * 2)
    refused("has no labels in 'label'", '{"text": "a", "label": null}\n' * 2)


def test_a_missing_set_is_named_with_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        FileError, match=r"20news.jsonl: the documents 20 Newsgroups are not in .*qwone.*--data DIR"
    ):
        load_documents("20news", tmp_path)
    monkeypatch.delenv("OMNITM_DATA", raising=False)
    with pytest.raises(FileError, match="are not here: no --data, and OMNITM_DATA is not set; get them"):
        load_documents("20news")
    with pytest.raises(
        ParameterError, match=r"'nothing\.csv' is neither a known set of documents nor a file"
    ):
        load_documents("nothing.csv", tmp_path)


def test_every_published_set_can_be_found_by_its_name() -> None:
    assert [document_set(known.name) for known in DOCUMENT_SETS] == list(DOCUMENT_SETS)
    assert set(CLUSTERING_SETS) < {known.name for known in DOCUMENT_SETS}


def test_labels_and_documents_of_the_paper() -> None:
    """Table 3 of the paper; of IMDb it gives no numbers."""
    assert {known.name: known.paper for known in DOCUMENT_SETS} == {
        "20 Newsgroups": (20, 18_846),
        "Reuters": (79, 10_788),
        "Yelp": (11_537, 229_907),
        "Amazon": (30, 21_000),
        "AG News": (5, 120_001),
        "IMDb": None,
    }
