"""Word vectors as interpretability sees them: words x dimensions, where a high value means "this one"."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm import _native
from omnitm.errors import ParameterError
from omnitm.evaluation.coherence import pair_counts
from omnitm.store import TrainingRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex
    from omnitm.vectors import WordVectors

_SPARSE = 0.5  # share of zeros from which values are kept as a sparse matrix
_ROWS_AT_A_TIME = 500


@dataclass(frozen=True, eq=False)
class Readout:
    """Some words of a model, and their values in every dimension.

    Attributes
    ----------
    values
        words x dimensions: an array, or a sparse matrix where most values are 0.
    dimension_names
        A word per dimension; None where dimensions have no name.
    """

    name: str
    words: list[str]
    values: Any
    dimension_names: list[str] | None

    @cached_property
    def own_dimensions(self) -> list[int]:
        """Dimensions that are named after one of the words; all dimensions where they have no names."""
        if self.dimension_names is None:
            return list(range(self.values.shape[1]))
        words = set(self.words)
        return [k for k, name in enumerate(self.dimension_names) if name in words]

    @property
    def zeros(self) -> float:
        """Share of values that are 0."""
        nonzero = np.count_nonzero(self.values) if isinstance(self.values, np.ndarray) else self.values.nnz
        return float(1 - nonzero / max(self.values.shape[0] * self.values.shape[1], 1))

    def columns(self, dimensions: Sequence[int]) -> NDArray[np.float32]:
        """Values of all words in some dimensions: words x dimensions."""
        return _dense(self.values[:, list(dimensions)])

    def rows(self, rows: Sequence[int]) -> NDArray[np.float32]:
        """Values of some words in all dimensions."""
        return _dense(self.values[list(rows)])

    def units(self, rows: Sequence[int]) -> NDArray[np.float64]:
        """Rows of some words scaled to length 1; rows of zeros stay."""
        values: NDArray[np.float64] = self.rows(rows).astype(np.float64)
        lengths = np.linalg.norm(values, axis=1, keepdims=True)
        units: NDArray[np.float64] = np.divide(values, lengths, out=np.zeros_like(values), where=lengths > 0)
        return units

    def cosines(self, rows: Sequence[int]) -> NDArray[np.float64]:
        """Cosines of some words with all words; -inf with themselves."""
        lengths = self._lengths
        near = np.asarray(self.values @ self.rows(rows).T.astype(np.float64)).T
        scale = np.outer(lengths[list(rows)], lengths)
        found: NDArray[np.float64] = np.divide(near, scale, out=np.zeros_like(near), where=scale > 0)
        found[np.arange(len(found)), list(rows)] = -np.inf
        return found

    @cached_property
    def _lengths(self) -> NDArray[np.float64]:
        if isinstance(self.values, np.ndarray):
            squares = np.einsum("ij,ij->i", self.values, self.values, dtype=np.float64)
        else:
            squares = np.asarray(self.values.astype(np.float64).multiply(self.values).sum(axis=1)).ravel()
        lengths: NDArray[np.float64] = np.sqrt(squares)
        return lengths


def choose_words(models: Sequence[WordVectors], held_out: DocumentIndex, count: int) -> list[str]:
    """Choose the words that most held-out documents have, of those that all models know."""
    order = np.argsort(-held_out.document_frequencies, kind="stable")
    words = (held_out.vocabulary[k] for k in order.tolist())
    common = [word for word in words if all(word in model for model in models)]
    if len(common) < 20:
        raise ParameterError(
            f"Only {len(common)} words are in all models and in the held-out documents; 20 are needed."
        )
    return common[:count]


def read_out(name: str, vectors: WordVectors, words: Sequence[str]) -> Readout:
    """Read a model out: what stands out in Omni's vectors, and the vectors of other models as they are.

    What stands out is what Omni's default similarity compares, see `omnitm.similarity.row_profile`: raw
    coordinates mostly tell how frequent a feature is.
    """
    if isinstance(vectors.training, TrainingRecord):
        rows = vectors.profiles.topic.some(
            np.array([vectors.get_index(word) for word in words], dtype=np.intp)
        )
        return Readout(name, list(words), rows.tocsr(), vectors.feature_names)
    return read_out_raw(name, vectors, words)


def read_out_raw(name: str, vectors: WordVectors, words: Sequence[str]) -> Readout:
    """Read vectors out as they are."""
    values = _sparse_or_dense(vectors.matrix, [vectors.get_index(word) for word in words])
    return Readout(name, list(words), values, vectors.feature_names if vectors.has_named_features else None)


def read_out_again(vectors: WordVectors, again: WordVectors) -> Readout:
    """Read some words of Omni that were trained once more, by the standards of the whole first model."""
    from scipy.sparse import csr_matrix

    profile, words = vectors.profiles.topic, again.index_to_key
    baseline = np.empty(len(again), dtype=np.int16)
    _native.row_modes(again.matrix, baseline)
    rows = [
        profile.of_vector(profile.relative(again.get_vector(word), level, vectors.feature_index(word)))
        for word, level in zip(words, baseline.tolist(), strict=True)
    ]
    return Readout("again", list(words), csr_matrix(np.array(rows)), vectors.feature_names)


def _sparse_or_dense(matrix: NDArray[Any], rows: list[int]) -> Any:
    from scipy.sparse import csr_matrix, vstack

    sample = matrix[rows[:_ROWS_AT_A_TIME]]
    if matrix.dtype != np.int16 or (sample == 0).mean() < _SPARSE:
        return matrix[rows].astype(np.float32)
    parts = range(0, len(rows), _ROWS_AT_A_TIME)
    blocks = [csr_matrix(matrix[rows[start : start + _ROWS_AT_A_TIME]].astype(np.float32)) for start in parts]
    return vstack(blocks, format="csr")


def _dense(values: Any) -> NDArray[np.float32]:
    return np.asarray(values if isinstance(values, np.ndarray) else values.toarray())


def nmf_of_ppmi(
    index: DocumentIndex,
    words: Sequence[str],
    n_components: int = 50,
    seed: int = 0,
    name: str = "NMF of PPMI",
) -> Readout:
    """Factorise how words occur together in the documents of `index`: a small, sparse, nameless baseline."""
    from sklearn.decomposition import NMF

    components = min(n_components, len(words) - 1)
    model = NMF(components, init="nndsvdar", max_iter=200, tol=1e-3, random_state=seed)
    return Readout(name, list(words), _quietly_fitted(model, positive_pmi(index, words)), None)


def positive_pmi(index: DocumentIndex, words: Sequence[str]) -> NDArray[np.float32]:
    """Positive pointwise mutual information of words in the same document; 0 on the diagonal."""
    counts = pair_counts(index, words)
    single = np.diag(counts).copy()
    expected = np.outer(single, single) / max(index.n_documents, 1)
    ratio = np.divide(counts, expected, out=np.ones_like(counts), where=(counts > 0) & (expected > 0))
    np.fill_diagonal(ratio, 1.0)
    return np.maximum(np.log(ratio), 0.0).astype(np.float32)


def _quietly_fitted(model: Any, matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():  # a baseline need not be the optimum to the last digit
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted: NDArray[np.float32] = model.fit_transform(matrix)
    return fitted
