"""Train the words of a vocabulary: into memory or into a folder, from one plan."""

from __future__ import annotations

import logging
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus import DocumentIndex
from omnitm.corpus.preparation import LOWER_CASE_ONLY
from omnitm.engines import Engine, Failure, ThreadsEngine, WordJob
from omnitm.errors import (
    CorpusError,
    FileError,
    OmniTMWarning,
    ParameterError,
    SetAsideError,
    TrainingStopped,
    UnknownWordError,
)
from omnitm.files.kinds import shell_name
from omnitm.files.manifest import MANIFEST
from omnitm.machine import AutoencoderSettings, Contexts, n_features, running_of, word_key
from omnitm.sharing.card import keep_card
from omnitm.store import AnyRecord, ModelFolder, TrainingRecord, index_fingerprint, omni_record
from omnitm.store.loading import stored_model
from omnitm.store.model_notes import note_index
from omnitm.store.record import differences
from omnitm.store.rows import TopMatrix, n_places_kept, row_files, row_type
from omnitm.training.progress import ProgressOption, WordFailure, reporting
from omnitm.training.shards import Shard, note_shard
from omnitm.vectors.named_rows import PlaceVectors
from omnitm.vectors.word_vectors import WordVectors

_log = logging.getLogger(__name__)
_SHOWN_WORDS = 5  # in messages
# Words of a passage on each side: a few sentences. Chosen on development data: benchmarks/passages.py.
_PASSAGE_REACH = 25
_REPEAT = "give the same or leave it out"


def train_vectors(
    index: DocumentIndex,
    words: Iterable[str] | None = None,
    *,
    settings: AutoencoderSettings | None = None,
    seed: int = 0,
    engine: Engine | None = None,
    progress: ProgressOption = False,
) -> WordVectors:
    """Train words in memory.

    Parameters
    ----------
    index
        Documents to learn from.
    words
        Words to train, each of them in the index's vocabulary; None: all of the vocabulary.
    settings
        What every word's machines are trained with; None: the defaults, on both kinds of contexts where the
        index has a running text (`default_settings`).
    seed
        With a word's spelling it gives the word's random draws.
    engine
        Where words are trained; None: in one thread per core.
    progress
        True: a bar on standard error; or a function that is called with a `Progress` now and then.
    """
    record = _new_record(index, settings, seed)
    targets = check_targets(index, words)
    rows = _Rows(index, record, len(targets))
    failed = train_rows(
        index, record, targets, range(len(targets)), rows.write, engine=engine, progress=progress
    )
    return rows.vectors(targets, failed)


def extend_vectors(
    index: DocumentIndex,
    vectors: WordVectors,
    words: Iterable[str],
    *,
    engine: Engine | None = None,
    progress: ProgressOption = False,
) -> WordVectors:
    """Train more words in memory, with the settings, seed and index of the others, and append them."""
    record = omni_record(vectors.training, "be extended")
    targets = check_targets(index, words)
    check_untrained(vectors, targets)
    _Request(index).check("word vectors", record, vectors.index_to_key)
    names = [*vectors.index_to_key, *targets]
    rows = _Rows(index, record, len(names))
    rows.copy(vectors)
    pending = range(len(vectors), len(names))
    failed = train_rows(index, record, names, pending, rows.write, engine=engine, progress=progress)
    extended = rows.vectors(names, failed)
    _warn_of_other_metric(vectors, extended)
    return extended


def _warn_of_other_metric(before: WordVectors, after: WordVectors) -> None:
    """Say so when more words change what vectors are compared by if nothing is said."""
    old, new = before.default_metric, after.default_metric
    if old != new:
        warnings.warn(
            f"with {len(after):,} words, vectors are compared by {new!r} if no metric is named, no longer by "
            f"{old!r}; scores of before have another scale. metric={old!r} gives these.",
            OmniTMWarning,
            stacklevel=3,
        )


