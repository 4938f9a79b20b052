"""Text to index: speed, memory and size, beside scikit-learn's CountVectorizer on the same text.

Every measurement runs in a process of its own: CPU time of the job (after imports), peak memory in all.

    python benchmarks/index.py                        # quick: the peer reads a tenth of the text
    python benchmarks/index.py --peer-share 1 --tenfold
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MB = 1e6


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("OMNITM_DATA"), help="folder with corpus/"
    )
    parser.add_argument("--text", type=Path, help="plain text, a document per line, instead of the corpus")
    parser.add_argument("--peer-share", type=float, default=0.1, help="share of the text that the peer reads")
    parser.add_argument(
        "--rounds", type=int, default=1, help="of both sides, in turns; the best of each counts"
    )
    parser.add_argument("--tenfold", action="store_true", help="also read the text ten times over")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(json.loads(arguments.measure))
        return
    with tempfile.TemporaryDirectory() as folder:
        text = arguments.text or unpacked(arguments.data, Path(folder))
        report(text, Path(folder), arguments)


def unpacked(data: Path | None, folder: Path) -> Path:
    if data is None:
        sys.exit("Where is the corpus? Give --data DIR, set OMNITM_DATA, or give --text FILE.")
    text = folder / "enwiki.txt"
    with lzma.open(Path(data) / "corpus" / "enwiki.txt.xz") as packed, text.open("wb") as out:
        shutil.copyfileobj(packed, out, 1 << 20)
    return text


def report(text: Path, folder: Path, arguments: argparse.Namespace) -> None:
    size = text.stat().st_size / MB
    sample = folder / "sample.txt"
    left = int(text.stat().st_size * arguments.peer_share)
    with text.open("rb") as source, sample.open("wb") as out:
        while left > 0:  # line by line: a process inherits the peak memory of its parent
            left -= out.write(source.readline()) or left
    sample_size = sample.stat().st_size / MB
    print(
        f"text: {size:.0f} MB; load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"
    )
    ones, twos, ours_of_rounds, peers = [], [], [], []
    for number in range(1, arguments.rounds + 1):
        ones.append(run(text, 1, folder))
        twos.append(run(text, 2, folder))
        ours_of_rounds.append(run(sample, 1, folder))
        peers.append(spawn({"what": "peer", "text": str(sample)}))
        print(f"round {number}, load {os.getloadavg()[0]:.1f}:", end=" ")
        print(f"1 thread {ones[-1]['wall']:.2f} s, 2 threads {twos[-1]['wall']:.2f} s by the clock;", end=" ")
        print(f"peer {peers[-1]['cpu'] / ours_of_rounds[-1]['cpu']:.1f} times our CPU time", flush=True)
    one, two = best(ones, "wall"), best(twos, "wall")
    row("omnitm, 1 thread", size, one)
    row("omnitm, 2 threads", size, two)
    print(f"2 threads: {one['wall'] / two['wall']:.2f} times faster by the clock, ", end="")
    print(f"{two['memory'] / MB:.0f} MB peak")
    print(f"index: {one['bytes_per_pair']:.2f} bytes per stored word occurrence, both orders together")
    ours, peer = best(ours_of_rounds, "cpu"), best(peers, "cpu")
    row(f"omnitm, {sample_size:.0f} MB", sample_size, ours)
    row(f"CountVectorizer, {sample_size:.0f} MB", sample_size, peer)
    print(f"ratio on the same {sample_size:.0f} MB: {peer['cpu'] / ours['cpu']:.1f} times faster, ", end="")
    print(f"{ours['memory'] / peer['memory']:.3f} of the peak memory")
    if arguments.tenfold:
        ten = run(text, 1, folder, copies=10)
        row("omnitm, text read 10 times", 10 * size, ten)
        print(f"peak memory, 10 times the text: {ten['memory'] / one['memory']:.2f} of once")


def best(results: list[dict[str, Any]], measure: str) -> dict[str, Any]:
    return min(results, key=lambda result: float(result[measure]))


def row(name: str, size: float, result: dict[str, Any]) -> None:
    cpu, wall = result["cpu"], result["wall"]
    rates = f"{size / cpu:7.1f} MB/s of CPU, {size / wall:7.1f} MB/s of the clock"
    print(
        f"{name:30} {cpu:7.2f} s CPU {wall:7.2f} s clock {rates} {result['memory'] / MB:7.0f} MB peak",
        flush=True,
    )


def run(text: Path, n_threads: int, folder: Path, copies: int = 1) -> dict[str, Any]:
    shutil.rmtree(folder / "index", ignore_errors=True)
    task = {
        "what": "omnitm",
        "text": str(text),
        "threads": n_threads,
        "output": str(folder / "index"),
        "copies": copies,
    }
    return spawn(task)


def spawn(task: dict[str, Any]) -> dict[str, Any]:
    command = [sys.executable, __file__, "--measure", json.dumps(task)]
    result: dict[str, Any] = json.loads(
        subprocess.run(command, check=True, capture_output=True, text=True).stdout
    )
    return result


def measure(task: dict[str, Any]) -> None:
    job = omnitm_job(task) if task["what"] == "omnitm" else peer_job(task)
    wall, cpu = time.perf_counter(), time.process_time()
    facts = job()
    facts["wall"], facts["cpu"] = time.perf_counter() - wall, time.process_time() - cpu
    facts["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps(facts))


def omnitm_job(task: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    from omnitm.corpus import Resources, build_index

    def job() -> dict[str, Any]:
        sources = [task["text"]] * task["copies"]
        output = build_index(sources, task["output"], resources=Resources(n_threads=task["threads"]))
        orders = ("document_offsets", "document_words", "word_offsets", "word_documents")
        stored = sum((output / f"{name}.bin").stat().st_size for name in orders)
        return {"bytes_per_pair": stored / ((output / "document_words.bin").stat().st_size / 4)}

    return job


def peer_job(task: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    from sklearn.feature_extraction.text import CountVectorizer

    from omnitm.corpus import Preparation

    preparation = Preparation.paper()  # fewer steps than ours: `str.translate` and `str.split` do it all
    deleted = preparation.character_table
    vectorizer = CountVectorizer(
        binary=True,
        preprocessor=lambda text: text.lower().translate(deleted),
        tokenizer=str.split,
        token_pattern=None,
        stop_words=sorted(preparation.prepared_stop_words),
        max_features=40_000,
    )

    def job() -> dict[str, Any]:
        with Path(task["text"]).open(encoding="utf-8", newline="\n") as lines:
            return {"pairs": int(vectorizer.fit_transform(lines).nnz)}

    return job


if __name__ == "__main__":
    main()
