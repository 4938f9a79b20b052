"""The shape of every command's `--help`: what it does, its options, an example to copy."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 - argparse has no public name


def command_parser(
    commands: Commands, name: str, run: Callable[[argparse.Namespace], int], *, summary: str, example: str
) -> argparse.ArgumentParser:
    """Add a command whose help ends with an example."""
    parser = commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=f"example:\n{example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--debug", action="store_true", default=argparse.SUPPRESS, help="show the traceback of an error"
    )
    parser.set_defaults(run=run)
    return parser
