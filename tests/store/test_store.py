"""What must never happen to a model on disk: reliability.md in a small form."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm.errors import FileError, ParameterError
from omnitm.files.plain import write_file
from omnitm.machine import PAPER, AutoencoderSettings
from omnitm.store import ModelFolder, TrainingRecord
from omnitm.store.record import record_from_bytes
from omnitm.training import train_model
from omnitm.training.vocabulary import add_words
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnitm.corpus import DocumentIndex

SETTINGS = AutoencoderSettings(n_clauses=6, n_examples=40, accumulation=2)
LISTED = ("settings.json", "features.txt", "words.txt", "vectors.i16")
FILES = ("manifest.json", "checksums.bin", *LISTED)
RECORD = TrainingRecord(SETTINGS, 0, "0" * 64)


@pytest.fixture(scope="module")
def trained(board: DocumentIndex, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "m"
    train_model(board, path, ["a0", "b0", "a1"], settings=SETTINGS)
    return path


@pytest.fixture
def model(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "m"))


def without_checksums(model: Path) -> dict[str, Any]:
    """Read a manifest as older ones were: a forger need not know of checksums."""
    manifest: dict[str, Any] = json.loads((model / "manifest.json").read_text())
    return {name: value for name, value in manifest.items() if name not in {"checksums", "checksum"}}


def forge(model: Path, name: str, content: bytes) -> None:
    """Change a file and make the manifest agree, as a careful forger would."""
    (model / name).write_bytes(content)
    manifest = without_checksums(model)
    manifest["files"][name] = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (model / "manifest.json").write_text(json.dumps(manifest))


def crc32c(content: bytes) -> bytes:
    """The checksum of a short file, from its definition."""
    crc = 0xFFFFFFFF
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return (crc ^ 0xFFFFFFFF).to_bytes(4, "little")


def test_golden_bytes(tmp_path: Path) -> None:
    """The format is a contract (docs/model-format.md): these bytes may only change with its version."""
    record = TrainingRecord(AutoencoderSettings(**PAPER), 7, "ab" * 32, "0.1.0")
    vectors = WordVectors(np.array([[0, -2, 255]], dtype=np.int16), ["é"], ["é", "b", "c"], training=record)
    vectors.save(tmp_path / "m")
    assert (tmp_path / "m" / "vectors.i16").read_bytes() == b"\x00\x00\xfe\xff\xff\x00"
    assert (tmp_path / "m" / "words.txt").read_bytes() == b"\xc3\xa9\n"
    assert (tmp_path / "m" / "features.txt").read_bytes() == b"\xc3\xa9\nb\nc\n"
    digests = {name: hashlib.sha256((tmp_path / "m" / name).read_bytes()).hexdigest() for name in FILES}
    sums = b"".join(crc32c((tmp_path / "m" / name).read_bytes()) for name in LISTED)
    assert (tmp_path / "m" / "checksums.bin").read_bytes() == sums
    assert digests["settings.json"] == "d062d20a2fd0e15703abf0c42e993a84e9282f6659cd55ece888ff188901c533"
    assert digests["manifest.json"] == "919b1af45e6570b86320b2846a3491e3ffb79dbaa76041e479111feb94112a08"


@pytest.mark.parametrize("flips", [30, pytest.param(1000, marks=pytest.mark.torture)])
@pytest.mark.parametrize("name", FILES)
def test_every_bit_flip_is_noticed(model: Path, name: str, flips: int) -> None:
    random = np.random.default_rng(5)
    sound = (model / name).read_bytes()
    for position in random.integers(0, len(sound), flips).tolist():
        damaged = bytearray(sound)
        damaged[position] ^= 1 << int(random.integers(8))
        (model / name).write_bytes(damaged)
        try:
            vectors = WordVectors.load(model, verify=True)
        except FileError as error:
            assert str(model) in str(error)  # noqa: PT017 - which file is named depends on the bit
        else:
            pytest.fail(f"byte {position} of {name} was damaged, and {vectors} opened")


@pytest.mark.parametrize("cuts", [30, pytest.param(1000, marks=pytest.mark.torture)])
@pytest.mark.parametrize("name", FILES)
def test_every_truncation_and_extension_is_noticed(model: Path, name: str, cuts: int) -> None:
    sound = (model / name).read_bytes()
    drawn = np.random.default_rng(6).integers(0, len(sound), cuts).tolist()
    for size in (0, 1, len(sound) // 2, len(sound) - 1, *drawn):
        (model / name).write_bytes(sound[:size])
        with pytest.raises(FileError, match=name):
            WordVectors.load(model)
    (model / name).write_bytes(sound + b"x")
    with pytest.raises(FileError, match=name):
        WordVectors.load(model)
    (model / name).unlink()
    with pytest.raises(FileError, match=name):
        WordVectors.load(model)


def test_a_flipped_vector_bit_is_seen_when_it_is_read_and_by_verify(model: Path) -> None:
    content = bytearray((model / "vectors.i16").read_bytes())
    content[7] ^= 4
    (model / "vectors.i16").write_bytes(content)
    vectors = WordVectors.load(model)
    with pytest.raises(FileError, match=r"vectors\.i16: damaged near byte 0: the file is damaged"):
        vectors.get_vector("a0")
    with pytest.raises(FileError, match=r"vectors\.i16: the file is damaged"):
        WordVectors.load(model, verify=True)


def test_older_models_without_checksums_open(model: Path) -> None:
    before = WordVectors.load(model).matrix[:]
    (model / "checksums.bin").unlink()
    with pytest.raises(FileError, match=r"checksums\.bin: is missing or damaged"):
        WordVectors.load(model)
    (model / "manifest.json").write_text(json.dumps(without_checksums(model)))
    np.testing.assert_array_equal(WordVectors.load(model, verify=True).matrix[:], before)


def entry(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda manifest: manifest["files"]["vectors.i16"].update(changes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.update(format="other"), "not the manifest of an omnitm model"),
        (lambda m: m.update(format="omnitm index"), r"is an index, not a model; omnitm train .* -o MODEL"),
        (lambda m: m.update(version=2), "has version 2 instead of version 1"),
        (lambda m: m.update(files=[1]), "must list files under 'files'"),
        (
            lambda m: m["files"].update({"../evil": {"size": 1, "sha256": "0" * 64}}),
            "must list exactly the files",
        ),
        (lambda m: m["files"].update({str(i): {} for i in range(100_000)}), "more than any model needs"),
        (lambda m: m["files"].update({str(i): 0 for i in range(5_000)}), "must give size and sha256 of 0"),
        (entry(size=2**80), "a size that is no size"),
        (entry(size=-1), "a size that is no size"),
        (entry(size=True), "a size that is no size"),
        (entry(size="9"), "a size that is no size"),
        (entry(size=2**61), "should have 2,305,843,009,213,693,952 bytes but has 72"),
        (entry(sha256="g" * 64), "a sha256 that is none"),
        (entry(more=1), "must give size and sha256"),
    ],
)
def test_forged_manifests(model: Path, change: Any, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused with little work: only files of a model are opened, each once, however many are listed."""
    manifest = without_checksums(model)
    change(manifest)
    (model / "manifest.json").write_text(json.dumps(manifest))
    opened: list[str] = []
    open_file = os.open

    def counted(path: Path, *arguments: Any, **named: Any) -> int:
        opened.append(Path(path).name)
        return open_file(path, *arguments, **named)

    monkeypatch.setattr(os, "open", counted)
    with pytest.raises(FileError, match=message):
        WordVectors.load(model)
    assert len(opened) == len(set(opened))
    assert set(opened) <= set(FILES)


