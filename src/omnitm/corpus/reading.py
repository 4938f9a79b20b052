"""Which sources there are, how their bytes are unpacked, and how each is cut into whole documents."""

from __future__ import annotations

import bz2
import codecs
import glob
import gzip
import lzma
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock
from typing import IO, Any, NamedTuple, Protocol, cast

from omnitm.errors import FileError, MissingExtraError, ParameterError, needs_extra
from omnitm.files.kinds import refuse_other_kinds, there_is
from omnitm.parameters import check_choice

PACKED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
STANDARD_INPUT = "-"
PIECE = 1 << 18  # bytes decoded at a time


class ByteStream(Protocol):
    """What a reader needs: buffers filled to the end of the stream."""

    def readinto(self, buffer: memoryview, /) -> int:
        """Fill the buffer, less only at the end; return how many bytes there are."""


def skip_bytes(stream: ByteStream, n_bytes: int) -> None:
    """Read and forget."""
    skipped = memoryview(bytearray(PIECE))
    while n_bytes > 0:
        n_bytes -= stream.readinto(skipped[: min(n_bytes, PIECE)]) or n_bytes


class SourceStream:
    """An open source: reads full blocks, knows how far it is on disk, and names the file in errors."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._is_standard_input = str(path) == STANDARD_INPUT
        self._file: Any = self._open()
        try:
            self._bytes = _unpacked(path, self._file)
        except MissingExtraError:
            self.close()
            raise

    def _open(self) -> Any:
        if self._is_standard_input:
            return sys.stdin.buffer
        try:
            return self.path.open("rb", buffering=0)
        except OSError as error:
            raise FileError(self.path, f"cannot be read: {error.strerror}") from error

    def readinto(self, buffer: memoryview, /) -> int:
        """Fill the buffer, less only at the end; return how many bytes there are."""
        done = 0
        while done < len(buffer) and (n := self._read_some(buffer[done:])):
            done += n
        return done

    def _read_some(self, buffer: memoryview) -> int:
        try:
            return self._bytes.readinto(buffer)
        except EOFError as error:
            problem = "the archive is cut off: it ends in the middle of its data; get it again"
            raise FileError(self.path, problem) from error
        except (zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
            raise FileError(self.path, f"the archive is damaged: {error}; get it again") from error
        except OSError as error:
            if isinstance(error, FileError):
                raise
            raise FileError(self.path, f"cannot be read: {error.strerror or error}") from error

    def seek(self, offset: int) -> None:
        """Go to a byte of the unpacked text."""
        if self.path.suffix.lower() in PACKED_SUFFIXES:
            skip_bytes(self, offset)
        else:
            self._file.seek(offset)

    def packed_position(self) -> int:
        """How far the reader is in the file as it lies on disk."""
        return 0 if self._is_standard_input else self._file.tell()

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if not self._is_standard_input:
            self._file.close()

    def __enter__(self) -> SourceStream:  # noqa: PYI034  # typing.Self needs Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class UnpackedCopy:
    """A packed source that is unpacked into a temporary file as far as it is read: every byte only once."""

    def __init__(self, path: Path) -> None:
        self._packed, self._size = SourceStream(path), 0
        self._copy = TemporaryFile()  # noqa: SIM115 - it lives as long as this
        self._ends, self._lock = False, Lock()

    def read(self, offset: int, buffer: memoryview) -> int:
        """Fill a buffer with the unpacked bytes from an offset on, less only at the end."""
        with self._lock:
            piece = memoryview(bytearray(PIECE))
            while self._size < offset + len(buffer) and not self._ends:
                n = self._packed.readinto(piece)
                self._copy.seek(self._size)
                self._size += self._copy.write(piece[:n])
                self._ends = n < len(piece)
            self._copy.seek(offset)
            return cast("IO[bytes]", self._copy).readinto(buffer)  # type: ignore[attr-defined, no-any-return]

    def __del__(self) -> None:
        self._copy.close()
        self._packed.close()


class UnpackedStream(SourceStream):
    """A packed source that is read from its unpacked copy, which may be read by others, too."""

    def __init__(self, path: Path, copy: UnpackedCopy) -> None:
        self.path, self._unpacked, self._offset = path, copy, 0

    def readinto(self, buffer: memoryview, /) -> int:
        """Fill the buffer, less only at the end; return how many bytes there are."""
        n = self._unpacked.read(self._offset, buffer)
        self._offset += n
        return n

    def seek(self, offset: int) -> None:
        """Go to a byte of the unpacked text."""
        self._offset = offset

    def close(self) -> None:
        """Leave the copy to others."""


def _unpacked(path: Path, file: Any) -> ByteStream:
    match path.suffix.lower():
        case ".gz":
            return cast("ByteStream", gzip.GzipFile(fileobj=file))
        case ".bz2":
            return cast("ByteStream", bz2.BZ2File(file))
        case ".xz":
            return cast("ByteStream", lzma.LZMAFile(file))
        case ".zst":
            return _ZstandardReader(path, file)
        case _:
            return cast("ByteStream", file)


class _ZstandardReader:
    """Frames of a .zst file, one after the other; the library itself does not notice a cut-off last frame."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        with needs_extra(f"Reading {path.name}", "zstd"):
            import zstandard
        self._path, self._file, self._zstandard = path, file, zstandard
        self._frame: Any = None
        self._packed = self._text = b""

    def readinto(self, buffer: memoryview, /) -> int:
        while not self._text:
            self._packed = self._packed or self._file.read(1 << 17)
            if not self._packed:
                # A frame that was begun and has no end: the file is cut off.
                if self._frame is not None:
                    raise EOFError
                return 0
            self._text = self._unpack()
        part, self._text = self._text[: len(buffer)], self._text[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)

    def _unpack(self) -> bytes:
        if self._frame is None:
            self._frame = self._zstandard.ZstdDecompressor().decompressobj()
        frame, packed, self._packed = self._frame, self._packed, b""
        try:
            text = frame.decompress(packed)
        except self._zstandard.ZstdError as error:
            raise FileError(self._path, f"the archive is damaged: {error}; get it again") from error
        if frame.eof:
            self._frame, self._packed = None, frame.unused_data
        return bytes(text)


