from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from omnitm.cli import main
from omnitm.errors import ParameterError
from omnitm.evaluation import PAPER_SETS, evaluate_similarity
from omnitm.evaluation.correlation import draw_counts
from omnitm.evaluation.datasets import WordPairs
from omnitm.evaluation.results import (
    Agreement,
    GroupResult,
    ModelResult,
    PlainTable,
    SetResult,
    SimilarityReport,
    pooled_groups,
    to_markdown,
)
from omnitm.evaluation.similarity import group_results
from omnitm.store import ModelRecord
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

WORDS = [f"w{k}" for k in range(30)]
PLACES = np.random.default_rng(0).normal(size=(30, 3)).astype(np.float32)


def vectors(words: Sequence[str] = WORDS, noise: float = 0.0, seed: int = 0) -> WordVectors:
    rows = PLACES[[WORDS.index(word) for word in words]]
    shifts = np.random.default_rng(9 + seed).normal(size=rows.shape) * noise
    record = ModelRecord("word2vec", {}, seed, "0" * 64)
    return WordVectors((rows + shifts).astype(np.float32), words, None, training=record)


def pairs(name: str, count: int, seed: int, **kwargs: Any) -> WordPairs:
    """Pairs judged by the cosine of the true places."""
    drawn = np.random.default_rng(seed).integers(0, 30, size=(count, 2))
    units = PLACES / np.linalg.norm(PLACES, axis=1, keepdims=True)
    judged = np.einsum("ij,ij->i", units[drawn[:, 0]], units[drawn[:, 1]])
    return WordPairs(
        name,
        tuple(WORDS[k].upper() for k in drawn[:, 0]),
        tuple(WORDS[k] for k in drawn[:, 1]),
        judged,
        **kwargs,
    )


