"""The whole paper in one run: index, models, tables and figures; every finished part is kept."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from omnitm.baselines import MODELS, make_baseline
from omnitm.corpus import DocumentIndex, Preparation, VocabularyRules, build_index
from omnitm.engines import ThreadsEngine
from omnitm.errors import FileError, OmniTMError, ParameterError
from omnitm.evaluation.classification import (
    READINGS,
    Neighbours,
    Perturbation,
    evaluate_classification,
    make_task,
)
from omnitm.evaluation.clustering import evaluate_clustering
from omnitm.evaluation.datasets import PAPER_SETS, load_pairs
from omnitm.evaluation.labelled import CLUSTERING_SETS, LabelledDocuments, load_documents
from omnitm.evaluation.results import PlainTable, make_folder
from omnitm.evaluation.similarity import evaluate_similarity
from omnitm.evaluation.word_maps import WORD_GROUPS, map_words, plot_map, separation_table
from omnitm.explain import Explainer
from omnitm.explain.plots import plot_clause
from omnitm.files.kinds import kind_of
from omnitm.files.manifest import MANIFEST
from omnitm.files.plain import keep_result, kept_result
from omnitm.machine import PAPER, Autoencoder, AutoencoderSettings, word_key
from omnitm.paper.published import published_classification, published_clusterings, published_rows
from omnitm.parameters import check_integer
from omnitm.similarity.profiles import RECIPE
from omnitm.store import TrainingRecord
from omnitm.store.record import plain_settings
from omnitm.training import train_model
from omnitm.training.progress import ProgressOption
from omnitm.vectors import WordVectors

REVIEW_WORDS = 20_000  # the paper's
PAPER_MODEL = "omni-paper"  # Omni with the paper's settings: 4 x 2,000 examples
PAPER_WAY = "the paper's way"
_SAMPLE_WORDS = 8  # trained to see how long a word takes
# CPU seconds per different word of a document: benchmarks/results/similarity-cost.json over 32.6 million
_SECONDS_PER_OCCURRENCE = {"word2vec": 6.6e-5, "fasttext": 2.9e-4, "glove": 1.2e-5, "ppmi": 1.4e-6}
_NUMBERS_PER_WORD = 100  # of other models, by default


_SETTINGS: dict[str, dict[str, Any]] = {"omni": {}, "fast-omni": {"algorithm": "fast"}, PAPER_MODEL: PAPER}


@dataclass(frozen=True)
class Forecast:
    """What training a model will take; CPU seconds are None if unknown."""

    name: str
    cpu_seconds: float | None
    n_bytes: int

    def __str__(self) -> str:
        size = f"{self.n_bytes / 1e9:,.1f} GB" if self.n_bytes >= 1e9 else f"{self.n_bytes / 1e6:,.1f} MB"
        if self.cpu_seconds is None:
            return f"{self.name}: {size}, unknown time"
        minutes = self.cpu_seconds / 60
        time_ = f"{minutes:,.0f} CPU minutes" if minutes >= 2 else f"{self.cpu_seconds:,.0f} CPU seconds"
        return f"{self.name}: {size}, about {time_}"


def forecast(name: str, index: DocumentIndex) -> Forecast:
    """Estimate what a model takes: Omni by training some of its words, others by their rate on Wikipedia."""
    if name not in _SETTINGS:
        rate = _SECONDS_PER_OCCURRENCE.get(name)
        n_occurrences = int(index.document_frequencies.sum())
        size = 2 * index.n_words**2 if name == "ppmi" else 4 * _NUMBERS_PER_WORD * index.n_words
        return Forecast(name, rate and rate * n_occurrences, size)
    machine = Autoencoder(index, AutoencoderSettings(**_SETTINGS[name]))
    words = np.unique(np.linspace(0, index.n_words - 1, _SAMPLE_WORDS).astype(int)).tolist()
    started = time.process_time()
    for word in words:
        machine.train(word, word_key(0, index.vocabulary[word]))
    seconds = (time.process_time() - started) / len(words) * index.n_words
    return Forecast(name, seconds, 2 * index.n_words**2)


def train_once(
    name: str,
    index: DocumentIndex,
    path: Path,
    settings: Mapping[str, Any] | None = None,
    *,
    n_jobs: int = 1,
    progress: ProgressOption = False,
) -> WordVectors:
    """Train a model by name, go on where it was stopped, or just open it if it is finished."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if name in _SETTINGS:
        own = AutoencoderSettings(**{**_SETTINGS[name], **(settings or {})})
        engine = ThreadsEngine(n_jobs)
        train_model(index, path, settings=own, seed=0, engine=engine, progress=progress, resume=True)
    elif not (path / MANIFEST).exists():
        make_baseline(name, dict(settings or {})).train(index, progress=progress).save(path)
    return WordVectors.load(path)


