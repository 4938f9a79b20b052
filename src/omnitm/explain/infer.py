"""Words that were not trained: trained when they are asked for, on text or sentences, or put together.

What is open stays open with the vectors: the first word of a text costs some tenths of a second, every other
one what its machines need.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus import DocumentIndex
from omnitm.corpus.assembling import DOCUMENT_END
from omnitm.corpus.running import feature_numbers
from omnitm.errors import ParameterError, UnknownWordError
from omnitm.machine import Autoencoder, kind_key, running_of, word_key
from omnitm.similarity.combined import Combined
from omnitm.similarity.row_profile import baseline_of, gain_of, unit, unit_rows
from omnitm.similarity.scorers import Metric
from omnitm.similarity.word_forms import (
    MOST_FORMS,
    PATTERNS_FOR_FORMS,
    n_common_letters,
    share_of_rule,
)
from omnitm.store import index_fingerprint, omni_record
from omnitm.store.model_notes import index_of_model, is_known_index, note_known_index
from omnitm.vectors import WordVectors

_SHORTEST_STEM, _LONGEST_ENDING = 4, 4
_SHORTEST_PART = 4  # letters of each half of a compound; with three, many splits are chance
_BETWEEN_PARTS = re.compile(r"[\W_]+")
# First values, not searched; what they give on Card-660: benchmarks/unknown_words.py.
_PIECE_SIZES = (3, 4, 5)  # letters, as FastText has them
_ALIKE_BY_LETTERS = 0.3


class Source(NamedTuple):
    """A word that another one was composed from."""

    word: str
    vector: NDArray[Any] | None
    """None: it is a trained word."""
    weight: float

    @property
    def item(self) -> str | NDArray[Any]:
        """What is compared."""
        return self.word if self.vector is None else self.vector


@dataclass(frozen=True, eq=False)
class InferredWord:
    """What can be said about a word that was not trained.

    Attributes
    ----------
    word
        The word as the index spells it.
    how
        "trained on the spot from 37 occurrences", "... from 2 sentences", or "composed from its forms: drive,
        drives", "... its parts", "... words that are spelled alike".
    vector
        Coordinates of topic, then those of place if the model has them, for `most_similar`. Those of place
        are 0 if the word was trained on sentences.
    folded
        Trained words that lists leave out, since they are the word itself: its forms, or what it was composed
        from.
    sources
        What it was composed from; empty: it was trained.
    """

    word: str
    how: str
    vector: NDArray[Any]
    folded: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()

    def similarity(
        self, vectors: WordVectors, other: str | InferredWord, *, metric: Metric | None = None
    ) -> float:
        """Score another word, trained or inferred: the mean over what both were composed from.

        What both were composed from is left out: `yellow_pages` and `yellow_dwarf` are not alike for the sake
        of a word that they share.
        """
        scorer = vectors.scorer(metric)
        if not isinstance(scorer, Combined):
            raise ParameterError(
                f"The metric {scorer.name!r} does not compare words that were not trained; 'similarity', "
                "'related', 'alike' do."
            )
        own, others = (_sources_of(word, vectors) for word in (self, other))
        total = weight = 0.0
        for one in own:
            for two in others:
                if one.word != two.word:
                    total += one.weight * two.weight * scorer.between(vectors, one.item, two.item)
                    weight += one.weight * two.weight
        return total / weight if weight else scorer.most(vectors)

    def most_similar(
        self, vectors: WordVectors, topn: int = 10, *, metric: Metric | None = None, forms: bool | None = None
    ) -> list[tuple[str, float]]:
        """Find the nearest words among those that it was inferred from; `forms` lists those of it, too."""
        found: Any
        if forms or not self.folded:
            found = vectors.most_similar([self.vector], topn=topn, metric=metric, forms=forms)
            return cast("list[tuple[str, float]]", found)
        folded = {*self.folded, *(form for word in self.folded for form in vectors.forms(word))}
        found = vectors.most_similar([self.vector], topn=topn + len(folded), metric=metric)
        return [(word, score) for word, score in found if word not in folded][:topn]


def infer_word(
    vectors: WordVectors,
    word: str,
    index: DocumentIndex | str | os.PathLike[str] | None = None,
    *,
    sentences: Sequence[str] = (),
    from_letters: bool = False,
) -> InferredWord:
    """Say what is known about a word that was not trained, in the first of these ways that leads somewhere.

    1. It is in the text of the model: it is trained on the spot.
    2. There are sentences with it: it is trained on these.
    3. It is an expression, such as `formic_acid`: the mean of its parts.
    4. It is a form of known words: their mean.
    5. It is made of two known words, such as `sandglass`: their mean.
    6. Known words are spelled alike, if that is wanted: their mean.

    Parameters
    ----------
    index
        What the model was trained from; None: it is looked for where the model says, and beside the model.
    sentences
        Examples of a word that the text does not have.
    from_letters
        Whether words that are only spelled alike count: a guess, right for some words and wrong for others.
    """
    text, preparation = _text_of(vectors, index), vectors.preparation
    prepared = [word] if preparation.is_incomplete else preparation.words(word)
    inferred = None
    if len(prepared) == 1:
        inferred = _trained(vectors, prepared[0], text)
        if inferred is None and sentences:
            inferred = _trained_on(vectors, prepared[0], text, sentences)
    if inferred is None and not preparation.is_incomplete:
        inferred = _of_parts(vectors, word, text)
    if inferred is None and len(prepared) == 1:
        inferred = _composed(vectors, prepared[0]) or _of_compound(vectors, prepared[0])
        if inferred is None and from_letters:
            inferred = _of_letters(vectors, prepared[0])
    if inferred is None:
        raise UnknownWordError(word, vectors.index_to_key)
    return inferred


class _Text:
    """The text that a model was trained on, and what training needs of it again and again."""

    def __init__(self, index: DocumentIndex, record: Any) -> None:
        self.index, self.record = index, record

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Numbers of the words of the vocabulary, and of all words that the running text names."""
        names = self.index.vocabulary if self.index.running is None else self.index.running.names
        return {name: number for number, name in enumerate(names)}

    @cached_property
    def feature_of(self) -> NDArray[np.uint32]:
        """Which coordinate of place every number is."""
        starts = running_of(self.index).word_starts
        return feature_numbers(starts, self.record.settings.n_feature_words)

    def count(self, number: int) -> int:
        """How often a word occurs."""
        running, counts = self.index.running, self.index.word_counts
        if running is None:
            return 0 if counts is None else int(counts[number])
        return int(running.word_starts[number + 1] - running.word_starts[number])


