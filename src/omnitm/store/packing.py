"""Pack a model into one small file, and unpack it to the same bytes."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from omnitm.errors import FileError
from omnitm.files.checked import FileDigest, FileEntry
from omnitm.files.kinds import PACKED_MAGIC, refuse_other_kinds, refuse_to_replace
from omnitm.files.plain import new_file
from omnitm.store.folder import model_texts, vectors_file, write_stored
from omnitm.store.loading import load_model
from omnitm.store.manifest import PLACE_VECTORS, manifest_content, model_manifest
from omnitm.store.model_notes import read_facts
from omnitm.store.packed import (
    BLOCK,
    BLOCKS,
    FORMAT,
    ROW,
    ROWS,
    TABLE,
    VERSION,
    StoredModel,
    is_packed,
    read_packed,
    to_bytes,
)
from omnitm.store.rows import RowEncoder, SparseEncoder, place_encoder, row_encoder

_SEGMENT = 4096
_MOST_SEGMENTS = 16
_ROWS_AT_ONCE = 64
_LEVEL, _MEMORY = 6, 9  # of zlib; lesser memory means more Huffman tables, which is worth nothing here


def pack_model(
    model: str | Path, path: str | Path, *, force: bool = False, report: Callable[[int], None] | None = None
) -> None:
    """Write a model's folder as one small file; unpacked it is the same, byte for byte.

    The folder is checked against its manifest on the way.

    Parameters
    ----------
    force
        Replace an existing file.
    report
        Called with the number of rows packed so far.
    """
    model = Path(model)
    refuse_other_kinds(model, "model")
    stored, manifest = load_model(model), model_manifest(model, sums=False)
    write_packed(path, stored, expected=manifest.files, card=read_facts(model), force=force, report=report)


def write_packed(
    path: str | Path,
    model: StoredModel,
    *,
    expected: dict[str, FileEntry] | None = None,
    card: dict[str, Any] | None = None,
    force: bool = False,
    report: Callable[[int], None] | None = None,
) -> None:
    """Write a model that may also be in memory as one small file.

    Parameters
    ----------
    expected
        The manifest that the model must have; anything else is an error, and no file is written.
    card
        What is said about the model, for the card of its folder when it is unpacked.
    force, report
        As in `pack_model`.
    """
    path = Path(path)
    refuse_to_replace(path, "packed model")
    if path.is_dir():
        raise FileError(path, "is a folder; a packed model is a file, choose another name for it")
    if path.exists() and not force:
        raise FileError(path, "exists already; --force (force=True) replaces it")
    if not path.absolute().parent.is_dir():
        raise FileError(path, f"cannot be written: the folder {path.absolute().parent} does not exist")
    texts = model_texts(
        model.record, model.words, model.features, is_named=model.is_named, places=model.places
    )
    with new_file(path) as file:
        file.write(PACKED_MAGIC)
        header, vectors = _write_rows(file, model, report)
        entries = {name: FileDigest(content).entry for name, content in texts.items()}
        entries.update(vectors)
        if expected is not None and entries != expected:
            raise FileError(
                path, "is not written: the model's files differ from its manifest, so it is damaged"
            )
        for name, text in texts.items():
            _add_section(file, header, name, zlib.compress(text, 9))
        for name in (TABLE, ROWS):
            _add_section(file, header, name, header.pop(name).tobytes())
        header["manifest"] = manifest_content(entries)
        if card:
            header["card"] = card
        content = json.dumps(header).encode()
        file.write(
            content + len(content).to_bytes(8, "little") + hashlib.sha256(content).digest() + PACKED_MAGIC
        )


def unpack_model(path: str | Path, model: str | Path, *, force: bool = False) -> None:
    """Write a packed model as a folder, and check that it is the model that was packed."""
    from omnitm.sharing.card import keep_card, kept_facts
    from omnitm.vectors.word_vectors import WordVectors

    path = Path(path)
    refuse_other_kinds(path, "packed model")
    if not is_packed(path):
        raise FileError(path, "is not a packed model; omnitm pack MODEL -o FILE makes one")
    packed = read_packed(path)
    write_stored(model, packed, force=force, expected=packed.manifest)
    keep_card(WordVectors.load(model), Path(model), kept_facts(path))


def _write_rows(
    file: BinaryIO, model: StoredModel, report: Callable[[int], None] | None
) -> tuple[dict[str, Any], dict[str, FileEntry]]:
    """Write the blocks; return the beginnings of a header, and what a manifest says of the vectors."""
    matrices = {vectors_file(model.matrix.dtype, model.record): model.matrix}
    encoders: list[RowEncoder | SparseEncoder] = [row_encoder(model.record, model.matrix.dtype)]
    if model.places is not None:
        matrices[PLACE_VECTORS] = model.places.matrix
        encoders.append(place_encoder(model.record))
    digests = [FileDigest() for _ in matrices]
    n_rows, n_columns = len(model.matrix), sum(matrix.shape[1] for matrix in matrices.values())
    # Blocks of at least _SEGMENT columns, and not too many per row: each has an entry in the table.
    segment = max(_SEGMENT, -(-n_columns // _MOST_SEGMENTS))
    blocks = np.zeros((n_rows, -(-n_columns // segment)), dtype=BLOCK)
    rows = np.zeros(n_rows, dtype=ROW)
    size = 0
    for row in range(n_rows):
        parts = [matrix[row] for matrix in matrices.values()]
        for digest, encode, part in zip(digests, encoders, parts, strict=True):
            digest.update(encode(part))
        values = np.concatenate(parts)
        # One byte per number where a row spans less than 256 steps, as nearly all do.
        rows[row] = lowest, itemsize = _span(values)
        for place in range(blocks.shape[1]):
            part = values[place * segment : (place + 1) * segment]
            data = _deflated(to_bytes(part, lowest, itemsize))
            blocks[row, place] = len(data), zlib.crc32(data)
            size += file.write(data)
        if report is not None and ((row + 1) % _ROWS_AT_ONCE == 0 or row + 1 == n_rows):
            report(row + 1)
    for digest, encode in zip(digests, encoders, strict=True):
        digest.update(encode.end())
    facts = {"format": FORMAT, "version": VERSION, "rows": n_rows, "columns": n_columns, "segment": segment}
    kind = "<f4" if model.matrix.dtype.kind == "f" else "<i2"
    header = {**facts, "type": kind, "sections": [[BLOCKS, size, None]], TABLE: blocks, ROWS: rows}
    return header, {name: digest.entry for name, digest in zip(matrices, digests, strict=True)}


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
