"""Measure the explorer on a large model: how fast it answers, and how smoothly the map moves.

    python benchmarks/explorer.py models/omni --index wiki.idx
    python benchmarks/explorer.py models/omni --index wiki.idx --frames      # also in headless Chromium

A server of its own answers over HTTP, one question at a time, with a new word each time. Per question:
median and slowest of the clock, and the median CPU time of the server, which other work on the machine does
not disturb. Results go to benchmarks/results/explorer.json and .md.

    python benchmarks/explorer.py models/omni --map      # the map alone; results/explorer-map.json
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Iterator

RESULTS = Path(__file__).parent / "results"
LIMITS = {
    "first page": 1000,
    "neighbours by similarity": 100,
    "neighbours by association": 100,
    "neighbours by cosine": 100,
    "what stands out": 100,
    "row": 100,
    "senses": 1000,
    "rules that documents bear out": 1000,
    "comparison by similarity": 300,
    "comparison by cosine": 300,
    "comparison by association": 1000,
    "clauses as rules": 1000,
    "trace": 1000,
}  # milliseconds of CPU; a comparison by association trains a word again, as clauses do
ONCE = "once, when it starts: the first similarities, and the three questions"
ONCE_LIMIT = 3000
SECONDS_OF_FRAMES = 10
FRAME = 1000 / 60  # milliseconds
FRAMES = (Path(__file__).parent / "explorer_frames.js").read_text(encoding="utf-8")


def main() -> None:
    """Measure and write."""
    arguments = parse()
    if arguments.map:
        measure_map(arguments.model)
        return
    words = some_words(arguments.model, arguments.repeat)
    with server(arguments) as (address, process, once):
        rows = [{"question": ONCE, "limit": ONCE_LIMIT, "median": None, "slowest": None, "cpu": once}]
        rows += [measure(address, process, name, words) for name in LIMITS]
        frames = moving_map(address) if arguments.frames else kept_frames()
    for row in rows:
        print(f"{row['question']:28} CPU {row['cpu']:6.0f} ms of {row['limit']:,}", flush=True)
    facts = {"words": len(WordVectors.load(arguments.model)), "answers": rows, "frames": frames}
    (RESULTS / "explorer.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    (RESULTS / "explorer.md").write_text(report(facts), encoding="utf-8")


def kept_frames() -> dict[str, Any] | None:
    """Return what was measured before of how the map moves."""
    path = RESULTS / "explorer.json"
    found: dict[str, Any] | None = json.loads(path.read_text(encoding="utf-8")).get("frames")
    return found


def measure_map(model: Path) -> None:
    """Compute and keep the map, not counting the similarities, which training prepares before it."""
    from omnitm.explorer.map_file import write_map
    from omnitm.explorer.map_layout import full_map
    from omnitm.store.similarity_cache import vectors_sha256

    vectors = WordVectors.load(model)
    _ = vectors.profiles
    stages: dict[str, float] = {}
    stage, since, start = "reading the vectors", time.process_time(), time.process_time()

    def tell(name: str, _: float) -> None:
        nonlocal stage, since
        now = time.process_time()
        stages[stage] = stages.get(stage, 0) + now - since
        stage, since = name, now

    found = full_map(vectors, tell)
    write_map(model, found.to_bytes(vectors_sha256(model)))
    facts = {
        "words": len(vectors),
        "cpu_seconds": round(time.process_time() - start, 1),
        "stages": {name: round(seconds, 1) for name, seconds in stages.items()},
        "mean_kept": found.mean_kept,
        "clusters": [cluster.name for cluster in found.named],
    }
    text = json.dumps(facts, indent=1, ensure_ascii=False) + "\n"
    print(text)
    (RESULTS / "explorer-map.json").write_text(text, encoding="utf-8")


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--index", type=Path)
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--frames", action="store_true")
    parser.add_argument("--map", action="store_true")
    return parser.parse_args()


def some_words(model: Path, count: int) -> list[str]:
    """Draw words of all frequencies."""
    return random.Random(0).sample(WordVectors.load(model).index_to_key, 2 * count)  # noqa: S311 - no secret


@contextlib.contextmanager
def server(arguments: argparse.Namespace) -> Iterator[tuple[str, int, float]]:
    """Start the explorer, wait until it is warm, and end it; gives what it has done to get warm, too."""
    command = [sys.executable, "-m", "omnitm.cli", "explore", str(arguments.model), "--port", "0"]
    command += [*(["--index", str(arguments.index)] if arguments.index else []), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None  # noqa: S101 - for the type checker
        address = next(part for part in process.stdout.readline().split() if part.startswith("http://"))
        before = cpu_milliseconds(process.pid)
        get(f"{address}api/invitations")
        once = cpu_milliseconds(process.pid) - before
        get(f"{address}api/neighbours?word=the&metric=cosine", refused=True)
        wait_until_idle(process.pid)
        try:
            yield address, process.pid, once
        finally:
            process.terminate()


def wait_until_idle(process: int) -> None:
    """Wait until the server has done what it does once."""
    before = -1.0
    while cpu_milliseconds(process) - before > 50:
        before = cpu_milliseconds(process)
        time.sleep(3)


def get(address: str, *, refused: bool = False) -> bytes:
    """Ask once."""
    try:
        with urllib.request.urlopen(address, timeout=60) as answer:  # noqa: S310 - our own server
            content: bytes = answer.read()
    except urllib.error.HTTPError:
        if not refused:
            raise
        return b""
    return content


def addresses(name: str, word: str, other: str) -> list[str]:
    """Name what the page asks for."""

    def ask(path: str, **values: str) -> str:
        return f"api/{path}?{urllib.parse.urlencode(values)}"

    kind, _, metric = name.partition(" by ")
    if name == "first page":
        return ["", "style.css", "js/main.js", "api/model"]
    return {
        "neighbours": [ask("neighbours", word=word, metric=metric, k="20")],
        "what stands out": [ask("standing-out", word=word)],
        "row": [ask("row", word=word)],
        "comparison": [ask("compare", word=word, other=other, metric=metric, k="15")],
        "senses": [ask("senses", word=word)],
        "rules that documents bear out": [ask("document-rules", word=word, k="4")],
        "clauses as rules": [ask("rules", word=word)],
        "trace": [ask("trace", word=word, literal=other)],
    }[kind]


def measure(address: str, process: int, name: str, words: list[str]) -> dict[str, Any]:
    """Ask about one pair of words after the other."""
    clock, cpu = [], []
    for word, other in zip(words[::2], words[1::2], strict=True):
        before, start = cpu_milliseconds(process), time.perf_counter()
        for path in addresses(name, word, other):
            get(address + path)
        clock.append(1000 * (time.perf_counter() - start))
        cpu.append(cpu_milliseconds(process) - before)
    return {
        "question": name,
        "limit": LIMITS[name],
        "median": statistics.median(clock),
        "slowest": max(clock),
        "cpu": statistics.mean(cpu),
    }


def cpu_milliseconds(process: int) -> float:
    """CPU time that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def moving_map(address: str) -> dict[str, Any]:
    """Pan and zoom the real map in headless Chromium without a graphics card, and time its frames.

    The browser gives a page 60 frames a second at most; without that limit one sees what is left of each.
    """
    idle, moving = frames(address, moves=(False, True))
    (unlimited,) = frames(address, "--disable-frame-rate-limit", moves=(True,))
    parts = {"idle": idle, "moving": moving, "moving, without the browser's limit": unlimited}
    return {"parts": {name: summary(part) for name, part in parts.items()}, "painter": moving["painter"]}