@pytest.mark.parametrize("content", [b"", b"[" * 60_000, b"\xff\xfe", b"[]", b"NaN"])
def test_a_manifest_that_is_no_manifest(model: Path, content: bytes) -> None:
    (model / "manifest.json").write_bytes(content)
    with pytest.raises(FileError, match=r"manifest\.json: (is not JSON|must hold a JSON object)"):
        WordVectors.load(model)


@pytest.mark.parametrize("joiners", [(), (3, 7)])
@pytest.mark.parametrize("growth", [1, 4])
def test_growth_and_joiners_are_written_only_where_there_are_any(
    growth: int, joiners: tuple[int, ...]
) -> None:
    settings = AutoencoderSettings(accumulation_growth=growth, contexts="both", joiners=joiners)
    content = TrainingRecord(settings, 0, "0" * 64, keep_places=10).to_bytes()
    assert (b"accumulation_growth" in content) == (growth == 4)  # files of older models stay as they are
    assert (b"joiners" in content) == bool(joiners)
    read = record_from_bytes(Path("settings.json"), content)
    assert isinstance(read, TrainingRecord)
    assert read.settings == settings


def test_older_models_look_for_joined_words_among_their_neighbours() -> None:
    settings = AutoencoderSettings(contexts="both", joiners=(3, 2**32 - 2), n_place_features=70)
    fields = json.loads(TrainingRecord(settings, 0, "0" * 64, keep_places=10).to_bytes())
    assert fields["settings"].pop("n_joined_features") == 40_000
    read = record_from_bytes(Path("settings.json"), json.dumps(fields).encode())
    assert isinstance(read, TrainingRecord)
    assert read.settings == replace(settings, n_joined_features=70)


