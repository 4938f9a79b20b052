"""Documents of files and of Python objects, as blocks for the native code."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus import storage
from omnitm.corpus.preparation import Preparation, checked_tokens
from omnitm.corpus.reading import (
    BLOCK_SIZE,
    PACKED_SUFFIXES,
    ByteStream,
    Reading,
    SourceStream,
    TextBlock,
    TranscodedStream,
    UnpackedCopy,
    UnpackedStream,
    cut_text,
    not_text,
    skip_bytes,
    split_documents,
)
from omnitm.errors import CorpusError, FileError, needs_extra

Document = str | Sequence[str]
ROWS_PER_BATCH = 1024
LETTERS_PER_WORD = 8
_SHOWN_COLUMNS = 5
_TEXT = "text"  # the column that is read unless another is named
_NAMES_LOOKED_AT = 3  # documents that are all names of files; one alone may be a text that is called so
_LOOKED_AT = 16  # members of a document, to tell a row of a table from a list of words
_WORDS_OF_A_TEXT = 5  # a token may have a space in it, as "new york" has; so many words are a text


def source_blocks(paths: Sequence[Path], reading: Reading, preparation: Preparation) -> Iterator[TextBlock]:
    """Blocks of all sources, one source after the other."""
    finished = 0
    for number, path in enumerate(paths):
        with SourceStream(path) as stream:
            blocks = _blocks_of(stream, reading, preparation)
            for data, unit, ends, is_tokens, offset in blocks:
                position = finished + stream.packed_position()
                yield TextBlock(data, unit, ends, is_tokens, number, offset, position)
            finished += stream.packed_position()


_Piece = tuple["bytes | memoryview", str, bool, bool, int]


def _blocks_of(stream: SourceStream, reading: Reading, preparation: Preparation) -> Iterator[_Piece]:
    if reading.format_of(stream.path) != "text":
        yield from _record_blocks(records_of(stream, reading), preparation)
        return
    unit = reading.document
    pieces = cut_text(
        utf8_stream(stream, reading), unit, stream.path, whole_documents=not preparation.is_native
    )
    for data, ends, offset in pieces:
        if preparation.is_native and preparation.normalization is None:
            yield data, unit, ends, False, offset
            continue
        parts = [bytes(data)] if preparation.is_native else split_documents(bytes(data), unit)
        texts = [decoded(stream.path, part, offset) for part in parts]
        if preparation.is_native:
            yield preparation.normalized(texts[0]).encode(), unit, ends, False, offset
        else:
            places = [f"{stream.path}: after byte {offset}"] * len(texts)
            yield _encode(texts, preparation, places), "line", True, True, offset


def utf8_stream(stream: SourceStream, reading: Reading) -> ByteStream:
    """Return the stream itself, or a view of it in UTF-8."""
    return stream if reading.is_plain_utf8 else TranscodedStream(stream, reading.encoding, reading.errors)


def decoded(path: Path, data: bytes, offset: int) -> str:
    """Text of UTF-8 bytes that begin at `offset` of a file."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise not_text(path, "utf-8", offset + error.start) from None


def check_documents(documents: Any) -> None:
    """Refuse what is not a collection of documents, with the fix in the message."""
    refuse_tables(documents)
    if isinstance(documents, Iterator):
        raise CorpusError(
            f"A corpus must be something that can be read more than once, but a {type(documents).__name__} "
            "is empty after the first time; give list(...) of it, or a class with __iter__."
        )
    if isinstance(documents, (str, bytes)) or not isinstance(documents, Iterable):
        raise CorpusError(
            f"A corpus must be a list of texts or of token lists, not {type(documents).__name__}; "
            "for files use omnitm.corpus.build_index."
        )
    first = list(islice(documents, _NAMES_LOOKED_AT))
    if first and all(isinstance(name, (str, PathLike)) and os.path.isfile(name) for name in first):  # noqa: PTH113 - any text may be asked for
        raise CorpusError(
            f"A corpus must be a list of texts, but {str(first[0])!r} is the name of a file; give one name, "
            "fit('FILE'), or make an index of several files: omnitm index FILE FILE -o INDEX."
        )