_open_texts: WeakKeyDictionary[WordVectors, tuple[Any, _Text | None]] = WeakKeyDictionary()


def _text_of(vectors: WordVectors, given: DocumentIndex | str | os.PathLike[str] | None) -> _Text | None:
    """Open the text that a model was trained on; None if it is not there. It stays open with the vectors."""
    asked = vectors.path, given
    if vectors not in _open_texts or _open_texts[vectors][0] != asked:
        index = given if vectors.path is None else index_of_model(vectors.path, given)
        _open_texts[vectors] = asked, _checked_text(vectors, index)
    return _open_texts[vectors][1]


def _checked_text(vectors: WordVectors, index: Any) -> _Text | None:
    """Return a text if it is what the model was trained on."""
    if index is None or vectors.training is None:
        return None
    record = omni_record(vectors.training, "train words on the spot")
    if vectors.path is not None and is_known_index(vectors.path, index, record.index_fingerprint):
        return _Text(index, record)
    if index_fingerprint(index, with_order=record.settings.reads_order) != record.index_fingerprint:
        return None
    if vectors.path is not None:
        note_known_index(vectors.path, index, record.index_fingerprint)
    return _Text(index, record)


def _trained(vectors: WordVectors, word: str, text: _Text | None) -> InferredWord | None:
    """Train a word of the index, or one that is in its running text only."""
    if text is None or word not in text.numbers:
        return None
    index, settings, number = text.index, text.record.settings, text.numbers[word]
    vector = np.zeros(_size(vectors), dtype=np.int16)
    start = 0
    for kind in settings.kinds:
        size = len(index.vocabulary) if kind == "topic" else len(vector) - start
        # Passages are found by number; documents only of words of the vocabulary.
        is_new = kind == "topic" and number >= size and not settings.passage_reach
        if is_new:
            _train_lent(_Lent.to(index, number), text.record, word, vector[:size])
        else:
            feature_of = text.feature_of if kind == "place" else None
            machine = Autoencoder(index, settings, kind=kind, feature_of=feature_of)
            machine.train(number, kind_key(word_key(text.record.seed, word), kind))
            machine.embedding(vector[start : start + size])
        start += size
    count = text.count(number)
    how = f"trained on the spot from {count:,} occurrence{'s' * (count > 1)}"
    return InferredWord(word, how, vector, _forms_of(vectors, word, vector))


