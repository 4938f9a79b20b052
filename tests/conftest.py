"""Corpora that tests share, all generated."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import os
import pkgutil
import signal
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from scipy.sparse import csr_matrix

from omnitm.corpus import DocumentIndex, build_index
from omnitm.engines import Engine, ThreadsEngine
from omnitm.explain import Explainer
from omnitm.explain.records import Record
from omnitm.machine import AutoencoderSettings
from omnitm.training import train_model, train_vectors

# A shell that starts the tests in the background has them ignore Ctrl-C, and so would all that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A test counts work and does not measure time: on a busy machine anything may take long. Examples are the
# same in every run, but for the long tests, which look for new ones.
for name, is_same in (("same", True), ("torture", False)):
    hypothesis_settings.register_profile(
        name, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=is_same
    )
hypothesis_settings.load_profile("same")

# Ray's workers step back for all other work, so that on a busy machine they would hardly ever run.
os.environ.setdefault("RAY_worker_niceness", "0")

MakeIndex = Callable[..., DocumentIndex]
OUTCOMES: dict[str, tuple[str, str]] = {}
"""What became of each test that has run, and why if it was skipped."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--results", metavar="FILE", help="keep what becomes of each test in this file, as JSON")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("-m") == "torture":
        hypothesis_settings.load_profile("torture")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The page of promises comes last: it looks at what the others have found."""
    items.sort(key=lambda item: item.path.name == "test_reliability_page.py")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.outcome != "passed" or report.when == "call":
        OUTCOMES[report.nodeid] = report.outcome, str(report.longrepr or "")


def pytest_sessionfinish(session: pytest.Session) -> None:
    if place := session.config.getoption("--results"):
        kept = json.loads(Path(place).read_text()) if Path(place).exists() else {}
        kept.update({test: outcome for test, (outcome, _) in OUTCOMES.items()})
        Path(place).write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n")


def are_numbers(value: Any) -> bool:
    """Whether a value is a number, or some numbers."""
    several = isinstance(value, tuple | list | np.ndarray) and len(value) > 0
    return all(map(are_numbers, value)) if several else isinstance(value, int | float | np.number)


def numbers_of(room: str) -> dict[str, list[Any]]:
    """List the numbers of a room that have names: its constants, and the defaults of parameters.

    A name has the numbers of all files, so that files can be divided and merged.
    """
    package, found = importlib.import_module(f"omnitm.{room}"), defaultdict[str, list[Any]](list)
    for file in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{file.name}")
        in_file = {node.id for node in ast.walk(ast.parse(inspect.getsource(module)))
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}  # fmt: skip
        for name, value in vars(module).items():
            if name.isupper() and name in in_file and are_numbers(value):
                found[name].append(plain(value))
            if getattr(value, "__module__", "") != module.__name__:
                continue
            inside = vars(value) if inspect.isclass(value) else {"": value}
            for method, function in inside.items():
                bare = getattr(function, "__func__", function)
                given = inspect.signature(bare).parameters if inspect.isfunction(bare) else {}
                for parameter, default in given.items():
                    if are_numbers(default.default):
                        found[".".join(filter(None, [name, method, parameter]))].append(default.default)
    return {name: sorted(json.loads(json.dumps(values)), key=str) for name, values in sorted(found.items())}


@pytest.fixture
def same_numbers(golden: Callable[..., None]) -> Callable[[str], None]:
    """Compare constants and defaults of a room with those that were kept; new ones may come, old ones go."""

    def check(room: str) -> None:
        golden("numbers of the room", numbers_of(room), only_common=True)

    return check


@pytest.fixture
def random_index() -> MakeIndex:
    """Make an index of random documents; words differ in frequency."""

    def make(n_documents: int, n_words: int, density: float = 0.2, seed: int = 0) -> DocumentIndex:
        rng = np.random.default_rng(seed)
        frequency = density * 2 * rng.random(n_words)
        presence = rng.random((n_documents, n_words)) < frequency
        return DocumentIndex.from_csr(csr_matrix(presence), [f"w{k}" for k in range(n_words)])

    return make


def checkerboard(n_topics: int = 2, words_per_topic: int = 6, documents_per_topic: int = 60) -> DocumentIndex:
    """Topics with disjoint words; a document has half of its topic's words."""
    random = np.random.default_rng(7)
    n_documents = n_topics * documents_per_topic
    matrix = np.zeros((n_documents, n_topics * words_per_topic), dtype=np.int8)
    for document in range(n_documents):
        topic = document % n_topics
        drawn = random.choice(words_per_topic, size=words_per_topic // 2, replace=False)
        matrix[document, topic * words_per_topic + drawn] = 1
    vocabulary = [f"{'abcdefgh'[k // words_per_topic]}{k % words_per_topic}" for k in range(matrix.shape[1])]
    return DocumentIndex.from_csr(csr_matrix(matrix), vocabulary)


@pytest.fixture(scope="session")
def stop_after() -> Callable[[int], Engine]:
    """An engine that writes so many rows, then behaves as if the user had pressed Ctrl-C."""

    class StopAfter:
        def __init__(self, n_rows: int) -> None:
            self.n_rows = n_rows

        def train(self, index: Any, settings: Any, jobs: Any, write: Any, report: Any) -> None:
            ThreadsEngine(1).train(index, settings, jobs[: self.n_rows], write, report)
            raise KeyboardInterrupt

    return StopAfter


@pytest.fixture(scope="session")
def board() -> DocumentIndex:
    return checkerboard()


@pytest.fixture(scope="session")
def topics(tmp_path_factory: pytest.TempPathFactory) -> DocumentIndex:
    """Index a small text, with its file, so that models of neighbours can read it; a line has one topic."""
    folder, random = tmp_path_factory.mktemp("topics"), np.random.default_rng(3)
    words = (["road", "car", "wheel", "driver", "engine"], ["sea", "ship", "sail", "captain", "wave"])
    lines = [" ".join(random.choice(words[line % 2], 8)) for line in range(300)]
    (folder / "text.txt").write_text("\n".join(lines) + "\n")
    return DocumentIndex.open(build_index(folder / "text.txt", folder / "index"))


@pytest.fixture(scope="session")
def joining() -> DocumentIndex:
    """Sixty families of five words, which begin alike; *and* joins words of one family, in both orders."""
    random = np.random.default_rng(5)
    families = [first + second for first in "bdfgkl" for second in "aeiouyhjmn"]
    endings = ["par", "tel", "mis", "nok", "suv"]
    texts = []
    for family in families * 50:
        one, other = random.choice(endings, 2, replace=False)
        texts.append(f"the {family}{one} and {family}{other} of {family}town")
    return DocumentIndex.from_documents(texts)


@pytest.fixture(scope="session")
def explainer(board: DocumentIndex) -> Explainer:
    """Explain a model of two topics: "a0" to "a5" never occur with "b0" to "b5"."""
    settings = AutoencoderSettings(n_clauses=16, n_examples=300, accumulation=1)
    return Explainer(train_vectors(board, ["a0", "a1", "b0"], settings=settings, seed=4), board)


@pytest.fixture(scope="session")
def told(tmp_path_factory: pytest.TempPathFactory) -> Explainer:
    """Five topics of 24 words, some of them frequent; "bank" belongs to two, "banks" is a form of it."""
    folder, random = tmp_path_factory.mktemp("golden"), np.random.default_rng(11)
    letters = "aeioubdgkl"
    settings = AutoencoderSettings(n_clauses=10, n_examples=120, accumulation=3, contexts="both")
    topics = [[f"{first}{a}{b}er" for a in letters[:6] for b in letters[6:]] for first in "mnprt"]
    shares = 1 / np.arange(1.5, 25.5)
    lines = []
    for number in range(900):
        topic = number % 5
        words = random.choice(topics[topic], size=6, replace=False, p=shares / shares.sum()).tolist()
        if topic < 2 and random.random() < 0.5:
            words.insert(int(random.integers(6)), "banks" if random.random() < 0.3 else "bank")
        lines.append(" ".join(words))
    (folder / "text.txt").write_text("\n".join(lines) + "\n")
    index = DocumentIndex.open(build_index(folder / "text.txt", folder / "index"))
    words = [word for word in index.vocabulary if word != topics[4][3]]
    train_model(index, folder / "model", words, settings=settings)
    return Explainer.open(folder / "model", folder / "index")


@pytest.fixture(scope="session")
def uneven(tmp_path_factory: pytest.TempPathFactory) -> Explainer:
    """A text in which little is regular: topics of unequal size that share words, endings, function words.

    "bass" belongs to three topics, "cold" excludes "hot", one word is in almost every document, some
    documents have one word, and a third of the vocabulary is not trained.
    """
    folder, random = tmp_path_factory.mktemp("uneven"), np.random.default_rng(23)
    stems = [f"{a}{b}{c}" for a in "bdfglmst" for b in "aeiou" for c in ("rn", "lk", "nd", "st")]
    lines = []
    for number in range(700):
        topic = int(random.choice(5, p=[0.35, 0.25, 0.2, 0.15, 0.05]))
        drawn = topic * 26 + (random.zipf(1.4, int(random.integers(1, 11))) - 1) % 44
        words = [stems[k] + random.choice(["", "s", "ed"], p=[0.7, 0.2, 0.1]) for k in drawn.tolist()]
        if topic < 3 and random.random() < 0.3:
            words.insert(int(random.integers(len(words) + 1)), "bass")
        words += ["common"] * int(random.random() < 0.9) + [["hot", "cold"][number % 2]] * int(topic == 1)
        joints = random.choice(["the ", "of ", "and the ", ""], len(words)).tolist()
        lines.append(" ".join(joint + word for joint, word in zip(joints, words, strict=True)))
    (folder / "text.txt").write_text("\n".join(lines) + "\n")
    index = DocumentIndex.open(build_index(folder / "text.txt", folder / "index"))
    words = [word for k, word in enumerate(index.vocabulary) if k % 3 or word in {"bass", "cold", "common"}]
    settings = AutoencoderSettings(n_clauses=12, n_examples=150, accumulation=5, contexts="both")
    train_model(index, folder / "model", words, settings=settings, seed=2)
    return Explainer.open(folder / "model", folder / "index")


def plain(value: Any) -> Any:
    """Turn a result into what JSON has."""
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def rounded(value: Any) -> Any:
    """Round all numbers that are not whole: sums in another order differ in their last digits."""
    if isinstance(value, dict):
        return {name: rounded(item) for name, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def assert_same(found: Any, expected: Any, place: str) -> None:
    if isinstance(expected, dict):
        assert list(found) == list(expected), place
        for name, item in expected.items():
            assert_same(found[name], item, f"{place} / {name}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), place
        for number, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_same(one, other, f"{place} / {number}")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-3, abs=1e-6), place
    else:
        assert found == expected, place


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Compare an answer with the one in `golden.json` beside the test; OMNITM_GOLDEN=write keeps it there."""

    def check(question: str, answer: Any, *, only_common: bool = False) -> None:
        file = request.path.with_name("golden.json")
        kept = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        found = rounded(json.loads(json.dumps(plain(answer))))
        if os.environ.get("OMNITM_GOLDEN") == "write":
            kept[question] = found
            lines = (f"{json.dumps(name)}: {json.dumps(item)}" for name, item in kept.items())
            file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        expected = kept[question]
        if only_common:
            found, expected = ({name: one[name] for name in one if name in other}
                for one, other in ((found, expected), (expected, found)))  # fmt: skip
            assert found == expected  # as they are written
        assert_same(found, expected, question)

    return check
