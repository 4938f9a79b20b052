"""What requests may say: every value is checked and named before anything is done with it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omnitm.errors import OmniTMError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnitm.explorer.settings import ExplorerSettings

LONGEST_WORD = 1_000  # characters; a question with more is no word


@dataclass(frozen=True)
class Question:
    """The parameters of a request; each method checks and returns one of them."""

    values: Mapping[str, Any]
    settings: ExplorerSettings

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text, such as a word."""
        value = self.values.get(name, default)
        if not isinstance(value, str) or (not value and default is None):
            raise ParameterError(f"The {name!r} parameter must be a text. Got {_short(value)} instead.")
        if len(value) > LONGEST_WORD:
            raise ParameterError(f"The {name!r} parameter must have at most {LONGEST_WORD:,} characters.")
        _check_characters(name, value)
        return value

    def count(self, name: str, default: int, most: int | None = None) -> int:
        """Return a number of things, at most `max_k`."""
        most = self.settings.max_k if most is None else most
        value = self.values.get(name, default)
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
            wanted = f"a whole number from 0 to {most:,}"
            raise ParameterError(f"The {name!r} parameter must be {wanted}. Got {_short(value)} instead.")
        return value

    def choice(self, name: str, default: str, choices: tuple[str, ...]) -> str:
        """Return one of some texts."""
        value = self.text(name, default)
        if value not in choices:
            wanted = ", ".join(map(repr, choices))
            raise ParameterError(
                f"The {name!r} parameter must be one of {wanted}. Got {_short(value)} instead."
            )
        return value

    def words(self, name: str) -> list[str]:
        """Return a list of words."""
        value = self.values.get(name, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise ParameterError(
                f"The {name!r} parameter must be a list of words. Got {_short(value)} instead."
            )
        if len(value) > self.settings.max_words:
            problem = f"at most {self.settings.max_words:,} words. Got {len(value):,}; choose fewer."
            raise ParameterError(f"The {name!r} parameter must have {problem}")
        _check_characters(name, "".join(value))
        return value


def _check_characters(name: str, text: str) -> None:
    """Refuse halves of characters (lone surrogates), which JSON can name but no text can have."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = text[error.start]
        raise ParameterError(
            f"The {name!r} parameter must be text. Got {half!r}, half a character."
        ) from None


def parse_body(content: bytes) -> dict[str, Any]:
    """Read the JSON object that a request sent."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        raise ParameterError("The body of the request must be JSON.") from None
    if not isinstance(value, dict):
        raise ParameterError("The body of the request must be a JSON object.")
    return value


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


class TooLargeError(OmniTMError):
    """A request that sends more than is allowed."""
