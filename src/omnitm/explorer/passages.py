"""Documents to read: cut to a passage around the words that matter, with those words marked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from omnitm.corpus import DocumentIndex
    from omnitm.explain import Document

PASSAGE = 1_200  # characters of a document that are shown
_BEFORE = 300  # of them, those before the first word that matters
_PIECE = re.compile(r"\s+|\S+")


def passage(index: DocumentIndex, document: Document, words: Collection[str]) -> dict[str, Any]:
    """Turn a document into pieces of plain text; a piece with a `word` is to be marked.

    `cut` tells whether text is left out at the beginning and at the end.
    """
    wanted = set(words)
    if document.text is None or index.preparation_or_default.is_incomplete:
        shown = document.text if document.text is not None else " ".join(document.words)
        pieces = _pieces(shown, wanted, lambda text: [text])
    else:
        pieces = _pieces(document.text, wanted, index.preparation_or_default.tokens)
    start, end = _window(pieces)
    return {
        "number": document.number,
        "is_text": document.text is not None,
        "pieces": _joined(pieces[start:end]),
        "cut": [start > 0, end < len(pieces)],
    }


Piece = tuple[str, "str | None"]


def _pieces(text: str, wanted: set[str], tokens: Callable[[str], list[str]]) -> list[Piece]:
    """Split at white space; whatever the corpus' own rules turn into a wanted word is marked."""
    return [(piece, _mark(piece, wanted, tokens)) for piece in _PIECE.findall(text[: 50 * PASSAGE])]


def _mark(piece: str, wanted: set[str], tokens: Callable[[str], list[str]]) -> str | None:
    if piece.isspace() or len(piece) > PASSAGE:
        return None
    return next((token for token in tokens(piece) if token in wanted), None)


def _window(pieces: list[Piece]) -> tuple[int, int]:
    """Choose the pieces to show: some text before the first mark, and as much after it as fits."""
    if sum(len(text) for text, _ in pieces) <= PASSAGE:
        return 0, len(pieces)
    first = next((k for k, (_, mark) in enumerate(pieces) if mark), 0)
    start, room = first, _BEFORE
    while start > 0 and room > 0:
        start -= 1
        room -= len(pieces[start][0])
    end, room = start, PASSAGE
    while end < len(pieces) and room > 0:
        room -= len(pieces[end][0])
        end += 1
    return start, end


def _joined(pieces: list[Piece]) -> list[dict[str, str | None]]:
    """Join neighbouring pieces without a mark."""
    joined: list[dict[str, str | None]] = []
    for text, mark in pieces:
        shown = text[:PASSAGE]
        if joined and mark is None and joined[-1]["word"] is None:
            joined[-1]["text"] = f"{joined[-1]['text']}{shown}"
        else:
            joined.append({"text": shown, "word": mark})
    return joined
