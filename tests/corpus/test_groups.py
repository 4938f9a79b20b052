"""Groups of documents: from fields, dates, numbers and files, kept beside an index."""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm.cli import main
from omnitm.corpus import DocumentIndex, append_to_index, build_index
from omnitm.corpus.groups import NO_GROUP, Grouping, group_index, grouping_for, keep_grouping, read_groupings
from omnitm.corpus.reading import Reading
from omnitm.errors import CorpusError, FileError, ParameterError

if TYPE_CHECKING:
    from pathlib import Path

ROWS: list[dict[str, Any]] = [
    {"text": "a cat", "source": "Times, London", "date": "2015-03-01", "size": 5},
    {"text": "", "source": "Le Monde é", "date": "1998/12/24", "size": 2.5},
    {"text": "two dogs", "source": "Times, London", "date": "20150521", "size": 1},
    {"text": "birds", "source": None, "date": "2016", "size": None},
]


def write_table(folder: Path, kind: str) -> Path:
    file = folder / f"table.{kind}"
    if kind == "jsonl":
        file.write_text("\n\n".join(json.dumps(row) for row in ROWS) + "\n")
    elif kind == "parquet":
        pa = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(pa.Table.from_pylist(ROWS), file)
    else:
        import csv

        with file.open("w", newline="") as out:
            writer = csv.DictWriter(out, list(ROWS[0]), delimiter="\t" if kind == "tsv" else ",")
            writer.writeheader()
            writer.writerows(ROWS)
    return file


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_fields_of_tables(kind: str, tmp_path: Path) -> None:
    table = write_table(tmp_path, kind)
    command = ["index", str(table), "--column", "text", "--group", "source", "--quiet"]
    assert main([*command, "-o", str(tmp_path / "index")]) == 0
    index = DocumentIndex.open(tmp_path / "index")
    grouping = grouping_for(index, "source")
    assert grouping.labels == ("Le Monde é", "Times, London")
    assert grouping.numbers.tolist() == [1, 0, 1, NO_GROUP]
    assert not grouping.is_ordered
    assert main(["group", str(tmp_path / "index"), "date", "--group-by", "year"]) == 0
    assert list(read_groupings(tmp_path / "index")) == ["source", "date"]
    years = grouping_for(index, "date")
    assert (years.labels, years.numbers.tolist()) == (("1998", "2015", "2016"), [1, 0, 1, 2])
    assert years.is_ordered
    parts = group_index(tmp_path / "index", "size", "2")
    assert (parts.labels, parts.numbers.tolist()) == (("1", "2.5 to 5"), [1, 1, 0, NO_GROUP])


def test_groups_leave_the_index_as_it_is(tmp_path: Path) -> None:
    path = build_index(write_table(tmp_path, "csv"), tmp_path / "index", reading=Reading(column="text"))
    seal = DocumentIndex.open(path).seal
    keep_grouping(path, Grouping.of("abab", "x"))
    keep_grouping(path, Grouping.of("cdcd", "x"))
    assert DocumentIndex.open(path).seal == seal
    assert read_groupings(path)["x"].labels == ("c", "d")
    damaged = bytearray((path / "groups.bin").read_bytes())
    damaged[-1] ^= 1
    (path / "groups.bin").write_bytes(damaged)
    with pytest.raises(FileError, match=r"groups\.bin: is damaged"):
        read_groupings(path)


def test_files_and_folders(tmp_path: Path) -> None:
    for name in ("old/a.txt", "old/empty.txt", "new/b.txt", "new/c.txt"):
        (tmp_path / "text" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "text" / name).write_text("" if "empty" in name else f"{name[0]} cat\nand a dog\n")
    command = ["index", str(tmp_path / "text"), "--quiet", "-o", str(tmp_path / "index")]
    assert main([*command, "--group", "file"]) == 0
    grouping = read_groupings(tmp_path / "index")["file"]
    assert (grouping.labels, grouping.numbers.tolist()) == (("a.txt", "b.txt", "c.txt"), [1, 1, 2, 2, 0, 0])
    folders = group_index(tmp_path / "index", "folder")
    assert (folders.labels, folders.numbers.tolist()) == (("new", "old"), [0, 0, 0, 0, 1, 1])
    with pytest.raises(FileError, match="is plain text and has no field 'year'; group by --group file"):
        group_index(tmp_path / "index", "year")


def test_files_of_the_same_name_are_told_apart(tmp_path: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / "text" / folder).mkdir(parents=True)
        (tmp_path / "text" / folder / "a.txt").write_text("a cat\n")
    index = build_index(tmp_path / "text", tmp_path / "index")
    assert group_index(index, "file").labels == ("x/a.txt", "y/a.txt")


def test_folders_of_the_same_name_are_told_apart(tmp_path: Path) -> None:
    for folder in ("uk/2001", "us/2001", "us/2002"):
        (tmp_path / "text" / folder).mkdir(parents=True)
        (tmp_path / "text" / folder / "a.txt").write_text("a cat\n")
        (tmp_path / "text" / folder / "b.txt").write_text("a dog\n")
    index = build_index(tmp_path / "text", tmp_path / "index")
    assert group_index(index, "folder").labels == ("uk/2001", "us/2001", "us/2002")
    command = ["index", str(tmp_path / "text" / "us"), "--quiet", "-o", str(tmp_path / "us")]
    assert main([*command, "--group", "folder", "--group-by", "decade"]) == 0
    assert read_groupings(tmp_path / "us")["folder"].labels == ("2000s",)


