"""Bytes of a file, unpacked on the way, with damage reported by name."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import sys
import zlib
from typing import IO, TYPE_CHECKING, Any, Protocol

from omnitm.errors import FileError, MissingExtraError

if TYPE_CHECKING:
    from pathlib import Path

PACKED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
STANDARD_INPUT = "-"


class ByteStream(Protocol):
    """What a reader needs: up to `size` bytes at a time, none at the end."""

    def read(self, size: int) -> bytes:
        """Return between one and `size` bytes, or none at the end."""


class SourceStream:
    """An open source: reads full blocks, knows how far it is on disk, and names the file in errors."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._is_standard_input = str(path) == STANDARD_INPUT
        self._file = self._open()
        try:
            self._bytes = _unpacked(path, self._file)
        except MissingExtraError:
            self.close()
            raise

    def _open(self) -> IO[bytes]:
        if self._is_standard_input:
            return sys.stdin.buffer
        try:
            return self.path.open("rb")
        except OSError as error:
            raise FileError(self.path, f"cannot be read: {error.strerror}") from error

    def read(self, size: int) -> bytes:
        """Return exactly `size` bytes, fewer only at the end of the source."""
        parts: list[bytes] = []
        wanted = size
        while wanted:
            part = self._read_some(wanted)
            if not part:
                break
            parts.append(part)
            wanted -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _read_some(self, size: int) -> bytes:
        try:
            return self._bytes.read(size)
        except EOFError as error:
            raise FileError(
                self.path, "the archive is cut off: it ends in the middle of its data; get it again"
            ) from error
        except (zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
            raise FileError(self.path, f"the archive is damaged: {error}; get it again") from error
        except OSError as error:
            raise FileError(self.path, f"cannot be read: {error.strerror or error}") from error

    def seek(self, offset: int) -> None:
        """Go to a byte of the unpacked text."""
        if self._bytes is self._file:
            self._file.seek(offset)
            return
        while offset > 0:
            offset -= len(self.read(min(offset, 1 << 20))) or offset

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


def _unpacked(path: Path, file: IO[bytes]) -> ByteStream:
    match path.suffix.lower():
        case ".gz":
            return gzip.GzipFile(fileobj=file)
        case ".bz2":
            return bz2.BZ2File(file)
        case ".xz":
            return lzma.LZMAFile(file)
        case ".zst":
            return _ZstandardReader(path, file)
        case _:
            return file


class _ZstandardReader:
    """Frames of a .zst file, one after the other; the library itself does not notice a cut-off last frame."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        try:
            import zstandard
        except ImportError:
            raise MissingExtraError(f"Reading {path.name}", "zstd") from None
        self._path, self._file, self._zstandard = path, file, zstandard
        self._frame: Any = None
        self._packed = self._text = b""

    def read(self, size: int) -> bytes:
        while not self._text:
            self._packed = self._packed or self._file.read(1 << 17)
            if not self._packed:
                if self._frame is not None:
                    raise EOFError
                return b""
            self._text = self._unpack()
        part, self._text = self._text[:size], self._text[size:]
        return part

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
        self._ended = False

    def read(self, size: int) -> bytes:
        """Return about `size` bytes of UTF-8, none only at the end."""
        while not self._ended:
            data = self._stream.read(size)
            self._ended = not data
            self._read_bytes += len(data)
            text = self._decode(data)
            if text:
                text = text.replace("\0", " ") if self._strip_nul else text
                return text.encode("utf-8", "replace")
        return b""

    def _decode(self, data: bytes) -> str:
        try:
            return self._decoder.decode(data, final=self._ended)
        except UnicodeDecodeError as error:
            at = self._read_bytes - len(error.object) + error.start
            raise not_text(self._stream.path, self._encoding, at) from None


def not_text(path: Path, encoding: str, offset: int) -> FileError:
    """Build the error for bytes that are not text in the expected encoding."""
    return FileError(
        path,
        f"not {encoding.upper()} at byte {offset}; give the right --encoding, "
        "or --errors replace to read such bytes as \N{REPLACEMENT CHARACTER}",
    )


def binary_file(path: Path, offset: int) -> FileError:
    """Build the error for a NUL byte where text was expected."""
    return FileError(
        path,
        f"NUL at byte {offset}: this looks like a binary file; leave it out, give its --encoding if it is "
        "UTF-16 or UTF-32, or --errors replace to read NUL as white space",
    )
