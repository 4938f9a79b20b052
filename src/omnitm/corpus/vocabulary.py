"""Which words are kept: limits on counts, words kept anyway, or a list fixed in advance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitm._native import WordTable
from omnitm.errors import CorpusError, ParameterError
from omnitm.parameters import check_integer, check_real

NO_LIMIT = 2**63 - 1
MOST_OTHER_WORDS = 100_000  # outside the vocabulary, that a running text tells apart


@dataclass(frozen=True)
class VocabularyRules:
    """Which words make the vocabulary; the default is the paper's 40,000 most frequent ones.

    Parameters
    ----------
    max_words
        Keep the most frequent ones, at most this many (ties: alphabetical order); None keeps all.
    min_count
        Fewest occurrences.
    min_documents, max_documents
        Fewest and most documents: a number of documents (int), or a share of all documents (float).
    keep
        Words to keep whatever their counts, even stop words, provided that they occur.
    fixed
        The vocabulary itself, in this order; the other rules then don't apply.
    """

    max_words: int | None = 40_000
    min_count: int = 1
    min_documents: float = 1
    max_documents: float = 1.0
    keep: Sequence[str] = ()
    fixed: Sequence[str] | None = None

    def __post_init__(self) -> None:
        owner = "VocabularyRules"
        if self.max_words is not None:
            check_integer(owner, "max_words", self.max_words, 1)
        check_integer(owner, "min_count", self.min_count, 1)
        for name in ("min_documents", "max_documents"):
            limit: Any = getattr(self, name)
            if isinstance(limit, Integral):
                check_integer(owner, name, limit, 1)
            else:
                check_real(owner, name, limit, 0.0, 1.0)
        object.__setattr__(self, "keep", _checked_words("keep", self.keep))
        if self.fixed is not None:
            object.__setattr__(self, "fixed", _checked_words("fixed", self.fixed))
            if not self.fixed:
                raise ParameterError("The 'fixed' vocabulary is empty; give at least one word.")

    def to_json(self) -> dict[str, Any]:
        """Rules as plain values; a fixed vocabulary stands in its own file."""
        options = asdict(self)
        options["keep"] = list(self.keep)
        options["fixed"] = self.fixed is not None
        return options

    def document_limits(self, n_documents: int) -> tuple[int, int]:
        """Fewest and most documents as numbers."""
        low: Any = self.min_documents
        high: Any = self.max_documents
        # Shares are rounded inwards: "at least 10 %" of 15 documents are 2, "at most 50 %" are 7.
        fewest = low if isinstance(low, Integral) else math.ceil(low * n_documents)
        most = high if isinstance(high, Integral) else math.floor(high * n_documents)
        return int(fewest), int(most)


@dataclass
class Tally:
    """How many different words, and how many of their occurrences."""

    types: int = 0
    tokens: int = 0

    def add(self, counted: tuple[int, int]) -> None:
        """Count more."""
        self.types += counted[0]
        self.tokens += counted[1]


@dataclass
class IndexSummary:
    """What went into an index, what was dropped, and why."""

    n_documents: int = 0
    n_empty_documents: int = 0
    n_pairs: int = 0
    all_words: Tally = field(default_factory=Tally)
    kept: Tally = field(default_factory=Tally)
    dropped: dict[str, Tally] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)

    @property
    def coverage(self) -> float:
        """Share of all words of the text, stop words and all, that the vocabulary covers."""
        return self.kept.tokens / self.all_words.tokens if self.all_words.tokens else 0.0

    @property
    def coverage_without_stop_words(self) -> float:
        """The same share of the words that are not stop words."""
        content = self.all_words.tokens - self.dropped.get("stop words", Tally()).tokens
        return self.kept.tokens / content if content else 0.0

    def to_json(self) -> dict[str, Any]:
        """All figures as plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, figures: Mapping[str, Any]) -> IndexSummary:
        """Figures as recorded."""
        figures = dict(figures)
        for name in ("all_words", "kept"):
            figures[name] = Tally(**figures[name])
        figures["dropped"] = {reason: Tally(**tally) for reason, tally in figures["dropped"].items()}
        return cls(**figures)


