"""`omnitm export`: word vectors in the file of another tool."""

from __future__ import annotations

import argparse
import sys

from omnitm.cli.options import option

_FORMATS = ("word2vec", "word2vec-binary", "numpy", "safetensors", "arrow", "parquet")
EXAMPLE = """\
  omnitm export news-model -o news.w2v --format word2vec-binary
  omnitm export news-model -o news.npz --format numpy --top 100
  omnitm export news-model -o news.parquet --format parquet --full
what is written by default: 300 dense dimensions in the word2vec formats; in others all numbers if they take
at most 256 MB, else the 256 strongest of each word"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    option(parser, "MODEL", "folder of a trained model, or a packed model")
    option(parser, "-o --output FILE", "file to write", required=True)
    option(parser, "--format", "format of the file", choices=_FORMATS, required=True)
    form = parser.add_mutually_exclusive_group()
    option(form, "--reduce N", "write N dense dimensions per word")
    option(form, "--top K", "write the K strongest coordinates of each word, with their names")
    option(form, "--full", "write all numbers")
    option(parser, "--spaces TEXT", "what the word2vec formats have in place of a space inside a word")
    option(parser, "--force", "replace an existing file")
    option(parser, "--quiet", "don't say how large the file will be")


def run(arguments: argparse.Namespace) -> None:
    """Say what will be written, and write it."""
    from omnitm.sharing.export import plan_export, readable, write_export
    from omnitm.vectors import WordVectors

    vectors = WordVectors.load(arguments.model)
    plan = plan_export(
        vectors, arguments.format, reduce=arguments.reduce, top=arguments.top, full=arguments.full
    )
    if not arguments.quiet:
        print(f"writing {plan} to {arguments.output}", file=sys.stderr)
    write_export(vectors, arguments.output, plan, spaces=arguments.spaces, force=arguments.force)
    if not arguments.quiet:
        print(f"{arguments.output}: {readable(arguments.output.stat().st_size)}", file=sys.stderr)
