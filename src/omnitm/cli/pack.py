"""`omnitm pack`: a model as one small file that opens directly."""

from __future__ import annotations

import argparse

from omnitm.cli.options import option
from omnitm.cli.reports import Bar

EXAMPLE = """\
  omnitm pack news-model -o news.omnitm
  omnitm similar news.omnitm road        # every command that reads a model takes the file
  omnitm unpack news.omnitm -o copy      # the same folder again, byte for byte"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    option(parser, "MODEL", "folder of a trained model")
    option(parser, "-o --output FILE", "file to write", required=True)
    option(parser, "--force", "replace an existing file")
    option(parser, "--quiet", "no progress bar, no summary")


def run(arguments: argparse.Namespace) -> int:
    """Pack, and say how much smaller it is."""
    from omnitm.sharing.export import readable
    from omnitm.store import load_model, pack_model

    matrix = load_model(arguments.model).matrix
    with Bar(quiet=arguments.quiet) as bar:
        pack_model(
            arguments.model,
            arguments.output,
            force=arguments.force,
            report=lambda done: bar("packing rows", done, len(matrix)),
        )
    if not arguments.quiet:
        size = arguments.output.stat().st_size
        gain = f", {matrix.nbytes / size:.1f} times smaller than the vectors" if size < matrix.nbytes else ""
        print(f"{arguments.output}: {readable(size)}{gain}")
    return 0
