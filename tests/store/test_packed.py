"""A packed model is the model, smaller; a damaged one is refused."""

from __future__ import annotations

import hashlib
import json
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from omnitm.cli import main
from omnitm.errors import FileError
from omnitm.files.kinds import PACKED_MAGIC
from omnitm.machine import AutoencoderSettings
from omnitm.store import ModelRecord, TrainingRecord, load_model, pack_model, unpack_model
from omnitm.store.packed import TRAILER, PackedMatrix, from_bytes, inflated, to_bytes
from omnitm.store.packing import _SEGMENT
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from pathlib import Path

RECORD = TrainingRecord(AutoencoderSettings(), 3, "0" * 64)


def make_vectors(n_words: int = 120, n_features: int = 150) -> WordVectors:
    random = np.random.default_rng(5)
    baseline = random.integers(-115, -60, size=(n_words, 1))
    differs = random.random((n_words, n_features)) < 0.2
    matrix = np.where(differs, random.integers(-118, 110, size=(n_words, n_features)), baseline)
    names = [f"w{k}" for k in range(n_features)]
    return WordVectors(matrix.astype(np.int16), names[:n_words], names, training=RECORD)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("packed")
    make_vectors().save(folder / "model")
    pack_model(folder / "model", folder / "model.omnitm")
    return folder / "model"


