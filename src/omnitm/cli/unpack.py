"""`omnitm unpack`: the folder of a model that was packed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from omnitm.cli.examples import command_parser

if TYPE_CHECKING:
    import argparse

    from omnitm.cli.examples import Commands

_EXAMPLE = "  omnitm unpack news.omnitm -o news-model"


def add_parser(commands: Commands) -> None:
    """Fill the parser of this command."""
    parser = command_parser(
        commands, "unpack", run, summary="write a packed model as a folder", example=_EXAMPLE
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="file made by `omnitm pack`")
    parser.add_argument("-o", "--output", metavar="MODEL", type=Path, required=True, help="folder to write")
    parser.add_argument("--force", action="store_true", help="replace an existing model")


def run(arguments: argparse.Namespace) -> int:
    """Unpack, and compare with what was packed."""
    from omnitm.store import unpack_model

    unpack_model(arguments.file, arguments.output, force=arguments.force)
    return 0