def refuse_tables(documents: Any) -> None:
    """Refuse what has columns: a data frame, a data set, a dictionary of lists, an array of two dimensions.

    Known by their attributes, so that none of the libraries that make them is needed.
    """
    problem = f"A corpus must be a list of texts, but a {type(documents).__name__} is a table"
    if hasattr(documents, "collect_schema") and hasattr(documents, "collect"):  # a lazy frame of polars
        schema = documents.collect_schema().items()
        column = next((name for name, kind in schema if str(kind) in {"String", "Utf8"}), "text")
        raise CorpusError(f"{problem} still to be computed; choose a column: fit(df.collect()[{column!r}]).")
    columns = _columns(documents)
    if columns is None:
        return
    if isinstance(documents, Mapping) and any(_columns(part) is not None for part in documents.values()):
        part = next(name for name in columns if _columns(documents[name]) is not None)
        raise CorpusError(f"{problem} of tables; choose one of {columns}: df = df[{part!r}].")
    lengths = {column: _n_words(_first(documents, column)) for column in columns}
    texts = sorted((column for column in columns if lengths[column]), key=lambda column: -lengths[column])
    listed = ", ".join(map(repr, (texts or columns)[:_SHOWN_COLUMNS]))
    if not texts:
        raise CorpusError(
            f"{problem} without text (its columns are {listed}); if they are words, give "
            "fit(df.to_numpy(), vocabulary=list(df.columns))."
        )
    choice = f"df[:, {texts[0]}]" if _is_plain_array(documents) else f"df[{texts[0]!r}]"
    raise CorpusError(f"{problem}; choose a column: fit({choice}). Columns with text: {listed}.")


def _columns(documents: Any) -> list[Any] | None:
    """Names of the columns of a table, or their numbers; None: it is not a table of texts."""
    if isinstance(documents, Mapping):
        return list(documents)
    for attribute in ("column_names", "columns"):  # datasets and Arrow; pandas and polars
        names = getattr(documents, attribute, None)
        if names is not None and not callable(names):
            return list(names)
    dtype = getattr(documents, "dtype", None)
    if getattr(dtype, "names", None):
        return list(getattr(dtype, "names", ()))
    shape: Any = getattr(documents, "shape", ())
    return list(range(shape[1])) if len(shape) == 2 and not is_number_type(dtype) else None


def _first(table: Any, column: Any) -> Any:
    """First value of a column, read by row where columns may be large."""
    if isinstance(getattr(table, "features", None), Mapping) or _is_plain_array(table):
        return next(iter(table), {column: None})[column]
    value: Any = next(iter(table[column]), None)
    return value.as_py() if hasattr(value, "as_py") else value


def _is_plain_array(table: Any) -> bool:
    """Whether the columns have numbers only, as those of an array have."""
    return getattr(table, "ndim", 1) == 2 and not hasattr(table, "columns")


def is_number_type(dtype: Any) -> bool:
    """Whether a type of an array, of NumPy or like NumPy's, is one of numbers or truth values."""
    return getattr(dtype, "kind", "") in ("b", "i", "u", "f")


def refuse_record(record: Any, where: str) -> None:
    """Refuse a document that is a row of a table: a dictionary, or a text beside something else."""
    if isinstance(record, Mapping):
        texts = [name for name, value in record.items() if isinstance(value, str)] or ["text"]
        choice = f"choose a field: fit([record[{texts[0]!r}] for record in records])"
        raise CorpusError(f"{where} is a dictionary with {', '.join(map(repr, record))}; {choice}.")
    members = record[:_LOOKED_AT] if isinstance(record, (tuple, list)) else []
    least = 2 if isinstance(record, tuple) else _WORDS_OF_A_TEXT
    text = next((k for k, value in enumerate(members) if _n_words(value) >= least), None)
    if text is not None:
        choice = f"choose the text: fit([record[{text}] for record in records])"
        raise CorpusError(
            f"{where} is a {type(record).__name__} with a whole text in it, {members[text][:40]!r}; {choice}."
        )


def _n_words(value: Any) -> int:
    return len(value.split(maxsplit=_WORDS_OF_A_TEXT)) if isinstance(value, str) else 0


def document_blocks(documents: Iterable[Document], preparation: Preparation) -> Iterator[TextBlock]:
    """Blocks of texts or token lists that a Python program gives."""
    for data, unit, ends, is_tokens, offset in _record_blocks(documents, preparation):
        yield TextBlock(data, unit, ends, is_tokens, 0, offset, 0)


