"""Whole reports on small models, as they were: what no other test looks at has not changed unnoticed.

OMNITM_GOLDEN=write pytest tests/evaluation/test_golden.py     # after a change that is meant; read the diff
"""

from __future__ import annotations

import csv
import io
import json
import re
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm.cli import main
from omnitm.training import train_vectors

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnitm.explain import Explainer
    from omnitm.store.record import TrainingRecord

PATHS = re.compile(r"/\S*/")
NUMBERS = re.compile(r"-?\d[\d.,]*")
TIMES = ("seconds", "megabytes", "path", "preparing_seconds")  # are others every time


@pytest.fixture(scope="module")
def world(uneven: Explainer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Three models of the same words, and what they are measured with, all made of the topics of the text."""
    folder, random = tmp_path_factory.mktemp("reports"), np.random.default_rng(6)
    record: TrainingRecord = uneven.vectors.training  # type: ignore[assignment]
    words = uneven.vectors.index_to_key
    uneven.vectors.save(folder / "one")
    train_vectors(uneven.index, words, settings=record.settings, seed=3).save(folder / "two")
    uneven.vectors.reduce(8).save(folder / "small")
    topics = {letter: [word for word in words if word[0] == letter][:14] for letter in "bdfgl"}
    pairs = [*combinations([word for some in topics.values() for word in some[:5]], 2), ("barn", "nothere")]
    judged = [round(5.0 * (a[0] == b[0]) + 2 * float(random.random()), 1) for a, b in pairs]
    lines = [f"{a}\t{b}\t{score}\n" for (a, b), score in zip(pairs, judged, strict=True)]
    categories = [
        f"{letter}\t{word}\n" for letter, some in topics.items() for word in some[: 4 + ord(letter) % 7]
    ]
    forms = [(word, f"{word}s") for word in words if f"{word}s" in words]
    questions = [f"{a} {b} {c} {d}\n" for (a, b), (c, d) in combinations(forms, 2)]
    texts = uneven.index.document_texts(range(240))
    documents = [
        {"text": text, "label": f"{(text or 'x').count('d') > 2}", "split": "train" if k % 3 else "test"}
        for k, text in texts.items()
    ]
    contents = {
        "pairs.tsv": "".join(lines),
        "others.tsv": "".join(lines[::3]),
        "categories.tsv": "".join(categories),
        "questions.txt": ": first\n"
        + "".join(questions[:60])
        + ": gram2-second\n"
        + "".join(questions[60:90]),
        "documents.jsonl": "".join(json.dumps(document) + "\n" for document in documents),
    }
    for name, content in contents.items():
        (folder / name).write_text(content)
    assert uneven.index.path is not None
    return {path.stem: path for path in folder.iterdir()} | {"index": uneven.index.path}


REPORTS = {
    "similarity": "similarity one={one} one={two} small={small} --sets {pairs} {others} --resamples 60"
    " --index {index} --metric default cosine --reduce 5 --sparsify 6 --baseline paper",
    "every metric": "similarity one={one} --sets {others} --resamples 40 --metric all",
    "categories": "categories one={one} small={small} --sets {categories} --resamples 60"
    " --metric cosine one=related",
    "fewer words": "categories one={one} --sets {categories} --resamples 40 --words 13",
    "analogies": "analogies one={one} small={small} --questions {questions} --metric cosine --restrict 150",
    "analogies by similarity": "analogies one={one} --questions {questions} --metric similarity",
    "clustering": "clustering one={one} small={small} --sets {documents} --seeds 2 --axes 5 --components 12"
    " --weighting mean length idf raw",
    "all documents as they are": "clustering one={one} --sets {documents} --seeds 2 --axes 0 --limit 90",
    "classification": "classification one={one} small={small} --set {documents} --classifiers NB LR --draws 2"
    " --share 0.3 --reduce 4 --baseline paper",
    "by the notebook": "classification one={one} --set {documents} --classifiers NB --share 0.2"
    " --reading notebook --limit 60 --metric cosine",
}


def plain(value: Any) -> Any:
    """Leave out of a report what is another every time."""
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items() if name not in TIMES}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return PATHS.sub("", value) if isinstance(value, str) else value


def cell(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return PATHS.sub("", text)


@pytest.mark.parametrize("form", ["json", "csv", "markdown"])
@pytest.mark.parametrize("report", REPORTS)
def test_reports_are_what_they_were(
    world: dict[str, Path],
    golden: Callable[[str, Any], None],
    capsys: pytest.CaptureFixture[str],
    report: str,
    form: str,
) -> None:
    arguments = [part.format(**world) for part in REPORTS[report].split()]
    assert main(["evaluate", *arguments, "--format", form, "--quiet"]) == 0
    out = capsys.readouterr().out
    found: Any
    if form == "json":
        found = plain(json.loads(out))
    elif form == "csv":
        rows = list(csv.reader(io.StringIO(out)))
        timed = [k for k, name in enumerate(rows[0]) if name in TIMES]
        found = [[cell(text) for k, text in enumerate(row) if k not in timed] for row in rows]
    else:  # its numbers are those of the other two, rounded
        found = [" ".join(NUMBERS.sub("#", PATHS.sub("", line)).split()) for line in out.splitlines()]
    golden(f"{report}, {form}", found)


def test_interpretability_is_what_it_was(
    world: dict[str, Path], golden: Callable[[str, Any], None], capsys: pytest.CaptureFixture[str]
) -> None:
    command = "interpretability {one} {two} {small} --index {index} --vocabulary 150 --words 30"
    arguments = [part.format(**world) for part in f"{command} --dimensions 12 --nmf 6 --themes 5".split()]
    assert main(["evaluate", *arguments, "--trained-on", str(world["index"]), "--json"]) == 0
    golden("interpretability", plain(json.loads(capsys.readouterr().out)))


def test_numbers_of_the_room(same_numbers: Callable[[str], None]) -> None:
    """Constants and defaults: whoever changes one keeps the new one too, and measures again what it gave."""
    same_numbers("evaluation")
