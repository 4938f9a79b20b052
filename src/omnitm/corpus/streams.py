"""Bytes of a file, unpacked on the way, with damage reported by name."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import sys
import zlib
from typing import IO, TYPE_CHECKING, Any, Protocol, cast

from omnitm.errors import FileError, MissingExtraError

if TYPE_CHECKING:
    from pathlib import Path

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
        if self.path.suffix.lower() not in PACKED_SUFFIXES:
            self._file.seek(offset)
            return
        skip_bytes(self, offset)

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
        try:
            import zstandard
        except ImportError:
            raise MissingExtraError(f"Reading {path.name}", "zstd") from None
        self._path, self._file, self._zstandard = path, file, zstandard
        self._frame: Any = None
        self._packed = self._text = b""

    def readinto(self, buffer: memoryview, /) -> int:
        while not self._text:
            self._packed = self._packed or self._file.read(1 << 17)
            if not self._packed:
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
