"""The models that a reproduction compares: trained on the corpus, and once more on reviews for Table 2."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.baselines import make_baseline
from omnitm.corpus import DocumentIndex, Preparation, VocabularyRules, build_index
from omnitm.engines import ThreadsEngine
from omnitm.errors import OmniTMError
from omnitm.files.kinds import kind_of
from omnitm.files.manifest import MANIFEST
from omnitm.machine import PAPER, Autoencoder, AutoencoderSettings, word_key
from omnitm.training import train_model
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from omnitm.evaluation.labelled import LabelledDocuments
    from omnitm.training.progress import ProgressOption

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
