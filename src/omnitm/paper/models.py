"""The models that a reproduction compares: trained on the corpus, and once more on reviews for Table 2."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from omnitm.baselines import OMNI, make_baseline
from omnitm.corpus import DocumentIndex, VocabularyRules, build_index
from omnitm.engines import ThreadsEngine
from omnitm.errors import OmniTMError
from omnitm.files.kinds import kind_of
from omnitm.machine import AutoencoderSettings
from omnitm.store.manifest import MANIFEST
from omnitm.training import train_model
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from omnitm.evaluation.labelled import LabelledDocuments
    from omnitm.training.progress import ProgressOption

REVIEW_WORDS = 20_000  # the paper's


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
    if name in OMNI:
        algorithm = "fast" if name == "fast-omni" else "exact"
        own = AutoencoderSettings(**{"algorithm": algorithm, **(settings or {})})
        engine = ThreadsEngine(n_jobs)
        train_model(index, path, settings=own, seed=0, engine=engine, progress=progress, resume=True)
    elif not (path / MANIFEST).exists():
        make_baseline(name, dict(settings or {})).train(index, progress=progress).save(path)
    return WordVectors.load(path)


def settings_of(vectors: WordVectors) -> dict[str, Any]:
    """Return the settings that a model was trained with, and its seed."""
    record = vectors.training
    if record is None:
        return {}
    settings = record.settings
    return {
        **(asdict(settings) if isinstance(settings, AutoencoderSettings) else settings),
        "seed": record.seed,
    }


def index_reviews(documents: LabelledDocuments, folder: Path) -> DocumentIndex:
    """Index the training documents of a set, a review per document, as the paper does for its Table 2."""
    if kind_of(folder / "index") != "index":
        folder.mkdir(parents=True, exist_ok=True)
        text = folder / "reviews.txt"
        lines = (" ".join(review.replace("<br />", " ").split()) for review in documents.part("train").texts)
        text.write_text("\n".join(lines) + "\n", encoding="utf-8")
        build_index(text, folder / "index", vocabulary=VocabularyRules(max_words=REVIEW_WORDS))
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
    found, notes = {}, []
    for name in names:
        if on_step:
            on_step(f"{name} on the reviews")
        try:
            own = (settings or {}).get(name)
            path = folder / "models" / name
            found[name] = train_once(name, index, path, own, n_jobs=n_jobs, progress=progress)
        except OmniTMError as error:
            notes.append(f"{name} was not run: {error}")
    return found, notes
