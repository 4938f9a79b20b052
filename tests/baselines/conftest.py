"""A small text of two topics, indexed with its files, so that order-sensitive models can read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from omnitm.corpus import DocumentIndex, build_index

if TYPE_CHECKING:
    from pathlib import Path

TOPICS = (
    ("road", "car", "wheel", "driver", "engine", "traffic"),
    ("sea", "ship", "sail", "captain", "harbour", "wave"),
)


def topic_text(n_lines: int = 300, words_per_line: int = 8) -> str:
    """Every line speaks of one topic only."""
    rng = np.random.default_rng(3)
    lines = [" ".join(rng.choice(TOPICS[line % 2], words_per_line)) for line in range(n_lines)]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="session")
def topics(tmp_path_factory: pytest.TempPathFactory) -> DocumentIndex:
    folder: Path = tmp_path_factory.mktemp("topics")
    (folder / "text.txt").write_text(topic_text())
    return DocumentIndex.open(build_index(folder / "text.txt", folder / "index"))
