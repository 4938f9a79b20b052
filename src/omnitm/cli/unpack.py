"""`omnitm unpack`: the folder of a model that was packed."""

from __future__ import annotations

import argparse

from omnitm.cli.options import option
from omnitm.files.long_work import long_work

EXAMPLE = "  omnitm unpack news.omnitm -o news-model"


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    option(parser, "FILE", "file made by `omnitm pack`")
    option(parser, "-o --output MODEL", "folder to write", required=True)
    option(parser, "--force", "replace an existing model")


def run(arguments: argparse.Namespace) -> int:
    """Unpack, and compare with what was packed."""
    from omnitm.files.kinds import refuse_other_kinds, refuse_to_replace
    from omnitm.store import unpack_model
    from omnitm.store.folder import check_free_for_use
    from omnitm.vectors import WordVectors

    refuse_other_kinds(arguments.file, "packed model")
    refuse_to_replace(arguments.output, "model")
    check_free_for_use(arguments.output, force=arguments.force)
    with long_work(f"unpacking {arguments.file}"):
        unpack_model(arguments.file, arguments.output, force=arguments.force)
    vectors = WordVectors.load(arguments.output)
    print(
        f"{arguments.output}: {len(vectors):,} words x {vectors.vector_size:,} features, as they were packed"
    )
    return 0
