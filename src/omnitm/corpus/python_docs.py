"""A corpus that everyone has: the documentation inside one's own Python."""

from __future__ import annotations

import ast
import os
import sysconfig
import tokenize
import warnings
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from omnitm.errors import CorpusError

_NOT_DOCUMENTATION = {"__pycache__", "dist-packages", "idlelib", "lib2to3", "site-packages", "test", "tests"}
_FEWEST = 1_000
_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")  # where statements have statements
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def python_paragraphs(library: str | Path | None = None) -> list[str]:
    """Collect the paragraphs of all docstrings of the standard library, and of Python's help topics.

    Sources are parsed, not imported. The order is fixed, and a paragraph that occurs again is left out.

    Parameters
    ----------
    library
        Folder of the standard library; None: that of the running Python.
    """
    folder = Path(library or sysconfig.get_path("stdlib"))
    texts = [text for file in _sources(folder) for text in _docstrings(file)]
    texts.extend(_help_topics())
    paragraphs = list(dict.fromkeys(paragraph for text in texts for paragraph in _split(text)))
    if len(paragraphs) < _FEWEST:
        raise CorpusError(
            f"{folder}: only {len(paragraphs):,} paragraphs of documentation found; this Python seems to "
            "come without its sources (zipped or stripped). Use another Python, or text of your own: "
            "omnitm train YOUR.txt -o MODEL"
        )
    return paragraphs


def _sources(folder: Path) -> list[Path]:
    found = []
    for here, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in _NOT_DOCUMENTATION]  # not even looked into
        found += [Path(here, name) for name in files if name.endswith(".py")]
    return sorted(found)


def _docstrings(file: Path) -> Iterator[str]:
    try:
        with tokenize.open(file) as source, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # old string escapes in other people's code
            tree = ast.parse(source.read())
    except (OSError, SyntaxError, ValueError):
        return  # a template, or a file for another Python: nothing to read here
    nodes: deque[ast.AST] = deque([tree])
    while nodes:
        node = nodes.popleft()
        if isinstance(node, _DOCUMENTED):
            yield ast.get_docstring(node) or ""
        for name in _BLOCKS:
            nodes.extend(getattr(node, name, ()))


def _help_topics() -> list[str]:
    try:
        from pydoc_data.topics import topics
    except ImportError:  # some distributions put it into a package of its own
        return []
    return [topics[name] for name in sorted(topics)]


def _split(text: str) -> Iterator[str]:
    """Cut at blank lines, and put each paragraph on one line."""
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.strip():
            lines.append(line.strip())
        elif lines:
            yield " ".join(lines)
            lines = []
