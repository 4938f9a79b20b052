"""What the engine 'ray' does with batches that come back, fail or vanish; a pretended Ray runs them here."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm.engines import make_engine, protocol, ray_cluster
from omnitm.engines.job_queue import JobQueue
from omnitm.engines.protocol import WordJob, WordTraining
from omnitm.engines.ray_cluster import BatchTask, CorpusNotHere, RayEngine, train_batch
from omnitm.engines.shared_corpus import SharedCorpus, shared
from omnitm.errors import EngineError, MissingExtraError, OmniTMWarning, ParameterError
from omnitm.machine import AutoencoderSettings, WordTrainer
from omnitm.training import train_vectors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from omnitm.corpus import DocumentIndex
    from omnitm.training.progress import Progress

SETTINGS = AutoencoderSettings(n_clauses=6, n_examples=40, accumulation=2)


class RayError(Exception):
    """Something that Ray raises instead of a result."""

    def __init__(self, text: str = "", cause: Exception | None = None) -> None:
        super().__init__(text)
        self.cause = cause


class PretendedRay:
    """Runs every batch when it is asked for; `mishap` may raise first."""

    def __init__(self, mishap: Callable[[list[WordJob], Any], None] = lambda *_: None) -> None:
        self.mishap = mishap
        self.exceptions = SimpleNamespace(RayError=RayError)
        self.batches: list[list[WordJob]] = []
        self.most_flying = 0
        self.util = SimpleNamespace(
            scheduling_strategies=SimpleNamespace(NodeAffinitySchedulingStrategy=lambda *_, **__: None)
        )

    def is_initialized(self) -> bool:
        return True

    def put(self, value: Any) -> Any:
        return value

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2.0}

    def get_runtime_context(self) -> Any:
        return SimpleNamespace(get_node_id=lambda: "here")

    def remote(self, **_: Any) -> Any:
        def decorate(target: Any) -> Any:
            def call(*arguments: Any) -> Any:
                return _Later(target, arguments)

            return SimpleNamespace(remote=call)

        return decorate

    def wait(self, references: list[Any], **_: Any) -> tuple[list[Any], list[Any]]:
        self.most_flying = max(self.most_flying, len(references))
        return references[:1], references[1:]

    def get(self, later: _Later) -> Any:
        task, jobs, source = later.arguments
        self.batches.append(jobs)
        self.mishap(jobs, source)
        return later.target(task, jobs, None)

    def cancel(self, *_: Any, **__: Any) -> None:
        pass

    def kill(self, *_: Any) -> None:
        pass


class _Later:
    def __init__(self, target: Any, arguments: Any) -> None:
        self.target, self.arguments = target, arguments


def pretend(monkeypatch: pytest.MonkeyPatch, ray: PretendedRay) -> None:
    monkeypatch.setattr(ray_cluster, "_imported", lambda: ray)


def test_batches_are_bounded_and_give_the_same_bits(
    board: DocumentIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(monkeypatch, ray := PretendedRay())
    monkeypatch.setattr(ray_cluster, "_LARGEST_RESULT", 5 * 2 * board.n_words)
    vectors = train_vectors(board, settings=SETTINGS, engine=RayEngine())
    assert np.array_equal(vectors.matrix, train_vectors(board, settings=SETTINGS).matrix)
    assert max(map(len, ray.batches)) <= 5
    assert ray.most_flying <= 4


def test_a_batch_takes_more_than_a_second(monkeypatch: pytest.MonkeyPatch, board: DocumentIndex) -> None:
    job_queue = JobQueue([WordJob(row, 0, 0) for row in range(10_000)])
    task = BatchTask(SharedCorpus("", ""), WordTraining(SETTINGS), "")
    dispatcher = ray_cluster._Dispatcher(PretendedRay(), task, job_queue, 2 * board.n_words, lambda *_: None)
    assert dispatcher._batch_size() == 8
    dispatcher._seconds_per_word = 0.01
    assert dispatcher._batch_size() == 150
    dispatcher._seconds_per_word = 10.0
    assert dispatcher._batch_size() == 1
    monkeypatch.undo()


def test_a_batch_lost_with_its_worker_is_tried_again_in_halves(
    board: DocumentIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost: list[int] = []

    def mishap(jobs: list[WordJob], _: Any) -> None:
        if not lost:
            lost.append(len(jobs))
            raise RayError("the node is gone\nand much more")

    pretend(monkeypatch, ray := PretendedRay(mishap))
    seen: list[Progress] = []
    vectors = train_vectors(board, settings=SETTINGS, engine=RayEngine(), progress=seen.append)
    assert np.array_equal(vectors.matrix, train_vectors(board, settings=SETTINGS).matrix)
    assert seen[-1].failures == 1
    (failure,) = [failure for state in seen for failure in state.new_failures]
    assert failure.problem == "RayError: the node is gone"
    assert len(failure.words) == lost[0] == 6
    assert [len(batch) for batch in ray.batches if batch[0] in ray.batches[0]] == [6, 3, 3]


def test_the_one_word_that_kills_workers_is_found_and_set_aside(
    board: DocumentIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mishap(jobs: list[WordJob], _: Any) -> None:
        if any(job.target == 3 for job in jobs):
            raise RayError("worker died")

    pretend(monkeypatch, ray := PretendedRay(mishap))
    with pytest.warns(OmniTMWarning, match=r"'a3' failed again and again .* RayError: worker died"):
        vectors = train_vectors(board, settings=SETTINGS, engine=RayEngine())
    assert len(vectors) == 11
    assert sum(len(batch) == 1 and batch[0].target == 3 for batch in ray.batches) == 3


def test_a_word_that_raises_harms_no_other(board: DocumentIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    class Bad(WordTrainer):
        def train(self, target: int, key: int) -> bool:
            if target == 3:
                raise MemoryError("too much")
            return super().train(target, key)

    monkeypatch.setattr(protocol, "WordTrainer", Bad)
    monkeypatch.setattr(ray_cluster, "_workers", {})
    pretend(monkeypatch, PretendedRay())
    with pytest.warns(OmniTMWarning, match="MemoryError: too much"):
        vectors = train_vectors(board, settings=SETTINGS, engine=RayEngine())
    expected = train_vectors(board, vectors.index_to_key, settings=SETTINGS)
    assert np.array_equal(vectors.matrix, expected.matrix)


def test_a_worker_that_does_not_see_the_corpus_gets_a_source(
    board: DocumentIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources: list[Any] = []

    def mishap(_: list[WordJob], source: Any) -> None:
        sources.append(source)
        if source is None:
            raise RayError(cause=CorpusNotHere())

    pretend(monkeypatch, PretendedRay(mishap))
    seen: list[Progress] = []
    train_vectors(board, settings=SETTINGS, engine=RayEngine(), progress=seen.append)
    assert sources[0] is None
    assert len({source for source in sources if source is not None}) == 1
    assert seen[-1].failures == 0


@pytest.mark.parametrize(
    ("cause", "message"),
    [
        (ModuleNotFoundError("No module named 'omnitm'"), "cannot train words: No module named 'omnitm'"),
        (EngineError("Versions of omnitm differ"), "cannot train words: Versions of omnitm differ"),
    ],
)
def test_workers_that_can_never_work(
    board: DocumentIndex, monkeypatch: pytest.MonkeyPatch, cause: Exception, message: str
) -> None:
    def mishap(*_: Any) -> None:
        raise RayError("traceback", cause)

    pretend(monkeypatch, PretendedRay(mishap))
    with pytest.raises(EngineError, match=message):
        train_vectors(board, settings=SETTINGS, engine=RayEngine())


def test_versions_must_be_the_same(board: DocumentIndex) -> None:
    with shared(board) as corpus:
        task = BatchTask(corpus, WordTraining(SETTINGS), "0.0.1")
        with pytest.raises(EngineError, match=r"0.0.1 where training was started; install the same"):
            train_batch(task, [])


def test_a_corpus_that_is_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMNITM_CACHE", str(tmp_path))
    import omnitm

    task = BatchTask(SharedCorpus(str(tmp_path / "no"), "0" * 64), WordTraining(SETTINGS), omnitm.__version__)
    with pytest.raises(CorpusNotHere):
        train_batch(task, [])


def test_no_cluster_at_an_address(board: DocumentIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    ray = PretendedRay()
    monkeypatch.setattr(ray, "is_initialized", lambda: False)

    def init(**where: Any) -> None:
        raise ConnectionError(f"nobody at {where['address']}\nand much more")

    monkeypatch.setattr(ray, "init", init, raising=False)
    monkeypatch.setattr(ray_cluster, "_greet", lambda _: None)
    pretend(monkeypatch, ray)
    message = r"no connection to 10.0.0.1:1 \(nobody at 10.0.0.1:1\); is it running, and do RAY_AUTH_MODE"
    with pytest.raises(EngineError, match=message):
        train_vectors(board, settings=SETTINGS, engine=RayEngine("10.0.0.1:1"))


def test_without_ray_the_extra_is_named(board: DocumentIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"The engine 'ray' needs .* pip install 'omnitm\[ray\]'"):
        train_vectors(board, settings=SETTINGS, engine=make_engine("ray"))


def test_an_address_is_for_ray_alone() -> None:
    with pytest.raises(ParameterError, match="An address is for the engine 'ray', not for 'threads'"):
        make_engine("threads", address="127.0.0.1:6399")


def test_a_thread_has_no_patience() -> None:
    with pytest.raises(ParameterError, match="A thread that hangs cannot be replaced; leave out 'patience'"):
        make_engine("threads", patience=60)


HANGING = """
import sys, time
import omnitm
from omnitm.engines import protocol, ray_cluster
from omnitm.engines.protocol import WordJob
from omnitm.engines.shared_corpus import SharedCorpus
from omnitm.machine import AutoencoderSettings

class Hanging(protocol.WordTrainer):
    def train(self, target, key):
        time.sleep(3600)

protocol.WordTrainer = Hanging
training = protocol.WordTraining(AutoencoderSettings())
task = ray_cluster.BatchTask(SharedCorpus(*sys.argv[1:3]), training, omnitm.__version__, 0.2)
ray_cluster.train_batch(task, [WordJob(0, 0, 0)])
"""


def test_a_batch_that_hangs_ends_its_process(board: DocumentIndex) -> None:
    with shared(board) as corpus:
        command = [sys.executable, "-c", HANGING, corpus.path, corpus.seal]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert ended.returncode == 1
    assert "Timeout (0:00:00.2" in ended.stderr
