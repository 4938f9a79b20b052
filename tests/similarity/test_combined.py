"""The default similarity against a slow and obvious version of its recipe."""

from __future__ import annotations

import hashlib
import json
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm import _native
from omnitm.errors import FileError, OmniTMWarning, ParameterError
from omnitm.files.container import read_container
from omnitm.similarity.combined import contributions, similarity_parts
from omnitm.similarity.part_scales import PARTS
from omnitm.similarity.row_profile import RECIPE, Company
from omnitm.similarity.truncated_svd import truncated_svd
from omnitm.training import train_model
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex

N_WORDS, N_FEATURES = 150, 220


def name_of(number: int) -> str:
    """Name words so that no two of them begin alike."""
    return f"w{number}" if number < 100 else f"{number}w"


def topic_of(word: str) -> int:
    return int(word.strip("w")) % 10


@pytest.fixture(scope="module")
def vectors() -> WordVectors:
    """Words in ten topics: rows have a baseline of their own, and stand out where their topic is."""
    random = np.random.default_rng(4)
    baseline = random.integers(-120, -40, size=N_WORDS)
    matrix = np.repeat(baseline[:, None], N_FEATURES, axis=1).astype(float)
    topic = np.arange(N_FEATURES) % 10
    for row in range(N_WORDS):
        touched = (topic == topic[row]) | (random.random(N_FEATURES) < 0.1)
        touched &= random.random(N_FEATURES) < 0.6
        matrix[row, touched] += random.integers(5, 90, size=int(touched.sum()))
        matrix[row, row] = 0
    names = [name_of(k) for k in range(N_FEATURES)]
    return WordVectors(matrix.astype(np.int16), names[:N_WORDS], names)