@pytest.mark.parametrize(
    ("n_words", "n_place", "n_joined"),
    [(5, 7, 9), (8, 7, 9), (20, 7, 9), (5, 9, 7), (8, 9, 7), (20, 9, 7), (20, 7, 7)],
)
def test_how_many_coordinates_are_of_joined_words(n_words: int, n_place: int, n_joined: int) -> None:
    settings = AutoencoderSettings(joiners=(1,), n_place_features=n_place, n_joined_features=n_joined)
    neighbours, joined = settings.n_neighbours_and_joined(n_words)
    assert (neighbours, joined) == (min(n_words, n_place), min(n_words, n_joined))
    assert settings.n_joined_of(4 * neighbours + joined) == joined
    assert replace(settings, joiners=()).n_joined_of(4 * neighbours) == 0


@pytest.mark.parametrize("joiners", [[-1], ["and"], [0, 1, 2, 3, 4, 5], [2**32 - 1], "and", None])
def test_forged_joiners(joiners: Any) -> None:
    settings = AutoencoderSettings(contexts="both", joiners=(3, 7))
    fields = json.loads(TrainingRecord(settings, 0, "0" * 64, keep_places=10).to_bytes())
    fields["settings"]["joiners"] = joiners
    with pytest.raises(FileError, match=r"settings\.json: .*'joiners' parameter"):
        record_from_bytes(Path("settings.json"), json.dumps(fields).encode())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.update(seed=-1), "'seed' parameter"),
        (lambda s: s.update(extra=1), "must have settings, seed"),
        (lambda s: s.update(settings=3), "'settings' must have exactly"),
        (lambda s: s["settings"].update(n_clauses=10**30), "'n_clauses' parameter"),
        (lambda s: s["settings"].update(specificity="x"), "'specificity' parameter"),
        (lambda s: s.update(index_fingerprint="../x"), "must be a SHA-256"),
        (lambda s: s.update(omnitm_version=7), "must be a version number"),
    ],
)
def test_forged_settings(model: Path, change: Any, message: str) -> None:
    settings = json.loads((model / "settings.json").read_text())
    change(settings)
    forge(model, "settings.json", json.dumps(settings).encode())
    with pytest.raises(FileError, match=rf"settings\.json: .*{message}"):
        WordVectors.load(model)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("words.txt", b"a0\nb0\na0\n", "names a word twice"),
        ("words.txt", b"a0\nb0\na1", "must end with a line break"),
        ("words.txt", b"a0\nb0\n\xff\n", "is not UTF-8 at byte 6"),
        ("words.txt", b"a0\nb0\nzz\n", r"names 'zz', which features\.txt does not have"),
        ("words.txt", b"a0\nb0\n", r"should have 48 bytes for 2 words x 12 features"),
        ("vectors.i16", b"123", r"should have 72 bytes for 3 words x 12 features, but the manifest says 3"),
    ],
)
def test_forged_names_and_vectors(model: Path, name: str, content: bytes, message: str) -> None:
    forge(model, name, content)
    with pytest.raises(FileError, match=message):
        WordVectors.load(model)


