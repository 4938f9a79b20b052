r"""A map as a file: one line of JSON, then the points.

```text
{"format": "omnitm map", ...}\n      padded with spaces to a multiple of 4 bytes
x and y of every word                 float32, from -1 to 1
share of true neighbours kept         uint8 of every word: 0..200 for 0..1, 255 if unknown
cluster                               uint8 of every word
```

The line ends with the SHA-256 of everything else, so a map in which a bit has flipped is not shown.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.errors import FileError
from omnitm.files.plain import read_file, write_file, writing
from omnitm.similarity.row_profile import RECIPE
from omnitm.store.manifest import read_manifest, vectors_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

FILE = "map.bin"
_FORMAT, _VERSION = "omnitm map", [3, RECIPE]  # a map shows neighbours by one recipe of the similarity
_LARGEST = 1 << 30
_WHOLE, _UNKNOWN = 200, 255
_BYTES_PER_WORD = 10


@dataclass(frozen=True, eq=False)
class VocabularyMap:
    """A point per trained word.

    Attributes
    ----------
    positions
        words x 2, from -1 to 1.
    kept
        Share of each word's true neighbours that are its neighbours on the map; None: not measured.
    clusters, cluster_names
        The group of each word, and words that stand for each group.
    method
        "t-SNE" or "PCA".
    metric
        The metric whose neighbours are the true ones.
    """

    positions: NDArray[np.float32]
    kept: NDArray[np.float32] | None
    clusters: NDArray[np.uint8]
    cluster_names: list[str]
    method: str
    metric: str = "cosine"

    def to_bytes(self, model: str) -> bytes:
        """Write the map of the model with these vectors (their SHA-256)."""
        n_words = len(self.positions)
        kept = np.full(n_words, _UNKNOWN, dtype=np.uint8)
        if self.kept is not None:
            kept = np.rint(self.kept * _WHOLE).astype(np.uint8)
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
            "mean_kept": None if self.kept is None or not n_words else float(self.kept.mean()),
            "clusters": self.cluster_names,
        }
        return _joined(header, points)


def model_identity(model: Path) -> str:
    """SHA-256 of a model's vectors, as its manifest has it."""
    entries = read_manifest(model)
    return entries[vectors_name(entries)].sha256


def write_map(model: Path, content: bytes) -> Path:
    """Store a map with its model, or in the user's cache if the model cannot be written to."""
    beside, cached = map_places(model)
    try:
        write_file(beside, content)
    except FileError:
        with writing(cached):
            cached.parent.mkdir(parents=True, exist_ok=True)
        write_file(cached, content)
        return cached
    return beside


def read_map(model: Path) -> bytes | None:
    """Read a stored map if it is whole and belongs to these vectors."""
    for place in map_places(model):
        if place.is_file():
            content = read_file(place, _LARGEST)
            if _is_whole(content, model_identity(model)):
                return content
    return None


def map_places(model: Path) -> list[Path]:
    """Where the map of a model may be."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return [model / FILE, cache / "omnitm" / "maps" / f"{model_identity(model)}.bin"]


def header_of(content: bytes) -> dict[str, Any]:
    """Read what a map says of itself; nothing if it is no map."""
    try:
        header = json.loads(content[: content.index(b"\n")])
    except (ValueError, RecursionError):
        return {}
    return header if isinstance(header, dict) else {}


def _joined(header: dict[str, Any], points: bytes) -> bytes:
    digest = hashlib.sha256(json.dumps(header).encode() + points).hexdigest()
    line = json.dumps({**header, "sha256": digest}).encode()
    return line + b" " * (-(len(line) + 1) % 4) + b"\n" + points


def _is_whole(content: bytes, model: str) -> bool:
    header = header_of(content)
    header.pop("sha256", None)
    points = content[content.find(b"\n") + 1 :]
    return (
        (header.get("format"), header.get("version"), header.get("model")) == (_FORMAT, _VERSION, model)
        and len(points) == _BYTES_PER_WORD * header.get("n_words", -1)
        and content == _joined(header, points)
    )
