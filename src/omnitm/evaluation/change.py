"""Words whose use changed between two corpora, in the form of SemEval-2020 Task 1.

Schlechtweg et al. (2020): SemEval-2020 Task 1: Unsupervised lexical semantic change detection.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from omnitm.comparison import Sides, compare_corpora
from omnitm.comparison.words import SURE
from omnitm.corpus import DocumentIndex, VocabularyRules
from omnitm.errors import CorpusError, FileError
from omnitm.evaluation.results import PlainTable, Report, number
from omnitm.training.progress import ProgressOption

CORPORA = ("corpus1", "corpus2")
_TARGETS = "targets.txt"


@dataclass(frozen=True)
class ChangeTask:
    """Two corpora, and words with what people said of their change.

    Attributes
    ----------
    corpora
        Files of each corpus: lemmas, a sentence per line.
    binary
        Per word whether it gained or lost a sense; None for words without a judgement.
    graded
        Per word how much its use changed.
    """

    corpora: tuple[tuple[Path, ...], tuple[Path, ...]]
    targets: tuple[str, ...]
    binary: dict[str, bool]
    graded: dict[str, float]

    @classmethod
    def read(cls, folder: Path) -> ChangeTask:
        """Read a folder with corpus1/lemma, corpus2/lemma, targets.txt and truth/{binary,graded}.txt."""
        if not folder.is_dir():
            raise FileError(folder, "no such folder; expected that of SemEval-2020 Task 1")
        first, second = (_files(folder / name / "lemma") for name in CORPORA)
        targets = tuple(line.strip() for line in _lines(folder / _TARGETS) if line.strip())
        if not targets:
            raise FileError(folder / _TARGETS, "names no word; give one per line")
        truth = {name: _truth(folder / "truth" / f"{name}.txt") for name in ("binary", "graded")}
        binary = {word: value != 0 for word, value in truth["binary"].items()}
        return cls((first, second), targets, binary, truth["graded"])

    def sentences(self) -> Iterator[tuple[str, list[str]]]:
        """Yield for every sentence which corpus it is from, and its words."""
        for files, name in zip(self.corpora, CORPORA, strict=True):
            for file in files:
                for line in _lines(file):
                    yield name, line.split()


class _Sentences:
    """Words of all sentences, which can be read again."""

    def __init__(self, task: ChangeTask) -> None:
        self._task = task

    def __iter__(self) -> Iterator[list[str]]:
        return (words for _, words in self._task.sentences())


@dataclass(frozen=True)
class WordJudged:
    """A word, what was found and what people said; None where a word is too rare, or has no judgement."""

    word: str
    distance: float | None
    p: float | None
    q: float | None
    changed: bool | None
    graded: float | None
    gained: str
    lost: str


@dataclass(frozen=True)
class ChangeReport(Report):
    """How well changes agree with people.

    Attributes
    ----------
    accuracy
        Subtask 1: of the words with a judgement, how many are told rightly (changed: q <= 0.05).
    most_frequent
        The same of always saying what is more frequent.
    spearman
        Subtask 2: rank correlation of the distance with the graded change.
    """

    words: tuple[WordJudged, ...]
    accuracy: float | None
    most_frequent: float | None
    spearman: float | None
    n_too_rare: int

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """What a reader of the figures should know."""
        said = "1 word is" if self.n_too_rare == 1 else f"{self.n_too_rare} words are"
        return (f"{said} too rare to compare",) if self.n_too_rare else ()

    def tables(self) -> list[PlainTable]:
        """Make a table with a row per word."""
        figures = f"accuracy {number(self.accuracy)} (always the same answer: {number(self.most_frequent)})"
        title = f"Change: {figures}, Spearman {number(self.spearman)}"
        table = PlainTable(title, ["word", "distance", "p", "q", "changed", "graded", "gained", "lost"])
        for word in self.words:
            found = [number(value) for value in (word.distance, word.p, word.q)]
            said = "-" if word.changed is None else ("yes" if word.changed else "no")
            table.rows.append([word.word, *found, said, number(word.graded), word.gained, word.lost])
        return [table]

    def lines(self) -> Iterator[Sequence[Any]]:
        """Yield a line per word."""
        yield list(WordJudged.__dataclass_fields__)
        yield from (astuple(word) for word in self.words)


def evaluate_change(
    task: ChangeTask,
    *,
    n_permutations: int = 2_000,
    seed: int = 0,
    n_threads: int | None = None,
    progress: ProgressOption = False,
) -> ChangeReport:
    """Compare the words of a task between its two corpora, and score them as the task does."""
    labels = [corpus for corpus, _ in task.sentences()]
    rules = VocabularyRules(keep=list(task.targets))
    index = DocumentIndex.from_documents(_Sentences(task), vocabulary=rules)
    sides = Sides(index, labels, CORPORA)
    known = set(index.vocabulary)
    wanted = [word for word in task.targets if word in known]
    if not wanted:
        raise CorpusError(f"No word of {_TARGETS} is in the corpora, such as {task.targets[0]!r}.")
    options = {"n_permutations": n_permutations, "seed": seed, "n_threads": n_threads, "progress": progress}
    compared = compare_corpora(index, by=sides, words=wanted, **options)  # type: ignore[arg-type]
    found = {one.comparison.word: one for one in compared.words}
    rows = []
    for word in task.targets:
        one = found.get(word)
        parts = ((), ()) if one is None else (one.comparison.gained, one.comparison.lost)
        gained, lost = (", ".join(change.phrase(word) for change in part[:5]) for part in parts)
        rows.append(
            WordJudged(
                word=word,
                distance=None if one is None else one.comparison.distance,
                p=None if one is None else one.comparison.p,
                q=None if one is None else one.q,
                changed=task.binary.get(word),
                graded=task.graded.get(word),
                gained=gained,
                lost=lost,
            )
        )
    return _scored(rows)


def _scored(rows: list[WordJudged]) -> ChangeReport:
    from scipy.stats import spearmanr

    judged = [(row.q <= SURE, row.changed) for row in rows if row.q is not None and row.changed is not None]
    graded = [
        (row.distance, row.graded) for row in rows if row.distance is not None and row.graded is not None
    ]
    share = float(np.mean([said for _, said in judged])) if judged else None
    return ChangeReport(
        words=tuple(rows),
        accuracy=float(np.mean([found == said for found, said in judged])) if judged else None,
        most_frequent=None if share is None else max(share, 1 - share),
        spearman=float(spearmanr(*zip(*graded, strict=True)).statistic) if len(graded) > 2 else None,
        n_too_rare=sum(row.q is None for row in rows),
    )


def _files(folder: Path) -> tuple[Path, ...]:
    files = sorted([*folder.glob("*.txt"), *folder.glob("*.txt.gz")])
    if not files:
        raise FileError(
            folder, "has no .txt or .txt.gz file; expected the lemmas of a corpus of SemEval-2020 Task 1"
        )
    return tuple(files)


def _lines(file: Path) -> Iterator[str]:
    try:
        with (gzip.open if file.suffix == ".gz" else Path.open)(file, "rt", encoding="utf-8") as lines:
            yield from lines
    except FileNotFoundError:
        raise FileError(file, "is missing; expected the folder of SemEval-2020 Task 1") from None
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise FileError(file, f"cannot be read: {error}") from None


def _truth(file: Path) -> dict[str, float]:
    found = {}
    for place, line in enumerate(_lines(file), start=1):
        word, _, value = line.strip().rpartition("\t")
        if not line.strip():
            continue
        try:
            found[word] = float(value)
        except ValueError:
            raise FileError(
                file, f"line {place}: expected a word, a tab and a number, found {line.strip()!r}"
            ) from None
    return found
