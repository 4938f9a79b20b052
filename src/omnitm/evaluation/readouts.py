"""Word vectors as interpretability sees them: words x dimensions, where a high value means "this one"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.corpus.cooccurrence import shared
from omnitm.errors import ParameterError
from omnitm.explain.company import surplus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex
    from omnitm.embedding import WordVectors


@dataclass(frozen=True, eq=False)
class Readout:
    """Some words of a model, and their values in every dimension.

    Attributes
    ----------
    dimension_names
        A word per dimension; None where dimensions have no name.
    """

    name: str
    words: list[str]
    values: NDArray[Any]
    dimension_names: list[str] | None

    @property
    def own_dimensions(self) -> list[int]:
        """Dimensions that are named after one of the words; all dimensions where they have no names."""
        if self.dimension_names is None:
            return list(range(self.values.shape[1]))
        words = set(self.words)
        return [k for k, name in enumerate(self.dimension_names) if name in words]

    def units(self) -> NDArray[np.float64]:
        """Rows scaled to length 1; rows of zeros stay."""
        values: NDArray[np.float64] = self.values.astype(np.float64)
        lengths = np.linalg.norm(values, axis=1, keepdims=True)
        units: NDArray[np.float64] = np.divide(values, lengths, out=np.zeros_like(values), where=lengths > 0)
        return units


def choose_words(models: Sequence[WordVectors], held_out: DocumentIndex, count: int, seed: int) -> list[str]:
    """Choose words that all models and the held-out documents have, at random."""
    known = set(held_out.vocabulary)
    common = [w for w in models[0].index_to_key if w in known and all(w in model for model in models[1:])]
    if len(common) < 20:
        raise ParameterError(
            f"Only {len(common)} words are in all models and in the held-out documents; 20 are needed."
        )
    random = np.random.default_rng(seed)
    chosen = random.permutation(len(common))[:count]
    return [common[k] for k in sorted(chosen.tolist())]


def read_out(name: str, vectors: WordVectors, words: Sequence[str], corpus: DocumentIndex) -> Readout:
    """Read a model out: by company where dimensions are words, else as it is.

    Raw coordinates of Omni tell how frequent a feature is, see `omnitm.explain.company`; frequencies are
    those of `corpus`: best the documents that the model was trained on.
    """
    rows = [vectors.get_index(word) for word in words]
    matrix = vectors.matrix[rows]
    if not getattr(vectors, "has_named_features", True):
        return Readout(name, list(words), matrix, None)
    known = dict(zip(corpus.vocabulary, corpus.document_frequencies.tolist(), strict=True))
    frequencies = np.array([known.get(feature, 0) for feature in vectors.feature_names])
    values = np.stack([surplus(row, frequencies) for row in matrix]).astype(np.float32)
    for row, word in enumerate(words):
        values[row, vectors.feature_index(word)] = 0.0
    return Readout(name, list(words), values, vectors.feature_names)


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


def positive_pmi(index: DocumentIndex, words: Sequence[str]) -> NDArray[np.float64]:
    """Positive pointwise mutual information of words in the same document; 0 on the diagonal."""
    postings = [index.documents_with(index.word_id(word)) for word in words]
    counts = np.zeros((len(words), len(words)))
    for i, mine in enumerate(postings):
        for j in range(i):
            counts[i, j] = counts[j, i] = len(shared(mine, postings[j]))
    single = np.array([len(documents) for documents in postings], dtype=np.float64)
    expected = np.outer(single, single) / max(index.n_documents, 1)
    ratio = np.divide(counts, expected, out=np.ones_like(counts), where=(counts > 0) & (expected > 0))
    return np.maximum(np.log(ratio), 0.0)


def _quietly_fitted(model: Any, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():  # a baseline need not be the optimum to the last digit
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted: NDArray[np.float64] = model.fit_transform(matrix)
    return fitted
