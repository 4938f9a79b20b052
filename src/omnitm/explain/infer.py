"""Words that were not trained: trained when they are asked for, or composed from their forms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from omnitm.errors import UnknownWordError
from omnitm.explain.find_index import index_of_model
from omnitm.machine import Autoencoder, kind_key, running_of, word_key
from omnitm.similarity.row_profile import baseline_of, unit_rows
from omnitm.similarity.word_forms import MOST_FORMS, PATTERNS_FOR_FORMS, share_of_rule
from omnitm.store import index_fingerprint, omni_record

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex
    from omnitm.vectors import WordVectors

_SHORTEST_STEM, _LONGEST_ENDING = 4, 4


@dataclass(frozen=True, eq=False)
class InferredWord:
    """What can be said about a word that was not trained.

    Attributes
    ----------
    word
        The word as the index spells it.
    how
        "trained on the spot from 37 occurrences", or "composed from its forms: drive, drives".
    vector
        Coordinates of topic, then those of place if the model has them, for `most_similar`.
    """

    word: str
    how: str
    vector: NDArray[Any]


def infer_word(
    vectors: WordVectors, word: str, index: DocumentIndex | str | os.PathLike[str] | None = None
) -> InferredWord:
    """Train a word on the spot if the text of the model has it; else compose it from its forms.

    Parameters
    ----------
    index
        What the model was trained from; None: it is looked for where the model says, and beside the model.
    """
    found = index if vectors.path is None else index_of_model(vectors.path, index)
    prepared = [word] if vectors.preparation.is_incomplete else vectors.preparation.words(word)
    inferred = None
    if len(prepared) == 1:
        inferred = _trained(vectors, prepared[0], found) or _composed(vectors, prepared[0])
    if inferred is None:
        raise UnknownWordError(word, vectors.index_to_key)
    return inferred


def _trained(vectors: WordVectors, word: str, index: Any) -> InferredWord | None:
    """Train a word of the index, or one that is in its running text only."""
    if index is None or vectors.training is None:
        return None
    record = omni_record(vectors.training, "train words on the spot")
    settings = record.settings
    if index_fingerprint(index, settings.contexts) != record.index_fingerprint:
        return None
    names = index.vocabulary if index.running is None else index.running.names
    if word not in names:
        return None
    number = names.index(word)
    vector = np.zeros(_size(vectors), dtype=np.int16)
    start = 0
    for kind in settings.kinds:
        size = len(index.vocabulary) if kind == "topic" else len(vector) - start
        is_new = kind == "topic" and number >= size
        machine = Autoencoder(_Lent.to(index, number) if is_new else index, settings, kind=kind)
        machine.train(size - 1 if is_new else number, kind_key(word_key(record.seed, word), kind))
        machine.embedding(vector[start : start + size])
        if is_new:  # the lent coordinate was hidden, so nothing is known about it
            vector[start + size - 1] = baseline_of(vector[start : start + size - 1])
        start += size
    count = int(index.running.counts[number] if index.running is not None else index.word_counts[number])
    return InferredWord(word, f"trained on the spot from {count:,} occurrence{'s' * (count > 1)}", vector)


class _Lent(NamedTuple):
    """An index in which the last word of the vocabulary lends its number to a word of the running text."""

    document_offsets: NDArray[np.uint64]
    document_words: NDArray[np.uint32]
    word_offsets: NDArray[np.uint64]
    word_documents: NDArray[np.uint32]
    n_words: int
    running: None = None

    @classmethod
    def to(cls, index: DocumentIndex, number: int) -> _Lent:
        running = running_of(index)
        documents = np.searchsorted(running.document_ends, running.places_of(number)) - 1
        found = np.unique(documents).astype(np.uint32)
        offsets = np.zeros(len(index.vocabulary) + 1, dtype=np.uint64)
        offsets[-1] = len(found)
        return cls(index.document_offsets, index.document_words, offsets, found, len(index.vocabulary))


def _composed(vectors: WordVectors, word: str) -> InferredWord | None:
    """Average the vectors of the words that a rule of forms connects with a word."""
    known = vectors.index_to_key
    smooth = unit_rows(vectors.profiles.topic.smooth[:, :PATTERNS_FOR_FORMS])
    shares: dict[str, float] = {}
    start = word[: max(_SHORTEST_STEM, len(word) - _LONGEST_ENDING)]
    for other in known:
        stem = _n_common(word, other) if other.startswith(start) else 0
        if stem >= _SHORTEST_STEM and len(other) - stem <= _LONGEST_ENDING and other != word:
            share = share_of_rule(known, smooth, (word[stem:], other[stem:]))
            if share is not None:
                shares[other] = share
    forms = sorted(shares, key=lambda form: (-shares[form], vectors.get_index(form)))[:MOST_FORMS]
    if not forms:
        return None
    rows = [vectors.get_index(form) for form in forms]
    kinds = [vectors.matrix, *(() if vectors.place is None else (vectors.place.matrix,))]
    vector = np.concatenate([np.mean([matrix[row] for row in rows], axis=0) for matrix in kinds])
    return InferredWord(word, f"composed from its forms: {', '.join(forms)}", vector)


def _n_common(word: str, other: str) -> int:
    """Count the letters that two words begin with."""
    differ = (k for k, (a, b) in enumerate(zip(word, other, strict=False)) if a != b)
    return next(differ, min(len(word), len(other)))


def _size(vectors: WordVectors) -> int:
    return vectors.vector_size + (0 if vectors.place is None else len(vectors.place.feature_names))
