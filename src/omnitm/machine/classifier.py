"""The Tsetlin machine classifier with scikit-learn's contract, and why it decided as it did.

An explanation lists the clauses that fired, and what each word of the document changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from omnitm import _native
from omnitm.errors import CorpusError, ParameterError
from omnitm.files import available_cores
from omnitm.machine.draws import Purpose, below, draw, high
from omnitm.machine.settings import OWNER, ClassifierSettings, classifier_key
from omnitm.parameters import check_integer, check_real


class FiredClause(NamedTuple):
    """A clause that is true of the document."""

    label: Any
    """The class it votes on."""
    number: int
    """Its place among the clauses of the class."""
    weight: int
    """Its vote: positive for the class, negative against it."""
    present: tuple[str, ...]
    """Words that must occur."""
    absent: tuple[str, ...]
    """Words that must not occur."""

    def __str__(self) -> str:
        parts = [*self.present, *(f"not {word}" for word in self.absent[:8])]
        more = f" and not {len(self.absent) - 8} more" if len(self.absent) > 8 else ""
        return f"{self.weight:+d} for {self.label}: {' and '.join(parts)}{more}"


class WordEffect(NamedTuple):
    """What one word of the document does to the decision."""

    word: str
    effect: int
    """How much smaller the winner's lead would be without the word; negative: how much larger."""


@dataclass(frozen=True)
class Explanation:
    """A decision on one document and its reasons, the weightiest first."""

    label: Any
    """The class decided on."""
    votes: dict[Any, int]
    """The vote on every class."""
    clauses: tuple[FiredClause, ...]
    """Clauses that are true of the document."""
    words: tuple[WordEffect, ...]
    """The document's words."""

    def __str__(self) -> str:
        votes = ", ".join(f"{label} {vote:+d}" for label, vote in self.votes.items())
        words = ", ".join(f"{word} {effect:+d}" for word, effect in self.words[:10]) or "none"
        rules = "\n".join(f"  {clause}" for clause in self.clauses[:5])
        fired = f"{len(self.clauses)} clauses fired, the weightiest:\n{rules}" if rules else "no clause fired"
        return f"{self.label} (votes: {votes})\nwords: {words}\n{fired}"


class _Verdicts(NamedTuple):
    """What one class's clauses say of a document."""

    fired: NDArray[np.int64]
    vote: int
    lost: NDArray[np.int64]
    """Per word: by how much the vote would fall without it; negative: rise."""


def explain_document(
    banks: ClauseBanks,
    included: Sequence[IncludedLiterals],
    words: NDArray[np.int64],
    classes: NDArray[Any],
    names: Sequence[str],
) -> Explanation:
    """Find out which clauses are true of a set of words, and what each word changes."""
    # Literals: "word k occurs" at k, "word k does not occur" at n_words + k.
    truth = np.zeros(2 * banks.n_words, dtype=bool)
    truth[banks.n_words :] = True
    truth[words], truth[banks.n_words + words] = True, False
    verdicts = [_ask(banks.weights[k], lists, truth) for k, lists in enumerate(included)]
    votes = np.array([verdict.vote for verdict in verdicts])
    winner = int(votes.argmax())
    # The best of the others; a word matters by what it does to the lead of the winner over this one.
    rival = int(np.where(np.arange(len(votes)) == winner, np.iinfo(np.int64).min, votes).argmax())
    effects = (verdicts[winner].lost - verdicts[rival].lost)[words]
    ranked = np.argsort(-np.abs(effects), kind="stable")
    fired = [
        FiredClause(
            classes[k],
            clause,
            int(banks.weights[k, clause]),
            *_words_of(included[k].of(clause), banks.n_words, names),
        )
        for k, verdict in enumerate(verdicts)
        for clause in verdict.fired.tolist()
    ]
    return Explanation(
        classes[winner],
        dict(zip(classes.tolist(), votes.tolist(), strict=True)),
        tuple(sorted(fired, key=lambda clause: -abs(clause.weight))),
        tuple(WordEffect(names[words[k]], int(effects[k])) for k in ranked),
    )