class TranscodedStream:
    """A stream in another encoding, or with bytes to be replaced, as UTF-8."""

    def __init__(self, stream: SourceStream, encoding: str, errors: str) -> None:
        self._stream, self._encoding = stream, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)(errors)
        self._strip_nul = errors == "replace"
        self._read_bytes = 0
        self._text = b""
        self._ended = False

    def readinto(self, buffer: memoryview, /) -> int:
        """Fill the buffer with UTF-8, less only at the end; return how many bytes there are."""
        while len(self._text) < len(buffer) and not self._ended:
            self._text += self._more()
        part, self._text = self._text[: len(buffer)], self._text[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)

    def _more(self) -> bytes:
        data = bytearray(PIECE)
        n = self._stream.readinto(memoryview(data))
        self._ended = n == 0
        self._read_bytes += n
        text = self._decode(bytes(data[:n]))
        return (text.replace("\0", " ") if self._strip_nul else text).encode("utf-8", "replace")

    def _decode(self, data: bytes) -> str:
        try:
            return self._decoder.decode(data, final=self._ended)
        except UnicodeDecodeError as error:
            at = self._read_bytes - len(error.object) + error.start
            raise not_text(self._stream.path, self._encoding, at) from None


# How files begin that people take for text, and what makes text of them.
_DOCUMENTS = {
    b"%PDF": "is a PDF document, not text; save its text, for example with pdftotext",
    b"PK\x03\x04": "is an office document or a ZIP archive, not text; save it as text, or unpack it",
    b"\xd0\xcf\x11\xe0": "is an old office document, not text; save it as text",
}


def _document(path: Path) -> FileError | None:
    """Build the error for a document of another program, if the file is one."""
    try:
        with path.open("rb") as file:
            problem = _DOCUMENTS.get(file.read(4))
    except OSError:
        return None
    return None if problem is None else FileError(path, problem)


def not_text(path: Path, encoding: str, offset: int) -> FileError:
    """Build the error for bytes that are not text in the expected encoding."""
    return _document(path) or FileError(
        path,
        f"not {encoding.upper()} at byte {offset}; give the right --encoding, "
        "or --errors replace to read such bytes as \N{REPLACEMENT CHARACTER}",
    )


def binary_file(path: Path, offset: int) -> FileError:
    """Build the error for a NUL byte where text was expected."""
    return _document(path) or FileError(
        path,
        f"NUL at byte {offset}: this looks like a binary file; leave it out, give its --encoding if it is "
        "UTF-16 or UTF-32, or --errors replace to read NUL as white space",
    )


