"""Parts of a vocabulary, trained apart and put together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from omnitm.corpus import DocumentIndex
from omnitm.errors import FileError, ParameterError, TrainingStopped
from omnitm.machine import AutoencoderSettings
from omnitm.training import train_model, train_vectors
from omnitm.training.shards import Shard, merge_models, noted_shard
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from omnitm.engines import Engine

SETTINGS = AutoencoderSettings(n_clauses=6, n_examples=40, accumulation=2)
FILES = (
    "README.md",
    "manifest.json",
    "checksums.bin",
    "settings.json",
    "features.txt",
    "words.txt",
    "vectors.i16",
)


def train_shards(index: DocumentIndex, folder: Path, total: int) -> list[Path]:
    paths = [folder / f"part-{number}" for number in range(1, total + 1)]
    for number, path in enumerate(paths, 1):
        train_model(index, path, settings=SETTINGS, shard=Shard(number, total))
    return paths


def test_merged_shards_are_the_model_of_one_run(board: DocumentIndex, tmp_path: Path) -> None:
    parts = train_shards(board, tmp_path, 5)  # 3, 3, 2, 2, 2 words
    assert WordVectors.load(parts[1]).index_to_key == ["a1", "b0", "b5"]
    assert noted_shard(parts[1]) == Shard(2, 5)
    whole = tmp_path / "whole"
    train_model(board, whole, settings=SETTINGS)
    for name, order in (("merged", parts), ("shuffled", [parts[k] for k in (3, 0, 4, 2, 1)])):
        assert merge_models(order, tmp_path / name) == []
        for file in FILES:
            assert (tmp_path / name / file).read_bytes() == (whole / file).read_bytes(), (name, file)


def test_a_shard_can_be_resumed_and_replaced(board: DocumentIndex, tmp_path: Path) -> None:
    path = tmp_path / "part"
    train_model(board, path, settings=SETTINGS, shard=Shard(2, 3))
    train_model(board, path, resume=True, shard=Shard(2, 3))
    with pytest.raises(FileError, match="was started with 4 words that are not the 4 given now"):
        train_model(board, path, resume=True, shard=Shard(1, 3))
    train_model(board, path, ["a0"], settings=SETTINGS, force=True)
    assert noted_shard(path) is None


def test_other_models_follow_one_another_and_must_agree(board: DocumentIndex, tmp_path: Path) -> None:
    train_model(board, tmp_path / "x", ["b0", "a1"], settings=SETTINGS)
    train_model(board, tmp_path / "y", ["a1", "a0"], settings=SETTINGS)
    merge_models([tmp_path / "x", tmp_path / "y"], tmp_path / "xy")
    merged = WordVectors.load(tmp_path / "xy", verify=True)
    assert merged.index_to_key == ["b0", "a1", "a0"]
    assert np.array_equal(merged.matrix, train_vectors(board, merged.index_to_key, settings=SETTINGS).matrix)
    forged = WordVectors.load(tmp_path / "y")
    forged = WordVectors(forged.matrix + 1, forged.index_to_key, board.vocabulary, training=forged.training)
    forged.save(tmp_path / "forged")
    with pytest.raises(FileError, match=r"forged: has another vector for 'a1' than .*x"):
        merge_models([tmp_path / "x", tmp_path / "forged"], tmp_path / "no")
    assert not (tmp_path / "no").exists()


def test_what_is_missing_is_named_or_left_out(
    board: DocumentIndex, tmp_path: Path, stop_after: Callable[[int], Engine]
) -> None:
    parts = train_shards(board, tmp_path, 3)
    with pytest.raises(ParameterError, match=r"Shards are missing: 2/3; give them too, or --allow-missing"):
        merge_models([parts[0], parts[2]], tmp_path / "m")
    with pytest.raises(TrainingStopped):
        train_model(board, parts[1], settings=SETTINGS, shard=Shard(2, 3), force=True, engine=stop_after(2))
    with pytest.raises(FileError, match="this model is not finished: 2 of 4 words"):
        merge_models(parts, tmp_path / "m")
    assert merge_models(parts, tmp_path / "m", allow_missing=True) == ["b1", "b4"]
    merged = WordVectors.load(tmp_path / "m", verify=True)
    assert merged.index_to_key == [word for word in board.vocabulary if word not in {"b1", "b4"}]
    assert np.array_equal(merged.matrix, train_vectors(board, merged.index_to_key, settings=SETTINGS).matrix)
    train_model(board, parts[1], resume=True)  # merging has changed nothing
    assert merge_models(parts, tmp_path / "m", force=True) == []
    with pytest.raises(TrainingStopped):
        train_model(board, tmp_path / "nothing", settings=SETTINGS, engine=stop_after(0))
    with pytest.raises(ParameterError, match="None of the models has a finished word"):
        merge_models([tmp_path / "nothing"], tmp_path / "m", force=True, allow_missing=True)


def test_models_that_do_not_belong_together(board: DocumentIndex, tmp_path: Path) -> None:
    train_model(board, tmp_path / "x", ["a0"], settings=SETTINGS)
    train_model(board, tmp_path / "seed", ["a1"], settings=SETTINGS, seed=1)
    train_model(board, tmp_path / "settings", ["a1"], settings=replace(SETTINGS, n_examples=9))
    other = DocumentIndex.from_csr(csr_matrix(np.eye(12)), board.vocabulary)
    train_model(other, tmp_path / "corpus", ["a1"], settings=SETTINGS)
    train_model(board, tmp_path / "part", settings=SETTINGS, shard=Shard(1, 2))
    for name, message in (
        ("seed", "seed=1, not 0"),
        ("settings", "n_examples=9, not 40"),
        ("corpus", "another corpus"),
    ):
        with pytest.raises(FileError, match=rf"{name}: was trained with {message} .compared with .*x"):
            merge_models([tmp_path / "x", tmp_path / name], tmp_path / "m")
    with pytest.raises(FileError, match=r"part: is shard 1/2, but .*x is no shard; merge the shards first"):
        merge_models([tmp_path / "x", tmp_path / "part"], tmp_path / "m")
    with pytest.raises(ParameterError, match=r"every model to be merged once. Got .*x"):
        merge_models([tmp_path / "x", tmp_path / "x"], tmp_path / "m")
    with pytest.raises(ParameterError, match=r"every model to be merged once. Got none"):
        merge_models([], tmp_path / "m")


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "a/b", "1/0", "-1/3", "1/99999999", "1/3 "])
def test_shards_that_are_none(text: str) -> None:
    with pytest.raises(ParameterError, match=r"must be K/N with K from 1 to N, such as 3/16. Got"):
        Shard.parse(text)


def test_empty_shards_and_damaged_notes(board: DocumentIndex, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="Shard 13/13 of 12 words is empty; make fewer shards"):
        train_model(board, tmp_path / "m", settings=SETTINGS, shard=Shard(13, 13))
    train_model(board, tmp_path / "m", settings=SETTINGS, shard=Shard(1, 2))
    (tmp_path / "m" / "shard.txt").write_bytes(b"\xff/2\n")
    with pytest.raises(FileError, match=r"shard\.txt: A shard must be K/N"):
        merge_models([tmp_path / "m"], tmp_path / "x")


def test_a_model_is_not_merged_into_itself(board: DocumentIndex, tmp_path: Path) -> None:
    train_model(board, tmp_path / "m", ["a0"], settings=SETTINGS)
    with pytest.raises(ParameterError, match="is one of the models to be merged; give another folder"):
        merge_models([tmp_path / "m"], tmp_path / "x" / ".." / "m", force=True)
    WordVectors.load(tmp_path / "m", verify=True)


@pytest.mark.parametrize("keep_top", [1, 3, 8, 12])
def test_an_unfinished_model_with_few_coordinates_merges_as_it_was_trained(
    board: DocumentIndex, tmp_path: Path, keep_top: int, stop_after: Callable[[int], Engine]
) -> None:
    words = list(board.vocabulary)
    whole = train_model(board, tmp_path / "whole", words[:4], settings=SETTINGS, keep_top=keep_top)
    with pytest.raises(TrainingStopped):
        train_model(
            board, tmp_path / "part", words, settings=SETTINGS, keep_top=keep_top, engine=stop_after(4)
        )
    assert merge_models([tmp_path / "part"], tmp_path / "merged", allow_missing=True) == sorted(words[4:])
    merged = WordVectors.load(tmp_path / "merged", verify=True)
    assert merged.training == whole.training
    assert np.array_equal(merged.matrix[:], whole.matrix[:])
    for file in ("manifest.json", "vectors.top"):
        assert (tmp_path / "merged" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()


def test_settings_of_parts_are_compared_in_full(board: DocumentIndex, tmp_path: Path) -> None:
    train_model(board, tmp_path / "x", ["a0"], settings=SETTINGS)
    train_model(board, tmp_path / "top", ["a1"], settings=SETTINGS, keep_top=3)
    for first, second, said in (("x", "top", "keep_top=3, not None"), ("top", "x", "keep_top=None, not 3")):
        with pytest.raises(FileError, match=rf"{second}: was trained with {said} .compared with .*{first}."):
            merge_models([tmp_path / first, tmp_path / second], tmp_path / "no")
    assert not (tmp_path / "no").exists()
