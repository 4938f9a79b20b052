"""`omnitm pack` and `omnitm unpack`: a model as one small file that opens directly, and back."""

from __future__ import annotations

import argparse

from omnitm.cli.options import option
from omnitm.cli.reports import Bar
from omnitm.files.long_work import long_work

EXAMPLES = {
    "pack": """\
  omnitm pack news-model -o news.omnitm
  omnitm similar news.omnitm road        # every command that reads a model takes the file
  omnitm unpack news.omnitm -o copy      # the same folder again, byte for byte""",
    "unpack": "  omnitm unpack news.omnitm -o news-model",
}


def fill_pack(parser: argparse.ArgumentParser) -> None:
    """Add the options of `omnitm pack`."""
    option(parser, "MODEL", "folder of a trained model")
    option(parser, "-o --output FILE", "file to write", required=True)
    option(parser, "--force", "replace an existing file")
    option(parser, "--quiet", "no progress bar, no summary")


def run_pack(arguments: argparse.Namespace) -> None:
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


def fill_unpack(parser: argparse.ArgumentParser) -> None:
    """Add the options of `omnitm unpack`."""
    option(parser, "FILE", "file made by `omnitm pack`")
    option(parser, "-o --output MODEL", "folder to write the model to", required=True)
    option(parser, "--force", "replace an existing model")


def run_unpack(arguments: argparse.Namespace) -> None:
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
