"""Pack a model into one small file, and unpack it to the same bytes."""

from __future__ import annotations

import hashlib
import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.embedding.rows import row_blocks
from omnitm.embedding.store.files import new_file
from omnitm.embedding.store.loading import load_model
from omnitm.embedding.store.manifest import (
    COORDINATES,
    FEATURES,
    SETTINGS,
    WORDS,
    manifest_content,
    read_manifest,
)
from omnitm.embedding.store.packed import (
    BLOCK,
    BLOCKS,
    FORMAT,
    MAGIC,
    ROW,
    ROWS,
    TABLE,
    VERSION,
    is_packed,
    read_packed,
    to_bytes,
)
from omnitm.embedding.store.whole import model_texts, write_model
from omnitm.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

    from numpy.typing import NDArray

_SEGMENT = 4096
_MOST_SEGMENTS = 16
_ROWS_AT_ONCE = 64
_LEVEL, _MEMORY = 6, 9  # of zlib; lesser memory means more Huffman tables, which is worth nothing here


def pack_model(
    model: str | Path, path: str | Path, *, force: bool = False, report: Callable[[int], None] | None = None
) -> None:
    """Write a model's folder as one small file; unpacked it is the same, byte for byte.

    Parameters
    ----------
    force
        Replace an existing file.
    report
        Called with the number of rows packed so far.
    """
    model, path = Path(model), Path(path)
    if is_packed(model):
        raise FileError(model, "is packed already")
    stored, manifest = load_model(model), read_manifest(model)
    if path.is_dir() or (path.exists() and not force):
        raise FileError(path, "exists already; --force (force=True) replaces a file")
    if not path.absolute().parent.is_dir():
        raise FileError(path, f"cannot be written: the folder {path.absolute().parent} does not exist")
    names = FEATURES if stored.is_named else COORDINATES
    texts = model_texts(stored.record, stored.words, stored.features, is_named=stored.is_named)
    with new_file(path) as file:
        file.write(MAGIC)
        header = _write_rows(file, stored.matrix, report)
        for name in (SETTINGS, names, WORDS):
            _add_section(file, header, name, zlib.compress(texts[name], 9))
        for name in (TABLE, ROWS):
            _add_section(file, header, name, header.pop(name).tobytes())
        header["manifest"] = manifest_content(manifest)
        content = json.dumps(header).encode()
        file.write(content + len(content).to_bytes(8, "little") + hashlib.sha256(content).digest() + MAGIC)


def unpack_model(path: str | Path, model: str | Path, *, force: bool = False) -> None:
    """Write a packed model as a folder, and check that it is the model that was packed."""
    path = Path(path)
    if not is_packed(path):
        raise FileError(path, "is not a packed model; `omnitm pack` makes one")
    packed = read_packed(path)
    write_model(
        model,
        packed.matrix,
        packed.words,
        packed.features,
        packed.record,
        is_named=packed.is_named,
        force=force,
        expected=packed.manifest,
    )


def _write_rows(file: BinaryIO, matrix: Any, report: Callable[[int], None] | None) -> dict[str, Any]:
    n_rows, n_columns = matrix.shape
    segment = max(_SEGMENT, -(-n_columns // _MOST_SEGMENTS))
    blocks = np.zeros((n_rows, -(-n_columns // segment)), dtype=BLOCK)
    rows = np.zeros(n_rows, dtype=ROW)
    size, done = 0, 0
    for _, block in row_blocks(matrix):
        for values in block:
            rows[done] = lowest, itemsize = _span(values)
            for place in range(blocks.shape[1]):
                part = values[place * segment : (place + 1) * segment]
                data = _deflated(to_bytes(part, lowest, itemsize))
                blocks[done, place] = len(data), zlib.crc32(data)
                size += file.write(data)
            done += 1
            if report is not None and (done % _ROWS_AT_ONCE == 0 or done == n_rows):
                report(done)
    kind = "<f4" if matrix.dtype.kind == "f" else "<i2"
    return {
        "format": FORMAT,
        "version": VERSION,
        "rows": n_rows,
        "columns": n_columns,
        "segment": segment,
        "type": kind,
        "sections": [[BLOCKS, size, None]],
        TABLE: blocks,
        ROWS: rows,
    }


def _span(values: NDArray[Any]) -> tuple[int, int]:
    """Return the lowest value, and how many bytes the differences to it need."""
    if values.dtype.kind == "f" or not len(values):
        return 0, values.dtype.itemsize
    lowest = int(values.min())
    return lowest, 1 if int(values.max()) - lowest < 256 else 2


def _deflated(content: bytes) -> bytes:
    """Compress by Huffman codes and run lengths: rows are noise around long runs of their baseline."""
    deflater = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, _MEMORY, zlib.Z_RLE)
    return deflater.compress(content) + deflater.flush()


def _add_section(file: BinaryIO, header: dict[str, Any], name: str, content: bytes) -> None:
    file.write(content)
    header["sections"].append([name, len(content), hashlib.sha256(content).hexdigest()])
