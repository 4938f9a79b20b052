"""The file format of word2vec, text and binary, and gensim's KeyedVectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.errors import MissingExtraError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO

    from numpy.typing import NDArray

_ROWS_AT_ONCE = 256
_TEXT_BYTES = 12  # of a number with nine digits, roughly


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
    numbers = " ".join(["%.9g"] * matrix.shape[1])
    for start in range(0, len(words), _ROWS_AT_ONCE):
        rows = np.asarray(matrix[start : start + _ROWS_AT_ONCE], dtype="<f4")
        for word, row in zip(words[start:], rows, strict=False):
            content = row.tobytes() if binary else (numbers % tuple(row.tolist())).encode()
            file.write(word.encode() + b" " + content + b"\n")


def text_bytes(n_numbers: int) -> int:
    """Estimate the size of numbers written as text."""
    return n_numbers * _TEXT_BYTES


def keyed_vectors(words: Sequence[str], matrix: NDArray[np.float32]) -> Any:
    """Make gensim's KeyedVectors."""
    try:
        from gensim.models import KeyedVectors
    except ImportError:
        raise MissingExtraError("to_gensim", "baselines") from None
    vectors = KeyedVectors(matrix.shape[1])
    vectors.add_vectors(list(words), matrix)
    return vectors
