"""What a model was trained with: enough to train any of its words again, bit for bit."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from omnitm import __version__
from omnitm.errors import FileError, ParameterError
from omnitm.files.manifest import json_object
from omnitm.files.plain import read_file
from omnitm.machine import AutoencoderSettings, running_of
from omnitm.parameters import check_integer

if TYPE_CHECKING:
    from omnitm.corpus import DocumentIndex

JSON_LIMIT = 1 << 20
_MOST_KEPT = 1 << 24


@dataclasses.dataclass(frozen=True)
class TrainingRecord:
    """Settings, seed and index of a training run.

    Attributes
    ----------
    settings
        What every word's machine was trained with.
    seed
        The seed that, with a word's spelling, gives the word's key.
    index_fingerprint
        SHA-256 of the documents and the vocabulary, see `index_fingerprint`.
    omnitm_version
        Version of the package that started the training.
    keep_top
        How many coordinates each row keeps, those that differ most from its baseline; None: all.
    keep_places
        The same of the coordinates of place, where they are trained; None: there are none.
    """

    settings: AutoencoderSettings
    seed: int
    index_fingerprint: str
    omnitm_version: str = __version__
    keep_top: int | None = None
    keep_places: int | None = None

    def __post_init__(self) -> None:
        check_integer("OmniTMAE", "seed", self.seed, 0, 2**64 - 1)
        for name in ("keep_top", "keep_places"):
            if getattr(self, name) is not None:
                check_integer("train_model", name, getattr(self, name), 1, _MOST_KEPT)

    def to_bytes(self) -> bytes:
        """Write the record as the content of settings.json; what only some models have only there."""
        fields = dataclasses.asdict(self)
        for name in ("keep_top", "keep_places"):
            if fields[name] is None:
                del fields[name]
        omitted = _SETTINGS_OF_GROWTH if self.settings.accumulation_growth == 1 else set()
        omitted = omitted if self.settings.joiners else omitted | _SETTINGS_OF_JOINERS
        omitted = _SETTINGS_OF_PLACE if self.settings.contexts == "topic" else omitted
        omitted = omitted if self.settings.passage_reach else omitted | _SETTINGS_OF_PASSAGES
        fields["settings"] = {
            name: fields["settings"][name] for name in fields["settings"] if name not in omitted
        }
        return (json.dumps(fields, indent=2) + "\n").encode()


@dataclasses.dataclass(frozen=True)
class ModelRecord:
    """What a model that is not Omni was made with: its name and its settings, as they were given.

    >>> ModelRecord("word2vec", {"vector_size": 100}, 0, "0" * 64).model
    'word2vec'
    """

    model: str
    settings: dict[str, Any]
    seed: int
    index_fingerprint: str
    omnitm_version: str = __version__

    def __post_init__(self) -> None:
        check_integer(self.model, "seed", self.seed, 0, 2**64 - 1)

    def to_bytes(self) -> bytes:
        """Write the record as the content of settings.json."""
        return (json.dumps(dataclasses.asdict(self), indent=2) + "\n").encode()


AnyRecord = TrainingRecord | ModelRecord


def plain_settings(record: AnyRecord) -> dict[str, Any]:
    """Return the settings of a model as plain values, by name."""
    return record.settings if isinstance(record.settings, dict) else dataclasses.asdict(record.settings)


def keep_top_of(record: AnyRecord | None) -> int | None:
    """How many coordinates the rows of a model keep; None: all."""
    return record.keep_top if isinstance(record, TrainingRecord) else None


def keep_places_of(record: AnyRecord | None) -> int | None:
    """How many coordinates of place the rows of a model keep; None: it has none."""
    return record.keep_places if isinstance(record, TrainingRecord) else None


def joiners_of(record: AnyRecord | None) -> tuple[int, ...]:
    """Numbers of the words, such as *and*, that join others with a word, if a model has learned from that."""
    return record.settings.joiners if isinstance(record, TrainingRecord) else ()


def is_place_only(record: AnyRecord | None) -> bool:
    """Whether a model has coordinates of place and no others."""
    return isinstance(record, TrainingRecord) and record.settings.contexts == "place"


def is_sparse(record: AnyRecord | None) -> bool:
    """Whether the rows of a model are stored without their zeros."""
    return isinstance(record, ModelRecord) and record.settings.get("sparse") is True


def omni_record(record: AnyRecord | None, purpose: str) -> TrainingRecord:
    """Return the record of an Omni model, or say that only such a model can do this."""
    if isinstance(record, TrainingRecord):
        return record
    if record is None:
        raise ParameterError(f"Vectors of unknown origin cannot {purpose}: 'training' is None.")
    raise ParameterError(f"A {record.model} model cannot {purpose}: only Omni models can.")


def differences(record: TrainingRecord, other: TrainingRecord) -> str:
    """Name what two models were trained with differently; empty: all their rows belong together."""
    if record.index_fingerprint != other.index_fingerprint:
        return "another corpus"
    ours, others = ({**vars(each), **dataclasses.asdict(each.settings)} for each in (record, other))
    compared = [name for name in ours if name not in {"settings", "omnitm_version"}]
    return ", ".join(
        f"{name}={ours[name]!r}, not {others[name]!r}" for name in compared if ours[name] != others[name]
    )


def record_from_bytes(path: Path, content: bytes) -> AnyRecord:
    """Read the content of settings.json and check all of it."""
    fields = json_object(path, content)
    model = fields.pop("model", None)
    names = [] if model is not None else [name for name in ("keep_top", "keep_places") if name in fields]
    kept = {name: fields.pop(name) for name in names}
    if set(fields) != {"settings", "seed", "index_fingerprint", "omnitm_version"}:
        raise FileError(
            path, f"must have settings, seed, index_fingerprint, omnitm_version; has {_short(fields)}"
        )
    values, fingerprint, version = fields["settings"], fields["index_fingerprint"], fields["omnitm_version"]
    if not isinstance(values, dict) or (
        model is None and set(values) not in [_SETTING_NAMES - omitted for omitted in _OMITTED]
    ):
        raise FileError(path, f"'settings' must have exactly {', '.join(sorted(_SETTING_NAMES))}")
    if model is not None and (not isinstance(model, str) or not re.fullmatch(r"[a-z0-9-]{1,40}", model)):
        raise FileError(path, "'model' must be the name of a model")
    if not isinstance(fingerprint, str) or not re.fullmatch(r"[0-9a-f]{64}", fingerprint):
        raise FileError(path, "'index_fingerprint' must be a SHA-256 in hexadecimal")
    if not isinstance(version, str) or len(version) > 100:
        raise FileError(path, "'omnitm_version' must be a version number")
    try:
        if model is not None:
            return ModelRecord(model, values, fields["seed"], fingerprint, version)
        # Older models that know places merged as many of them for all words.
        growth = {"accumulation_growth": 1} if "contexts" in values else {}
        joiners = {"joiners": tuple(values["joiners"])} if isinstance(values.get("joiners"), list) else {}
        # Where they know joined words, these are as many as there are neighbours.
        older = {"n_joined_features": values["n_place_features"]} if "joiners" in values else {}
        settings = AutoencoderSettings(**{**growth, **older, **values, **joiners})
        if ("place" in settings.kinds) != ("keep_places" in kept):
            raise FileError(path, "must have 'keep_places' if 'contexts' names places, and only then")
        return TrainingRecord(settings, fields["seed"], fingerprint, version, **kept)
    except ParameterError as error:
        raise FileError(path, str(error)) from None


def read_record(path: Path) -> AnyRecord:
    """Read settings.json and check all of it."""
    return record_from_bytes(path, read_file(path, JSON_LIMIT))


_fingerprints: WeakKeyDictionary[DocumentIndex, dict[bool, str]] = WeakKeyDictionary()


def index_fingerprint(index: DocumentIndex, *, with_order: bool = False) -> str:
    """Hash everything that training can see of an index: its vocabulary and its documents.

    Where places or passages are trained, the running text too. The same documents give the same fingerprint
    in memory and on disk, on any machine. An index is hashed once.
    """
    known = _fingerprints.setdefault(index, {})
    if with_order not in known:
        known[with_order] = _fingerprint(index, with_order=with_order)
    return known[with_order]


def _fingerprint(index: DocumentIndex, *, with_order: bool) -> str:
    digest = hashlib.sha256()
    words = index.vocabulary
    arrays: list[tuple[NDArray[Any], str]] = [(index.document_offsets, "<u8"), (index.document_words, "<u4")]
    if with_order:
        running = running_of(index)
        words, arrays = [*words, *running.other_words], [*arrays, (running.tokens, "<u4")]
    for word in words:
        encoded = word.encode()
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
    for array, kind in arrays:
        digest.update(len(array).to_bytes(8, "little"))
        for start in range(0, len(array), _ARRAY_CHUNK):
            digest.update(np.ascontiguousarray(array[start : start + _ARRAY_CHUNK], dtype=kind).data)
    return digest.hexdigest()


def _short(fields: dict[str, Any]) -> str:
    names = ", ".join(map(str, list(fields)[:5]))
    return f"{names[:100]} ..." if len(fields) > 5 or len(names) > 100 else names or "nothing"


_SETTING_NAMES = {field.name for field in dataclasses.fields(AutoencoderSettings)}
_SETTINGS_OF_GROWTH, _SETTINGS_OF_JOINERS = {"accumulation_growth"}, {"joiners", "n_joined_features"}
_SETTINGS_OF_PLACE = {"contexts", "n_place_features"} | _SETTINGS_OF_GROWTH | _SETTINGS_OF_JOINERS
_SETTINGS_OF_PASSAGES = {"passage_reach"}
# What records do not name: nothing; a growth of 1, as older models have it, or no joiners, or as many joined
# words as neighbours, as older models have it, or growth and one of these; or all about places. And, beside
# any of these, passages if there are none.
_OMITTED: list[set[str]] = [
    omitted | passages
    for omitted in (
        set(),
        _SETTINGS_OF_GROWTH,
        _SETTINGS_OF_JOINERS,
        _SETTINGS_OF_GROWTH | _SETTINGS_OF_JOINERS,
        {"n_joined_features"},
        _SETTINGS_OF_GROWTH | {"n_joined_features"},
        _SETTINGS_OF_PLACE,
    )
    for passages in (set(), _SETTINGS_OF_PASSAGES)
]
_ARRAY_CHUNK = 1 << 22
