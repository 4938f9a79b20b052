"""A row per word as documents, maps and clusterings use it: few dense numbers, or named ones, at length 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from omnitm.vectors.word_vectors import WordVectors


def dense_rows(vectors: WordVectors, n_components: int = 300) -> NDArray[np.float32]:
    """Rows of length 1 with at most `n_components` numbers.

    Integers with names: what stands out in each vector (`Company`) in the space of the strongest common
    patterns: the smoothed rows that lie beside the model, so this takes no time. Other vectors: as they are,
    or reduced if they have more numbers.
    """
    if vectors.has_likeness and vectors.likeness.company.smooth.shape[1]:
        rows = vectors.likeness.company.smooth[:, :n_components]
    elif vectors.vector_size > n_components:
        rows = vectors.reduce(min(n_components, len(vectors))).matrix
    else:
        rows = vectors.matrix.astype(np.float32)
    return at_unit_length(rows)


def named_rows(vectors: WordVectors) -> Any:
    """Rows of length 1 over named features, as a sparse matrix: only what stands out."""
    if not vectors.has_likeness:
        raise ParameterError(
            "Only integer vectors with named features have named coordinates that stand out; "
            "leave 'top_k' out for other vectors."
        )
    return vectors.likeness.company.by_word()


def row_lengths(vectors: WordVectors) -> NDArray[np.float32]:
    """How much each word has to say: the length of what stands out, or of the vector itself."""
    if vectors.has_likeness and vectors.likeness.company.smooth.shape[1]:
        return np.asarray(vectors.likeness.company.lengths, dtype=np.float32)
    lengths: NDArray[np.float32] = np.linalg.norm(vectors.matrix.astype(np.float32), axis=1)
    return lengths


def at_unit_length(rows: Any) -> NDArray[np.float32]:
    """Scale rows to length 1, unless they are all zeros."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: NDArray[np.float32] = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return scaled
