"""`omnitm plot clause`: the states of all automata of a clause, as in the paper's Figure 3."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from omnitm.errors import ParameterError
from omnitm.parameters import check_integer

if TYPE_CHECKING:
    import argparse

    from omnitm.explain import Explainer

EXAMPLE = """\
  omnitm plot clause news-model happy -o clause.png
  omnitm plot clause news-model happy --clause 4 --name sad angry rich -o clause.svg"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("model", metavar="MODEL", type=Path, help="folder of a trained model")
    parser.add_argument("word", metavar="WORD", help="a trained word")
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, default=Path("clause.png"),
        help=".png, .svg or .pdf (default: clause.png)",
    )  # fmt: skip
    parser.add_argument(
        "--clause",
        metavar="NUMBER",
        type=int,
        help="default: the positive clause whose words have the highest states",
    )
    parser.add_argument(
        "--index", metavar="INDEX", type=Path, help="the index that the model was trained from"
    )
    parser.add_argument("--name", metavar="WORD", dest="named", nargs="+", default=[], help="words to name")
    parser.add_argument(
        "-n",
        metavar="N",
        dest="count",
        type=int,
        default=12,
        help="literals to name if no words are given (default: 12)",
    )


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
