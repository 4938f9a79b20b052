"""Word vectors in files of other tools: which of their numbers are written, and how.

What is written is a `Form`: all numbers, few dense dimensions, or few named coordinates per word. How is a
format: that of word2vec, text or binary, or a table (NumPy, safetensors, Arrow, Parquet).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

from omnitm.errors import FileError, ParameterError, needs_extra
from omnitm.files.kinds import refuse_to_replace
from omnitm.files.plain import new_file, words_to_bytes
from omnitm.parameters import check_choice, check_integer
from omnitm.similarity.row_profile import FEWEST_WORDS
from omnitm.vectors.compact import n_patterns
from omnitm.vectors.word_vectors import WordVectors

Kind = Literal["full", "reduced", "top"]

LARGE = 1 << 28  # bytes of a dense float32 matrix from which all numbers are only written on demand
USUAL_COMPONENTS = 300
USUAL_TOP = 256
_ROWS_AT_ONCE = 256
_TEXT_BYTES = 12  # of a number with nine digits, roughly
_SAFETENSORS_TYPES = {"<i2": "I16", "<f4": "F32", "<i4": "I32", "<i8": "I64", "|u1": "U8"}
_ALIGNMENT = 8
_PER_WORD, _OVERHEAD = 16, 8192  # bytes beside a word and of a header, from above


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

    By default what is useful in an ordinary file. Formats that cannot be sparse are for tools that compare
    vectors by cosine, so they get 300 dense dimensions, or as many as a small model has patterns: by the
    cosine of all numbers, words that are equally frequent are alike. Others get all numbers where they are
    few, else the strongest named coordinates.

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
            size = min(USUAL_COMPONENTS, most)
            raise ParameterError(
                f"This format has no sparse form; use reduce={size} (--reduce {size}) or full=True (--full)."
            )
        if not vectors.has_profiles:
            raise ParameterError("Only integer vectors with named features have a sparse form; use reduce.")
        return Form("top", check_integer("export", "top", top, 1, width), n_words, 4)
    has_patterns = (vectors.has_profiles or vectors.place is not None) and n_words >= FEWEST_WORDS
    is_small = n_words * width * 4 <= LARGE
    if full or (is_small and (can_be_sparse or not has_patterns)):
        return Form("full", width, n_words, itemsize)
    if can_be_sparse and vectors.has_profiles:
        return Form("top", min(USUAL_TOP, width), n_words, 4)
    patterns = n_patterns(vectors.profiles) if has_patterns else most
    return Form("reduced", min(USUAL_COMPONENTS, most, patterns), n_words, 4)


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
            return self.form.n_words * self.form.size * _TEXT_BYTES + self.names_bytes
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
    columns = vectors.column_names if is_table and form.kind != "reduced" else None
    names = [vectors.index_to_key, columns or []]
    return Export(format, form, sum(_names_bytes(words, format) for words in names) + _OVERHEAD)


def write_export(
    vectors: WordVectors, path: str | Path, export: Export, *, spaces: str | None = None, force: bool = False
) -> None:
    """Write what was planned; the file appears when it is complete."""
    path = Path(path)
    refuse_to_replace(path, "text")
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


def table_content(vectors: WordVectors, form: Form) -> Content:
    """Collect what a table holds."""
    matrix = form.numbers(vectors)
    if form.kind != "top":
        matrix = np.asarray(matrix[:])
    features = vectors.column_names if form.kind != "reduced" else None
    training = None if vectors.training is None else asdict(vectors.training)
    return Content(vectors.index_to_key, features, matrix, {"form": form.kind, "training": training})


def words_without_spaces(words: Sequence[str], replacement: str | None) -> list[str]:
    """Return words that this format can hold: not empty, without white space, none twice.

    Parameters
    ----------
    replacement
        Put in the place of each white space; None: refuse such words.
    """
    if replacement is not None and (not replacement or any(letter.isspace() for letter in replacement)):
        raise ParameterError(
            f"The 'spaces' parameter must be text without white space, such as '_'. Got {replacement!r}."
        )
    written = [_without_spaces(word, replacement) for word in words]
    if len(set(written)) != len(written):
        raise ParameterError(f"Words become equal when spaces are replaced by {replacement!r}; use another.")
    return written


def _without_spaces(word: str, replacement: str | None) -> str:
    if not word:
        raise ParameterError("The word2vec format cannot hold the empty word; leave it out.")
    if not any(letter.isspace() for letter in word):
        return word
    if replacement is None:
        raise ParameterError(
            f"The word2vec format cannot hold the word {word!r}, which has white space; "
            "spaces='_' (--spaces _) writes '_' instead."
        )
    return "".join(replacement if letter.isspace() else letter for letter in word)


def write_word2vec(file: BinaryIO, words: Sequence[str], matrix: Any, *, binary: bool) -> None:
    """Write a header line, and then a word and its numbers; floats read back to the same bits."""
    file.write(f"{len(words)} {matrix.shape[1]}\n".encode())
    # Nine significant digits are enough for any float32.
    numbers = " ".join(["%.9g"] * matrix.shape[1])
    for start in range(0, len(words), _ROWS_AT_ONCE):
        rows = np.asarray(matrix[start : start + _ROWS_AT_ONCE], dtype="<f4")
        for word, row in zip(words[start:], rows, strict=False):
            content = row.tobytes() if binary else (numbers % tuple(row.tolist())).encode()
            file.write(word.encode() + b" " + content + b"\n")


def keyed_vectors(words: Sequence[str], matrix: NDArray[np.float32]) -> Any:
    """Make gensim's KeyedVectors."""
    with needs_extra("to_gensim", "baselines"):
        from gensim.models import KeyedVectors
    vectors = KeyedVectors(matrix.shape[1])
    vectors.add_vectors(list(words), matrix)
    vectors.fill_norms()
    vectors.norms[vectors.norms == 0] = 1  # gensim divides by them
    return vectors


