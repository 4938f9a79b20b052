"""Why a classifier decided as it did: the clauses that fired, and what each word of the document changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from omnitm.machine.classifier_banks import ClauseBanks, IncludedLiterals


class FiredClause(NamedTuple):
    """A clause that is true of the document."""

    label: Any
    """The class it votes on."""
    number: int
    """Its place among the clauses of the class."""
    weight: int
    """Its vote: positive for the class, negative against it."""
    present: tuple[str, ...]
    """Words that must occur."""
    absent: tuple[str, ...]
    """Words that must not occur."""

    def __str__(self) -> str:
        parts = [*self.present, *(f"not {word}" for word in self.absent[:8])]
        more = f" and not {len(self.absent) - 8} more" if len(self.absent) > 8 else ""
        return f"{self.weight:+d} for {self.label}: {' and '.join(parts)}{more}"


class WordEffect(NamedTuple):
    """What one word of the document does to the decision."""

    word: str
    effect: int
    """How much smaller the winner's lead would be without the word; negative: how much larger."""


@dataclass(frozen=True)
class Explanation:
    """A decision on one document and its reasons, the weightiest first."""

    label: Any
    """The class decided on."""
    votes: dict[Any, int]
    """The vote on every class."""
    clauses: tuple[FiredClause, ...]
    """Clauses that are true of the document."""
    words: tuple[WordEffect, ...]
    """The document's words."""

    def __str__(self) -> str:
        votes = ", ".join(f"{label} {vote:+d}" for label, vote in self.votes.items())
        words = ", ".join(f"{word} {effect:+d}" for word, effect in self.words[:10]) or "none"
        rules = "\n".join(f"  {clause}" for clause in self.clauses[:5])
        fired = f"{len(self.clauses)} clauses fired, the weightiest:\n{rules}" if rules else "no clause fired"
        return f"{self.label} (votes: {votes})\nwords: {words}\n{fired}"


class _Verdicts(NamedTuple):
    """What one class's clauses say of a document."""

    fired: NDArray[np.int64]
    vote: int
    lost: NDArray[np.int64]
    """Per word: by how much the vote would fall without it; negative: rise."""


def explain_document(
    banks: ClauseBanks,
    included: Sequence[IncludedLiterals],
    words: NDArray[np.int64],
    classes: NDArray[Any],
    names: Sequence[str],
) -> Explanation:
    """Find out which clauses are true of a set of words, and what each word changes."""
    truth = np.zeros(2 * banks.n_words, dtype=bool)
    truth[banks.n_words :] = True
    truth[words], truth[banks.n_words + words] = True, False
    verdicts = [_ask(banks.weights[k], lists, truth) for k, lists in enumerate(included)]
    votes = np.array([verdict.vote for verdict in verdicts])
    winner = int(votes.argmax())
    rival = int(np.where(np.arange(len(votes)) == winner, np.iinfo(np.int64).min, votes).argmax())
    effects = (verdicts[winner].lost - verdicts[rival].lost)[words]
    ranked = np.argsort(-np.abs(effects), kind="stable")
    fired = [
        FiredClause(
            classes[k],
            clause,
            int(banks.weights[k, clause]),
            *_words_of(included[k].of(clause), banks.n_words, names),
        )
        for k, verdict in enumerate(verdicts)
        for clause in verdict.fired.tolist()
    ]
    return Explanation(
        classes[winner],
        dict(zip(classes.tolist(), votes.tolist(), strict=True)),
        tuple(sorted(fired, key=lambda clause: -abs(clause.weight))),
        tuple(WordEffect(names[words[k]], int(effects[k])) for k in ranked),
    )


def _ask(weights: NDArray[np.int32], lists: IncludedLiterals, truth: NDArray[np.bool_]) -> _Verdicts:
    """Evaluate the clauses; a word's loss counts those that its removal alone would silence or set off."""
    n_words, bounds = len(truth) // 2, lists.offsets.astype(np.int64)
    sizes = bounds[1:] - bounds[:-1]
    clause = np.repeat(np.arange(len(sizes)), sizes)
    is_false = ~truth[lists.literals]
    n_false = np.bincount(clause[is_false], minlength=len(sizes))
    fired = (n_false == 0) & (sizes > 0)
    lost = np.zeros(n_words, dtype=np.int64)
    silenced = fired[clause] & (lists.literals < n_words)
    np.add.at(lost, lists.literals[silenced], weights[clause[silenced]])
    set_off = is_false & (n_false[clause] == 1) & (lists.literals >= n_words)
    pair = clause * n_words + lists.literals.astype(np.int64) % n_words
    set_off &= ~np.isin(pair, pair[lists.literals < n_words])  # "w and not w" stays false without w
    np.subtract.at(lost, lists.literals[set_off] - n_words, weights[clause[set_off]])
    return _Verdicts(np.flatnonzero(fired), int(weights[fired].sum()), lost)


def _words_of(
    literals: NDArray[np.uint32], n_words: int, names: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split literals into the words that must occur and those that must not."""
    numbers = literals.tolist()
    present = tuple(names[literal] for literal in numbers if literal < n_words)
    return present, tuple(names[literal - n_words] for literal in numbers if literal >= n_words)