BLOCK_SIZE = 1 << 20  # bytes; part of the format, since positions.bin has a row per block
LONGEST_PIECE = 16 * BLOCK_SIZE  # a longer document is cut at white space, which must come by then
UNITS = ("line", "paragraph", "file")
FORMATS = ("auto", "text", "csv", "tsv", "jsonl", "parquet")
FORMAT_OF_SUFFIX = {
    ".txt": "text",
    ".text": "text",
    ".md": "text",
    ".rst": "text",
    "": "text",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}
WHITE_SPACE = b" \t\n\r\v\f"
BLANK_LINES = re.compile(rb"\n(?:[ \t\r\v\f]*\n)+")


@dataclass(frozen=True)
class Reading:
    """How sources are read: what a document is, which column holds the text, which encoding.

    Parameters
    ----------
    document
        What a document is in plain text: "line", "paragraph" (blank lines between) or "file".
    column
        Column (CSV, TSV, Parquet) or field (JSON Lines) that holds the text or a list of words; None: `text`.
    format
        "auto" (by suffix, anything unknown is plain text), "text", "csv", "tsv", "jsonl" or "parquet".
    encoding, errors
        As in `open`; `errors` is "strict" or "replace".
    """

    document: str = "line"
    column: str | None = None
    format: str = "auto"
    encoding: str = "utf-8"
    errors: str = "strict"

    def __post_init__(self) -> None:
        check_choice("Reading", "document", self.document, UNITS)
        check_choice("Reading", "format", self.format, FORMATS)
        check_choice("Reading", "errors", self.errors, ("strict", "replace"))
        try:
            codecs.lookup(self.encoding)
        except (LookupError, TypeError):
            raise ParameterError(
                "The 'encoding' parameter of Reading must be an encoding that Python knows. "
                f"Got {self.encoding!r} instead."
            ) from None

    @property
    def is_plain_utf8(self) -> bool:
        """Whether bytes can go to the native code as they are."""
        return codecs.lookup(self.encoding).name == "utf-8" and self.errors == "strict"

    def format_of(self, path: Path) -> str:
        """Format of a file, by the option or by its suffix (`.xz` and the like set aside)."""
        if self.format != "auto":
            return self.format
        return FORMAT_OF_SUFFIX.get(_suffix(path), "text")


def _suffix(path: Path) -> str:
    """Last suffix of a file that is not that of an archive; "" if there is none."""
    return next((s for s in map(str.lower, reversed(path.suffixes)) if s not in PACKED_SUFFIXES), "")


class TextBlock(NamedTuple):
    """Documents on their way to the native code."""

    data: bytes | memoryview
    unit: str  # what ends a document within `data`
    ends_document: bool  # False: the last document goes on in the next block
    is_tokens: bool  # words are ready, NUL after each
    source: int
    offset: int  # of the first byte in the unpacked source; first record for tables
    position: int  # packed bytes read so far, over all sources


def find_sources(sources: str | PathLike[str] | Iterable[str | PathLike[str]]) -> list[Path]:
    """Find the files behind paths, folders (whatever looks like text, at any depth) and patterns, sorted."""
    if isinstance(sources, (str, PathLike)):
        sources = [sources]
    found = [file for source in sources for file in _expand(str(source))]
    if not found:
        raise ParameterError("No source was given; name at least one file, folder or pattern.")
    return found


def _expand(source: str) -> list[Path]:
    path = Path(source)
    if source == STANDARD_INPUT:
        return [path]
    refuse_other_kinds(path, "text")
    if path.is_dir():
        files = [file for file in sorted(path.rglob("*")) if _is_readable(file, path)]
        if not files:
            raise FileError(
                path, "no text in this folder; wanted " + " ".join(filter(None, FORMAT_OF_SUFFIX))
            )
    else:
        files = [path] if path.exists() else _matches(source)
    for folder in sorted({file.parent for file in files}):  # files of a model are no text, either
        refuse_other_kinds(folder, "text")
    return files


def _nothing_called(name: str) -> str:
    """Say that there is no such file, and what there is instead."""
    if glob.has_magic(name):
        return "the pattern matches no file; put it in quotes, and ** stands for folders at any depth"
    return f"no such file or folder; {there_is(name, 'name a file, a folder or a pattern in quotes')}"