def _trained_on(
    vectors: WordVectors, word: str, text: _Text | None, sentences: Sequence[str]
) -> InferredWord | None:
    """Train a word on sentences as if the text had them."""
    if _is_place_only(vectors):
        raise ParameterError("Sentences teach topics, and the model was trained on place only.")
    if text is None:
        raise ParameterError(
            "Sentences are compared with the text that the model was trained on, and its index is not there; "
            "name it: --index INDEX, or index=."
        )
    index, record = text.index, text.record
    # Among documents, the last word of the vocabulary lends its number to the new word.
    known = index.vocabulary if record.settings.passage_reach else index.vocabulary[:-1]
    numbers = {name: number for number, name in enumerate(known)}
    prepared = [vectors.preparation.words(sentence) for sentence in sentences]
    found = [[numbers[other] for other in words if other in numbers] for words in prepared]
    documents = [document for document in found if document]
    if not documents:
        raise ParameterError("No word of the sentences is in the vocabulary, so they say nothing.")
    vector = np.zeros(_size(vectors), dtype=np.int16)
    topics = vector[: len(index.vocabulary)]
    if record.settings.passage_reach:
        longer = _Longer.by(index, documents)
        machine = Autoencoder(longer, record.settings)
        machine.train(longer.running.new_number, kind_key(word_key(record.seed, word), "topic"))
        machine.embedding(topics)
    else:
        lent = _Lent.to_documents(index, [sorted(set(document)) for document in documents])
        _train_lent(lent, record, word, topics)
    plural = "s" * (len(documents) > 1)
    how = f"trained on the spot from {len(documents):,} sentence{plural}"
    return InferredWord(word, how, vector, _forms_of(vectors, word, vector))


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
        found = np.unique(running.documents_of(running.places_of(number))).astype(np.uint32)
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


class _LongerText(NamedTuple):
    """A running text with sentences behind it, in the middle of which a new word stands."""

    tokens: NDArray[np.uint32]
    word_starts: NDArray[np.uint64]
    places: NDArray[np.uint32]

    @property
    def new_number(self) -> int:
        """The number of the new word, which comes after all others."""
        return len(self.word_starts) - 2


class _Longer(NamedTuple):
    """An index whose running text has a few sentences more."""

    document_offsets: NDArray[np.uint64]
    document_words: NDArray[np.uint32]
    word_offsets: NDArray[np.uint64]
    word_documents: NDArray[np.uint32]
    n_words: int
    running: _LongerText

    @classmethod
    def by(cls, index: DocumentIndex, sentences: Sequence[Sequence[int]]) -> _Longer:
        """Put a new word with sentences, numbers of words each, behind the text."""
        running = running_of(index)
        number, parts, places = len(running.word_starts) - 1, [running.tokens], []
        n_tokens = len(running.tokens)
        for words in sentences:
            half = len(words) // 2
            places.append(n_tokens + half)
            parts.append(np.array([*words[:half], number, *words[half:], DOCUMENT_END], dtype=np.uint32))
            n_tokens += len(parts[-1])
        # Places of other words in the sentences are left out: passages without the word come from the text.
        starts = np.append(running.word_starts, running.word_starts[-1] + np.uint64(len(places)))
        text = _LongerText(
            np.concatenate(parts),
            starts,
            np.concatenate([running.places, np.array(places, dtype=np.uint32)]),
        )
        return cls(
            index.document_offsets,
            index.document_words,
            index.word_offsets,
            index.word_documents,
            len(index.vocabulary),
            text,
        )


