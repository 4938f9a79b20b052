"""Train a vocabulary in parts that know nothing of each other, and put the parts together."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from omnitm.errors import FileError, ParameterError
from omnitm.files.manifest import MANIFEST
from omnitm.files.plain import read_file, write_file
from omnitm.sharing.card import keep_card, kept_facts
from omnitm.store import ModelFolder, TrainingRecord, load_model, omni_record
from omnitm.store.model_notes import SHARD_NOTE
from omnitm.store.record import differences
from omnitm.vectors.word_vectors import WordVectors

_LONGEST_NOTE = 100  # bytes; a shard is named in fewer


@dataclass(frozen=True, order=True)
class Shard:
    """One of several equal parts of a list of words.

    Examples
    --------
    >>> Shard.parse("2/3").words_of(["a", "b", "c", "d", "e"])
    ['b', 'e']
    """

    number: int
    """From 1 to `total`."""
    total: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.total <= 1_000_000:
            raise ParameterError(
                f"A shard must be K/N with K from 1 to N, such as 3/16. Got {self.number}/{self.total}."
            )

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read "K/N"."""
        found = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text, flags=re.ASCII)
        if found is None:
            raise ParameterError(f"A shard must be K/N with K from 1 to N, such as 3/16. Got {text!r}.")
        return cls(int(found[1]), int(found[2]))

    def words_of(self, words: Sequence[str]) -> list[str]:
        """Take every N-th word: frequent and rare ones, so that shards take equally long."""
        part = list(words[self.number - 1 :: self.total])
        if not part:
            raise ParameterError(f"Shard {self} of {len(words):,} words is empty; make fewer shards.")
        return part

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"


def note_shard(model: Path, shard: Shard) -> None:
    """Write down which shard a model is, for `merge_models`."""
    write_file(model / SHARD_NOTE, f"{shard}\n".encode())


def noted_shard(model: Path) -> Shard | None:
    """Read which shard a model is, if it is one."""
    if not (model / SHARD_NOTE).is_file():
        return None
    try:
        return Shard.parse(read_file(model / SHARD_NOTE, _LONGEST_NOTE).decode(errors="replace").strip())
    except ParameterError as error:
        raise FileError(model / SHARD_NOTE, str(error)) from None


def merge_models(
    parts: Sequence[str | Path], output: str | Path, *, allow_missing: bool = False, force: bool = False
) -> list[str]:
    """Put models of the same corpus, settings and seed together; every byte that is read is checked.

    Shards give the very files that one training run would have given; other models are put one after
    the other, and a word that several have must have the same vector in all.

    Parameters
    ----------
    parts
        Folders of models.
    output
        Folder of the new model.
    allow_missing
        Accept parts that are not finished, and shards that are not there: their words are left out.
    force
        Replace an existing model.

    Returns
    -------
    list of str
        The words that the unfinished parts should have had.
    """
    with contextlib.ExitStack() as stack:
        opened = [
            stack.enter_context(_opened(part, allow_missing=allow_missing))
            for part in _ordered(parts, Path(output))
        ]
        if not allow_missing:
            _check_shards(opened)
        _check_alike(opened)
        rows = _merged_rows(opened)
        first = opened[0]
        with ModelFolder.create(
            output, list(rows), first.features, first.record, places=first.places, force=force
        ) as folder:
            for row, (part, place) in enumerate(rows.values()):
                folder.write(row, part.row(place))
            if folder.finish():
                raise FileError(output, "was damaged while it was written; check the disk and merge again")
        keep_card(WordVectors.load(output), Path(output), kept_facts(first.path))
        return sorted({part.words[row] for part in opened for row in part.missing}.difference(rows))


@dataclass(frozen=True, eq=False)
class _Part:
    path: Path
    shard: Shard | None
    record: TrainingRecord
    features: list[str]
    places: list[str]
    words: list[str]
    row: Callable[[int], NDArray[np.int16]]
    missing: frozenset[int] = frozenset()

    def finished(self) -> Iterator[int]:
        """Rows that are there."""
        return (row for row in range(len(self.words)) if row not in self.missing)