def settings_of(vectors: WordVectors) -> dict[str, Any]:
    """Return the settings that a model was trained with, and its seed."""
    record = vectors.training
    return {} if record is None else {**plain_settings(record), "seed": record.seed}


def index_reviews(documents: LabelledDocuments, folder: Path) -> DocumentIndex:
    """Index the training documents of a set, a review per document, as the paper does for its Table 2."""
    if kind_of(folder / "index") != "index":
        folder.mkdir(parents=True, exist_ok=True)
        text = folder / "reviews.txt"
        lines = (" ".join(review.replace("<br />", " ").split()) for review in documents.part("train").texts)
        text.write_text("\n".join(lines) + "\n", encoding="utf-8")
        rules = VocabularyRules(max_words=REVIEW_WORDS)
        build_index(text, folder / "index", preparation=Preparation.paper(), vocabulary=rules)
    return DocumentIndex.open(folder / "index")


def train_on_reviews(
    documents: LabelledDocuments,
    folder: Path,
    names: Iterable[str],
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    n_jobs: int = 1,
    progress: ProgressOption = False,
    on_step: Callable[[str], object] | None = None,
) -> tuple[dict[str, WordVectors], list[str]]:
    """Train the sources of Table 2 on the training documents of a set.

    Parameters
    ----------
    folder
        Where text, index and models go; a model that is there is taken as it is.
    settings
        By model, other than the defaults.

    Returns
    -------
    vectors
        By name, without the models that could not be trained.
    notes
        Why those could not.
    """
    index = index_reviews(documents, folder)
    found, notes, wanted = {}, [], list(names)
    missing = [name for name in wanted if not (folder / "models" / name / MANIFEST).exists()]
    if on_step:
        for name in missing:
            on_step(f"to train on the reviews: {forecast(name, index)}")
    for name in wanted:
        if on_step:
            on_step(f"{name} on the reviews")
        try:
            own = (settings or {}).get(name)
            path = folder / "models" / name
            found[name] = train_once(name, index, path, own, n_jobs=n_jobs, progress=progress)
        except OmniTMError as error:
            notes.append(f"{name} was not run: {error}")
    return found, notes


VERSION = 3
DEFAULT_MODELS = ("omni", "word2vec", "fasttext", "glove")


@dataclass(frozen=True)
class StepResult:
    """A part of the report: tables, notes, pictures, or why it was not run."""

    name: str = ""
    title: str = ""
    tables: tuple[PlainTable, ...] = ()
    notes: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()
    seconds: float = 0.0
    not_run: str | None = None


_OTHER_WORDS = (
    "the paper names its 13 groups but prints only a few of its 130 words; the others are our own choice, "
    "so the figure shows the same kind of thing, not the same words"
)


_PLAIN_READING = (
    f"{PAPER_WAY}: the paper does not say how vectors of words become those of documents, nor whether they "
    "are scaled; the mean of the vectors as they are is the plain reading"
)
_TABLE_2 = ("omni", "fast-omni", "word2vec", "fasttext", "glove", "bert", "elmo")


def similarity(run: Reproduction) -> StepResult:
    """Table 1."""
    sets, missing = _available(PAPER_SETS, partial(load_pairs, data=run.data, download=False))
    models, paper = dict(_models(run)), run.vectors.get(PAPER_MODEL)
    metrics = {name: ["default"] for name in models}
    if paper is not None:
        models[PAPER_MODEL], metrics[PAPER_MODEL] = paper, ["association"]
    report = evaluate_similarity(models, sets, metrics=metrics, frequencies=_frequencies(run), on_row=run.say)
    ours = [row for row in report.rows if row.model != PAPER_MODEL]
    in_its_way = [
        replace(row, model="omni", source=PAPER_WAY) for row in report.rows if row.model == PAPER_MODEL
    ]
    report = replace(report, rows=(*published_rows(), *in_its_way, *ours))
    return StepResult(tables=tuple(report.tables()[:2]), notes=(*report.notes, *missing))


