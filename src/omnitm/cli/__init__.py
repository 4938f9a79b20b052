"""The command line: one file per command, each fills its own parser and has one `run`."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

from omnitm import __version__
from omnitm.errors import OmniTMError, OmniTMWarning, SetAsideError

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = (
    "demo",
    "index",
    "train",
    "merge",
    "similar",
    "explain",
    "why",
    "trace",
    "explore",
    "evaluate",
    "plot",
    "reproduce",
    "info",
    "card",
    "export",
    "pack",
    "unpack",
    "cooccur",
)
_MISTAKE, _INCOMPLETE, _INTERRUPTED = 2, 3, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the result is the exit status."""
    arguments = make_parser().parse_args(argv)
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        warnings.simplefilter("always", OmniTMWarning)
        try:
            status = int(arguments.run(arguments))
            sys.stdout.flush()
        except OmniTMError as error:
            if arguments.debug:
                raise
            print(f"omnitm: error: {error}", file=sys.stderr)
            return _INCOMPLETE if isinstance(error, SetAsideError) else _MISTAKE
        except KeyboardInterrupt as interrupt:
            print(f"omnitm: {str(interrupt) or 'stopped'}", file=sys.stderr)
            return _INTERRUPTED
        except BrokenPipeError:  # the reader, such as `head`, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
    return status


def make_parser() -> argparse.ArgumentParser:
    """Build the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="omnitm",
        description="Word embeddings made of logic: train them, look at them, explain them.",
        epilog="`omnitm COMMAND --help` explains a command by an example. New here? Try `omnitm demo`.",
    )
    parser.add_argument("--version", action="version", version=f"omnitm {__version__}")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in COMMANDS:
        importlib.import_module(f"omnitm.cli.{name}").add_parser(commands)
    return parser


def _show_warning(message: Warning | str, category: type[Warning], *place: Any, **_: Any) -> None:
    if issubclass(category, OmniTMWarning):
        print(f"omnitm: warning: {message}", file=sys.stderr)
    else:
        filename, line_number = place[:2]
        sys.stderr.write(warnings.formatwarning(message, category, filename, line_number))
