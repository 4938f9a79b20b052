"""`omnitm plot clause`: the states of all automata of a clause, as in the paper's Figure 3."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from omnitm.cli.options import option
from omnitm.errors import ParameterError
from omnitm.parameters import check_integer

if TYPE_CHECKING:
    from omnitm.explain import Explainer

EXAMPLE = """\
  omnitm plot clause news-model happy -o clause.png
  omnitm plot clause news-model happy --clause 4 --name sad angry rich -o clause.svg"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    option(parser, "MODEL", "folder of a trained model")
    option(parser, "WORD", "a trained word")
    option(parser, "-o --output FILE", ".png, .svg or .pdf", default=Path("clause.png"))
    option(
        parser,
        "--clause NUMBER",
        "default: the positive clause whose words have the highest states",
        type=int,
    )
    option(parser, "--index INDEX", "the index that the model was trained from")
    option(parser, "--name WORD...", "words to name", dest="named", default=[])
    option(parser, "-n N", "literals to name if no words are given", dest="count", default=12)


def run(arguments: argparse.Namespace) -> int:
    """Train the word again and draw one of its clauses."""
    from omnitm.explain import Explainer
    from omnitm.explain.plots import check_picture, plot_clause

    check_picture(arguments.output)
    check_integer("plot clause", "-n", arguments.count, 0)
    explainer = Explainer.open(arguments.model, arguments.index)
    for word in arguments.named:
        explainer.vectors.feature_index(word)
    number = arguments.clause
    if number is None:
        number = _most_telling(explainer, arguments.word)
    clause = explainer.clause(arguments.word, number)
    features = explainer.vectors.feature_names
    plot_clause(clause, features, arguments.output, named=arguments.named, n_named=arguments.count)
    print(f"clause {number} of {arguments.word!r} (weight {clause.weight}) is drawn in {arguments.output}")
    return 0


def _most_telling(explainer: Explainer, word: str) -> int:
    """Find the positive clause whose strongest words are the strongest."""
    machine = explainer.machines[word]
    if not machine.positive_clauses:
        raise ParameterError(f"{word!r} has no clause with a positive weight; name one with --clause.")

    def strength(clause: int) -> int:
        return int(machine.states[clause, : machine.n_words].astype(int).max())

    return max(machine.positive_clauses, key=strength)
