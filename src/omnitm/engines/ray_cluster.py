"""Work on words on a Ray cluster: a task is a path and some words, results come in bounded batches."""

from __future__ import annotations

import contextlib
import faulthandler
import math
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from numpy.typing import NDArray

from omnitm import __version__
from omnitm.corpus import DocumentIndex
from omnitm.engines import ray_leftovers
from omnitm.engines.job_queue import JobQueue, check_n_jobs, check_patience
from omnitm.engines.protocol import Report, WordEngine, WordJob, Work, Worker, Write
from omnitm.engines.shared_corpus import CorpusSource, MappedCorpus, SharedCorpus, local_copy, shared
from omnitm.errors import EngineError, FileError, needs_extra

_SECONDS_BETWEEN_REPORTS = 0.1
_SECONDS_BETWEEN_COUNTS = 5.0  # nodes come and go
_SECONDS_PER_BATCH = 1.5  # long against sending a task (some ms), short against losing one
_FIRST_BATCH = 8  # words; how long one takes is not known yet
_LARGEST_RESULT = 1 << 25  # bytes
_BATCHES_PER_CORE = 2  # one in training, one waiting beside it
_SECONDS_TO_CONNECT = 12.0  # from the beginning, with the time that it takes to import Ray
_HTTP2_BEGINS = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_HTTP2_SETTINGS = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])  # a frame without any
_CLIENT_PORT = 10001  # Ray's default for addresses that begin with ray://
_STANDARD_ERROR = 2
_LOCAL_TOKEN = secrets.token_hex(32)


class _NoAnswerError(EngineError):
    """Nothing came of an attempt to connect in time; the attempt goes on."""


class RayEngine(WordEngine):
    """Workers of a Ray cluster; what is done is recorded in the model's folder, not by Ray.

    Parameters
    ----------
    address
        "host:port" of a running cluster, or "auto" for the one that this machine belongs to;
        None: start one on this machine, and stop it at the end.
    n_jobs
        Cores of a cluster started here; None: all. A running cluster decides for itself.
    patience
        Seconds after which a worker that has not finished its batch counts as hung and ends itself;
        None: more than ten minutes.
    """

    def __init__(
        self, address: str | None = None, n_jobs: int | None = None, *, patience: float | None = None
    ) -> None:
        self.address, self.patience = address, check_patience(patience)
        self.n_jobs = None if n_jobs is None else check_n_jobs(n_jobs)

    @contextlib.contextmanager
    def connection(self) -> Iterator[None]:
        """Connect to a running cluster for the block, so that nothing is made for a model if that fails."""
        if self.address is None:
            yield
        else:
            with connected(self.address, self.n_jobs):
                yield

    def run(  # noqa: D102
        self, index: DocumentIndex, work: Work, jobs: Sequence[WordJob], write: Write, report: Report
    ) -> None:
        queue = JobQueue(jobs)
        with connected(self.address, self.n_jobs) as ray, shared(index, has_order=work.has_order) as corpus:
            task = BatchTask(corpus, work, __version__, self.patience)
            with _Dispatcher(ray, task, queue, work.result_bytes(index), write) as dispatcher:
                while not queue.is_complete:
                    dispatcher.submit()
                    dispatcher.collect(_SECONDS_BETWEEN_REPORTS)
                    report(queue.done, queue.news())
        report(queue.done, queue.news())