def train_model(
    index: DocumentIndex,
    path: str | Path,
    words: Iterable[str] | None = None,
    *,
    settings: AutoencoderSettings | None = None,
    seed: int | None = None,
    engine: Engine | None = None,
    progress: ProgressOption = False,
    resume: bool = False,
    force: bool = False,
    keep_top: int | None = None,
    shard: Shard | None = None,
) -> WordVectors:
    """Train words into a folder; a run that was killed can be resumed.

    Parameters that are not described here are those of `train_vectors`.

    Parameters
    ----------
    path
        The model's folder; it must not hold a model yet, unless `resume` or `force` is given.
    resume
        Continue a run that was stopped, or start if there is none. `words`, `settings` and `seed` that
        are given must equal those that the run was started with; None takes them from the folder.
    force
        Replace an existing model.
    keep_top
        Store the baseline of each row and this many coordinates, those that differ most from it, for
        vocabularies where a number per pair of words is too much; None: store all.
    shard
        Train only this part of the words; `merge_models` puts the parts together.
    """
    if shard is not None:
        words = shard.words_of(check_targets(index, words))
    path, targets = Path(path), None if words is None else check_targets(index, words)
    request = _Request(index, targets, settings, seed, keep_top)
    # None: nothing to resume; then a finished model is taken as it is, and anything else begins anew.
    folder = ModelFolder.resume(path) if resume else None
    if folder is None and not (resume and (path / MANIFEST).exists()):
        record = request.record()
        features, places = column_names(index, record.settings)
        targets = targets or check_targets(index, None)
        folder = ModelFolder.create(path, targets, features, record, places=places, force=force)
    if folder is not None:
        with folder:
            # Before anything is noted in the folder: a run with other settings must leave it as it is.
            request.check(path, folder.record, folder.words)
            # Before training, so that it is noted even if the run is killed.
            note_index(path, index)
            if shard is not None:
                note_shard(path, shard)
            fill_folder(folder, index, engine=engine, progress=progress)
    vectors = WordVectors.load(path)
    request.check(path, vectors.training, vectors.index_to_key)
    keep_card(vectors, path)
    return vectors


def add_words(
    index: DocumentIndex,
    path: str | Path,
    words: Iterable[str],
    *,
    engine: Engine | None = None,
    progress: ProgressOption = False,
) -> WordVectors:
    """Train more words of a finished model, with its settings, seed and index; old rows stay as they are."""
    path = Path(path)
    vectors = WordVectors.load(path)
    omni_record(vectors.training, "be extended")
    targets = check_targets(index, words)
    check_untrained(vectors, targets)
    _Request(index).check(path, vectors.training, vectors.index_to_key)
    with ModelFolder.add(path, targets) as folder:
        fill_folder(folder, index, engine=engine, progress=progress)
    extended = WordVectors.load(path)
    _warn_of_other_metric(vectors, extended)
    keep_card(extended, path)
    return extended


def fill_folder(
    folder: ModelFolder,
    index: DocumentIndex,
    *,
    engine: Engine | None = None,
    progress: ProgressOption = False,
) -> None:
    """Train what is missing in a folder, and again what turns out to be damaged, until it is finished."""
    pending = folder.pending()
    while True:
        try:
            failed = train_rows(
                index, folder.record, folder.words, pending, folder.write, engine=engine, progress=progress
            )
        except KeyboardInterrupt as interrupt:
            raise _stopped(folder) from interrupt
        if failed:
            raise _set_aside(folder, failed)
        # Rows whose bytes differ from the journal, after a power cut for example, are trained once more.
        pending = folder.finish()
        if not pending:
            return


def train_rows(
    index: DocumentIndex,
    record: TrainingRecord,
    words: Sequence[str],
    rows: Sequence[int],
    write: Callable[[int, NDArray[np.int16]], None],
    *,
    engine: Engine | None = None,
    progress: ProgressOption = False,
) -> dict[int, str]:
    """Train some rows of a list of words, hand each to `write`, and return the rows that failed, with why."""
    # The key depends on seed and spelling only, so a row is the same whatever else is trained.
    jobs = [WordJob(row, index.word_id(words[row]), word_key(record.seed, words[row])) for row in rows]
    if "topic" in record.settings.kinds:
        warn_of_constant_words(index, jobs, has_passages=record.settings.passage_reach > 0)
    failed: dict[int, str] = {}
    with reporting(progress, len(words) - len(jobs), len(words)) as report:

        def report_words(done: int, failures: Sequence[Failure] = ()) -> None:
            failed.update({f.jobs[0].row: f.problem for f in failures if f.is_final})
            named = [(tuple(words[job.row] for job in f.jobs), f.problem, f.is_final) for f in failures]
            report(done, [WordFailure(*failure) for failure in named])

        if jobs:
            report(0)
            _log.info("training %d of %d words with %s", len(jobs), len(words), record.settings)
            (engine or ThreadsEngine()).train(index, record.settings, jobs, write, report_words)
            _log.info("trained %d words, %d failed", len(jobs) - len(failed), len(failed))
    return failed