FIVE = [pairs(name, 60 + k, k) for k, name in enumerate(PAPER_SETS)]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The five sets as files."""
    from omnitm.evaluation.datasets import data_set

    for part in FIVE:
        lines = zip(part.first, part.second, part.scores.tolist(), strict=True)
        text = "".join(f"{a}\t{b}\t{score}\n" for a, b, score in lines)
        (tmp_path / data_set(part.name).files[0]).write_text(text)
    return tmp_path


def test_a_perfect_model_and_a_noisy_one() -> None:
    report = evaluate_similarity({"true": vectors(), "noisy": vectors(noise=1.0)}, FIVE, n_resamples=200)
    true, noisy = report.rows
    assert [part.n_used for part in true.sets] == [60, 61, 62, 63, 64]
    assert true.average is not None and noisy.average is not None  # noqa: PT018
    assert true.average.spearman == pytest.approx(1, abs=1e-3)
    assert true.metric == "cosine"
    average = np.mean([part.agreement.kendall for part in noisy.sets])
    assert noisy.average.kendall == pytest.approx(average)
    low, high = noisy.average.spearman_interval or (1, 0)
    assert low < (noisy.average.spearman or 0) < high < 0.95
    assert noisy.difference is not None
    assert noisy.difference.spearman == pytest.approx((noisy.average.spearman or 0) - 1, abs=1e-3)
    assert noisy.difference.spearman_interval is not None
    assert noisy.difference.spearman_interval.high < 0
    assert (true.n_words, true.vector_size, true.megabytes) == (30, 3, 0.0)
    assert report.row("noisy") is noisy
    with pytest.raises(ParameterError, match=r"no row for 'other' ; it has true \(cosine\), noisy"):
        report.row("other")


def cosines(model: WordVectors, part: WordPairs) -> list[float]:
    words = zip(part.first, part.second, strict=True)
    return [model.similarity(a.lower(), b) for a, b in words]


def test_intervals_of_averages_and_differences_resample_the_words_of_all_sets() -> None:
    models = {"a": vectors(noise=0.5), "b": vectors(noise=1.0)}
    report = evaluate_similarity(models, FIVE, n_resamples=40, seed=3)
    spelt = [both for part in FIVE for both in zip(part.first, part.second, strict=True)]
    words = list(dict.fromkeys(word.lower() for both in spelt for word in both))
    draws = draw_counts(len(words), 40, 3)
    averages = np.zeros((2, 2, 40))
    for k in range(40):
        for part in FIVE:
            times = [
                int(draws[words.index(a.lower()), k] * (draws[words.index(b), k] if a.lower() != b else 1))
                for a, b in zip(part.first, part.second, strict=True)
            ]
            drawn = np.repeat(np.arange(len(part)), times)
            for number, model in enumerate(models.values()):
                scores = np.array(cosines(model, part))[drawn]
                averages[number, 0, k] += spearmanr(scores, part.scores[drawn])[0] / 5
                averages[number, 1, k] += kendalltau(scores, part.scores[drawn])[0] / 5
    difference = report.rows[1].difference
    assert difference is not None
    for which, values in zip(("spearman", "kendall"), averages.swapaxes(0, 1), strict=True):
        ends = np.quantile(values, [0.025, 0.975], axis=1)
        for row, expected in zip(report.rows, ends.T, strict=True):
            assert getattr(row.average, f"{which}_interval") == pytest.approx(tuple(expected), abs=1e-6)
        paired = np.quantile(values[1] - values[0], [0.025, 0.975])
        assert getattr(difference, f"{which}_interval") == pytest.approx(tuple(paired), abs=1e-6)
    assert report.notes[-1] == (
        "95% intervals: 40 resamples of words, since pairs share them; differences are paired."
    )


def test_several_seeds_are_one_model() -> None:
    seeds = [vectors(noise=1.0, seed=k) for k in range(3)]
    together = evaluate_similarity({"m": seeds}, FIVE, n_resamples=300).rows[0]
    alone = [evaluate_similarity({"m": one}, FIVE, n_resamples=300).rows[0] for one in seeds]
    assert (together.n_seeds, alone[0].n_seeds) == (3, 1)
    averages = [row.average.spearman for row in alone if row.average and row.average.spearman]
    assert together.seed_averages == pytest.approx(averages)
    assert together.average is not None
    assert together.average.spearman == pytest.approx(np.mean(averages))
    for which in ("spearman", "kendall"):
        each = [getattr(row.sets[2].agreement, which) for row in alone]
        assert getattr(together.sets[2].agreement, which) == pytest.approx(np.mean(each))
    report = evaluate_similarity({"m": seeds, "n": seeds[0]}, FIVE, n_resamples=20)
    assert report.tables()[0].rows[1][0] == "m, 3 seeds"
    assert report.notes[-1].startswith(
        "95% intervals: 20 resamples of words, since pairs share them, and seeds;"
    )
    assert SimilarityReport.from_json(report.to_json()) == report


def test_seeds_that_differ_alone_are_resampled() -> None:
    """Without any doubt about words, what is left is the doubt about seeds."""
    same = WordPairs("same", ("w1", "w1", "w1"), ("w2", "w3", "w4"), np.array([1.0, 2.0, 3.0]))
    rows = np.array([[1, 0], [0.9, 0.1], [0.5, 0.5], [0.1, 0.9]], dtype=np.float32)
    upright = WordVectors(rows, ["w1", "w2", "w3", "w4"], None, training=ModelRecord("x", {}, 0, "0" * 64))
    reversed_ = WordVectors(
        rows[[0, 3, 2, 1]], ["w1", "w2", "w3", "w4"], None, training=ModelRecord("x", {}, 1, "0" * 64)
    )
    agreement = evaluate_similarity({"m": [upright, reversed_]}, [same]).rows[0].sets[0].agreement
    assert agreement.spearman == pytest.approx(0)
    assert agreement.spearman_interval == pytest.approx((-1, 1))


def test_trainings_that_are_no_seeds_of_one_model() -> None:
    other = WordVectors(PLACES, WORDS, None, training=ModelRecord("word2vec", {"window": 2}, 1, "0" * 64))
    with pytest.raises(
        ParameterError, match="trainings of 'm' have different settings, so they are no seeds"
    ):
        evaluate_similarity({"m": [vectors(), other]}, FIVE)
    with pytest.raises(ParameterError, match="Two trainings of 'm' have the same seed; give each seed once"):
        evaluate_similarity({"m": [vectors(), vectors(noise=1)]}, FIVE)
    with pytest.raises(
        ParameterError, match="The model 'm' has no vectors; give at least one training of it"
    ):
        evaluate_similarity({"m": []}, FIVE)


def test_same_seed_same_report() -> None:
    first, again, other = (
        evaluate_similarity({"noisy": vectors(noise=1)}, FIVE, n_resamples=50, seed=seed)
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first.rows[0].average != other.rows[0].average
    without = evaluate_similarity({"noisy": vectors(noise=1)}, FIVE, n_resamples=0).rows[0].average
    assert without is not None
    assert without.spearman_interval is None


def test_models_with_different_words_are_compared_on_common_pairs() -> None:
    models = {"all": vectors(), "some": vectors(WORDS[:20])}
    report = evaluate_similarity(models, FIVE[:1], n_resamples=0)
    used = report.rows[0].sets[0].n_used
    assert used == report.rows[1].sets[0].n_used
    assert used is not None
    assert 10 < used < 60
    assert f"WS-353: models know different words (all 60, some {used} of 60 pairs)" in report.notes[0]
    assert f"compared on the {used} common pairs" in report.notes[0]
    assert report.rows[0].average is None


def test_nothing_to_compare() -> None:
    strange = WordPairs("strange", ("x", "y"), ("p", "q"), np.array([1.0, 2.0]))
    with pytest.raises(
        ParameterError, match=r"No set has 3 pairs that all models know \(looked at strange\)"
    ):
        evaluate_similarity({"a": vectors()}, [strange])
    with pytest.raises(ParameterError, match="needs at least one model"):
        evaluate_similarity({}, FIVE)
    with pytest.raises(ParameterError, match="No model has the metric association; leave --metric out"):
        evaluate_similarity({"a": vectors()}, FIVE, metrics=["association"])
    with pytest.raises(ParameterError, match="'n_resamples' parameter"):
        evaluate_similarity({"a": vectors()}, FIVE, n_resamples=-1)
    report = evaluate_similarity({"a": vectors()}, [strange, FIVE[0]], n_resamples=0)
    assert "strange: left out, only 0 of its 2 pairs are in the vocabulary." in report.notes


def test_groups() -> None:
    kinds = tuple("noun" if k % 3 else "verb" for k in range(80))
    judged = pairs("SimLex-999", 80, 1, parts_of_speech=kinds)
    counts = {word: 10**k for k, word in enumerate(WORDS)} | {"w0": 5}
    report = evaluate_similarity(
        {"a": vectors(noise=0.2)}, [judged], frequencies=counts, frequency_edges=[1000, 10**6], n_resamples=0
    )
    groups = {group.name: group for group in report.rows[0].sets[0].groups}
    assert list(groups) == ["under 1,000", "1,000 to 999,999", "1,000,000 and more", "noun", "verb"]
    assert (groups["noun"].n_used, groups["verb"].n_used) == (53, 27)
    assert sum(group.n_used for group in groups.values() if group.kind == "frequency") == 80
    assert 0.8 < (groups["verb"].agreement.spearman or 0) < 1
    titles = [table.title for table in report.tables()]
    assert titles[2].startswith("Spearman by frequency of the rarer word: documents")
    assert titles[3].startswith("Spearman by part of speech")
    few = evaluate_similarity({"a": vectors()}, [judged], frequencies={}, frequency_edges=[1], n_resamples=0)
    assert [group.name for group in few.rows[0].sets[0].groups] == ["under 1", "noun", "verb"]


def test_every_model_by_metrics_of_its_own_and_sizes_in_the_table() -> None:
    named = WordVectors(np.arange(900, dtype=np.int16).reshape(30, 30) % 17, WORDS, WORDS)
    models = {"whole": named, "small": vectors()}
    report = evaluate_similarity(
        models, [pairs("a", 30, 1)], metrics={"whole": ["association", "cosine"], "small": ["cosine"]}
    )
    found = [(row.model, row.metric) for row in report.rows]
    assert found == [("whole", "association"), ("whole", "cosine"), ("small", "cosine")]
    tables = report.tables()
    assert tables[-1].rows[1][:3] == ["small", "30", "3"]
    assert [row[0] for row in tables[-1].rows] == ["whole", "small"]
    interval = report.rows[2].sets[0].agreement.spearman_interval
    assert interval is not None
    assert f"{interval.low:.3f} to {interval.high:.3f} (a)" in tables[0].rows[3]
    with pytest.raises(ParameterError, match="No model has the metric association; leave"):
        evaluate_similarity(
            {"small": models["small"]}, [pairs("a", 30, 1)], metrics={"small": ["association"]}
        )


def test_groups_of_several_sets_are_pooled_by_their_pairs() -> None:
    def group(name: str, n_used: int, spearman: float | None, kendall: float | None) -> GroupResult:
        return GroupResult("part of speech", name, n_used, Agreement(spearman, kendall))

    first = (group("noun", 10, 0.5, 0.4), group("verb", 2, None, None))
    second = (group("noun", 30, 0.7, 0.2), group("verb", 3, None, None))
    both = Agreement(0.1, 0.1)
    sets = (SetResult("a", 50, 40, both, first), SetResult("b", 50, 40, both, second))
    row = ModelResult("m", "cosine", sets, None)
    nouns, verbs = pooled_groups(row)
    assert (nouns.name, nouns.n_used, verbs.name, verbs.n_used) == ("noun", 40, "verb", 5)
    assert (nouns.agreement.spearman, nouns.agreement.kendall) == pytest.approx((0.65, 0.25))
    assert (verbs.agreement.spearman, verbs.agreement.kendall) == (None, None)
    assert pooled_groups(row, ["a"])[0].agreement.spearman == pytest.approx(0.5)


GOLDEN = """\
**Spearman**

