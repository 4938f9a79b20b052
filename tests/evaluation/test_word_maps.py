"""Maps of words in groups: the list, the figures, the pictures."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm import WordVectors
from omnitm.cli import main
from omnitm.errors import FileError, ParameterError
from omnitm.evaluation.word_maps import (
    WORD_GROUPS,
    Separation,
    WordMap,
    _arranged,
    _colours,
    _ink,
    _offset,
    _Taken,
    draw_map,
    known_groups,
    load_groups,
    map_html,
    map_picture,
    map_words,
    plot_map,
    read_groups,
    separation,
    separation_table,
)

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

SMALL = {"land": ("road", "car", "wheel", "driver"), "sea": ("sea", "ship", "sail", "wave")}

# Twelve labels of 20 x 10 pixels around one point, and one in a corner.
PLACES = [
    [5.77, 4.15], [-24.15, 5.77], [-25.77, -14.15], [4.15, -15.77], [8.74, 16.86], [-28.74, 16.86],
    [-28.74, -26.86], [8.74, -26.86], [31.0, -2.0], [28.87, 13.72], [13.72, 28.87], [-7.0, 31.0],
    [-28.54, -15.3],
]  # fmt: skip


def crowded(n_words: int = 60) -> WordMap:
    """Many words on few places."""
    random = np.random.default_rng(2)
    positions = random.standard_normal((n_words, 2)).astype(np.float32)
    positions[: n_words // 3] *= 0.1
    groups = tuple(f"group <{k % 5}>" for k in range(n_words))
    figures = Separation(0.5, 0.6, 0.9, 0.07)
    return WordMap(
        "m&m", tuple(f"word{k}" for k in range(n_words)), groups, positions, figures, figures, ("x<y",)
    )


def test_the_papers_groups_have_ten_words_each() -> None:
    words = [word for members in WORD_GROUPS.values() for word in members]
    assert len(WORD_GROUPS) == 13
    assert {len(members) for members in WORD_GROUPS.values()} == {10}
    assert len(set(words)) == 130
    assert {"computer", "internet", "robot"} <= set(WORD_GROUPS["technology"])
    assert load_groups() == WORD_GROUPS


def test_lists_of_ones_own_come_in_three_forms(tmp_path: Path) -> None:
    expected = {"animals": ("dog", "cat"), "food": ("rice", "soup")}
    (tmp_path / "a.json").write_text(json.dumps({name: list(words) for name, words in expected.items()}))
    (tmp_path / "b.txt").write_text("animals: dog, cat\n\nfood: rice soup\n")
    (tmp_path / "c.tsv").write_text("dog\tanimals\nrice\tfood\ncat\tanimals\nsoup\tfood\n")
    for name in ("a.json", "b.txt", "c.tsv"):
        assert load_groups(tmp_path / name) == expected


@pytest.mark.parametrize(
    ("name", "text", "match"),
    [
        ("a.json", "{", "is not JSON"),
        ("a.json", '["dog"]', "has no groups of words; expected JSON such as"),
        ("a.json", '{"a": ["dog"], "b": "cat"}', "has no groups of words"),
        ("a.json", '{"a": ["dog"], "b": ["cat", 3]}', "has no groups of words"),
        ("a.txt", "dog cat\n", "line 1: 'dog cat' names no group"),
        ("a.txt", "animals: dog\n", "has one group, but two are needed to tell them apart"),
        ("a.txt", "a: dog\nb: dog\n", "'dog' is in 'a' and in 'b'; one group per word"),
    ],
)
def test_what_is_wrong_with_a_list_is_said(tmp_path: Path, name: str, text: str, match: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(FileError, match=match):
        load_groups(tmp_path / name)


def test_a_file_of_groups_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\ufeff# mine\na: dog, cat dog\n\tcat\tb c\n  # more\na: cow\n", "utf-8")
    assert read_groups(tmp_path / "a.txt") == {"a": ("dog", "cat", "cow"), "b c": ("cat",)}


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("a.txt", b"# nothing\n", "has no groups; expected JSON such as"),
        ("a.txt", b"a: dog\nb:\n", "the group 'b' has no words; expected JSON"),
        ("a.txt", b": dog\n", "'' is no name of a group"),
        ("a.json", b'{"a:b": ["dog"]}', "'a:b' is no name of a group: it is empty, or has a colon"),
        ("a.txt", b"a: \xff", "must be UTF-8 text; byte 3 is not"),
        ("a.txt", b"a: " + b"x" * (1 << 20), "has 1,048,579 bytes"),
    ],
)
def test_what_is_wrong_with_a_file_of_groups(tmp_path: Path, name: str, content: bytes, match: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileError, match=match):
        read_groups(tmp_path / name)


def test_unknown_words_are_left_out_and_named() -> None:
    groups = {"a": ("dog", "cat", "unicorn"), "b": ("rice", "soup"), "c": ("griffin", "king")}
    known, unknown = known_groups(groups, dict.fromkeys(("dog", "cat", "rice", "soup", "king"), 0))
    assert known == {"a": ("dog", "cat"), "b": ("rice", "soup")}
    assert unknown == ["unicorn", "griffin"]
    with pytest.raises(ParameterError, match=r"knows too few of the words: .* does not know 'dog', 'cat'"):
        known_groups(groups, {})
    with pytest.raises(
        ParameterError, match=r"two known words each are needed, and .*'a' and 2 others; train"
    ):
        known_groups({"x": ("e", "d", "c", "b", "a", "f", "g")}, {})
    with pytest.raises(ParameterError, match="two known words each are needed; train such words"):
        known_groups({"x": ("dog",), "y": ("cat",)}, {"dog": 0, "cat": 1})


def test_separation_of_a_known_arrangement() -> None:
    far = np.array([[0, 0], [0, 1], [9, 0], [9, 1]], dtype=np.float32)
    good = separation(far, ["a", "a", "b", "b"])
    assert good.silhouette > 0.8
    assert good.purity == good.highest_purity == good.chance_purity == pytest.approx(1 / 3)
    assert separation(far, ["a", "b", "a", "b"]).silhouette < 0
    rows = np.repeat(np.arange(3), 11)[:, None] * 10 + np.linspace(0, 1, 33)[:, None]
    groups = [f"g{k // 11}" for k in range(33)]
    assert separation(rows, groups).purity == 1
    assert separation(rows, groups).highest_purity == 1
    assert separation(rows, groups).chance_purity == pytest.approx(10 / 32)


def test_raw_vectors_are_compared_by_their_distance() -> None:
    random = np.random.default_rng(0)
    words = [word for members in SMALL.values() for word in members]
    rows = random.integers(0, 300, (8, 6)).astype(np.int16)
    found = map_words(WordVectors(rows, words, [f"f{k}" for k in range(6)]), SMALL, raw=True)
    labels = [name for name, members in SMALL.items() for _ in members]
    assert found.original == separation(rows.astype(np.float64), labels)


def test_groups_that_differ_separate_on_the_map() -> None:
    random = np.random.default_rng(0)
    rows = np.repeat(np.eye(2, 6), 4, axis=0) + 0.05 * random.standard_normal((8, 6))
    words = [word for members in SMALL.values() for word in members]
    single = np.ones((1, 6))
    vectors = WordVectors(np.concatenate([rows, single]).astype(np.float32), [*words, "single"], None)
    found = map_words(vectors, {**SMALL, "other": ("unknown", "single")}, name="toy")
    assert found.words == tuple(words)
    assert found.unknown == ("unknown",)
    assert found.alone == ("single",)
    assert "Left out, the only known words of their groups: single." in map_html(found)
    assert found.positions.shape == (8, 2)
    assert found.original.silhouette > 0.7
    again = map_words(vectors, SMALL, name="toy")
    assert np.array_equal(found.positions, again.positions)
    assert json.loads(found.to_json())["groups"] == ["land"] * 4 + ["sea"] * 4
    assert separation_table([found]).rows[0][:3] == ["toy", "8", "2"]


@pytest.mark.parametrize(("n_words", "perplexity"), [(100, 30.0), (10, 3.0)])
def test_the_settings_of_t_sne_are_the_papers(
    monkeypatch: pytest.MonkeyPatch, n_words: int, perplexity: float
) -> None:
    asked: dict[str, Any] = {}

    class Recorder:
        def __init__(self, max_iter: int, **settings: Any) -> None:
            asked.update(settings, max_iter=max_iter)

        def fit_transform(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
            return rows[:, :2]

    monkeypatch.setattr("sklearn.manifold.TSNE", Recorder)
    words = [f"w{k}" for k in range(n_words)]
    rows = np.random.default_rng(1).standard_normal((n_words, 3)).astype(np.float32)
    groups = {"even": tuple(words[::2]), "odd": tuple(words[1::2])}
    map_words(WordVectors(rows, words, None), groups)
    assert asked == {
        "n_components": 2,
        "perplexity": perplexity,
        "learning_rate": 200.0,
        "random_state": 42,
        "init": "pca",
        "method": "exact",
        "max_iter": 2000,
    }


def test_the_bounds_are_those_of_each_model() -> None:
    one, other = crowded(8), replace(crowded(9), model="n", original=Separation(0.5, 0.6, 0.8, 0.1))
    assert [row[0] for row in separation_table([one, replace(one, model="n")]).rows[2:]] == [
        "highest / by chance"
    ]
    assert [(row[0], row[5]) for row in separation_table([one, other]).rows[2:]] == [
        ("highest / by chance, m&m", "0.900 / 0.070"),
        ("highest / by chance, n", "0.800 / 0.100"),
    ]


def test_signs_of_mathematics_are_only_signs() -> None:
    odd = replace(crowded(2), model="$m_$", groups=("$a_$", "b"), words=("$c^$", "d"))
    figure, labels = draw_map(odd)
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == [r"\$a_\$", "b"]
    assert {label.get_text() for label in labels} == {r"\$c^\$", "d"}
    assert b"<svg" in map_picture(odd, "svg")


def test_names_of_words_are_dark_enough_to_read() -> None:
    from matplotlib.colors import to_rgb

    _, labels = draw_map(replace(crowded(20), groups=tuple(f"g{k}" for k in range(20))))
    linear = [
        np.where(
            (c := np.array(to_rgb(label.get_color()))) <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4
        )
        for label in labels
    ]
    contrasts = [1.05 / (float(c @ [0.2126, 0.7152, 0.0722]) + 0.05) for c in linear]
    assert min(contrasts) > 4.5  # what accessibility guidelines ask of small letters


def test_labels_do_not_cover_each_other() -> None:
    figure, labels = draw_map(crowded())
    renderer = figure.canvas.get_renderer()
    boxes = [label.get_window_extent(renderer) for label in labels]
    assert len(boxes) == 60
    overlapping = [(a, b) for a, b in combinations(boxes, 2) if a.padded(-0.5).overlaps(b.padded(-0.5))]
    assert not overlapping
    frame = figure.axes[0].get_window_extent(renderer).padded(1)
    assert all(frame.contains(box.x0, box.y0) and frame.contains(box.x1, box.y1) for box in boxes)


def test_a_label_lies_in_a_direction_from_its_point() -> None:
    """By hand, 20 x 8 pixels, 10 away: on the right, above on the right, above, on the left, below."""
    half = 10 * np.sqrt(0.5)
    expected = {0: (13, -1), 2: (half + 3, half + 3), 4: (-7, 13), 6: (-half - 23, half + 3), 8: (-33, -1)}
    expected |= {12: (-13, -21), 1: (10 * np.cos(np.pi / 8) + 3, 10 * np.sin(np.pi / 8) + 3)}
    for step, offset in expected.items():
        assert _offset(2 * np.pi * step / 16, 10, 20, 8) == pytest.approx(offset), step
    near = _offset(0.29, 1, 20, 8)  # a sine of 0.286: not yet above
    assert near == pytest.approx((np.cos(0.29) + 3, np.sin(0.29) - 4 + 3))


def test_a_label_takes_the_nearest_free_place() -> None:
    point, frame = np.array([50.0, 50.0]), SimpleNamespace(x0=0, y0=0, x1=200, y1=100)
    taken = _Taken(np.array([[50.0, 50.0], [60.0, 50.0]]), 2.0, frame)
    # A place on the right has the other point in it: 4 x 4 pixels of it are covered.
    assert taken._covered((56, 48, 76, 58)) == pytest.approx(16)
    assert taken._covered((-5, 0, 5, 10)) == pytest.approx(50)  # half of it is outside
    assert taken._covered((190, 95, 210, 105)) == pytest.approx(150)
    assert taken._covered((47, 49, 51, 51)) == pytest.approx(6)
    found = [taken.place(point, 20, 10, 1.0) for _ in range(12)]
    places = [*found, taken.place(np.array([199.0, 99.0]), 20, 10, 2.0)]
    assert np.round(places, 2).tolist() == PLACES
    tight = _Taken(point[None], 2.0, SimpleNamespace(x0=0, y0=0, x1=1, y1=1))
    assert tight.place(point, 1000, 1000, 1.0) != (3, 3)
    full = _Taken(point[None], 2.0, SimpleNamespace(x0=0, y0=0, x1=np.inf, y1=np.inf))
    assert full.place(point, np.nan, 10, 2.0) == (6, 6)  # nowhere is better than anywhere else
    assert _Taken.gap((5, -3), 20, 10) == (5, 0)
    assert _Taken.gap((-30, 4), 20, 10) == (10, 4)
    assert _Taken.gap((-5, -25), 20, 10) == (0, 15)


def test_colours_are_told_apart_until_there_are_twenty() -> None:
    colours = [tuple(colour) for colour in _colours(21)]
    assert len({*colours[:20]}) == 20
    assert colours[20] == colours[0]


def test_colours_of_letters_are_darkened() -> None:
    assert _ink((1, 1, 1, 1)) == pytest.approx([0.4] * 3)
    assert _ink((0, 0.7, 1)) == pytest.approx([0, 0.7 * 0.4 / 0.57284, 0.4 / 0.57284])
    assert _ink((1, 0.6, 0)) == pytest.approx([0.4 / 0.64172, 0.6 * 0.4 / 0.64172, 0])
    assert _ink((0, 0, 1)) == pytest.approx([0, 0, 0.72])
    assert _ink((0, 0, 0)) == [0, 0, 0]


def test_the_look_of_a_map() -> None:
    figure, labels = draw_map(crowded(24))
    axes = figure.axes[0]
    assert (*figure.get_size_inches(), figure.dpi) == (13, 9, 150)
    assert axes.get_position().bounds == pytest.approx((0.02, 0.05, 0.77, 0.89))
    legend = axes.get_legend()
    anchor = legend.get_bbox_to_anchor().transformed(axes.transAxes.inverted())
    assert (anchor.x0, anchor.y0) == pytest.approx((1.01, 1))
    assert not legend.get_frame_on()
    assert [text.get_fontsize() for text in legend.get_texts()] == [10] * 5
    assert {label.get_fontsize() for label in labels} == {8}
    assert [drawn.get_sizes().tolist() for drawn in axes.collections] == [[26]] * 5
    assert [round(float(c.get_facecolor()[0][0]), 2) for c in axes.collections] == [
        0.12, 1.0, 0.17, 0.84, 0.58,
    ]  # fmt: skip
    lines = [text for text in axes.texts if text.arrow_patch is not None]
    assert len(axes.texts) == len(labels) + len(lines)
    low, high = axes.get_xlim()
    xs = crowded(24).positions[:, 0]
    assert (high - low) / (xs.max() - xs.min()) == pytest.approx(1.12, rel=1e-3)  # 6 % on both sides
    caption = figure.texts[0]
    assert (caption.get_position(), caption.get_fontsize()) == ((0.02, 0.018), 9)


def test_a_map_begins_with_the_main_axes_where_there_are_two(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[dict[str, Any]] = []

    class Kept:
        def __init__(self, max_iter: int = 0, **settings: Any) -> None:
            given.append({**settings, "max_iter": max_iter})

        def fit_transform(self, rows: Any) -> Any:
            return rows

    monkeypatch.setattr("sklearn.manifold.TSNE", Kept)
    for shape in ((8, 2), (8, 1), (500, 3), (501, 3)):
        _arranged(np.zeros(shape, np.float32), 7)
    assert [settings["init"] for settings in given] == ["pca", "random", "pca", "pca"]
    assert [settings["method"] for settings in given] == ["exact"] * 3 + ["barnes_hut"]
    assert [settings["perplexity"] for settings in given] == pytest.approx([7 / 3, 7 / 3, 30, 30])
    assert {(s["n_components"], s["max_iter"], s["random_state"]) for s in given} == {(2, 2000, 7)}


def test_pictures_and_pages(tmp_path: Path) -> None:
    found = crowded(8)
    assert map_picture(found)[:4] == b"\x89PNG"
    assert map_picture(found, "svg") == map_picture(found, "svg")
    page = map_html(found)
    assert "<svg" in page
    assert "m&amp;m: 8 words in 5 groups" in page
    assert "Not known to the model: x&lt;y." in page
    assert "group <0>" not in page
    plot_map(found, tmp_path / "map.svg")
    assert b"<svg" in (tmp_path / "map.svg").read_bytes()
    with pytest.raises(FileError, match=r"a map must end with \.png, \.svg, \.html"):
        plot_map(found, tmp_path / "map.gif")
    with pytest.raises(FileError, match="cannot be written"):
        plot_map(found, tmp_path / "nowhere" / "map.png")


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str], topics_model: Path) -> None:
    (tmp_path / "groups.txt").write_text("land: road car wheel\nsea: sea ship sail unknown\n")
    options = [str(topics_model), "--groups", str(tmp_path / "groups.txt")]
    assert main(["plot", "tsne", *options, "-o", str(tmp_path / "map.html")]) == 0
    out = capsys.readouterr().out
    assert "model does not know unknown" in out
    assert f"the map is drawn in {tmp_path / 'map.html'}" in out
    assert "<svg" in (tmp_path / "map.html").read_text()
    assert main(["plot", "tsne", *options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["kind"] == "omnitm word map"
    assert main(["plot", "tsne", *options, "-o", "map.gif"]) == 2
    assert "a map must end with" in capsys.readouterr().err


def test_the_command_for_clauses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], topics_model: Path, topics_index: Path
) -> None:
    command = ["plot", "clause", str(topics_model), "road", "--index", str(topics_index)]
    for options in ([], ["--clause", "2", "--name", "car", "wheel"]):
        assert main([*command, *options, "-o", str(tmp_path / "clause.png")]) == 0
        assert (tmp_path / "clause.png").read_bytes()[:4] == b"\x89PNG"
    assert "clause 2 of 'road'" in capsys.readouterr().out
    for options, message in (
        (["-n", "-1"], "The '-n' parameter of plot clause must be an int >= 0. Got -1"),
        (["-o", "clause.gif"], "a picture must end with .png, .svg, .pdf"),
    ):
        assert main([*command, *options]) == 2
        assert message in capsys.readouterr().err
    assert main([*command, "--name", "motorway"]) == 2
    assert "'motorway' is not in the vocabulary" in capsys.readouterr().err
