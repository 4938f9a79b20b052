"""Word pairs with human scores, read from tables of several forms."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitm.errors import FileError
from omnitm.evaluation.datasets import data_set, known_set, locate
from omnitm.files.plain import read_text

_WANTED = "expected two words and a score, separated by tabs, commas, semicolons or spaces"
_PARTS_OF_SPEECH = {"n": "noun", "v": "verb", "a": "adjective", "j": "adjective", "r": "adverb"}


@dataclass(frozen=True, eq=False)
class WordPairs:
    """Pairs of words and how near people find them.

    Attributes
    ----------
    name
        What tables call the set.
    first, second
        The words of each pair, as they are spelt in the file.
    scores
        Human judgements; higher is nearer.
    parts_of_speech
        "noun", "verb", "adjective" or "adverb" for each pair, if the file says so; else None.
    """

    name: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    scores: NDArray[np.float64]
    parts_of_speech: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.first)

    def every_second(self, start: int) -> WordPairs:
        """Take every second pair, from the first (0) or the second (1) on."""
        kinds = self.parts_of_speech
        part = slice(start, None, 2)
        return WordPairs(
            self.name, self.first[part], self.second[part], self.scores[part], kinds and kinds[part]
        )


def load_pairs(source: str | Path, data: str | Path | None = None, *, download: bool = False) -> WordPairs:
    """Read a published set by its name, or any file of pairs.

    Parameters
    ----------
    source
        Name of a set, such as "WS-353" or "simlex", or the path of a file: two words and a score per line.
    data
        Folder with the published sets, see `omnitm.evaluation.datasets.locate`.
    """
    if known_set(str(source)) is None and Path(source).is_file():
        return read_pairs(Path(source))
    known = data_set(str(source), "pairs")
    pairs = read_pairs(locate(known, data, download=download), known.name)
    return pairs if known.lines is None else pairs.every_second(0 if known.lines == "odd" else 1)


def read_pairs(path: str | Path, name: str | None = None) -> WordPairs:
    """Read a table of word pairs: tabs, commas, semicolons or spaces, with or without a header.

    A column between the words and the score, and endings such as in `run-v`, are taken for parts of speech.
    """
    path = Path(path)
    rows = _split(path, read_text(path))
    if not rows:
        raise FileError(path, f"has no pairs; {_WANTED}")
    column = _score_column(rows[0][1])
    if column is None:  # the first line is a header
        rows = rows[1:]
        column = _score_column(rows[0][1]) if rows else 2
    if column is None:
        raise FileError(path, f"line {rows[0][0]}: {_shown(rows[0][1])} has no score; {_WANTED}")
    checked = [_pair(path, number, fields, column) for number, fields in rows]
    if not checked:
        raise FileError(path, f"has a header but no pairs; {_WANTED}")
    kinds = tuple(_PARTS_OF_SPEECH.get(fields[2].strip().lower(), "other") for _, fields in rows)
    first, second = [pair[0] for pair in checked], [pair[1] for pair in checked]
    tagged = _parts_of_tagged(first, second)
    if tagged:
        first, second = [word[:-2] for word in first], [word[:-2] for word in second]
    scores = np.array([pair[2] for pair in checked])
    return WordPairs(name or path.stem, tuple(first), tuple(second), scores, kinds if column > 2 else tagged)


def spelling(word: str, knows: Callable[[str], bool]) -> str | None:
    """Return a word as a vocabulary spells it: as it is, or in lower case; None if it has neither."""
    return next((form for form in (word, word.lower()) if knows(form)), None)


def scores_of_all_pairs(
    pairs: WordPairs,
    vocabulary: Sequence[str],
    rows_of: Callable[[Sequence[str]], Iterable[NDArray[np.floating[Any]]]],
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Score all pairs of a set, unknown words included; also returns which pairs are known.

    An expression such as `formic_acid` that is no word of the vocabulary is scored by its known parts: the
    mean over all pairs of parts. A pair with a word of which nothing is known gets the mean of known pairs.

    Parameters
    ----------
    rows_of
        For some words, a row of scores each, in the order of `vocabulary`.
    """
    places = {word: place for place, word in enumerate(vocabulary)}
    parts = {word: _known_parts(word, places) for word in {*pairs.first, *pairs.second}}
    wanted = sorted({part for word in pairs.first for part in parts[word]}, key=places.__getitem__)
    others: dict[str, set[str]] = {}
    for first, second in zip(pairs.first, pairs.second, strict=True):
        for part in parts[first]:
            others.setdefault(part, set()).update(parts[second])
    found = {
        word: {other: float(row[places[other]]) for other in others[word]}
        for word, row in zip(wanted, rows_of(wanted), strict=True)
    }
    scores = np.full(len(pairs), np.nan)
    for number, (first, second) in enumerate(zip(pairs.first, pairs.second, strict=True)):
        if parts[first] and parts[second]:
            scores[number] = np.mean([found[a][b] for a in parts[first] for b in parts[second]])
    known = np.isfinite(scores)
    scores[~known] = scores[known].mean() if known.any() else 0.0
    return scores, known


def _known_parts(word: str, places: Mapping[str, int]) -> list[str]:
    """Return the word itself as the vocabulary spells it, or the known parts of an expression."""
    whole = spelling(word, places.__contains__)
    if whole is not None:
        return [whole]
    parts = (spelling(part, places.__contains__) for part in word.split("_"))
    return [part for part in parts if part is not None]


def _split(path: Path, text: str) -> list[tuple[int, list[str]]]:
    """Split lines into fields by the first separator that the file uses; lines keep their numbers."""
    lines = [
        (number, line)
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    separator = next((mark for mark in "\t,;" if lines and mark in lines[0][1]), None)
    if separator is None:
        return [(number, line.split()) for number, line in lines]
    try:
        return [
            (number, next(csv.reader([line], delimiter=separator, skipinitialspace=True, strict=True)))
            for number, line in lines
        ]
    except csv.Error as error:
        raise FileError(path, f"has a line that is no table row ({error}); {_WANTED}") from None


def _score_column(fields: list[str]) -> int | None:
    return next((column for column in range(2, len(fields)) if _number(fields[column]) is not None), None)


def _pair(path: Path, number: int, fields: list[str], column: int) -> tuple[str, str, float]:
    score = _number(fields[column]) if len(fields) > column else None
    words = [field.strip() for field in fields[:2]]
    if score is None or not all(words):
        raise FileError(path, f"line {number}: {_shown(fields)} is not a pair; {_WANTED}")
    if not math.isfinite(score):
        raise FileError(path, f"line {number}: the score {fields[column]!r} is not a finite number")
    return words[0], words[1], score


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _shown(fields: list[str]) -> str:
    text = " ".join(fields)
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _parts_of_tagged(first: list[str], second: list[str]) -> tuple[str, ...] | None:
    """Read parts of speech from words like `run-v`, if all words have such an ending."""
    if not all(re.fullmatch(r".+-[nvjra]", word) for word in [*first, *second]):
        return None
    kinds = ((_PARTS_OF_SPEECH[a[-1]], _PARTS_OF_SPEECH[b[-1]]) for a, b in zip(first, second, strict=True))
    return tuple(a if a == b else "mixed" for a, b in kinds)
