"""Compute and store the map of a model: a process of its own, so that the page stays quick meanwhile."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from omnitm.errors import OmniTMError
from omnitm.explorer.vocabulary_map.layout import full_map
from omnitm.explorer.vocabulary_map.stored import write_map
from omnitm.store.similarity_cache import vectors_sha256
from omnitm.vectors import WordVectors


def main(model: Path) -> int:
    """Work, and print progress as lines of JSON."""
    os.nice(5)
    try:
        found = full_map(WordVectors.load(model), _print)
        place = write_map(model, found.to_bytes(vectors_sha256(model)))
    except OmniTMError as error:
        print(json.dumps({"error": str(error)}), flush=True)
        return 2
    print(json.dumps({"stored": str(place)}), flush=True)
    return 0


def _print(stage: str, done: float) -> None:
    print(json.dumps({"stage": stage, "done": round(min(done, 1.0), 3)}), flush=True)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