| model | metric | WS-353 | MTURK-287 | MTURK-771 | RG-65 | MEN | average | 95% interval | to the first |
| --- | --- | --: | --: | --: | --: | --: | --: | --: | --: |
| pairs used |  | 60/60 | 61/61 | 62/62 | 63/63 | 64/64 |  |  |  |
| a, 2 seeds | cosine | 0.636 | 0.799 | 0.881 | 0.804 | 0.802 | 0.784 | 0.588 to 0.881 | - |
| b | cosine | 0.664 | 0.669 | 0.715 | 0.809 | 0.770 | 0.725 | 0.531 to 0.821 | -0.059 -0.304 to 0.143 |

**Kendall**

| model | metric | WS-353 | MTURK-287 | MTURK-771 | RG-65 | MEN | average | 95% interval | to the first |
| --- | --- | --: | --: | --: | --: | --: | --: | --: | --: |
| pairs used |  | 60/60 | 61/61 | 62/62 | 63/63 | 64/64 |  |  |  |
| a, 2 seeds | cosine | 0.468 | 0.630 | 0.723 | 0.634 | 0.624 | 0.616 | 0.454 to 0.738 | - |
| b | cosine | 0.476 | 0.507 | 0.541 | 0.621 | 0.576 | 0.544 | 0.397 to 0.666 | -0.071 -0.278 to 0.113 |

