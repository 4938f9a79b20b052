"""Which sources there are, and how each is cut into blocks of whole documents."""

from __future__ import annotations

import codecs
import glob
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from omnitm.corpus.streams import PACKED_SUFFIXES, STANDARD_INPUT
from omnitm.errors import FileError, ParameterError
from omnitm.files.kinds import refuse_other_kinds
from omnitm.parameters import check_choice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike

    from omnitm.corpus.streams import ByteStream

BLOCK_SIZE = 1 << 20  # bytes; part of the format, since positions.bin has a row per block
LONGEST_PIECE = (
    16 * BLOCK_SIZE
)  # a document longer than a block is cut at white space, which must come by then
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
        Column (CSV, TSV, Parquet) or field (JSON Lines) that holds the text or a list of words.
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
        suffixes = [s.lower() for s in path.suffixes]
        while suffixes and suffixes[-1] in PACKED_SUFFIXES:
            suffixes.pop()
        return FORMAT_OF_SUFFIX.get(suffixes[-1] if suffixes else "", "text")


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
    if isinstance(sources, (str, Path)) or hasattr(sources, "__fspath__"):
        sources = [sources]  # type: ignore[list-item]  # one path
    found: list[Path] = []
    for source in sources:
        found.extend(_expand(str(source)))
    if not found:
        raise ParameterError("No source was given; name at least one file, folder or pattern.")
    return found


def _expand(source: str) -> Iterable[Path]:
    path = Path(source)
    if source != STANDARD_INPUT:
        refuse_other_kinds(path, "text")
    if source == STANDARD_INPUT or path.is_file():
        return [path]
    if path.is_dir():
        inside = [file for file in sorted(path.rglob("*")) if _is_readable(file, path)]
        if not inside:
            raise FileError(
                path, "no text in this folder; wanted " + " ".join(filter(None, FORMAT_OF_SUFFIX))
            )
        for folder in sorted({file.parent for file in inside} - {path}):
            refuse_other_kinds(folder, "text")
        return inside
    if path.exists():
        return [path]  # a pipe or a device
    matches = sorted(glob.glob(source, recursive=True))  # noqa: PTH207  # may be absolute
    matches = matches if glob.has_magic(source) else []
    if not matches:
        problem = "the pattern matches no file" if glob.has_magic(source) else "no such file or folder"
        raise FileError(source, problem)
    files = [Path(match) for match in matches if Path(match).is_file()]
    for file in files:
        refuse_other_kinds(file, "text")
    return files


def _is_readable(file: Path, folder: Path) -> bool:
    if not file.is_file() or any(part.startswith(".") for part in file.relative_to(folder).parts):
        return False
    suffixes = [s.lower() for s in file.suffixes]
    while suffixes and suffixes[-1] in PACKED_SUFFIXES:
        suffixes.pop()
    return not suffixes or suffixes[-1] in FORMAT_OF_SUFFIX or suffixes[-1][1:].isdigit()


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
        cut = last_boundary(buffer, unit, searched, filled)
        ends = cut > 0
        if not ends and not whole_documents and filled >= 4 * BLOCK_SIZE:
            cut = _last_white_space(buffer, unit, filled)
            if cut == 0 and filled >= LONGEST_PIECE:
                raise FileError(path, f"no white space in {filled} bytes from byte {offset}: is this text?")
        if cut:
            yield memoryview(buffer)[:cut], ends, offset
            open_document = not ends
            offset += cut
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
