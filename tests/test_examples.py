"""Examples in documentation and docstrings run and are true."""

from __future__ import annotations

import doctest
import importlib
import re
import shlex
from pathlib import Path

import pytest

from omnitm.cli import main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MODULES = (
    "baselines.ppmi",
    "baselines.registry",
    "embedding.estimator",
    "embedding.store.record",
    "embedding.word_vectors",
    "evaluation.coherence",
    "explain.evidence",
    "explain.explainer",
    "explain.matching",
    "explain.rules",
    "machine.settings",
)


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"omnitm.{name}"))
    assert result.attempted
    assert not result.failed


def test_other_models() -> None:
    (block,) = re.findall(r"```python\n(.*?)```", (DOCS / "baselines.md").read_text(), flags=re.DOTALL)
    example = doctest.DocTestParser().get_doctest(block, {}, "baselines.md", None, 0)
    result = doctest.DocTestRunner().run(example)
    assert result.attempted == 5
    assert not result.failed


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
    for target in re.findall(r"\]\(([^)#]+)\)", readme):
        assert (ROOT / target).exists(), target
    targets = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", readme, flags=re.MULTILINE):
        assert f"\n{target}:" in targets