def _frequencies(run: Reproduction) -> dict[str, int] | None:
    if run.index is None:
        return None
    return dict(zip(run.index.vocabulary, run.index.document_frequencies.tolist(), strict=True))


def classification(run: Reproduction) -> StepResult:
    """Table 2, by both readings of what becomes of words in negative documents."""
    reviews = load_documents("IMDb", run.data)
    sources, notes = _review_models(run, reviews.part("train").sample(run.limit, 0))
    task = make_task(reviews, limit=run.limit)
    neighbours = {
        f"omni ({PAPER_WAY})" if name == PAPER_MODEL else name: Neighbours(
            vectors, task.vocabulary, "association" if name == PAPER_MODEL else None
        )
        for name, vectors in sources.items()
    }
    tables = [_settings_table(sources)]
    for reading in READINGS:
        report = evaluate_classification(
            neighbours,
            task,
            perturbation=Perturbation(reading=reading),
            folder=run.folder / "classification",
            n_jobs=run.n_jobs,
            on_step=run.say,
        )
        report = replace(report, rows=(*published_classification(), *report.rows))
        tables += report.tables()
        notes += [note for note in report.notes if note not in notes]
    return StepResult(tables=(*tables[1:], tables[0]), notes=tuple(notes))


def _settings_table(models: dict[str, WordVectors]) -> PlainTable:
    table = PlainTable("Sources of Table 2", ["source", "words", "numbers per word", "settings"])
    for name, vectors in models.items():
        settings = ", ".join(f"{key} {value}" for key, value in settings_of(vectors).items())
        table.rows.append([name, f"{len(vectors):,}", f"{vectors.vector_size:,}", settings])
    return table


def _review_models(run: Reproduction, reviews: LabelledDocuments) -> tuple[dict[str, WordVectors], list[str]]:
    """Train the sources of Table 2 on reviews, as the paper does; with none to train, take the others."""
    ready = {name: WordVectors.load(path) for name, path in run.reviewers.items()}
    names = [name for name in run.models if name not in ready]
    if not run.quick and "omni" in names and PAPER_MODEL not in ready:
        names.append(PAPER_MODEL)
    if not names and not ready:
        return _models(run), ["the paper trains its sources on IMDb; these were trained on the corpus above"]
    folder = run.folder / ("reviews" if run.limit is None else f"reviews-{run.limit}")
    trained, notes = train_on_reviews(
        reviews, folder, names, n_jobs=run.n_jobs, progress=run.progress, on_step=run.say
    )
    sources = {**{name: trained[name] for name in names if name in trained}, **ready}
    if not sources:
        raise ParameterError(notes[0])
    omni = {
        f"{name}, 300 dimensions": vectors.reduce(300)
        for name, vectors in sources.items()
        if name == "omni" and len(vectors) >= 300
    }
    notes.insert(0, f"sources were trained on {len(reviews):,} training reviews; the paper's on IMDb as well")
    notes += [f"{name} was not run: it is not among --models" for name in _TABLE_2 if name not in sources]
    return {**sources, **omni}, notes


def clustering(run: Reproduction) -> StepResult:
    """Table 3."""
    sets, missing = _available(CLUSTERING_SETS, partial(load_documents, data=run.data))
    report = evaluate_clustering(
        _models(run),
        sets,
        weightings=("length", "mean"),
        seeds=range(run.n_seeds),
        limit=run.limit,
        on_row=run.say,
    )
    rows, notes = list(report.rows), list(report.notes)
    if not run.quick:
        models = {"omni": run.vectors[PAPER_MODEL]} if PAPER_MODEL in run.vectors else {}
        models |= {name: vectors for name, vectors in _models(run).items() if name != "omni"}
        raw = evaluate_clustering(
            models, sets, weightings=("raw",), seeds=range(run.n_seeds), limit=run.limit, on_row=run.say
        )
        rows = [*(replace(row, source=PAPER_WAY) for row in raw.rows), *rows]
        notes.append(_PLAIN_READING)
        notes += [f"{PAPER_WAY}: {note}" for note in raw.notes[1:] if note not in notes]
    report = replace(report, rows=(*published_clusterings(), *rows))
    return StepResult(tables=tuple(report.tables()), notes=(*notes, *missing))


