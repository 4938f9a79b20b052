"""Examples in documentation and docstrings run and are true."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
MODULES = (
    "baselines.ppmi",
    "baselines.registry",
    "embedding.estimator",
    "embedding.store.record",
    "embedding.word_vectors",
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
