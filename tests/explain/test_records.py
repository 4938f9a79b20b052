"""Results as tables: printed, in notebooks, and as data frames."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from omnitm.errors import MissingExtraError
from omnitm.explain.records import Record, RecordList
from omnitm.tables import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnitm.explain import Explainer


@dataclass(frozen=True)
class Wheel(Record):
    size: float
    words: tuple[str, ...] = ()
    pairs: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Car(Record):
    TABLE = ("wheels",)
    name: str
    wheels: tuple[Wheel, ...]


def test_a_record_with_a_table_has_a_row_for_each_of_its_records() -> None:
    car = Car("van <x>", (Wheel(1 / 3, ("a", "b"), (("c", 1.0),)), Wheel(2.0)))
    assert car.rows() == [{"size": 1 / 3, "words": "a, b", "pairs": "c"}, {"size": 2.0}]
    assert str(car).splitlines() == ["name van <x>", "  size  words  pairs", "0.3333  a, b   c", "     2"]
    html = car._repr_html_()
    assert html.startswith("<table><caption>name van &lt;x&gt;</caption>")
    assert html.count("<tr>") == 3
    assert "<td style='text-align: right'>0.3333</td><td style='text-align: left'>a, b</td>" in html
    assert str(Car("bus", ())) == "name bus"
    long = Car("train", tuple(Wheel(float(k)) for k in range(25)))
    assert str(long).splitlines()[-2:] == ["  19", "... and 5 more"]


def test_cells_are_short() -> None:
    wheel = Wheel(123456.0, tuple("abcdefgh"))
    assert wheel.rows() == [{"size": 123456.0, "words": "a, b, c, d, e, f"}]
    assert str(wheel).splitlines()[1] == "123,456  a, b, c, d, e, f"
    assert str(Wheel(0.0, ("x" * 60,))).splitlines()[1] == f"   0  {'x' * 60}"
    assert str(Wheel(0.0, ("x" * 61,))).splitlines()[1] == f"   0  {'x' * 56} ..."
    assert str(Wheel(0.0, ("two\n words",))).splitlines()[1] == "   0  two words"
    most = Car("train", tuple(Wheel(float(k)) for k in range(20)))
    assert str(most).splitlines()[-1] == "  19"


@dataclass(frozen=True)
class Train(Record):
    SHOWN: ClassVar[Mapping[str, str]] = {"name": "name", "n_seats": "seats"}
    name: str
    n_seats: int
    length: float = 0.5


@dataclass(frozen=True)
class Filled(Record):
    SHOWN: ClassVar[Mapping[str, str]] = {"name": "name", "taken": "seats taken"}
    SHARES = ("taken",)
    name: str
    taken: float | None


def test_shares_are_shown_in_percent() -> None:
    trains = RecordList([Filled("express", 0.125), Filled("night train", None)])
    assert str(trains).splitlines() == [
        "name         seats taken",
        "express            12.5%",
        "night train            -",
    ]
    assert "<td style='text-align: right'>12.5%</td>" in trains._repr_html_()
    assert trains.to_frame()["taken"][0] == 0.125


@dataclass(frozen=True)
class Trip(Record):
    TABLE = ("there", "way_back")
    SHOWN: ClassVar[Mapping[str, str]] = {"list": "list", "size": "size"}
    n_stops: int
    there: tuple[Wheel, ...]
    way_back: tuple[Wheel, ...]


def test_columns_that_say_little_are_not_printed() -> None:
    train = Train("express", 1234)
    assert str(train).splitlines() == ["name     seats", "express  1,234"]
    assert "length" not in train._repr_html_()
    assert list(train.to_frame().columns) == ["name", "n_seats", "length"]
    assert str(RecordList([train])) == str(train)
    trip = Trip(2, (Wheel(0.5, ("a",)),), (Wheel(1.0),))
    expected = ["n stops 2", "list      size", "there      0.5", "way back     1"]
    assert str(trip).splitlines() == expected


def test_lists_of_records_are_tables() -> None:
    wheels = RecordList([Wheel(1.0), Wheel(2.0)])
    assert str(wheels) == "size\n   1\n   2"
    assert len(wheels.to_frame()) == 2
    with pytest.raises(TypeError, match="abstract"):
        Table()  # type: ignore[abstract]


def test_every_result_is_a_table_that_people_can_read(explainer: Explainer) -> None:
    results: list[Any] = [
        explainer.explain("a0"),
        explainer.why("a0", "a1", metric="cosine"),
        explainer.why("a0", "a1", metric="association"),
        explainer.trace("a0", "a1"),
        explainer.document_rules("a0"),
        explainer.match("a0", ["a1"]),
    ]
    for result in results:
        frame = result.to_frame()
        assert len(frame) == len(result.rows()) > 0
        lines = str(result).splitlines()
        assert len(lines) > 1
        assert "<td style=" in result._repr_html_()
    assert list(results[0].to_frame()["text"]) == [measured.text for measured in results[0].rules]


def test_pandas_is_only_needed_for_frames(explainer: Explainer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    found = explainer.explain("a0")
    assert str(found).startswith("a0: in 27 of 120 documents")
    with pytest.raises(MissingExtraError, match=r"to_frame needs .* pip install 'omnitm\[frames\]'"):
        found.to_frame()
