"""`omnitm senses`: the senses of a word, and which one a text has."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from omnitm.cli.options import add_word_options, option
from omnitm.cli.reports import make_console, make_table, percent, print_document, print_json, times

if TYPE_CHECKING:
    from omnitm.explain import Senses

EXAMPLE = """\
  omnitm senses news-model bank
  omnitm senses news-model bank --text "the bank lent money"     # which sense is it here?
  omnitm similar news-model bank --sense 2                       # neighbours of one sense"""
_SHOWN_FEATURES = 8


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_word_options(parser)
    option(parser, "--text TEXT", "say which sense the word has in this text")


def run(arguments: argparse.Namespace) -> None:
    """Tell the senses apart, or find the one of a text."""
    from omnitm.explain import Explainer

    explainer = Explainer.open(arguments.model, arguments.index)
    word = explainer.vectors.known_word(arguments.word)
    if arguments.text is not None:
        sense, scores = explainer.sense_of(word, arguments.text)
        if arguments.json:
            print_json({"word": word, "sense": sense, "scores": scores})
        else:
            named = ", ".join(f"{number}: {score:.2f}" for number, score in scores.items())
            print(f"sense {sense or 'unknown'} of {word} (scores {named})")
        return
    found = explainer.senses(word, n_documents=arguments.documents)
    if arguments.json:
        print_json(found.to_dict())
    else:
        _print(found)


def _print(found: Senses) -> None:
    from rich.text import Text

    console = make_console()
    numbers = ("share",)
    title = f"{found.word}: {len(found.senses)} {'sense' if len(found.senses) == 1 else 'senses'}"
    table = make_table(title, "sense", *numbers, "features", "neighbours", "rule", numbers=numbers)
    for sense in found.senses:
        features, neighbours = (
            Text(", ".join(name for name, _ in pairs[:_SHOWN_FEATURES]))
            for pairs in (sense.features, sense.neighbours)
        )
        rule = "" if sense.match is None else f"{sense.rule} ({times(sense.match.lift)})"
        table.add_row(str(sense.number), percent(sense.share, 0), features, neighbours, Text(rule))
    console.print(table)
    if found.n_documents:
        share = found.n_assigned / found.n_documents
        console.print(f"shares of the {share:.0%} of its documents that have another known word", style="dim")
    for sense in found.senses:
        for document in sense.documents:
            marked = [found.word, *(name for name, _ in sense.features)]
            print_document(console, f"sense {sense.number}:", document, marked)
