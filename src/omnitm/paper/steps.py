"""The parts of the paper: three tables and two figures, each made from trained models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from omnitm.errors import FileError, ParameterError
from omnitm.evaluation.classification import (
    READINGS,
    Neighbours,
    Perturbation,
    classification_table,
    evaluate_classification,
    make_task,
)
from omnitm.evaluation.clustering import clustering_tables, evaluate_clustering
from omnitm.evaluation.datasets import PAPER_SETS
from omnitm.evaluation.labelled import CLUSTERING_SETS, LabelledDocuments, load_documents
from omnitm.evaluation.pairs import load_pairs
from omnitm.evaluation.plots import plot_map
from omnitm.evaluation.results import PlainTable, similarity_tables
from omnitm.evaluation.similarity import evaluate_similarity
from omnitm.evaluation.word_maps import WORD_GROUPS, map_words, separation_table
from omnitm.paper.models import PAPER_MODEL, PAPER_WAY, settings_of, train_on_reviews
from omnitm.paper.published import published_classification, published_clusterings, published_rows
from omnitm.store import TrainingRecord
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from omnitm.paper.reproduction import Reproduction, StepResult

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
    return _result(tables=tuple(similarity_tables(report)[:2]), notes=(*report.notes, *missing))


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
        tables.append(classification_table(report))
        notes += [note for note in report.notes if note not in notes]
    return _result(tables=(*tables[1:], tables[0]), notes=tuple(notes))


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
    return _result(tables=tuple(clustering_tables(report)), notes=(*notes, *missing))


def _available(names: Sequence[str], load: Callable[[str], Any]) -> tuple[list[Any], list[str]]:
    """Load the sets that are there; say why the others are not. An error if there are none."""
    found = {name: _loaded_or_reason(name, load) for name in names}
    missing = [f"{name} was not run: {part}" for name, part in found.items() if isinstance(part, str)]
    if len(missing) == len(found):
        raise ParameterError(missing[0])
    return [part for part in found.values() if not isinstance(part, str)], missing


def _loaded_or_reason(name: str, load: Callable[[str], Any]) -> Any:
    try:
        return load(name)
    except FileError as error:
        return str(error)


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
    return _result((separation_table(maps),), (_OTHER_WORDS, *unknown), tuple(pictures))


def clause(run: Reproduction) -> StepResult:
    """Literals of a clause."""
    from omnitm.explain import Explainer
    from omnitm.explain.plots import plot_clause

    every = [run.vectors.get(PAPER_MODEL), *_models(run).values()]
    ours = [vectors for vectors in every if vectors and isinstance(vectors.training, TrainingRecord)]
    if not ours:
        raise ParameterError("Only Omni models have clauses, and none was trained.")
    if run.index is None:
        raise ParameterError("Clauses are learned anew from the corpus, which is not there.")
    explainer = Explainer(ours[0], run.index)
    machine = explainer.machines[run.word]
    best = max(
        machine.positive_clauses, key=lambda k: int(machine.states[k, : machine.n_words].max()), default=0
    )
    plot_clause(explainer.clause(run.word, best), explainer.vectors.feature_names, run.picture("clause.png"))
    note = f"the clause of {run.word!r} with the highest state; the paper's Figure 3 has 1,600 words"
    return _result(notes=(note,), pictures=("pictures/clause.png",))


def _result(
    tables: tuple[PlainTable, ...] = (), notes: tuple[str, ...] = (), pictures: tuple[str, ...] = ()
) -> StepResult:
    from omnitm.paper.reproduction import StepResult

    return StepResult("", "", tables, notes, pictures)


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