def slow_rows(vectors: WordVectors) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return relative values, means, and unit rows, as the recipe says."""
    matrix = vectors.matrix.astype(int)
    modes = np.array([np.bincount(row + 300).argmax() - 300 for row in matrix])
    x = (matrix - modes[:, None]) / np.abs(modes)[:, None]
    x[np.arange(N_WORDS), np.arange(N_WORDS)] = 0
    mean, deviation = x.mean(axis=0), x.std(axis=0)
    z = (x - mean) / deviation
    rows = np.where(z > 1, np.log(1 + np.maximum(z - 1, 0)), 0)
    return x, mean, rows / np.linalg.norm(rows, axis=1, keepdims=True)


def slow_smooth(rows: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    left, singular, _ = np.linalg.svd(rows, full_matrices=False)
    smooth = left[:, :size] * singular[:size] ** 0.25
    units: NDArray[np.float64] = smooth / np.linalg.norm(smooth, axis=1, keepdims=True)
    return units


def test_parts_equal_the_recipe(vectors: WordVectors) -> None:
    x, mean, rows = slow_rows(vectors)
    smooth = slow_smooth(rows, 15)
    first, second = np.triu_indices(N_WORDS, k=1)
    floor = 0.1
    ratio = np.log((np.maximum(x, 0) + floor) / (np.maximum(mean, 0) + floor))[:, :N_WORDS]
    parts = np.stack([(ratio + ratio.T) / 2, rows @ rows.T, smooth @ smooth.T])
    weights = 1 / parts[:, first, second].std(axis=1)
    assert vectors.likeness.weights == pytest.approx(weights, rel=0.02)  # the SVD is approximate
    for a, b in [(0, 1), (3, 13), (7, 149)]:
        found = similarity_parts(vectors, name_of(a), name_of(b))
        assert list(found) == list(PARTS)
        values = np.array(list(found.values())) / vectors.likeness.weights
        assert values[:2] == pytest.approx(parts[:2, a, b], abs=1e-4)
        assert values[2] == pytest.approx(parts[2, a, b], abs=0.05)
        assert vectors.similarity(name_of(a), name_of(b)) == pytest.approx(sum(found.values()))


def test_contributions_add_up(vectors: WordVectors) -> None:
    for a, b in [("w0", "w10"), ("w3", "w4"), ("w20", "140w")]:
        shares = contributions(vectors, a, b)
        assert shares.shape == (N_FEATURES,)
        assert shares.sum() == pytest.approx(vectors.similarity(a, b), abs=1e-5)
        assert contributions(vectors, b, a) == pytest.approx(shares)
    topic = np.arange(N_FEATURES) % 10
    shares = contributions(vectors, "w0", "w10")
    others = np.delete(shares, [0, 10])
    assert others[np.delete(topic, [0, 10]) == 0].sum() > 5 * abs(
        others[np.delete(topic, [0, 10]) != 0].sum()
    )


def test_most_similar_agrees_with_pairs(vectors: WordVectors) -> None:
    assert vectors.default_metric == "similarity"
    found = vectors.most_similar("w5", topn=5)
    assert {topic_of(word) for word, _ in found} == {5}
    for word, score in found:
        assert vectors.similarity("w5", word) == pytest.approx(score, abs=2e-3)
    scores = np.asarray(vectors.most_similar(["w5", "w15"], negative=["w7"], topn=None))
    wanted = [vectors.similarity(word, "w25") for word in ("w5", "w15", "w7")]
    assert scores[25] == pytest.approx((wanted[0] + wanted[1] - wanted[2]) / 3, abs=2e-3)
    assert vectors.distance("w5", "w15") == -vectors.similarity("w5", "w15")
    assert vectors.rank("w5", found[1][0]) == 2


def test_a_vector_as_query(vectors: WordVectors) -> None:
    row = vectors.get_vector("w5").copy()
    row[5] = np.bincount(row.astype(int) + 300).argmax() - 300
    found = vectors.similar_by_vector(row, topn=6)
    assert {topic_of(word) for word, _ in found} == {5}
    blend = (vectors.get_vector("w5").astype(np.float32) + vectors.get_vector("w15")) / 2
    assert all(np.isfinite(score) for _, score in vectors.similar_by_vector(blend))


def test_few_words_go_by_association() -> None:
    matrix = np.array([[0, 9, 1], [8, 0, 2]], dtype=np.int16)
    small = WordVectors(matrix, ["road", "car"], ["road", "car", "sea"])
    assert small.default_metric == "association"
    leaning = np.log((0.09 + 0.1) / (0.045 + 0.1)), np.log((0.08 + 0.1) / (0.04 + 0.1))
    assert small.similarity("road", "car", metric="similarity") == pytest.approx(np.mean(leaning), abs=1e-6)
    alone = WordVectors(matrix[:1], ["road"], ["road", "car", "sea"])
    assert alone.similarity("road", "road", metric="similarity") == 0.0
    reals = WordVectors(matrix.astype(np.float32), ["road", "car"], ["road", "car", "sea"])
    with pytest.raises(
        ParameterError, match="'similarity' is for integers; use metric='association' or 'cosine'"
    ):
        reals.similarity("road", "car", metric="similarity")


def test_kept_beside_the_model(board: DocumentIndex, tmp_path: Path) -> None:
    model = tmp_path / "m"
    train_model(board, model)
    first = WordVectors.load(model)
    score = first.similarity("a0", "a1", metric="similarity")
    kept = model / "similarity.bin"
    content = kept.read_bytes()
    assert read_container(kept)[0]["recipe"] == RECIPE
    for damage in (
        content[:-1],
        content + b"x",
        b"",
        content[:20],
        b"X" + content[1:],
        content[:60] + b"?" + content[61:],
    ):
        kept.write_bytes(damage)
        with pytest.warns(OmniTMWarning, match=r"similarity\.bin: is damaged.*; it is made again"):
            assert WordVectors.load(model).similarity("a0", "a1", metric="similarity") == score
        assert kept.read_bytes() == content
    train_model(board, model, ["a0", "a1", "b1"], force=True)
    assert not kept.exists()
    again = WordVectors.load(model)
    assert again.similarity("a0", "a1", metric="similarity") != score


@pytest.mark.parametrize("n_flips", [300, pytest.param(20_000, marks=pytest.mark.torture)])
def test_every_flipped_bit_is_noticed(board: DocumentIndex, tmp_path: Path, n_flips: int) -> None:
    """Anywhere: header, arrays, and the gaps between them."""
    model = tmp_path / "m"
    train_model(board, model).similarity("a0", "a1", metric="similarity")
    kept, random = model / "similarity.bin", np.random.default_rng()
    content = bytearray(kept.read_bytes())
    read_container(kept)
    for bit in random.choice(8 * len(content), min(n_flips, 8 * len(content)), replace=False).tolist():
        content[bit // 8] ^= 1 << bit % 8
        kept.write_bytes(content)
        with pytest.raises(FileError, match=r"similarity\.bin: is damaged"):
            read_container(kept)
        content[bit // 8] ^= 1 << bit % 8


def test_a_file_of_another_recipe_is_made_again_without_a_word(
    board: DocumentIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "m"
    score = train_model(board, model).similarity("a0", "a1", metric="similarity")
    monkeypatch.setattr("omnitm.store.similarity_cache.RECIPE", RECIPE + 1)
    assert WordVectors.load(model).similarity("a0", "a1", metric="similarity") == score
    assert read_container(model / "similarity.bin")[0]["recipe"] == RECIPE + 1


def with_former_checksum(content: bytes, checksum: str | None) -> bytes:
    """Write similarity.bin as it was before CRC-32C: with CRC-32, or with no checksum at all."""
    length = int.from_bytes(content[8:16], "little")
    facts = {name: fact for name, fact in json.loads(content[48 : 48 + length]).items() if name != "crc32c"}
    arrays = content[48 + length + -(48 + length) % 64 :]
    for _ in range(2):  # the header has the checksum of what follows it, which begins where the header ends
        header = json.dumps(facts if checksum is None else {**facts, "crc32": checksum}).encode()
        rest = bytes(-(48 + len(header)) % 64) + arrays
        checksum = None if checksum is None else f"{zlib.crc32(rest):08x}"
    return content[:8] + len(header).to_bytes(8, "little") + hashlib.sha256(header).digest() + header + rest


def test_a_file_with_the_former_checksum_is_read(board: DocumentIndex, tmp_path: Path) -> None:
    model = tmp_path / "m"
    score = train_model(board, model).similarity("a0", "a1", metric="similarity")
    former = with_former_checksum((model / "similarity.bin").read_bytes(), "0" * 8)
    (model / "similarity.bin").write_bytes(former)
    assert WordVectors.load(model).similarity("a0", "a1", metric="similarity") == score
    assert (model / "similarity.bin").read_bytes() == former


def test_a_file_of_before_there_was_a_checksum_is_made_again(board: DocumentIndex, tmp_path: Path) -> None:
    model = tmp_path / "m"
    train_model(board, model).similarity("a0", "a1", metric="similarity")
    kept = model / "similarity.bin"
    content = kept.read_bytes()
    kept.write_bytes(with_former_checksum(content, None))
    with pytest.warns(OmniTMWarning, match="its content does not fit its checksum; it is made again"):
        assert np.isfinite(WordVectors.load(model).similarity("a0", "a1", metric="similarity"))
    assert kept.read_bytes() == content


def test_a_folder_that_cannot_be_written(
    board: DocumentIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train_model(board, tmp_path / "m")
    vectors = WordVectors.load(tmp_path / "m")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", refuse)
    assert np.isfinite(vectors.similarity("a0", "a1", metric="similarity"))
    assert not (tmp_path / "m" / "similarity.bin").exists()


def test_truncated_svd_is_the_svd() -> None:
    random = np.random.default_rng(0)
    matrix = (random.normal(size=(90, 8)) @ random.normal(size=(8, 70))).astype(np.float32)
    found = truncated_svd(matrix, 8)
    assert found.left * found.singular @ found.right.T == pytest.approx(matrix, abs=1e-3)
    assert found.singular == pytest.approx(np.linalg.svd(matrix)[1][:8], rel=1e-4)
    assert matrix @ found.right == pytest.approx(found.left * found.singular, abs=1e-3)


def test_reduce(vectors: WordVectors) -> None:
    small = vectors.reduce(20)
    assert small.matrix.shape == (150, 20)
    assert small.matrix.dtype == np.float32
    assert small.default_metric == "cosine"
    assert {topic_of(word) for word, _ in small.most_similar("w5", topn=5)} == {5}
    again = small.reduce(5)
    assert again.matrix.shape == (150, 5)
    with pytest.raises(
        ParameterError, match="'n_components' parameter of reduce must be an int from 1 to 150"
    ):
        vectors.reduce(151)


def test_reduced_vectors_can_be_saved(board: DocumentIndex, tmp_path: Path) -> None:
    vectors = train_model(board, tmp_path / "m")
    vectors.reduce(3).save(tmp_path / "small")
    assert WordVectors.load(tmp_path / "small").vector_size == 3


def test_sparsify(vectors: WordVectors) -> None:
    sparse = vectors.sparsify(6)
    assert sparse.matrix.shape == (150, 220)
    assert np.diff(sparse.matrix.indptr).max() == 6
    assert len(sparse) == 150
    assert "w5" in sparse
    assert sparse.nbytes < vectors.nbytes / 5
    assert sum(topic_of(word) == 5 for word in sparse["w5"]) >= 3
    assert list(sparse["w5"].values()) == sorted(sparse["w5"].values(), reverse=True)
    topics = [topic_of(word) for word, _ in vectors.sparsify(20).most_similar("w5", topn=5)]
    assert topics == [5] * 5
    found = sparse.most_similar("w5", topn=3)
    assert sparse.similarity("w5", found[0][0]) == pytest.approx(found[0][1], abs=1e-6)
    assert sparse.similarity("w5", "w5") == pytest.approx(1, abs=1e-5)
    company = vectors.likeness.company.by_word()
    strongest = {name_of(k) for k in company[5].indices[np.argsort(-company[5].data)[:6]]}
    assert set(sparse["w5"]) == strongest
    with pytest.raises(ParameterError, match=r"have one metric, 'cosine'\. Got 'association'"):
        sparse.similarity("w1", "w2", metric="association")
    with pytest.raises(KeyError, match="'w999' is not in the trained words"):
        sparse.most_similar("w999")
    with pytest.raises(ParameterError, match="'k' parameter of sparsify must be an int from 1"):
        vectors.sparsify(0)
    with pytest.raises(ParameterError, match="Only integer vectors with named features can be sparsified"):
        vectors.reduce(4).sparsify(2)


def test_native_checks() -> None:
    matrix = np.zeros((2, 3), dtype=np.int16)
    gain, own = np.ones(2, np.float32), np.array([0, 1], np.int32)
    baseline = np.zeros(2, np.int16)
    with pytest.raises(ValueError, match="place per row"):
        _native.row_modes(matrix, np.zeros(3, np.int16))
    with pytest.raises(ValueError, match="baseline, gain and own"):
        _native.ScaledRows(matrix, baseline[:1], gain, own)
    with pytest.raises(ValueError, match="column that is not there"):
        _native.ScaledRows(matrix, baseline, gain, np.array([0, 3], np.int32))
    rows = _native.ScaledRows(matrix, baseline, gain, own)
    with pytest.raises(ValueError, match="number per column"):
        rows.moments(np.zeros(2), np.zeros(3))
    with pytest.raises(ValueError, match="`counts` must have"):
        rows.count_above(np.zeros(3, np.float32), np.zeros(1, np.int64))
    limits = np.zeros(3, np.float32)
    with pytest.raises(ValueError, match="`starts` must come from"):
        rows.excess_above(limits, limits, np.array([0, 0, 2]), np.zeros(1, np.int32), np.zeros(1, np.float32))
    starts, members, values = np.array([0, 1]), np.array([0], np.uint16), np.array([1], np.uint16)
    one, total = np.ones(1, np.float32), np.zeros(1, np.float32)
    zero = np.zeros(1, np.int32)
    _native.add_postings(starts, members, values, zero, one, total)
    _native.add_postings(starts, members.astype(np.uint32), values, zero, one, total)
    assert total[0] == 2
    with pytest.raises(ValueError, match="no such feature"):
        _native.add_postings(starts, members, values, zero + 1, one, total)
    with pytest.raises(ValueError, match="no such row"):
        _native.add_postings(starts, members + np.uint16(1), values, zero, one, total)
    with pytest.raises(ValueError, match="leads out"):
        _native.add_postings(np.array([0, 2]), members, values, zero, one, total)
    with pytest.raises(ValueError, match="needs a weight"):
        _native.add_postings(starts, members, values, zero, np.ones(2, np.float32), total)


def test_modes_of_awkward_rows() -> None:
    matrix = np.array([[5, 5, -32768, 32767], [3, 1, 1, 3], [7, 8, 9, 10]], dtype=np.int16)
    modes = np.empty(3, np.int16)
    _native.row_modes(matrix, modes)
    assert modes.tolist() == [5, 1, 7]
    empty = np.zeros((2, 0), dtype=np.int16)
    _native.row_modes(empty, modes[:2])
    assert modes[:2].tolist() == [0, 0]


def test_a_query_reads_the_lists_of_its_features_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    matrix = (random.random((1000, 1000)) < 0.05).astype(np.int16)
    matrix *= random.integers(1, 90, size=1000, dtype=np.int16)
    names = [f"w{k}" for k in range(1000)]
    company = Company.of(WordVectors(matrix, names, names))
    row = company.unit_row(company.relative(matrix[3], 0, 0.01, 3))
    read: list[int] = []
    add_postings = _native.add_postings

    def counted(starts: NDArray[np.int64], *arguments: Any) -> None:
        features = arguments[2]
        read.append(int(np.diff(starts)[features].sum()))
        add_postings(starts, *arguments)

    monkeypatch.setattr(_native, "add_postings", counted)
    shared = company.shared(row)
    assert read == [int(np.diff(company.starts)[row > 0].sum())]
    assert 0 < read[0] < 0.1 * len(company.rows)
    assert shared[3] == pytest.approx(1, abs=1e-2)
