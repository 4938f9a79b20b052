"""What the server allows, and what requests may say.

`ExplorerSettings`: where it listens, and how much one request may ask for. `Question`: every value is checked
and named before anything is done with it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from omnitm.errors import OmniTMError, ParameterError
from omnitm.parameters import check_integer

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_EVERYWHERE = ("0.0.0.0", "::", "")  # noqa: S104 - recognised in order to be refused


@dataclass(frozen=True)
class ExplorerSettings:
    """Limits of the server; the defaults suit a page that one person looks at.

    Parameters
    ----------
    host, port
        Where to listen; port 0: any that is free.
    max_k
        Most words, or other rows, in one answer.
    max_body
        Most bytes that a request may send.
    max_words
        Most words in one question, such as a lasso.
    timeout
        Seconds after which a question is given up.
    n_quick, n_heavy
        Threads for questions that look something up, and for those that train words again.
    max_waiting
        Questions that may wait for a thread; more are refused.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    max_k: int = 200
    max_body: int = 256 * 1024
    max_words: int = 5_000
    timeout: float = 30.0
    n_quick: int = 4
    n_heavy: int = 2
    max_waiting: int = 200

    def __post_init__(self) -> None:
        check_integer("ExplorerSettings", "port", self.port, 0, 65535)
        for name in ("max_k", "max_body", "max_words", "n_quick", "n_heavy", "max_waiting"):
            check_integer("ExplorerSettings", name, getattr(self, name), 1)
        if self.host in _EVERYWHERE:
            raise ParameterError(
                f"The 'host' parameter of ExplorerSettings must name one address. Got {self.host!r}, which "
                "would show the model to the whole network; use 127.0.0.1 and, from afar, ssh -L."
            )

    @property
    def host_names(self) -> frozenset[str]:
        """Names under which a browser may ask for the page."""
        return frozenset((*LOOPBACK, self.host.lower()))

    def is_own_host(self, header: str) -> bool:
        """Tell whether a Host header names this server; foreign pages could read it under another name."""
        name = header.rsplit(":", 1)[0] if not header.endswith("]") else header
        return name.lower() in self.host_names

    def is_own_origin(self, origin: str, host: str) -> bool:
        """Tell whether an Origin header is the page's own."""
        parts = urlsplit(origin)
        return parts.scheme in {"http", "https"} and parts.netloc.lower() == host.lower()


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


def as_json(content: Any) -> bytes:
    """Write an answer; a byte of a file's name that is no character becomes a question mark."""
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
        errors="replace"
    )


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


class TooLargeError(OmniTMError):
    """A request that sends more than is allowed."""