def _record_blocks(records: Iterable[Document], preparation: Preparation) -> Iterator[_Piece]:
    """Texts joined by newlines; a block holds texts or token lists, never both."""
    batch: list[Document] = []
    size = 0
    number = -1
    for number, record in enumerate(records):
        is_other_kind = batch and isinstance(record, str) != isinstance(batch[0], str)
        if size >= BLOCK_SIZE or is_other_kind:
            yield _record_block(batch, preparation, number - len(batch))
            batch, size = [], 0
        batch.append(record)
        length = len(record) if hasattr(record, "__len__") else 1
        size += length + 1 if isinstance(record, str) else LETTERS_PER_WORD * length
    if batch:
        yield _record_block(batch, preparation, number + 1 - len(batch))


def _record_block(batch: list[Document], preparation: Preparation, first: int) -> _Piece:
    is_tokens = not isinstance(batch[0], str) or not preparation.is_native
    places = [f"Document {first + k}" for k in range(len(batch))]
    return _encode(batch, preparation, places), "line", True, is_tokens, first


def _encode(documents: Sequence[Document], preparation: Preparation, places: Sequence[str]) -> bytes:
    lines = [_line(document, preparation, where) for document, where in zip(documents, places, strict=True)]
    lines.append("")
    try:
        return "\n".join(lines).encode("utf-8")
    except UnicodeEncodeError as error:
        raise CorpusError(
            f"{places[0]} or one of the next {len(documents) - 1} holds half of a surrogate pair, "
            f"{error.object[error.start]!r}, which is no character; repair it with "
            'text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").'
        ) from None


def _line(document: Any, preparation: Preparation, where: str) -> str:
    if isinstance(document, str):
        if preparation.is_native:
            return preparation.normalized(document).replace("\n", " ").replace("\0", " ")
        return "\0".join(preparation.tokens(document))
    if isinstance(document, (bytes, bytearray)) or not isinstance(document, Iterable):
        raise CorpusError(
            f"{where}: a document must be a str or a list of str. Got {type(document).__name__} instead."
        )
    refuse_record(document, where)
    return "\0".join(checked_tokens(document))


def records_of(stream: SourceStream, reading: Reading) -> Iterator[Document]:
    """Texts (or token lists) in the chosen column of a table."""
    kind = reading.format_of(stream.path)
    if kind == "jsonl":
        lines = _json_lines(stream, reading)
        return (_field(record, reading, stream.path, number) for number, record in lines)
    if kind == "parquet":
        values = _parquet_values(stream.path, reading.column)
        return ("" if value is None else value for value in values)
    return _csv_records(stream, reading, "\t" if kind == "tsv" else ",")


def _lines(stream: SourceStream, reading: Reading) -> Iterator[str]:
    """Lines with their ends, decoded."""
    for data, _, offset in cut_text(utf8_stream(stream, reading), "line", stream.path, whole_documents=True):
        yield from io.StringIO(decoded(stream.path, bytes(data), offset), newline="\n")


def _csv_records(stream: SourceStream, reading: Reading, delimiter: str) -> Iterator[str]:
    limit = csv.field_size_limit(sys.maxsize)  # the default of 128 KiB is less than a long document
    try:
        rows = csv.reader(_lines(stream, reading), delimiter=delimiter, strict=True)
        header = next(rows, None)
        if header is None:
            return
        column = _column(stream.path, header, reading.column)
        position = header.index(column)
        for row in rows:
            if len(row) > position:
                yield row[position]
            elif row:
                raise FileError(
                    stream.path,
                    f"line {rows.line_num} has {len(row)} columns, too few for {column!r}",
                )
    except csv.Error as error:
        raise FileError(stream.path, f"line {rows.line_num}: not a table: {error}") from error
    finally:
        csv.field_size_limit(limit)


def _column(path: Path, columns: Sequence[str], wanted: str | None) -> str:
    """Return the column that is wanted, or the one that is called text, if there is one."""
    listed = ", ".join(map(repr, columns))
    if wanted is None and _TEXT in columns:
        return _TEXT
    if wanted is None:
        raise FileError(
            path,
            "which column holds the text? Choose with --column NAME (in Python: Reading(column=NAME)); "
            f"there are {listed}",
        )
    if wanted not in columns:
        raise FileError(path, f"no column {wanted!r}; there are {listed}")
    return wanted


