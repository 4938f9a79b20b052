"""Measure what checking files costs: training from an index, and nearest words of a stored model.

    python benchmarks/checksums.py TEXT --model MODEL         # writes results/checksums.json and .md

MODEL is a large model whose similarities are kept beside it, TEXT any large text, such as 300,000 lines of
Wikipedia. CPU seconds of one thread. An index is checked whole when training begins; the share is that of the
check in the training of some of its words. For nearest words a model is opened anew, with and without checks
in turns, and the best of all rounds is compared: of the first answer, which checks what it reads, and of the
answers after it; and of whole processes that start, open the model and answer once, as `omnitm similar` does.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from omnitm import _native
from omnitm.corpus import DocumentIndex, VocabularyRules, build_index
from omnitm.engines import ThreadsEngine
from omnitm.files import checked as checked_files
from omnitm.store.manifest import SIMILARITY
from omnitm.training import train_model
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Callable

RESULTS = Path(__file__).parent / "results"
ARRAYS = ("document_offsets", "document_words", "word_offsets", "word_documents")
METRICS = ("similarity", "association", "association-symmetric", "cosine")
ONE_ANSWER = """
import sys, time
from omnitm.files import checked as checked_files
from omnitm.vectors import WordVectors
model, metric, word, is_sound = sys.argv[1:]
if is_sound == "True":
    checked_files._is_sound = lambda *_: True
vectors = WordVectors.load(model)
for part in (vectors, vectors.place):
    if part is not None:
        part.matrix._file.is_sound = is_sound == "True"
vectors.most_similar(word, metric=metric)
print(time.process_time())
"""
MOST_OF_TRAINING, MOST_OF_ANSWERS = 0.03, 0.05


def seconds(action: Callable[[], Any]) -> float:
    """CPU seconds of an action."""
    start = time.process_time()
    action()
    return time.process_time() - start


def measure_training(folder: Path, n_words: int) -> dict[str, float]:
    """Train words from a fresh index; the rest of the vocabulary costs as much per word."""

    def check() -> None:
        index = DocumentIndex.open(folder / "index")
        for name in ARRAYS:
            getattr(index, name)

    check()  # from now on the file is in memory
    checking = statistics.median(seconds(check) for _ in range(5))
    opening = statistics.median(seconds(lambda: DocumentIndex.open(folder / "index")) for _ in range(5))
    index = DocumentIndex.open(folder / "index")
    words = list(index.vocabulary[:n_words])
    training = seconds(lambda: train_model(index, folder / "model", words, engine=ThreadsEngine(1)))
    return {
        "words": n_words,
        "vocabulary": index.n_words,
        "pairs": len(index.document_words),
        "open": opening,
        "check": checking - opening,
        "training": training,
        "share": (checking - opening) / training,
    }


def answer_seconds(model: Path, metric: Any, queries: list[str], *, checked: bool) -> tuple[float, float]:
    """CPU seconds of the first answer of a model that was just opened, and of each later one."""
    vectors = WordVectors.load(model)
    for matrix in (vectors.matrix, *(() if vectors.place is None else (vectors.place.matrix,))):
        matrix._file.is_sound = not checked  # noqa: SLF001 - as in a folder without checksums
    is_sound = checked_files._is_sound if checked else lambda *_: True  # noqa: SLF001 - as above
    with mock.patch.object(checked_files, "_is_sound", is_sound):
        first = seconds(lambda: vectors.most_similar(queries[0], metric=metric))
    rest = seconds(lambda: [vectors.most_similar(word, metric=metric) for word in queries[1:]])
    return first, rest / len(queries[1:])


def process_seconds(model: Path, metric: str, word: str, *, checked: bool) -> float:
    """CPU seconds of a process that opens a model and answers once."""
    command = [sys.executable, "-c", ONE_ANSWER, str(model), metric, word, str(not checked)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure_answers(model: Path, n_queries: int, rounds: int) -> dict[str, dict[str, float]]:
    """Ask for nearest words with and without checks, in turns."""
    words = WordVectors.load(model).index_to_key
    queries = words[:: max(1, len(words) // n_queries)]
    results = {}
    for metric in METRICS:
        pairs = [
            [answer_seconds(model, metric, queries, checked=checked) for checked in (True, False)]
            for _ in range(rounds)
        ]
        first, each = (min(with_checks[k] for with_checks, _ in pairs) for k in (0, 1))
        plain_first, plain = (min(without[k] for _, without in pairs) for k in (0, 1))
        processes = [
            min(process_seconds(model, metric, queries[0], checked=checked) for _ in range(rounds))
            for checked in (True, False)
        ]
        results[metric] = {
            "process": processes[0],
            "process_unchecked": processes[1],
            "first": first,
            "first_unchecked": plain_first,
            "each": each,
            "each_unchecked": plain,
            "more": each / plain - 1,
        }
    return results


def measure_file(model: Path) -> dict[str, float]:
    """Check the kept similarities as a whole, twice: the first time their pages are mapped, too."""
    path = model / SIMILARITY
    content = checked_files.mapped(path, path.stat().st_size)
    first, again = (seconds(lambda: _native.crc32c(content)) for _ in range(2))
    return {"bytes": len(content), "first": first, "again": again}


def table(
    training: dict[str, float],
    answers: dict[str, dict[str, dict[str, float]]],
    file: dict[str, float] | None = None,
) -> str:
    """Write the figures as Markdown."""
    said = (
        f"Index: {training['pairs']:,} pairs, vocabulary of {training['vocabulary']:,}; opened in "
        f"{1000 * training['open']:.0f} ms, checked in {1000 * training['check']:.1f} ms of CPU; "
        f"training {training['words']:,} words took {training['training']:.1f} s: "
        f"{100 * training['share']:.2f} % for the check."
    )
    lines = [
        said,
        "",
        "| model | nearest words by | process | unchecked | first | unchecked | later | unchecked | more |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for model, rows in answers.items():
        for metric, row in rows.items():
            names = (
                f"{what}{which}" for what in ("process", "first", "each") for which in ("", "_unchecked")
            )
            times = [row[name] * 1000 for name in names]
            cells = [*(f"{t:.2f} ms" for t in times), f"{100 * row['more']:+.1f} %"]
            lines.append(f"| {model} | {metric} | " + " | ".join(cells) + " |")
    if file is not None:
        twice = ", ".join(f"{1000 * file[name]:.0f} ms" for name in ("first", "again"))
        lines += ["", f"{SIMILARITY}: {file['bytes'] / 1e6:.0f} MB, checked twice: {twice}."]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("text", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--words", type=int, default=3000)
    parser.add_argument("--vocabulary", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rules = VocabularyRules(max_words=arguments.vocabulary)
        build_index(arguments.text, folder / "index", vocabulary=rules)
        training = measure_training(folder, arguments.words)
        answers = {f"{arguments.words:,} words": measure_answers(folder / "model", 100, arguments.rounds)}
    file = None
    if arguments.model is not None:
        file = measure_file(arguments.model)
        name = f"{len(WordVectors.load(arguments.model)):,} words"
        answers[name] = measure_answers(arguments.model, 200, arguments.rounds)
    text = table(training, answers, file)
    print(text)
    figures = json.dumps({"training": training, "most_similar": answers, "file": file}, indent=1)
    (RESULTS / "checksums.json").write_text(figures + "\n")
    (RESULTS / "checksums.md").write_text(text)
    worst = max(row["more"] for rows in answers.values() for row in rows.values())
    return 1 if training["share"] > MOST_OF_TRAINING or worst > MOST_OF_ANSWERS else 0


if __name__ == "__main__":
    sys.exit(main())
