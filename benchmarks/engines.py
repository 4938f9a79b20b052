"""What engines cost: time against threads, private memory per worker, and how soon a resumed run trains.

Both cores should be free. Engines run in turns; the best round of each counts.

    python benchmarks/engines.py overhead INDEX                 # threads, processes, Ray if it is installed
    python benchmarks/engines.py memory INDEX
    python benchmarks/engines.py resume INDEX
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from omnitm.corpus import DocumentIndex
from omnitm.engines import make_engine
from omnitm.machine import PAPER, AutoencoderSettings
from omnitm.store import ModelFolder, TrainingRecord, index_fingerprint
from omnitm.store.journal import finished_rows
from omnitm.store.manifest import model_manifest
from omnitm.training.vocabulary import train_model

if TYPE_CHECKING:
    from collections.abc import Iterator

_TICK = os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("overhead", "memory", "resume"))
    parser.add_argument("index", type=Path)
    parser.add_argument("--words", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--paper", action="store_true", help="the paper's settings: 16 times the examples")
    parser.add_argument("--engines", default="threads,processes,ray")
    arguments = parser.parse_args()
    index = DocumentIndex.open(arguments.index)
    with tempfile.TemporaryDirectory() as folder:
        {"overhead": overhead, "memory": memory, "resume": resume}[arguments.what](
            index, Path(folder), arguments
        )


def engine_names(arguments: argparse.Namespace) -> list[str]:
    names: list[str] = arguments.engines.split(",")
    if importlib.util.find_spec("ray") is None:
        names = [name for name in names if name != "ray"]
    return names


def settings_of(arguments: argparse.Namespace) -> AutoencoderSettings:
    return AutoencoderSettings(**PAPER) if arguments.paper else AutoencoderSettings()


def overhead(index: DocumentIndex, folder: Path, arguments: argparse.Namespace) -> None:
    random = np.random.default_rng(0)
    words = [index.vocabulary[k] for k in random.choice(index.n_words, arguments.words, replace=False)]
    names, digests = engine_names(arguments), set()
    best: dict[str, tuple[float, float]] = {}
    with ray_connected(arguments.workers) if "ray" in names else contextlib.nullcontext():
        for number in range(arguments.rounds):
            for name in names:
                path = folder / f"{name}-{number}"
                took = timed(index, path, words, name, arguments)
                digests.add(model_manifest(path).files["vectors.i16"].sha256)
                before = best.get(name, took)
                best[name] = min(took[0], before[0]), min(took[1], before[1])
    print(f"{len(words):,} words of {index.n_words:,}, {arguments.workers} workers")
    for name in names:
        (wall, cpu), (base_wall, base_cpu) = best[name], best[names[0]]
        print(
            f"{name:10} {wall:7.2f} s clock ({wall / base_wall - 1:+.1%})"
            f" {cpu:7.2f} s CPU ({cpu / base_cpu - 1:+.1%})"
        )
    print("same bits from all engines and rounds:", len(digests) == 1)


def timed(
    index: DocumentIndex, path: Path, words: list[str], name: str, arguments: argparse.Namespace
) -> tuple[float, float]:
    engine = make_engine(name, arguments.workers)
    wall, cpu = time.perf_counter(), cpu_seconds()
    train_model(index, path, words, settings=settings_of(arguments), engine=engine)
    return time.perf_counter() - wall, cpu_seconds() - cpu


@contextlib.contextmanager
def ray_connected(n_workers: int) -> Iterator[None]:
    """Start a cluster before the clock: its start costs the same for ten words and for a million."""
    from omnitm.engines.ray_cluster import connected

    started = time.perf_counter()
    with connected(None, n_workers) as ray:
        ray.get([ray.remote(cpu_seconds).remote() for _ in range(n_workers)])
        print(f"start of a Ray cluster here: {time.perf_counter() - started:.1f} s (not counted below)")
        yield


def cpu_seconds() -> float:
    """CPU time of this process, of all that it has waited for, and of all that it has started."""
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    ended = sum(u.ru_utime + u.ru_stime for u in usage)
    running = 0.0
    for pid in descendants(os.getpid()):
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            running += sum(map(int, fields[11:15])) / _TICK
    return ended + running


def descendants(parent: int) -> set[int]:
    parents: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(status.parent.name)] = int(status.read_text().rsplit(")", 1)[1].split()[1])
    found: set[int] = set()
    new = {parent}
    while new:
        new = {child for child, of in parents.items() if of in new}
        found |= new
    return found


def memory(index: DocumentIndex, folder: Path, arguments: argparse.Namespace) -> None:
    words = index.vocabulary[: arguments.words]
    bare = subprocess.run(
        [sys.executable, "-c", _BARE], check=True, capture_output=True, text=True, env=os.environ
    ).stdout
    print(f"Python with numpy: {float(bare):.0f} MB of private memory")
    names = [name for name in engine_names(arguments) if name != "threads"]
    with ray_connected(arguments.workers) if "ray" in names else contextlib.nullcontext():
        for name in names:
            mark = b"ray::" if name == "ray" else b"omnitm.engines.processes"
            idle = max(private_megabytes(mark).values(), default=float(bare))
            with sampling(mark) as peaks:
                train_model(index, folder / name, words, engine=make_engine(name, arguments.workers))
            most = max(peaks.values())
            print(
                f"{name:10} {most:.0f} MB at the peak, {most - idle:.0f} MB more than before the first word"
            )
    size = sum(file.stat().st_size for file in (index.path or Path()).glob("*.bin")) / 1e6
    print(f"index: {size:.0f} MB, mapped by all workers and shared")


def private_megabytes(mark: bytes) -> dict[int, float]:
    """Memory that only one process has, of our descendants with `mark` in their command."""
    found = {}
    for pid in descendants(os.getpid()):
        with contextlib.suppress(OSError):
            if mark in Path(f"/proc/{pid}/cmdline").read_bytes():
                lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
                found[pid] = sum(int(s.split()[1]) for s in lines if s.startswith("Private_")) / 1000
    return found


@contextlib.contextmanager
def sampling(mark: bytes) -> Iterator[dict[int, float]]:
    peaks: dict[int, float] = {}
    ended = threading.Event()

    def sample() -> None:
        while not ended.wait(0.2):
            for pid, megabytes in private_megabytes(mark).items():
                peaks[pid] = max(megabytes, peaks.get(pid, 0.0))

    watcher = threading.Thread(target=sample)
    watcher.start()
    try:
        yield peaks
    finally:
        ended.set()
        watcher.join()


def resume(index: DocumentIndex, folder: Path, arguments: argparse.Namespace) -> None:
    """Pretend that 90 % are done (rows of zeros, which take no disk), and watch for the next row."""
    model = folder / "m"
    record = TrainingRecord(settings_of(arguments), 0, index_fingerprint(index))
    done = index.n_words * 9 // 10
    check = zlib.crc32(bytes(2 * index.n_words))
    with ModelFolder.create(model, index.vocabulary, index.vocabulary, record) as started:
        for row in range(done):
            started._journal.add(row, check)  # noqa: SLF001 - instead of training for an hour
    for _ in range(arguments.rounds):
        before, clock = finished_rows(model / "journal"), time.perf_counter()
        command = [sys.executable, "-m", "omnitm.cli", "train", str(index.path), "-o", str(model), "--resume"]
        process = subprocess.Popen([*command, "--quiet"])
        size = (model / "journal").stat().st_size
        while (model / "journal").stat().st_size == size:
            time.sleep(0.005)
        seconds = time.perf_counter() - clock
        process.kill()
        process.wait()
        print(f"resumed at {before:,} of {index.n_words:,} words: the next is there after {seconds:.2f} s")


_BARE = """
import numpy, omnitm._native
lines = open("/proc/self/smaps_rollup").read().splitlines()
print(sum(int(s.split()[1]) for s in lines if s.startswith("Private_")) / 1000)
"""


if __name__ == "__main__":
    main()
