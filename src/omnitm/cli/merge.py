"""`omnitm merge`: shards or other models in, one model out."""

from __future__ import annotations

import argparse
import sys

from omnitm.cli.options import option

EXAMPLE = """\
  omnitm merge part-* -o news-model
a model without the words that could not be trained:
  omnitm merge stuck-model -o news-model --allow-missing"""
_SHOWN_WORDS = 5


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    option(parser, "MODEL...", "folders of models, such as the parts of `omnitm train --shard`", dest="parts")
    option(parser, "-o --output MODEL", "folder to write the model to", required=True)
    option(
        parser,
        "--allow-missing",
        "leave out words that were not trained, because a part is not finished or not there",
    )
    option(parser, "--force", "replace an existing model")
    option(parser, "--quiet", "no summary")


def run(arguments: argparse.Namespace) -> None:
    """Merge, and say what came out."""
    from omnitm.cli.train import prepare_similarity
    from omnitm.files.kinds import kind_of, refuse_other_kinds
    from omnitm.training.shards import merge_models
    from omnitm.vectors import WordVectors

    for part in arguments.parts:
        if not (arguments.allow_missing and kind_of(part) == "nothing"):
            refuse_other_kinds(part, "model", "packed model")
    if not arguments.quiet:
        print(f"merging {len(arguments.parts):,} models into {arguments.output}", file=sys.stderr)
    missing = merge_models(
        arguments.parts, arguments.output, allow_missing=arguments.allow_missing, force=arguments.force
    )
    prepare_similarity(arguments.output, with_map=True, quiet=arguments.quiet)
    if not arguments.quiet:
        vectors = WordVectors.load(arguments.output)
        size = f"{len(vectors):,} words x {vectors.vector_size:,} features"
        print(f"{arguments.output}: {size}, from {len(arguments.parts):,} models", file=sys.stderr)
        if missing:
            shown = ", ".join(missing[:_SHOWN_WORDS])
            print(f"left out, not trained: {len(missing):,} words ({shown} ...)", file=sys.stderr)