def values_of(stream: SourceStream, reading: Reading, field: str) -> Iterator[Any]:
    """Values of any field of a table, one per document; None where a JSON record does not have it."""
    kind = reading.format_of(stream.path)
    if kind == "parquet":
        return _parquet_values(stream.path, field)
    if kind == "jsonl":
        return _json_values(stream, reading, field)
    return _csv_records(stream, replace(reading, column=field), "\t" if kind == "tsv" else ",")


def _json_values(stream: SourceStream, reading: Reading, field: str) -> Iterator[Any]:
    known: dict[str, None] = {}
    for _, record in _json_lines(stream, reading):
        fields = record if isinstance(record, dict) else {}
        known.update(dict.fromkeys(fields))
        yield fields.get(field)
    if field not in known:
        raise FileError(stream.path, f"no field {field!r}; there are {', '.join(map(repr, known))}")


def _json_lines(stream: SourceStream, reading: Reading) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(_lines(stream, reading), 1):
        if not line.strip():
            continue
        try:
            yield number, json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise FileError(stream.path, f"line {number} is not JSON: {error}") from None


def _field(record: Any, reading: Reading, path: Path, number: int) -> Document:
    column = reading.column
    if isinstance(record, str) and column is None:
        value: Any = record
    elif not isinstance(record, dict):
        raise FileError(path, f"line {number} is not a JSON object but {type(record).__name__}")
    else:
        column = _column(Path(f"{path}: line {number}"), list(record), column)
        value = record[column]
    if value is None:
        return ""
    if not isinstance(value, (str, list)):
        problem = f"{column!r} is neither text nor a list of words but {value!r}"
        raise FileError(path, f"line {number}: {problem}")
    return value


