"""Every error that omnitm raises on purpose: each says what is wrong and what to do next."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
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


class UnknownWordError(OmniTMError, KeyError):
    """A word that the model or vocabulary does not have; the message names the nearest spellings."""

    def __init__(self, word: object, known: Iterable[str], where: str = "vocabulary") -> None:
        message = f"{word!r} is not in the {where}"
        near = difflib.get_close_matches(word, list(known), n=3) if isinstance(word, str) else []
        if near:
            message += f"; the nearest words are {', '.join(map(repr, near))}"
        super().__init__(message)

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would show its repr


class EngineError(OmniTMError, RuntimeError):
    """The place where words should be trained does not work: workers that cannot start, no cluster."""


class SetAsideError(OmniTMError, RuntimeError):
    """Words failed again and again and were left out; all others are trained and kept."""


class TrainingStopped(KeyboardInterrupt):
    """Training was interrupted; the message says how far it came and how to continue."""


class OmniTMWarning(UserWarning):
    """Something that the user should know, though the work goes on."""
