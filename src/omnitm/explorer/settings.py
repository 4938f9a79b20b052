"""What the server allows: where it listens, and how much one request may ask for."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from omnitm.errors import ParameterError
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
        """Tell whether a Host header names this server; others are a trick to read it from foreign pages."""
        name = header.rsplit(":", 1)[0] if not header.endswith("]") else header
        return name.lower() in self.host_names

    def is_own_origin(self, origin: str, host: str) -> bool:
        """Tell whether an Origin header is the page's own."""
        parts = urlsplit(origin)
        return parts.scheme in {"http", "https"} and parts.netloc.lower() == host.lower()