def _matches(pattern: str) -> list[Path]:
    matches = sorted(glob.glob(pattern, recursive=True)) if glob.has_magic(pattern) else []  # noqa: PTH207  # may be absolute
    if not matches:
        raise FileError(pattern, _nothing_called(pattern))
    files = [Path(match) for match in matches if Path(match).is_file()]
    for path in files or matches:
        refuse_other_kinds(path, "text")
    if not files:
        raise FileError(
            pattern, f"the pattern matches folders only, such as {matches[0]}; name files or one folder"
        )
    return files


def _is_readable(file: Path, folder: Path) -> bool:
    if not file.is_file() or any(part.startswith(".") for part in file.relative_to(folder).parts):
        return False
    return _suffix(file) in FORMAT_OF_SUFFIX or _suffix(file)[1:].isdigit()


def cut_text(
    stream: ByteStream, unit: str, path: Path, *, whole_documents: bool
) -> Iterator[tuple[memoryview, bool, int]]:
    """Blocks that end with a document, as (bytes, whether the last document ends here, offset)."""
    buffer, filled, offset = bytearray(BLOCK_SIZE), 0, 0
    open_document = False
    while n := stream.readinto(memoryview(buffer)[filled:]):
        searched, filled = filled, filled + n
        if offset == 0 and buffer.startswith(codecs.BOM_UTF8):
            offset = len(codecs.BOM_UTF8)
            buffer, filled, searched = _shifted(buffer, offset, filled), filled - offset, 0
        # Blocks end where documents end, so that blocks can be counted in any thread.
        cut = last_boundary(buffer, unit, searched, filled)
        ends = cut > 0
        # A long document is handed on in pieces; a piece ends at white space, so that no word is cut.
        if not ends and not whole_documents and filled >= 4 * BLOCK_SIZE:
            cut = _last_white_space(buffer, unit, filled)
            if cut == 0 and filled >= LONGEST_PIECE:
                raise FileError(path, f"no white space in {filled} bytes from byte {offset}: is this text?")
        if cut:
            yield memoryview(buffer)[:cut], ends, offset
            open_document = not ends
            offset += cut
        # Nothing to hand on yet, and room is left: read more.
        elif filled < len(buffer):
            continue
        buffer, filled = _shifted(buffer, cut, filled), filled - cut
    if filled or open_document or unit == "file":
        yield memoryview(buffer)[:filled], True, offset


def _shifted(buffer: bytearray, cut: int, filled: int) -> bytearray:
    """Make a new buffer with what was left of an old one; a document longer than a block makes it grow."""
    n = filled - cut
    fresh = bytearray(BLOCK_SIZE if n < BLOCK_SIZE else 2 * n)
    fresh[:n] = memoryview(buffer)[cut:filled]
    return fresh


def last_boundary(buffer: bytearray, unit: str, searched: int, filled: int) -> int:
    """Position after the last end of a document, 0 if there is none; the first `searched` bytes have none."""
    if unit == "file":
        return 0
    if unit == "line":
        return buffer.rfind(b"\n", searched, filled) + 1
    start = max(0, buffer.rfind(b"\n", 0, searched))  # the blank line may begin before
    last = max(buffer.rfind(b"\n\n", start, filled), buffer.rfind(b"\n\r\n", start, filled))
    if last < 0:
        last = max((match.start() for match in BLANK_LINES.finditer(buffer, start, filled)), default=-1)
    return 0 if last < 0 else buffer.index(b"\n", last + 1) + 1


def _last_white_space(buffer: bytearray, unit: str, filled: int) -> int:
    line_end = buffer.rfind(b"\n", 0, filled) + 1
    if unit == "paragraph" and line_end:
        return line_end
    return max(buffer.rfind(bytes([space]), 0, filled) for space in WHITE_SPACE) + 1


def split_documents(data: bytes, unit: str) -> list[bytes]:
    """Documents of a block, as the native code divides it."""
    if unit == "file":
        return [data]
    if unit == "line":
        lines = data.split(b"\n")
        return lines if lines[-1] else lines[:-1]
    return [
        part.strip(b"\r\n") for part in BLANK_LINES.split(b"\n" + data + b"\n") if part.strip(WHITE_SPACE)
    ]
