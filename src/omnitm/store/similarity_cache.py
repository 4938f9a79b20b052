"""What follows from the vectors of a model, kept beside it: profiles (similarity.bin), themes (themes-K.bin).

These files are no part of the model: they may be deleted; one that is damaged or of other vectors is made
again.
"""

from __future__ import annotations

import contextlib
import json
import logging
import warnings
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from omnitm.errors import FileError, OmniTMWarning
from omnitm.files.checked import read_container, write_container
from omnitm.files.long_work import long_work
from omnitm.similarity.profiles import RECIPE, Profiles
from omnitm.similarity.row_profile import RowProfile
from omnitm.similarity.word_forms import WordForms
from omnitm.store.manifest import PLACE_VECTORS, SIMILARITY, model_manifest, vectors_name
from omnitm.store.packed import is_packed, read_packed
from omnitm.vectors.word_vectors import WordVectors

if TYPE_CHECKING:
    from omnitm.vectors.themes import ThemeProgress, Themes

_log = logging.getLogger(__name__)
_MANY = 3_000  # words; preparing more takes seconds
_TOPIC, _PLACE, _JOINED, _FORMS, _RANDOM = "topic.", "place.", "joined.", "forms.", "random."
_PLACE_ROWS = "place_rows"
_PLAIN = (
    *("topic_lengths", "topic_rows", "topic_codes", "place_lengths", "place_rows", "place_codes"),
    *("joined_lengths", "code_steps", "trust", "closeness", "scales", "random_shares"),
)


def kept_profiles(vectors: WordVectors, model: Path | None) -> Profiles:
    """Read profiles from beside a model, or compute and keep them there if the folder can be written."""
    if model is None:
        return Profiles.of(vectors)
    path, facts = beside_model(model, SIMILARITY), {"recipe": RECIPE, "vectors_sha256": vectors_sha256(model)}
    found = _read(vectors, path, facts)
    if found is None:
        text = f"preparing similarities of {len(vectors):,} words, once: they are kept beside the model"
        with long_work(text) if len(vectors) > _MANY else contextlib.nullcontext():
            found = Profiles.of(vectors)
        _keep(path, facts, _arrays(found))
    return found


def vectors_sha256(model: Path) -> str:
    """SHA-256 of the vectors of a model, a folder or packed, as its manifest has it; of both kinds."""
    files = read_packed(model).manifest if is_packed(model) else model_manifest(model, sums=False).files
    names = [vectors_name(files), *(name for name in (PLACE_VECTORS,) if name in files)]
    return " ".join(files[name].sha256 for name in names)


def kept_themes(vectors: WordVectors, model: Path | None, k: int, progress: ThemeProgress | None) -> Themes:
    """Read themes from beside a model, or find and keep them there if the folder can be written.

    They are kept when the patterns are found, and once more when all words are described, so that a stop
    loses one of the two. Words that are trained later are described by the same patterns.
    """
    # Here and not above: most who ask for neighbours ask for no themes.
    from omnitm.vectors.themes import RECIPE as THEMES_RECIPE
    from omnitm.vectors.themes import Themes, check_themes, theme_patterns, theme_weights

    check_themes(vectors, k)
    if model is None:
        patterns = theme_patterns(vectors, k, progress)
        return Themes(vectors, patterns, theme_weights(vectors, patterns, progress))
    path, record = kept_themes_place(model, k), vectors.training
    training = None if record is None else json.loads(record.to_bytes())
    facts = {"recipe": [THEMES_RECIPE, RECIPE], "training": training}
    sha256 = vectors_sha256(model)
    found, arrays = _read_container(path)
    kept = found.pop("vectors_sha256", None)
    if kept is None or found != facts or (record is None and kept != sha256):
        _log.info("finding %d themes of %d words", k, len(vectors))
        arrays = {"patterns": theme_patterns(vectors, k, progress), "weights": np.zeros((0, k), np.float32)}
        _keep(path, {**facts, "vectors_sha256": sha256}, arrays)
    if kept != sha256 or len(arrays["weights"]) != len(vectors):
        arrays = {**arrays, "weights": theme_weights(vectors, np.array(arrays["patterns"]), progress)}
        _keep(path, {**facts, "vectors_sha256": sha256}, arrays)
    return Themes(vectors, arrays["patterns"], arrays["weights"])


def kept_themes_place(model: Path, k: int) -> Path:
    """Name the file beside a model in which its themes are kept."""
    return beside_model(model, f"themes-{k}.bin")


def beside_model(model: Path, name: str) -> Path:
    """Name a file in the folder of a model, or beside a packed one."""
    return model.with_name(f"{model.name}.{name}") if is_packed(model) else model / name


def _keep(path: Path, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    _log.info("keeping %s", path)
    with contextlib.suppress(FileError):  # it is computed again next time
        write_container(path, facts, arrays)


def _read_container(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read what is kept; nothing if it is not there, or damaged."""
    if not path.exists():
        return {}, {}
    try:
        return read_container(path)
    except FileError as error:
        warnings.warn(f"{error}; it is made again", OmniTMWarning, stacklevel=2)
        return {}, {}


def _arrays(profiles: Profiles) -> dict[str, NDArray[Any]]:
    kinds: dict[str, Any] = {_TOPIC: profiles.topic, _FORMS: profiles.forms}
    kinds |= {_PLACE: profiles.place, _JOINED: profiles.joined}
    found = {
        prefix + name: array
        for prefix, kind in kinds.items()
        if kind is not None
        for name, array in kind.arrays().items()
    }
    found |= {_RANDOM + name: scores for name, scores in profiles.random_scores.items()}
    found |= {name: getattr(profiles, name) for name in _PLAIN}
    if profiles.place is not None and profiles.place_rows is profiles.place.smooth:
        del found[_PLACE_ROWS]  # a fifth of the file
    return found


def _read(vectors: WordVectors, path: Path, facts: dict[str, Any]) -> Profiles | None:
    found, arrays = _read_container(path)
    if found != facts:
        return None
    topic, place, joined = (_part(RowProfile, arrays, prefix) for prefix in (_TOPIC, _PLACE, _JOINED))
    forms = _part(WordForms, arrays, _FORMS)
    if place is not None:
        arrays.setdefault(_PLACE_ROWS, place.smooth)
    plain = {name: np.asarray(arrays[name]) for name in _PLAIN if name in arrays}
    if topic is None or forms is None or len(plain) != len(_PLAIN):
        return None
    random = {name.removeprefix(_RANDOM): array for name, array in arrays.items() if name.startswith(_RANDOM)}
    fits = (
        len(topic.lengths) == len(forms.starts) - 1 == len(vectors)
        and topic.n_features == vectors.vector_size
    )
    n_joined = 0 if vectors.place is None else vectors.place.n_joined
    n_places = 0 if vectors.place is None else len(vectors.place.feature_names) - n_joined
    if not fits or [n_places, n_joined] != [
        0 if kind is None else kind.n_features for kind in (place, joined)
    ]:
        return None
    return Profiles(topic, place, joined, forms, random_scores=random, **plain)


def _part(kind: Any, arrays: dict[str, NDArray[Any]], prefix: str) -> Any:
    names = [field.name for field in fields(kind)]
    if any(prefix + name not in arrays for name in names):
        return None
    return kind(**{name: arrays[prefix + name] for name in names})
