"""The scikit-learn face of Omni TM-AE."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from omnitm.corpus import DocumentIndex, Preparation, as_index
from omnitm.engines import ThreadsEngine
from omnitm.errors import ParameterError
from omnitm.files.kinds import kind_of
from omnitm.machine import PAPER, AutoencoderSettings, Contexts
from omnitm.machine.settings import FROM_THE_TEXT
from omnitm.parameters import check_integer
from omnitm.store.folder import check_free_for_use
from omnitm.store.model_notes import INDEX, index_of_model, note_index
from omnitm.store.record import omni_record
from omnitm.training.progress import ProgressOption
from omnitm.training.vocabulary import add_words, default_settings, extend_vectors, train_model, train_vectors
from omnitm.vectors.vectorizer import OmniVectorizer
from omnitm.vectors.word_vectors import WordVectors

if TYPE_CHECKING:
    from omnitm.explain import Comparison, DocumentRule, Explainer, RecordList, Senses, Trace, WordExplanation
    from omnitm.vectors.themes import Themes


class OmniTMAE(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Word embeddings by Omni TM-AE: a Tsetlin machine per word, from whose states its vector is read.

    Parameters
    ----------
    n_clauses
        Number of clauses per word (the paper's *c*).
    threshold
        Vote of the clauses at which they stop learning (*T*).
    specificity
        A literal is forgotten with probability 1/s (*s*); at 1.0 nothing is left to chance.
    accumulation
        How many documents, or passages, are merged into one example.
    accumulation_growth
        For a word at more than 1,500 places, an example merges more places, in proportion to their number:
        up to so many times `accumulation`. 1: the same for all words.
    n_examples, n_epochs
        Examples per epoch, and epochs; only their product matters.
    algorithm
        "exact" (the paper) or "fast" (FastOmniTMAE's simplification).
    state_bits
        Bits of a state, 4 to 8.
    output_balancing
        Share of examples made from documents that contain the word.
    max_included_literals
        A clause with more included literals than this only forgets; None: no limit.
    contexts
        What a word is trained on: "topic" (the paper: documents that contain it), "place" (the words next to
        it), or "both"; None: both where the corpus has an order (texts, token lists, an index that keeps the
        running text), else topic.
    n_place_features
        How many of the most frequent words are looked for at each of the four places around a word.
    passage_reach
        Topics are learned from passages: a word and so many words before and after it; 0: from whole
        documents, as in the paper; None: 25 where documents have more than 100 words on average, else 0.
    seed
        All random draws for a word follow from it and the word's spelling: the same seed gives the same
        vectors, whatever `n_jobs` is and whichever other words are trained.
    random_state
        scikit-learn's name for `seed`: an int that takes its place; None: `seed`.
    n_jobs
        Number of threads; None: one per core.
    preparation
        How texts become words; None: `Preparation()`. Token lists, matrices and indexes are prepared already.
    progress
        True: a bar on standard error or in the notebook; or a function that is given a `Progress` at times.

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
        accumulation_growth: int = AutoencoderSettings.accumulation_growth,
        n_examples: int = AutoencoderSettings.n_examples,
        n_epochs: int = AutoencoderSettings.n_epochs,
        algorithm: Literal["exact", "fast"] = AutoencoderSettings.algorithm,
        state_bits: int = AutoencoderSettings.state_bits,
        output_balancing: float = AutoencoderSettings.output_balancing,
        max_included_literals: int | None = AutoencoderSettings.max_included_literals,
        contexts: Contexts | None = None,
        n_place_features: int = AutoencoderSettings.n_place_features,
        passage_reach: int | None = None,
        seed: int = 0,
        random_state: int | None = None,
        n_jobs: int | None = None,
        preparation: Preparation | None = None,
        progress: ProgressOption = False,
    ) -> None:
        self.n_clauses = n_clauses
        self.threshold = threshold
        self.specificity = specificity
        self.accumulation = accumulation
        self.accumulation_growth = accumulation_growth
        self.n_examples = n_examples
        self.n_epochs = n_epochs
        self.algorithm = algorithm
        self.state_bits = state_bits
        self.output_balancing = output_balancing
        self.max_included_literals = max_included_literals
        self.contexts = contexts
        self.n_place_features = n_place_features
        self.passage_reach = passage_reach
        self.seed = seed
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.preparation = preparation
        self.progress = progress

    @classmethod
    def paper(cls, **overrides: Any) -> OmniTMAE:
        """Return an estimator with the paper's settings and preparation of texts, except for what is given.

        >>> OmniTMAE.paper(seed=3).n_epochs
        4
        """
        return cls(**{**PAPER, "preparation": Preparation.paper(), **overrides})

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
            "seed": self._given_seed(),
            "engine": engine,
            "progress": self.progress,
        }
        if model_dir is None:
            vectors = train_vectors(index, words, **common)
        else:
            vectors = train_model(index, model_dir, words, resume=resume, force=force, **common)
        return self._set_fitted(index, vectors, model_dir)

    @property
    def wv(self) -> WordVectors:
        """The trained word vectors, under gensim's name."""
        check_is_fitted(self, "word_vectors_")
        return self.word_vectors_

    @property
    def partial_fit(self) -> Any:
        """Not available: words are trained on all documents at once; the error says what to do instead."""
        raise AttributeError(
            "OmniTMAE has no partial_fit: a word is trained on all documents. Add documents to an index "
            "(omnitm.corpus.append_to_index, or `omnitm index MORE.txt --append -o INDEX`) and fit again; "
            "for more words of the same documents there is add_words."
        )

    def transform(self, documents: Iterable[Any]) -> Any:
        """Turn documents into vectors: the mean of their words', see `OmniVectorizer`, which has options."""
        return self._vectorizer().transform(documents)

    def fit_transform(self, documents: Iterable[Any], y: Any = None, **options: Any) -> Any:
        """Train words on documents, and turn these into vectors; options are those of `fit`."""
        documents = list(documents)
        return self.fit(documents, y, **options).transform(documents)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Name the numbers of `transform`; the words of the vocabulary are `vocabulary_`."""
        n_features = len(self._vectorizer().get_feature_names_out(input_features))
        return np.array([f"omnitmae{k}" for k in range(n_features)], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def _vectorizer(self) -> OmniVectorizer:
        return OmniVectorizer(self, preparation=self.wv.preparation)

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the trained words as a model folder, which `load` and all commands of `omnitm` open."""
        check_is_fitted(self, "word_vectors_")
        self.word_vectors_.save(path, force=force)
        if hasattr(self, "index_"):
            note_index(Path(path), self.index_)

    @classmethod
    def load(cls, path: str | Path) -> OmniTMAE:
        """Open a model folder as a fitted estimator; it has no `index_` if the index is not found."""
        vectors = WordVectors.load(path)
        record = omni_record(vectors.training, "be an estimator")
        settings = asdict(record.settings)
        for name in FROM_THE_TEXT:
            del settings[name]
        model = cls(**settings, seed=record.seed)
        return model._set_fitted(index_of_model(Path(path)), vectors, Path(path))

    def _set_fitted(
        self, index: DocumentIndex | None, vectors: WordVectors, model_dir: str | Path | None
    ) -> OmniTMAE:
        if index is not None:
            self.index_: DocumentIndex = index
        self.word_vectors_ = vectors
        self.vocabulary_ = vectors.feature_names if index is None else list(index.vocabulary)
        self.n_features_in_ = len(self.vocabulary_)
        self._model_dir = model_dir
        return self

    def add_words(self, words: Iterable[str]) -> OmniTMAE:
        """Train more words with the settings of `fit`; the others do not change."""
        check_is_fitted(self, "word_vectors_")
        if not hasattr(self, "index_"):
            raise ParameterError("add_words needs the index of the model, and it is not where it was.")
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

    def senses(self, word: str, **options: Any) -> Senses:
        """Tell the senses of a word apart; see `omnitm.Explainer.senses`."""
        return self._explainer().senses(word, **options)

    def themes(self, k: int | None = None) -> Themes:
        """Describe all words by `k` themes; see `omnitm.WordVectors.themes`."""
        check_is_fitted(self, "word_vectors_")
        return self.word_vectors_.themes(k)

    def document_rules(self, word: str, **options: Any) -> RecordList[DocumentRule]:
        """Distil rules about single documents; see `omnitm.Explainer.document_rules`."""
        return self._explainer().document_rules(word, **options)

    def trace(self, word: str, literal: str, **options: Any) -> Trace:
        """Follow a literal through the training of a word; see `omnitm.Explainer.trace`."""
        return self._explainer().trace(word, literal, **options)

    def _explainer(self) -> Explainer:
        """Explain the fitted words. The one import to the right: users look for these methods here."""
        from omnitm.explain import Explainer

        check_is_fitted(self)
        return Explainer(self.word_vectors_, getattr(self, "index_", None))

    def _open_corpus(
        self,
        corpus: Any,
        vocabulary: Sequence[str] | None,
        model_dir: str | Path | None,
        *,
        resume: bool,
        force: bool,
    ) -> DocumentIndex:
        """Index what is given; the index of text files is kept in the model's folder, if there is one."""
        if model_dir is None:
            return as_index(corpus, vocabulary, preparation=self.preparation)
        own = Path(model_dir) / INDEX
        if not resume:
            check_free_for_use(Path(model_dir), force=force)
        elif isinstance(corpus, (str, Path)) and kind_of(corpus) != "index" and kind_of(own) == "index":
            return as_index(own, vocabulary)
        return as_index(corpus, vocabulary, folder=own, preparation=self.preparation)

    def _given_seed(self) -> int:
        """Return `random_state` where it is given, else `seed`."""
        if self.random_state is None:
            return self.seed
        if self.seed not in {0, self.random_state}:
            raise ParameterError(
                "The 'random_state' parameter of OmniTMAE is another name of 'seed'; give one of them. "
                f"Got seed={self.seed!r} and random_state={self.random_state!r}."
            )
        return check_integer("OmniTMAE", "random_state", self.random_state, 0, 2**64 - 1)

    def _given_settings(self) -> dict[str, Any]:
        """Return the settings, checked before the corpus is read."""
        names = [field.name for field in fields(AutoencoderSettings) if field.name not in FROM_THE_TEXT]
        given = {name: getattr(self, name) for name in names}
        reach = 0 if given["passage_reach"] is None else given["passage_reach"]
        AutoencoderSettings(**{**given, "contexts": given["contexts"] or "topic", "passage_reach": reach})
        return given


def _check_labels(y: Any, index: DocumentIndex) -> None:
    """Refuse a second argument that cannot be labels: it was `words` once."""
    n_labels = None if y is None else (len(y) if hasattr(y, "__len__") else -1)
    if n_labels not in {None, index.n_documents}:
        raise ParameterError(
            f"The 'y' parameter of OmniTMAE.fit must have a label for each of the {index.n_documents:,} "
            "documents, or be left out; words to train are given by name: fit(corpus, words=[...])."
        )
