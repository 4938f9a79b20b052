"""NumPy, safetensors, Arrow and Parquet files of word vectors, each with the words in it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.errors import MissingExtraError, ParameterError

if TYPE_CHECKING:
    from typing import BinaryIO

    from numpy.typing import NDArray

_SAFETENSORS_TYPES = {"<i2": "I16", "<f4": "F32", "<i4": "I32", "<i8": "I64", "|u1": "U8"}
_ALIGNMENT = 8


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
    return np.frombuffer("".join(f"{word}\n" for word in words).encode(), dtype=np.uint8)


def _pyarrow() -> Any:
    try:
        import pyarrow as pa
        import pyarrow.ipc
    except ImportError:
        raise MissingExtraError("Arrow and Parquet", "parquet") from None
    return pa
