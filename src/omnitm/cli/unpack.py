"""`omnitm unpack`: the folder of a model that was packed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


EXAMPLE = "  omnitm unpack news.omnitm -o news-model"


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("file", metavar="FILE", type=Path, help="file made by `omnitm pack`")
    parser.add_argument("-o", "--output", metavar="MODEL", type=Path, required=True, help="folder to write")
    parser.add_argument("--force", action="store_true", help="replace an existing model")


def run(arguments: argparse.Namespace) -> int:
    """Unpack, and compare with what was packed."""
    from omnitm.files.kinds import refuse_other_kinds, refuse_to_replace
    from omnitm.store import unpack_model
    from omnitm.store.folder import check_free_for_use
    from omnitm.vectors import WordVectors

    refuse_other_kinds(arguments.file, "packed model")
    refuse_to_replace(arguments.output, "model")
    check_free_for_use(arguments.output, force=arguments.force)
    print(f"unpacking {arguments.file}", file=sys.stderr)
    unpack_model(arguments.file, arguments.output, force=arguments.force)
    vectors = WordVectors.load(arguments.output)
    print(
        f"{arguments.output}: {len(vectors):,} words x {vectors.vector_size:,} features, as they were packed"
    )
    return 0
