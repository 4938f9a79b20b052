"""Keeps the map of a model: the stored one, a first one in its place, and the work on a better one.

Run as a program, it computes and stores the map of a model: in a process of its own the page stays quick.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from omnitm.errors import OmniTMError, ParameterError
from omnitm.explain import Explainer
from omnitm.explorer.map_file import header_of, read_map, write_map
from omnitm.store.similarity_cache import vectors_sha256
from omnitm.vectors import WordVectors


class MapKeeper:
    """The map of one model; safe to use from several threads."""

    def __init__(self, explainer: Explainer) -> None:
        self._explainer = explainer
        self._lock = threading.Lock()
        self._content: bytes | None = None
        self._work: MapWork | None = None

    @property
    def _folder(self) -> Path | None:
        """Where a map can be kept; a model in memory or in one file has no such place."""
        path = self._explainer.path
        return path if path is not None and path.is_dir() else None

    def state(self) -> dict[str, Any]:
        """Tell what there is: the method of the map, and how far the work on a better one has come."""
        content = self._best()
        work = self._work
        return {
            "method": header_of(content)["method"] if content else None,
            "can_compute": self._folder is not None,
            "work": work.state() if work is not None and not work.stored else None,
        }

    def points(self) -> bytes:
        """Return the best map there is; a first one is made on the spot."""
        from omnitm.explorer.map_layout import first_map

        with self._lock:
            if self._content is None:
                self._content = self._stored()
            if self._content is None:
                self._content = first_map(self._explainer.vectors).to_bytes("")
            return self._content

    def start(self) -> dict[str, Any]:
        """Begin to compute the full map, unless that is going on."""
        if self._folder is None:
            raise ParameterError(
                "A model in memory or in one file has no place for a map; save it, or `omnitm unpack` it, "
                "then explore its folder."
            )
        with self._lock:
            if self._work is None or self._work.ended:
                self._work = MapWork(self._folder)
        return self.state()

    def stop(self) -> None:
        """End the work on a map, if there is any."""
        if self._work is not None:
            self._work.stop()

    def _best(self) -> bytes | None:
        with self._lock:
            if self._work is not None and self._work.stored:
                self._content, self._work = self._stored(), None
            if self._content is None:
                self._content = self._stored()
            return self._content

    def _stored(self) -> bytes | None:
        return None if self._folder is None else read_map(self._folder)


_TOO_EARLY = 0.1  # share of the work before which nobody can tell how long the rest takes


class MapWork:
    """A process that computes a map, and how far it has come."""

    def __init__(self, model: Path) -> None:
        command = [sys.executable, "-m", "omnitm.explorer.map_keeper", str(model)]
        # Threads of numpy and scikit-learn sleep while they wait: the page needs the processor too.
        environment = {"OMP_WAIT_POLICY": "PASSIVE", **os.environ}
        self._process = subprocess.Popen(  # noqa: S603 - our own module
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
        )
        self.stage, self.done, self._started = "starting", 0.0, time.monotonic()
        self.stored, self.problem = "", ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def ended(self) -> bool:
        """Whether the process has ended, well or not."""
        return not self._reader.is_alive()

    def state(self) -> dict[str, Any]:
        """Stage, share of all work that is done, seconds that are left, and what went wrong."""
        passed = time.monotonic() - self._started
        # At the speed so far.
        left = passed / self.done * (1 - self.done) if self.done > _TOO_EARLY else None
        return {"stage": self.stage, "done": self.done, "seconds_left": left, "problem": self.problem}

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end; False if it has not come by then."""
        self._reader.join(seconds)
        return self.ended

    def stop(self) -> None:
        """End the process."""
        if self._process.poll() is None:
            self._process.terminate()
        self._reader.join(5)

    def _read(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 - for the type checker
        for line in self._process.stdout:
            self._take(line)
        status = self._process.wait()
        self._process.stdout.close()
        if not self.stored and not self.problem:
            self.problem = f"the map could not be computed: the process ended with status {status}"

    def _take(self, line: str) -> None:
        if not line.startswith("{"):
            return
        told = json.loads(line)
        self.stage, self.done = told.get("stage", self.stage), told.get("done", self.done)
        self.stored, self.problem = told.get("stored", ""), told.get("error", "")


def main(model: Path) -> int:
    """Compute and store the map of a model, and print progress as lines of JSON."""
    from omnitm.explorer.map_layout import full_map

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
