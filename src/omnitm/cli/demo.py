"""`omnitm demo`: the whole way, on the documentation inside one's own Python."""

from __future__ import annotations

import argparse
import ast
import os
import shlex
import sysconfig
import tokenize
import warnings
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from omnitm.cli.options import option
from omnitm.cli.reports import make_console
from omnitm.errors import CorpusError, FileError

if TYPE_CHECKING:
    from rich.console import Console

    from omnitm.corpus import DocumentIndex
    from omnitm.explain import Explainer


_TEXT, _INDEX, _MODEL = "python-docs.txt", "index", "model"
_VOCABULARY = 5_000
_TRAINED = 500
_SHOWN = ("socket", "thread", "regular", "exception")
# Words with two senses in the documentation of Python 3.11, asked before the most frequent ones.
_WITH_SENSES = ("code", "type", "test", "python")
_ASKED_FOR_SENSES = 20
EXAMPLE = """\
  omnitm demo
  omnitm similar omnitm-demo/model server"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    option(parser, "-o --output FOLDER", "folder for text, index and model", default=Path("omnitm-demo"))
    option(parser, "--threads N", "number of threads (default: one per core)")


def run(arguments: argparse.Namespace) -> None:
    """Read, train, show, suggest; a second run finds everything done and only shows it."""
    from omnitm.cli.train import prepare_similarity
    from omnitm.engines import ThreadsEngine
    from omnitm.explain import Explainer
    from omnitm.training.vocabulary import train_model
    from omnitm.vectors import WordVectors

    console, folder = make_console(), arguments.output
    engine = ThreadsEngine(arguments.threads)
    index = _corpus_index(folder, _corpus_text(folder, console), engine.n_jobs)
    console.print(
        f"{index.n_documents:,} documents, {index.n_words:,} words; training the most frequent {_TRAINED}"
    )
    train_model(
        index,
        folder / _MODEL,
        most_frequent(index, _TRAINED, _SHOWN),
        engine=engine,
        progress=True,
        resume=True,
    )
    prepare_similarity(folder / _MODEL, with_map=True, quiet=False)
    vectors = WordVectors.load(folder / _MODEL)
    if vectors.default_metric == "similarity":
        vectors.themes()  # kept beside the model, as the map is, so that the explorer shows all of it
    explainer = Explainer(vectors, index)
    for word in (word for word in _SHOWN if word in vectors):
        _show(console, explainer, word)
    _suggest(console, folder, explainer)


def most_frequent(index: DocumentIndex, count: int, also: tuple[str, ...]) -> list[str]:
    """Name the words in most documents, and some others if the vocabulary has them."""
    others = (word for word in also if word in set(index.vocabulary))
    return list(dict.fromkeys([*index.frequent_first[:count], *others]))


def _corpus_text(folder: Path, console: Console) -> Path:
    from omnitm.files.plain import write_file, writing

    path = folder / _TEXT
    if path.exists():
        console.print(f"using the text in {path}")
        return path
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileError(
            folder, "exists and is not a demo folder; choose another with `omnitm demo -o FOLDER`"
        )
    with console.status("reading the documentation inside your Python"):
        paragraphs = python_paragraphs()
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    write_file(path, "".join(f"{paragraph}\n" for paragraph in paragraphs).encode(errors="replace"))
    console.print(
        f"{len(paragraphs):,} paragraphs of your Python's documentation are now in {path}", soft_wrap=True
    )
    return path


def _corpus_index(folder: Path, text: Path, threads: int) -> DocumentIndex:
    from omnitm.cli.train import make_index
    from omnitm.corpus import DocumentIndex, VocabularyRules
    from omnitm.files.kinds import kind_of

    if kind_of(folder / _INDEX) == "index":
        return DocumentIndex.open(folder / _INDEX)
    rules = VocabularyRules(max_words=_VOCABULARY)
    return make_index(text, folder / _INDEX, vocabulary=rules, threads=threads, quiet=True)


def word_with_senses(explainer: Explainer) -> str:
    """Choose a word that has more than one sense, or else the most frequent word."""
    vectors = explainer.vectors
    asked = [*(word for word in _WITH_SENSES if word in vectors), *vectors.index_to_key[:_ASKED_FOR_SENSES]]
    several = (word for word in asked if len(explainer.senses(word, n=0, n_documents=0).senses) > 1)
    return next(several, vectors.index_to_key[0])


def _show(console: Console, explainer: Explainer, word: str) -> None:
    from rich.text import Text

    neighbours = ", ".join(name for name, _ in explainer.vectors.similar_by_word(word, topn=7))
    console.print(Text.assemble("\n", (word, "bold"), f": {neighbours}"), soft_wrap=True)
    for rule in explainer.explain(word, n_documents=0).first_rules[:3]:
        weight = rule.rule.weight
        console.print(f"  because of  {rule.shortened()}  (weight {weight})", soft_wrap=True)


def _suggest(console: Console, folder: Path, explainer: Explainer) -> None:
    vectors = explainer.vectors
    model, index = shlex.quote(str(folder / _MODEL)), shlex.quote(str(folder / _INDEX))
    size = f"{len(vectors):,} words x {vectors.vector_size:,} features"
    suggestions = {
        f"omnitm similar {model} server list -n 5": "neighbours of other words",
        f"omnitm similar {model} server --metric alike": "words that can stand in its place",
        f"omnitm why {model} server client": "what two words have in common",
        f"omnitm senses {model} {word_with_senses(explainer)}": "what a word means here",
        f"omnitm themes {model}": "what the text is about",
        f"omnitm explain {model} socket": "its rules, how true they are, documents",
        f"omnitm cooccur {index} socket port": "documents that have both",
        "omnitm train YOUR.txt -o your-model": "your own text, a document per line",
        f"omnitm explore {model}": "all of it in a web page",
    }
    width = max(map(len, suggestions)) + 2
    console.print(f"\nThe model is in {model}: {size}. What to try next:", soft_wrap=True)
    for command, shows in suggestions.items():
        console.print(f"  {command:{width}}{shows}", soft_wrap=True)


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
