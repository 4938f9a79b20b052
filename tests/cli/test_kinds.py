"""Every command knows a model, a packed model, an index and text apart, and replaces only its own kind."""

from __future__ import annotations

import hashlib
import shlex
from typing import TYPE_CHECKING

import pytest

from omnitm.cli import COMMANDS, main
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMES = {
    "text": "a file of text or data",
    "index": "an index",
    "model": "a model",
    "packed": "a packed model",
    "saved": "a folder with a packed model",
}
TEXTS = ("index", "model", "packed", "saved")  # what is refused where text is wanted
CORPORA = ("model", "packed", "saved")
MODELS = ("text", "index", "saved")
FOLDERS = ("text", "index", "packed", "saved")
INDEXES = ("text", "model", "packed", "saved")
PACKED = ("text", "index", "model", "saved")

# Command, with {x} for what is given and the others as they should be; what it wants; what it must refuse.
INPUTS: list[tuple[str, str, tuple[str, ...]]] = [
    ("train {x} -o {new}", "text", CORPORA),
    ("train {x} -o {new} --model ppmi", "text", CORPORA),
    ("train {index} -o {new} --words {x}", "text", TEXTS),
    ("index {x} -o {new}", "text", TEXTS),
    ("index {text} {x} -o {new}", "text", TEXTS),
    ("index {x} -o {index} --append", "text", TEXTS),
    ("index {text} -o {new} --keep {x}", "text", TEXTS),
    ("index {text} -o {new} --stop-words {x}", "text", TEXTS),
    ("index {text} -o {new} --vocabulary {x}", "an index", CORPORA),
    ("index {text} -o {x} --append", "an index", INDEXES),
    ("merge {x} -o {new}", "a model", MODELS),
    ("merge {x} -o {new} --allow-missing", "a model", MODELS),
    ("merge {model} {x} -o {new}", "a model", MODELS),
    ("similar {x} road", "a model", MODELS),
    ("explain {x} road", "a model", MODELS),
    ("explain {model} road --index {x}", "an index", INDEXES),
    ("why {x} road car", "a model", MODELS),
    ("why {model} road car --index {x}", "an index", INDEXES),
    ("trace {x} road car", "a model", MODELS),
    ("trace {model} road car --index {x}", "an index", INDEXES),
    ("explore {x} --no-browser", "a model", MODELS),
    ("explore {model} --no-browser --index {x}", "an index", INDEXES),
    ("evaluate similarity {x} --sets {pairs}", "a model", MODELS),
    ("evaluate similarity {model} --sets {pairs} --index {x}", "an index", INDEXES),
    ("evaluate analogies {x} --questions {questions}", "a model", MODELS),
    ("evaluate categories {x} --sets {categories}", "a model", MODELS),
    ("evaluate ablation {x} -o {new} --sets {pairs} --no-plot", "an index", INDEXES),
    ("evaluate interpretability {x} --index {index}", "a model", MODELS),
    ("evaluate interpretability {model} --index {x}", "an index", INDEXES),
    ("evaluate clustering {x} --sets {labelled}", "a model", MODELS),
    ("evaluate classification {x} --set {labelled}", "a model", MODELS),
    ("plot tsne {x}", "a model", MODELS),
    ("plot clause {x} road -o {new}.svg", "a model", MODELS),
    ("plot clause {model} road -o {new}.svg --index {x}", "an index", INDEXES),
    ("info {x}", "a model", ("text", "saved")),
    ("card {x} --license mit", "a model", FOLDERS),
    ("export {x} -o {new} --format numpy", "a model", MODELS),
    ("pack {x} -o {new}", "a model", FOLDERS),
    ("unpack {x} -o {new}", "a packed model", PACKED),
    ("cooccur {x} road", "an index", INDEXES),
    ("group {x} file", "an index", INDEXES),
    ("compare {x} road --by file", "an index", INDEXES),
    ("senses {x} road", "a model", MODELS),
    ("senses {model} road --index {x}", "an index", INDEXES),
    ("themes {x} -k 2", "a model", MODELS),
    ("reproduce paper --corpus {x} -o {new} --quiet", "text", CORPORA),
]
# Command with {x} for what is there already; the kind that it may replace.
OUTPUTS: list[tuple[str, str]] = [
    ("train {index} -o {x} --force", "model"),
    ("train {text} -o {x} --force", "model"),
    ("train {index} -o {x} --resume", "model"),
    ("train {text} -o {x} --add", "model"),
    ("train {index} -o {x} --force --model ppmi", "model"),
    ("merge {model} -o {x} --force", "model"),
    ("unpack {packed} -o {x} --force", "model"),
    ("index {text} -o {x} --force", "index"),
    ("pack {model} -o {x} --force", "packed"),
    ("export {model} -o {x} --force --format numpy", "text"),
    ("evaluate similarity {model} --sets {pairs} -o {x}", "text"),
    ("evaluate ablation {index} -o {x} --sets {pairs} --no-plot", ""),
    ("reproduce paper --corpus {index} -o {x} --quiet", ""),
]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One of each kind, in a folder whose name has to be quoted."""
    folder = tmp_path_factory.mktemp("world") / "two words"
    folder.mkdir()
    kinds = {name: folder / name for name in NAMES}
    kinds["text"].write_text("road car wheel\nsea ship sail\nroad wheel driver\nsea sail wave\n" * 20)
    run = ["--quiet"]
    assert main(["index", str(kinds["text"]), "-o", str(kinds["index"]), *run]) == 0
    quick = ["--n-examples", "20", "--n-clauses", "4"]
    assert main(["train", str(kinds["index"]), "-o", str(kinds["model"]), *quick, *run]) == 0
    assert main(["pack", str(kinds["model"]), "-o", str(kinds["packed"]), *run]) == 0
    WordVectors.load(kinds["model"]).save_pretrained(kinds["saved"])
    others = {"pairs": "road\tcar\t9\nsea\tship\t8\nroad\tsea\t1\n", "questions": ": a\nroad car sea ship\n"}
    others["categories"] = "land\troad\nland\tcar\nwater\tsea\nwater\tship\n"
    others["labelled"] = "".join(f'{{"text": "road car", "label": "{k % 2}"}}\n' for k in range(8))
    for name, content in others.items():
        kinds[name] = folder / f"{name}.{'jsonl' if name == 'labelled' else 'tsv'}"
        kinds[name].write_text(content)
    return kinds


@pytest.fixture
def unchanged(world: dict[str, Path]) -> Iterator[None]:
    """Fail if anything in the world is another file afterwards, or is gone, or is new."""
    before = contents(world["text"].parent)
    yield
    assert contents(world["text"].parent) == before


def contents(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def command(template: str, world: dict[str, Path], given: Path, new: Path) -> list[str]:
    values = {**world, "x": given, "new": new}
    return [part.format(**values) for part in template.split()]


@pytest.mark.parametrize(
    ("template", "wanted", "kind"), [(t, wanted, kind) for t, wanted, kinds in INPUTS for kind in kinds]
)
@pytest.mark.usefixtures("unchanged")
def test_the_wrong_kind_is_refused_by_name(
    world: dict[str, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    template: str,
    wanted: str,
    kind: str,
) -> None:
    assert main(command(template, world, world[kind], tmp_path / "new")) == 2
    error = capsys.readouterr().err
    instead = "the folder of one" if (kind, wanted) == ("packed", "a model") else wanted
    assert f"omnitm: error: {world[kind]}: is {NAMES[kind]}, not {instead}; " in error
    assert "Traceback" not in error
    assert not (tmp_path / "new" / "manifest.json").exists()


@pytest.mark.parametrize(
    ("template", "kind"), [(t, kind) for t, own in OUTPUTS for kind in NAMES if kind != own]
)
@pytest.mark.usefixtures("unchanged")
def test_another_kind_is_never_replaced(
    world: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], template: str, kind: str
) -> None:
    assert main(command(template, world, world[kind], tmp_path / "new")) == 2
    error = capsys.readouterr().err
    if "unpack" not in template or kind != "packed":  # there the source is the output
        assert f"{world[kind]}: is {NAMES[kind]}, not " in error
        assert "so it is not replaced; choose another name for the output" in error


def test_every_command_is_in_the_tables() -> None:
    without_a_path = {"demo", "evaluate", "plot", "evaluate change"}  # the last reads published data only
    for name in set(COMMANDS) - without_a_path:
        assert any(template.startswith(f"{name} ") for template, *_ in INPUTS), name


@pytest.mark.usefixtures("unchanged")
def test_models_are_not_read_as_text_from_a_folder_around_them_or_by_a_pattern(
    world: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = world["text"].parent
    assert main(["index", str(folder), "-o", str(tmp_path / "i")]) == 2
    assert f"{world['index']}: is an index, not text" in capsys.readouterr().err
    assert main(["index", str(folder / "pa*"), "-o", str(tmp_path / "i")]) == 2
    assert f"{world['packed']}: is a packed model, not text" in capsys.readouterr().err
    for pattern in ("mod*", "mod*/*.txt", "*l/*.txt", "**/words.txt", "model/words.txt"):
        assert main(["index", str(folder / pattern), "-o", str(tmp_path / "i")]) == 2
        assert f"{world['model']}: is a model, not text" in capsys.readouterr().err
    assert main(["index", str(folder.parent / "two*"), "-o", str(tmp_path / "i")]) == 2
    assert "the pattern matches folders only, such as" in capsys.readouterr().err
    assert not (tmp_path / "i").exists()


@pytest.mark.usefixtures("unchanged")
def test_a_model_that_has_its_index_names_it(
    world: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "m m"
    quick = ["--n-examples", "20", "--n-clauses", "4", "--quiet"]
    assert main(["train", str(world["text"]), "-o", str(model), *quick]) == 0
    assert main(["cooccur", str(model), "road"]) == 2
    error = capsys.readouterr().err
    assert f"is a model, not an index; its index is {shlex.quote(str(model / 'index'))}" in error
    assert main(["cooccur", shlex.split(error.rpartition("its index is ")[2])[0], "road"]) == 0