def _available(names: Sequence[str], load: Callable[[str], Any]) -> tuple[list[Any], list[str]]:
    """Load the sets that are there; say why the others are not. An error if there are none."""
    found, missing = [], []
    for name in names:
        try:
            found.append(load(name))
        except FileError as error:  # noqa: PERF203
            missing.append(f"{name} was not run: {error}")
    if not found:
        raise ParameterError(missing[0])
    return found, missing


def tsne(run: Reproduction) -> StepResult:
    """Map of 130 words."""
    maps, pictures = [], []
    for name, vectors in _models(run).items():
        run.say(f"map of {name}")
        maps.append(map_words(vectors, WORD_GROUPS, name=name))
        plot_map(maps[-1], run.picture(f"map-{name}.png"))
        pictures.append(f"pictures/map-{name}.png")
    if PAPER_MODEL in run.vectors:
        run.say(f"map of omni, {PAPER_WAY}")
        maps.append(map_words(run.vectors[PAPER_MODEL], WORD_GROUPS, name=f"omni ({PAPER_WAY})", raw=True))
        plot_map(maps[-1], run.picture(f"map-{PAPER_MODEL}.png"))
        pictures.append(f"pictures/map-{PAPER_MODEL}.png")
    unknown = [f"{found.model} does not know {', '.join(found.unknown)}" for found in maps if found.unknown]
    unknown += [
        f"{found.model} knows {', '.join(found.alone)} as the only ones of their groups"
        for found in maps
        if found.alone
    ]
    return StepResult(
        tables=(separation_table(maps),), notes=(_OTHER_WORDS, *unknown), pictures=tuple(pictures)
    )


def clause(run: Reproduction) -> StepResult:
    """Literals of a clause."""
    every = [run.vectors.get(PAPER_MODEL), *_models(run).values()]
    ours = [vectors for vectors in every if vectors and isinstance(vectors.training, TrainingRecord)]
    if not ours:
        raise ParameterError("Only Omni models have clauses, and none was trained.")
    if run.index is None:
        raise ParameterError("Clauses are learned anew from the corpus, which is not there.")
    explainer = Explainer(ours[0], run.index)
    best = explainer.machines[run.word].telling_clause or 0
    plot_clause(explainer.clause(run.word, best), explainer.vectors.feature_names, run.picture("clause.png"))
    note = f"the clause of {run.word!r} with the highest state; the paper's Figure 3 has 1,600 words"
    return StepResult(notes=(note,), pictures=("pictures/clause.png",))


def _models(run: Reproduction) -> dict[str, WordVectors]:
    """Return the models that are measured in our way."""
    found = {name: vectors for name, vectors in run.vectors.items() if name != PAPER_MODEL}
    if not found:
        raise ParameterError("No model is trained, so there is nothing to measure.")
    return found


STEPS: dict[str, tuple[str, Callable[[Reproduction], StepResult]]] = {
    "similarity": ("Table 1: similarity of words", similarity),
    "classification": ("Table 2: classification", classification),
    "clustering": ("Table 3: clustering", clustering),
    "tsne": ("Figure: map of words", tsne),
    "clause": ("Figure 3: literals of a clause", clause),
}