def _ask(weights: NDArray[np.int32], lists: IncludedLiterals, truth: NDArray[np.bool_]) -> _Verdicts:
    """Evaluate the clauses; a word's loss counts those that its removal alone would silence or set off."""
    n_words, bounds = len(truth) // 2, lists.offsets.astype(np.int64)
    sizes = bounds[1:] - bounds[:-1]
    clause = np.repeat(np.arange(len(sizes)), sizes)
    is_false = ~truth[lists.literals]
    n_false = np.bincount(clause[is_false], minlength=len(sizes))
    # An empty clause would be true of everything; when predicting it does not vote.
    fired = (n_false == 0) & (sizes > 0)
    lost = np.zeros(n_words, dtype=np.int64)
    # True clauses that ask for a word would be silent without it ...
    silenced = fired[clause] & (lists.literals < n_words)
    np.add.at(lost, lists.literals[silenced], weights[clause[silenced]])
    # ... and clauses that are false only because of its negation would be true.
    set_off = is_false & (n_false[clause] == 1) & (lists.literals >= n_words)
    pair = clause * n_words + lists.literals.astype(np.int64) % n_words
    set_off &= ~np.isin(pair, pair[lists.literals < n_words])  # "w and not w" stays false without w
    np.subtract.at(lost, lists.literals[set_off] - n_words, weights[clause[set_off]])
    return _Verdicts(np.flatnonzero(fired), int(weights[fired].sum()), lost)


