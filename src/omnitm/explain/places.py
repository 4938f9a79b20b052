"""Rules about where words stand: at which places of the running text they hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus import RunningText
from omnitm.corpus.assembling import GAP
from omnitm.corpus.cooccurrence import shared
from omnitm.corpus.passages import Counted
from omnitm.corpus.running import JOINED_COLUMN, JOINED_OFFSETS, OFFSETS, parted
from omnitm.explain.evidence import spread
from omnitm.explain.matches import Match, Rates, RuledOut, share
from omnitm.explain.rules import Rule
from omnitm.machine import Examples, running_of

Literal = tuple[int, int]  # a column and the number of a word, see `RunningText.holds`
_PLACES_AT_A_TIME = 1_000_000


def match_place_rule(
    index: Counted,
    word: str,
    present: Sequence[str],
    absent: Sequence[str],
    n_documents: int = 1,
    *,
    joiners: Sequence[int] = (),
) -> Match:
    """Find the places that satisfy a rule of coordinates such as `was _`, and those where the word stands."""
    running, number = running_of(index), index.word_id(word)
    places, mine = matching_places(running, present, absent, joiners), running.places_of(number)
    hits = shared(places, mine)
    match = Match.of(len(places), len(hits), len(mine), running.n_running_words)
    if not n_documents:
        return match
    is_miss = np.ones(len(places), dtype=bool)
    is_miss[np.searchsorted(places, hits)] = False
    shown = (
        np.unique(index.documents_at(np.array(spread(found, n_documents), dtype=np.int64))).tolist()
        for found in (hits, places[is_miss])
    )
    return match.with_documents(index, *shown)


def ruled_out_places(
    running: RunningText, present: Sequence[str], absent: Sequence[str], *, joiners: Sequence[int] = ()
) -> RuledOut:
    """Count the places that have all neighbours of `present`, and those of them that have each of `absent`.

    Examples
    --------
    >>> from omnitm.corpus import DocumentIndex
    >>> running = DocumentIndex.from_documents(["the cat sat", "the dog sat", "the cat"]).running
    >>> ruled_out_places(running, ["the _"], ["_ sat", "_ cat"])
    RuledOut(candidates=3, by_word=[2, 0])
    """
    literals = _literals(running, absent)
    candidates, counts = 0, np.zeros(len(literals), dtype=np.int64)
    for places in _blocks(matching_places(running, present, [], joiners)):
        candidates += len(places)
        counts += [int(running.holds(places, *literal, joiners).sum()) for literal in literals]
    return RuledOut(candidates, counts.tolist())


def matching_places(
    running: RunningText, present: Sequence[str], absent: Sequence[str], joiners: Sequence[int] = ()
) -> NDArray[np.uint32]:
    """Ascending places of the words whose neighbours have all of `present` and none of `absent`.

    Parameters
    ----------
    joiners
        Numbers of the words that join others, for coordinates such as `_ & women`.

    Examples
    --------
    >>> from omnitm.corpus import DocumentIndex
    >>> running = DocumentIndex.from_documents(["the cat sat", "the dog sat", "a cat"]).running
    >>> [running.names[running.tokens[place]] for place in matching_places(running, ["the _"], ["_ * sat"])]
    ['cat', 'dog']
    """
    wanted, unwanted = _literals(running, present), _literals(running, absent)
    found = [np.zeros(0, dtype=np.uint32)]
    for places in _candidates(running, wanted):
        # Each literal leaves fewer places for the next one to be looked for.
        for literals, is_wanted in ((wanted, True), (unwanted, False)):
            for literal in literals:
                places = places[running.holds(places, *literal, joiners) == is_wanted]  # noqa: PLW2901
        found.append(places.astype(np.uint32))
    together = np.concatenate(found)
    # A word may be joined with the same one on both sides.
    has_joined = any(column == JOINED_COLUMN for column, _ in wanted)
    return np.unique(together) if has_joined else together


def place_rates(
    running: RunningText, rules: Sequence[Rule], examples: Examples, joiners: Sequence[int]
) -> list[Rates]:
    """In what share of examples of places of the word, and of other words, each rule holds."""
    shape, places = examples.documents.shape, examples.documents.reshape(-1).astype(np.int64)

    def occurs(feature: str) -> NDArray[np.bool_]:
        [literal] = _literals(running, [feature])
        return np.asarray(running.holds(places, *literal, joiners).reshape(shape).any(axis=1))

    rates = []
    for rule in rules:
        holds = np.ones(shape[0], dtype=bool)
        for literal in rule.literals:
            holds &= occurs(literal.word) != literal.negated
        rates.append((share(holds, examples.labels), share(holds, ~examples.labels)))
    return rates


def _literals(running: RunningText, features: Sequence[str]) -> list[Literal]:
    return [(column, running.number(word)) for column, word in map(parted, features)]


def _candidates(running: RunningText, wanted: Sequence[Literal]) -> Iterator[NDArray[np.int64]]:
    """Blocks of ascending places: all, or those beside the rarest neighbour that is wanted."""
    tokens = running.tokens
    if not wanted:
        for start in range(0, len(tokens), _PLACES_AT_A_TIME):
            # Marks and ends of documents are the largest numbers.
            yield start + np.flatnonzero(tokens[start : start + _PLACES_AT_A_TIME] < GAP)
        return
    column, number = min(wanted, key=lambda literal: int(running.counts[literal[1]]))
    # A word at place q stands beside places q - offset.
    for offset in JOINED_OFFSETS if column == JOINED_COLUMN else (OFFSETS[column],):
        for beside in _blocks(running.places_of(number)):
            places = beside - offset
            places = places[(places > 0) & (places < len(tokens) - 1)]
            yield places[tokens[places] < GAP]


def _blocks(places: NDArray[np.uint32]) -> Iterator[NDArray[np.int64]]:
    for start in range(0, len(places), _PLACES_AT_A_TIME):
        yield places[start : start + _PLACES_AT_A_TIME].astype(np.int64)
