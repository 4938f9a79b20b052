from __future__ import annotations

import copy
import json
import math
import shutil
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from omnitm.cli import make_parser
from omnitm.cli.evaluate_interpretability import trained_again
from omnitm.corpus import DocumentIndex, build_index
from omnitm.errors import ParameterError
from omnitm.evaluation.interpretability import (
    Coherence,
    Readout,
    _Columns,
    category_scores,
    choose_words,
    dimension_stability,
    faithfulness,
    measure_dimensions,
    measure_interpretability,
    nearest_words,
    nmf_of_ppmi,
    positive_pmi,
    read_out,
    read_out_again,
    read_out_raw,
    stability,
    word_tops,
)
from omnitm.machine import AutoencoderSettings
from omnitm.training import train_model, train_vectors
from omnitm.vectors import WordVectors

TOPICS, PER_TOPIC = "abc", 26
WORDS = [f"{topic}word{chr(97 + k)}" for topic in TOPICS for k in range(PER_TOPIC)]


def documents(seed: int, count: int = 600) -> list[list[str]]:
    """Each document has four words of one topic."""
    random = np.random.default_rng(seed)
    by_topic = np.array(WORDS).reshape(len(TOPICS), PER_TOPIC)
    return [random.choice(by_topic[i % 3], 4, replace=False).tolist() for i in range(count)]


@pytest.fixture(scope="module")
def held_out() -> Coherence:
    return Coherence(DocumentIndex.from_documents(documents(1)), WORDS)


