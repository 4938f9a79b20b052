"""Many words on two sides: which of them differ most, and how many of those by chance."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import threading
import warnings
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from omnitm.comparison.sides import FEWEST_DOCUMENTS, Sides
from omnitm.comparison.words import (
    N_EXAMPLES,
    N_PERMUTATIONS,
    SURE,
    Change,
    Comparison,
    Excerpt,
    Step,
    compare_word,
    read_excerpts,
)
from omnitm.corpus import DocumentIndex
from omnitm.corpus.groups import Grouping
from omnitm.engines import Failure, ThreadsEngine, WordEngine, WordJob
from omnitm.errors import CorpusError, EngineError, FileError, OmniTMWarning
from omnitm.explain.records import Record
from omnitm.files.plain import read_file, write_file, writing
from omnitm.machine.autoencoder import TrainingCorpus
from omnitm.machine.settings import word_key
from omnitm.parameters import check_integer
from omnitm.training.progress import ProgressOption, ReportWords, WordFailure, reporting

N_WORDS = 1_000
LOG_VERSION = 6  # of the lines of a log; others are not read
_RESULT_BYTES = 10_000  # about
_LONGEST_LOG = 1 << 32  # bytes
# A word counts as hung after ten minutes and some hundred times what it takes on a good machine.
_LEAST_SECONDS, _SECONDS_PER_SHUFFLING = 600.0, 0.1


@dataclass(frozen=True)
class WordChange(Record):
    """A compared word among others.

    Attributes
    ----------
    q
        Of the words with this q or a smaller one, the share that is expected to have changed by chance
        (Benjamini & Hochberg 1995).
    """

    comparison: Comparison
    q: float


@dataclass(frozen=True)
class CorpusComparison(Record):
    """Words compared on two sides, those that changed most first: by p, then by strength.

    Attributes
    ----------
    n_left_out
        Words that were asked for but are in too few documents of a side.
    """

    by: str
    first: str
    second: str
    words: tuple[WordChange, ...]
    n_left_out: int

    @classmethod
    def from_dict(cls, facts: dict[str, Any]) -> CorpusComparison:
        """Make a comparison of what `to_dict` has made of one, or `omnitm compare -o change.json`."""
        words = [WordChange(_comparison(word["comparison"]), word["q"]) for word in facts["words"]]
        return cls(**{**facts, "words": tuple(words)})

    @property
    def n_changed(self) -> int:
        """How many words differ; of these one in twenty by chance."""
        return sum(word.q <= SURE for word in self.words)

    def top(self, count: int = 100) -> tuple[WordChange, ...]:
        """Return the words that changed most."""
        return self.words[:count]

    def rows(self) -> list[dict[str, Any]]:
        """Rows of the table: a word each."""
        return [row_of(word) for word in self.words]

    def caption(self) -> str:
        """Return what is said above the table."""
        found = f"{self.n_changed:,} of {len(self.words):,} words differ (q <= {SURE})"
        return f"{self.first} -> {self.second}: {found}"

    def to_html(self, count: int = 100) -> str:
        """Return a page that needs nothing else: no network, no other file."""
        from omnitm.comparison.report import page

        return page(self, count)


def row_of(word: WordChange) -> dict[str, Any]:
    """Return the figures of a word, and its gained and lost words, as one flat row."""
    found = word.comparison
    return {
        "word": found.word,
        "p": found.p,
        "q": word.q,
        "strength": found.strength,
        "distance": found.distance,
        f"documents {found.first}": found.n_first,
        f"documents {found.second}": found.n_second,
        "gained": ", ".join(change.name for change in found.gained),
        "lost": ", ".join(change.name for change in found.lost),
    }


def compare_corpora(
    index: DocumentIndex,
    *,
    by: str | Sequence[Any] | Grouping | Sides,
    groups: Sequence[object] | None = None,
    words: Sequence[str] | int = N_WORDS,
    n_permutations: int = N_PERMUTATIONS,
    n_examples: int = N_EXAMPLES,
    seed: int = 0,
    n_threads: int | None = None,
    engine: WordEngine | None = None,
    log: str | os.PathLike[str] | None = None,
    progress: ProgressOption = False,
) -> CorpusComparison:
    """Compare many words on two sides, and control the false discovery rate.

    Parameters
    ----------
    by, groups, n_permutations, n_examples, seed
        As for `compare`.
    words
        The words, or how many of the most frequent ones that have enough documents on both sides.
    n_threads, engine
        Threads (None: one per core), or an engine of `omnitm.engines.make_engine`. The result is the same.
    log
        A file that finished words are kept in; a later run on the same index goes on from there.
    progress
        True for a bar, or a function that is called now and then with a `Progress`, as in training.
    """
    sides = by if isinstance(by, Sides) else Sides(index, by, groups)
    check_integer("compare_corpora", "n_permutations", n_permutations, 1, 1_000_000)
    if n_threads is not None:
        check_integer("compare_corpora", "n_threads", n_threads, 1, 1024)
    asked = (
        _frequent_words(sides, words)
        if isinstance(words, int)
        else list(dict.fromkeys(index.known_word(word) for word in words))
    )
    enough = sides.has_enough
    chosen = [word for word in asked if enough[index.word_id(word)]]
    if not chosen:
        which = "No word" if isinstance(words, int) else "None of these words"
        raise CorpusError(
            f"{which} is in {FEWEST_DOCUMENTS} or more documents of both {sides.first!r} and "
            f"{sides.second!r}, and absent from as many, so there is nothing to compare."
        )
    options: dict[str, Any] = {"n_permutations": n_permutations, "n_examples": n_examples, "seed": seed}
    with _Log(log, {**options, **_facts(sides)}) as kept:
        done = {word: kept.found[word] for word in chosen if word in kept.found}
        left = [word for word in chosen if word not in done]
        work = WordComparing(sides, options)
        with reporting(progress, len(done), len(chosen), "comparing words") as report:
            report(0)
            new = _compared(work, left, engine or ThreadsEngine(n_threads), kept, report) if left else []
    done |= {found.word: found for found in new}
    texts = read_excerpts(index, [done[word] for word in chosen])
    return _ranked(sides, texts, len(asked) - len(chosen))


def _facts(sides: Sides) -> dict[str, Any]:
    """Return what tells the sides of an index from others, for a log."""
    documents = hashlib.sha256(sides.of_documents.tobytes()).hexdigest()
    names = [sides.first, sides.second]
    return {
        "version": LOG_VERSION,
        "seal": sides.index.seal,
        "by": sides.grouping.name,
        "sides": names,
        "documents": documents,
    }


@dataclass(frozen=True)
class WordComparing:
    """Comparing words as work for an engine: the result of a word is its comparison as JSON."""

    sides: Sides = field(compare=False)
    options: dict[str, Any] = field(compare=False)
    dtype: str = "|u1"
    key: str = field(default_factory=lambda: secrets.token_hex(16))
    """Tells this work from others in a worker that serves several."""

    @property
    def has_order(self) -> bool:  # noqa: D102
        return self.sides.index.running is not None

    def result_bytes(self, _: DocumentIndex) -> int:  # noqa: D102
        return _RESULT_BYTES

    def seconds_allowed(self, n_words: int = 1) -> float:  # noqa: D102
        n_shufflings = n_words * int(self.options["n_permutations"])
        return min(_LEAST_SECONDS + n_shufflings * _SECONDS_PER_SHUFFLING, 1e7)

    def worker(self, corpus: TrainingCorpus) -> _Comparer:  # noqa: D102
        return _Comparer(self.sides.on(corpus), self.options)


class _Comparer:
    def __init__(self, sides: Sides, options: dict[str, Any]) -> None:
        self._sides, self._options = sides, options

    def result(self, job: WordJob) -> NDArray[np.uint8]:
        found = compare_word(self._sides, self._sides.index.vocabulary[job.target], **self._options)
        return np.frombuffer(json.dumps(found.to_dict(), ensure_ascii=False).encode(), dtype=np.uint8)

    def stop(self) -> None:
        """Do nothing: a word takes less than a second."""


def _compared(
    work: WordComparing, words: Sequence[str], engine: WordEngine, kept: _Log, report: ReportWords
) -> list[Comparison]:
    """Compare words, and keep each when it is done."""
    sides = work.sides
    jobs = [
        WordJob(row, sides.index.word_id(word), word_key(work.options["seed"], word))
        for row, word in enumerate(words)
    ]
    found: list[Comparison] = []
    failed: dict[str, str] = {}

    def write(_: int, result: NDArray[Any]) -> None:
        line = result.tobytes().decode()
        kept.add(line)
        found.append(_comparison(json.loads(line)))

    def report_words(done: int, failures: Sequence[Failure] = ()) -> None:
        named = [WordFailure(tuple(words[job.row] for job in f.jobs), *f[1:]) for f in failures]
        failed.update({one.words[0]: one.problem for one in named if one.is_final})
        report(done, named)

    sides.features  # noqa: B018  # made once, before workers ask for it
    engine.run(sides.index, work, jobs, write, report_words)
    if failed:
        word, problem = next(iter(failed.items()))
        raise EngineError(f"{len(failed):,} words failed again and again, such as {word!r}: {problem}.")
    return found


def _frequent_words(sides: Sides, count: int) -> list[str]:
    """Choose the words whose rarer side has the most documents."""
    check_integer("compare_corpora", "words", count, 1)
    least = np.where(sides.has_enough, sides.document_frequencies.min(axis=0), 0)
    order = np.argsort(-least, kind="stable")[:count]
    return [sides.index.vocabulary[k] for k in order.tolist() if least[k] > 0]


def _ranked(sides: Sides, comparisons: list[Comparison], n_left_out: int) -> CorpusComparison:
    ordered = sorted(comparisons, key=lambda found: (found.p, -found.strength, found.word))
    levels = false_discovery_rates([found.p for found in ordered])
    words = tuple(WordChange(found, q) for found, q in zip(ordered, levels, strict=True))
    return CorpusComparison(sides.grouping.name, sides.first, sides.second, words, n_left_out)


def false_discovery_rates(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for their number (Benjamini & Hochberg 1995).

    >>> [round(q, 3) for q in false_discovery_rates([0.01, 0.02, 0.03, 0.9])]
    [0.04, 0.04, 0.04, 0.9]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    raw = p[order] * len(p) / np.arange(1, len(p) + 1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum.accumulate(raw[::-1])[::-1].clip(max=1)
    return [float(q) for q in adjusted]


class _Log:
    """Finished words, a line each after a first line that says what was compared; each with its checksum."""

    def __init__(self, path: str | os.PathLike[str] | None, facts: dict[str, Any]) -> None:
        self._path = None if path is None else Path(path)
        self.found: dict[str, Comparison] = {}
        self._lock = threading.Lock()
        self._file: IO[bytes] | None = None
        if self._path is None:
            return
        lines, self.found = _read_log(self._path, facts)
        # Again from the start, without what is damaged and half a line that a crash left.
        write_file(self._path, b"".join(lines))
        with writing(self._path):
            self._file = self._path.open("ab")

    def __enter__(self) -> _Log:  # noqa: PYI034 - typing.Self came with Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, line: str) -> None:
        """Keep a finished word; from any thread."""
        if self._file is not None and self._path is not None:
            with self._lock, writing(self._path):
                self._file.write(_sealed(line))
                self._file.flush()


def _sealed(line: str) -> bytes:
    """Put the checksum of a line after it; JSON has no tab."""
    content = line.encode()
    return content + f"\t{zlib.crc32(content):08x}\n".encode()


def _read_log(path: Path, facts: dict[str, Any]) -> tuple[list[bytes], dict[str, Comparison]]:
    """Read the sound lines of a log, if there is one, and the words in them."""
    first = _sealed(json.dumps(facts))
    content = read_file(path, _LONGEST_LOG) if path.exists() else b""
    if first.startswith(content):  # new, or killed before its first word
        return [first], {}
    lines = content.splitlines(keepends=True)
    if lines[0] != first:
        problem = (
            "has words that were compared in another way or on another index; remove it to begin again"
            if _is_sound(lines[0])
            else "is not a file of compared words, or is damaged; remove it"
        )
        raise FileError(path, f"{problem}, or choose another name")
    sound = [line for line in lines if _is_sound(line)]
    n_damaged = sum(line.endswith(b"\n") for line in lines) - len(sound)
    if n_damaged:
        problem = f"{n_damaged} words are damaged; they are compared again"
        warnings.warn(f"{path}: {problem}", OmniTMWarning, stacklevel=4)
    found = [_comparison(json.loads(line.rpartition(b"\t")[0])) for line in sound[1:]]
    return sound, {comparison.word: comparison for comparison in found}


def _is_sound(line: bytes) -> bool:
    content, _, checksum = line.rpartition(b"\t")
    return checksum == f"{zlib.crc32(content):08x}\n".encode()


def kept_comparison(sides: Sides, log: Path) -> CorpusComparison:
    """Rank the words that `compare_corpora` has kept in a log so far; their excerpts have no texts yet."""
    options = {"n_permutations": N_PERMUTATIONS, "n_examples": N_EXAMPLES, "seed": 0}
    _, found = _read_log(log, {**options, **_facts(sides)})
    return _ranked(sides, list(found.values()), 0)


def _comparison(facts: dict[str, Any]) -> Comparison:
    kinds: dict[str, Any] = {
        "gained": Change,
        "lost": Change,
        "documents_first": Excerpt,
        "documents_second": Excerpt,
        "trajectory": Step,
    }
    for name, kind in kinds.items():
        facts[name] = tuple(kind(**entry) for entry in facts[name])
    return Comparison(**facts)
