"""What of the vectors is exported: all numbers, few dense dimensions, or few named coordinates per word."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from omnitm.errors import FileError, ParameterError
from omnitm.parameters import check_integer

if TYPE_CHECKING:
    from omnitm.vectors.word_vectors import WordVectors

Kind = Literal["full", "reduced", "top"]

LARGE = 1 << 28  # bytes of a dense float32 matrix from which all numbers are only written on demand
USUAL_COMPONENTS = 300
USUAL_TOP = 256


@dataclass(frozen=True)
class Form:
    """What of the vectors is exported, and how much that is.

    Attributes
    ----------
    kind
        `"full"`: every number; `"reduced"`: `WordVectors.reduce(size)`; `"top"`:
        `WordVectors.sparsify(size)`.
    size
        Numbers per word; at most so many for `"top"`.
    n_words
        Number of words.
    itemsize
        Bytes per number.
    """

    kind: Kind
    size: int
    n_words: int
    itemsize: int

    @property
    def n_bytes(self) -> int:
        """Bytes of the numbers in memory and in binary files; an upper bound for `"top"`."""
        return self.n_words * self.size * (self.itemsize + (4 if self.kind == "top" else 0))

    def __str__(self) -> str:
        kept = {"full": "numbers each", "reduced": "dense dimensions", "top": "strongest coordinates each"}
        return f"{self.n_words:,} words x {self.size:,} {kept[self.kind]}"

    def numbers(self, vectors: WordVectors) -> Any:
        """Return the numbers: as they are, as float32 if reduced, or as scipy CSR for `"top"`."""
        if self.kind == "top":
            return vectors.sparsify(self.size).matrix
        return vectors.reduce(self.size).matrix if self.kind == "reduced" else vectors.matrix


def choose_form(
    vectors: WordVectors,
    *,
    reduce: int | None = None,
    top: int | None = None,
    full: bool = False,
    can_be_sparse: bool = True,
    itemsize: int = 4,
) -> Form:
    """Choose what to export.

    By default all numbers where they are few, else what stays useful in an ordinary file: the strongest
    named coordinates if the format can be sparse, 300 dense dimensions if not.

    Parameters
    ----------
    reduce, top, full
        The caller's wish, at most one: so many dense dimensions, so many coordinates per word, or all.
    can_be_sparse
        Whether the format can leave coordinates out.
    itemsize
        Bytes per number of the full matrix in that format.
    """
    if sum((reduce is not None, top is not None, full)) > 1:
        raise ParameterError("An export is either reduced, or top, or full; give one of the three.")
    n_words, width = len(vectors), vectors.vector_size
    most = min(n_words, width)
    if reduce is not None:
        return Form("reduced", check_integer("export", "reduce", reduce, 1, most), n_words, 4)
    if top is not None:
        if not can_be_sparse:
            raise ParameterError("This format has no sparse form; use reduce=300 (--reduce 300) or full.")
        if not vectors.has_likeness:
            raise ParameterError("Only integer vectors with named features have a sparse form; use reduce.")
        return Form("top", check_integer("export", "top", top, 1, width), n_words, 4)
    if full or n_words * width * 4 <= LARGE:
        return Form("full", width, n_words, itemsize)
    if can_be_sparse and vectors.has_likeness:
        return Form("top", min(USUAL_TOP, width), n_words, 4)
    return Form("reduced", min(USUAL_COMPONENTS, most), n_words, 4)


def check_space(path: Path, n_bytes: int) -> None:
    """Refuse to begin a file that does not fit on its disk."""
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise FileError(path, f"cannot be written: the folder {folder} does not exist")
    free = shutil.disk_usage(folder).free
    if n_bytes > free:
        raise FileError(path, f"needs about {n_bytes:,} bytes, but only {free:,} are free on its disk")


def readable(n_bytes: int) -> str:
    """Write a size for people.

    >>> readable(6_400_000_000)
    '6.4 GB'
    """
    size = float(n_bytes)
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
