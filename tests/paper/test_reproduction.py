"""The whole paper on a small text: everything is run once, kept, and written down."""

from __future__ import annotations

import json
import re
import shutil
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score, silhouette_score

from omnitm import WordVectors
from omnitm.baselines import make_baseline
from omnitm.cli import main
from omnitm.errors import FileError, OmniTMError, ParameterError
from omnitm.evaluation.results import PlainTable
from omnitm.evaluation.word_maps import WORD_GROUPS
from omnitm.machine import PAPER, AutoencoderSettings
from omnitm.paper import reproduction as paper_models
from omnitm.paper.report import as_html, as_markdown
from omnitm.paper.reproduction import Reproduction, StepResult

if TYPE_CHECKING:
    from pathlib import Path

WORDS = {
    "vehicles": ["car", "truck", "bus", "train"],
    "animals": ["dog", "cat", "horse", "lion"],
    "food": ["bread", "cheese", "rice", "soup"],
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a text of three topics, and documents and pairs of words about them."""
    folder, random = tmp_path_factory.mktemp("paper"), np.random.default_rng(0)
    topics = list(WORDS.values())
    lines = [" ".join(random.choice(topics[k % 3], 6)) for k in range(150)]
    (folder / "text.txt").write_text("\n".join(lines) + "\n")
    (folder / "data" / "documents").mkdir(parents=True)
    words = [word for words in topics for word in words]
    pairs = [
        f"{a}\t{b}\t{int(k // 4 == n // 4)}"
        for k, a in enumerate(words)
        for n, b in enumerate(words)
        if k < n
    ]
    (folder / "data" / "EN-RG-65.txt").write_text("\n".join(pairs) + "\n")
    rows = [
        {"text": line, "label": f"t{k % 3}", "split": "train" if k < 80 else "test"}
        for k, line in enumerate(lines)
    ]
    (folder / "data" / "documents" / "agnews.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    return folder


def run(place: Path, output: Path, **options: object) -> tuple[list[StepResult], list[str]]:
    steps: list[str] = []
    reproduction = Reproduction(
        place / "text.txt",
        output,
        **{"data": place / "data", "models": ["omni", "ppmi"], "n_seeds": 1, "word": "car", **options},  # type: ignore[arg-type]
        on_step=steps.append,
    )
    return reproduction.run(), steps


def labels_of(result: StepResult) -> list[str]:
    return [row[0] for row in result.tables[0].rows]


def test_all_that_the_data_allows_is_run_once(place: Path, tmp_path: Path) -> None:
    first, steps = run(place, tmp_path / "out")
    results = {result.name: result for result in first}
    assert list(results) == [
        "index", "model-omni", "model-ppmi", "model-omni-paper",
        "similarity", "classification", "clustering", "tsne", "clause",
    ]  # fmt: skip
    settings = {row[0]: row[1] for row in results["model-omni-paper"].tables[0].rows}
    assert (settings["n_examples"], settings["n_epochs"]) == ("2000", "4")
    assert "imdb.jsonl: the documents IMDb are not in" in str(results["classification"].not_run)
    assert labels_of(results["similarity"])[-3:] == ["omni (the paper's way)", "omni", "ppmi"]
    assert results["similarity"].tables[0].rows[-3][1] == "association"
    assert "MTURK-287 was not run: EN-MTurk-287.txt" in " ".join(results["similarity"].notes)
    assert "20 Newsgroups was not run" in " ".join(results["clustering"].notes)
    labels = labels_of(results["clustering"])
    assert labels[-6:] == [
        "omni (the paper's way)", "ppmi (the paper's way)", "omni", "omni", "ppmi", "ppmi"
    ]  # fmt: skip
    assert "Omni TM-AE (published)" in labels
    assert results["tsne"].pictures == (
        "pictures/map-omni.png", "pictures/map-ppmi.png", "pictures/map-omni-paper.png"
    )  # fmt: skip
    assert [row[0] for row in results["tsne"].tables[0].rows][2] == "omni (the paper's way)"
    assert "AG News: omni, length" in steps
    again, steps = run(place, tmp_path / "out")
    assert "AG News: omni, length" not in steps
    assert again[6:] == first[6:]
    (tmp_path / "out" / "pictures" / "clause.png").unlink()
    run(place, tmp_path / "out")
    assert (tmp_path / "out" / "pictures" / "clause.png").is_file()
    other, steps = run(place, tmp_path / "out", n_seeds=2)
    assert "AG News: omni, length" in steps
    assert other[6] != first[6]


def test_the_paper_s_way_is_its_settings_and_raw_vectors(place: Path, tmp_path: Path) -> None:
    found, _ = run(place, tmp_path / "out", steps=["similarity", "clustering", "tsne"])
    results = {result.name: result for result in found}
    vectors = WordVectors.load(tmp_path / "out" / "models" / "omni-paper")
    assert vectors.training is not None
    assert vectors.training.settings == AutoencoderSettings(**PAPER)
    lines = [line.split("\t") for line in (place / "data" / "EN-RG-65.txt").read_text().splitlines()]
    coordinates = [vectors[a][vectors.feature_index(b)] for a, b, _ in lines]
    expected = spearmanr(coordinates, [float(score) for *_, score in lines])[0]
    column = results["similarity"].tables[0].header.index("RG-65")
    assert results["similarity"].tables[0].rows[-3][column] == f"{expected:.3f}"
    lines_of_text = (place / "data" / "documents" / "agnews.jsonl").read_text().splitlines()
    texts = [json.loads(line) for line in lines_of_text]
    means = np.array([np.mean([vectors[word] for word in row["text"].split()], axis=0) for row in texts])
    clusters = KMeans(3, n_init=1, random_state=0).fit_predict(means.astype(np.float32))
    nmi = normalized_mutual_info_score([row["label"] for row in texts], clusters)
    raw = next(row for row in results["clustering"].tables[0].rows if row[0] == "omni (the paper's way)")
    assert raw[1] == "raw"
    assert "the paper does not say how vectors of words become" in " ".join(results["clustering"].notes)
    assert f"{nmi:.3f}" in raw[-1]
    groups = [(word, name) for name, words in WORD_GROUPS.items() for word in words if word in vectors]
    groups = [pair for pair in groups if sum(pair[1] == other for _, other in groups) > 1]
    rows = np.array([vectors[word] for word, _ in groups], dtype=np.float64)
    silhouette = silhouette_score(rows, [name for _, name in groups])
    shown = next(row for row in results["tsne"].tables[0].rows if row[0] == "omni (the paper's way)")
    assert shown[3] == f"{silhouette:.3f}"


def test_quick_leaves_the_paper_s_way_out(place: Path, tmp_path: Path) -> None:
    found, steps = run(
        place, tmp_path / "out", quick=True, models=["omni"], steps=["similarity", "clustering"]
    )
    assert [result.name for result in found] == ["index", "model-omni", "similarity", "clustering"]
    assert not [row for result in found[2:] for row in labels_of(result) if "the paper's way" in row]
    assert not [step for step in steps if "omni-paper" in step]


def test_time_and_size_are_said_before_training(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, steps = run(place, tmp_path / "out", steps=[], models=["omni", "glove", "tmae"])
    said = [step for step in steps if step.startswith(("to train", "in all"))]
    assert [step.split(":")[1].strip() for step in said[:4]] == ["omni", "glove", "tmae", "omni-paper"]
    assert re.fullmatch(r"to train: omni-paper: 0.0 MB, about \d+ CPU seconds", said[3])
    assert said[2].endswith("unknown time")
    assert said[4].startswith("in all models: 0.0 MB, about ")
    assert steps.index(said[4]) < steps.index("Model omni")
    _, steps = run(place, tmp_path / "out", steps=[], models=["omni", "glove"])
    assert not [step for step in steps if step.startswith("to train")]
    assert str(paper_models.Forecast("m", 7200, 3_200_000_000)) == "m: 3.2 GB, about 120 CPU minutes"
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1))
    with pytest.raises(FileError, match=r"has 0.0 GB left, but models need 0.0 GB; make room, name another"):
        run(place, tmp_path / "full", steps=[])


def test_a_stopped_run_goes_on(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _ = run(place, tmp_path / "whole", steps=["similarity"])

    def stop(name: str, *_: object, **__: object) -> None:
        if name == "omni-paper":
            raise KeyboardInterrupt

    monkeypatch.setattr("omnitm.paper.reproduction.forecast", stop)
    with pytest.raises(KeyboardInterrupt):
        run(place, tmp_path / "parts", steps=["similarity"])
    monkeypatch.undo()
    run(place, tmp_path / "parts", steps=[], models=["omni"], quick=True)
    parts, steps = run(place, tmp_path / "parts", steps=["similarity"])
    assert not [step for step in steps if step.startswith("to train: omni:")]
    assert parts[-1].tables == whole[-1].tables


def _without_glove(name: str, settings: dict[str, object]) -> object:
    if name == "glove":
        raise ParameterError("glove is not here today.")
    return make_baseline(name, settings)


def test_table_2_has_sources_trained_on_reviews(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paper_models, "make_baseline", _without_glove)
    reviews, random = tmp_path / "data" / "documents", np.random.default_rng(1)
    reviews.mkdir(parents=True)
    rows = [
        {
            "text": "Great<br />" * (k % 2) + " ".join(random.choice([*WORDS["food"], *WORDS["animals"]], 8)),
            "label": ("neg", "pos")[k % 2],
            "split": ("train", "test")[k // 40],
        }
        for k in range(60)
    ]
    (reviews / "imdb.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    common: dict[str, object] = {"data": tmp_path / "data", "steps": ["classification"]}
    (result,), steps = _last(run(place, tmp_path / "a", models=["ppmi", "glove"], **common))
    assert [table.title.split(" replaced ")[-1] for table in result.tables] == [
        "(text)", "(notebook)", "Sources of Table 2"
    ]  # fmt: skip
    assert result.tables[2].rows[0][:2] == ["ppmi", "9"]
    assert labels_of(result)[-3:] == ["unchanged text", "random words", "ppmi"]
    assert result.notes[0].startswith("sources were trained on 40 training reviews")
    assert result.notes[1] == "glove was not run: glove is not here today."
    assert "elmo was not run: it is not among --models" in result.notes
    assert "ppmi on the reviews" in steps
    few, _ = run(place, tmp_path / "a", models=["ppmi"], limit=20, **common)
    assert few[-1].notes[0].startswith("sources were trained on 20 training reviews")
    model = tmp_path / "a" / "reviews" / "models" / "ppmi"
    assert "great" in WordVectors.load(model)
    (result,), steps = _last(run(place, tmp_path / "b", models=[], reviewers={"counts": model}, **common))
    assert labels_of(result)[-1] == "counts"
    assert not [step for step in steps if step.endswith("on the reviews")]
    (result,), _ = _last(run(place, tmp_path / "c", models=[], trained={"counts": model}, **common))
    assert result.notes[0].endswith("these were trained on the corpus above")
    (result,), steps = _last(run(place, tmp_path / "d", models=["omni"], **common))
    assert labels_of(result)[-2:] == ["omni", "omni (the paper's way)"]
    assert [row[0] for row in result.tables[2].rows] == ["omni", "omni-paper"]
    assert "n_examples 2000, n_epochs 4" in result.tables[2].rows[1][3]
    ways = {note.split(":")[0]: note.split("by ")[-1] for note in result.notes if "neighbours by" in note}
    assert ways == {"omni": "association", "omni (the paper's way)": "association"}  # nine words
    assert [step for step in steps if step.startswith("to train on the reviews: omni-paper: ")]
    (result,), _ = _last(run(place, tmp_path / "a", models=["glove"], **common))
    assert result.not_run == "glove was not run: glove is not here today."


def _last(found: tuple[list[StepResult], list[str]]) -> tuple[list[StepResult], list[str]]:
    return found[0][-1:], found[1]


def test_what_cannot_be_reproduced_is_said(place: Path, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="'skipgram' is no model that can be trained; choose from omni"):
        run(place, tmp_path, models=["skipgram"])
    with pytest.raises(ParameterError, match="'table 9' is no part of the paper; choose from similarity"):
        run(place, tmp_path, steps=["table 9"])
    results, _ = run(place, tmp_path / "a", models=["ppmi"], steps=["clause"])
    assert results[-1].not_run == "Only Omni models have clauses, and none was trained."
    results, _ = run(place, tmp_path / "b", models=[], steps=["clustering"])
    assert results[-1].not_run == "No model is trained, so there is nothing to measure."
    with pytest.raises(FileError, match=r"nothing.txt: is neither a text nor an index"):
        Reproduction(place / "nothing.txt", tmp_path / "c", steps=["clause"]).run()
    use = {"trained": {"omni": tmp_path / "d" / "models" / "omni"}, "steps": ["similarity", "clause"]}
    run(place, tmp_path / "d", models=["omni"], steps=[])
    without = Reproduction(place / "nothing.txt", tmp_path / "e", data=place / "data", **use).run()  # type: ignore[arg-type]
    assert [result.not_run for result in without[1:]] == [
        None, None, "Clauses are learned anew from the corpus, which is not there."
    ]  # fmt: skip
    (tmp_path / "empty").mkdir()
    results, _ = run(place, tmp_path / "a", models=["ppmi"], steps=["clustering"], data=tmp_path / "empty")
    assert str(results[-1].not_run).startswith("20 Newsgroups was not run: 20news.jsonl")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n_seeds": 0}, "'n_seeds' parameter of Reproduction must be an int >= 1"),
        ({"limit": 0}, "'limit' parameter of Reproduction must be an int >= 1"),
        ({"n_jobs": 0}, "'n_jobs' parameter of Reproduction must be an int >= 1"),
        ({"data": "no/such/folder"}, "no/such/folder: is no folder; --data must name"),
        ({"trained": {"omni": "no/such/model"}}, "no/such/model"),
    ],
)
def test_wrong_options_stop_before_anything_is_run(
    place: Path, tmp_path: Path, options: dict[str, object], match: str
) -> None:
    with pytest.raises(OmniTMError, match=match):
        run(place, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_a_folder_belongs_to_one_corpus_and_notices_new_data(place: Path, tmp_path: Path) -> None:
    data = shutil.copytree(place / "data", tmp_path / "data")
    common: dict[str, object] = {"models": ["ppmi"], "data": data}
    (index, model, similarity), _ = run(place, tmp_path / "out", steps=["similarity"], **common)
    assert "MEN was not run" in " ".join(similarity.notes)
    (data / "EN-MEN-TR-3k.txt").write_text((data / "EN-RG-65.txt").read_text())
    again, _ = run(place, tmp_path / "out", steps=["similarity"], **common)
    assert again[:2] == [index, model]  # with the time that it took to make them
    assert "MEN was not run" not in " ".join(again[2].notes)
    (tmp_path / "text.txt").write_text("car bus\n" * 20)
    other, _ = run(tmp_path, tmp_path / "out", steps=[], **common)
    assert "holds a run on another corpus" in str(other[0].not_run)
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="file: is no folder that results can go to"):
        run(place, tmp_path / "file", **common)


def test_reports_begin_with_what_was_found(tmp_path: Path) -> None:
    header = ["model", "average"]
    rows = [["Omni TM-AE (published)", "0.5"], ["GloVe (published)", "0.6"], ["unchanged text", "0.9"]]
    rows += [["omni", "0.70"], ["omni, 300 dimensions", "0.72"], ["glove", "0.71"], ["ppmi", "-"]]
    rows += [["omni (the paper's way)", "0.65"]]
    results = [
        StepResult("index", "The corpus"),
        StepResult("similarity", "Table 1", (PlainTable("Spearman", header, rows),)),
    ]
    text = as_markdown(results)
    assert "| published: Omni | published: best other | the paper's way: Omni |" in text
    figures = "| 0.5 | 0.6 (GloVe) | 0.65 | 0.71 (glove) | 0.72 | 0.71 (glove) |"
    assert f"| Table 1: Spearman {figures}" in text
    by_metric = [["omni (the paper's way)", "association", "0.6"], ["ppmi", "similarity", "0.8"]]
    by_metric += [["word2vec", "cosine", "0.7"]]
    table = PlainTable("Spearman", ["model", "metric", "average"], by_metric)
    other = as_markdown([StepResult("similarity", "Table 1", (table,))])
    assert "| - | - | 0.6 | 0.7 (word2vec) | - | 0.8 (ppmi) |" in other
    assert text.index("In short") < text.index("## Table 1") < text.index("## The corpus")
    page = as_html(results, tmp_path)
    assert page.index("In short") < page.index("<h2>Table 1") < page.index("<h2>The corpus")


def test_reports_carry_everything(tmp_path: Path) -> None:
    (tmp_path / "map.png").write_bytes(b"\x89PNG picture")
    table = PlainTable("A <table>", ["model", "x"], [["Word2Vec (published)", "1"], ["<b>", "2"]])
    results = [
        StepResult("a", "Done & dusted", (table,), ("a <note>",), ("map.png",), 2.0),
        StepResult("b", "Missing", not_run="no <data>"),
    ]
    page = as_html(results, tmp_path)
    assert "A &lt;table&gt;" in page
    assert "<tr class='paper'>" in page
    assert "Not run: no &lt;data&gt;" in page
    assert "data:image/png;base64,iVBORw==" not in page
    assert re.search(r"src='data:image/png;base64,[A-Za-z0-9+/=]+'", page)
    assert not re.search(r"(src|href)='(?!data:)", page)
    text = as_markdown(results)
    assert "![Done & dusted](map.png)" in text
    assert "Not run: no <data>" in text
    assert "| all | 2.0 |" in text
    assert "| Python | 3." in text


def test_the_command(place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = [
        "reproduce",
        "paper",
        "--corpus",
        str(place / "text.txt"),
        "--data",
        str(place / "data"),
        "--quiet",
    ]
    options = [
        "--models",
        "ppmi",
        "--only",
        "clustering",
        "clause",
        "--seeds",
        "1",
        "-o",
        str(tmp_path / "out"),
    ]
    assert main([*common, *options]) == 0
    out = capsys.readouterr().out
    assert out.startswith("3 of 4 parts are in ")
    assert "not run: Figure 3: literals of a clause: Only Omni models" in out
    assert "<!doctype html>" in (tmp_path / "out" / "report.html").read_text()
    model = tmp_path / "out" / "models" / "ppmi"
    use = ["--models", "--use", f"counts={model}", "--only", "clustering", "-o", str(tmp_path / "other")]
    assert main([*common, *use]) == 0
    assert "| counts | length |" in (tmp_path / "other" / "report.md").read_text()
    assert main([*common, "--use", "counts", "-o", str(tmp_path / "other")]) == 2
    assert "--use must be NAME=FOLDER" in capsys.readouterr().err
