"""`omnitm evaluate`: how good word vectors are, as one sub-command per kind of measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnitm.cli import (
    evaluate_ablation,
    evaluate_analogies,
    evaluate_classification,
    evaluate_clustering,
    evaluate_interpretability,
    evaluate_similarity,
)
from omnitm.cli.examples import command_parser

if TYPE_CHECKING:
    import argparse

    from omnitm.cli.examples import Commands

_EXAMPLE = """\
  omnitm evaluate similarity news-model --data wordsim/
  omnitm evaluate analogies news-model --data wordsim/
  omnitm evaluate clustering news-model --data data/
  omnitm evaluate ablation news-index -o ablation --data wordsim/ --quick
`omnitm evaluate similarity --help` and so on explain each measurement."""


def add_parser(commands: Commands) -> None:
    """Fill the parser of this command and of its sub-commands."""
    parser = command_parser(
        commands, "evaluate", run, summary="measure word vectors against human judgement", example=_EXAMPLE
    )
    kinds = parser.add_subparsers(metavar="KIND", required=True)
    for kind in (
        evaluate_similarity,
        evaluate_analogies,
        evaluate_classification,
        evaluate_clustering,
        evaluate_ablation,
        evaluate_interpretability,
    ):
        kind.add_parser(kinds)


def run(arguments: argparse.Namespace) -> int:
    """Do nothing: every sub-command has its own `run`."""
    raise AssertionError(arguments)
