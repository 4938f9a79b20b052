"""The scikit-learn face of Omni TM-AE."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from omnitm.corpus import as_index
from omnitm.engines import ThreadsEngine
from omnitm.errors import ParameterError
from omnitm.files.kinds import kind_of
from omnitm.machine import PAPER, AutoencoderSettings
from omnitm.store.folder import check_free_for_use
from omnitm.store.model_notes import INDEX
from omnitm.training.vocabulary import (
    add_words,
    default_settings,
    extend_vectors,
    train_model,
    train_vectors,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from omnitm.corpus import DocumentIndex
    from omnitm.explain import Comparison, Explainer, Trace, WordExplanation
    from omnitm.machine import Contexts
    from omnitm.training.progress import ProgressOption


class OmniTMAE(BaseEstimator):  # type: ignore[misc]
    """Word embeddings read out of Tsetlin machine autoencoders, one per word.

    Parameters
    ----------
    n_clauses
        Number of clauses per word (the paper's *c*).
    threshold
        Vote at which feedback fades out (*T*).
    specificity
        *s*: a literal is forgotten with probability 1/s; at 1.0 every step is certain.
    accumulation
        How many documents are merged into one example.
    n_examples, n_epochs
        Examples per epoch, and epochs; only their product matters.
    algorithm
        "exact" (the paper) or "fast" (FastOmniTMAE's simplification).
    state_bits
        Bits of an automaton's state, 4 to 8.
    output_balancing
        Share of examples made from documents that contain the word.
    max_included_literals
        A clause with more included literals than this only forgets; None: no limit.
    contexts
        What a word is trained on: "topic" (the paper: documents that contain it), "place" (the words next to
        it), or "both"; None: both where the corpus has an order (texts, token lists, an index that keeps the
        running text), else topic.
    n_place_features
        How many words, the most frequent ones, are looked for at each of the four places around a word.
    seed
        With a word's spelling it gives the word's random draws: the same seed gives the same bits,
        whatever `n_jobs` is and whichever other words are trained.
    n_jobs
        Number of threads; None: one per core.
    progress
        True: a bar on standard error; or a function that is called with a `Progress` now and then.

    Attributes
    ----------
    word_vectors_
        The trained `WordVectors`.
    index_
        The corpus as a `DocumentIndex`.
    vocabulary_
        The words of the corpus: the features of every vector.
    n_features_in_
        Size of the vocabulary.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> documents = sp.csr_matrix(np.array([[1, 1, 0, 0], [0, 0, 1, 1]] * 20))
    >>> model = OmniTMAE(n_examples=50, n_jobs=1).fit(documents, vocabulary=["road", "car", "sea", "ship"])
    >>> model.word_vectors_.most_similar("road", topn=1)[0][0]
    'car'
    """

    def __init__(
        self,
        *,
        n_clauses: int = AutoencoderSettings.n_clauses,
        threshold: int = AutoencoderSettings.threshold,
        specificity: float = AutoencoderSettings.specificity,
        accumulation: int = AutoencoderSettings.accumulation,
        n_examples: int = AutoencoderSettings.n_examples,
        n_epochs: int = AutoencoderSettings.n_epochs,
        algorithm: Literal["exact", "fast"] = AutoencoderSettings.algorithm,
        state_bits: int = AutoencoderSettings.state_bits,
        output_balancing: float = AutoencoderSettings.output_balancing,
        max_included_literals: int | None = AutoencoderSettings.max_included_literals,
        contexts: Contexts | None = None,
        n_place_features: int = AutoencoderSettings.n_place_features,
        seed: int = 0,
        n_jobs: int | None = None,
        progress: ProgressOption = False,
    ) -> None:
        self.n_clauses = n_clauses
        self.threshold = threshold
        self.specificity = specificity
        self.accumulation = accumulation
        self.n_examples = n_examples
        self.n_epochs = n_epochs
        self.algorithm = algorithm
        self.state_bits = state_bits
        self.output_balancing = output_balancing
        self.max_included_literals = max_included_literals
        self.contexts = contexts
        self.n_place_features = n_place_features
        self.seed = seed
        self.n_jobs = n_jobs
        self.progress = progress

    @classmethod
    def paper(cls, **overrides: Any) -> OmniTMAE:
        """Return an estimator with the paper's settings, except for what is given.

        >>> OmniTMAE.paper(seed=3).n_epochs
        4
        """
        return cls(**{**PAPER, **overrides})

    def fit(
        self,
        corpus: Any,
        y: Any = None,
        *,
        words: Iterable[str] | None = None,
        vocabulary: Sequence[str] | None = None,
        model_dir: str | Path | None = None,
        resume: bool = False,
        force: bool = False,
    ) -> OmniTMAE:
        """Train words on a corpus.

        Parameters
        ----------
        corpus
            A `DocumentIndex` or its path, the path of text, a matrix documents x words with its
            `vocabulary`, or a list of texts or token lists, see `omnitm.corpus.as_index`.
        y
            Labels of the documents, as scikit-learn passes them on; they are not used.
        words
            Words to train; None: all of the vocabulary.
        vocabulary
            The words of the matrix's columns, or the words to look for in texts.
        model_dir
            Folder to train into, so that a killed run can be resumed; None: train in memory.
        resume, force
            Continue, or replace, the model in `model_dir`.
        """
        given, engine = self._given_settings(), ThreadsEngine(self.n_jobs)
        index = self._open_corpus(corpus, vocabulary, model_dir, resume=resume, force=force)
        _check_labels(y, index)
        common: dict[str, Any] = {
            "settings": default_settings(index, **given),
            "seed": self.seed,
            "engine": engine,
            "progress": self.progress,
        }
        if model_dir is None:
            vectors = train_vectors(index, words, **common)
        else:
            vectors = train_model(index, model_dir, words, resume=resume, force=force, **common)
        self.index_: DocumentIndex = index
        self.word_vectors_ = vectors
        self.vocabulary_ = list(index.vocabulary)
        self.n_features_in_ = index.n_words
        self._model_dir = model_dir
        return self

    def add_words(self, words: Iterable[str]) -> OmniTMAE:
        """Train more words with the settings of `fit`; the others do not change."""
        check_is_fitted(self, "word_vectors_")
        where: dict[str, Any] = {"engine": ThreadsEngine(self.n_jobs), "progress": self.progress}
        if self._model_dir is None:
            self.word_vectors_ = extend_vectors(self.index_, self.word_vectors_, words, **where)
        else:
            self.word_vectors_ = add_words(self.index_, self._model_dir, words, **where)
        return self

    def explain(self, word: str, **options: Any) -> WordExplanation:
        """Show what a word's machine has learned; see `omnitm.Explainer.explain`."""
        return self._explainer().explain(word, **options)

    def why(self, word: str, other: str, **options: Any) -> Comparison:
        """Take the similarity of two words apart; see `omnitm.Explainer.why`."""
        return self._explainer().why(word, other, **options)

    def trace(self, word: str, literal: str, **options: Any) -> Trace:
        """Follow a literal through the training of a word; see `omnitm.Explainer.trace`."""
        return self._explainer().trace(word, literal, **options)

    def _explainer(self) -> Explainer:
        """Explain the fitted words. The one import to the right: users look for these methods here."""
        from omnitm.explain import Explainer

        check_is_fitted(self)
        return Explainer(self.word_vectors_, self.index_)

    @staticmethod
    def _open_corpus(
        corpus: Any,
        vocabulary: Sequence[str] | None,
        model_dir: str | Path | None,
        *,
        resume: bool,
        force: bool,
    ) -> DocumentIndex:
        """Index what is given; the index of text files is kept in the model's folder, if there is one."""
        if model_dir is None:
            return as_index(corpus, vocabulary)
        own = Path(model_dir) / INDEX
        if not resume:
            check_free_for_use(Path(model_dir), force=force)
        elif isinstance(corpus, (str, Path)) and kind_of(corpus) != "index" and kind_of(own) == "index":
            return as_index(own, vocabulary)
        return as_index(corpus, vocabulary, folder=own)

    def _given_settings(self) -> dict[str, Any]:
        """Return the settings, checked before the corpus is read."""
        given = {field.name: getattr(self, field.name) for field in fields(AutoencoderSettings)}
        AutoencoderSettings(**{**given, "contexts": given["contexts"] or "topic"})
        return given


def _check_labels(y: Any, index: DocumentIndex) -> None:
    """Refuse a second argument that cannot be labels: it was `words` once."""
    n_labels = None if y is None else (len(y) if hasattr(y, "__len__") else -1)
    if n_labels not in {None, index.n_documents}:
        raise ParameterError(
            f"The 'y' parameter of OmniTMAE.fit must have a label for each of the {index.n_documents:,} "
            "documents, or be left out; words to train are given by name: fit(corpus, words=[...])."
        )