@pytest.fixture
def packed(model: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "copy.omnitm"
    copy.write_bytes(model.with_suffix(".omnitm").read_bytes())
    return copy


def test_answers_are_the_same(model: Path, packed: Path) -> None:
    plain, opened = WordVectors.load(model), WordVectors.load(packed, verify=True)
    assert opened.index_to_key == plain.index_to_key
    assert opened.feature_names == plain.feature_names
    assert opened.training == plain.training
    assert opened.default_metric == "similarity"
    assert_array_equal(opened["w7"], plain["w7"])
    assert_array_equal(opened[["w7", "w2"]], plain[["w7", "w2"]])
    for metric in ("similarity", "association", "association-symmetric", "cosine"):
        assert opened.most_similar("w3", metric=metric) == plain.most_similar("w3", metric=metric)
        assert opened.similarity("w3", "w9", metric=metric) == plain.similarity("w3", "w9", metric=metric)
    assert (packed.parent / "copy.omnitm.similarity.bin").exists()
    again = WordVectors.load(packed)
    assert again.most_similar("w3") == plain.most_similar("w3")
    assert_array_equal(plain.sparsify(5).matrix.toarray(), again.sparsify(5).matrix.toarray())


def test_it_reads_like_an_array(model: Path, packed: Path) -> None:
    plain, opened = WordVectors.load(model).matrix, WordVectors.load(packed).matrix
    rows, columns = np.array([3, 1, 3, 0]), np.array([0, 5, 7, 149])
    keys: list[Any] = [4, -1, slice(2, 9, 3), [5, 1], np.arange(120) % 7 == 0, (slice(None), 9)]
    keys += [(slice(0, 5), -2), (rows, columns), (3, 8), (2, slice(0, 4)), ([1, 2], slice(3, 6))]
    for key in keys:
        assert_array_equal(opened[key], plain[key])
    assert_array_equal(np.asarray(opened), plain)
    assert np.asarray(opened, dtype=np.float32).dtype == np.float32
    with pytest.raises(IndexError, match="out of bounds"):
        opened[120]


def test_unpacked_it_is_the_same_folder(model: Path, packed: Path, tmp_path: Path) -> None:
    unpack_model(packed, tmp_path / "again")
    kept = {"similarity.bin"}  # no part of the model: cards that name telling words prepare it
    names = {entry.name for entry in model.iterdir()} - kept
    assert {entry.name for entry in (tmp_path / "again").iterdir()} - kept == names
    for name in names:
        assert (tmp_path / "again" / name).read_bytes() == (model / name).read_bytes()
    with pytest.raises(FileError, match="already holds a model"):
        unpack_model(packed, tmp_path / "again")


def test_rows_of_any_span_and_real_numbers(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    wide = np.array([[-32768, 0, 32767, 5], [0, 0, 0, 0], [-1, 254, 0, 3], [-1, 255, 7, 7]], dtype=np.int16)
    real = random.standard_normal((4, 4)).astype(np.float32)
    real[0, 0] = np.nan
    for name, matrix in (("wide", wide), ("real", real)):
        record = ModelRecord(name, {}, 0, "0" * 64)
        features = list("abcd") if name == "wide" else None
        WordVectors(matrix, list("abcd"), features, training=record).save(tmp_path / name)
        pack_model(tmp_path / name, tmp_path / f"{name}.omnitm")
        opened = load_model(tmp_path / f"{name}.omnitm", verify=True)
        assert_array_equal(opened.matrix[:], matrix)
        assert opened.is_named == (name == "wide")
        unpack_model(tmp_path / f"{name}.omnitm", tmp_path / f"{name}-again")
        assert_array_equal(load_model(tmp_path / f"{name}-again", verify=True).matrix, matrix)


def test_no_words_and_many_columns(tmp_path: Path) -> None:
    names = [f"w{k}" for k in range(9000)]
    matrix = np.arange(18_000, dtype=np.int16).reshape(2, 9000) % 300
    WordVectors(matrix, names[:2], names, training=RECORD).save(tmp_path / "long")
    WordVectors(matrix[:0], [], names, training=RECORD).save(tmp_path / "none")
    for name in ("long", "none"):
        pack_model(tmp_path / name, tmp_path / f"{name}.omnitm")
        assert_array_equal(
            load_model(tmp_path / f"{name}.omnitm", verify=True).matrix[:], load_model(tmp_path / name).matrix
        )


def test_bytes_and_back() -> None:
    values = np.array([-32768, 32767, 0], dtype=np.int16)
    assert_array_equal(from_bytes(to_bytes(values, -32768, 2), values.dtype, -32768, 2), values)
    assert to_bytes(np.array([3, 5], dtype=np.int16), 3, 1) == b"\0\2"


def test_size_and_reads_on_vectors_like_the_real_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two thirds baseline, as on Wikipedia: a sixth of the size, and a row reads its own blocks alone."""
    random = np.random.default_rng(0)
    names = [f"w{k}" for k in range(20_000)]
    differs = random.random((20, 20_000)) < np.linspace(0.8, 0, 20_000) ** 2
    values = np.minimum(-90 + random.geometric(0.06, size=differs.shape), 120)
    matrix = np.where(differs, values, -90).astype(np.int16)
    WordVectors(matrix, names[:20], names, training=RECORD).save(tmp_path / "m")
    pack_model(tmp_path / "m", tmp_path / "p")
    size = (tmp_path / "p").stat().st_size - len(zlib.compress("\n".join(names).encode(), 9))
    assert matrix.nbytes / size > 6
    read: list[int] = []
    read_block = PackedMatrix._block

    def counted(matrix: PackedMatrix, row: int, *place: Any) -> bytes:
        read.append(row)
        return read_block(matrix, row, *place)

    monkeypatch.setattr(PackedMatrix, "_block", counted)
    opened = WordVectors.load(tmp_path / "p").matrix
    assert not read
    assert_array_equal(opened[7], matrix[7])
    assert set(read) == {7}
    assert len(read) == -(-20_000 // _SEGMENT)


def test_commands(model: Path, packed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pack", str(model), "-o", str(tmp_path / "p")]) == 0
    assert "times smaller" in capsys.readouterr().out
    assert (tmp_path / "p").read_bytes() == packed.read_bytes()
    assert main(["pack", str(model), "-o", str(tmp_path / "p")]) == 2
    assert main(["pack", str(model), "-o", str(tmp_path / "p"), "--force", "--quiet"]) == 0
    assert main(["info", str(tmp_path / "p"), "--verify", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["words"] == 120
    assert "times smaller than all numbers" in facts["stored"]
    assert main(["similar", str(tmp_path / "p"), "w1", "--metric", "association"]) == 0
    assert main(["unpack", str(tmp_path / "p"), "-o", str(tmp_path / "m")]) == 0
    assert main(["info", str(tmp_path / "m"), "--verify"]) == 0


def test_what_cannot_be_packed(model: Path, packed: Path, tmp_path: Path) -> None:
    with pytest.raises(
        FileError, match=r"is a packed model, not the folder of one; omnitm unpack .* -o MODEL"
    ):
        pack_model(packed, tmp_path / "p")
    with pytest.raises(FileError, match="exists already; --force"):
        pack_model(model, packed)
    with pytest.raises(FileError, match="is a folder; a packed model is a file"):
        pack_model(model, tmp_path, force=True)
    with pytest.raises(FileError, match=r"the folder .* does not exist"):
        pack_model(model, tmp_path / "nowhere" / "p")
    with pytest.raises(FileError, match=r"is a model, not a packed model; omnitm pack .* -o FILE packs it"):
        unpack_model(model, tmp_path / "u")
    with pytest.raises(FileError, match="is not a packed model; omnitm pack MODEL -o FILE makes one"):
        unpack_model(tmp_path / "nowhere", tmp_path / "u")


def check_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(FileError, match=path.name):
        load_model(path, verify=True)


@pytest.mark.parametrize("n_cases", [40, pytest.param(1000, marks=pytest.mark.torture)])
def test_every_flip_and_truncation_is_noticed(packed: Path, n_cases: int) -> None:
    content, random = packed.read_bytes(), np.random.default_rng(11)
    for _ in range(n_cases):
        flipped = bytearray(content)
        flipped[random.integers(len(content))] ^= 1 << int(random.integers(8))
        check_refused(packed, bytes(flipped))
        check_refused(packed, content[: int(random.integers(len(content)))])
    check_refused(packed, content + b"\0")
    check_refused(packed, content + content)


def test_a_damaged_row_is_noticed_when_read(packed: Path) -> None:
    content = bytearray(packed.read_bytes())
    content[len(PACKED_MAGIC) + 3] ^= 4
    packed.write_bytes(content)
    vectors = WordVectors.load(packed)
    assert len(vectors["w1"]) == 150
    with pytest.raises(FileError, match="row 0 does not fit its checksum; the file is damaged"):
        vectors["w0"]


def forge(packed: Path, **changes: Any) -> None:
    """Change the header and give it the right checksum."""
    content = packed.read_bytes()
    length = int.from_bytes(content[-TRAILER:][:8], "little")
    body, header = content[: -TRAILER - length], json.loads(content[-TRAILER - length : -TRAILER])
    header.update(changes)
    text = json.dumps(header).encode()
    trailer = len(text).to_bytes(8, "little") + hashlib.sha256(text).digest() + PACKED_MAGIC
    packed.write_bytes(body + text + trailer)


def header_of(packed: Path) -> dict[str, Any]:
    content = packed.read_bytes()
    length = int.from_bytes(content[-TRAILER:][:8], "little")
    header: dict[str, Any] = json.loads(content[-TRAILER - length : -TRAILER])
    return header


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, "version 2; this omnitm reads 'omnitm packed model' version 1"),
        ({"format": "x"}, "is 'x' version 1"),
        ({"rows": 1 << 60}, "impossible 'rows'"),
        ({"rows": True}, "impossible 'rows'"),
        ({"columns": -1}, "impossible 'columns'"),
        ({"columns": 149}, "names for another number of rows or columns"),
        ({"segment": 0}, "impossible 'segment'"),
        ({"segment": 10}, "tables of the wrong size"),
        ({"type": "|O"}, "without the type of its numbers"),
        ({"type": "<f4"}, "tables that do not fit its blocks"),
        ({"manifest": None}, "without a manifest"),
        ({"manifest": {}}, "has no manifest of an omnitm model, version 1"),
        ({"sections": []}, "does not list its six sections"),
        ({"sections": [[1, 2]] * 6}, "section of impossible size"),
        ({"sections": [["blocks", 0, None]] * 6}, "do not make up the file"),
        ({"sections": [["blocks", 1 << 60, None]] * 6}, "section of impossible size"),
        ({"sections": [["x", 5, "y"]] * 6}, "section 'x' that does not fit its checksum"),
    ],
)
def test_forged_headers(packed: Path, changes: dict[str, Any], message: str) -> None:
    forge(packed, **changes)
    with pytest.raises(FileError, match=message):
        load_model(packed)


@pytest.mark.parametrize(
    ("name", "entry", "message"),
    [
        ("words.txt", {"size": 1 << 40}, "more than any model needs"),
        ("words.txt", {"size": 3}, "does not hold 3 bytes"),
        ("words.txt", {"sha256": "0" * 64}, "text that differs from the manifest"),
        ("vectors.i16", {"sha256": "0" * 64}, "vectors that differ from the manifest"),
    ],
)
def test_forged_manifests(packed: Path, name: str, entry: dict[str, Any], message: str) -> None:
    manifest = header_of(packed)["manifest"]
    manifest["files"][name].update(entry)
    forge(packed, manifest=manifest)
    with pytest.raises(FileError, match=message):
        load_model(packed, verify=True)
    with pytest.raises(FileError, match=r"came out other than it should|differs|needs|hold"):
        unpack_model(packed, packed.parent / "u")


def test_words_must_be_features(packed: Path, tmp_path: Path) -> None:
    """Exchange the two texts, of which one names fewer words."""
    small = WordVectors(np.zeros((2, 2), np.int16), ["a", "b"], ["a", "b"], training=RECORD)
    small.save(tmp_path / "m")
    pack_model(tmp_path / "m", packed, force=True)
    header, content = header_of(packed), packed.read_bytes()
    other = b"a\nc\n"
    sizes = [entry[1] for entry in header["sections"]]
    start = len(PACKED_MAGIC) + sum(sizes[:3])
    text = zlib.compress(other, 9)
    header["sections"][3] = ["words.txt", len(text), hashlib.sha256(text).hexdigest()]
    header["manifest"]["files"]["words.txt"] = {"size": 4, "sha256": hashlib.sha256(other).hexdigest()}
    packed.write_bytes(content[:start] + text + content[start + sizes[3] :])
    forge(packed, **header)
    with pytest.raises(FileError, match="words that its features do not have"):
        load_model(packed)


def test_what_is_no_packed_model(packed: Path, tmp_path: Path) -> None:
    content = packed.read_bytes()
    cases = {
        content[:20]: "is too short for a packed model",
        b"x" * 200: "is a file of text or data, not a model",
        b"x" + content[1:]: "does not begin as a packed model does",
        content[:-1]: "is cut off",
        content[:-TRAILER] + (1 << 40).to_bytes(8, "little") + content[8 - TRAILER :]: "impossible length",
        content[: -TRAILER - 1] + b"]" + content[-TRAILER:]: "header that does not fit its checksum",
    }
    for wrong, message in cases.items():
        packed.write_bytes(wrong)
        with pytest.raises(FileError, match=message):
            load_model(packed)
    (tmp_path / "link").symlink_to(packed)
    with pytest.raises(FileError, match="is not a folder"):
        load_model(tmp_path / "link")


def test_blocks_never_grow_beyond_their_size(tmp_path: Path) -> None:
    bomb = zlib.compress(bytes(1 << 20))
    for data, size in ((bomb, 10), (bomb, (1 << 20) + 1), (bomb[:-5], 1 << 20), (bomb + b"x", 1 << 20)):
        with pytest.raises(FileError, match="does not hold"):
            inflated(tmp_path, data, size, zlib.MAX_WBITS)
    with pytest.raises(FileError, match="cannot be decompressed"):
        inflated(tmp_path, b"nonsense", 10, zlib.MAX_WBITS)
    assert inflated(tmp_path, zlib.compress(b""), 0, zlib.MAX_WBITS) == b""


def test_a_damaged_model_is_not_packed(tmp_path: Path) -> None:
    make_vectors().save(tmp_path / "m")
    with (tmp_path / "m" / "vectors.i16").open("r+b") as file:
        file.write(b"xx")
    with pytest.raises(FileError, match=r"vectors\.i16: damaged near byte 0"):
        pack_model(tmp_path / "m", tmp_path / "p")
    assert [entry.name for entry in tmp_path.iterdir()] == ["m"]