def frames(address: str, *flags: str, moves: tuple[bool, ...]) -> list[dict[str, Any]]:
    """Time the frames of the map in a browser of its own, first with the first of `moves`, and so on."""
    from selenium import webdriver

    with tempfile.TemporaryDirectory() as profile:
        options = webdriver.ChromeOptions()
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1200,900", *flags):
            options.add_argument(flag)
        options.add_argument(f"--user-data-dir={profile}")
        options.binary_location = str(shutil.which("chromium"))
        service = webdriver.ChromeService(str(shutil.which("chromedriver")))
        browser = webdriver.Chrome(options=options, service=service)
        try:
            browser.set_script_timeout(60)
            browser.get(f"{address}?view=map")
            return [browser.execute_async_script(FRAMES, SECONDS_OF_FRAMES, move) for move in moves]
        finally:
            browser.quit()


def summary(found: dict[str, Any]) -> dict[str, Any]:
    """Describe intervals between frames and the page's own work in each."""
    intervals, own = sorted(found["intervals"]), sorted(found["own"]) or [0.0]
    return {
        "points": found["points"],
        "frames_per_second": len(intervals) / SECONDS_OF_FRAMES,
        "median_interval": statistics.median(intervals),
        "p95_interval": intervals[int(0.95 * len(intervals))],
        "in_time": sum(interval < 1.5 * FRAME for interval in intervals) / len(intervals),
        "median_work": statistics.median(own),
        "p95_work": own[int(0.95 * len(own))],
        "work_fits": sum(work < FRAME for work in own) / len(own),
    }


def shown(milliseconds: float | None) -> str:
    """Write a time, if there is one."""
    return "" if milliseconds is None else f"{milliseconds:.0f}"


def report(facts: dict[str, Any]) -> str:
    """Write a table for people."""
    lines = [
        f"# The explorer on a model of {facts['words']:,} words",
        "",
        "Milliseconds per question over HTTP, a new word each time; written by `benchmarks/explorer.py`.",
        "Other work on the machine makes the clock slower, but not the CPU time.",
        "",
        "| question | median | slowest | CPU of the server | limit of it |",
        "|---|--:|--:|--:|--:|",
        *(
            f"| {row['question']} | {shown(row['median'])} | {shown(row['slowest'])} | {row['cpu']:.0f} "
            f"| {row['limit']:,} |"
            for row in facts["answers"]
        ),
        "",
    ]
    if facts["frames"]:
        lines += [
            f"The map, {facts['frames']['parts']['moving']['points']:,} points, panned and zoomed for",
            f"{SECONDS_OF_FRAMES} s in headless Chromium without a graphics card",
            f"(painter: {facts['frames']['painter']}), 1200 x 900 pixels. A frame in time is one that comes",
            f"less than {1.5 * FRAME:.0f} ms after the last; work is the page's own, of {FRAME:.1f} ms.",
            "",
            "| | frames/s | median interval, ms | 95th | in time | median work, ms | 95th | work fits |",
            "|---|--:|--:|--:|--:|--:|--:|--:|",
            *(
                f"| {name} | {part['frames_per_second']:.1f} | {part['median_interval']:.1f} "
                f"| {part['p95_interval']:.1f} | {part['in_time']:.1%} | {part['median_work']:.1f} "
                f"| {part['p95_work']:.1f} | {part['work_fits']:.1%} |"
                for name, part in facts["frames"]["parts"].items()
            ),
            "",
        ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
