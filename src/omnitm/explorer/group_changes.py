"""How the use of words differs between groups of documents, for the page: one word, or a list of them."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import warnings
from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from omnitm.comparison.corpora import (
    LOG_VERSION,
    N_WORDS,
    CorpusComparison,
    WordChange,
    compare_corpora,
    kept_comparison,
)
from omnitm.comparison.report import shown
from omnitm.comparison.sides import ALL_OTHERS, Sides
from omnitm.comparison.words import N_EXAMPLES, N_PERMUTATIONS, compare, read_excerpts
from omnitm.corpus.groups import Grouping, read_groupings
from omnitm.errors import FileError, OmniTMError, OmniTMWarning, ParameterError
from omnitm.explain import Explainer
from omnitm.explorer.background import Work
from omnitm.files import available_cores
from omnitm.store.similarity_cache import beside_model

_MOST_LABELS = 500  # of a grouping that can be chosen in the page
_MOST_SIDES = 4  # whose features are kept
_MOST_WORDS = 100  # compared words that are kept
_MOST_WAITING = 20
_N_PREVIEW = 3
_PATIENCE = 2.0  # seconds that a question waits for its answer; then it says how far the work has come


class Chosen(NamedTuple):
    """Two groups that are compared."""

    by: str
    first: str
    second: str


class GroupChanges:
    """Compares the groups of an index in the background.

    Parameters
    ----------
    explainer
        The model with its index.
    saved
        Words that were compared by `omnitm compare -o change.json`, to be shown, too. Those compared here are
        kept beside the model.
    """

    def __init__(self, explainer: Explainer, saved: Path | None = None) -> None:
        self._index, self._model = explainer.index, explainer.path
        self._sides: OrderedDict[Chosen, Sides] = OrderedDict()
        self._words: OrderedDict[tuple[Chosen, str], Work] = OrderedDict()
        self._lists: dict[Chosen, Work] = {}
        self._kept: dict[Chosen, CorpusComparison] = {}
        self._lock, self._one_at_a_time = threading.Lock(), threading.Lock()
        if saved is not None:
            found = _read_saved(saved)
            chosen = Chosen(found.by, found.first, found.second)
            if found.by not in self._groupings:
                raise FileError(saved, f"compares groups {found.by!r}, which the index of this model has not")
            self._sides_of(chosen)
            self._kept[chosen] = found

    @cached_property
    def _groupings(self) -> dict[str, Grouping]:
        found = {} if self._index.path is None else read_groupings(self._index.path)
        return {name: grouping for name, grouping in found.items() if len(grouping.labels) > 1}

    @cached_property
    def groupings(self) -> list[dict[str, Any]]:
        """What documents can be compared by: the groups of each, the largest if there are many."""
        return [self._described(grouping) for grouping in self._groupings.values()]

    def _described(self, grouping: Grouping) -> dict[str, Any]:
        n_labels = len(grouping.labels)
        sizes = np.bincount(grouping.numbers[grouping.numbers < n_labels], minlength=n_labels)
        largest = np.argsort(-sizes, kind="stable")
        listed = sorted(largest[:_MOST_LABELS].tolist())
        saved = next((chosen for chosen in self._kept if chosen.by == grouping.name), None)
        if saved is not None:
            pair = [saved.first, saved.second]
        elif n_labels == 2 or grouping.is_ordered:
            pair = [grouping.labels[0], grouping.labels[-1]]
        else:
            pair = [ALL_OTHERS, grouping.labels[largest[0]]]
        return {
            "name": grouping.name,
            "n_labels": n_labels,
            "labels": [[grouping.labels[k], int(sizes[k])] for k in listed],
            "usual": pair,
            "all_others": ALL_OTHERS,
        }

    def choose(self, by: str, first: str, second: str) -> Chosen:
        """Complete what an address says about the groups."""
        if not self.groupings:
            raise ParameterError(
                "The documents of this index are in no groups; make some: omnitm group --help."
            )
        described = next((one for one in self.groupings if one["name"] == by), None)
        if described is None:
            if by:
                raise ParameterError(f"The documents of this index are not grouped by {by!r}.")
            described = self.groupings[0]
        usual = described["usual"]
        return Chosen(described["name"], first or usual[0], second or usual[1])

    def _sides_of(self, chosen: Chosen) -> Sides:
        with self._lock:
            if chosen not in self._sides:
                groups = [chosen.second] if chosen.first == ALL_OTHERS else [chosen.first, chosen.second]
                self._sides[chosen] = Sides(self._index, self._groupings[chosen.by], groups)
            _bounded(self._sides, chosen, _MOST_SIDES)
            return self._sides[chosen]

    def word(self, chosen: Chosen, word: str) -> dict[str, Any]:
        """Compare the use of a word, or say how far that has come."""
        word = self._index.known_word(word)
        among = next((one for one in self._listed(chosen) if one.comparison.word == word), None)
        if among is not None:
            [found] = read_excerpts(self._index, [among.comparison])
            return {**chosen._asdict(), "work": None, "found": shown(found, among.q)}
        sides = self._sides_of(chosen)
        sides.check(word)
        work = self._word_work(chosen, sides, word)
        if not work.wait(_PATIENCE):
            return {**chosen._asdict(), "work": work.state(), "found": None}
        if work.problem is not None:
            self._words.pop((chosen, word), None)
            raise work.problem
        return {**chosen._asdict(), "work": None, "found": shown(work.result)}

    def _word_work(self, chosen: Chosen, sides: Sides, word: str) -> Work:
        def action(work: Work) -> Any:
            work.tell("waiting for another word")
            with self._one_at_a_time:
                _prepare(sides, work)
                work.tell(f"comparing {word}")
                return compare(self._index, word, by=sides)

        with self._lock:
            if (chosen, word) not in self._words:
                if sum(not work.wait(0) for work in self._words.values()) >= _MOST_WAITING:
                    raise OmniTMError("many words are being compared; wait a moment and ask again")
                self._words[chosen, word] = Work(action)
            _bounded(self._words, (chosen, word), _MOST_WORDS)
            return self._words[chosen, word]

    def changes(self, chosen: Chosen, count: int) -> dict[str, Any]:
        """Rank the words that were compared, and say how far a comparison of many has come."""
        n_comparable = int(self._sides_of(chosen).has_enough.sum())
        rows, work = self._listed(chosen), self._lists.get(chosen)
        is_working = work is not None and (not work.wait(0) or work.problem is not None)
        return {
            **chosen._asdict(),
            "n_wanted": min(N_WORDS, n_comparable),
            "n_words": len(rows),
            "n_sure": sum(shown(row.comparison, row.q)["is_sure"] for row in rows),
            "words": [_short(row) for row in rows[:count]],
            "work": work.state() if work is not None and is_working else None,
        }

    def start(self, chosen: Chosen) -> None:
        """Begin to compare the most frequent words, unless that was done."""
        sides = self._sides_of(chosen)
        self._listed(chosen)  # removes a damaged file, so that a new one can be made
        with self._lock:
            work = self._lists.get(chosen)
            if work is None or work.problem is not None:
                self._lists[chosen] = Work(lambda work: self._compare_many(chosen, sides, work))

    def _compare_many(self, chosen: Chosen, sides: Sides, work: Work) -> CorpusComparison:
        with self._one_at_a_time:
            _prepare(sides, work)
        return compare_corpora(
            self._index,
            by=sides,
            n_threads=max(available_cores() - 1, 1),
            log=self._place(chosen),
            progress=lambda news: work.tell("comparing words", news.done, news.total),
        )

    def _listed(self, chosen: Chosen) -> Sequence[WordChange]:
        """Words that were compared with others: here, earlier, or by the command line."""
        work, place = self._lists.get(chosen), self._place(chosen)
        if work is not None and work.wait(0) and work.result is not None:
            return list(work.result.words)
        if chosen not in self._kept and work is None and place is not None and place.exists():
            try:
                self._kept[chosen] = kept_comparison(self._sides_of(chosen), place)
            except FileError as error:
                warnings.warn(f"{error}; it is made again", OmniTMWarning, stacklevel=2)
                place.unlink(missing_ok=True)
        kept = self._kept.get(chosen)
        return [] if kept is None else list(kept.words)

    def _place(self, chosen: Chosen) -> Path | None:
        """Name the file beside the model that compared words are kept in; None if it cannot be written."""
        if self._model is None:
            return None
        facts = [*chosen, self._index.seal, N_PERMUTATIONS, N_EXAMPLES, LOG_VERSION]
        digest = hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]
        place = beside_model(self._model, f"changes-{digest}.jsonl")
        return place if os.access(place.parent, os.W_OK) else None

    def stop(self) -> None:
        """Stop all work."""
        for work in (*self._lists.values(), *self._words.values()):
            work.stop()


def _read_saved(path: Path) -> CorpusComparison:
    try:
        return CorpusComparison.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        problem = "is no comparison; make one: omnitm compare INDEX --by GROUPS -o change.json"
        raise FileError(path, problem) from None


def _prepare(sides: Sides, work: Work) -> None:
    work.tell("finding which features go together, once for these groups")
    _ = sides.features


def _bounded(kept: OrderedDict[Any, Any], newest: Any, most: int) -> None:
    """Forget what was asked for the longest time ago."""
    kept.move_to_end(newest)
    while len(kept) > most:
        kept.popitem(last=False)


def _short(row: WordChange) -> dict[str, Any]:
    found = shown(row.comparison, row.q)
    named = {name: found[name] for name in ("word", "chance", "rate", "is_sure", "distance")}
    phrases = [[change["phrase"] for change in side["changes"][:_N_PREVIEW]] for side in found["sides"]]
    return {**named, "previews": phrases}
