"""The documentation site builds without warnings and loads nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.skipif(
    not find_spec("mkdocstrings") or not find_spec("material"),
    reason="the extra 'docs' is not installed; `make docs` builds the site in an environment of its own",
)
def test_the_site(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    environment = {"NO_MKDOCS_2_WARNING": "1", "PATH": "/usr/bin:/bin"}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        loaded = re.findall(r"<(?:script|img|link)[^>]+(?:src|href)=\"(https?://[^\"]+)", page.read_text())
        assert not loaded, page
    reference = (tmp_path / "api" / "word-vectors.html").read_text()
    for name in ("most_similar", "save_word2vec_format", "from_pretrained"):
        assert f'id="omnitm.embedding.word_vectors.WordVectors.{name}"' in reference
