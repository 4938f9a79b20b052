"""Many words on two sides: which of them differ most, and how many of those by chance."""

from __future__ import annotations

import json
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.comparison.machines import FEWEST_DOCUMENTS
from omnitm.comparison.sides import Sides
from omnitm.comparison.words import (
    N_EXAMPLES,
    N_PERMUTATIONS,
    Change,
    Comparison,
    Excerpt,
    Step,
    compare_word,
    read_excerpts,
)
from omnitm.errors import CorpusError, FileError
from omnitm.explain.records import Record
from omnitm.parameters import check_integer

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    from omnitm.corpus import DocumentIndex
    from omnitm.corpus.groups import Grouping

N_WORDS = 1_000
_LOG_VERSION = 2  # of the lines of a log; others are not read


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

    def top(self, count: int = 100) -> tuple[WordChange, ...]:
        """Return the words that changed most."""
        return self.words[:count]

    def rows(self) -> list[dict[str, Any]]:
        """Rows of the table: a word each."""
        return [row_of(word) for word in self.words]

    def caption(self) -> str:
        """Return what is said above the table."""
        n_changed = sum(word.q <= 0.05 for word in self.words)
        return f"{self.first} -> {self.second}: {n_changed:,} of {len(self.words):,} words differ (q <= 0.05)"

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
    log: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> CorpusComparison:
    """Compare many words on two sides, and control the false discovery rate.

    Parameters
    ----------
    by, groups, n_permutations, n_examples, seed
        As for `compare`.
    words
        The words, or how many of the most frequent ones that have enough documents on both sides.
    n_threads
        Threads; None: one per core. The result is the same for any number.
    log
        A file that finished words are kept in; a later run on the same index goes on from there.
    progress
        Called with the number of finished words and of all.
    """
    from omnitm.engines.threads import available_cores

    sides = by if isinstance(by, Sides) else Sides(index, by, groups)
    n_threads = check_integer("compare_corpora", "n_threads", n_threads or available_cores(), 1, 1024)
    asked = (
        _frequent_words(sides, words)
        if isinstance(words, int)
        else list(dict.fromkeys(index.known_word(word) for word in words))
    )
    enough = sides.has_enough
    chosen = [word for word in asked if enough[index.word_id(word)]]
    if not chosen:
        raise CorpusError(
            f"No word is in {FEWEST_DOCUMENTS} or more documents of both {sides.first!r} and "
            f"{sides.second!r}, so there is nothing to compare."
        )
    options: dict[str, Any] = {"n_permutations": n_permutations, "n_examples": n_examples, "seed": seed}
    facts = {"version": _LOG_VERSION, "seal": index.seal, "by": sides.grouping.name, "sides": _names(sides)}
    kept = _Log(log, {**options, **facts})
    done = {word: kept.found[word] for word in chosen if word in kept.found}
    tell = progress or (lambda *_: None)
    tell(len(done), len(chosen))
    left = [word for word in chosen if word not in done]
    if left:
        sides.features  # noqa: B018  # made once, before threads ask for it
    for comparison in _compared(sides, left, options, n_threads):
        done[comparison.word] = comparison
        kept.add(comparison)
        tell(len(done), len(chosen))
    found = read_excerpts(index, [done[word] for word in chosen])
    return _ranked(sides, found, len(asked) - len(chosen))


def _names(sides: Sides) -> list[str]:
    return [sides.first, sides.second]


def _frequent_words(sides: Sides, count: int) -> list[str]:
    """Choose the words whose rarer side has the most documents."""
    check_integer("compare_corpora", "words", count, 1)
    least = np.where(sides.has_enough, sides.document_frequencies.min(axis=0), 0)
    order = np.argsort(-least, kind="stable")[:count]
    return [sides.index.vocabulary[k] for k in order.tolist() if least[k] > 0]


def _compared(
    sides: Sides, words: Sequence[str], options: dict[str, Any], n_threads: int
) -> Iterator[Comparison]:
    """Compare words in threads; whatever ends the loop early leaves out those that have not begun."""
    with ThreadPoolExecutor(n_threads) as pool:
        try:
            running = {pool.submit(compare_word, sides, word, **options) for word in words}
            while running:
                finished, running = wait(running, return_when=FIRST_COMPLETED)
                for future in sorted(finished, key=id):
                    yield future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


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
    """Finished words, a line each after a first line that says what was compared."""

    def __init__(self, path: str | os.PathLike[str] | None, facts: dict[str, Any]) -> None:
        self._path = None if path is None else Path(path)
        self.found: dict[str, Comparison] = {}
        if self._path is None:
            return
        lines = self._path.read_text(encoding="utf-8").split("\n")[:-1] if self._path.exists() else []
        if lines and _parsed(self._path, lines[0]) != facts:
            problem = "has words that were compared in another way or on another index; remove it to begin"
            raise FileError(self._path, f"{problem} again, or choose another name")
        for line in lines[1:]:
            comparison = _comparison(_parsed(self._path, line))
            self.found[comparison.word] = comparison
        self._write(lines or [json.dumps(facts)])  # without half a line that a crash left

    def _write(self, lines: list[str]) -> None:
        assert self._path is not None  # noqa: S101  # a log without a path writes nothing
        try:
            self._path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        except OSError as error:
            raise FileError(self._path, f"cannot be written: {error.strerror}") from error

    def add(self, comparison: Comparison) -> None:
        """Keep a finished word."""
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(comparison.to_dict(), ensure_ascii=False) + "\n")


def _parsed(path: Path, line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        raise FileError(path, "is not a file of compared words; remove it or choose another name") from None


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
