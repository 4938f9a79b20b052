"""Word2Vec and FastText, trained by gensim on the text of an index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from omnitm.baselines.protocol import Baseline, Learned, Limits
from omnitm.baselines.texts import Tokens, tokens_of
from omnitm.corpus import DocumentIndex
from omnitm.errors import needs_extra
from omnitm.training.progress import ProgressOption, reporting

_LONGEST_SENTENCE = 10_000  # gensim drops what comes after that many words
_DOCUMENTS_AT_ONCE = 10_000


@dataclass(frozen=True, kw_only=True)
class _GensimModel(Baseline):
    """What Word2Vec and FastText share; the defaults are gensim's, but for 25 epochs as in the paper.

    Parameters
    ----------
    sg
        1: skip-gram; 0: continuous bag of words (CBOW).
    vector_size
        Number of coordinates.
    window
        How far apart two words may be, in words of the text that the model reads.
    negative
        Words drawn as negative examples for each word.
    sample
        Words that are a larger share of the text than this are left out at random; 0: none.
    alpha
        Rate of learning at the start; it falls to gensim's `min_alpha`.
    function_words
        Whether the model reads the stop words of the index, too; they get no vectors here.
    centred
        Whether the mean of all vectors is taken from each.
    n_epochs
        Passes over the text.
    seed
        Seed of gensim's random draws.
    n_jobs
        gensim's worker threads; only one worker gives the same vectors every time.
    """

    sg: int = 0
    vector_size: int = 100
    window: int = 5
    negative: int = 5
    sample: float = 1e-3
    alpha: float = 0.025
    function_words: bool = False
    centred: bool = False
    n_epochs: int = 25
    seed: int = 0
    n_jobs: int = 1
    limits: ClassVar[Limits] = {
        "sg": (0, 1),
        **dict.fromkeys(("vector_size", "window", "negative", "n_epochs", "n_jobs"), (1,)),
        "sample": (0.0, 1.0),
        "alpha": (1e-4, 10.0),
        "seed": (0, 2**32 - 1),
    }

    def learn(self, index: DocumentIndex, words: Sequence[str], progress: ProgressOption) -> Learned:
        """Train on the text behind the index, with exactly its vocabulary; rows are `words`, or all."""
        model = self._gensim_model()
        with tokens_of(index, function_words=self.function_words) as tokens:
            counts = np.maximum(tokens.counts, 1).tolist()  # a word may be missing in the text
            model.build_vocab_from_freq(dict(zip(tokens.names, counts, strict=True)))
            n_tokens = len(tokens.ids)
            with reporting(progress, 0, n_tokens * self.n_epochs) as report:
                sentences = _Sentences(tokens, report)
                model.train(
                    sentences, total_examples=sentences.count(), total_words=n_tokens, epochs=self.n_epochs
                )
        matrix = np.array([model.wv.get_vector(word) for word in index.vocabulary], dtype=np.float32)
        if self.centred:
            matrix -= matrix.mean(axis=0)
        rows = [index.word_id(word) for word in words]
        return matrix[rows], {"gensim": _gensim().__version__}

    def _gensim_model(self) -> Any:
        return getattr(_gensim().models, type(self).__name__)(
            sg=self.sg,
            vector_size=self.vector_size,
            window=self.window,
            negative=self.negative,
            sample=self.sample,
            alpha=self.alpha,
            min_count=1,
            seed=self.seed,
            workers=self.n_jobs,
        )


class Word2Vec(_GensimModel):
    """Word2Vec (Mikolov et al. 2013): continuous bag of words or skip-gram, as gensim trains it."""

    name = "word2vec"


class FastText(_GensimModel):
    """FastText (Bojanowski et al. 2017): Word2Vec whose words share the vectors of their letter n-grams."""

    name = "fasttext"


class _Sentences:
    """Sentences as gensim reads them: lists of words, again and again."""

    def __init__(self, tokens: Tokens, report: Callable[[int], None]) -> None:
        self._tokens, self._report = tokens, report
        self._names = np.array(tokens.names, dtype=object)
        self._read = 0

    def count(self) -> int:
        """Count the sentences of one pass."""
        lengths = np.diff(self._tokens.offsets.astype(np.int64))
        return int(np.sum(-(-lengths // _LONGEST_SENTENCE)))

    def __iter__(self) -> Iterator[list[str]]:
        ids, offsets = self._tokens.ids, self._tokens.offsets
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
    with needs_extra("Word2Vec and FastText", "baselines"):
        import gensim.models
    return gensim