def _ordered(parts: Sequence[str | Path], output: Path) -> list[Path]:
    paths = [Path(part) for part in parts]
    shards = {path: noted_shard(path) for path in paths}
    repeated, count = Counter(paths).most_common(1)[0] if paths else (None, 1)
    if not paths or count > 1:
        raise ParameterError(f"Give every model to be merged once. Got {repeated or 'none'}.")
    if output.resolve() in {path.resolve() for path in paths}:
        raise ParameterError(f"{output} is one of the models to be merged; give another folder to write to.")
    if all(shards.values()):
        paths.sort(key=lambda path: shards[path])  # type: ignore[arg-type,return-value] # none is None
    return paths


@contextlib.contextmanager
def _opened(path: Path, *, allow_missing: bool) -> Iterator[_Part]:
    unfinished = ModelFolder.resume(path) if allow_missing and not (path / MANIFEST).exists() else None
    if unfinished is not None:
        with unfinished as folder:
            missing = frozenset(row for row in range(len(folder.words)) if not folder.is_sound(row))
            names = folder.features, folder.places, folder.words
            yield _Part(path, noted_shard(path), folder.record, *names, folder.read, missing)
        return
    model = load_model(path, verify=True)
    record = omni_record(model.record, "be merged")
    matrices = [model.matrix] if model.places is None else [model.matrix, model.places.matrix]
    places = [] if model.places is None else model.places.feature_names

    def row(number: int) -> NDArray[np.int16]:
        return np.concatenate([matrix[number] for matrix in matrices])

    yield _Part(path, noted_shard(path), record, model.features, places, model.words, row)


def _check_shards(parts: Sequence[_Part]) -> None:
    shards = [part.shard for part in parts if part.shard is not None]
    if len(shards) != len(parts):
        return
    there, total = {shard.number for shard in shards}, shards[0].total
    lacking = [str(Shard(number, total)) for number in range(1, total + 1) if number not in there]
    if lacking:
        shown = ", ".join(lacking[:5]) + (" and more" if len(lacking) > 5 else "")
        raise ParameterError(f"Shards are missing: {shown}; give them too, or --allow-missing.")


def _check_alike(parts: Sequence[_Part]) -> None:
    first = parts[0]
    for part in parts[1:]:
        found = differences(part.record, first.record)
        if found:
            problem = f"was trained with {found} (compared with {first.path})"
            raise FileError(part.path, f"{problem}; only models of one corpus and of the same settings merge")
        if (part.shard and part.shard.total) != (first.shard and first.shard.total):
            kinds = [f"is shard {x.shard}" if x.shard else "is no shard" for x in (part, first)]
            raise FileError(part.path, f"{kinds[0]}, but {first.path} {kinds[1]}; merge the shards first")


def _merged_rows(parts: Sequence[_Part]) -> dict[str, tuple[_Part, int]]:
    rows: dict[str, tuple[_Part, int]] = {}
    for part, row in _merged_order(parts):
        word = part.words[row]
        # A word may be in several parts, for models that overlap; then its vectors must agree, bit for bit.
        other, other_row = rows.setdefault(word, (part, row))
        if other is not part and not np.array_equal(other.row(other_row), part.row(row)):
            raise FileError(part.path, f"has another vector for {word!r} than {other.path}")
    if not rows:
        raise ParameterError("None of the models has a finished word; there is nothing to merge.")
    return rows


def _merged_order(parts: Sequence[_Part]) -> list[tuple[_Part, int]]:
    """Deal the words of shards in turns, as they were dealt out; other models follow one another."""
    rows = [(part, row) for part in parts for row in part.finished()]
    if all(part.shard for part in parts):
        rows.sort(key=lambda place: place[1])  # parts are in the order of their shards, and sorting keeps it
    return rows
