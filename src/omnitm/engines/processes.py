"""Work on words in processes of this machine: one that dies is replaced, and its words are tried again.

`serve` is the inside of such a process: words come in, results go out; it ends when its supervisor does.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path

import numpy as np

from omnitm.corpus import DocumentIndex
from omnitm.engines.job_queue import HangTimeout, JobQueue, Silence, check_n_jobs, check_patience
from omnitm.engines.protocol import Report, WordEngine, WordJob, Work, Write
from omnitm.engines.shared_corpus import MappedCorpus, SharedCorpus, shared, store_file, temporary_folder
from omnitm.errors import EngineError
from omnitm.files import system

# A plain interpreter, not multiprocessing.Process: that would run the caller's script a second time.
BOOT = "import sys; from omnitm.engines.processes import serve; serve(int(sys.argv[1]))"
_SECONDS_BETWEEN_REPORTS = 0.1
_SECONDS_TO_START = 600.0  # imports from a slow network disk take minutes
_SECONDS_TO_END = 5.0
_WORDS_AHEAD = 2  # one in training, one waiting beside it
_VAIN_STARTS = 3  # in a row; then the fault is not in a word


class ProcessesEngine(WordEngine):
    """A supervised pool of worker processes that share the index through the memory map.

    A worker that is killed, runs out of memory, crashes or hangs is replaced; the word that it was training
    counts as failed, is tried again later, and is set aside after three failures.

    Parameters
    ----------
    n_jobs
        Number of processes; None: one per core that this process may use.
    patience
        Seconds without a finished word after which a worker counts as hung; None: sixty times the
        longest word, and more than ten minutes.
    """

    def __init__(self, n_jobs: int | None = None, *, patience: float | None = None) -> None:
        self.patience = check_patience(patience)
        self.n_jobs = check_n_jobs(n_jobs)

    def run(  # noqa: D102
        self, index: DocumentIndex, work: Work, jobs: Sequence[WordJob], write: Write, report: Report
    ) -> None:
        if not system.HAS_WORKERS:
            raise EngineError("The engine 'processes' needs Linux or macOS; use the engine 'threads' here.")
        job_queue = JobQueue(jobs)
        patience = HangTimeout(work.seconds_allowed(), self.patience)
        with (
            shared(index, has_order=work.has_order) as corpus,
            _saved(work) as file,
            _Pool(corpus, file, work.dtype, write, patience) as pool,
        ):
            pool.grow(min(self.n_jobs, len(jobs)))
            reported = time.monotonic()
            while not job_queue.is_complete:
                pool.serve(job_queue, timeout=_SECONDS_BETWEEN_REPORTS)
                if time.monotonic() - reported >= _SECONDS_BETWEEN_REPORTS:
                    report(job_queue.done, job_queue.news())
                    reported = time.monotonic()
        report(job_queue.done, job_queue.news())


@contextlib.contextmanager
def _saved(work: Work) -> Iterator[str]:
    """Write the work where workers read it: it may be too large to be sent before they listen."""
    with temporary_folder() as folder:
        file = folder / "work.pickle"
        store_file(file, pickle.dumps(work))
        yield str(file)


class _Pool:
    """Workers, each with the words that it has been given; all end with the `with` block."""

    def __init__(
        self, corpus: SharedCorpus, work: str, dtype: str, write: Write, patience: HangTimeout
    ) -> None:
        self._start = corpus, work
        self._dtype, self._write, self._patience = dtype, write, patience
        self._workers: dict[Connection, _Worker] = {}
        self._vain_starts = 0

    def __enter__(self) -> _Pool:  # noqa: PYI034 - typing.Self came with Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers.values():
            worker.process.kill()  # rows are written here, so nothing is lost with a worker
        for worker in self._workers.values():
            worker.end()

    def grow(self, n_workers: int) -> None:
        """Start more workers."""
        for _ in range(n_workers):
            worker = _Worker(*self._start)
            self._workers[worker.connection] = worker

    def serve(self, job_queue: JobQueue, timeout: float) -> None:
        """Take what workers have ready, give them more words, and replace those that died or hang."""
        for ready in wait(list(self._workers), timeout):
            worker = self._workers[ready]  # type: ignore[index] # only connections are waited for
            try:
                message = worker.connection.recv_bytes()
            except (EOFError, OSError):
                self._replace(worker, job_queue)
            else:
                self._receive(worker, message, job_queue)
                worker.feed(job_queue)
        now = time.monotonic()
        for worker in list(self._workers.values()):
            # After messages were taken: what waited in the pipe is not silence of the worker.
            worker.silence.wait_until(now)
            limit = self._patience.limit if worker.is_ready else _SECONDS_TO_START
            if worker.silence.seconds > limit and (worker.given or not worker.is_ready):
                worker.put_down()
                self._replace(worker, job_queue)

    def _receive(self, worker: _Worker, message: bytes, job_queue: JobQueue) -> None:
        kind, row = HEADER.unpack_from(message)
        seconds = worker.silence.end()
        if kind == READY:
            worker.is_ready, self._vain_starts = True, 0
            return
        self._patience.learn(seconds)
        job = worker.given.popleft()
        if kind == FAILED:
            job_queue.blame(job, message[HEADER.size :].decode())
        else:
            self._write(row, np.frombuffer(message, dtype=self._dtype, offset=HEADER.size))
            job_queue.finish()
            self._vain_starts = 0  # where words are finished, workers can work

    def _replace(self, worker: _Worker, job_queue: JobQueue) -> None:
        del self._workers[worker.connection]
        problem = worker.end()
        if worker.given:
            # Words are trained in the order given, so the oldest is the one that the worker died of.
            guilty = worker.given.popleft()
            # Words that the worker had not begun are not to blame, and go back to the queue.
            job_queue.put_back(worker.given)
            job_queue.blame(guilty, problem)
        elif not worker.is_ready:
            self._vain_starts += 1
            if self._vain_starts >= _VAIN_STARTS:
                raise EngineError(f"Worker processes end before their first word: {problem}.")
        if len(self._workers) < job_queue.n_waiting:
            self.grow(1)
        for other in self._workers.values():
            other.feed(job_queue)


class _Worker:
    """One process, the connection to it, and the words that it has been given, oldest first."""

    def __init__(self, corpus: SharedCorpus, work: str) -> None:
        self.given: deque[WordJob] = deque()
        self.is_ready = False
        self.silence = Silence(time.monotonic())
        self._problem: str | None = None
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `end`
        self.connection, inner = Pipe()
        self.process = subprocess.Popen(  # noqa: S603 - this interpreter
            [sys.executable, "-c", BOOT, str(inner.fileno())],
            pass_fds=[inner.fileno()],
            stdin=subprocess.DEVNULL,
            stderr=self._errors,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path)},
            start_new_session=True,  # Ctrl-C in the terminal is for the supervisor
        )
        inner.close()
        # Small, so that it fits into the pipe before the worker reads it.
        self.connection.send((tuple(corpus), work))

    def feed(self, job_queue: JobQueue) -> None:
        """Give the worker as many words as it should have at hand."""
        while self.is_ready and len(self.given) < _WORDS_AHEAD:
            job = job_queue.take()
            if job is None:
                return
            if not self.given:
                self.silence.end()  # it had nothing to say
            self.given.append(job)
            try:
                self.connection.send(job)
            except OSError:
                return  # it has died, and is replaced when its connection is read

    def put_down(self) -> None:
        """Kill a worker that hangs."""
        self._problem = (
            f"the worker hung: no word finished in {self.silence.seconds:,.0f} s, so it was killed"
        )
        self.process.kill()

    def end(self) -> str:
        """Wait for the process, clean up, and say how it ended."""
        try:
            status = self.process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        self.connection.close()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        self._errors.close()
        if self._problem is not None:
            return self._problem
        if status < 0:
            cause = signal.Signals(-status).name
            return f"the worker was killed by {cause}{_MEANINGS.get(cause, '')}"
        return f"the worker ended with status {status}" + (f" ({lines[-1]})" if lines else "")


_MEANINGS = {"SIGKILL": " (out of memory?)", "SIGSEGV": " (a crash in native code)"}


HEADER = struct.Struct("<qq")  # kind of message, row; a result or the text of an error follows
READY, ROW, FAILED = range(3)


def serve(descriptor: int) -> None:
    """Work on the words that come through a connection until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the supervisor's, which ends its workers
    connection = Connection(descriptor)
    place, file = connection.recv()
    work = pickle.loads(Path(file).read_bytes())  # noqa: S301 - the supervisor's, in a folder of its own
    corpus = MappedCorpus.open(SharedCorpus(*place))
    jobs: queue.SimpleQueue[WordJob] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(connection, jobs), daemon=True).start()
    _work(connection, corpus, work, jobs)


def _listen(connection: Connection, jobs: queue.SimpleQueue[WordJob]) -> None:
    """Receive words; the end of the supervisor, however it came, is the end of this process."""
    try:
        while True:
            jobs.put(connection.recv())
    # At once, from a thread: work in the other thread would go on for nobody.
    except (EOFError, OSError):
        os._exit(0)


def _work(connection: Connection, corpus: MappedCorpus, work: Work, jobs: queue.SimpleQueue[WordJob]) -> None:
    worker = work.worker(corpus)
    # Words are given only after this message: imports and maps are no part of a word's time.
    connection.send_bytes(HEADER.pack(READY, 0))
    while True:
        job = jobs.get()
        try:
            result = worker.result(job)
        except (MemoryError, ValueError, RuntimeError) as error:
            problem = f"{type(error).__name__}: {error}"
            connection.send_bytes(HEADER.pack(FAILED, job.row) + problem.encode())
            worker = work.worker(corpus)  # the old one may be half-done
        else:
            assert result is not None  # noqa: S101 - nobody stops it
            connection.send_bytes(HEADER.pack(ROW, job.row) + result.tobytes())