@dataclass
class Reproduction:
    """What is run, on what, and where it is kept.

    Attributes
    ----------
    corpus
        Text to index, or the folder of an index.
    folder
        Where everything is kept; a run that was stopped goes on from there.
    data
        Folder with the published sets; None: $OMNITM_DATA.
    models
        Models to train, on the corpus and, for Table 2, on IMDb's reviews.
    trained
        Folders of models that are trained on the corpus already, by name.
    reviewers
        Folders of models that are trained on the reviews already, by name.
    steps
        Parts to run, see `STEPS`.
    limit
        Draw at most so many documents of each set.
    n_seeds
        Runs of K-means per figure.
    word
        The word whose clause is drawn.
    quick
        Leave out the paper's way: Omni with the paper's settings, which train 16 times as much as ours, its
        coordinates as similarity, raw vectors in clusters and maps.
    """

    corpus: str | Path
    folder: Path
    data: str | Path | None = None
    models: Sequence[str] = DEFAULT_MODELS
    trained: Mapping[str, str | Path] = field(default_factory=dict)
    reviewers: Mapping[str, str | Path] = field(default_factory=dict)
    steps: Sequence[str] = tuple(STEPS)
    limit: int | None = None
    n_seeds: int = 3
    word: str = "happy"
    quick: bool = False
    n_jobs: int = 1
    progress: ProgressOption = False
    on_step: Callable[[str], object] | None = None
    index: DocumentIndex | None = field(init=False, default=None)
    vectors: dict[str, WordVectors] = field(init=False, default_factory=dict)

    def run(self) -> list[StepResult]:
        """Run what is missing; return everything."""
        self._check()
        make_folder(self.folder)
        results = [self._timed_once("index", "The corpus", self._index_step)]
        trainable = self._trainable()
        self._say_what_it_takes(trainable)
        results += [
            self._timed_once(f"model-{name}", f"Model {name}", partial(self._model_step, name))
            for name in (*self.trained, *trainable)
        ]
        for name in self.steps:
            title, step = STEPS[name]
            results.append(self._kept_step(name, title, partial(step, self)))
        return results

    def _trainable(self) -> list[str]:
        """Name the models to train: those wanted and, unless it is quick, Omni as in the paper."""
        if self.index is None:
            return []
        names = [name for name in self.models if name not in self.trained]
        wants_paper = not self.quick and "omni" in (*self.models, *self.trained)
        return [*names, PAPER_MODEL] if wants_paper and PAPER_MODEL not in self.trained else names

    def _say_what_it_takes(self, names: Sequence[str]) -> None:
        """Say how long training takes and how large models become; refuse what the disk has no room for."""
        missing = [name for name in names if not (self.folder / "models" / name / MANIFEST).exists()]
        if self.index is None or not missing:
            return
        found = [forecast(name, self.index) for name in missing]
        for part in found:
            self.say(f"to train: {part}")
        seconds, n_bytes = sum(part.cpu_seconds or 0 for part in found), sum(part.n_bytes for part in found)
        self.say(f"in all {Forecast('models', seconds, n_bytes)}; Table 2 trains on its reviews as well")
        free = shutil.disk_usage(self.folder).free
        if n_bytes > free:
            raise FileError(
                self.folder,
                f"has {free / 1e9:,.1f} GB left, but models need {n_bytes / 1e9:,.1f} GB; make room, name "
                "another folder with -o, or add --quick",
            )

    def _check(self) -> None:
        """Refuse what cannot be run before anything is."""
        for name in self.models:
            if name not in MODELS:
                known = ", ".join(MODELS)
                raise ParameterError(f"{name!r} is no model that can be trained; choose from {known}.")
        for name in self.steps:
            if name not in STEPS:
                raise ParameterError(f"{name!r} is no part of the paper; choose from {', '.join(STEPS)}.")
        check_integer("Reproduction", "n_seeds", self.n_seeds, 1)
        check_integer("Reproduction", "n_jobs", self.n_jobs, 1)
        if self.limit is not None:
            check_integer("Reproduction", "limit", self.limit, 1)
        if self.data is not None and not Path(self.data).is_dir():
            raise FileError(self.data, "is no folder; --data must name the one with wordsim/ and documents/.")
        for path in (*self.trained.values(), *self.reviewers.values()):
            WordVectors.load(path)
        if not self.trained and not Path(self.corpus).exists():
            raise FileError(self.corpus, "is neither a text nor an index; nothing can be trained.")

    def picture(self, name: str) -> Path:
        """Where a picture goes."""
        return make_folder(self.folder / "pictures") / name

    def say(self, text: str) -> None:
        """Report what is being done."""
        if self.on_step:
            self.on_step(text)

    def _in_step(self, name: str, title: str, run: Callable[[], StepResult]) -> StepResult:
        """Run a part; an error of ours is what the report says about it."""
        self.say(title)
        started = time.monotonic()
        try:
            result = run()
        except OmniTMError as error:
            return StepResult(name=name, title=title, not_run=str(error))
        return replace(result, name=name, title=title, seconds=round(time.monotonic() - started, 1))

    def _timed_once(self, name: str, title: str, run: Callable[[], StepResult]) -> StepResult:
        """Run a part that opens what an earlier run made; the time is that of making it."""
        result, path = self._in_step(name, title, run), self.folder / "parts" / f"{name}.json"
        kept = _read_part(path, name)
        if kept is not None and kept.tables == result.tables:
            return kept
        if result.not_run is None:
            _keep_part(path, name, result)
        return result

    def _kept_step(self, name: str, title: str, run: Callable[[], StepResult]) -> StepResult:
        path = self.folder / "parts" / f"{name}.json"
        plan = self._plan(name)
        kept = _read_part(path, plan)
        if kept is not None and all((self.folder / picture).is_file() for picture in kept.pictures):
            return kept
        result = self._in_step(name, title, run)
        if result.not_run is None:
            _keep_part(path, plan, result)
        return result

    def _plan(self, name: str) -> str:
        """Hash everything that a part depends on."""
        models = [
            (model, len(vectors), vectors.vector_size, vectors.training and asdict(vectors.training))
            for model, vectors in self.vectors.items()
        ]
        options = [str(self.data), self.limit, self.n_seeds, self.word, self.quick]
        data = self.data or os.environ.get("OMNITM_DATA")
        files = [path for pattern in ("*", "*/*") for path in Path(data).glob(pattern)] if data else []
        sizes = sorted((str(path), path.stat().st_size) for path in files if path.is_file())
        facts: list[Any] = [VERSION, RECIPE, name, models, *options, sizes]
        if name == "classification":
            facts += [list(self.models), {model: str(path) for model, path in self.reviewers.items()}]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()

    def _index_step(self) -> StepResult:
        if kind_of(self.corpus) == "index":
            self.index = DocumentIndex.open(self.corpus)
        else:
            self.index = self._indexed_corpus()
        lengths = int(self.index.document_frequencies.sum())
        facts = [
            ["documents", f"{self.index.n_documents:,}"],
            ["words", f"{self.index.n_words:,}"],
            ["different words per document", f"{lengths / max(1, self.index.n_documents):.1f}"],
        ]
        note = f"{self.corpus}; the paper's is One Billion Word with 40,000 words, IMDb for its Table 2"
        return StepResult(tables=(PlainTable("Corpus", ["what", "how much"], facts),), notes=(note,))

    def _indexed_corpus(self) -> DocumentIndex:
        own, note, corpus = (
            self.folder / "index",
            self.folder / "corpus.txt",
            str(Path(self.corpus).resolve()),
        )
        if kind_of(own) == "index" and note.is_file() and note.read_text(encoding="utf-8") != corpus:
            raise ParameterError(
                f"{self.folder} holds a run on another corpus, {note.read_text(encoding='utf-8')}; "
                "name another folder with -o."
            )
        if kind_of(own) != "index":
            build_index(self.corpus, own, preparation=Preparation.paper())
            note.write_text(corpus, encoding="utf-8")
        return DocumentIndex.open(own)

    def _model_step(self, name: str) -> StepResult:
        path = Path(self.trained.get(name, self.folder / "models" / name))
        if name in self.trained or self.index is None:
            vectors = WordVectors.load(path)
        else:
            vectors = train_once(name, self.index, path, n_jobs=self.n_jobs, progress=self.progress)
        self.vectors[name] = vectors
        rows = [[key, str(value)] for key, value in settings_of(vectors).items()]
        shape = [["words", f"{len(vectors):,}"], ["numbers per word", f"{vectors.vector_size:,}"]]
        origin = f"trained before, in {path}" if name in self.trained else "trained in this run"
        table = PlainTable(f"Settings of {name}", ["setting", "value"], shape + rows)
        return StepResult(tables=(table,), notes=(origin,))


def _keep_part(path: Path, plan: str, result: StepResult) -> None:
    path.parent.mkdir(exist_ok=True)
    keep_result(path, plan, asdict(result))


def _read_part(path: Path, plan: str) -> StepResult | None:
    result = kept_result(path, plan)
    if result is None:
        return None
    tables = tuple(PlainTable(**table) for table in result["tables"])
    lists = {name: tuple(result[name]) for name in ("notes", "pictures")}
    return StepResult(**{**result, **lists, "tables": tables})
