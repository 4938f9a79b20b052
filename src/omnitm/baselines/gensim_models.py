"""Word2Vec and FastText, trained by gensim on the text of an index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from omnitm.baselines.protocol import as_word_vectors
from omnitm.baselines.tokens import Tokens, tokens_of
from omnitm.errors import MissingExtraError
from omnitm.parameters import check_integer
from omnitm.training.progress import reporting
from omnitm.training.vocabulary import check_targets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from omnitm.corpus import DocumentIndex
    from omnitm.training.progress import ProgressOption
    from omnitm.vectors import WordVectors

_LONGEST_SENTENCE = 10_000  # gensim drops what comes after that many words
_DOCUMENTS_AT_ONCE = 10_000


@dataclass(frozen=True, kw_only=True)
class _GensimModel:
    """What Word2Vec and FastText share; all other settings are gensim's defaults.

    Parameters
    ----------
    vector_size
        Number of coordinates.
    window
        How far apart two words may be, in words of the vocabulary.
    n_epochs
        Passes over the text.
    seed
        Seed of gensim's random draws.
    n_jobs
        gensim's worker threads; only one worker gives the same vectors every time.
    """

    vector_size: int = 100
    window: int = 5
    n_epochs: int = 25
    seed: int = 0
    n_jobs: int = 1
    name: ClassVar[str]
    class_name: ClassVar[str]

    def __post_init__(self) -> None:
        for setting in ("vector_size", "window", "n_epochs", "n_jobs"):
            check_integer(self.class_name, setting, getattr(self, setting), 1)
        check_integer(self.class_name, "seed", self.seed, 0, 2**32 - 1)

    def train(
        self, index: DocumentIndex, words: Iterable[str] | None = None, *, progress: ProgressOption = False
    ) -> WordVectors:
        """Train on the text behind the index, with exactly its vocabulary; rows are `words`, or all."""
        targets = check_targets(index, words)
        model = self._gensim_model()
        with tokens_of(index) as tokens:
            counts = np.maximum(tokens.counts(index.n_words), 1).tolist()  # a word may be missing in the text
            model.build_vocab_from_freq(dict(zip(index.vocabulary, counts, strict=True)))
            n_tokens = len(tokens.ids)
            with reporting(progress, 0, n_tokens * self.n_epochs) as report:
                sentences = _Sentences(tokens, index.vocabulary, report)
                model.train(
                    sentences,
                    total_examples=sentences.count(),
                    total_words=n_tokens,
                    epochs=self.n_epochs,
                )
        matrix = np.array([model.wv.get_vector(word) for word in targets], dtype=np.float32)
        return as_word_vectors(self, index, matrix, targets, gensim=_gensim().__version__)

    def _gensim_model(self) -> Any:
        return getattr(_gensim().models, self.class_name)(
            vector_size=self.vector_size,
            window=self.window,
            min_count=1,
            seed=self.seed,
            workers=self.n_jobs,
        )


class Word2Vec(_GensimModel):
    """Word2Vec (Mikolov et al. 2013): continuous bag of words, as gensim trains it."""

    name, class_name = "word2vec", "Word2Vec"


class FastText(_GensimModel):
    """FastText (Bojanowski et al. 2017): Word2Vec whose words share the vectors of their letter n-grams."""

    name, class_name = "fasttext", "FastText"


class _Sentences:
    """Sentences as gensim reads them: lists of words, again and again."""

    def __init__(self, tokens: Tokens, vocabulary: Iterable[str], report: Callable[[int], None]) -> None:
        self._tokens, self._report = tokens, report
        self._names = np.array(list(vocabulary), dtype=object)
        self._read = 0

    def count(self) -> int:
        """Count the sentences of one pass."""
        lengths = np.diff(self._tokens.offsets.astype(np.int64))
        return int(np.sum(-(-lengths // _LONGEST_SENTENCE)))

    def __iter__(self) -> Iterator[list[str]]:
        ids, offsets = self._tokens
        for first in range(0, self._tokens.n_documents, _DOCUMENTS_AT_ONCE):
            bounds = offsets[first : first + _DOCUMENTS_AT_ONCE + 1].astype(np.int64)
            words = self._names[ids[bounds[0] : bounds[-1]]].tolist()
            bounds -= bounds[0]
            for start, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
                for piece in range(start, end, _LONGEST_SENTENCE):
                    yield words[piece : min(end, piece + _LONGEST_SENTENCE)]
            self._read += len(words)
            self._report(self._read)


def _gensim() -> Any:
    try:
        import gensim.models
    except ImportError:
        raise MissingExtraError("Word2Vec and FastText", "baselines") from None
    return gensim