**Spearman by frequency of the rarer word: documents (mean over sets, weighted by pairs)**

| model | metric | under 90 | 90 and more |
| --- | --- | --: | --: |
| pairs used |  | 143 | 167 |
| a | cosine | 0.705 | 0.830 |
| b | cosine | 0.668 | 0.772 |

**Spearman by part of speech (mean over sets, weighted by pairs)**

| model | metric | noun | verb |
| --- | --- | --: | --: |
| pairs used |  | 40 | 20 |
| a | cosine | 0.665 | 0.496 |
| b | cosine | 0.590 | 0.825 |

**Size of the vectors**

| model | words | numbers per word | MB |
| --- | --: | --: | --: |
| a | 30 | 3 | 0.0 |
| b | 30 | 3 | 0.0 |

- 95% intervals: 200 resamples of words, since pairs share them, and seeds; differences are paired.
"""


def test_a_whole_report_as_it_was() -> None:
    kinds = tuple("noun" if k % 3 else "verb" for k in range(60))
    sets = [replace(FIVE[0], parts_of_speech=kinds), *FIVE[1:]]
    models = {"a": [vectors(noise=0.4, seed=k) for k in range(2)], "b": [vectors(noise=0.8, seed=5)]}
    counts = {word: 10 * k for k, word in enumerate(WORDS)}
    report = evaluate_similarity(models, sets, frequencies=counts, frequency_edges=[90], n_resamples=200)
    assert to_markdown(report.tables(), report.notes) == GOLDEN


def test_missing_groups_are_said() -> None:
    report = evaluate_similarity({"a": vectors()}, [pairs("SimLex-999", 40, 2)], n_resamples=0)
    assert "no column with parts of speech" in report.notes[0]
    assert "give the index" in report.notes[1]


def test_small_groups_have_no_correlation() -> None:
    kinds = tuple("noun" if k > 3 else "verb" for k in range(40))
    judged = pairs("SimLex-999", 40, 1, parts_of_speech=kinds)
    report = evaluate_similarity({"a": vectors()}, [judged], n_resamples=0)
    verbs = report.rows[0].sets[0].groups[1]
    assert (verbs.name, verbs.n_used, verbs.agreement.spearman) == ("verb", 4, None)
    assert report.tables()[2].rows[1][-1] == "-"


def test_json_round_trip() -> None:
    report = evaluate_similarity(
        {"a": vectors(), "b": vectors(noise=1)}, FIVE, frequencies=dict.fromkeys(WORDS, 7), n_resamples=20
    )
    assert SimilarityReport.from_json(report.to_json()) == report
    former = json.loads(report.to_json())
    del former["resampled"], former["rows"][0]["n_seeds"], former["rows"][0]["seed_averages"]
    read = SimilarityReport.from_json(json.dumps(former))
    assert (read.resampled, read.rows[0].n_seeds, read.rows[0].seed_averages) == ("pairs", 1, ())
    for text in ("[]", '{"kind": "x"}', report.to_json().replace('"version": 1', '"version": 2')):
        with pytest.raises(ParameterError, match="not a report that this omnitm reads: expected"):
            SimilarityReport.from_json(text)


def test_markdown_escapes() -> None:
    assert PlainTable("t", ["a|b", "c"], [["1", "2"]]).to_markdown() == (
        "**t**\n\n| a\\|b | c |\n| --- | --: |\n| 1 | 2 |\n"
    )


def test_csv_has_every_figure() -> None:
    report = evaluate_similarity(
        {"a": vectors(noise=1)}, FIVE, frequencies=dict.fromkeys(WORDS, 7), n_resamples=9
    )
    lines = list(csv.DictReader(io.StringIO(report.to_csv())))
    assert len(lines) == 11  # five sets, a band each, the average
    assert float(lines[0]["spearman"]) == pytest.approx(report.rows[0].sets[0].agreement.spearman, abs=1e-5)
    assert lines[1]["group"] == "under 300"
    assert lines[-1]["set"] == "average"
    assert lines[-1]["spearman_low"]


def test_command_line(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vectors().save(tmp_path / "true")
    vectors(noise=1).save(tmp_path / "noisy")
    models = [str(tmp_path / "true"), f"second={tmp_path / 'noisy'}"]
    command = ["evaluate", "similarity", *models, "--data", str(data), "--resamples", "50", "--quiet"]
    assert main([*command, "--baseline", "paper"]) == 0
    shown = capsys.readouterr().out
    assert "published" in shown
    assert "second" in shown
    assert "60/60" in shown
    vectors(noise=1, seed=1).save(tmp_path / "noisy again")
    seeds = [*command[:2], models[1], f"second={tmp_path / 'noisy again'}", *command[4:]]
    assert main(seeds) == 0
    assert "second, 2 seeds" in capsys.readouterr().out
    assert main([*command, "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["model"] for row in report["rows"]] == ["true", "second"]
    for name, start in (
        ("t.md", "**Spearman**"),
        ("t.csv", "model,metric"),
        ("t.txt", "Spearman"),
        ("t.json", "{"),
    ):
        assert main([*command, "-o", str(tmp_path / name)]) == 0
        assert (tmp_path / name).read_text().startswith(start)
    assert main([*command, "-o", str(tmp_path / "no" / "folder.md")]) == 2
    assert "folder.md: cannot be written" in capsys.readouterr().err


def test_command_line_mistakes(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vectors().save(tmp_path / "m")
    (tmp_path / "bad.tsv").write_text("w1\tw2\t1\nw3\tw4\n")
    start = ["evaluate", "similarity", str(tmp_path / "m"), "--data", str(data), "--quiet"]
    assert main([*start, "--sets", str(tmp_path / "bad.tsv")]) == 2
    assert "bad.tsv: line 2: 'w3 w4' is not a pair" in capsys.readouterr().err
    assert main([*start, "--sets", "nonsense"]) == 2
    assert "'nonsense' is neither a known data set nor a file" in capsys.readouterr().err
    assert main(["evaluate", "similarity", str(tmp_path / "m"), str(tmp_path / "m")]) == 2
    assert "Two models are called 'm'; give them names: NAME=" in capsys.readouterr().err
    twice = [f"m={tmp_path / 'm'}"] * 2
    assert main(["evaluate", "similarity", *twice, "--data", str(data), "--quiet"]) == 2
    assert "Two trainings of 'm' have the same seed" in capsys.readouterr().err
    assert main(["evaluate", "analogies", *twice, "--data", str(data)]) == 2
    assert "Two models are called 'm'; give them names: NAME=FOLDER" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["evaluate"])
    assert "KIND" in capsys.readouterr().err


def test_a_pair_is_as_frequent_as_its_rarer_word() -> None:
    """A word that is not counted is in no document."""
    random = np.random.default_rng(0)
    words = [(f"a{k}", f"b{k}") for k in range(24)]
    counted = {f"a{k}": 1 + k % 2 for k in range(12)} | {f"b{k}": 1 for k in range(24)}
    scores = random.random(24)
    found = group_results(scores, scores, words, frequencies=counted, edges=(1, 2))
    assert [(group.name, group.n_used) for group in found] == [("under 1", 12), ("1 to 1", 12)]
    assert all(group.agreement.spearman == pytest.approx(1) for group in found)
    few = group_results(scores[3:], scores[3:], words[3:], frequencies=counted, edges=(1, 2))
    assert [group.agreement.spearman is None for group in few] == [False, True]  # nine pairs are too few
    ten = group_results(scores[2:], scores[2:], words[2:], frequencies=counted, edges=(1, 2))
    assert [group.agreement.spearman is None for group in ten] == [False, False]
