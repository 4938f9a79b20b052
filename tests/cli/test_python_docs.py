from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnitm.cli import demo
from omnitm.errors import CorpusError

if TYPE_CHECKING:
    from pathlib import Path

    from omnitm.explain import Explainer

SOURCE = '''"""Module text.

Second paragraph
goes on.
"""
raise SystemExit("must not be imported")

class Car:
    """A car."""

    async def drive(self):
        """Module text."""

def bare():
    return "no docstring \\d"
'''


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(demo, "_FEWEST", 2)
    monkeypatch.setattr(demo, "_help_topics", lambda: ["Topic one.\n\n\nTopic two."])
    (tmp_path / "cars.py").write_text(SOURCE)
    (tmp_path / "broken.py").write_text("def (")
    (tmp_path / "binary.py").write_bytes(b"\xff\xfe\0")
    for skipped in ("test", "site-packages"):
        (tmp_path / skipped).mkdir()
        (tmp_path / skipped / "x.py").write_text('"""Not this."""')
    return tmp_path


def test_paragraphs_of_docstrings_and_topics_once_each(library: Path) -> None:
    assert demo.python_paragraphs(library) == [
        "Module text.",
        "Second paragraph goes on.",
        "A car.",
        "Topic one.",
        "Topic two.",
    ]


def test_a_python_without_sources_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "_help_topics", list)
    with pytest.raises(CorpusError, match=r"only 0 paragraphs .*zipped or stripped.*omnitm train YOUR"):
        demo.python_paragraphs(tmp_path)


def test_help_topics_are_there() -> None:
    assert len(demo._help_topics()) > 50


def test_a_word_with_senses_is_suggested(uneven: Explainer, monkeypatch: pytest.MonkeyPatch) -> None:
    def chosen(first: tuple[str, ...], n_asked: int) -> str:
        monkeypatch.setattr(demo, "_WITH_SENSES", first)
        monkeypatch.setattr(demo, "_ASKED_FOR_SENSES", n_asked)
        return demo.word_with_senses(uneven)

    assert chosen(("unheard", "dend", "bass", "cold"), 0) == "bass"  # of `dend` there is one sense
    assert chosen(("dend",), 0) == uneven.vectors.index_to_key[0]
    words = uneven.vectors.index_to_key
    frequent = chosen((), len(words))
    assert len(uneven.senses(frequent).senses) > 1
    assert all(len(uneven.senses(word).senses) == 1 for word in words[: words.index(frequent)])
