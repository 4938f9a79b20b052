"""Every error that omnitm raises on purpose: each says what is wrong and what to do next."""

from __future__ import annotations

import heapq
import math
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


class OmniTMError(Exception):
    """Base of all errors that omnitm raises on purpose."""


class ParameterError(OmniTMError, ValueError):
    """A parameter has a value that it cannot have."""


class CorpusError(OmniTMError, ValueError):
    """The text, matrix or index given as a corpus cannot be used."""


class FileError(OmniTMError, OSError):
    """A file or folder is missing, damaged, or not what it should be; the message begins with its path."""

    def __init__(self, path: str | Path, problem: str) -> None:
        super().__init__(f"{path}: {problem}")


class MissingExtraError(OmniTMError, ImportError):
    """A feature needs an optional dependency that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an extra that is not installed: pip install 'omnitm[{extra}]'")


@contextmanager
def needs_extra(feature: str, extra: str) -> Iterator[None]:
    """Import what comes with an extra; an error says how to install it.

    >>> with needs_extra("A plot", "plots"):
    ...     import no_such_module
    Traceback (most recent call last):
    omnitm.errors.MissingExtraError: A plot needs an extra that is not installed: pip install 'omnitm[plots]'
    """
    try:
        yield
    except ImportError:
        raise MissingExtraError(feature, extra) from None


class UnknownWordError(OmniTMError, KeyError):
    """A word that the model or vocabulary does not have; the message names the nearest spellings.

    Parameters
    ----------
    known
        Words to suggest from, the most important first.
    reason
        Why there cannot be such a word, to say instead.

    Attributes
    ----------
    word
        The word.
    near
        The nearest spellings, the likeliest first.
    """

    def __init__(
        self, word: object, known: Iterable[str], where: str = "vocabulary", *, reason: str = ""
    ) -> None:
        self.word, words = word, list(known)
        self.near = nearest_spellings(word, words, 6) if isinstance(word, str) and not reason else []
        shown = _shortened(word)
        message = reason.replace(repr(word), shown) or f"{shown} is not in the {where}"
        if self.near:
            message += f"; spelled like it: {', '.join(self.near[:3])}"
        elif words and not reason:
            message += ", and no word there is spelled like it"
        super().__init__(message)

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would show its repr


_LONGEST_SPELLING = 64  # letters that are compared, and shown


def _shortened(word: object) -> str:
    shown = repr(word)
    return shown if len(shown) <= _LONGEST_SPELLING + 2 else f"{shown[:_LONGEST_SPELLING]}...'"


_COMPARED = 2_000  # words that share most letters are compared letter by letter
_DOUBLED, _SWAPPED, _ONE_LETTER, _FIRST_LETTER = 0.5, 0.6, 1.0, 0.5  # costs of slips, guessed from typing
_RARITY = 0.1  # cost of being ten times farther back in the vocabulary


def nearest_spellings(word: str, known: Iterable[str], count: int) -> list[str]:
    """Words that a person may have meant, the likeliest first.

    Slips are counted: a letter too many, too few or another, two letters swapped, a letter doubled, which
    happens most easily; capitals and accents do not count. Among words with equal slips the one that comes
    first in `known` is likelier.

    Examples
    --------
    >>> nearest_spellings("godd", ["good", "gold", "god", "goddess"], 2)
    ['god', 'good']
    """
    typed = _plain(word)
    parts = {*typed, *(typed[k : k + 2] for k in range(len(typed) - 1))}
    spelled = list(known)
    words = [_plain(other) for other in spelled]
    votes = [
        (sum(part in text for part in parts) - abs(len(text) - len(typed)), -k)
        for k, text in enumerate(words)
        if abs(len(text) - len(typed)) <= _most_slips(typed)
    ]
    found = []
    for _, k in heapq.nlargest(_COMPARED, votes):
        slips = _slips(typed, words[-k])
        if slips <= _most_slips(typed):
            found.append((slips + _RARITY * math.log10(1 - k), -k))
    return [spelled[k] for _, k in sorted(found)[:count]]


def _plain(word: str) -> str:
    """Small letters without accents: café and Cafe are both cafe."""
    letters = word[:_LONGEST_SPELLING].casefold()
    if letters.isascii():
        return letters
    return "".join(c for c in unicodedata.normalize("NFD", letters) if not unicodedata.combining(c))


def _most_slips(typed: str) -> float:
    return 1 + len(typed) // 4


def _slips(typed: str, meant: str) -> float:
    """Cost of the cheapest slips that turn one word into the other."""
    before: list[float] = []
    row = [_ONE_LETTER * k for k in range(len(meant) + 1)]
    for i, letter in enumerate(typed, 1):
        last, before, row = before, row, [_ONE_LETTER * i]
        doubled = i > 1 and letter == typed[i - 2]
        for j, other in enumerate(meant, 1):
            left_out = _DOUBLED if j > 1 and other == meant[j - 2] else _ONE_LETTER
            cost = min(
                before[j] + (_DOUBLED if doubled else _ONE_LETTER),
                row[j - 1] + left_out,
                before[j - 1] + _ONE_LETTER * (letter != other),
            )
            if i > 1 and j > 1 and letter == meant[j - 2] and typed[i - 2] == other:
                cost = min(cost, last[j - 2] + _SWAPPED)
            row.append(cost)
    return row[-1] + _FIRST_LETTER * (typed[:1] != meant[:1])


class EngineError(OmniTMError, RuntimeError):
    """The place where words should be trained does not work: workers that cannot start, no cluster."""


class SetAsideError(OmniTMError, RuntimeError):
    """Words failed again and again and were left out; all others are trained and kept."""


class TrainingStopped(KeyboardInterrupt):
    """Training was interrupted; the message says how far it came and how to continue."""


class OmniTMWarning(UserWarning):
    """Something that the user should know, though the work goes on."""
