"""Write word vectors to a file of another format."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.errors import FileError
from omnitm.files.plain import new_file
from omnitm.parameters import check_choice
from omnitm.sharing import tables
from omnitm.sharing.forms import Form, check_space, choose_form, readable
from omnitm.sharing.word2vec import text_bytes, words_without_spaces, write_word2vec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import BinaryIO

    from omnitm.vectors.word_vectors import WordVectors

_WORD2VEC = ("word2vec", "word2vec-binary")
_TABLES: dict[str, Callable[[BinaryIO, tables.Content], None]] = {
    "numpy": tables.write_npz,
    "safetensors": tables.write_safetensors,
    "arrow": tables.write_arrow,
    "parquet": tables.write_parquet,
}
_PER_WORD, _OVERHEAD = 16, 8192
FORMATS = (*_WORD2VEC, *_TABLES)


@dataclass(frozen=True)
class Export:
    """An export that is decided but not begun, so that its size can be said before writing."""

    format: str
    form: Form
    names_bytes: int

    @property
    def n_bytes(self) -> int:
        """About how large the file will be; the most that it can be if coordinates are left out."""
        if self.format == "word2vec":
            return text_bytes(self.form.n_words * self.form.size) + self.names_bytes
        return self.form.n_bytes + self.names_bytes

    def __str__(self) -> str:
        about = "at most" if self.form.kind == "top" else "about"
        return f"{self.form}, {about} {readable(self.n_bytes)} as {self.format}"


def plan_export(
    vectors: WordVectors,
    format: str,  # noqa: A002 - the option is called so everywhere
    *,
    reduce: int | None = None,
    top: int | None = None,
    full: bool = False,
) -> Export:
    """Decide what an export writes; parameters as in `WordVectors.export`."""
    check_choice("export", "format", format, FORMATS)
    is_table = format in _TABLES
    itemsize = vectors.matrix.dtype.itemsize if is_table else 4
    form = choose_form(vectors, reduce=reduce, top=top, full=full, can_be_sparse=is_table, itemsize=itemsize)
    has_features = is_table and vectors.has_named_features and form.kind != "reduced"
    names = [vectors.index_to_key, vectors.feature_names if has_features else []]
    return Export(format, form, sum(_names_bytes(words, format) for words in names) + _OVERHEAD)


def write_export(
    vectors: WordVectors,
    path: str | Path,
    export: Export,
    *,
    spaces: str | None = None,
    force: bool = False,
) -> None:
    """Write what was planned; the file appears when it is complete."""
    path = Path(path)
    if path.exists() and not force:
        raise FileError(path, "exists already; --force (force=True) replaces it")
    check_space(path, export.n_bytes)
    if export.format in _WORD2VEC:
        words = words_without_spaces(vectors.index_to_key, spaces)
        matrix = export.form.numbers(vectors)
        with new_file(path) as file:
            write_word2vec(file, words, matrix, binary=export.format == "word2vec-binary")
        return
    content = table_content(vectors, export.form)
    with new_file(path) as file:
        _TABLES[export.format](file, content)


def _names_bytes(words: Sequence[str], kind: str) -> int:
    """Count what words take, with the numbers per word that some formats need beside the matrix."""
    if kind == "numpy":  # all words get the place of the longest, 4 bytes per letter
        return len(words) * (_PER_WORD + 4 * max(map(len, words), default=0))
    return sum(len(word.encode(errors="ignore")) + _PER_WORD for word in words)


def table_content(vectors: WordVectors, form: Form) -> tables.Content:
    """Collect what a table holds."""
    matrix = form.numbers(vectors)
    if form.kind != "top":
        matrix = np.asarray(matrix[:])
    features = vectors.feature_names if vectors.has_named_features and form.kind != "reduced" else None
    return tables.Content(vectors.index_to_key, features, matrix, _origin(vectors, form))


def _origin(vectors: WordVectors, form: Form) -> dict[str, Any]:
    """Say where the numbers come from, for readers of the file."""
    training = None if vectors.training is None else asdict(vectors.training)
    return {"form": form.kind, "training": training}