def _composed(vectors: WordVectors, word: str) -> InferredWord | None:
    """Average the words that differ from a word by hyphens alone, else those that a rule connects it with."""
    letters = word.replace("-", "")
    forms = [name for name in vectors.index_to_key if name.replace("-", "") == letters][:MOST_FORMS]
    if not forms:
        shares = _connected(vectors, _begun_alike(vectors, word))
        forms = sorted(shares, key=lambda form: (-shares[form], vectors.get_index(form)))[:MOST_FORMS]
    if not forms:
        return None
    vector = np.mean([_trained_row(vectors, form) for form in forms], axis=0)
    sources = tuple(Source(form, None, 1.0) for form in forms)
    return InferredWord(word, f"composed from its forms: {', '.join(forms)}", vector, tuple(forms), sources)


def _forms_of(vectors: WordVectors, word: str, vector: NDArray[Any]) -> tuple[str, ...]:
    """List the trained words that a rule of forms connects with a word, and that are about the same thing."""
    candidates = _begun_alike(vectors, word) if vectors.has_profiles else {}
    if not candidates:
        return ()
    topic, values = vectors.profiles.topic, vector[: vectors.vector_size]
    own = topic.smoothed(topic.of_vector(topic.relative(values, baseline_of(values))))
    rows = topic.smooth[[vectors.get_index(form) for form in candidates]]
    cosines = unit_rows(rows[:, :PATTERNS_FOR_FORMS]) @ unit(own[:PATTERNS_FOR_FORMS])
    same_thing = float(vectors.profiles.forms.same_thing[0])
    # Few are about the same thing, and a rule, which is counted over all words, takes longer to find.
    near = [form for form, cosine in zip(candidates, cosines.tolist(), strict=True) if cosine > same_thing]
    return tuple(_connected(vectors, {form: candidates[form] for form in near}))


def _begun_alike(vectors: WordVectors, word: str) -> dict[str, tuple[str, str]]:
    """Find the trained words that begin as a word does, and the endings of both."""
    start = word[: max(_SHORTEST_STEM, len(word) - _LONGEST_ENDING)]
    found = {}
    for other in [other for other in vectors.index_to_key if other.startswith(start)]:
        stem = n_common_letters(word, other)
        if stem >= _SHORTEST_STEM and len(other) - stem <= _LONGEST_ENDING and other != word:
            found[other] = word[stem:], other[stem:]
    return found


def _connected(vectors: WordVectors, endings: dict[str, tuple[str, str]]) -> dict[str, float]:
    """Find out which trained words a rule of forms connects with a word, and how good the rule is."""
    smooth = vectors.profiles.topic.smooth[:, :PATTERNS_FOR_FORMS]
    same_thing = float(vectors.profiles.forms.same_thing[0])
    shares = {
        other: share_of_rule(vectors.index_to_key, smooth, both, same_thing)
        for other, both in endings.items()
    }
    return {other: share for other, share in shares.items() if share is not None}


def _of_parts(vectors: WordVectors, expression: str, text: _Text | None) -> InferredWord | None:
    """Average the parts of an expression that are known or can be trained."""
    parts = [part for part in _BETWEEN_PARTS.split(expression) if part]
    words = [word for part in parts for word in vectors.preparation.words(part)]
    return _joined(vectors, expression, words, text) if len(parts) > 1 else None


def _of_compound(vectors: WordVectors, word: str) -> InferredWord | None:
    """Take a word apart into two that are known, such as `sandglass`, the most frequent ones there are.

    Of a stop word in front, as in `underclothes`, nothing is known; the other word stands for both.
    """
    best: tuple[int, list[str]] | None = None
    for length in range(_SHORTEST_PART, len(word) - _SHORTEST_PART + 1):
        parts = [part for part in (word[:length], word[length:]) if part in vectors]
        if len(parts) == 2 or (parts == [word[length:]] and vectors.preparation.is_stop_word(word[:length])):
            rarest = max(vectors.get_index(part) for part in parts)
            best = min(best or (rarest, parts), (rarest, parts))
    return None if best is None else _joined(vectors, word, best[1], None)


def _joined(
    vectors: WordVectors, whole: str, parts: Sequence[str], text: _Text | None
) -> InferredWord | None:
    """Average the parts of a word that are known or can be trained."""
    found = {word: _row(vectors, word, text) for word in dict.fromkeys(parts)}
    known = {word: row for word, row in found.items() if row is not None}
    if not known:
        return None
    vector = _mean(vectors, list(known.values()), [1.0] * len(known))
    trained = tuple(word for word in known if word in vectors)
    sources = tuple(Source(word, None if word in vectors else row, 1.0) for word, row in known.items())
    return InferredWord(whole, f"composed from its parts: {', '.join(known)}", vector, trained, sources)


