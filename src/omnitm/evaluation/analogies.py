"""Analogies, a is to b as c is to which word, answered by sums or products of similarities."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitm.errors import FileError, ParameterError
from omnitm.evaluation.datasets import data_set, known_set, locate, spelling
from omnitm.evaluation.results import PlainTable, Report
from omnitm.files.plain import read_text
from omnitm.parameters import check_integer
from omnitm.similarity.scorers import Scorer
from omnitm.vectors import WordVectors

_GRAMMAR = "gram"  # sections of Google's set that ask for word forms begin so
_QUESTIONS_AT_ONCE = 256

Question = tuple[str, str, str, str]


@dataclass(frozen=True)
class SectionResult:
    """How many questions of a section could be asked, and how many were answered rightly."""

    name: str
    n_questions: int
    n_used: int
    n_right: int

    @property
    def accuracy(self) -> float | None:
        """Share of right answers; None if nothing could be asked."""
        return self.n_right / self.n_used if self.n_used else None


@dataclass(frozen=True)
class AnalogyReport:
    """Sections of one model; questions with an unknown word are not asked."""

    model: str
    metric: str
    n_candidates: int
    sections: tuple[SectionResult, ...]
    version: int = 1
    kind: str = "omnitm analogies"

    def total(self, name: str = "all") -> SectionResult:
        """Add sections: "all", "semantic" or "grammar"."""
        wanted = [
            part
            for part in self.sections
            if name == "all" or part.name.startswith(_GRAMMAR) == (name == "grammar")
        ]
        counts = ([getattr(part, field) for part in wanted] for field in ("n_questions", "n_used", "n_right"))
        return SectionResult(name, *map(sum, counts))

    @property
    def sections_and_totals(self) -> list[SectionResult]:
        """All sections, then the sums of those that ask for meanings, for word forms, and of all."""
        return [*self.sections, *map(self.total, ("semantic", "grammar", "all"))]


def load_questions(
    source: str | Path = "Google analogies", data: str | Path | None = None, *, download: bool = False
) -> dict[str, list[Question]]:
    """Read a published set of analogies by name, or any file of the same form."""
    if known_set(str(source)) is None and Path(source).is_file():
        return read_questions(Path(source))
    known = data_set(str(source), "analogies")
    return read_questions(locate(known, data, download=download))


def read_questions(path: Path) -> dict[str, list[Question]]:
    """Read analogies by section: `: name` starts a section, four words are a question."""
    sections: dict[str, list[Question]] = {}
    current: list[Question] | None = None
    for number, line in enumerate(read_text(path).splitlines(), 1):
        words = line.split()
        if line.startswith(":"):
            current = sections.setdefault(line[1:].strip(), [])
        elif words:
            if len(words) != 4:
                raise FileError(path, f"line {number}: {line[:60]!r} is not a question; expected four words")
            if current is None:
                current = sections.setdefault("questions", [])
            current.append((words[0], words[1], words[2], words[3]))
    if not sections:
        raise FileError(path, "has no questions; expected lines of four words, and `: name` before a section")
    return sections


def evaluate_analogies(
    vectors: WordVectors,
    questions: Mapping[str, Sequence[Question]] | None = None,
    *,
    name: str = "model",
    metric: str | None = None,
    restrict_vocab: int | None = None,
    data: str | Path | None = None,
    on_section: Callable[[str], object] | None = None,
) -> AnalogyReport:
    """Answer analogies among the trained words.

    Parameters
    ----------
    questions
        By section; None: Google's set, see `load_questions`.
    metric
        A metric of `WordVectors`; None: the vectors' own. The answer to `a : b = c : ?` is the word other
        than a, b and c that is nearest to b and c and farthest from a: by the highest
        `s(b, x) - s(a, x) + s(c, x)`, or by products for metrics that add several parts.
    restrict_vocab
        Only ask about, and answer with, the first so many words.
    """
    asked = load_questions(data=data) if questions is None else questions
    count = len(vectors)
    if restrict_vocab is not None:
        count = min(count, check_integer("evaluate_analogies", "restrict_vocab", restrict_vocab, 1))
    asker = _Asker(vectors, vectors.scorer(metric), count)  # type: ignore[arg-type]
    results = []
    for section, items in asked.items():
        if on_section:
            on_section(section)
        results.append(asker.section(section, items))
    report = AnalogyReport(name, asker.metric, count, tuple(results))
    if not report.total().n_used:
        raise ParameterError("No question can be asked: each has a word that is not trained.")
    return report


class _Asker:
    def __init__(self, vectors: WordVectors, scorer: Scorer, count: int) -> None:
        self.metric, self._vectors, self._count, self._scorer = scorer.name, vectors, count, scorer
        # association also finds words that are not trained; answers are trained words
        self._candidates = vectors.row_features[:count] if self.metric == "association" else slice(count)

    def section(self, name: str, questions: Sequence[Question]) -> SectionResult:
        known = [ids for ids in map(self._rows, questions) if ids is not None]
        if not known:
            return SectionResult(name, len(questions), 0, 0)
        rows = np.array(known)
        words, places = np.unique(rows[:, :3], return_inverse=True)
        scores = np.stack([self._scores(word) for word in words.tolist()])
        places = places.reshape(-1, 3)
        right = 0
        for start in range(0, len(rows), _QUESTIONS_AT_ONCE):
            part = slice(start, start + _QUESTIONS_AT_ONCE)
            a, b, c = places[part].T
            sums = self._scorer.joined(self._vectors, (scores[b], scores[c], scores[a]), (1.0, 1.0, -1.0))
            np.put_along_axis(sums, rows[part, :3], -np.inf, axis=1)
            right += int((sums.argmax(axis=1) == rows[part, 3]).sum())
        return SectionResult(name, len(questions), len(rows), right)

    def _rows(self, question: Question) -> list[int] | None:
        places, count = self._vectors.key_to_index, self._count
        forms = [spelling(word, lambda form: places.get(form, count) < count) for word in question]
        return None if None in forms else [self._vectors.key_to_index[form] for form in forms if form]

    def _scores(self, row: int) -> NDArray[np.float32]:
        word = self._vectors.index_to_key[row]
        scores = self._scorer.of_factors.scores(self._vectors, [(word, 1.0)])
        return np.asarray(scores[self._candidates], dtype=np.float32)


@dataclass(frozen=True)
class AnalogyComparison(Report):
    """Several models, asked the same questions."""

    reports: tuple[AnalogyReport, ...]
    notes: tuple[str, ...] = ()

    def tables(self) -> list[PlainTable]:
        """Make one table: a row per section, then totals."""
        header = ["section", "questions", *(f"{one.model} ({one.metric})" for one in self.reports)]
        table = PlainTable("Analogies: share answered rightly (of those asked)", header)
        for row in zip(*(report.sections_and_totals for report in self.reports), strict=True):
            cells = [
                "-" if part.accuracy is None else f"{part.accuracy:.3f} ({part.n_used:,})" for part in row
            ]
            table.rows.append([row[0].name, f"{row[0].n_questions:,}", *cells])
        return [table]

    def lines(self) -> Iterator[Sequence[Any]]:
        """Yield a line per model and section."""
        yield "model", "metric", "section", "questions", "used", "right"
        for report in self.reports:
            for part in report.sections_and_totals:
                yield report.model, report.metric, *astuple(part)

    def to_json(self) -> str:
        """Write the reports as JSON."""
        return json.dumps([asdict(report) for report in self.reports], indent=2)
