"""`omnitm plot`: the paper's figures, one sub-command each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnitm.cli import plot_clause, plot_tsne
from omnitm.cli.examples import command_parser

if TYPE_CHECKING:
    import argparse

    from omnitm.cli.examples import Commands

_EXAMPLE = """\
  omnitm plot tsne news-model -o map.png
  omnitm plot clause news-model happy -o clause.png
`omnitm plot tsne --help` and so on explain each picture."""


def add_parser(commands: Commands) -> None:
    """Fill the parser of this command and of its sub-commands."""
    parser = command_parser(commands, "plot", run, summary="draw maps of words and clauses", example=_EXAMPLE)
    kinds = parser.add_subparsers(metavar="KIND", required=True)
    for kind in (plot_tsne, plot_clause):
        kind.add_parser(kinds)


def run(arguments: argparse.Namespace) -> int:
    """Do nothing: every sub-command has its own `run`."""
    raise AssertionError(arguments)
