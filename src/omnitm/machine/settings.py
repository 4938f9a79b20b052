"""The settings of a Tsetlin machine autoencoder and of a classifier, and the keys that seed them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from omnitm.errors import ParameterError
from omnitm.parameters import check_choice, check_integer, check_real

Algorithm = Literal["exact", "fast"]
Contexts = Literal["topic", "place", "both"]
Kind = Literal["topic", "place"]

_FREQUENT = 1_500  # places; of fewer nearly all are seen
N_OFFSETS, _MOST_JOINERS = 4, 5  # as in corpus/running.py
_COMMA = 2**32 - 2  # as in corpus/assembling.py
FROM_THE_TEXT = ("joiners", "n_joined_features")  # settings about what a text joins: nobody gives them

#: The paper's similarity experiment, and the published code where the paper is silent.
PAPER: dict[str, Any] = {
    "n_clauses": 32,
    "threshold": 20_000,
    "specificity": 1.0,
    "accumulation": 24,
    "accumulation_growth": 4,
    "n_examples": 2_000,
    "n_epochs": 4,
    "algorithm": "exact",
    "state_bits": 8,
    "output_balancing": 0.5,
    "max_included_literals": 3,
    "contexts": "topic",
    "n_place_features": 10_000,
    "passage_reach": 0,
}


@dataclass(frozen=True, kw_only=True)
class AutoencoderSettings:
    """Everything but the corpus, the seed and the word that decides what a machine learns.

    Parameters
    ----------
    n_clauses, threshold, specificity, accumulation, accumulation_growth, n_examples, n_epochs, \
output_balancing, max_included_literals, n_place_features
        As for `omnitm.OmniTMAE`.
    n_joined_features
        How many of the most frequent words are features of place where they are joined with the word.
    passage_reach
        Topics are learned from passages: a word and so many words before and after it; 0: from whole
        documents.
    algorithm
        "exact" (the paper, as TMU computes it) or "fast" (FastOmniTMAE's simplification).
    state_bits
        Bits of an automaton's state; it is included from `2 ** (state_bits - 1)` on (*N*).
    contexts
        What a word is trained on: "topic" (the paper: documents that contain it), "place" (the words next to
        it), or "both", one machine for each.
    joiners
        Numbers of words such as *and*, and of the comma, see `omnitm.corpus.RunningText.joiners`: which
        words they join with the word are features of place, too; none: these are no features.
    """

    n_clauses: int = 32
    threshold: int = 20_000
    specificity: float = 1.0
    accumulation: int = 24
    accumulation_growth: int = 4
    n_examples: int = 500
    n_epochs: int = 1
    algorithm: Algorithm = "exact"
    state_bits: int = 8
    output_balancing: float = 0.5
    max_included_literals: int | None = 3
    contexts: Contexts = "topic"
    n_place_features: int = 10_000
    n_joined_features: int = 40_000
    passage_reach: int = 0
    joiners: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        owner = "OmniTMAE"
        check_integer(owner, "n_clauses", self.n_clauses, 1, 65_536)
        check_integer(owner, "threshold", self.threshold, 1, 2**30)
        check_real(owner, "specificity", self.specificity, 1.0)
        check_integer(owner, "accumulation", self.accumulation, 1, 65_536)
        check_integer(owner, "accumulation_growth", self.accumulation_growth, 1, 1_024)
        check_integer(owner, "n_examples", self.n_examples, 1, 2**30)
        check_integer(owner, "n_epochs", self.n_epochs, 1, 2**30)
        check_choice(owner, "algorithm", self.algorithm, ("exact", "fast"))
        check_integer(owner, "state_bits", self.state_bits, 4, 8)
        check_real(owner, "output_balancing", self.output_balancing, 0.0, 1.0)
        if self.max_included_literals is not None:
            check_integer(owner, "max_included_literals", self.max_included_literals, 0, 2**31 - 1)
        check_choice(owner, "contexts", self.contexts, ("topic", "place", "both"))
        check_integer(owner, "n_place_features", self.n_place_features, 1, 2**28)
        check_integer(owner, "n_joined_features", self.n_joined_features, 1, 2**28)
        check_integer(owner, "passage_reach", self.passage_reach, 0, 65_536)
        if self.passage_reach and self.contexts == "place":
            raise ParameterError(
                f"The 'passage_reach' parameter of {owner} must be 0 if the 'contexts' parameter is 'place': "
                f"only topics are learned from passages. Got {self.passage_reach} instead."
            )
        joiners: Any = self.joiners  # whatever was given
        if not isinstance(joiners, tuple) or len(joiners) > _MOST_JOINERS:
            raise ParameterError(
                f"The 'joiners' parameter of {owner} must be a tuple of at most {_MOST_JOINERS} numbers of "
                f"words. Got {joiners!r} instead."
            )
        for number in joiners:
            if number != _COMMA:
                check_integer(owner, "joiners", number, 0, 2**31 - 1)

    @property
    def n_feature_words(self) -> int:
        """How many of the most frequent words may be features: as neighbours, or as joined with the word."""
        return max(self.n_place_features, self.n_joined_features if self.joiners else 0)

    def n_neighbours_and_joined(self, n_words: int) -> tuple[int, int]:
        """Of so many words, how many are features where they are neighbours, and where they are joined."""
        return min(n_words, self.n_place_features), min(n_words, self.n_joined_features) * bool(self.joiners)

    def n_joined_of(self, n_places: int) -> int:
        """Return how many of so many coordinates of place, the last ones, say what is joined with a word.

        A text of n words has `4 * min(n, n_place_features) + min(n, n_joined_features)` of them.
        """
        if not self.joiners:
            return 0
        fewer = min(self.n_place_features, self.n_joined_features)
        if n_places <= (N_OFFSETS + 1) * fewer:
            return n_places // (N_OFFSETS + 1)
        return max(n_places - N_OFFSETS * self.n_place_features, fewer)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The machines that a word has, in the order of their coordinates."""
        return ("topic", "place") if self.contexts == "both" else (self.contexts,)

    @property
    def reads_order(self) -> bool:
        """Whether the running text is learned from, and not only which words a document has."""
        return "place" in self.kinds or self.passage_reach > 0

    def merged_places(self, n_places: int) -> int:
        """Return how many places an example merges if the word has so many.

        500 examples of 24 show 6,000 places of the word; of a word with more, most would never be seen.
        """
        grown = self.accumulation * n_places // _FREQUENT
        return max(self.accumulation, min(grown, self.accumulation * self.accumulation_growth))

    @property
    def total_examples(self) -> int:
        """Training examples over all epochs."""
        return self.n_examples * self.n_epochs

    @property
    def forget_probability(self) -> int:
        """1/s as a number of 2**32nds."""
        return round(2**32 / self.specificity)

    @property
    def include_from(self) -> int:
        """The state from which a literal is included (the paper's *N*)."""
        return 1 << (self.state_bits - 1)

    @property
    def max_state(self) -> int:
        """The highest state of an automaton."""
        return (1 << self.state_bits) - 1


def word_key(seed: int, word: str) -> int:
    """Return the 64 bits that all random draws of a word come from: a function of seed and spelling alone.

    >>> word_key(0, "road") == word_key(0, "road") != word_key(1, "road")
    True
    """
    salt = check_integer("OmniTMAE", "seed", seed, 0, 2**64 - 1).to_bytes(8, "little")
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8, salt=salt).digest(), "little")


