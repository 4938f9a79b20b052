"""SHA-256 of files that are written side by side: two at a time cost little more than one."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from omnitm import _native

BLOCK: int = _native.SHA256_BLOCK
# The fractional parts of the square roots of the first eight primes, by which SHA-256 begins.
_START = np.array(
    [
        0x6A09E667,
        0xBB67AE85,
        0x3C6EF372,
        0xA54FF53A,
        0x510E527F,
        0x9B05688C,
        0x1F83D9AB,
        0x5BE0CD19,
    ],
    dtype=np.uint32,
)
_NOTHING = np.empty(0, dtype=np.uint8)


class Sha256:
    """SHA-256 of bytes that are given piece by piece."""

    def __init__(self) -> None:
        # Python's own where the processor has no instructions for it, or we do not know them.
        self._plain = None if _native.has_sha256() else hashlib.sha256()
        self._state, self._rest, self._size = _START.copy(), b"", 0

    def hexdigest(self) -> str:
        """Return the hash of all bytes so far."""
        if self._plain is not None:
            return self._plain.hexdigest()
        # The bytes are followed by a bit, as many zeros as make whole blocks, and their number of bits.
        zeros = bytes((-self._size - 9) % BLOCK)
        ending = self._rest + b"\x80" + zeros + (8 * self._size).to_bytes(8, "big")
        state = self._state.copy()
        _hash_alone(state, np.frombuffer(ending, dtype=np.uint8))
        return state.astype(">u4").tobytes().hex()

    def _whole_blocks(self, data: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Take the beginning and the end of a piece, which are parts of blocks; return the rest of it."""
        self._size += len(data)
        missing = -len(self._rest) % BLOCK
        self._rest, data = self._rest + data[:missing].tobytes(), data[missing:]
        if len(self._rest) == BLOCK:
            _hash_alone(self._state, np.frombuffer(self._rest, dtype=np.uint8))
            self._rest = b""
        n_whole = len(data) // BLOCK * BLOCK
        self._rest += data[n_whole:].tobytes()
        return data[:n_whole]


def update_together(pieces: Sequence[tuple[Sha256, NDArray[np.uint8]]]) -> None:
    """Give each of several hashes its next piece."""
    waiting: list[tuple[Sha256, NDArray[np.uint8]]] = []
    for sha256, data in pieces:
        if sha256._plain is not None:  # noqa: SLF001  # of the same module
            sha256._plain.update(data.data)  # noqa: SLF001
        else:
            waiting.append((sha256, sha256._whole_blocks(data)))  # noqa: SLF001
    # Always the two with the most bytes left, so that in the end as little as possible is left to one alone.
    while len(waiting) > 1:
        waiting.sort(key=lambda piece: len(piece[1]))
        long, data = waiting.pop()
        short, shorter = waiting.pop()
        _native.sha256_blocks(long._state, data[: len(shorter)], short._state, shorter)  # noqa: SLF001
        waiting.append((long, data[len(shorter) :]))
    for sha256, data in waiting:
        _hash_alone(sha256._state, data)  # noqa: SLF001


def _hash_alone(state: NDArray[np.uint32], data: NDArray[np.uint8]) -> None:
    _native.sha256_blocks(state, data, _START.copy(), _NOTHING)