def check_targets(index: DocumentIndex, words: Iterable[str] | None) -> list[str]:
    """Return the words to train as a list, each known and none twice; None: the whole vocabulary."""
    if isinstance(words, str):
        raise ParameterError(
            f"The 'words' parameter must be a list of words. Got the text {words!r} instead."
        )
    targets = list(index.vocabulary if words is None else words)
    if not targets:
        raise ParameterError("The 'words' parameter must name at least one word. Got none.")
    for word in targets:
        if not isinstance(word, str):
            raise UnknownWordError(word, ())
    # As people type them; only after this can two words be the same.
    targets = [index.known_word(word) for word in targets]
    word, count = Counter(targets).most_common(1)[0]
    if count > 1:
        raise ParameterError(f"The 'words' parameter must name every word once. Got {word!r} {count} times.")
    return targets


def check_untrained(vectors: WordVectors, words: Sequence[str]) -> None:
    """Refuse to add words that are there already."""
    known = [word for word in words if word in vectors]
    if known:
        raise ParameterError(f"The model has {_listed(known)} already; leave out what is trained.")


def warn_of_constant_words(
    index: DocumentIndex, jobs: Sequence[WordJob], *, has_passages: bool = False
) -> None:
    """Say which words cannot be learned, because no document or every document has them.

    Passages of a word that is in every document can be told from others, and are not warned of.
    """
    frequencies = index.document_frequencies[[job.target for job in jobs]] if jobs else np.zeros(0)
    constant = ((0, "no document"), (index.n_documents, "every document"))
    for frequency, place in constant[:1] if has_passages else constant:
        found = [index.vocabulary[jobs[i].target] for i in np.flatnonzero(frequencies == frequency).tolist()]
        if found:
            verb = "is" if len(found) == 1 else "are"
            meaning = "there is nothing to tell apart, so the vectors are noise"
            warnings.warn(f"{_listed(found)} {verb} in {place}: {meaning}.", OmniTMWarning, stacklevel=2)


def _listed(words: Sequence[str]) -> str:
    shown = ", ".join(map(repr, words[:_SHOWN_WORDS]))
    rest = len(words) - _SHOWN_WORDS
    return f"{len(words):,} words ({shown} and {rest:,} more)" if rest > 0 else shown


def default_settings(index: DocumentIndex, **given: Any) -> AutoencoderSettings:
    """Return the settings for what is not given: both kinds of contexts where the index has a running text.

    Without one, words are trained on topic alone, and the log says so. Topics are learned from passages if
    documents are long.
    """
    if given.get("contexts") is None:
        given["contexts"] = "topic" if index.running is None else "both"
        if index.running is None:
            _log.info("The corpus has no word order, so words are trained on topic only, not on place.")
    if given["contexts"] != "topic" and index.running is not None:
        given.setdefault("joiners", index.running.joiners)
    if given.get("passage_reach") is None:
        given["passage_reach"] = _PASSAGE_REACH if _has_long_documents(index, given["contexts"]) else 0
        if given["passage_reach"]:
            _log.info("Documents are long, so topics are learned from passages, not from whole documents.")
    return AutoencoderSettings(**given)


def _has_long_documents(index: DocumentIndex, contexts: Contexts) -> bool:
    """Tell whether topics are learned, and documents have more words than two passages, on the average."""
    if contexts == "place" or index.running is None:
        return False
    return index.running.n_running_words > 4 * _PASSAGE_REACH * index.n_documents


def column_names(index: DocumentIndex, settings: AutoencoderSettings) -> tuple[list[str], list[str]]:
    """Name the coordinates of topic and those of place; none for what is not trained."""
    topic = list(index.vocabulary) if "topic" in settings.kinds else []
    if "place" not in settings.kinds:
        return topic, []
    n_joined = settings.n_joined_features if settings.joiners else 0
    return topic, running_of(index).feature_names(settings.n_place_features, n_joined)


def row_bytes(index: DocumentIndex, settings: AutoencoderSettings, keep_top: int | None) -> int:
    """Return how many bytes a word will take on the disk."""
    n_topic, n_place = map(len, column_names(index, settings))
    # Two bytes per pair of words, or a fixed record of the K best; places are always kept as such a record.
    size = 2 * n_topic if keep_top is None or not n_topic else row_type(keep_top).itemsize
    kept = n_places_kept(n_place, settings.n_joined_of(n_place))
    return size + (row_type(kept).itemsize if n_place else 0)


def _new_record(
    index: DocumentIndex, settings: AutoencoderSettings | None, seed: int, keep_top: int | None = None
) -> TrainingRecord:
    settings = settings or default_settings(index)
    keep_places = None
    if "place" in settings.kinds:
        n_places = n_features(index, settings, "place")
        keep_places = n_places_kept(n_places, settings.n_joined_of(n_places))
        if keep_top is not None and settings.contexts == "place":
            raise ParameterError(
                "keep_top (--keep-top) is about coordinates of topic; leave it out for place."
            )
    fingerprint = index_fingerprint(index, with_order=settings.reads_order)
    return TrainingRecord(settings, seed, fingerprint, keep_top=keep_top, keep_places=keep_places)