def test_missing_values() -> None:
    pd = pytest.importorskip("pandas")
    values = [None, "", " ", float("nan"), np.float32("nan"), pd.NaT, pd.NA]
    found = Grouping.of([*values, 2015.0, np.float64(2016), "2017", 2.5], "year")
    assert found.labels == ("2.5", "2015", "2016", "2017")
    assert found.numbers.tolist() == [NO_GROUP] * len(values) + [1, 2, 3, 0]
    assert Grouping.of([*values, 1, 2], unit="2").numbers.tolist() == [NO_GROUP] * len(values) + [0, 1]
    assert Grouping.of([*values, pd.Timestamp("2015-03-01")], unit="month").labels == ("2015-03",)


def test_dates() -> None:
    values = [dt.date(2015, 3, 1), 1998, "1998-01-02T10:00", None, ""]
    assert Grouping.of(values, unit="decade").labels == ("1990s", "2010s")
    assert Grouping.of(values[::2], unit="month").labels == ("1998-01", "2015-03")
    with pytest.raises(CorpusError, match="document 0: 'May 2015' has no year; dates must look like 2015-05"):
        Grouping.of(["May 2015"], unit="year")
    with pytest.raises(CorpusError, match="'2015' has no month"):
        Grouping.of(["2015"], unit="month")


def test_numbers() -> None:
    grouping = Grouping.of([*range(100), None], unit="4")
    assert grouping.labels == ("0 to 24", "25 to 49", "50 to 74", "75 to 99")
    assert Grouping.of([3, 3, 3, 3, 9], unit="2").labels == ("3", "9")
    assert Grouping.of([3, 3], unit="2").labels == ("3",)
    assert Grouping.of([1600000001, 1600000002], unit="2").labels == ("1600000001", "1600000002")
    assert Grouping.of([10, 9, 10]).labels == ("9", "10")
    with pytest.raises(CorpusError, match="'x' is 'many', which is no number"):
        Grouping.of(["many"], "x", "3")
    with pytest.raises(CorpusError, match="No document has a value of 'x'"):
        Grouping.of([None], "x", "3")


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CorpusError, match="'id' has more than 10,000 different values"):
        Grouping.of(range(1_000_000), "id")
    with pytest.raises(ParameterError, match="by year, decade, month, or by a number of equal parts"):
        Grouping.of(["a"], unit="week")
    with pytest.raises(ParameterError, match=r"equal parts from 2 to 10,000\. Got '1000000' instead"):
        Grouping.of(range(1_000_000), unit="1000000")
    with pytest.raises(CorpusError, match="must be a text or a number, not a list"):
        Grouping.of([["a"]])
    table = write_table(tmp_path, "jsonl")
    command = ["index", str(table), "--column", "text", "--quiet", "-o", str(tmp_path / "index")]
    assert main([*command, "--group", "sourse"]) == 2
    assert "no field 'sourse'; there are 'text', 'source', 'date', 'size'" in capsys.readouterr().err
    assert not (tmp_path / "index").exists()
    assert main([*command, "--group-by", "year"]) == 2
    assert "--group-by needs --group" in capsys.readouterr().err
    assert main(["index", "-", "--format", "csv", "--group", "x", "-o", str(tmp_path / "i")]) == 2
    assert "standard input: can be read once only" in capsys.readouterr().err


def test_labels_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    index = build_index(write_table(tmp_path, "csv"), tmp_path / "index", reading=Reading(column="text"))
    labels = tmp_path / "labels.txt"
    labels.write_text("a\nb, c\n\na\n")
    assert main(["group", str(index), "side", "--from", str(labels)]) == 0
    assert "b, c" in capsys.readouterr().out
    assert read_groupings(index)["side"].numbers.tolist() == [0, 1, NO_GROUP, 0]
    labels.write_text("a\nb\n")
    assert main(["group", str(index), "side", "--from", str(labels)]) == 2
    assert "has 4 documents, but there are groups for 2" in capsys.readouterr().err
    assert main(["group", str(index), "side", "--from", str(tmp_path / "none")]) == 2
    assert "cannot be read as lines" in capsys.readouterr().err


def test_index_of_a_program_needs_labels(tmp_path: Path) -> None:
    from omnitm.corpus import index_documents

    index = index_documents(["a cat", "a dog"], tmp_path / "index")
    with pytest.raises(FileError, match=r"does not know its text; give a file .*NAME --from FILE"):
        group_index(index, "year")
    (index / "groups.bin").write_bytes(b"")
    with pytest.raises(FileError, match=r"groups\.bin"):
        read_groupings(index)


def test_appending_says_that_groups_are_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = write_table(tmp_path, "csv")
    index = build_index(table, tmp_path / "index", reading=Reading(column="text"))
    keep_grouping(index, Grouping.of("abab", "x"))
    assert main(["index", str(table), "--column", "text", "--append", "--quiet", "-o", str(index)]) == 0
    assert "don't know the new documents: omnitm group" in capsys.readouterr().err
    assert read_groupings(index) == {}
    append_to_index(index, table, reading=Reading(column="text"))
    assert group_index(index, "source").numbers.tolist() == [1, 0, 1, NO_GROUP] * 3
