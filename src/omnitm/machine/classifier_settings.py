"""The settings of a Tsetlin machine classifier, and the key that seeds it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import ClassVar

from omnitm.errors import ParameterError
from omnitm.parameters import check_integer, check_real

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
