"""What `fit` accepts as a corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omnitm.corpus import DocumentIndex
from omnitm.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Sequence


def as_index(corpus: Any, vocabulary: Sequence[str] | None = None) -> DocumentIndex:
    """Turn a corpus into an index."""
    import scipy.sparse as sp

    if isinstance(corpus, DocumentIndex):
        return corpus
    if sp.issparse(corpus) and vocabulary is not None:
        return DocumentIndex.from_csr(corpus, vocabulary)
    raise CorpusError("A corpus must be a DocumentIndex, or a sparse matrix with its vocabulary.")
