"""The command line: one file per command, each fills its own parser and has one `run`."""

from __future__ import annotations

import argparse
import importlib
import sys
from typing import TYPE_CHECKING

from omnitm.errors import OmniTMError

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = ("index", "cooccur")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the result is the exit status."""
    parser = argparse.ArgumentParser(prog="omnitm", description="Word embeddings made of logic.")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in COMMANDS:
        importlib.import_module(f"omnitm.cli.{name}").add_parser(commands)
    arguments = parser.parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except OmniTMError as error:
        if arguments.debug:
            raise
        print(f"omnitm: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as interrupt:
        print(f"omnitm: {str(interrupt) or 'stopped'}", file=sys.stderr)
        return 130
