"""A small model with its index, the application on it, and a real server."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
import uvicorn
from starlette.testclient import TestClient

from omnitm.cli import main
from omnitm.corpus import DocumentIndex, Preparation, build_index
from omnitm.corpus.groups import Grouping, keep_grouping
from omnitm.explain import Explainer
from omnitm.explorer import ExplorerSettings, create_app
from omnitm.explorer.app import address, listen
from omnitm.machine import AutoencoderSettings
from omnitm.training.vocabulary import train_model

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MARKUP = "<img/src=x/onerror=alert()>"  # a word of an index that keeps punctuation
TOPICS = {
    "land": ["road", "car", "wheel", "driver", "engine", "street", "vehicle", "traffic"],
    "sea": ["ship", "sailor", "harbour", "wave", "wind", "anchor", "captain", "deck"],
    "home": ["kitchen", "table", "chair", "window", "garden", "door", "lamp", MARKUP],
}
SETTINGS = AutoencoderSettings(n_clauses=16, n_examples=200, accumulation=2)


def write_text(path: Path) -> Path:
    random = np.random.default_rng(3)
    lines = []
    for number in range(240):
        words = list(TOPICS.values())[number % 3]
        drawn = random.choice(words, size=4, replace=False).tolist()
        lines.append(f"The {drawn[0].capitalize()} {drawn[1]} and {drawn[2]} {drawn[3]}")
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of all words but `deck`, with its index in place."""
    root = tmp_path_factory.mktemp("explored")
    rules = Preparation(punctuation="keep")
    index = DocumentIndex.open(build_index(write_text(root / "text.txt"), root / "index", preparation=rules))
    words = [word for word in index.vocabulary if word != "deck"]
    train_model(index, root / "model", words, settings=SETTINGS)
    return root / "model"


@pytest.fixture(scope="session")
def explainer(folder: Path) -> Explainer:
    return Explainer.open(folder)


@pytest.fixture(scope="session")
def client(explainer: Explainer) -> Iterator[TestClient]:
    with TestClient(create_app(explainer), base_url="http://127.0.0.1:8765") as found:
        yield found


@pytest.fixture(scope="session")
def long_documents(tmp_path_factory: pytest.TempPathFactory) -> Explainer:
    """A model that has learned from passages: documents are about everything, one subject after another."""
    root, random = tmp_path_factory.mktemp("long"), np.random.default_rng(5)
    lines = [
        ". ".join(" ".join(random.choice(words[:6], 11)) for words in TOPICS.values() for _ in range(2))
        for _ in range(40)
    ]
    (root / "text.txt").write_text("\n".join(lines), encoding="utf-8")
    index = DocumentIndex.open(build_index(root / "text.txt", root / "index"))
    train_model(index, root / "model", settings=replace(SETTINGS, passage_reach=5))
    return Explainer.open(root / "model")


@pytest.fixture
def lonely(folder: Path) -> TestClient:
    """A model whose index is not there."""
    explainer = Explainer(Explainer.open(folder).vectors)
    return TestClient(create_app(explainer), base_url="http://127.0.0.1:8765")


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model of `omnitm demo`."""
    folder = tmp_path_factory.mktemp("tour") / "demo"
    assert main(["demo", "-o", str(folder), "--threads", "1"]) == 0
    return folder / "model"


class RunningServer:
    """The application behind a real port, in a thread."""

    def __init__(self, explainer: Explainer, settings: ExplorerSettings, groups: str = "") -> None:
        self._listener = listen(settings)
        self.address = address(self._listener)
        self.port = self._listener.getsockname()[1]
        self.app = create_app(explainer, settings, groups=groups)
        self._server = uvicorn.Server(uvicorn.Config(self.app, log_level="critical", ws="none"))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._listener]})

    def __enter__(self) -> RunningServer:  # noqa: PYI034 - typing.Self came with Python 3.11
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive()
            time.sleep(0.01)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(120)
        self.app.state.maps.stop()
        self.app.state.answers.stop()
        self._listener.close()


@pytest.fixture(scope="session")
def server(explainer: Explainer) -> Iterator[RunningServer]:
    with RunningServer(explainer, ExplorerSettings(port=0)) as running:
        yield running


WATER, MONEY = ("river", "water", "shore", "flood"), ("loan", "money", "credit", "debt")
OTHERS = ("tree", "leaf", "sky")


@pytest.fixture(scope="session")
def grouped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model where `bank` goes from water in 1990 to money in 2010, and `stone` stays as it is."""
    root, random = tmp_path_factory.mktemp("grouped"), np.random.default_rng(2)
    with_bank = {"1990": WATER, "2000": (*WATER, *MONEY), "2010": MONEY}
    years = list(with_bank) * 160
    lines = []
    for k, year in enumerate(years):
        word, topic = ("Bank", with_bank[year]) if k < 240 else ("stone", (*WATER, *MONEY, *OTHERS))
        lines.append(" ".join([*random.choice(topic, 2), word, random.choice(OTHERS)]))
    (root / "text.txt").write_text("\n".join(lines), encoding="utf-8")
    index = DocumentIndex.open(build_index(root / "text.txt", root / "index"))
    keep_grouping(root / "index", Grouping.of(years, "year"))
    kinds = ["a, b" if k % 2 else ("über" if k % 3 else "c") for k in range(len(years))]
    keep_grouping(root / "index", Grouping.of(kinds, "kind"))
    train_model(index, root / "model", ["bank", "stone", "river", "money"], settings=SETTINGS)
    return root / "model"
