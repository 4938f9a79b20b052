r"""A map: as the page reads it, and as a file.

```text
{"format": "omnitm map", ...}\n      padded with spaces to a multiple of 4 bytes
x and y of every word                 float32, from -1 to 1
share of true neighbours kept         uint8 of every word: 0..200 for 0..1, 255 if unknown
cluster                               uint8 of every word
```

The file (`omnitm.files.checked`) has the line as its facts and the rest as an array, with checksums of
both: a map in which a bit has flipped is not shown.
"""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from omnitm.errors import FileError, OmniTMWarning
from omnitm.files.checked import read_container, write_container
from omnitm.files.plain import writing
from omnitm.similarity.profiles import RECIPE
from omnitm.store.similarity_cache import vectors_sha256

FILE = "map.bin"
_FORMAT, _VERSION = "omnitm map", [4, RECIPE]  # a map shows neighbours by one recipe of the similarity
_WHOLE, _UNKNOWN = 200, 255  # shares from 0 to 1 as bytes 0 to 200


class Cluster(NamedTuple):
    """A group of words: what it is called, where its name is written, and the number of its colour."""

    name: str
    x: float
    y: float
    colour: int


@dataclass(frozen=True, eq=False)
class VocabularyMap:
    """A point per trained word.

    Attributes
    ----------
    positions
        words x 2, from -1 to 1.
    kept
        Share of each word's true neighbours that are its neighbours on the map; None: not measured.
    clusters, named
        The group of each word, and what is known of each group.
    method
        "t-SNE" or "PCA".
    metric
        The metric whose neighbours are the true ones.
    mean_kept
        The mean of `kept`, measured more exactly on some words; None: that of `kept`.
    """

    positions: NDArray[np.float32]
    kept: NDArray[np.float32] | None
    clusters: NDArray[np.uint8]
    named: list[Cluster]
    method: str
    metric: str = "cosine"
    mean_kept: float | None = None

    def to_bytes(self, model: str) -> bytes:
        """Write the map of the model with these vectors (their SHA-256)."""
        n_words = len(self.positions)
        kept = np.full(n_words, _UNKNOWN, dtype=np.uint8)
        if self.kept is not None:
            kept = np.rint(self.kept * _WHOLE).astype(np.uint8)
        mean = self.mean_kept
        if mean is None and self.kept is not None and n_words:
            mean = float(self.kept.mean())
        points = (
            self.positions.astype("<f4").tobytes() + kept.tobytes() + self.clusters.astype(np.uint8).tobytes()
        )
        header = {
            "format": _FORMAT,
            "version": _VERSION,
            "model": model,
            "n_words": n_words,
            "method": self.method,
            "metric": self.metric,
            "mean_kept": mean,
            "clusters": [cluster._asdict() for cluster in self.named],
        }
        return _joined(header, points)


def write_map(model: Path, content: bytes) -> Path:
    """Store a map with its model, or in the user's cache if the model cannot be written to."""
    beside, cached = map_places(model)
    points = np.frombuffer(content, dtype=np.uint8, offset=content.index(b"\n") + 1)
    try:
        write_container(beside, header_of(content), {"points": points})
    except FileError:
        with writing(cached):
            cached.parent.mkdir(parents=True, exist_ok=True)
        write_container(cached, header_of(content), {"points": points})
        return cached
    return beside


def read_map(model: Path) -> bytes | None:
    """Read a stored map if it is whole and belongs to these vectors."""
    for place in map_places(model):
        if place.is_file():
            try:
                header, arrays = read_container(place)
            except FileError as error:
                warnings.warn(f"{error}; the map is made again", OmniTMWarning, stacklevel=2)
                continue
            wanted = (_FORMAT, _VERSION, vectors_sha256(model))
            if (header.get("format"), header.get("version"), header.get("model")) == wanted:
                return _joined(header, arrays["points"].tobytes())
    return None


def map_places(model: Path) -> list[Path]:
    """Where the map of a model may be."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return [model / FILE, cache / "omnitm" / "maps" / f"{vectors_sha256(model)}.bin"]


def subset(content: bytes, rows: NDArray[np.intp]) -> bytes:
    """Keep only the points of some rows, in their order."""
    header = header_of(content)
    start, n_words = content.index(b"\n") + 1, header["n_words"]
    positions = np.frombuffer(content, "<f4", 2 * n_words, start).reshape(n_words, 2)
    # After the positions, two numbers of 4 bytes per word.
    kept, clusters = np.frombuffer(content, np.uint8, 2 * n_words, start + 8 * n_words).reshape(2, n_words)
    points = positions[rows].tobytes() + kept[rows].tobytes() + clusters[rows].tobytes()
    return _joined({**header, "n_words": len(rows)}, points)


def header_of(content: bytes) -> dict[str, Any]:
    """Read what a map says of itself; nothing if it is no map."""
    try:
        header = json.loads(content[: content.index(b"\n")])
    except (ValueError, RecursionError):
        return {}
    return header if isinstance(header, dict) else {}


def _joined(header: dict[str, Any], points: bytes) -> bytes:
    line = json.dumps(header).encode()
    # Filled up with blanks, so that positions begin at a multiple of 4, as a browser's Float32Array must.
    return line + b" " * (-(len(line) + 1) % 4) + b"\n" + points
