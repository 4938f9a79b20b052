"""Vectors of sentences: the mean of their words' vectors, in a form that `mteb` can evaluate."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.errors import MissingExtraError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from omnitm.corpus import Preparation
    from omnitm.vectors.word_vectors import WordVectors

    Reals = NDArray[np.float32]

_DIMENSIONS = 300


class SentenceEncoder:
    """Turns sentences into vectors: the mean of their words' unit vectors, at length 1.

    Words that the model does not have are left out; a sentence without known words is all zeros. Integer
    vectors with names are first brought to few dense dimensions: the smoothed company of the default
    similarity, or `WordVectors.reduce`.

    Parameters
    ----------
    vectors
        Vectors of words.
    preparation
        How sentences become words; None: as in the paper, which is the default for training too.

    Examples
    --------
    >>> import numpy as np
    >>> from omnitm import WordVectors
    >>> vectors = WordVectors(np.eye(2, dtype=np.float32), ["road", "sea"], None)
    >>> SentenceEncoder(vectors).encode(["The road!", "By the sea", "Why?"]).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    """

    def __init__(self, vectors: WordVectors, preparation: Preparation | None = None) -> None:
        from omnitm.corpus import Preparation as Steps

        self._vectors = vectors
        self._preparation = preparation or Steps()

    @cached_property
    def _rows(self) -> Reals:
        """A unit vector per word."""
        vectors = self._vectors
        if not vectors.has_likeness:
            rows = np.asarray(vectors.matrix[:], dtype=np.float32)
        elif vectors.likeness.company.smooth.shape[1]:
            rows = vectors.likeness.company.smooth
        else:
            rows = vectors.reduce(min(_DIMENSIONS, len(vectors), vectors.vector_size)).matrix
        return _unit_rows(rows)

    @property
    def n_dimensions(self) -> int:
        """Numbers per sentence."""
        return int(self._rows.shape[1])

    def encode(self, sentences: str | Iterable[str] | Iterable[dict[str, Any]], **_: Any) -> Reals:
        """Encode sentences: a row per sentence, or one vector for one text.

        Parameters
        ----------
        sentences
            Text, texts, or batches as `mteb` gives them: dictionaries with a list of texts as "text".
            Whatever else `mteb` passes has no meaning for these vectors.
        """
        if isinstance(sentences, str):
            vector: Reals = self.encode([sentences])[0]
            return vector
        from scipy.sparse import csr_matrix

        starts, columns, counts = [0], list[int](), list[int]()
        known = self._vectors.key_to_index
        for text in _texts(sentences):
            found = Counter(known[word] for word in self._preparation.words(text) if word in known)
            columns += found.keys()
            counts += found.values()
            starts.append(len(columns))
        shape = (len(starts) - 1, len(self._vectors))
        bags = csr_matrix((np.array(counts, dtype=np.float32), columns, starts), shape=shape)
        return _unit_rows(np.asarray(bags @ self._rows, dtype=np.float32))

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Any:
        """Cosine of every vector of the one with every vector of the other set."""
        first, second = _unit_rows(np.asarray(embeddings1)), _unit_rows(np.asarray(embeddings2))
        return first @ second.T

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Any:
        """Cosine of each vector of the one with the same vector of the other set."""
        first, second = _unit_rows(np.asarray(embeddings1)), _unit_rows(np.asarray(embeddings2))
        return np.einsum("ij,ij->i", first, second)

    @property
    def mteb_model_meta(self) -> Any:
        """What `mteb` wants to know about a model."""
        try:
            from mteb.models.model_meta import ModelMeta
        except ImportError:
            raise MissingExtraError("mteb_model_meta", "mteb") from None
        record = self._vectors.training
        kind = "omni" if record is None else getattr(record, "model", "omni")
        revision = "unknown" if record is None else record.index_fingerprint[:12]
        facts = {"name": f"omnitm/{kind}", "revision": revision, "embed_dim": self.n_dimensions}
        return ModelMeta.create_empty(overwrites=facts)


def _texts(sentences: Iterable[Any]) -> Iterator[str]:
    for item in sentences:
        for text in item["text"] if isinstance(item, dict) and "text" in item else [item]:
            if not isinstance(text, str):
                raise ParameterError(
                    f"The 'sentences' parameter must be text or texts. Got {type(text).__name__} among them."
                )
            yield text


def _unit_rows(rows: NDArray[Any]) -> Reals:
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    units: Reals = np.zeros(rows.shape, dtype=np.float32)
    np.divide(rows, lengths, out=units, where=lengths > 0)
    return units