class _MostFrequent:
    """The most frequent words of several tables, at most `limit`, in the order of the vocabulary."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.words: list[tuple[int, str]] = []  # minus the count, word
        self.floor = (0, b"")  # the last word to be kept so far: those after it need not be looked at

    def add(self, records: Any) -> None:
        letters, lengths, counts, _, _ = records
        self.words += zip((-counts.astype(np.int64)).tolist(), spelled(letters, lengths), strict=True)
        self.words.sort()  # quick: two parts that are sorted already
        del self.words[self.limit :]
        if self.words and len(self.words) == self.limit:
            count, word = self.words[-1]
            self.floor = (-count, word.encode())


class VocabularyChoice:
    """Chooses the vocabulary from one or more tables that share no word.

    Parameters
    ----------
    n_others
        How many words outside the vocabulary are wanted for a running text.
    """

    def __init__(
        self, rules: VocabularyRules, keep: Sequence[str], n_documents: int, n_others: int = 0
    ) -> None:
        self._rules = rules
        self._named = list(rules.fixed if rules.fixed is not None else keep)
        self._named_bytes = [word.encode() for word in self._named]
        self._named_counts = np.zeros(len(self._named), dtype=np.uint64)
        self._named_documents = np.zeros(len(self._named), dtype=np.uint64)
        self._limits = (
            (1, 0, NO_LIMIT)
            if rules.fixed is not None
            else (rules.min_count, *rules.document_limits(n_documents))
        )
        self._most = NO_LIMIT if rules.max_words is None else rules.max_words
        # Words of a fixed vocabulary may be among the most frequent, and are not "other" words: room for
        # them, too.
        beyond = n_others + len(rules.fixed or ()) if n_others else 0
        self._candidates = _MostFrequent((0 if rules.fixed is not None else self._most) + beyond)
        self._others = _MostFrequent(n_others)
        self.stop, self.rare, self.frequent, self.passed = Tally(), Tally(), Tally(), Tally()

    def look_at(self, table: WordTable) -> None:
        """Take candidates and figures from a table."""
        candidates, others = self._candidates, self._others
        words, other_words, *tallies = table.select(
            *self._limits, candidates.limit, *candidates.floor, others.limit, *others.floor
        )
        for tally, counted in zip((self.stop, self.rare, self.frequent, self.passed), tallies, strict=True):
            tally.add(counted)
        counts, documents = table.lookup(self._named_bytes)
        self._named_counts += counts
        self._named_documents += documents
        candidates.add(words)
        others.add(other_words)

    def vocabulary(self) -> tuple[list[str], NDArray[np.uint64]]:
        """Words and how often each occurs: most frequent first, or in the order that was fixed."""
        if self._rules.fixed is not None:
            return self._named, self._named_counts
        named = {
            word: -count
            for word, count in zip(self._named, self._named_counts.tolist(), strict=True)
            if count
        }
        others = [candidate for candidate in self._candidates.words if candidate[1] not in named]
        # Words to keep take their places first; the others share what is left of the limit.
        ordered = others[: max(0, self._most - len(named))]
        ordered += ((count, word) for word, count in named.items())
        ordered.sort()
        return [word for _, word in ordered], np.array([-count for count, _ in ordered], dtype=np.uint64)

    def other_words(self, vocabulary: Sequence[str]) -> list[str]:
        """Name the most frequent words outside the vocabulary, stop words and rare words included."""
        known = set(vocabulary)
        found = [*self._candidates.words, *self._others.words]
        found.sort()
        return [word for _, word in found if word not in known][: self._others.limit]

    def summarize(self, kept_counts: NDArray[np.uint64], n_too_long: int) -> IndexSummary:
        """Say how many words were kept, and how many dropped for which reason."""
        self._forgive_named_words()
        kept = Tally(int(np.count_nonzero(kept_counts)), int(kept_counts.sum()))
        beyond = Tally(self.passed.types - kept.types, self.passed.tokens - kept.tokens)
        label = (
            "not in the fixed vocabulary"
            if self._rules.fixed is not None
            else "beyond the largest vocabulary"
        )
        dropped = {
            "stop words": self.stop,
            "too rare": self.rare,
            "in too many documents": self.frequent,
            label: beyond,
            "longer than 65,535 bytes": Tally(0, n_too_long),
        }
        everything = Tally(kept.types, kept.tokens)
        for tally in dropped.values():
            everything.add((tally.types, tally.tokens))
        absent = [word for word, n in zip(self._named, self._named_counts.tolist(), strict=True) if not n]
        return IndexSummary(all_words=everything, kept=kept, dropped=dropped, absent=absent)

    def _forgive_named_words(self) -> None:
        """Count words to keep as passed, although limits excluded them."""
        min_count, fewest, most = self._limits
        for count, documents in zip(self._named_counts.tolist(), self._named_documents.tolist(), strict=True):
            too_rare = count < min_count or documents < fewest
            if count and (too_rare or documents > most):
                (self.rare if too_rare else self.frequent).add((-1, -count))
                self.passed.add((1, count))


def words_of(letters: NDArray[np.uint8], lengths: NDArray[np.uint16]) -> list[bytes]:
    """Words of a native record."""
    joined = letters.tobytes()
    ends = np.cumsum(lengths, dtype=np.int64).tolist()
    return [joined[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def spelled(letters: NDArray[np.uint8], lengths: NDArray[np.uint16]) -> list[str]:
    """Words of a native record as text, which all are decoded at once: none has a line break."""
    lines = np.insert(letters, np.cumsum(lengths, dtype=np.int64), ord("\n"))
    return lines.tobytes().decode().split("\n")[:-1]


def letters_of(words: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
    """Letters and lengths of words, as native code takes them."""
    lines = np.frombuffer("\n".join([*words, ""]).encode(), dtype=np.uint8)
    ends = np.flatnonzero(lines == ord("\n"))
    lengths = np.diff(ends, prepend=-1) - 1
    return lines[lines != ord("\n")], lengths.astype(np.uint16)


def _checked_words(name: str, words: Iterable[Any]) -> tuple[str, ...]:
    if isinstance(words, str):
        raise ParameterError(
            f"The {name!r} parameter of VocabularyRules must be a list of words. Got {words!r} instead."
        )
    checked = tuple(words)
    seen: set[str] = set()
    for word in checked:
        if not isinstance(word, str) or not word.strip() or "\n" in word or "\0" in word:
            raise CorpusError(
                f"A word of the vocabulary must be a str without line breaks. Got {word!r} instead."
            )
        if word in seen:
            raise CorpusError(f"The vocabulary names {word!r} twice; every word must stand in it once.")
        seen.add(word)
    return checked
