"""The paper's Table 2: train on documents whose words were replaced by a model's, test on unchanged ones."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus.preparation import Preparation
from omnitm.errors import ParameterError
from omnitm.evaluation.labelled import LabelledDocuments, load_documents
from omnitm.evaluation.results import MEASURED, PlainTable, Report, make_folder, number
from omnitm.files.plain import keep_result, kept_result
from omnitm.parameters import check_choice, check_integer, check_real
from omnitm.similarity.profiles import RECIPE
from omnitm.similarity.scorers import Metric
from omnitm.vectors.word_vectors import WordVectors

Ids = NDArray[np.int32]

Reading = Literal["text", "notebook"]
READINGS: tuple[Reading, ...] = ("text", "notebook")
_NEAREST, _WIDE = 5, 400  # the paper's


@dataclass(frozen=True)
class Perturbation:
    """How documents are changed.

    Parameters
    ----------
    share
        Share of a document's words that are replaced; at least one word of a document is.
    reading
        What a word of a negative document becomes: "text": one of the 5 least similar of its 400 most similar
        words, as the paper says; "notebook": one of the 5 least similar of all words, as its published
        notebook does. A word of a positive document becomes one of its 5 most similar words.
    seed
        Gives the places, which do not depend on the vectors, and one fixed replacement per word and label.
    """

    share: float = 0.05
    reading: Reading = "text"
    seed: int = 42

    def __post_init__(self) -> None:
        check_real("Perturbation", "share", self.share, 0, 1)
        check_choice("Perturbation", "reading", self.reading, READINGS)
        check_integer("Perturbation", "seed", self.seed, 0)

    def places(self, document: int, length: int) -> NDArray[np.intp]:
        """Choose which words of a document are replaced."""
        if not length or not self.share:
            return np.zeros(0, dtype=np.intp)
        count = min(length, max(1, round(self.share * length)))
        return np.random.default_rng((self.seed, document)).permutation(length)[:count]


class Replacing(Protocol):
    """Says what each word becomes."""

    def of(self, word: int, label: int) -> int | None:
        """Return what a word becomes in a document of a label, 0 or 1; None: it stays."""


class RandomWords:
    """Words drawn at random, without any model: what the replacing itself costs.

    Parameters
    ----------
    n_words
        Size of the vocabulary; all words are drawn alike.
    """

    def __init__(self, n_words: int, perturbation: Perturbation) -> None:
        self._becomes = np.random.default_rng((perturbation.seed, n_words)).integers(
            n_words, size=(n_words, 2)
        )

    def of(self, word: int, label: int) -> int:
        """Return what a word becomes in a document of a label: always the same."""
        return int(self._becomes[word, label])


class Neighbours:
    """Words of a vocabulary in the order of their similarity to a word, found when it is first asked for.

    Parameters
    ----------
    vectors
        The model that says what is similar.
    vocabulary
        Words that documents consist of; others are left out.
    metric
        How words are compared; None: as the model does by default.
    """

    def __init__(self, vectors: WordVectors, vocabulary: Sequence[str], metric: Metric | None = None) -> None:
        self.vectors, self._vocabulary, self._scorer = vectors, vocabulary, vectors.scorer(metric)
        self.metric = self._scorer.name
        places = {word: place for place, word in enumerate(self._scorer.candidates(vectors))}
        known = [(k, places[word]) for k, word in enumerate(vocabulary) if word in places]
        self._ids = np.array([k for k, _ in known], dtype=np.int32)
        self._columns = np.array([column for _, column in known], dtype=np.intp)
        self._found: dict[int, tuple[Ids, Ids]] = {}

    def of(self, word: int) -> tuple[Ids, Ids] | None:
        """Return the 400 most similar words, nearest first, and the 5 least similar; None: unknown word."""
        if self._vocabulary[word] not in self.vectors or len(self._ids) < 2:
            return None
        if word not in self._found:
            self._found[word] = self._find(word)
        return self._found[word]

    def _find(self, word: int) -> tuple[Ids, Ids]:
        scores = self._scorer.scores(self.vectors, [(self._vocabulary[word], 1.0)])[self._columns]
        is_other = self._ids != word
        scores, others = scores[is_other], self._ids[is_other]
        order = np.argsort(-scores, kind="stable")
        return others[order[:_WIDE]], others[order[-_NEAREST:]]


class Replacements:
    """What each word becomes by the neighbours that a model gives it: one fixed draw per word and label."""

    def __init__(self, neighbours: Neighbours, perturbation: Perturbation) -> None:
        self._neighbours, self._perturbation = neighbours, perturbation

    def of(self, word: int, label: int) -> int | None:
        """Return what a word becomes in a document of a label, 0 or 1; None: the model does not know it."""
        found = self._neighbours.of(word)
        if found is None:
            return None
        similar, least = found
        dissimilar = similar[-_NEAREST:] if self._perturbation.reading == "text" else least
        # A generator per word: what a word becomes depends on no other word, document or order.
        drawn = np.random.default_rng((self._perturbation.seed, word)).random(2)[label]
        choice = similar[:_NEAREST] if label else dissimilar
        return int(choice[int(drawn * len(choice))])


@dataclass(frozen=True)
class Changed:
    """Documents after replacement: words drawn, and those of them that the model did not know and left."""

    documents: list[Ids]
    n_drawn: int
    n_unknown: int


def perturb(
    documents: Sequence[Ids], labels: Sequence[int], replacements: Replacing, perturbation: Perturbation
) -> Changed:
    """Replace some words of each document; labels are 0 (dissimilar) or 1 (similar)."""
    changed, n_drawn, n_unknown = [], 0, 0
    for document, (words, label) in enumerate(zip(documents, labels, strict=True)):
        places = perturbation.places(document, len(words))
        copy = words.copy()
        for place in places.tolist():
            becomes = replacements.of(int(words[place]), label)
            if becomes is None:
                n_unknown += 1
            else:
                copy[place] = becomes
        n_drawn += len(places)
        changed.append(copy)
    return Changed(changed, n_drawn, n_unknown)


SEED = 42  # the paper's


CLASSIFIERS: dict[str, tuple[str, dict[str, Any]]] = {
    "RF": ("sklearn.ensemble:RandomForestClassifier", {"n_estimators": 100, "random_state": SEED}),
    "LR": ("sklearn.linear_model:LogisticRegression", {"random_state": SEED}),
    "NB": ("sklearn.naive_bayes:MultinomialNB", {}),
    "SVM": ("sklearn.svm:LinearSVC", {"random_state": SEED}),
    "MLP": ("sklearn.neural_network:MLPClassifier", {"random_state": SEED}),
    "TM": (
        "omnitm.machine.classifier:TsetlinMachineClassifier",
        {
            "n_clauses": 1000,
            "threshold": 8000,
            "specificity": 2.0,
            "clause_drop": 0.75,
            "n_epochs": 10,
            "binarize": 0,
            "seed": SEED,
        },
    ),
}
_IN_THREADS = ("RF", "TM")


def make_classifier(name: str, n_jobs: int = 1) -> Any:
    """Make a classifier by the name that the paper's Table 2 gives it.

    >>> make_classifier("NB")
    MultinomialNB()
    """
    check_choice("make_classifier", "name", name, CLASSIFIERS)
    check_integer("make_classifier", "n_jobs", n_jobs, 1)
    place, settings = CLASSIFIERS[name]
    threads = {"n_jobs": n_jobs} if name in _IN_THREADS else {}
    return resolve_name(place)(**settings, **threads)


VERSION = 1
UNCHANGED, RANDOM = CONTROLS = ("unchanged text", "random words")


@dataclass(frozen=True)
class SourceResult:
    """One row of the table: accuracy by classifier and their mean, over all draws, and CPU seconds spent.

    Attributes
    ----------
    averages
        The mean over classifiers for each draw of places and words.
    seconds
        For one draw.
    """

    source: str
    accuracies: dict[str, float]
    average: float | None
    seconds: float = 0.0
    origin: str = MEASURED
    averages: tuple[float, ...] = ()


@dataclass(frozen=True)
class ClassificationReport(Report):
    """All rows of a classification evaluation, and how they were measured."""

    rows: tuple[SourceResult, ...]
    classifiers: tuple[str, ...]
    perturbation: Perturbation
    n_draws: int = 1
    notes: tuple[str, ...] = ()
    version: int = VERSION
    kind: str = "omnitm classification"

    def tables(self) -> list[PlainTable]:
        """Make the table: a row per source, a column per classifier."""
        names = list(dict.fromkeys(name for row in self.rows for name in row.accuracies))
        share, reading = self.perturbation.share, self.perturbation.reading
        title = f"Accuracy on unchanged test documents, {share:.0%} of training words replaced ({reading})"
        several = self.n_draws > 1
        if several:
            title += f", mean of {self.n_draws} draws"
        header = ["source", *names, "average", *(["of draws"] if several else []), "CPU s"]
        table = PlainTable(title, header)
        for row in self.rows:
            label = row.source if row.origin == MEASURED else f"{row.source} ({row.origin})"
            cells = [number(row.accuracies.get(name)) for name in names]
            seconds = f"{row.seconds:,.0f}" if row.origin == MEASURED else "-"
            found = row.averages if len(row.averages) > 1 else ()
            spread = [f"{min(found):.3f} to {max(found):.3f}" if found else "-"] if several else []
            table.rows.append([label, *cells, number(row.average), *spread, seconds])
        return [table]

    def lines(self) -> Iterator[Sequence[Any]]:
        """Yield a line per source and classifier."""
        yield "source", "origin", "reading", "classifier", "accuracy"
        for row in self.rows:
            averages = {} if row.average is None else {"average": row.average}
            for name, accuracy in {**row.accuracies, **averages}.items():
                yield row.source, row.origin, self.perturbation.reading, name, accuracy


@dataclass(frozen=True, eq=False)
class BinaryTask:
    """Documents with two labels as numbers of words.

    Attributes
    ----------
    vocabulary
        The most frequent words of the training documents.
    train, test
        Words of each document, in their order, as far as they are in the vocabulary.
    train_labels, test_labels
        1 for the positive label, else 0.
    """

    name: str
    vocabulary: tuple[str, ...]
    train: list[NDArray[np.int32]]
    test: list[NDArray[np.int32]]
    train_labels: NDArray[np.int8]
    test_labels: NDArray[np.int8]
    notes: tuple[str, ...]

    @cached_property
    def fingerprint(self) -> str:
        """A hash of words, documents and labels."""
        found = hashlib.sha256("\n".join(self.vocabulary).encode())
        for documents, labels in ((self.train, self.train_labels), (self.test, self.test_labels)):
            lengths = np.array([len(document) for document in documents], dtype=np.int64)
            for part in (lengths, *documents, labels):
                found.update(np.asarray(part).tobytes())
        return found.hexdigest()


def make_task(
    documents: LabelledDocuments, *, n_words: int = 20_000, limit: int | None = None, seed: int = 42
) -> BinaryTask:
    """Count the words of labelled documents with a split; the label that sorts last is the positive one.

    Parameters
    ----------
    n_words
        Size of the vocabulary.
    limit
        Draw at most so many training and so many test documents.
    """
    check_integer("make_task", "n_words", n_words, 1)
    labels = sorted(set(documents.labels))
    if len(labels) != 2:
        raise ParameterError(
            f"{documents.name} has {len(labels)} labels; words are replaced by whether a document is "
            "positive, so exactly two are needed."
        )
    parts = [documents.part(split).sample(limit, seed) for split in ("train", "test")]
    for split, part in zip(("train", "test"), parts, strict=True):
        if part.n_labels < 2:
            raise ParameterError(
                f"{part.name} has one label only, {part.labels[0]!r}, in its part {split!r}."
            )
    words = Preparation.paper().words
    train, test = ([words(text.replace("<br />", " ")) for text in part.texts] for part in parts)
    counts = Counter(word for document in train for word in document)
    # By count, ties in alphabetical order, from training documents only.
    vocabulary = tuple(sorted(counts, key=lambda word: (-counts[word], word))[:n_words])
    if not vocabulary:
        raise ParameterError(
            f"{documents.name} has no words to learn from: all its training documents are empty."
        )
    ids = {word: k for k, word in enumerate(vocabulary)}
    train_ids, test_ids = (
        [np.array([ids[word] for word in document if word in ids], dtype=np.int32) for document in part]
        for part in (train, test)
    )
    n_empty, n_empty_tests = (sum(not len(document) for document in part) for part in (train_ids, test_ids))
    note = (
        f"{documents.name}: {len(train):,} documents to train, {len(test):,} to test, "
        f"{len(vocabulary):,} words; {labels[1]!r} is positive; {n_empty} training and {n_empty_tests} test "
        "documents have no word"
    )
    train_labels, test_labels = (
        np.array([label == labels[1] for label in part.labels], dtype=np.int8) for part in parts
    )
    seen = dict.fromkeys((*parts[0].notes, *parts[1].notes))
    return BinaryTask(
        documents.name, vocabulary, train_ids, test_ids, train_labels, test_labels, (note, *seen)
    )


@dataclass(frozen=True, eq=False)
class _Source:
    """What replaces words: a model, words drawn at random, or nothing."""

    name: str
    neighbours: Neighbours | None = None

    def replacing(self, n_words: int, perturbation: Perturbation) -> Replacing | None:
        if self.neighbours is not None:
            return Replacements(self.neighbours, perturbation)
        return RandomWords(n_words, perturbation) if self.name == RANDOM else None

    def facts(self, perturbation: Perturbation) -> list[Any]:
        """Everything about the source that its figures depend on."""
        if self.neighbours is None:
            draw = [perturbation.share, perturbation.seed]  # the reading makes no difference
            return [self.name, None, draw if self.name == RANDOM else None]
        vectors, metric = self.neighbours.vectors, self.neighbours.metric
        training = None if vectors.training is None else asdict(vectors.training)
        shape = [len(vectors), vectors.vector_size, asdict(perturbation)]
        return [self.name, training, shape, metric, RECIPE if metric == "similarity" else None]


@dataclass(frozen=True, eq=False)
class _Bench:
    """Trains and tests classifiers, and keeps every figure in a folder if there is one."""

    task: BinaryTask
    classifiers: Sequence[str]
    n_jobs: int
    folder: Path | None
    on_step: Callable[[str], object] | None
    notes: list[str] = field(default_factory=list)

    def row(self, source: _Source, draws: Sequence[Perturbation]) -> SourceResult:
        """Measure a source with every draw; figures that are kept are not measured again."""
        found = [self._one_draw(source, perturbation) for perturbation in draws]
        accuracies = {
            name: float(np.mean([draw[name]["accuracy"] for draw in found])) for name in self.classifiers
        }
        averages = tuple(float(np.mean([kept["accuracy"] for kept in draw.values()])) for draw in found)
        spent = sum(kept["seconds"] for kept in found[0].values())
        spent += max(kept["preparing_seconds"] for kept in found[0].values())
        return SourceResult(
            source.name, accuracies, float(np.mean(averages)), round(spent, 1), averages=averages
        )

    def _one_draw(self, source: _Source, perturbation: Perturbation) -> dict[str, dict[str, float]]:
        paths = {name: self._path(source, perturbation, name) for name in self.classifiers}
        found = {name: None if path is None else kept_result(path, name) for name, path in paths.items()}
        missing = [name for name, kept in found.items() if kept is None]
        if missing:
            train, facts = self._train_counts(source, perturbation)
            test = _counts(self.task.test, len(self.task.vocabulary))
            for name in missing:
                self._say(f"{source.name}: {name}")
                figures = {**self._measure(name, train, test), **facts}
                if (path := paths[name]) is not None:
                    keep_result(path, name, figures)
                found[name] = figures
        every = {name: kept for name, kept in found.items() if kept is not None}
        self._note(source, every[self.classifiers[0]])
        return every

    def _train_counts(self, source: _Source, perturbation: Perturbation) -> tuple[Any, dict[str, float]]:
        """Count the words of training documents after replacing; and say how many were replaced."""
        documents, started, facts = self.task.train, time.process_time(), {}
        replacing = source.replacing(len(self.task.vocabulary), perturbation)
        if replacing is not None:
            self._say(f"{source.name}: replacing words")
            changed = perturb(documents, self.task.train_labels.tolist(), replacing, perturbation)
            documents = changed.documents
            facts = {"n_drawn": float(changed.n_drawn), "n_unknown": float(changed.n_unknown)}
        counts = _counts(documents, len(self.task.vocabulary))
        return counts, {"preparing_seconds": time.process_time() - started, **facts}

    def _note(self, source: _Source, figures: dict[str, float]) -> None:
        if "n_drawn" in figures:
            how = f"; neighbours by {source.neighbours.metric}" if source.neighbours else ""
            self.notes.append(
                f"{source.name}: {figures['n_drawn']:,.0f} words drawn, {figures['n_unknown']:,.0f} of them "
                f"unknown to it and left as they were{how}"
            )

    def _measure(self, name: str, train: Any, test: Any) -> dict[str, float]:
        from sklearn.exceptions import ConvergenceWarning

        started = time.process_time()
        classifier = make_classifier(name, self.n_jobs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the paper's iterations, enough or not
            classifier.fit(train, self.task.train_labels)
        accuracy = float((classifier.predict(test) == self.task.test_labels).mean())
        return {"accuracy": accuracy, "seconds": time.process_time() - started}

    def _path(self, source: _Source, perturbation: Perturbation, classifier: str) -> Path | None:
        if self.folder is None:
            return None
        facts = [VERSION, *source.facts(perturbation), self.task.fingerprint]
        plan = hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]
        name = "".join(c if c.isalnum() else "-" for c in source.name)
        return self.folder / f"{name}-{classifier}-{plan}.json"

    def _say(self, text: str) -> None:
        if self.on_step:
            self.on_step(text)


def evaluate_classification(
    sources: Mapping[str, WordVectors | Neighbours],
    documents: str | LabelledDocuments | BinaryTask = "IMDb",
    *,
    classifiers: Sequence[str] = tuple(CLASSIFIERS),
    perturbation: Perturbation | None = None,
    n_draws: int = 1,
    metric: Metric | None = None,
    controls: bool = True,
    limit: int | None = None,
    data: str | Path | None = None,
    folder: Path | None = None,
    n_jobs: int = 1,
    on_step: Callable[[str], object] | None = None,
) -> ClassificationReport:
    """Train classifiers on changed documents and test them on unchanged ones.

    Parameters
    ----------
    sources
        Models whose neighbours replace words, by name; or `Neighbours`, to find them once for several calls.
    documents
        A set with a split and two labels, by name or itself, or a task made of one.
    n_draws
        Measure with so many draws of places and words, of the seeds from the perturbation's on.
    metric
        How words are compared; None: as each model does by default.
    controls
        Whether the first rows are what the classifiers reach on unchanged documents, and on documents whose
        words were replaced at random.
    limit
        Draw at most so many training and so many test documents.
    folder
        Keep every figure here; one that is there already is not measured again.
    """
    if not classifiers:
        raise ParameterError("evaluate_classification needs at least one classifier.")
    if isinstance(documents, str):
        documents = load_documents(documents, data)
    task = documents if isinstance(documents, BinaryTask) else make_task(documents, limit=limit)
    first = perturbation or Perturbation()
    check_integer("evaluate_classification", "n_draws", n_draws, 1)
    draws = [replace(first, seed=first.seed + k) for k in range(n_draws)]
    if folder is not None:
        make_folder(folder)
    bench = _Bench(task, classifiers, n_jobs, folder, on_step, list(task.notes))
    rows = [bench.row(_Source(UNCHANGED), draws[:1]), bench.row(_Source(RANDOM), draws)] if controls else []
    for name, source in sources.items():
        known = source if isinstance(source, Neighbours) else Neighbours(source, task.vocabulary, metric)
        rows.append(bench.row(_Source(name, known), draws))
    notes = tuple(dict.fromkeys(bench.notes))
    return ClassificationReport(tuple(rows), tuple(classifiers), first, n_draws, notes)


def _counts(documents: Sequence[NDArray[np.int32]], n_words: int) -> Any:
    from scipy.sparse import csr_matrix

    columns = np.concatenate([np.zeros(0, np.int32), *documents])
    starts = np.concatenate([[0], np.cumsum([len(document) for document in documents])])
    counts = csr_matrix((np.ones(len(columns)), columns, starts), shape=(len(documents), n_words))
    counts.sum_duplicates()
    return counts
