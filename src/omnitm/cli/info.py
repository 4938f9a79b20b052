"""`omnitm info`: what a folder holds, and whether it is sound."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omnitm.cli.options import option
from omnitm.cli.reports import make_console, make_table, print_json
from omnitm.files.long_work import long_work

if TYPE_CHECKING:
    from omnitm.store.packed import StoredModel

_SMALLER = 1.05  # times that a model must be smaller than its numbers for that to be said
EXAMPLE = """\
  omnitm info news-model
  omnitm info news-model --verify      # reads every byte and compares SHA-256"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    option(parser, "PATH", "folder of a model or of an index, or a packed model")
    option(parser, "--verify", "check every byte, too")
    option(parser, "--json", "print JSON")


def run(arguments: argparse.Namespace) -> None:
    """Describe the folder."""
    from omnitm.files.kinds import kind_of

    reading = long_work(f"reading every byte of {arguments.path}")
    with reading if arguments.verify else contextlib.nullcontext():
        if kind_of(arguments.path) == "index":
            _index_info(arguments)
            return
        facts = model_facts(arguments.path, verify=arguments.verify)
    if arguments.json:
        print_json(facts)
    else:
        print_facts(facts)


def _index_info(arguments: argparse.Namespace) -> None:
    from omnitm.cli.index import describe_index
    from omnitm.corpus import DocumentIndex

    index = DocumentIndex.open(arguments.path)
    if arguments.verify:
        index.verify()
    if arguments.json:
        facts = {"index": str(arguments.path), "documents": index.n_documents, "words": index.n_words}
        print_json({**facts, "verified": bool(arguments.verify)})
    else:
        make_console().print(describe_index(arguments.path))
        if arguments.verify:
            print("verified: every byte is as it was written")


def model_facts(path: Path, *, verify: bool) -> dict[str, Any]:
    """Collect what is worth knowing about a model."""
    from omnitm.store import ModelRecord, load_model
    from omnitm.store.folder import adding
    from omnitm.store.record import plain_settings

    model = load_model(path, verify=verify)
    facts: dict[str, Any] = {
        "model": str(path),
        "words": len(model.words),
        "features": len(model.features),
        **_stored(model),
        **({"kind": model.record.model} if isinstance(model.record, ModelRecord) else {}),
        **plain_settings(model.record),
        "seed": model.record.seed,
        "index fingerprint": model.record.index_fingerprint,
        "omnitm version": model.record.omnitm_version,
        "verified": "every byte" if verify else "all but the vectors (checked when read, or by --verify)",
    }
    unfinished = None if path.is_file() else adding(path)
    if unfinished is not None:
        done, total = unfinished
        facts["being added"] = f"{done:,} of {total:,} more words; continue with `omnitm train ... --resume`"
    return facts


def _stored(model: StoredModel) -> dict[str, Any]:
    """Say how many bytes the vectors take on the disk, as `omnitm train` announces them, and what is kept."""
    from omnitm.store.record import keep_top_of

    topics, places = (
        0 if matrix is None else getattr(matrix, "stored_bytes", matrix.nbytes)
        for matrix in (model.matrix, model.places and model.places.matrix)
    )
    facts: dict[str, Any] = {"bytes": topics + places}
    if places:
        facts["bytes of places"] = places
    ratio = model.matrix.nbytes / max(1, topics)
    if ratio >= _SMALLER:
        facts["stored"] = f"{ratio:.1f} times smaller than all numbers"
    keep_top = keep_top_of(model.record)
    if keep_top is not None:
        facts["keeps"] = (
            f"the {keep_top:,} coordinates of each word that differ most; the rest is its baseline"
        )
    return facts


def print_facts(facts: dict[str, Any]) -> None:
    """Print names and values in two columns."""
    table = make_table("", "", "")
    table.show_header = False
    for name, value in facts.items():
        table.add_row(name.replace("_", " "), f"{value:,}" if isinstance(value, int) else str(value))
    make_console().print(table)