def test_links_devices_and_other_folders(model: Path, tmp_path: Path) -> None:
    (model / "words.txt").rename(tmp_path / "elsewhere.txt")
    (model / "words.txt").symlink_to(tmp_path / "elsewhere.txt")
    with pytest.raises(FileError, match="symbolic link"):
        WordVectors.load(model)
    (model / "words.txt").unlink()
    os.mkfifo(model / "words.txt")
    with pytest.raises(FileError, match="is not a plain file"):
        WordVectors.load(model)
    with pytest.raises(FileError, match="does not exist; omnitm train CORPUS -o"):
        WordVectors.load(tmp_path / "nowhere")
    with pytest.raises(FileError, match="is a file of text or data, not a model; omnitm train"):
        WordVectors.load(tmp_path / "elsewhere.txt")
    with pytest.raises(FileError, match=r"is not a model: it has no manifest\.json"):
        WordVectors.load(tmp_path)


def test_a_second_trainer_is_told(tmp_path: Path) -> None:
    with ModelFolder.create(tmp_path / "m", ["a"], ["a", "b"], RECORD):
        with pytest.raises(FileError, match="another process is training this model"):
            ModelFolder.resume(tmp_path / "m")
        with pytest.raises(FileError, match="another process is training this model"):
            ModelFolder.create(tmp_path / "m", ["a"], ["a", "b"], RECORD, force=True)
    folder = ModelFolder.resume(tmp_path / "m")
    assert folder is not None
    assert folder.pending() == [0]
    folder.close()


def test_a_torn_journal_only_costs_its_last_row(tmp_path: Path) -> None:
    rows = np.arange(4, dtype=np.int16).reshape(2, 2)
    with ModelFolder.create(tmp_path / "m", ["a", "b"], ["a", "b"], RECORD) as folder:
        folder.write(1, rows[1])
        folder.write(0, rows[0])
    journal = tmp_path / "m" / "journal"
    journal.write_bytes(journal.read_bytes()[:-5])
    with ModelFolder.resume(tmp_path / "m") as folder:  # type: ignore[union-attr]
        assert folder.pending() == [0]
        folder.write(0, rows[0])
        assert folder.finish() == []
    assert np.array_equal(WordVectors.load(tmp_path / "m", verify=True).matrix, rows)


def test_a_row_lost_after_it_was_noted_is_trained_again(tmp_path: Path) -> None:
    with ModelFolder.create(tmp_path / "m", ["a", "b"], ["a", "b"], RECORD) as folder:
        folder.write(0, np.array([1, 2], dtype=np.int16))
        folder.write(1, np.array([3, 4], dtype=np.int16))
    (tmp_path / "m" / "vectors.i16").write_bytes(b"\1\0\2\0\0\0\0\0")  # as after a power cut
    with ModelFolder.resume(tmp_path / "m") as folder:  # type: ignore[union-attr]
        assert folder.pending() == []
        assert folder.finish() == [1]
        folder.write(1, np.array([3, 4], dtype=np.int16))
        assert folder.finish() == []
    assert WordVectors.load(tmp_path / "m", verify=True).matrix.tolist() == [[1, 2], [3, 4]]


def test_a_changed_plan_is_not_continued(tmp_path: Path) -> None:
    ModelFolder.create(tmp_path / "m", ["a"], ["a", "b"], RECORD).close()
    write_file(tmp_path / "m" / "words.txt", b"b\n")
    with pytest.raises(FileError, match=r"has changed since the training began; start again with --force"):
        ModelFolder.resume(tmp_path / "m")


def test_damage_in_old_rows_is_not_signed_again(board: DocumentIndex, model: Path) -> None:
    content = bytearray((model / "vectors.i16").read_bytes())
    content[7] ^= 4
    (model / "vectors.i16").write_bytes(content)
    with pytest.raises(FileError, match="is damaged in the rows trained before; restore it from a copy"):
        add_words(board, model, ["b1"])


@pytest.mark.parametrize("killed_after", ["words.txt", "journal"])
def test_an_addition_killed_before_it_began_is_rolled_back(
    board: DocumentIndex, model: Path, killed_after: str
) -> None:
    before = {name: (model / name).read_bytes() for name in FILES}
    (model / "journal").write_bytes(b"OMNI" if killed_after == "journal" else b"")
    write_file(model / "words.txt", before["words.txt"] + b"b5\n")
    assert len(WordVectors.load(model)) == 3
    train_model(board, model, resume=True)
    assert {name: (model / name).read_bytes() for name in FILES} == before
    assert not (model / "journal").exists()


