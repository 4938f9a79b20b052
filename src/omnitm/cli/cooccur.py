"""`omnitm cooccur`: in how many documents words occur together."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from omnitm.cli.options import option
from omnitm.cli.reports import make_console, make_table, marked_text, print_json
from omnitm.errors import ParameterError

if TYPE_CHECKING:
    from omnitm.corpus import Cooccurrence
    from omnitm.corpus.cooccurrence import Partner

EXAMPLE = """\
  omnitm cooccur news.index partner network software engineer
  omnitm cooccur news.index partner                          words that occur with it more than by chance"""
TEXT_WIDTH = 300


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    option(parser, "INDEX", "folder of an index")
    option(
        parser,
        "WORD...",
        "several words to count, each pair and all together; of one word, what occurs with it is listed",
        dest="words",
    )
    option(parser, "--examples N", "number of documents to show", default=3)
    option(parser, "--json", "print JSON")


def run(arguments: argparse.Namespace) -> None:
    """Count, show, and give examples."""
    from omnitm.corpus import DocumentIndex, cooccurrence, partners
    from omnitm.explain.evidence import spread

    if arguments.examples < 0:
        raise ParameterError(f"--examples must be at least 0. Got {arguments.examples} instead.")
    index = DocumentIndex.open(arguments.index)
    words = [index.known_word(word) for word in arguments.words]
    found = cooccurrence(index, words)
    occurring = partners(index, words[0], 20) if len(words) == 1 else []
    texts = index.document_texts(spread(found.documents, arguments.examples))
    if arguments.json:
        print_json(_facts(found, occurring, texts))
    else:
        _print(found, occurring, texts)


def _pairs(found: Cooccurrence) -> list[tuple[str, str, int]]:
    n = len(found.words)
    return [
        (found.words[i], found.words[j], int(found.pairs[i, j])) for i in range(n) for j in range(i + 1, n)
    ]


def _facts(found: Cooccurrence, occurring: list[Partner], texts: dict[int, str | None]) -> dict[str, Any]:
    return {
        "words": {word: int(found.pairs[k, k]) for k, word in enumerate(found.words)},
        "pairs": [{"words": [first, second], "documents": n} for first, second, n in _pairs(found)],
        "together": len(found.documents),
        "partners": [found._asdict() for found in occurring],
        "examples": [{"document": number, "text": text} for number, text in texts.items()],
    }


def _print(found: Cooccurrence, occurring: list[Partner], texts: dict[int, str | None]) -> None:
    from rich.text import Text

    numbers = ("documents", "times chance") if occurring else ("documents",)
    table = make_table("", "words", *numbers, numbers=numbers)
    for k, word in enumerate(found.words):
        table.add_row(word, f"{found.pairs[k, k]:,}")
    for first, second, n in _pairs(found):
        table.add_row(f"{first} + {second}", f"{n:,}")
    for partner in occurring:
        table.add_row(f"{found.words[0]} + {partner.word}", f"{partner.documents:,}", f"{partner.lift:,.1f}")
    if len(found.words) > 2:
        table.add_row("all of them", f"{len(found.documents):,}")
    console = make_console()
    console.print(table)
    if occurring:
        console.print("the most telling first: many times chance, in many documents", style="dim")
    for number, text in texts.items():
        shown = "(the text is not there any more, or has changed)" if text is None else shortened(text)
        console.print(Text.assemble((f"document {number:,} ", "dim"), marked_text(shown, found.words)))


def shortened(text: str) -> str:
    """Beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= TEXT_WIDTH else line[: TEXT_WIDTH - 3] + "..."
