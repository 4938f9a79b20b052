"""The whole paper in one run: index, models, tables and figures; every finished part is kept."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omnitm.baselines import MODELS
from omnitm.corpus import DocumentIndex, Preparation, build_index
from omnitm.errors import FileError, OmniTMError, ParameterError
from omnitm.evaluation.results import PlainTable, make_folder
from omnitm.files.kinds import kind_of
from omnitm.files.manifest import MANIFEST
from omnitm.files.plain import write_file
from omnitm.paper.models import PAPER_MODEL, Forecast, forecast, settings_of, train_once
from omnitm.paper.steps import STEPS
from omnitm.parameters import check_integer
from omnitm.similarity.combined import RECIPE
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from omnitm.training.progress import ProgressOption

VERSION = 3
DEFAULT_MODELS = ("omni", "word2vec", "fasttext", "glove")


@dataclass(frozen=True)
class StepResult:
    """A part of the report: tables, notes, pictures, or why it was not run."""

    name: str
    title: str
    tables: tuple[PlainTable, ...] = ()
    notes: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()
    seconds: float = 0.0
    not_run: str | None = None


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
            return StepResult(name, title, not_run=str(error))
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
        facts = [
            VERSION,
            RECIPE,
            name,
            models,
            str(self.data),
            self.limit,
            self.n_seeds,
            self.word,
            self.quick,
        ]
        facts.append(_files_in(self.data or os.environ.get("OMNITM_DATA")))
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
        return StepResult("", "", (PlainTable("Corpus", ["what", "how much"], facts),), (note,))

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
        return StepResult(
            "", "", (PlainTable(f"Settings of {name}", ["setting", "value"], shape + rows),), (origin,)
        )


def _files_in(data: str | Path | None) -> list[tuple[str, int]]:
    """List the files of a data folder and of the folders in it, with their sizes."""
    if data is None:
        return []
    found = (path for pattern in ("*", "*/*") for path in Path(data).glob(pattern))
    return sorted((str(path), path.stat().st_size) for path in found if path.is_file())


def _keep_part(path: Path, plan: str, result: StepResult) -> None:
    path.parent.mkdir(exist_ok=True)
    write_file(path, json.dumps({"plan": plan, "result": asdict(result)}, indent=2).encode())


def _read_part(path: Path, plan: str) -> StepResult | None:
    try:
        content: dict[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    if content.get("plan") != plan:
        return None
    result = content["result"]
    tables = tuple(PlainTable(**table) for table in result["tables"])
    lists = {name: tuple(result[name]) for name in ("notes", "pictures")}
    return StepResult(**{**result, **lists, "tables": tables})