def kind_key(key: int, kind: Kind) -> int:
    """Return the key of one of a word's machines: the word's own for topic, one made from it for place."""
    if kind == "topic":
        return key
    digest = hashlib.blake2b(key.to_bytes(8, "little"), digest_size=8, person=kind.encode())
    return int.from_bytes(digest.digest(), "little")


OWNER = "TsetlinMachineClassifier"


@dataclass(frozen=True, kw_only=True)
class ClassifierSettings:
    """Everything but the documents, the labels and the seed that decides what a classifier learns.

    Parameters
    ----------
    n_clauses
        Clauses per class, an even number: the first half votes for the class, the second against it.
    threshold
        Vote at which feedback fades out (*T*).
    specificity
        *s*: a literal is forgotten with probability 1/s; at 1.0 every step is certain.
    clause_drop
        Share of clauses that sit out an epoch.
    max_included_literals
        A clause with more included literals than this only forgets; None: no limit.
    """

    n_clauses: int = 1000
    threshold: int = 8000
    specificity: float = 2.0
    clause_drop: float = 0.75
    max_included_literals: int | None = None

    #: States of 8 bits, as in TMU; a literal is included from the middle on.
    include_from: ClassVar[int] = 128
    max_state: ClassVar[int] = 255

    def __post_init__(self) -> None:
        check_integer(OWNER, "n_clauses", self.n_clauses, 2, 65_536)
        if self.n_clauses % 2:
            raise ParameterError(
                f"The 'n_clauses' parameter of {OWNER} must be even: one half votes for a class, "
                f"the other against it. Got {self.n_clauses} instead."
            )
        check_integer(OWNER, "threshold", self.threshold, 1, 2**30)
        check_real(OWNER, "specificity", self.specificity, 1.0)
        check_real(OWNER, "clause_drop", self.clause_drop, 0.0, 1.0)
        if self.max_included_literals is not None:
            check_integer(OWNER, "max_included_literals", self.max_included_literals, 0, 2**31 - 1)

    @property
    def forget_probability(self) -> int:
        """1/s as a number of 2**32nds."""
        return round(2**32 / self.specificity)

    @property
    def drop_probability(self) -> int:
        """The share of dropped clauses as a number of 2**32nds."""
        return round(2**32 * self.clause_drop)


def classifier_key(seed: int) -> int:
    """Return the 64 bits that all random draws of a classifier come from.

    >>> classifier_key(0) == classifier_key(0) != classifier_key(1)
    True
    """
    data = check_integer(OWNER, "seed", seed, 0, 2**64 - 1).to_bytes(8, "little")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8, person=b"classifier").digest(), "little")
