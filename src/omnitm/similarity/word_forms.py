"""Forms of a word, such as drive, drives and driving: found from the text alone, for any language.

1. Two words that begin alike differ by a pair of endings: `drives` and `driving` by (`es`, `ing`). The common
   beginning has three letters or more, and no fewer than either ending, which has at most four. Where the
   last letter of the beginning is doubled before an ending of two letters or more, as in plan and planning,
   the pair also counts for (``, `+ing`), whatever the letter is.
2. A pair of endings is a *rule* of the language if many pairs of words show it, and if more than half of them
   are about the same thing: the cosine of their smoothed profiles is above 0.3. (``, `s`) is one; (``, `t`),
   as in car and cart, and (`y`, `ened`), as in happy and happened, are none.
3. Two words are forms of each other if a rule connects them and they are about the same thing: the cosine is
   above 0.3; above 0.35 if fewer than 60 % of the rule's pairs are about the same thing (doctor, doctoral);
   above 0.5 if only three letters are common (Dio and dios), unless the third is doubled (run, running).
4. So are two words about the same thing that differ by hyphens alone: email and e-mail.

These numbers are for texts whose documents have clear subjects. In others, such as reviews, all words have
much the same company, and forms are less near each other. So the 0.3 is at most 0.45 times the median of the
pair of endings that most words show, but no less than the cosine that 3 % of random pairs exceed. The other
cosines are lower by the same factor, and the shares by its square root.

Beginnings are no rules: most of those that the text shows (un-, non-, anti-, semi-, sub-) make another word.
How often forms are right is judged in `benchmarks/results/word-forms-judged.tsv`.

A word counts 1 and each of its forms 1/2 wherever forms count with a word; of more than five, the five most
alike.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import chain, combinations, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from omnitm.similarity.row_profile import unit_rows

Reals = NDArray[np.float32]

FORM_WEIGHT = 0.5  # of the word's own weight, 1
SAME_THING = 0.3
PATTERNS_FOR_FORMS = 300  # the strongest ones: nearness is judged by these
MOST_FORMS = 5
_OF_MEDIAN = 0.45  # from which part of the usual cosine of forms on words are about the same thing
_RANDOM_SHARE = 0.97  # of random pairs are less near than words about the same thing
_RANDOM_PAIRS = 50_000
_SHORTEST_STEM = 3  # letters
_LONGEST_ENDING = 4  # letters, such as "ning" of "running"
_DOUBLED = "+"  # begins an ending before which the last letter of the common beginning is doubled
_SHORTEST_AFTER_DOUBLED = 2  # letters: names such as Jean and Jeanne are no forms
_LEAST_SHARE, _LARGE_SHARE = 0.5, 0.6  # of a rule's pairs that are about the same thing
_SAME_BY_WEAK_RULE, _SAME_OF_SHORT = 0.35, 0.5
_FEWEST_PAIRS = 10
_WORDS_PER_PAIR = 1_500  # 27 pairs make a rule among 40,000 words


@dataclass(frozen=True, eq=False)
class WordForms:
    """The forms of every word.

    Attributes
    ----------
    starts, members, weights
        With word w count the words `members[starts[w] : starts[w + 1]]`, itself first, then its forms, the
        most alike first; `weights` add up to 1.
    same_thing
        The cosine from which on words of this text are about the same thing: one number.
    """

    starts: NDArray[np.int64]
    members: NDArray[np.int32]
    weights: Reals
    same_thing: NDArray[np.float64]

    @classmethod
    def of(cls, words: Sequence[str], smooth: Reals) -> WordForms:
        """Find forms among words by their letters, and by their smoothed profiles of length 1."""
        pairs, cosines, same_thing = form_pairs(words, smooth)
        itself = np.arange(len(words), dtype=np.int32)
        word = np.concatenate([itself, pairs[:, 0], pairs[:, 1]])
        member = np.concatenate([itself, pairs[:, 1], pairs[:, 0]])
        # The word itself is nearest to itself, so that it comes first and is never cut off.
        nearness = np.concatenate([np.full(len(words), np.inf), cosines, cosines])
        order = np.lexsort((member, -nearness, word))
        word, member = word[order], member[order]
        # Rank among the forms of one word: sorted by word, so the first of each is found by bisection.
        place = np.arange(len(word)) - np.searchsorted(word, word)
        word, member = word[place <= MOST_FORMS], member[place <= MOST_FORMS]
        weight = np.where(word == member, 1.0, FORM_WEIGHT)
        # Weights of a word and its forms add up to 1.
        weight /= np.bincount(word, weights=weight, minlength=len(words))[word]
        starts = np.concatenate([[0], np.cumsum(np.bincount(word, minlength=len(words)))]).astype(np.int64)
        return cls(starts, member.astype(np.int32), weight.astype(np.float32), np.array([same_thing]))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def of_row(self, row: int) -> list[tuple[int, float]]:
        """List a word and its forms: rows, and weights that add up to 1."""
        part = slice(int(self.starts[row]), int(self.starts[row + 1]))
        return list(zip(self.members[part].tolist(), self.weights[part].tolist(), strict=True))

    def of_rows(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp], Reals]:
        """List the forms of some words: which of these words, the row of the form, its weight."""
        starts = self.starts[rows].astype(np.intp)
        counts = self.starts[rows + 1].astype(np.intp) - starts
        word = np.repeat(np.arange(len(rows)), counts)
        places = np.arange(len(word)) + np.repeat(starts - (np.cumsum(counts) - counts), counts)
        return word, self.members[places].astype(np.intp), self.weights[places]

    @cached_property
    def matrix(self) -> Any:
        """Weights as a sparse matrix, words x members: it averages rows of forms into rows of words."""
        from scipy.sparse import csr_matrix

        n_words = len(self.starts) - 1
        return csr_matrix((self.weights, self.members, self.starts), shape=(n_words, n_words))

    def weights_of(self, rows: NDArray[np.intp]) -> tuple[Any, NDArray[np.intp]]:
        """Weights of the forms of some words, a sparse matrix rows x forms, and the rows of these forms."""
        from scipy.sparse import csr_matrix

        weights = self.matrix[rows]
        forms, places = np.unique(weights.indices, return_inverse=True)
        parts = weights.data, places.reshape(-1), weights.indptr
        return csr_matrix(parts, shape=(len(rows), len(forms))), forms.astype(np.intp)


Rules = dict[tuple[str, str], list[tuple[int, int]]]
"""By pairs of endings: places of the pairs of words that differ by them."""


def cosine_of_same_thing(rules: Rules, smooth: Reals) -> float:
    """Find from which cosine on two words of a text are about the same thing: 0.3, or less."""
    largest = max(rules.values(), key=len, default=[])
    if not largest or not smooth.shape[1]:
        return SAME_THING
    usual = float(np.median(_cosines(smooth, np.array(largest))))
    first, second = np.random.default_rng(0).integers(0, len(smooth), size=(2, _RANDOM_PAIRS))
    kept = first != second
    random = _cosines(smooth, np.stack([first[kept], second[kept]], axis=1))
    found = max(_OF_MEDIAN * usual, float(np.quantile(random, _RANDOM_SHARE)))
    return min(SAME_THING, found) if found > 0 else SAME_THING


def _cosines(smooth: Reals, pairs: NDArray[Any]) -> Reals:
    """Cosines of pairs of rows of length 1."""
    return np.asarray(np.einsum("ij,ij->i", smooth[pairs[:, 0]], smooth[pairs[:, 1]]))


class FormPairs(NamedTuple):
    """Pairs of forms: their places among the words, each pair once, and how alike they are."""

    places: NDArray[np.int32]
    cosines: Reals
    same_thing: float  # the cosine from which on words of the text are about the same thing


def form_pairs(words: Sequence[str], smooth: Reals) -> FormPairs:
    """Find the pairs of words that are forms of each other."""
    found: dict[tuple[int, int], float] = {}
    fewest = max(_FEWEST_PAIRS, len(words) // _WORDS_PER_PAIR)
    rules = pairs_by_rule(words)
    same_thing = cosine_of_same_thing(rules, smooth)
    clearness = same_thing / SAME_THING  # of the text's subjects, at most 1
    for endings, pairs in rules.items():
        if len(pairs) < fewest:
            continue
        places = np.array(pairs, dtype=np.int32)
        cosines = _cosines(smooth, places)
        # A rule, such as "" -> "s", holds if most of its pairs are about the same thing; of a weak rule only
        # clearly alike pairs are taken, and short stems, which meet by chance, must be more alike still.
        share = (cosines > same_thing).mean()
        if share > _LEAST_SHARE * math.sqrt(clearness):
            needed = SAME_THING if share >= _LARGE_SHARE * math.sqrt(clearness) else _SAME_BY_WEAK_RULE
            # A doubled letter is as good as one more in common.
            stems = np.array([len(words[a]) - len(endings[0]) for a, _ in pairs]) + _is_doubled(endings)
            alike = cosines > clearness * np.where(stems <= _SHORTEST_STEM, _SAME_OF_SHORT, needed)
            both = np.sort(places[alike], axis=1).tolist()
            found.update(zip(map(tuple, both), cosines[alike].tolist(), strict=True))
    for pair in pairs_but_for_hyphens(words):
        cosine = float(smooth[pair[0]] @ smooth[pair[1]])
        if cosine > same_thing:
            found[pair] = cosine
    both_forms = sorted(found)
    cosines_of_forms = np.array([found[pair] for pair in both_forms], dtype=np.float32)
    return FormPairs(np.array(both_forms, dtype=np.int32).reshape(-1, 2), cosines_of_forms, same_thing)


def pairs_but_for_hyphens(words: Sequence[str]) -> list[tuple[int, int]]:
    """Find the pairs of words that differ by hyphens alone.

    >>> pairs_but_for_hyphens(["email", "mail", "e-mail"])
    [(0, 2)]
    """
    by_letters: dict[str, list[int]] = defaultdict(list)
    for place, word in enumerate(words):
        by_letters[word.replace("-", "")].append(place)
    return [pair for places in by_letters.values() for pair in combinations(places, 2)]


def share_of_rule(
    words: Sequence[str], smooth: Reals, endings: tuple[str, str], same_thing: float = SAME_THING
) -> float | None:
    """Tell how many of the pairs with two endings are about the same thing; None if they are no rule."""
    places = {word: place for place, word in enumerate(words)}
    first, second = endings
    stems = [word[: len(word) - len(first)] for word in words if word.endswith(first)]
    stems = [stem for stem in stems if len(stem) >= _SHORTEST_STEM and stem + second in places]
    if len(stems) < max(_FEWEST_PAIRS, len(words) // _WORDS_PER_PAIR):
        return None
    a, b = ([places[stem + ending] for stem in stems] for ending in endings)
    cosines = np.einsum("ij,ij->i", unit_rows(smooth[a]), unit_rows(smooth[b]))
    share = float((cosines > same_thing).mean())
    return share if share > _LEAST_SHARE * math.sqrt(same_thing / SAME_THING) else None


def n_common_letters(word: str, other: str) -> int:
    """Count the letters that two words begin with."""
    differ = (k for k, (a, b) in enumerate(zip(word, other, strict=False)) if a != b)
    return next(differ, min(len(word), len(other)))


def pairs_by_rule(words: Sequence[str]) -> Rules:
    """Find the pairs of words that begin alike, by the two endings in which they differ.

    >>> words = ["drive", "driving", "drives", "dragon"]
    >>> pairs_by_rule(words)
    {('e', 'ing'): [(0, 1)], ('es', 'ing'): [(2, 1)], ('', 's'): [(0, 2)]}
    >>> pairs_by_rule(["plan", "planning"])
    {('', 'ning'): [(0, 1)], ('', '+ing'): [(0, 1)]}
    """
    by_stem: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for place, word in enumerate(words):
        for length in range(max(_SHORTEST_STEM, len(word) - _LONGEST_ENDING), len(word) + 1):
            stem, ending = word[:length], word[length:]
            # The common beginning is at least as long as what is cut off, without a doubled letter.
            if length >= len(ending) - _doubles(stem, ending):
                # By the first letter that differs.
                by_stem[stem][ending[:1]].append(place)
    rules: Rules = defaultdict(list)
    for stem, by_letter in by_stem.items():
        groups = combinations(by_letter.values(), 2)
        for pair in chain.from_iterable(product(group, other) for group, other in groups):
            # Each rule once, under the shorter ending first.
            endings = sorted((len(words[place]), words[place][len(stem) :], place) for place in pair)
            (_, shorter, first), (_, longer, second) = endings
            if len(longer) <= len(stem):
                rules[shorter, longer].append((first, second))
            if _doubles(stem, longer):
                rules[shorter, _DOUBLED + longer[1:]].append((first, second))
    return dict(rules)


def _doubles(stem: str, ending: str) -> bool:
    """Tell whether the last letter of a stem is doubled before an ending: plan, planning."""
    return len(ending) > _SHORTEST_AFTER_DOUBLED and ending[0] == stem[-1]


def _is_doubled(endings: tuple[str, str]) -> bool:
    return endings[1].startswith(_DOUBLED)