def test_too_small_a_disk_is_noticed_before_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=3)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(FileError, match=r"vectors\.i16: needs 4 more bytes, but only 3 are free on its disk"):
        ModelFolder.create(tmp_path / "m", ["a"], ["a", "b"], RECORD)


@pytest.mark.parametrize("failure", ["short write", "error"])
def test_a_full_disk_keeps_what_is_finished(
    board: DocumentIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: str
) -> None:
    whole = train_model(board, tmp_path / "whole", settings=SETTINGS)
    pwrite, left = os.pwrite, [4]

    def limited(descriptor: int, content: Any, offset: int) -> int:
        left[0] -= 1
        if left[0] >= 0:
            return pwrite(descriptor, content, offset)
        if failure == "error":
            raise OSError(28, "No space left on device")
        return pwrite(descriptor, bytes(content)[:5], offset)

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", limited)
        with pytest.raises(
            FileError, match=r"vectors\.i16: cannot be written: No space left on device; finished"
        ):
            train_model(board, tmp_path / "m", settings=SETTINGS)
    vectors = train_model(board, tmp_path / "m", resume=True)
    assert np.array_equal(vectors.matrix, whole.matrix)


def test_a_folder_that_cannot_be_written(board: DocumentIndex, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot be written: Not a directory"):
        train_model(board, tmp_path / "file" / "m", settings=SETTINGS)


def test_a_bad_seed_leaves_nothing_behind(board: DocumentIndex, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="'seed' parameter"):
        train_model(board, tmp_path / "m", settings=SETTINGS, seed=-3)
    assert not (tmp_path / "m").exists()


TRAINER = """
import sys
sys.path.insert(0, sys.argv[1])
from conftest import checkerboard
from omnitm.training import train_model
from omnitm.engines import make_engine
from omnitm.machine import AutoencoderSettings
settings = AutoencoderSettings(n_clauses=32, n_examples=int(sys.argv[4]))
index = checkerboard(n_topics=8, words_per_topic=20)
print("ready", flush=True)
name, n_jobs = sys.argv[3].split("-")
told = []
def tell(state):
    if not told:
        told.append(print("training", flush=True))
engine = make_engine(name, int(n_jobs))
train_model(index, sys.argv[2], settings=settings, engine=engine, resume=True, progress=tell)
print("finished", flush=True)
"""


ENGINES = ("threads-1", "threads-2", "processes-2")  # a run may be resumed by another engine


def trainer(path: Path, engine: str, n_examples: int = 1500) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", TRAINER, str(Path(__file__).parents[1]), str(path), engine]
    arguments.append(str(n_examples))
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize("kills", [5, pytest.param(100, marks=pytest.mark.torture)])
def test_killed_at_random_moments_and_resumed_it_is_the_same(tmp_path: Path, kills: int) -> None:
    """Starts again when a run ends before its moment has come, so that every kill hits."""
    finish_training(tmp_path / "whole")
    random = np.random.default_rng(kills)
    killed = 0
    while killed < kills:
        process = trainer(tmp_path / "m", ENGINES[killed % 3])
        try:
            errors = process.communicate(timeout=float(random.uniform(0, 0.4 if killed % 3 < 2 else 1.2)))[1]
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            killed += 1
        else:
            assert process.returncode == 0, errors
            assert_same_model(tmp_path / "m", tmp_path / "whole")
            shutil.rmtree(tmp_path / "m")
    finish_training(tmp_path / "m")
    assert_same_model(tmp_path / "m", tmp_path / "whole")


def finish_training(path: Path) -> None:
    process = trainer(path, "threads-2")
    errors = process.communicate()[1]
    assert process.returncode == 0, (process.returncode, errors)


def assert_same_model(path: Path, whole: Path) -> None:
    WordVectors.load(path, verify=True)
    for name in FILES:
        assert (path / name).read_bytes() == (whole / name).read_bytes(), name


def test_ctrl_c_stops_soon_and_says_how_to_go_on(tmp_path: Path) -> None:
    process = trainer(tmp_path / "m", "threads-2", n_examples=2**30)
    assert process.stdout is not None
    assert process.stdout.readline() == "training\n"
    process.send_signal(signal.SIGINT)
    errors = process.communicate(timeout=120)[1]
    assert process.returncode != 0
    assert "words of" in errors
    assert "the rest with: omnitm train CORPUS" in errors
