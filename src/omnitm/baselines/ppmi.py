"""PPMI: how much more often two words share a document than chance would have it; nothing is learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from omnitm.baselines.protocol import as_word_vectors
from omnitm.parameters import check_integer, check_real
from omnitm.store.sparse import SparseMatrix
from omnitm.training.progress import reporting
from omnitm.training.vocabulary import check_targets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex
    from omnitm.training.progress import ProgressOption
    from omnitm.vectors import WordVectors

STEPS_PER_NAT = 100  # vectors hold hundredths of a nat, so that every read-out of integers applies
_ROWS_AT_ONCE = 500


@dataclass(frozen=True, kw_only=True)
class PPMI:
    """Positive pointwise mutual information of words in documents (Church & Hanks 1990), on the index itself.

    Coordinate b of word a is `max(0, log(N n_ab / (n_a m_b)) - log(shift))` in hundredths, rounded to an
    integer: N documents, n_a with word a, n_ab with both, m_b = n_b unless smoothed. A word's own coordinate
    is 0.

    Parameters
    ----------
    smoothing
        m_b is n_b to this power, scaled so that the m add up to what the n do (Levy, Goldberg & Dagan 2015,
        who take 0.75): rare words count as less of a surprise. 1: no smoothing.
    shift
        Word pairs must be so many times more frequent than chance (Levy & Goldberg 2014); 1: no shift.
    min_documents
        Pairs in fewer documents count as never seen together.
    seed, n_jobs
        Have no effect: nothing is random, and one thread is quick enough.

    Examples
    --------
    >>> from omnitm.corpus import DocumentIndex
    >>> index = DocumentIndex.from_documents(["cat dog", "cat dog", "sea ship", "sea ship"])
    >>> PPMI().train(index).similarity("cat", "dog")  # 100 log 2
    69.0
    """

    shift: float = 1.0
    smoothing: float = 1.0
    min_documents: int = 1
    seed: int = 0
    n_jobs: int = 1
    name: ClassVar[str] = "ppmi"

    def __post_init__(self) -> None:
        check_real("PPMI", "shift", self.shift, 1e-3, 1e6)
        check_real("PPMI", "smoothing", self.smoothing, 0.0, 1.0)
        check_integer("PPMI", "min_documents", self.min_documents, 1)
        check_integer("PPMI", "seed", self.seed, 0)
        check_integer("PPMI", "n_jobs", self.n_jobs, 1)

    def train(
        self, index: DocumentIndex, words: Iterable[str] | None = None, *, progress: ProgressOption = False
    ) -> WordVectors:
        """Count; rows are `words`, or the whole vocabulary."""
        targets = check_targets(index, words)
        with reporting(progress, 0, len(targets)) as report:
            matrix = SparseMatrix.of(self._rows(index, targets, report), index.n_words)
        return as_word_vectors(self, index, matrix, targets, index.vocabulary, sparse=True)

    def _rows(
        self, index: DocumentIndex, targets: Sequence[str], report: Callable[[int], None]
    ) -> Iterator[NDArray[np.int16]]:
        for first, counts in _shared_documents(index, [index.word_id(word) for word in targets]):
            block = np.zeros((len(counts.word_ids), index.n_words), dtype=np.int16)
            rows, columns, values = self._information(index, counts)
            block[rows, columns] = values
            block[np.arange(len(block)), counts.word_ids] = 0
            yield from block
            report(first + len(block))

    def _information(self, index: DocumentIndex, counts: _Counts) -> tuple[NDArray[Any], ...]:
        """Rows, columns and values of the coordinates that are not zero."""
        frequency = np.maximum(index.document_frequencies, 1).astype(np.float64)
        kept = counts.n_both >= self.min_documents
        rows, columns, n_both = counts.rows[kept], counts.columns[kept], counts.n_both[kept]
        contexts = smoothed(index.document_frequencies.astype(np.float64), self.smoothing)
        chance = frequency[counts.word_ids[rows]] * contexts[columns] / index.n_documents * self.shift
        values = np.rint(STEPS_PER_NAT * np.log(n_both / chance))
        positive = values > 0
        return rows[positive], columns[positive], values[positive].astype(np.int16)


def smoothed(counts: NDArray[np.float64], power: float) -> NDArray[np.float64]:
    """Raise counts to a power, scaled so that they add up to the same.

    >>> smoothed(np.array([1.0, 9.0]), 0.5)
    array([2.5, 7.5])
    """
    if power == 1.0 or not counts.any():
        return counts
    raised = counts**power
    scaled: NDArray[np.float64] = raised * (counts.sum() / raised.sum())
    return scaled


@dataclass(frozen=True)
class _Counts:
    """Documents that some words (rows) share with all words (columns), as triples."""

    word_ids: NDArray[np.int64]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    n_both: NDArray[np.int64]


def _shared_documents(index: DocumentIndex, word_ids: Sequence[int]) -> Iterator[tuple[int, _Counts]]:
    from scipy.sparse import csr_matrix

    shape = (index.n_documents, index.n_words)
    ones = np.ones(len(index.document_words), dtype=np.int32)
    documents = csr_matrix(
        (ones, index.document_words.astype(np.int32), index.document_offsets.astype(np.int64)), shape=shape
    )
    for first in range(0, len(word_ids), _ROWS_AT_ONCE):
        ids = np.array(word_ids[first : first + _ROWS_AT_ONCE], dtype=np.int64)
        members = [index.documents_with(int(k)).astype(np.int64) for k in ids]
        offsets = np.cumsum([0, *map(len, members)])
        chosen = csr_matrix(
            (np.ones(offsets[-1], dtype=np.int32), np.concatenate(members), offsets),
            shape=(len(ids), index.n_documents),
        )
        pairs = (chosen @ documents).tocoo()
        yield first, _Counts(ids, pairs.row.astype(np.int64), pairs.col.astype(np.int64), pairs.data)