def block_readout(*, readable: bool) -> Readout:
    """Three dimensions: one per topic, or each with words of all topics."""
    values = np.zeros((len(WORDS), 3))
    for k in range(len(WORDS)):
        values[k, k // PER_TOPIC if readable else k % 3] = 1 + k / 100
    return Readout("blocks", WORDS, values, None)


def test_words_that_are_equally_near_come_in_their_order() -> None:
    """All have one dimension and no other, so their cosines differ by rounding alone."""
    random = np.random.default_rng(0)
    values = np.zeros((41, 3), dtype=np.float32)
    values[:20, 0], values[20:40, 1] = random.random((2, 20)) + 0.1
    values[40] = 0.7, 0.6, 0.3
    words = [f"w{k}" for k in range(41)]
    readout = Readout("one", words, values, None)
    assert len({*readout.cosines([40])[0, :20].tolist()}) > 1
    assert nearest_words(readout, [40]) == {"w40": words[:10]}


def test_npmi_is_that_of_counting() -> None:
    index = DocumentIndex.from_documents(
        [["cat", "dog"], ["cat", "dog", "fish"], ["cat"], ["fish"], ["bird"]]
    )
    coherence = Coherence(index, ["cat", "dog", "fish", "bird", "unknown"])
    together, cat, dog = 2 / 5, 3 / 5, 2 / 5
    expected = math.log(together / (cat * dog)) / -math.log(together)
    assert coherence.mean(["cat", "dog"]) == pytest.approx(expected)
    assert coherence.mean(["cat", "bird"]) == -1
    assert coherence.mean(["cat", "unknown"]) is None
    assert "unknown" not in coherence
    assert coherence.odd_one_out(["cat", "dog", "bird"]) == "bird"
    assert coherence.odd_one_out(["cat", "dog", "unknown"]) == "unknown"


def test_words_of_every_document_are_coherent() -> None:
    index = DocumentIndex.from_documents([["cat", "dog"], ["cat", "dog"]])
    assert Coherence(index, ["cat", "dog"]).mean(["cat", "dog"]) == 1


def test_topics_are_readable_and_mixtures_are_not(held_out: Coherence) -> None:
    good = measure_interpretability(block_readout(readable=True), held_out)
    bad = measure_interpretability(block_readout(readable=False), held_out)
    assert good.dimension_coherence is not None
    assert bad.dimension_coherence is not None
    assert good.dimension_coherence > 0.1 > bad.dimension_coherence
    assert good.intruders_found == 1.0
    assert bad.intruders_found is not None
    assert bad.intruders_found < 1.0
    assert good.zeros == bad.zeros == pytest.approx(2 / 3)
    assert (good.n_words, good.n_dimensions, good.n_used) == (78, 3, 3)


def test_every_dimension_is_measured_by_itself(held_out: Coherence) -> None:
    readout = block_readout(readable=True)
    readout.values[:, 1] = block_readout(readable=False).values[:, 1]
    categories = {"a": WORDS[:PER_TOPIC], "few": WORDS[:3]}
    values, figures = measure_dimensions(readout, held_out, categories=categories, windows=held_out)
    assert np.array_equal(values, readout.values)
    coherence, found = figures["dimension_coherence"], figures["intruders_found"]
    assert [value is not None and value > 0.1 for value in coherence] == [True, False, True]
    assert found[0] == found[2] == 1
    assert found[1] is not None
    assert found[1] < 1
    assert figures["category_score"][0] == 1
    assert len(figures["dimension_c_v"]) == 3
    alone = Readout("one", WORDS, readout.values[:, :1], None)
    assert measure_dimensions(alone, held_out)[1] == {
        "dimension_coherence": coherence[:1],
        "intruders_found": [None],
        "category_score": [],
        "dimension_c_v": [],
    }


def test_without_its_coordinate_nothing_is_left(held_out: Coherence) -> None:
    found = measure_interpretability(block_readout(readable=True), held_out)
    assert [(step.removed, step.left_without_top) for step in found.faithfulness] == [(1, 0.0)]


def test_what_is_left_is_a_cosine_again() -> None:
    """Of (2, 1, 1) and (2, 1, 0), without their strongest and without each of their common coordinates."""
    pair = np.array([[2, 1, 1], [2, 1, 0]], dtype=np.float64)
    found = faithfulness(Readout("two", ["a", "b"], pair, None), 2, np.random.default_rng(0))
    whole, without_first, without_second = 5 / np.sqrt(30), 1 / np.sqrt(2), 4 / np.sqrt(20)
    assert [step.removed for step in found] == [1]
    assert found[0].left_without_top == pytest.approx(without_first / whole)
    random = [without_first / whole, without_second / whole]
    means = [random[0], random[1], sum(random) / 2]
    assert min(abs(found[0].left_without_random - mean) for mean in means) < 1e-9


def test_the_odd_one_goes_least_well_with_all_others(held_out: Coherence) -> None:
    """By sums over the others: one good friend does not make up for four strangers."""
    coherence = copy.copy(held_out)
    coherence._places = {word: place for place, word in enumerate("abcde")}
    npmi = np.full((5, 5), 0.5)
    npmi[3], npmi[:, 3] = -0.8, -0.8
    npmi[3, 0] = npmi[0, 3] = 0.9
    npmi[4, :4] = npmi[:4, 4] = 0.1
    coherence._npmi = npmi
    assert coherence.odd_one_out(list("abcde")) == "d"
    assert coherence.odd_one_out(list("abce")) == "e"


def test_an_intruder_is_low_here_and_high_elsewhere() -> None:
    words = [f"w{k}" for k in range(24)]
    values = np.zeros((24, 2), dtype=np.float32)
    values[:12, 0] = np.arange(12, 0, -1)
    values[12:, 1] = np.arange(12, 0, -1)
    columns = _Columns.of(Readout("two", words, values, None), [0, 1])
    assert columns.tops == [words[:10], words[12:22]]
    assert columns.lower_half(0, np.random.default_rng(0)) == set(words[12:])
    assert columns.lower_half(1, np.random.default_rng(0)) == set(words[:12])


def test_strong_coordinates_matter_more_than_random_ones(held_out: Coherence) -> None:
    random = np.random.default_rng(0)
    values = random.exponential(size=(78, 200)) ** 2
    found = measure_interpretability(Readout("dense", WORDS, values, None), held_out)
    steps = {step.removed: step for step in found.faithfulness}
    assert steps[100].left_without_top < steps[10].left_without_top < steps[1].left_without_top <= 1
    for step in found.faithfulness:
        assert step.left_without_top < step.left_without_random
    assert found.stability is None
    assert len(found.examples) == 8


def test_stability() -> None:
    assert stability({"x": ["a", "b"]}, {"x": ["a", "c"], "y": ["b"]}) == pytest.approx(1 / 3)
    assert stability({"x": ["a"]}, {}) is None


def test_omni_names_its_topic(held_out: Coherence) -> None:
    index = DocumentIndex.from_documents(documents(2))
    settings = AutoencoderSettings(n_clauses=10, n_examples=150, accumulation=1)
    vectors = train_vectors(index, settings=settings)
    readout = read_out("omni", vectors, WORDS)
    tops = word_tops(readout, range(len(WORDS)))
    right = [first[0] == word[0] for word, firsts in tops.items() for first in firsts[:5]]
    assert np.mean(right) > 0.95
    other = read_out_again(vectors, train_vectors(index, WORDS[:5], settings=settings, seed=1))
    found = measure_interpretability(readout, held_out, again=other)
    assert found.intruders_found is not None
    assert found.intruders_found > 0.8
    assert found.stability is not None
    assert 0 < found.stability <= 1
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()
    again = measure_interpretability(readout, held_out, again=other)
    assert found == again


def test_shares_of_zeros() -> None:
    for values, share in (([[1.0]], 0.0), ([[0.0]], 1.0), ([[0, 2, 0], [0, 1, 0]], 2 / 3)):
        dense = np.array(values)
        words = ["x", "y"][: len(values)]
        for kept in (dense, csr_matrix(dense)):
            assert Readout("x", words, kept, None).zeros == pytest.approx(share)
    assert Readout("x", [], np.zeros((0, 3)), None).zeros == 1


def test_sparse_and_dense_values_give_the_same_numbers(held_out: Coherence) -> None:
    random = np.random.default_rng(5)
    values = np.where(random.random((78, 40)) < 0.3, random.exponential(size=(78, 40)), 0).astype(np.float32)
    dense = measure_interpretability(Readout("x", WORDS, values, None), held_out)
    sparse = measure_interpretability(Readout("x", WORDS, csr_matrix(values), None), held_out)
    assert sparse.examples == dense.examples
    for name in ("dimension_coherence", "word_coherence", "neighbour_coherence", "intruders_found", "zeros"):
        assert getattr(sparse, name) == pytest.approx(getattr(dense, name))
    assert sparse.faithfulness[0].left_without_top == pytest.approx(dense.faithfulness[0].left_without_top)


def test_all_models_with_named_coordinates_are_read_alike() -> None:
    """What stands out is read from any integers with names, not from Omni's only."""
    random = np.random.default_rng(0)
    matrix = (random.integers(0, 9, (78, 78)) * (random.random((78, 78)) < 0.2)).astype(np.int16)
    counts = WordVectors(matrix, WORDS, WORDS)
    rows = read_out("ppmi", counts, WORDS[3:6]).values
    assert np.array_equal(rows.toarray(), counts.profiles.topic.some(np.arange(3, 6)).toarray())


def test_other_models_are_read_as_they_are() -> None:
    zeros = WordVectors(np.eye(78, dtype=np.int16) * 7, WORDS, WORDS)
    readout = read_out_raw("ppmi", zeros, WORDS[3:6])
    assert readout.rows([0]).tolist() == zeros.matrix[3:4].tolist()
    assert readout.zeros == pytest.approx(77 / 78)
    assert readout.own_dimensions == [3, 4, 5]
    dense = WordVectors(np.ones((78, 2), dtype=np.float32), WORDS, None)
    assert read_out_raw("dense", dense, WORDS).dimension_names is None


def test_dimensions_of_categories_score_high() -> None:
    """A category that comes first scores 1, one that comes last 0; of equal words some count by chance."""
    words = [f"w{k}" for k in range(600)]
    categories = {"a": words[:12], "b": words[12:24], "few": words[24:30]}
    values = np.zeros((600, 4), dtype=np.float32)
    values[:12, 0] = 1
    values[:, 1] = np.arange(600)  # category a and b are lowest
    values[:6, 2] = 1
    negative = values.copy()
    negative[:, 3] = -np.arange(600)
    share_of_zeros = (60 - 6) / (600 - 6)
    scores = category_scores(words, values, categories)
    assert scores == pytest.approx([1, 0, (6 + 6 * share_of_zeros) / 12, 0.1])
    assert category_scores(words, negative, categories)[1] == 1
    assert category_scores(words, negative, categories)[3] == 1
    assert category_scores(words, values, {"few": words[24:30]}) == []


def test_the_score_by_categories_has_an_interval(held_out: Coherence) -> None:
    categories = {topic: [word for word in WORDS if word[0] == topic] for topic in TOPICS}
    found = measure_interpretability(block_readout(readable=True), held_out, categories=categories)
    assert found.category_score == 1
    assert set(found.intervals) == {"dimension_coherence", "intruders_found", "category_score"}
    low, high = found.intervals["dimension_coherence"]
    assert found.dimension_coherence is not None
    assert low <= found.dimension_coherence <= high
    without = measure_interpretability(block_readout(readable=True), held_out)
    assert without.category_score is None
    assert "category_score" not in without.intervals


def test_c_v_is_that_of_its_definition() -> None:
    """Cosines of rows of NPMI with their sum; pairs that never meet as if they did in 1e-12 of all."""
    texts = [["cat", "dog"], ["cat", "dog", "fish"], ["cat"], ["fish", "cat"], ["fish"], ["bird"]]
    coherence = Coherence(DocumentIndex.from_documents(texts), ["cat", "dog", "fish", "bird"])
    words = ["cat", "dog", "bird"]
    share = {pair: sum({*pair} <= {*text} for text in texts) / 6 for pair in product(words, words)}
    npmi = np.array(
        [
            [
                math.log(max(share[a, b], 1e-12) / (share[a, a] * share[b, b]))
                / -math.log(max(share[a, b], 1e-12))
                for b in words
            ]
            for a in words
        ]
    )
    total = npmi.sum(axis=0)
    cosines = [row @ total / np.linalg.norm(row) / np.linalg.norm(total) for row in npmi]
    assert coherence.c_v(words) == pytest.approx(np.mean(cosines))
    assert coherence.c_v(["cat", "unknown"]) is None
    assert coherence.c_v([*words[:2], "unknown"]) is not None


def test_c_v_is_measured_on_windows(held_out: Coherence) -> None:
    readable, mixed = (
        measure_interpretability(block_readout(readable=readable), held_out, windows=held_out)
        for readable in (True, False)
    )
    assert readable.dimension_c_v is not None
    assert mixed.dimension_c_v is not None
    assert readable.dimension_c_v > mixed.dimension_c_v
    low, high = readable.intervals["dimension_c_v"]
    assert low <= readable.dimension_c_v <= high


def test_dimensions_of_another_seed_are_matched() -> None:
    """Whatever their order; half of the first words in common is a half."""
    readout = block_readout(readable=True)
    turned = Readout("again", WORDS, readout.values[:, ::-1], None)
    assert set(dimension_stability(readout, turned)) == {1.0}
    half = readout.values.copy()
    for topic in range(3):
        half[(topic + 1) * PER_TOPIC - 5 : (topic + 1) * PER_TOPIC, topic] = 0
    assert np.mean(dimension_stability(readout, Readout("half", WORDS, half, None))) == 0.5
    assert dimension_stability(readout, Readout("few", WORDS[:20], half[:20], None)) == []


def test_nmf_finds_topics(held_out: Coherence) -> None:
    index = DocumentIndex.from_documents(documents(2))
    pmi = positive_pmi(index, WORDS)
    assert (pmi >= 0).all()
    assert pmi[0, PER_TOPIC:].max() == 0
    readout = nmf_of_ppmi(index, WORDS, 3)
    assert readout.values.shape == (78, 3)
    assert measure_interpretability(readout, held_out).intruders_found == 1.0


def test_words_of_most_documents_are_chosen() -> None:
    names = [f"word{chr(97 + k)}" for k in range(24)]
    index = DocumentIndex.from_documents([names[: k + 1] for k in range(24)])  # the first is in all documents
    vectors = WordVectors(np.ones((23, 2), dtype=np.float32), names[1:], None)
    assert choose_words([vectors], index, 5) == names[1:6]


def test_bad_input(held_out: Coherence) -> None:
    index = DocumentIndex.from_documents([["x", "y"], ["z"]] * 3)
    vectors = train_vectors(index, settings=AutoencoderSettings(n_clauses=2, n_examples=5))
    with pytest.raises(ParameterError, match="Only 0 words are in all models"):
        choose_words([vectors], DocumentIndex.from_documents(documents(1)), 10)
    with pytest.raises(ParameterError, match="'n_pairs' parameter of measure_interpretability"):
        measure_interpretability(block_readout(readable=True), held_out, n_pairs=0)


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    for name, seed in (("train", 2), ("held", 1)):
        lines = [" ".join(words) for words in documents(seed)]
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n")
        build_index(tmp_path / f"{name}.txt", tmp_path / f"{name}.index")
    settings = AutoencoderSettings(n_clauses=8, n_examples=60, accumulation=1)
    train_model(DocumentIndex.open(tmp_path / "train.index"), tmp_path / "model", settings=settings)
    return tmp_path / "model", tmp_path / "held.index"


def run(*words: object) -> None:
    arguments = make_parser().parse_args(["evaluate", "interpretability", *map(str, words)])
    arguments.run(arguments)


def test_the_command(folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    model, held_out = folders
    run(model, "--index", held_out, "--nmf", 3, "--json")
    omni, nmf = json.loads(capsys.readouterr().out)
    assert (omni["name"], nmf["name"], nmf["n_dimensions"]) == ("model", "NMF of PPMI", 3)
    assert omni["stability"] > 0
    run(model, "--index", held_out)
    assert "Interpretability on held-out documents" in capsys.readouterr().out
    for name in ("words", "vocabulary"):
        with pytest.raises(ParameterError, match=rf"--{name} must be at least 20\. Got 3 instead"):
            run(model, "--index", held_out, f"--{name}", 3)


def test_the_command_adds_themes_and_categories(
    folders: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, held_out = folders
    (tmp_path / "categories").mkdir()
    lines = [f"{word[0]}\t{word}" for word in WORDS]
    (tmp_path / "categories" / "semcat.tsv").write_text("\n".join(lines) + "\n")
    shutil.copytree(model, model.with_name("model-seed1"))
    options = ("--themes", 3, "--data", tmp_path, "--json")
    run(model, "--index", held_out, *options)
    omni, themes = json.loads(capsys.readouterr().out)
    assert (omni["name"], themes["name"]) == ("model", "model, 3 themes")
    assert themes["n_dimensions"] == 3
    assert themes["dimension_stability"] == 1
    assert themes["category_score"] > 0.9
    assert themes["intruders_found"] > 0.9


def test_a_model_of_another_seed_beside_it_is_used(folders: tuple[Path, Path]) -> None:
    model, held_out = folders
    other = Path(shutil.copytree(model, model.with_name("model-seed1")))
    vectors = WordVectors.load(model)
    again = trained_again(model, vectors, WORDS)
    assert again is not None
    assert again.name == other.name
    readout = read_out("model", vectors, WORDS)
    found = measure_interpretability(readout, Coherence(DocumentIndex.open(held_out), WORDS), again=again)
    assert found.stability == 1.0


def test_the_baseline_needs_the_index(folders: tuple[Path, Path]) -> None:
    model, held_out = folders
    (model.parent / "train.index").rename(model.parent / "away")
    with pytest.raises(ParameterError, match=r"--nmf needs the index that .*model was trained from"):
        run(model, "--index", held_out, "--nmf", 3)