def _parquet_values(path: Path, column: str | None) -> Iterator[Any]:
    with needs_extra(f"Reading {path.name}", "parquet"):
        import pyarrow as pa
        from pyarrow import parquet
    try:
        with parquet.ParquetFile(path) as table:
            chosen = _column(path, table.schema_arrow.names, column)
            for batch in table.iter_batches(ROWS_PER_BATCH, columns=[chosen]):
                yield from batch.column(0).to_pylist()
    except (pa.ArrowInvalid, OSError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(path, f"not a readable Parquet file: {error}") from error


class SourceTexts:
    """Finds documents in the sources that an index was built from.

    `positions` has a row (source, offset, first document) per block; from there on documents are counted.
    """

    def __init__(self, path: Path) -> None:
        manifest = storage.open_folder(path)
        facts = storage.read_json(manifest, "sources.json", dict)
        self._files: list[dict[str, Any]] = facts["files"]
        self._readings: list[dict[str, Any]] = facts["reading"]
        self.n_sources = len(self._files)
        self._n_documents: int = manifest.facts["n_documents"]
        self._positions = storage.array(manifest, "positions").reshape(-1, 3)
        self._unpacked: dict[int, UnpackedCopy] = {}

    def source_problem(self, source: int) -> str | None:
        """Why a source cannot be used any more, or None."""
        path, size = self._path(source), self._files[source]["size"]
        if not path.is_file():
            return "the text of the index is not there any more"
        found = path.stat().st_size
        if found != size:
            return f"the text has changed: {size} bytes when it was indexed, {found} now"
        return None

    def find(self, numbers: Iterable[int]) -> dict[int, Document]:
        """Documents by number, as far as their sources are there and have the same size."""
        found: dict[int, Document] = {}
        walk: _Walk | None = None
        for number in sorted(set(numbers)):
            for row in self._rows_before(number):
                walk = self._walk_to(row, number, walk)
                document = None if walk is None else walk.document(number)
                if document is not None:
                    found[number] = document
                    break
        if walk is not None:
            walk.close()
        return found

    def _walk_to(self, row: int, number: int, walk: _Walk | None) -> _Walk | None:
        """Go on with a walk if it leads to the document, else begin at the block; None: the text is gone."""
        source, offset, first = (int(value) for value in self._positions[row])
        if walk is not None:
            if walk.reaches(source, number, first):
                return walk
            walk.close()
        if self.source_problem(source) is not None:
            return None
        return _Walk(self._stream(source), self.reading(source), source, offset=offset, first=first)

    def _stream(self, source: int) -> SourceStream:
        """Open a source; one that is packed is unpacked once, however often documents are asked for."""
        path = self._path(source)
        if path.suffix.lower() not in PACKED_SUFFIXES:
            return SourceStream(path)
        if source not in self._unpacked:
            self._unpacked[source] = UnpackedCopy(path)
        return UnpackedStream(path, self._unpacked[source])

    def _rows_before(self, number: int) -> Iterable[int]:
        """Rows where the document may begin: the last one before it; more if nothing begins in a block."""
        firsts = self._positions[:, 2]
        # A block whose first document is that of the next block too holds no beginning: the document is long,
        # and may begin in any of them.
        last = int(np.searchsorted(firsts, number, side="right")) - 1
        return range(int(np.searchsorted(firsts, firsts[last], side="left")), last + 1)

    def all_documents(self) -> Iterator[Document]:
        """Every document in order; an error names the first source that is gone or has changed."""
        self.check_sources()
        for source in range(len(self._files)):
            with SourceStream(self._path(source)) as stream:
                yield from _documents_from(stream, self.reading(source), 0)

    def check_sources(self) -> None:
        """Refuse if a source is gone or has changed."""
        for source in range(len(self._files)):
            problem = self.source_problem(source)
            if problem is not None:
                raise FileError(self._path(source), problem)

    def sources_of_documents(self) -> NDArray[np.int64]:
        """Find the source that each document is from."""
        sources, first_rows = np.unique(self._positions[:, 0], return_index=True)
        firsts = self._positions[first_rows, 2].astype(np.int64)
        # A source has the documents up to the first one of the next source.
        counts = np.diff(np.append(firsts, self._n_documents))
        return np.repeat(sources.astype(np.int64), counts)

    @property
    def paths(self) -> list[Path]:
        """The files that the index was made from."""
        return [self._path(source) for source in range(self.n_sources)]

    def _path(self, source: int) -> Path:
        return Path(self._files[source]["path"])

    def reading(self, source: int) -> Reading:
        """How a source is read."""
        options = [reading for reading in self._readings if reading["first_source"] <= source][-1]
        return Reading(**{name: value for name, value in options.items() if name != "first_source"})


class _Walk:
    """Goes through the documents of one source, forwards only."""

    def __init__(
        self, stream: SourceStream, reading: Reading, source: int, *, offset: int, first: int
    ) -> None:
        self.source, self.next_number = source, first
        self.is_seekable = reading.format_of(stream.path) == "text" and reading.is_plain_utf8
        self._stream = stream
        self._documents = _documents_from(stream, reading, offset)

    def reaches(self, source: int, number: int, block: int) -> bool:
        """Whether going on is possible, and no slower than beginning again at the block of the document."""
        return (
            self.source == source
            and self.next_number <= number
            and (not self.is_seekable or block <= self.next_number)
        )

    def document(self, number: int) -> Document | None:
        try:
            document = next(islice(self._documents, number - self.next_number, None), None)
        except FileError:  # no longer the text that was indexed
            document = None
        self.next_number = number + 1
        return document

    def close(self) -> None:
        self._stream.close()


def _documents_from(stream: SourceStream, reading: Reading, offset: int) -> Iterator[Document]:
    """Documents from a block on: `offset` counts bytes of UTF-8, or records of a table."""
    if reading.format_of(stream.path) != "text":
        yield from islice(records_of(stream, reading), offset, None)
        return
    source = utf8_stream(stream, reading)
    if source is stream:
        stream.seek(offset)
    else:
        skip_bytes(source, offset)
    for data, _, start in cut_text(source, reading.document, stream.path, whole_documents=True):
        for part in split_documents(bytes(data), reading.document):
            yield decoded(stream.path, part, offset + start)


def as_text(document: Document) -> str:
    """Text of a document; a token list is joined by blanks."""
    return document if isinstance(document, str) else " ".join(document)


def prepared(document: Document, prepare: Any) -> Sequence[str]:
    """Words of a document; a token list is taken as it is."""
    words: Sequence[str] = prepare(document) if isinstance(document, str) else document
    return words
