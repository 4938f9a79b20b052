"""Examples in documentation and docstrings run and are true."""

from __future__ import annotations

import doctest
import importlib
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from numpy.testing import assert_array_equal

from omnitm import OmniTMAE
from omnitm.cli import main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SOURCES = ROOT / "src" / "omnitm"
MODULES = sorted(
    ".".join(path.relative_to(SOURCES).with_suffix("").parts)
    for path in SOURCES.rglob("*.py")
    if re.search(r"^ +>>> ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
)


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"omnitm.{name}"))
    assert result.attempted
    assert not result.failed


@pytest.mark.parametrize(
    "old",
    ["training.train_model", "word_vectors.WordVectors", "estimator.OmniTMAE", "store.packing.pack_model"],
)
def test_former_import_paths_still_work(old: str) -> None:
    module, name = f"omnitm.embedding.{old}".rsplit(".", 1)
    code = f"from {module} import {name}; print({name}.__name__)"
    done = subprocess.run(
        [sys.executable, "-W", "default", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{name}\n"
    assert "DeprecationWarning: omnitm.embedding is now" in done.stderr


def test_other_models() -> None:
    (block,) = re.findall(r"```python\n(.*?)```", (DOCS / "baselines.md").read_text(), flags=re.DOTALL)
    example = doctest.DocTestParser().get_doctest(block, {}, "baselines.md", None, 0)
    result = doctest.DocTestRunner().run(example)
    assert result.attempted == 5
    assert not result.failed


def test_classifier(capsys: pytest.CaptureFixture[str]) -> None:
    text = (DOCS / "classifier.md").read_text()
    (block, printed) = re.findall(r"```python\n(.*?)```\n\nprints\n\n```\n(.*?)```", text, flags=re.DOTALL)[0]
    names: dict[str, object] = {}
    exec(block, names)  # noqa: S102 - our own documentation
    assert names["accuracy"] == 1.0
    assert capsys.readouterr().out == printed


def test_quick_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "quickstart.md").read_text(), flags=re.DOTALL)
    assert len(blocks) == 2
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)  # noqa: S102 - our own documentation
    assert names["vectors"].most_similar("car", topn=1)[0][0] == "wheel"  # type: ignore[attr-defined]
    assert (tmp_path / "cars" / "manifest.json").exists()


def test_python_in_the_guide_to_explanations(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", (DOCS / "explain.md").read_text(), flags=re.DOTALL)
    exec(block, {})  # noqa: S102 - our own documentation
    assert "wheel" in capsys.readouterr().out


def test_python_in_the_guide_to_documents(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", (DOCS / "documents.md").read_text(), flags=re.DOTALL)
    exec(block, {})  # noqa: S102 - our own documentation
    assert capsys.readouterr().out in {"[0 1]\n", "[1 0]\n"}


def test_python_in_the_readme(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    exec(block, {})  # noqa: S102 - our own documentation
    assert capsys.readouterr().out.startswith("[('wheel', ")


def test_commands_in_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each `omnitm` line works, in order, on a small text of that name."""
    monkeypatch.chdir(tmp_path)
    sentences = ["driving a car on the road", "the road was wet", "a cat eats fish", "fish swim in the sea"]
    (tmp_path / "wikipedia.txt").write_text("\n".join(sentences * 20), encoding="utf-8")
    commands = re.findall(r"^omnitm (.*?)(?:  +#.*)?$", (ROOT / "README.md").read_text(), flags=re.MULTILINE)
    assert len(commands) >= 4
    for command in commands:
        assert main(shlex.split(command)) == 0, command


def test_the_readme_names_files_and_targets_that_exist() -> None:
    readme = (ROOT / "README.md").read_text()
    assert len(readme.splitlines()) <= 80
    for target in re.findall(r"\]\((?!https:)([^)#]+)\)", readme):
        assert (ROOT / target).exists(), target
    targets = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", readme, flags=re.MULTILINE):
        assert f"\n{target}:" in targets


def test_the_way_of_a_sentence_is_short_and_real() -> None:
    """The page on the architecture names each file on the way once, and each exists."""
    text = (DOCS / "architecture.md").read_text()
    way = text[text.index("## The way of a sentence") : text.index("## Where do I add")]
    files = re.findall(r"`((?:\w+/)+\w+\.\w+)`", way)
    assert 20 <= len(set(files)) <= 40
    for name in files:
        assert (ROOT / "src" / "omnitm" / name).exists() or (ROOT / name).exists(), name


def run_blocks(page: str) -> dict[str, object]:
    """Run all Python of a page, in order, in one namespace."""
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), flags=re.DOTALL)
    assert blocks
    for block in blocks:
        exec(block, names)  # noqa: S102 - our own documentation
    return names


@pytest.mark.parametrize("page", ["index.md", "reproducibility.md", "parameters.md"])
def test_pages_with_python(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_blocks(page)


def test_python_in_the_guide_to_sharing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gensim")
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    names = run_blocks("sharing.md")
    assert names["again"].index_to_key == names["vectors"].index_to_key  # type: ignore[attr-defined]
    assert names["sentences"].shape[0] == 2  # type: ignore[attr-defined]
    assert {entry.name for entry in tmp_path.iterdir()} == {"cars", "cars.txt", "cars.safetensors"}


def test_python_in_the_model_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    vectors = OmniTMAE(n_examples=20).fit(["car wheel", "sea ship"] * 9).word_vectors_
    vectors.save("model")
    assert_array_equal(cast("Any", run_blocks("model-format.md")["matrix"]), vectors.matrix)


def test_commands_in_the_guide_to_sharing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each `$ omnitm` line works, in order, on a small model of that name, with pairs that it knows."""
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "news.txt").write_text("driving a car on the road\nfish swim in the sea\n" * 20)
    assert main(["train", "news.txt", "-o", "news-model", "--quiet"]) == 0
    commands = re.findall(r"^\$ omnitm (.*)$", (DOCS / "sharing.md").read_text(), flags=re.MULTILINE)
    assert len(commands) == 8
    (tmp_path / "pairs.tsv").write_text("car\troad\t9\nfish\tsea\t8\ncar\tsea\t1\nfish\troad\t2\n")
    for command in commands:
        small = command.replace("--top 100", "--top 3").replace(
            "--format json", "--sets pairs.tsv --format json"
        )
        assert main(shlex.split(small)) == 0, command
    assert "pairs (Spearman, association)" in (tmp_path / "news-model" / "README.md").read_text()


def test_the_site_has_every_page() -> None:
    listed = set(re.findall(r": ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), flags=re.MULTILINE))
    assert listed == {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")}
