"""`omnitm export`: word vectors in the file of another tool."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


_FORMATS = ("word2vec", "word2vec-binary", "numpy", "safetensors", "arrow", "parquet")
EXAMPLE = """\
  omnitm export news-model -o news.w2v --format word2vec-binary
  omnitm export news-model -o news.npz --format numpy --top 100
  omnitm export news-model -o news.parquet --format parquet --full
what is written by default: all numbers if they take at most 256 MB, else what docs/sharing.md says"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("model", metavar="MODEL", type=Path, help="a trained model, or one packed")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, required=True, help="file to write")
    parser.add_argument("--format", choices=_FORMATS, required=True, help="format of the file")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--reduce", metavar="N", type=int, help="N dense dimensions per word")
    form.add_argument("--top", metavar="K", type=int, help="the K strongest named coordinates per word")
    form.add_argument("--full", action="store_true", help="all numbers, however many")
    parser.add_argument(
        "--spaces", metavar="TEXT", help="word2vec formats: what to write for a space inside a word"
    )
    parser.add_argument("--force", action="store_true", help="replace an existing file")
    parser.add_argument("--quiet", action="store_true", help="do not say how large the file will be")


def run(arguments: argparse.Namespace) -> int:
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
    return 0
