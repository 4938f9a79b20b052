"""Words that were not trained: trained when they are asked for, on text or sentences, or put together."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus import DocumentIndex
from omnitm.errors import ParameterError, UnknownWordError
from omnitm.machine import Autoencoder, kind_key, running_of, word_key
from omnitm.similarity.row_profile import baseline_of, unit_rows
from omnitm.similarity.word_forms import MOST_FORMS, PATTERNS_FOR_FORMS, share_of_rule
from omnitm.store import index_fingerprint, omni_record
from omnitm.store.model_notes import index_of_model
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
        "trained on the spot from 37 occurrences", "... from 2 sentences", or "composed from its forms: drive,
        drives".
    vector
        Coordinates of topic, then those of place if the model has them, for `most_similar`. Those of place
        are 0 if the word was trained on sentences.
    """

    word: str
    how: str
    vector: NDArray[Any]


def infer_word(
    vectors: WordVectors,
    word: str,
    index: DocumentIndex | str | os.PathLike[str] | None = None,
    *,
    sentences: Sequence[str] = (),
) -> InferredWord:
    """Train a word on the spot, on the text of the model or on sentences; else compose it from its forms.

    Parameters
    ----------
    index
        What the model was trained from; None: it is looked for where the model says, and beside the model.
    sentences
        Examples of a word that the text does not have.
    """
    found = index if vectors.path is None else index_of_model(vectors.path, index)
    prepared = [word] if vectors.preparation.is_incomplete else vectors.preparation.words(word)
    inferred = None
    if len(prepared) == 1:
        inferred = _trained(vectors, prepared[0], found)
        if inferred is None and sentences:
            inferred = _trained_on(vectors, prepared[0], found, sentences)
        inferred = inferred or _composed(vectors, prepared[0])
    if inferred is None:
        raise UnknownWordError(word, vectors.index_to_key)
    return inferred


def _trained(vectors: WordVectors, word: str, index: Any) -> InferredWord | None:
    """Train a word of the index, or one that is in its running text only."""
    record = _record(vectors, index)
    if record is None:
        return None
    settings = record.settings
    names = index.vocabulary if index.running is None else index.running.names
    if word not in names:
        return None
    number = names.index(word)
    vector = np.zeros(_size(vectors), dtype=np.int16)
    start = 0
    for kind in settings.kinds:
        size = len(index.vocabulary) if kind == "topic" else len(vector) - start
        is_new = kind == "topic" and number >= size
        if is_new:
            _train_lent(_Lent.to(index, number), record, word, vector[:size])
        else:
            machine = Autoencoder(index, settings, kind=kind)
            machine.train(number, kind_key(word_key(record.seed, word), kind))
            machine.embedding(vector[start : start + size])
        start += size
    count = int(index.running.counts[number] if index.running is not None else index.word_counts[number])
    return InferredWord(word, f"trained on the spot from {count:,} occurrence{'s' * (count > 1)}", vector)


def _trained_on(vectors: WordVectors, word: str, index: Any, sentences: Sequence[str]) -> InferredWord | None:
    """Train a word on sentences as if the text had them."""
    record = _record(vectors, index)
    if record is None or "topic" not in record.settings.kinds:
        raise ParameterError(
            "Sentences are compared with the text that the model was trained on, and its index is not there; "
            "name it: --index INDEX, or index=."
        )
    numbers = {name: number for number, name in enumerate(index.vocabulary[:-1])}
    prepared = [vectors.preparation.words(sentence) for sentence in sentences]
    found = [sorted({numbers[other] for other in words if other in numbers}) for words in prepared]
    documents = [document for document in found if document]
    if not documents:
        raise ParameterError("No word of the sentences is in the vocabulary, so they say nothing.")
    vector = np.zeros(_size(vectors), dtype=np.int16)
    _train_lent(_Lent.to_documents(index, documents), record, word, vector[: len(index.vocabulary)])
    plural = "s" * (len(documents) > 1)
    return InferredWord(word, f"trained on the spot from {len(documents):,} sentence{plural}", vector)


def _record(vectors: WordVectors, index: Any) -> Any:
    """Return what the model was trained with, if this is the index that it was trained from."""
    if index is None or vectors.training is None:
        return None
    record = omni_record(vectors.training, "train words on the spot")
    same = index_fingerprint(index, record.settings.contexts) == record.index_fingerprint
    return record if same else None


def _train_lent(lent: _Lent, record: Any, word: str, vector: NDArray[np.int16]) -> None:
    """Train the topics of a word under the number that is lent to it."""
    machine = Autoencoder(lent, record.settings, kind="topic")
    machine.train(lent.n_words - 1, kind_key(word_key(record.seed, word), "topic"))
    machine.embedding(vector)
    vector[-1] = baseline_of(vector[:-1])  # the lent coordinate was hidden: nothing is known about it


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
        """Find the documents of a number of the running text."""
        running = running_of(index)
        documents = np.searchsorted(running.document_ends, running.places_of(number)) - 1
        found = np.unique(documents).astype(np.uint32)
        offsets = np.zeros(len(index.vocabulary) + 1, dtype=np.uint64)
        offsets[-1] = len(found)
        return cls(index.document_offsets, index.document_words, offsets, found, len(index.vocabulary))

    @classmethod
    def to_documents(cls, index: DocumentIndex, documents: Sequence[Sequence[int]]) -> _Lent:
        """Put documents behind those of the index: ascending numbers of words each."""
        ends = index.document_offsets[-1] + np.cumsum([len(words) for words in documents]).astype(np.uint64)
        words = np.concatenate([np.asarray(document, dtype=np.uint32) for document in documents])
        n_documents = len(index.document_offsets) - 1
        offsets = np.zeros(len(index.vocabulary) + 1, dtype=np.uint64)
        offsets[-1] = len(documents)
        return cls(
            np.concatenate([index.document_offsets, ends]),
            np.concatenate([index.document_words, words]),
            offsets,
            np.arange(n_documents, n_documents + len(documents), dtype=np.uint32),
            len(index.vocabulary),
        )


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