class _Rows:
    """Rows in memory, as a folder would hold them."""

    def __init__(self, index: DocumentIndex, record: TrainingRecord, n_rows: int) -> None:
        self._record, (self._features, self._places) = record, column_names(index, record.settings)
        self._preparation = index.preparation or LOWER_CASE_ONLY
        files = row_files(record, len(self._features), len(self._places))
        self._matrix = np.empty((n_rows, len(self._features)), dtype=np.int16)
        self._place_file = files[1] if len(files) > 1 else None
        if self._place_file is not None:
            self._place_rows = np.zeros(n_rows, dtype=row_type(self._place_file.keep_top or 0))

    def write(self, row: int, vector: NDArray[np.int16]) -> None:
        self._matrix[row] = vector[: len(self._features)]
        if self._place_file is not None:
            encoded = self._place_file.encode(vector)
            self._place_rows[row] = np.frombuffer(encoded, dtype=self._place_rows.dtype)[0]

    def copy(self, vectors: WordVectors) -> None:
        """Begin with the rows that other vectors have."""
        stored = stored_model(vectors)
        for row in range(len(vectors)):
            place = [] if stored.places is None else [stored.places.matrix[row]]
            self.write(row, np.concatenate([stored.matrix[row], *place]))

    def vectors(self, words: list[str], failed: dict[int, str]) -> WordVectors:
        """Return the vectors; words that failed are left out, and that is said."""
        kept = [row for row in range(len(words)) if row not in failed]
        if failed:
            problem = f"{_listed([words[row] for row in failed])} failed again and again and are left out"
            message = f"{problem}; the last problem: {list(failed.values())[-1]}."
            warnings.warn(message, OmniTMWarning, stacklevel=3)
        place = None
        if self._place_file is not None:
            rows = self._place_rows[kept] if failed else self._place_rows
            matrix = cast("NDArray[Any]", TopMatrix(Path("vectors in memory"), rows, len(self._places)))
            place = PlaceVectors(matrix, self._places)
        vectors = WordVectors.of_parts(
            self._matrix[kept] if failed else self._matrix,
            [words[row] for row in kept],
            self._features,
            training=self._record,
            place=place,
        )
        vectors.preparation = self._preparation
        return vectors


@dataclass(frozen=True)
class _Request:
    """What the caller asks for; None: as in the folder."""

    index: DocumentIndex
    words: list[str] | None = None
    settings: AutoencoderSettings | None = None
    seed: int | None = None
    keep_top: int | None = None

    def record(self) -> TrainingRecord:
        return _new_record(self.index, self.settings, self.seed or 0, self.keep_top)

    def check(self, path: Path | str, record: AnyRecord | None, words: Sequence[str]) -> None:
        """Refuse to continue a model that was started with something else."""
        record = omni_record(record, "be continued")
        if index_fingerprint(self.index, with_order=record.settings.reads_order) != record.index_fingerprint:
            raise CorpusError(
                f"{path}: was trained on another corpus; give the one that it was started with."
            )
        given: dict[str, Any] = {"settings": self.settings, "seed": self.seed, "keep_top": self.keep_top}
        asked = replace(record, **{name: value for name, value in given.items() if value is not None})
        if differences(record, asked):
            raise FileError(path, f"was started with {differences(record, asked)}; {_REPEAT}")
        if self.words not in (None, list(words)):
            problem = (
                f"was started with {len(words):,} words that are not the {len(self.words or ()):,} given now"
            )
            raise FileError(path, f"{problem}; {_REPEAT}, and add words when it is finished")


def _set_aside(folder: ModelFolder, failed: dict[int, str]) -> SetAsideError:
    words = _listed([folder.words[row] for row in failed])
    problem = f"set aside after repeated failures: {words}; the last problem: {list(failed.values())[-1]}"
    name = shell_name(folder.path)
    return SetAsideError(
        f"{folder.path}: {len(folder.words) - len(folder.pending()):,} of {len(folder.words):,} words are "
        f"trained and kept; {problem}. Try them again with: omnitm train CORPUS -o {name} --resume; "
        f"go without them with: omnitm merge {name} -o OTHER --allow-missing"
    )


def _stopped(folder: ModelFolder) -> TrainingStopped:
    done = len(folder.words) - len(folder.pending())
    command = f"omnitm train CORPUS -o {shell_name(folder.path)} --resume"
    return TrainingStopped(
        f"stopped: {done:,} of {len(folder.words):,} words of {folder.path} are trained and kept; "
        f"the rest with: {command} (in Python: train_model(..., resume=True))"
    )
