"""PPMI (how much more often two words occur together than by chance) and SVD of it; nothing is learned."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from omnitm.baselines.protocol import Baseline, Learned, Limits
from omnitm.baselines.texts import Tokens, tokens_of
from omnitm.corpus import DocumentIndex
from omnitm.errors import CorpusError
from omnitm.similarity.truncated_svd import truncated_svd
from omnitm.store.rows import SparseMatrix
from omnitm.training.progress import ProgressOption, reporting

STEPS_PER_NAT = 100  # vectors hold hundredths of a nat, so that every read-out of integers applies
_ROWS_AT_ONCE = 500  # dense rows of 16-bit numbers: 40 MB for 40,000 words


@dataclass(frozen=True, kw_only=True)
class PPMI(Baseline):
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
    name = "ppmi"
    coordinates_are_words = True
    limits: ClassVar[Limits] = {
        "shift": (1e-3, 1e6),
        "smoothing": (0.0, 1.0),
        "min_documents": (1,),
        "seed": (0,),
        "n_jobs": (1,),
    }

    def learn(self, index: DocumentIndex, words: Sequence[str], progress: ProgressOption) -> Learned:
        """Count; rows are `words`, or the whole vocabulary."""
        with reporting(progress, 0, len(words)) as report:
            matrix = SparseMatrix.of(self._rows(index, words, report), index.n_words)
        return matrix, {"sparse": True}

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
        # Documents that would have both words if they were independent: n_w * n_c / N, times the shift.
        chance = frequency[counts.word_ids[rows]] * contexts[columns] / index.n_documents * self.shift
        # PMI = log(n_both / chance); what is not above 0 is left out: positive PMI.
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


_WORDS_AT_ONCE = 4_000_000  # running words whose neighbours are counted together


@dataclass(frozen=True, kw_only=True)
class SVD(Baseline):
    """Truncated singular value decomposition of PPMI of neighbours (Levy, Goldberg & Dagan 2015).

    Parameters
    ----------
    vector_size
        Number of coordinates.
    window
        How far apart two neighbours may be, in words of the text that the model reads.
    positions
        Whether a neighbour two words before is another context than the same word one after.
    smoothing
        Power of the contexts' counts, as in `PPMI`.
    shift
        Neighbours must be so many times more frequent than chance; 1: no shift.
    power
        Of the singular values that scale the coordinates: 0 weighs all alike, 1 is the decomposition itself.
    function_words
        Whether the model reads the stop words of the index, too, as contexts.
    centred
        Whether the mean of all vectors is taken from each.
    seed
        Seed of the random projection.
    n_jobs
        Has no effect.
    """

    vector_size: int = 300
    window: int = 2
    positions: bool = True
    smoothing: float = 0.75
    shift: float = 1.0
    power: float = 0.0
    function_words: bool = True
    centred: bool = False
    seed: int = 0
    n_jobs: int = 1
    name = "svd"
    limits: ClassVar[Limits] = {
        **dict.fromkeys(("vector_size", "window", "n_jobs"), (1, 1 << 20)),
        **dict.fromkeys(("smoothing", "power"), (0.0, 1.0)),
        "shift": (1e-3, 1e6),
        "seed": (0,),
    }

    def learn(self, index: DocumentIndex, words: Sequence[str], progress: ProgressOption) -> Learned:
        """Count neighbours in the text behind the index, then decompose; rows are `words`, or all words."""
        with (
            tokens_of(index, function_words=self.function_words) as tokens,
            reporting(progress, 0, len(tokens.ids), "counting neighbours") as report,
        ):
            counts = neighbour_counts(tokens, index.n_words, self.window, self.positions, report)
        return self.fit(counts)[[index.word_id(word) for word in words]], {}

    def fit(self, counts: Any) -> NDArray[np.float32]:
        """Decompose the PPMI of counts, words x contexts."""
        weighed = self.information(counts)
        if weighed.nnz == 0:
            raise CorpusError(
                "No two words of the text are neighbours more often than chance: SVD has nothing to read."
            )
        found = truncated_svd(weighed, min(self.vector_size, *weighed.shape), self.seed)
        vectors = np.zeros((weighed.shape[0], self.vector_size), dtype=np.float32)
        vectors[:, : len(found.singular)] = found.left * found.singular**self.power
        if self.centred:
            vectors -= vectors.mean(axis=0)
        return vectors

    def information(self, counts: Any) -> Any:
        """Return the positive pointwise mutual information of counts, as a sparse matrix."""
        from scipy.sparse import csr_matrix

        entries = counts.tocoo()
        words, contexts = (np.asarray(counts.sum(axis=axis), dtype=np.float64).ravel() for axis in (1, 0))
        # Contexts to the power 0.75 make rare contexts less surprising (Levy, Goldberg & Dagan 2015).
        chance = (
            words[entries.row] * smoothed(contexts, self.smoothing)[entries.col] / words.sum() * self.shift
        )
        values = np.log(entries.data / chance)
        kept = values > 0
        parts = (values[kept].astype(np.float32), (entries.row[kept], entries.col[kept]))
        return csr_matrix(parts, shape=counts.shape)


def neighbour_counts(
    tokens: Tokens, n_words: int, window: int, positions: bool, report: Callable[[int], None]
) -> Any:
    """Count neighbours within documents: words x contexts; a context is a word, or a word at an offset.

    Only the first `n_words` words have rows; all words of the tokens are contexts.
    """
    from scipy.sparse import csr_matrix

    n_names = len(tokens.names)
    shape = (n_words, n_names * 2 * window if positions else n_names)
    total = csr_matrix(shape, dtype=np.float32)
    offsets = tokens.offsets.astype(np.int64)
    first = 0
    while first < tokens.n_documents:
        # As many whole documents as fit, at least one.
        last = int(np.searchsorted(offsets, offsets[first] + _WORDS_AT_ONCE, side="right")) - 1
        last = min(max(last, first + 1), tokens.n_documents)
        ids = tokens.ids[offsets[first] : offsets[last]].astype(np.int64)
        document = np.repeat(np.arange(last - first), np.diff(offsets[first : last + 1]))
        for distance in range(1, window + 1):
            # Documents lie one after the other; neighbours across an end are not counted.
            together = document[:-distance] == document[distance:]
            before, after = ids[:-distance][together], ids[distance:][together]
            for side, (rows, columns) in enumerate(((before, after), (after, before))):
                kept = rows < n_words
                # A block of columns per offset: one before, one after, two before, two after, ...
                shift = n_names * (2 * distance - 2 + side) if positions else 0
                ones = np.ones(int(kept.sum()), dtype=np.float32)
                total = total + csr_matrix((ones, (rows[kept], columns[kept] + shift)), shape=shape)
        first = last
        report(int(offsets[last]))
    return total
