"""`omnitm group`: groups of documents, kept beside an index."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from omnitm.cli.options import option
from omnitm.errors import ParameterError

if TYPE_CHECKING:
    from omnitm.corpus.groups import Grouping

EXAMPLE = """\
  omnitm group news.index source                   by a field of the files that the index was made from
  omnitm group news.index date --group-by year     by year, decade or month of a date
  omnitm group news.index length --group-by 4      by numbers, in 4 equal parts
  omnitm group news.index file                     by file; also: folder
  omnitm group news.index side --from labels.txt   a file with a line per document
then: omnitm compare news.index climate --by source"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    option(parser, "INDEX", "folder of an index")
    option(parser, "FIELD", "field or column of its sources; or: file, folder")
    option(parser, "--group-by UNIT", "year, decade, month, or a number of equal parts")
    option(parser, "--from FILE", "a group per line, a line per document", dest="labels")


def run(arguments: argparse.Namespace) -> None:
    """Make the groups, keep them, and list them."""
    from omnitm.corpus.groups import Grouping, group_index, keep_grouping

    if arguments.labels is None:
        grouping = group_index(arguments.index, arguments.field, arguments.group_by)
    else:
        labels = read_labels(arguments.labels)
        grouping = Grouping.of(labels, arguments.field, arguments.group_by)
    keep_grouping(arguments.index, grouping)
    print_groups(grouping)


def read_labels(file: Path) -> list[str]:
    """Read a label per line; an empty line is a document without a group."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ParameterError(f"--from {file}: cannot be read as lines of UTF-8: {reason}.") from None
    return text.removesuffix("\n").split("\n")


def print_groups(grouping: Grouping) -> None:
    """List the groups with their sizes."""
    import numpy as np

    from omnitm.cli.reports import make_console, make_table

    n_groups = len(grouping.labels)
    counts = np.bincount(grouping.numbers.clip(max=n_groups), minlength=n_groups + 1)
    title = f"{grouping.name}: {n_groups:,} group{'s' if n_groups > 1 else ''}"
    table = make_table(title, "group", "documents", numbers=("documents",))
    for label, count in list(zip(grouping.labels, counts.tolist(), strict=False))[:_SHOWN]:
        table.add_row(repr(label)[1:-1], f"{count:,}")
    if n_groups > _SHOWN:
        table.add_row(f"and {n_groups - _SHOWN:,} more", f"{int(counts[_SHOWN:n_groups].sum()):,}")
    if counts[n_groups]:
        table.add_row("in none", f"{int(counts[n_groups]):,}")
    make_console().print(table, markup=False)


_SHOWN = 20