def _words_of(
    literals: NDArray[np.uint32], n_words: int, names: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split literals into the words that must occur and those that must not."""
    numbers = literals.tolist()
    present = tuple(names[literal] for literal in numbers if literal < n_words)
    return present, tuple(names[literal - n_words] for literal in numbers if literal >= n_words)


class TsetlinMachineClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classify documents, given as the words they have, by votes of readable clauses.

    Every class has clauses such as "good and not dull"; the first half of them votes for the class, the
    second against it, each with a weight. The defaults are the settings of the Omni TM-AE paper.

    Parameters
    ----------
    n_clauses
        Clauses per class, an even number.
    threshold
        Vote at which feedback fades out (*T*).
    specificity
        *s*: a literal is forgotten with probability 1/s; at 1.0 every step is certain.
    clause_drop
        Share of clauses that are left out of an epoch, drawn again for every epoch.
    n_epochs
        How often `fit` shows all documents.
    max_included_literals
        A clause with more included literals than this only forgets; None: no limit.
    binarize
        Values above this mean that the document has the word, for counts or real numbers; None: values must
        be 0 or 1.
    seed
        The same seed gives the same clauses, whatever `n_jobs` is.
    n_jobs
        Number of threads, each of which teaches one class at a time; None: one per core.

    Attributes
    ----------
    classes_
        The labels, ascending.
    weights_
        Classes x clauses: the vote of every clause.
    n_features_in_
        Number of words.
    feature_names_in_
        The words, if `fit` got a data frame.
    n_epochs_
        How often documents were shown so far.

    Examples
    --------
    >>> import numpy as np
    >>> documents = np.array([[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]] * 20)
    >>> model = TsetlinMachineClassifier(n_clauses=20, threshold=20, clause_drop=0.2, n_jobs=1)
    >>> model.fit(documents, ["good", "good", "bad", "bad"] * 20).predict([[1, 0, 1], [0, 1, 0]])
    array(['good', 'bad'], dtype='<U4')
    """

    def __init__(
        self,
        *,
        n_clauses: int = 1000,
        threshold: int = 8000,
        specificity: float = 2.0,
        clause_drop: float = 0.75,
        n_epochs: int = 10,
        max_included_literals: int | None = None,
        binarize: float | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clauses = n_clauses
        self.threshold = threshold
        self.specificity = specificity
        self.clause_drop = clause_drop
        self.n_epochs = n_epochs
        self.max_included_literals = max_included_literals
        self.binarize = binarize
        self.seed = seed
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: ArrayLike) -> TsetlinMachineClassifier:  # noqa: N803
        """Learn from documents (rows of words, sparse or dense) and their labels, from the beginning."""
        n_epochs = check_integer(OWNER, "n_epochs", self.n_epochs, 1, 2**20)
        documents, y = self._documents(X, y, reset=True)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) == 1:
            raise CorpusError(
                f"y has one class only, {self.classes_.tolist()[0]!r}: {OWNER} needs documents of two "
                "classes or more"
            )
        self._start()
        self._learn(documents, labels, n_epochs)
        return self

    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> TsetlinMachineClassifier:  # noqa: N803
        """Show some documents once more, or first ones; the first call must name all `classes`."""
        first = not hasattr(self, "_banks")
        documents, y = self._documents(X, y, reset=first)
        if first:
            self.classes_ = self._named_classes(classes)
            self._start()
        elif classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
            raise ParameterError(
                f"`classes` is not the same as in the first call of partial_fit: "
                f"{np.unique(np.asarray(classes)).tolist()} instead of {self.classes_.tolist()}"
            )
        # A label that is not among the classes gets a neighbour's place, and is found by comparing.
        labels = np.searchsorted(self.classes_, y).clip(max=len(self.classes_) - 1)
        strangers = np.unique(y[self.classes_[labels] != y])
        if len(strangers):
            raise CorpusError(f"y has labels that `classes` does not have: {strangers[:5].tolist()}")
        self._learn(documents, labels, 1)
        return self

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Return the class with the highest vote for each document; of equal ones the first."""
        winners = self.votes(X).argmax(axis=1)
        predicted: NDArray[Any] = self.classes_[winners]
        return predicted

    def votes(self, X: Any) -> NDArray[np.int64]:  # noqa: N803
        """Sum the weights of the clauses that are true: documents x classes."""
        check_is_fitted(self, "_banks")
        documents, _ = self._documents(X, None, reset=False)
        votes: NDArray[np.int64] = self._banks.votes(documents, self._included, n_jobs=self._n_jobs())
        return votes

    def decision_function(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return the votes; of two classes, how far the second is ahead of the first."""
        votes = self.votes(X).astype(np.float64)
        return votes[:, 1] - votes[:, 0] if len(self.classes_) == 2 else votes

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return votes on a scale from 0 to 1, documents x classes; not calibrated.

        A vote v counts as odds of exp(2v / T), which has the slope of the chance (T + v) / 2T that training
        works with.
        """
        # 2 v / T: of two classes with votes v and -v this is the logistic function of 4 v / T.
        shares: NDArray[np.float64] = softmax(2 * self.votes(X) / self.threshold, axis=1)
        return shares

    def explain(self, document: Any, feature_names: Sequence[str] | None = None) -> Explanation:
        """Say why one document gets its class: the clauses that are true of it and what its words change.

        Parameters
        ----------
        document
            One row of words, sparse or dense.
        feature_names
            The words; by default those that `fit` saw, or "x0", "x1", ...
        """
        check_is_fitted(self, "_banks")
        is_table = sparse.issparse(document) or hasattr(document, "columns")
        row = document if is_table else np.atleast_2d(document)
        documents, _ = self._documents(row, None, reset=False)
        if len(documents) != 1:
            raise ParameterError(f"explain takes one document, and got {len(documents)}")
        names = self._names(feature_names)
        return explain_document(
            self._banks, self._included, documents.words.astype(np.int64), self.classes_, names
        )

    @property
    def weights_(self) -> NDArray[np.int32]:
        """Classes x clauses: the vote of every clause."""
        check_is_fitted(self, "_banks")
        return self._banks.weights

    @property
    def n_epochs_(self) -> int:
        """How often documents were shown so far."""
        check_is_fitted(self, "_banks")
        return self._banks.n_epochs

    def _start(self) -> None:
        settings = ClassifierSettings(
            n_clauses=self.n_clauses,
            threshold=self.threshold,
            specificity=self.specificity,
            clause_drop=self.clause_drop,
            max_included_literals=self.max_included_literals,
        )
        self._banks = ClauseBanks.new(
            settings, len(self.classes_), self.n_features_in_, classifier_key(self.seed)
        )

    def _learn(self, documents: Documents, labels: NDArray[np.int64], n_epochs: int) -> None:
        n_jobs = min(self._n_jobs(), len(self.classes_))
        for _ in range(n_epochs):
            self._banks.learn_epoch(documents, labels, n_jobs=n_jobs)
        self._included = self._banks.included_literals()

    def _n_jobs(self) -> int:
        if self.n_jobs is None:
            return available_cores()
        return check_integer(OWNER, "n_jobs", self.n_jobs, 1, 4096)

    def _names(self, feature_names: Sequence[str] | None) -> Sequence[str]:
        if feature_names is None:
            feature_names = getattr(self, "feature_names_in_", [f"x{k}" for k in range(self.n_features_in_)])
        if len(feature_names) != self.n_features_in_:
            raise ParameterError(
                f"`feature_names` must name all {self.n_features_in_} words; it has {len(feature_names)}"
            )
        return feature_names

    def _documents(self, X: Any, y: Any, *, reset: bool) -> tuple[Documents, NDArray[Any]]:  # noqa: N803
        """Check what scikit-learn checks, and find the words of each document."""
        _refuse_texts(X)
        options: dict[str, Any] = {"accept_sparse": "csr", "reset": reset}
        if not reset and y is None:
            return self._present(_validated(self, X, **options)), np.zeros(0)
        _check_labels_are_there(y)
        X, y = _validated(self, X, y, multi_output=True, **options)  # noqa: N806
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        return self._present(X), y

    def _present(self, X: Any) -> Documents:  # noqa: N803
        limit = None if self.binarize is None else check_real(OWNER, "binarize", self.binarize, -np.inf)
        if sparse.issparse(X) and limit is not None and limit < 0:
            raise ParameterError(
                f"The 'binarize' parameter of {OWNER} must be >= 0 for sparse input. Got {limit!r} instead."
            )
        if limit is not None and not sparse.issparse(X):
            X = limit < X  # noqa: N806
        presence = sparse.csr_matrix(X, copy=sparse.issparse(X))
        # Before looking at values: several entries of one word in one document are one number.
        presence.sum_duplicates()
        if limit is not None and sparse.issparse(X):
            presence.data = presence.data > limit
        presence.eliminate_zeros()
        if presence.nnz and not (presence.data == 1).all():
            value = presence.data[presence.data != 1].tolist()[0]
            raise CorpusError(
                f"{OWNER} takes 0 and 1 only (a document has a word or not), but X has {value!r}; "
                "binarize=0.0 takes everything above 0 as 1"
            )
        return Documents.from_csr(presence)

    def _named_classes(self, classes: ArrayLike | None) -> NDArray[Any]:
        if classes is None:
            raise ParameterError("`classes` must name all classes in the first call of partial_fit")
        named: NDArray[Any] = np.unique(np.asarray(classes))
        if len(named) < 2:
            raise ParameterError(f"`classes` must name two classes or more. Got {named.tolist()} instead.")
        return named

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _more_tags(self) -> dict[str, Any]:
        return {"X_types": ["2darray", "sparse"]}  # before scikit-learn 1.6


def _validated(estimator: TsetlinMachineClassifier, *arguments: Any, **options: Any) -> Any:
    try:
        from sklearn.utils.validation import validate_data
    except ImportError:  # before scikit-learn 1.6
        return estimator._validate_data(*arguments, **options)  # noqa: SLF001
    return validate_data(estimator, *arguments, **options)


def _refuse_texts(X: Any) -> None:  # noqa: N803
    is_list = isinstance(X, (list, tuple)) or getattr(X, "ndim", 2) == 1
    if is_list and isinstance(next(iter(X), None), str):
        raise CorpusError(
            f"{OWNER} takes a matrix documents x words, not texts; "
            "CountVectorizer(binary=True).fit_transform(texts) of scikit-learn makes one"
        )


def _check_labels_are_there(y: Any) -> None:
    """Find labels that are None or not a number, which scikit-learn reports less clearly or not at all."""
    labels = np.asarray(y, dtype=object).reshape(-1) if y is not None else np.zeros(0)
    missing = np.flatnonzero([label is None or label != label for label in labels])  # noqa: PLR0124 - NaN
    if len(missing):
        raise CorpusError(
            f"{len(missing)} of {len(labels)} documents have no label; the first is document {missing[0]}"
        )


class Epoch(NamedTuple):
    """One pass over the documents, before anything is learnt from it."""

    number: int
    first_example: int
    """Examples learnt before this epoch: draws are numbered through all epochs."""
    order: NDArray[np.int64]
    """Which document each example shows."""
    targets: NDArray[np.int64]
    """The class of each example."""
    others: NDArray[np.int64]
    """The class that each example is shown to as one that does not belong to it."""


def draw_epoch(key: int, number: int, first_example: int, labels: NDArray[np.int64], n_classes: int) -> Epoch:
    """Shuffle the documents, and draw one wrong class for each, all wrong ones alike."""
    order = shuffled(key, first_example, len(labels))
    targets = labels[order]
    bits = draw(key, Purpose.OTHER_CLASS, first_example, len(labels))
    # A number below n - 1, moved up by one from the own class on: each wrong class is as likely.
    others = below(high(bits), n_classes - 1)
    return Epoch(number, first_example, order, targets, others + (others >= targets))


def shuffled(key: int, first_example: int, count: int) -> NDArray[np.int64]:
    """Return 0 .. count - 1 in random order: sorted by one draw per example."""
    # Sorting by random numbers is a shuffle that needs no state: any epoch can be drawn without those before
    # it.
    order: NDArray[np.int64] = np.argsort(draw(key, Purpose.ORDER, first_example, count), kind="stable")
    return order


def active_clauses(
    key: int, settings: ClassifierSettings, epoch: int, label: int, n_classes: int
) -> NDArray[np.bool_]:
    """Draw which clauses of a class take part in an epoch."""
    first = (epoch * n_classes + label) * settings.n_clauses
    coins = high(draw(key, Purpose.CLAUSE_DROP, first, settings.n_clauses))
    taking_part: NDArray[np.bool_] = coins >= np.uint64(settings.drop_probability)
    return taking_part


_NO_LIMIT = 2**32 - 1
_CHUNK = 256  # literals that lie together in bit planes
_PLANES = 8  # bits of a state


class Documents(NamedTuple):
    """Documents as sets of words: distinct and ascending, one document after the other."""

    offsets: NDArray[np.uint64]
    words: NDArray[np.uint32]
    n_words: int

    @classmethod
    def from_csr(cls, presence: Any) -> Documents:
        """Read the places of a canonical CSR matrix; its values are not looked at."""
        offsets, words = presence.indptr.astype(np.uint64), presence.indices.astype(np.uint32)
        return cls(offsets, words, presence.shape[1])

    def __len__(self) -> int:
        return len(self.offsets) - 1


class IncludedLiterals(NamedTuple):
    """The literals of every clause of one class, ascending."""

    offsets: NDArray[np.uint64]
    literals: NDArray[np.uint32]

    def of(self, clause: int) -> NDArray[np.uint32]:
        """Return the literals of one clause."""
        return self.literals[int(self.offsets[clause]) : int(self.offsets[clause + 1])]


@dataclass
class ClauseBanks:
    """A bank of clauses per class; plain arrays, so that it can be pickled.

    `planes` holds the automata in the layout of `native/classifier.hpp`:
    classes x clauses x chunks x bits x words of 64 literals.
    """

    settings: ClassifierSettings
    n_words: int
    key: int
    planes: NDArray[np.uint64]
    weights: NDArray[np.int32]
    n_epochs: int = 0
    n_examples: int = 0

    @classmethod
    def new(cls, settings: ClassifierSettings, n_classes: int, n_words: int, key: int) -> ClauseBanks:
        """Start with every literal one step below inclusion and every weight +1 or -1."""
        n_half = -(-n_words // _CHUNK)
        planes = aligned_zeros((n_classes, settings.n_clauses, 2, n_half, _PLANES, _CHUNK // 64))
        # Seven bits set, the highest clear: state 127 of 255, one step below inclusion.
        planes[..., : _PLANES - 1, :] = visible_literals(n_words)[:, None, :]
        signs = np.where(np.arange(settings.n_clauses) < settings.n_clauses // 2, 1, -1)
        return cls(settings, n_words, key, planes, np.tile(signs, (n_classes, 1)).astype(np.int32))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        planes, self.planes = self.planes, aligned_zeros(self.planes.shape)
        # Pickle gives arrays at any address; the kernels load whole cache lines.
        self.planes[...] = planes

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.weights)

    def learn_epoch(
        self, documents: Documents, labels: NDArray[np.int64], *, n_jobs: int = 1, isa: str = "auto"
    ) -> None:
        """Show every document once, to its own class and to one other; classes learn independently."""
        epoch = draw_epoch(self.key, self.n_epochs, self.n_examples, labels, self.n_classes)
        run(n_jobs, lambda label: self._teach(label, epoch, documents, isa), range(self.n_classes))
        self.n_epochs += 1
        self.n_examples += len(labels)

    def _teach(self, label: int, epoch: Epoch, documents: Documents, isa: str) -> None:
        belongs = epoch.targets == label
        shown = np.flatnonzero(belongs | (epoch.others == label))
        # Even steps show the own class, odd ones the other: no draw is used twice.
        steps = 2 * (epoch.first_example + shown) + ~belongs[shown]
        active = active_clauses(self.key, self.settings, epoch.number, label, self.n_classes)
        limit = self.settings.max_included_literals
        _native.teach_class(
            *documents,
            self.planes[label].reshape(-1),
            self.weights[label],
            np.flatnonzero(active).astype(np.uint32),
            epoch.order[shown].astype(np.uint32),
            steps.astype(np.uint64),
            threshold=self.settings.threshold,
            forget_probability=self.settings.forget_probability,
            max_included=_NO_LIMIT if limit is None else limit,
            key=self.key,
            isa=isa,
        )

    def votes(
        self, documents: Documents, included: list[IncludedLiterals], *, n_jobs: int = 1
    ) -> NDArray[np.int64]:
        """Sum each class's weights over its clauses that are true: documents x classes."""
        votes = np.zeros((self.n_classes, len(documents)), dtype=np.int64)
        bounds = np.linspace(0, len(documents), n_jobs + 1).astype(int)

        def ask(part: int) -> None:
            first, last = int(bounds[part]), int(bounds[part + 1])
            for label, lists in enumerate(included):
                _native.class_votes(*documents, first, *lists, self.weights[label], votes[label, first:last])

        run(n_jobs, ask, range(n_jobs))
        return votes.T

    def included_literals(self) -> list[IncludedLiterals]:
        """List the literals of all clauses, one entry per class."""
        return [self._included(label) for label in range(self.n_classes)]

    def _included(self, label: int) -> IncludedLiterals:
        # The highest bit of a state says that the literal is included.
        bits = np.ascontiguousarray(self.planes[label, ..., _PLANES - 1, :]).view(np.uint8)
        rows = np.unpackbits(bits.reshape(self.settings.n_clauses, 2, -1), axis=-1, bitorder="little")
        clauses, halves, words = np.nonzero(rows[:, :, : self.n_words])
        counts = np.bincount(clauses, minlength=self.settings.n_clauses)
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.uint64)
        return IncludedLiterals(offsets, (halves * self.n_words + words).astype(np.uint32))

    def states(self, label: int) -> NDArray[np.uint8]:
        """Return a class's automata, clauses x literals: first "word k occurs", then "word k does not"."""
        bits = np.unpackbits(self.planes[label].view(np.uint8), axis=-1, bitorder="little")
        weights = (1 << np.arange(_PLANES)).astype(np.uint8)
        # A state is the sum of its bits: clause, half, chunk, plane (bit), literal in the chunk.
        states = np.einsum("chkpi,p->chki", bits, weights)
        halves = states.reshape(self.settings.n_clauses, 2, -1)[:, :, : self.n_words]
        flat: NDArray[np.uint8] = halves.reshape(self.settings.n_clauses, 2 * self.n_words)
        return flat


def visible_literals(n_words: int) -> NDArray[np.uint64]:
    """Return a bit per literal of one half, chunks x words of 64: 0 where it only fills up the last chunk."""
    bits = np.arange(-(-n_words // _CHUNK) * _CHUNK) < n_words
    return np.packbits(bits, bitorder="little").view(np.uint64).reshape(-1, _CHUNK // 64)


def aligned_zeros(shape: tuple[int, ...]) -> NDArray[np.uint64]:
    """Return zeros that start at a cache line, as native code wants them; numpy alone and pickle do not."""
    size = int(np.prod(shape))
    # Up to 7 numbers of 8 bytes are skipped to the next multiple of 64 bytes.
    room = np.zeros(size + 8, dtype=np.uint64)
    first = -room.ctypes.data % 64 // 8
    return room[first : first + size].reshape(shape)


def run(n_jobs: int, work: Callable[[int], None], numbers: Iterable[int]) -> None:
    """Do `work` for all numbers in up to `n_jobs` threads."""
    if n_jobs == 1:
        for number in numbers:
            work(number)
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        list(pool.map(work, numbers))