class _Dispatcher:
    """Keeps every core of the cluster busy, and no more results on their way than fit in memory."""

    def __init__(self, ray: Any, task: BatchTask, queue: JobQueue, result_bytes: int, write: Write) -> None:
        self._ray, self._queue, self._write, self._corpus = ray, queue, write, task.corpus
        self._task = ray.put(task)
        self._train = ray.remote(max_retries=0)(train_batch)  # the queue decides what is tried again
        self._source: Any = None
        self._flying: dict[Any, list[WordJob]] = {}
        self._again: deque[list[WordJob]] = deque()
        # Bounds the memory: at most batches per core x cores x this many bytes are on their way.
        self._largest_batch = max(1, _LARGEST_RESULT // result_bytes)
        self._seconds_per_word: float | None = None
        self._cores, self._counted = 1, -math.inf

    def __enter__(self) -> _Dispatcher:  # noqa: PYI034 - typing.Self came with Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        for reference in self._flying:
            with contextlib.suppress(self._ray.exceptions.RayError):
                self._ray.cancel(reference, force=True)
        if self._source is not None:
            self._ray.kill(self._source)

    def submit(self) -> None:
        """Hand out batches until every core has enough."""
        self._count_cores()
        while len(self._flying) < _BATCHES_PER_CORE * self._cores:
            jobs = self._again.popleft() if self._again else self._queue.take_batch(self._batch_size())
            if not jobs:
                return
            self._flying[self._train.remote(self._task, jobs, self._source)] = jobs

    def collect(self, timeout: float) -> None:
        """Write what is ready; what was lost is tried again."""
        ready, _ = self._ray.wait(
            list(self._flying), num_returns=len(self._flying), timeout=timeout, fetch_local=True
        )
        for reference in ready:
            jobs = self._flying.pop(reference)
            try:
                result = self._ray.get(reference)
            except self._ray.exceptions.RayError as error:
                self._recover(jobs, error)
            else:
                self._accept(jobs, result)

    def _batch_size(self) -> int:
        wanted = _FIRST_BATCH
        if self._seconds_per_word is not None:
            # As many words as take the wanted time at the last known rate.
            wanted = math.ceil(_SECONDS_PER_BATCH / max(self._seconds_per_word, 1e-6))
        share = math.ceil(self._queue.n_waiting / self._cores)  # at the end, every core gets some
        # Small enough for the end of the run, but not below a quarter, and never more than memory allows.
        return max(1, min(wanted, max(share, wanted // 4), self._largest_batch))

    def _accept(self, jobs: list[WordJob], result: BatchResult) -> None:
        for position, found in result.results.items():
            self._write(jobs[position].row, found)
            self._queue.finish()
        for position, problem in result.failures.items():
            self._queue.blame(jobs[position], problem)
        if result.results:
            self._seconds_per_word = result.seconds / len(result.results)

    def _recover(self, jobs: list[WordJob], error: Any) -> None:
        cause = getattr(error, "cause", None)
        if isinstance(cause, CorpusNotHere):
            self._start_source()
            self._again.append(jobs)
            return
        if isinstance(cause, (EngineError, ImportError)):
            raise EngineError(f"A worker of the cluster cannot train words: {cause}") from error
        problem = f"{type(cause or error).__name__}: {(str(cause or error).strip() or '?').splitlines()[0]}"
        if len(jobs) == 1:
            self._queue.blame(jobs[0], problem)
        else:  # one of them may be at fault: halves find out which
            self._queue.lose(jobs, problem)
            middle = len(jobs) // 2
            self._again.extend((jobs[:middle], jobs[middle:]))

    def _start_source(self) -> None:
        """Give the corpus away from this machine, to workers that don't see it."""
        if self._source is None:
            here = self._ray.get_runtime_context().get_node_id()
            place = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(here, soft=False)
            options = {"num_cpus": 0, "max_restarts": -1, "max_task_retries": -1}
            made = self._ray.remote(**options, scheduling_strategy=place)
            self._source = made(CorpusSource).remote(self._corpus)

    def _count_cores(self) -> None:
        if time.monotonic() - self._counted > _SECONDS_BETWEEN_COUNTS:
            self._cores = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
            self._counted = time.monotonic()


@contextlib.contextmanager
def connected(address: str | None, n_jobs: int | None) -> Iterator[Any]:
    """Yield the module `ray`, connected; a connection or cluster made here ends with the block."""
    deadline = time.monotonic() + _SECONDS_TO_CONNECT
    with contextlib.ExitStack() as stack:
        if address is None:
            stack.enter_context(_local_token())
        else:
            reach(address, deadline)
        ray = _imported()
        if ray.is_initialized():
            yield ray
            return
        stack.enter_context(_ordinary_sigterm())
        if address is None:
            folder = stack.enter_context(_watched_folder())
            stack.callback(ray.shutdown)
            where = {"address": "local", "num_cpus": n_jobs, "include_dashboard": False, "_temp_dir": folder}
            _init(ray, where | {"_node_ip_address": "127.0.0.1"})
        else:
            with _unheard_if_it_fails():
                within(deadline, address, lambda: _init(ray, {"address": address}))
            stack.callback(ray.shutdown)
        _interrupt_on_sigterm()
        yield ray


def reach(address: str | None, deadline: float | None = None) -> None:
    """Refuse an address where nothing listens, or something that is not Ray."""
    if address is not None and address != "auto":
        until = time.monotonic() + _SECONDS_TO_CONNECT if deadline is None else deadline
        within(until, address, lambda: _greet(address))


def _greet(address: str) -> None:
    """Send how HTTP/2, which Ray speaks, begins; a server answers with its settings (RFC 9113, 3.4)."""
    with socket.create_connection(_host_and_port(address)) as connection:
        if os.environ.get("RAY_USE_TLS", "0") != "0":
            return  # only Ray knows how to speak to it
        connection.sendall(_HTTP2_BEGINS + _HTTP2_SETTINGS)
        answer = b""
        while len(answer) < len(_HTTP2_SETTINGS) and (part := connection.recv(len(_HTTP2_SETTINGS))):
            answer += part
    # A frame: three bytes of length, then its kind, flags and stream; of settings only the length varies.
    if answer[3:9] != _HTTP2_SETTINGS[3:]:
        said = f"with {answer!r}" if answer else "by hanging up"
        problem = f"what listens there is not Ray: it answers {said}"
        raise _no_connection(address, problem, "give the address that the head of the cluster has shown")


def within(deadline: float, address: str, connect: Callable[[], None]) -> None:
    """Connect in a thread, which is left alone if it has not finished in time."""
    problems: list[BaseException] = []

    def attempt() -> None:
        try:
            connect()
        except (OSError, EngineError) as error:
            problems.append(error)

    thread = threading.Thread(target=attempt, name="omnitm-connect", daemon=True)
    thread.start()
    thread.join(max(0.0, deadline - time.monotonic()))
    if thread.is_alive():
        raise _NoAnswerError(str(_no_connection(address, f"no answer in {_SECONDS_TO_CONNECT:.0f} seconds")))
    if problems and isinstance(problems[0], EngineError):
        raise problems[0]
    if problems:
        raise _no_connection(address, str(problems[0]))


def _host_and_port(address: str) -> tuple[str, int]:
    """Take an address apart: "host:port", "[::1]:port", "ray://host:port"."""
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        port = parts.port or (_CLIENT_PORT if parts.scheme == "ray" else None)
    except ValueError:
        parts, port = urlsplit(""), None
    if not parts.hostname or port is None:
        raise _no_connection(address, "not an address such as HOST:6379")
    return parts.hostname, port


def _no_connection(
    address: str, problem: str, advice: str = "is it running, and do RAY_AUTH_MODE and RAY_AUTH_TOKEN fit?"
) -> EngineError:
    return EngineError(f"Ray: no connection to {address} ({problem}); {advice}")


def _init(ray: Any, where: dict[str, Any]) -> None:
    try:
        ray.init(**where, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        problem = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise _no_connection(where["address"], problem) from error


@contextlib.contextmanager
def _unheard_if_it_fails() -> Iterator[None]:
    """Keep what Ray writes to standard error until the block has succeeded; else our own line says it."""
    sys.stderr.flush()
    before = os.dup(_STANDARD_ERROR)
    with tempfile.TemporaryFile() as kept:
        os.dup2(kept.fileno(), _STANDARD_ERROR)
        is_over = True
        try:
            yield
            kept.seek(0)
            os.write(before, kept.read())
        except _NoAnswerError:
            is_over = False
            raise
        finally:
            if is_over:
                os.dup2(before, _STANDARD_ERROR)
            else:
                _leave_standard_error(before)
            os.close(before)


def _leave_standard_error(before: int) -> None:
    """Let only Python write to it: Ray goes on trying, and speaking, until this process ends."""
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), _STANDARD_ERROR)
    with contextlib.suppress(OSError, ValueError):  # what has no file of its own is no concern of Ray's
        if sys.stderr.fileno() == _STANDARD_ERROR:
            sys.stderr = os.fdopen(
                os.dup(before), "w", encoding=sys.stderr.encoding, errors="backslashreplace"
            )


@contextlib.contextmanager
def _watched_folder() -> Iterator[str]:
    """Make the folder of a cluster; a watcher ends and removes what is there when this process has ended."""
    folder = ray_leftovers.new_folder()
    command = [sys.executable, "-I", "-S", ray_leftovers.__file__, folder]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as watcher:  # noqa: S603 - ours
        try:
            yield folder
        finally:
            assert watcher.stdin is not None  # noqa: S101 - a pipe was asked for
            watcher.stdin.close()
            watcher.wait()


@contextlib.contextmanager
def _ordinary_sigterm() -> Iterator[None]:
    """Put back what SIGTERM does: Ray's own handler writes a stack trace."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt_on_sigterm() -> None:
    """Let SIGTERM do what Ctrl-C does: finished words are kept, and the last line says how to go on."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, interrupt)


def _imported() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere
    with needs_extra("The engine 'ray'", "ray"):
        import ray
        import ray.util.scheduling_strategies
    return ray


@contextlib.contextmanager
def _local_token() -> Iterator[None]:
    """Protect a cluster that is started here from other users of the machine, unless it is already."""
    if "RAY_AUTH_MODE" in os.environ or "ray" in sys.modules:  # Ray reads it when it is imported
        yield
        return
    added = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": _LOCAL_TOKEN}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


class BatchTask(NamedTuple):
    """All that a worker needs to know, beside the words."""

    corpus: SharedCorpus
    work: Work
    version: str
    patience: float | None = None


class BatchResult(NamedTuple):
    """What became of a batch."""

    results: dict[int, NDArray[Any]]
    """By position in the batch: what came of the words that are done."""
    failures: dict[int, str]
    """Positions of the others, with what happened."""
    seconds: float
    """How long all of them took."""


class CorpusNotHere(Exception):  # noqa: N818 - a question to the driver, not an error of the user
    """The machine of this worker does not see the corpus and has no copy; call again with a source."""


def train_batch(task: BatchTask, jobs: Sequence[WordJob], source: Any = None) -> BatchResult:
    """Work on words; runs in a worker process of the cluster."""
    if task.version != __version__:
        versions = f"{__version__} on a worker, {task.version} where training was started"
        raise EngineError(f"Versions of omnitm differ: {versions}; install the same everywhere.")
    worker = _worker(task, source)
    started = time.monotonic()
    results: dict[int, NDArray[Any]] = {}
    failures: dict[int, str] = {}
    with _watchdog(task, len(jobs)):
        for position, job in enumerate(jobs):
            try:
                result = worker.result(job)
            except (MemoryError, ValueError, RuntimeError) as error:  # noqa: PERF203 - of one word only
                failures[position] = f"{type(error).__name__}: {error}"
                _workers.clear()  # it may be half-done
                worker = _worker(task, source)
            else:
                assert result is not None  # noqa: S101 - nobody stops it
                # The worker's memory is used again for the next word.
                results[position] = result.copy()
    return BatchResult(results, failures, time.monotonic() - started)


@contextlib.contextmanager
def _watchdog(task: BatchTask, n_words: int) -> Iterator[None]:
    """End this process if the block hangs, even in native code: to the driver, a worker that died."""
    seconds = task.work.seconds_allowed(n_words) if task.patience is None else task.patience
    faulthandler.dump_traceback_later(seconds, exit=True, file=_STANDARD_ERROR)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


_workers: dict[BatchTask, Worker] = {}


def _worker(task: BatchTask, source: Any) -> Worker:
    """Return the worker of this process, which serves batch after batch."""
    if task not in _workers:
        _workers.clear()
        _workers[task] = task.work.worker(_corpus(task.corpus, source))
    return _workers[task]


def _corpus(corpus: SharedCorpus, source: Any) -> MappedCorpus:
    try:
        return MappedCorpus.open(corpus)
    except FileError:
        found = local_copy(corpus, None if source is None else _reader(source))
    if found is None:
        raise CorpusNotHere
    return found


def _reader(source: Any) -> Any:
    import ray

    return lambda name, offset, size: ray.get(source.read.remote(name, offset, size))