def _of_letters(vectors: WordVectors, word: str) -> InferredWord | None:
    """Average the words that share the most letters in a row with a word, rare ones first."""
    known = [f"<{name}>" for name in vectors.index_to_key]
    pieces = _pieces(f"<{word}>")
    shared, total = np.zeros(len(known)), 0.0
    for piece in pieces:
        having = [row for row, name in enumerate(known) if piece in name]
        weight = np.log(len(known) / max(1, len(having))) ** 2  # the rarer, the more it says
        shared[having] += weight
        total += weight
    # The cosine of both words as vectors of pieces; pieces that are not shared count as those of the word do.
    sizes = np.array([max(1, len(name) - 2) for name in known]) / max(1, len(word))
    cosines = shared / np.maximum(total * np.sqrt(sizes), 1e-9)
    nearest = np.argsort(-cosines, kind="stable")[:MOST_FORMS]
    nearest = nearest[cosines[nearest] >= _ALIKE_BY_LETTERS]
    if len(nearest) == 0:
        return None
    names = [vectors.index_to_key[row] for row in nearest.tolist()]
    rows = [_trained_row(vectors, name) for name in names]
    vector = _mean(vectors, rows, (cosines[nearest] ** 2).tolist())
    how = f"composed from words that are spelled alike: {', '.join(names)}"
    near = zip(names, (cosines[nearest] ** 2).tolist(), strict=True)
    return InferredWord(word, how, vector, tuple(names), tuple(Source(name, None, w) for name, w in near))


def _pieces(word: str) -> list[str]:
    """Cut a word into all runs of three to five letters.

    >>> _pieces("<ab>")
    ['<ab', 'ab>', '<ab>']
    """
    found = [word[k : k + n] for n in _PIECE_SIZES for k in range(len(word) - n + 1)]
    return list(dict.fromkeys(found))


def _row(vectors: WordVectors, word: str, text: _Text | None) -> NDArray[Any] | None:
    """Return the coordinates of a word: as they were trained, or trained now."""
    if word in vectors:
        return _trained_row(vectors, word)
    found = _trained(vectors, word, text)
    return None if found is None else found.vector


def _sources_of(word: str | InferredWord, vectors: WordVectors) -> tuple[Source, ...]:
    """Return what a word is made of: itself, unless it was composed."""
    if isinstance(word, str):
        return (Source(vectors.known_word(word), None, 1.0),)
    return word.sources or (Source(word.word, word.vector, 1.0),)


def _trained_row(vectors: WordVectors, word: str) -> NDArray[Any]:
    row = vectors.get_index(word)
    place = [] if vectors.place is None else [vectors.place.matrix]
    kinds = place if _is_place_only(vectors) else [vectors.matrix, *place]
    return np.concatenate([matrix[row] for matrix in kinds])


def _mean(
    vectors: WordVectors, rows: Sequence[NDArray[Any]], weights: Sequence[float]
) -> NDArray[np.float32]:
    """Average rows, each measured from its baseline and in its unit; the baseline of the mean is 0."""
    of_zero = gain_of(np.zeros(1))[0]
    found = np.zeros(_size(vectors), dtype=np.float32)
    for row, weight in zip(rows, weights, strict=True):
        for kind in (slice(0, _n_topics(vectors)), slice(_n_topics(vectors), len(row))):
            values = row[kind].astype(np.float32)
            if len(values):
                baseline = baseline_of(values)
                gain = gain_of(np.array([baseline]))[0] / of_zero
                found[kind] += (values - np.float32(baseline)) * (gain * np.float32(weight / sum(weights)))
    return found


def _size(vectors: WordVectors) -> int:
    return _n_topics(vectors) + (0 if vectors.place is None else len(vectors.place.feature_names))


def _n_topics(vectors: WordVectors) -> int:
    """Count the coordinates of topic: none if only places were trained."""
    return 0 if _is_place_only(vectors) else vectors.vector_size


def _is_place_only(vectors: WordVectors) -> bool:
    return vectors.place is not None and not vectors.has_named_features
