"""What `omnitm train` accepts as a corpus: an index, or text, which is indexed inside the model's folder."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from omnitm.errors import ParameterError
from omnitm.store.model_notes import INDEX

if TYPE_CHECKING:
    from pathlib import Path

    from omnitm.corpus import DocumentIndex, VocabularyRules


def open_corpus(source: str | None, model: Path, *, reuse: bool, threads: int, quiet: bool) -> DocumentIndex:
    """Open the index that a model is trained from.

    Parameters
    ----------
    source
        Folder of an index, or text; None: the index inside the model's folder.
    reuse
        Whether an index inside the model's folder stands for the text that it was made of.
    """
    from omnitm.corpus import DocumentIndex
    from omnitm.files.kinds import kind_of

    own = model / INDEX
    if source is not None and kind_of(source) == "index":
        return DocumentIndex.open(source)
    if reuse and kind_of(own) == "index":
        if not quiet:
            print(f"using the index in {own}", file=sys.stderr)
        return DocumentIndex.open(own)
    if source is None:
        raise ParameterError(f"CORPUS is missing: {model} has no index of its own; give an index or text.")
    return make_index(source, own, threads=threads, quiet=quiet)


def make_index(
    source: str | Path,
    output: Path,
    *,
    vocabulary: VocabularyRules | None = None,
    threads: int,
    quiet: bool,
) -> DocumentIndex:
    """Make an index with the paper's preparation, in place of an older one of the same name."""
    from rich.console import Console

    from omnitm.corpus import DocumentIndex, Resources, build_index

    resources = Resources(n_threads=threads)
    with Console(stderr=True, quiet=quiet).status(f"indexing {source}"):
        build_index(source, output, vocabulary=vocabulary, resources=resources, overwrite=output.exists())
    return DocumentIndex.open(output)