@dataclass(frozen=True, eq=False)
class Content:
    """What is written: words, and a dense or sparse matrix; `features` None: columns have no names."""

    words: list[str]
    features: list[str] | None
    matrix: Any
    origin: dict[str, Any]

    @property
    def is_sparse(self) -> bool:
        """Whether the matrix is scipy CSR."""
        return not isinstance(self.matrix, np.ndarray)


def write_npz(file: BinaryIO, content: Content) -> None:
    """Write arrays that `numpy.load`, and if sparse also `scipy.sparse.load_npz`, reads without pickle."""
    arrays: dict[str, Any] = {"words": _word_array(content.words)}
    if content.features is not None:
        arrays["features"] = _word_array(content.features)
    if content.is_sparse:
        arrays.update(_sparse_arrays(content.matrix), format=np.array(b"csr"))
    else:
        arrays["matrix"] = content.matrix
    np.savez(file, **arrays)


def write_safetensors(file: BinaryIO, content: Content) -> None:
    """Write tensors that any reader of safetensors maps; words are UTF-8 lines in tensors of bytes."""
    tensors: dict[str, NDArray[Any]] = {"words": _lines(content.words)}
    if content.features is not None:
        tensors["features"] = _lines(content.features)
    if content.is_sparse:
        tensors.update(_sparse_arrays(content.matrix))
    else:
        tensors["matrix"] = content.matrix
    in_order = dict(sorted(tensors.items(), key=lambda item: -item[1].dtype.itemsize))  # all stay aligned
    header: dict[str, Any] = {"__metadata__": {"omnitm": json.dumps(content.origin)}}
    place = 0
    for name, tensor in in_order.items():
        kind = _SAFETENSORS_TYPES[tensor.dtype.newbyteorder("<").str]
        header[name] = {
            "dtype": kind,
            "shape": list(tensor.shape),
            "data_offsets": [place, place + tensor.nbytes],
        }
        place += tensor.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    file.write(len(text).to_bytes(8, "little") + text)
    for tensor in in_order.values():
        file.write(np.ascontiguousarray(tensor, dtype=tensor.dtype.newbyteorder("<")).data)


def write_arrow(file: BinaryIO, content: Content) -> None:
    """Write an Arrow file (IPC, also called Feather 2)."""
    arrow, table = _pyarrow(), arrow_table(content)
    with arrow.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


def write_parquet(file: BinaryIO, content: Content) -> None:
    """Write a Parquet file."""
    _pyarrow()
    import pyarrow.parquet

    pyarrow.parquet.write_table(arrow_table(content), file)


def arrow_table(content: Content) -> Any:
    """Make a table with a row per word: `word`, and `vector`, or `coordinates` with their `values`."""
    arrow = _pyarrow()
    columns: dict[str, Any] = {"word": arrow.array(content.words, arrow.string())}
    if content.is_sparse:
        matrix = content.matrix
        starts = arrow.array(matrix.indptr.astype(np.int32))
        names = arrow.DictionaryArray.from_arrays(matrix.indices.astype(np.int32), content.features)
        columns["coordinates"] = arrow.ListArray.from_arrays(starts, names)
        columns["values"] = arrow.ListArray.from_arrays(starts, arrow.array(matrix.data))
    else:
        numbers = arrow.array(np.ascontiguousarray(content.matrix).reshape(-1))
        columns["vector"] = arrow.FixedSizeListArray.from_arrays(numbers, content.matrix.shape[1])
    metadata = {"omnitm": json.dumps(content.origin)}
    if content.features is not None and not content.is_sparse:
        metadata["features"] = json.dumps(content.features, ensure_ascii=False)
    return arrow.table(columns).replace_schema_metadata(metadata)


def _sparse_arrays(matrix: Any) -> dict[str, NDArray[Any]]:
    return {
        "data": matrix.data.astype(np.float32),
        "indices": matrix.indices.astype(np.int32),
        "indptr": matrix.indptr.astype(np.int64),
        "shape": np.array(matrix.shape, dtype=np.int64),
    }


def _word_array(words: list[str]) -> NDArray[np.str_]:
    array = np.array(words, dtype=np.str_)
    if array.tolist() != words:
        raise ParameterError("NumPy drops NUL at the end of a word; choose another format.")
    return array


def _lines(words: list[str]) -> NDArray[np.uint8]:
    return np.frombuffer(words_to_bytes(words), dtype=np.uint8)


def _pyarrow() -> Any:
    with needs_extra("Arrow and Parquet", "parquet"):
        import pyarrow as pa
        import pyarrow.ipc
    return pa


_WORD2VEC = ("word2vec", "word2vec-binary")
_TABLES = {
    "numpy": write_npz,
    "safetensors": write_safetensors,
    "arrow": write_arrow,
    "parquet": write_parquet,
}
FORMATS = (*_WORD2VEC, *_TABLES)
