"""The inside of a worker process: words come in, rows go out; it ends when its supervisor does."""

from __future__ import annotations

import os
import queue
import signal
import struct
import threading
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

import numpy as np

from omnitm.engines.shared_corpus import MappedCorpus, SharedCorpus
from omnitm.machine.autoencoder import WordTrainer

if TYPE_CHECKING:
    from omnitm.engines.protocol import WordJob
    from omnitm.machine.settings import AutoencoderSettings

HEADER = struct.Struct("<qq")  # kind of message, row; a vector or the text of an error follows
READY, ROW, FAILED = range(3)


def serve(descriptor: int) -> None:
    """Train the words that come through a connection until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the supervisor's, which ends its workers
    connection = Connection(descriptor)
    shared, settings = connection.recv()
    corpus = MappedCorpus.open(SharedCorpus(*shared))
    jobs: queue.SimpleQueue[WordJob] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(connection, jobs), daemon=True).start()
    _work(connection, corpus, settings, jobs)


def _listen(connection: Connection, jobs: queue.SimpleQueue[WordJob]) -> None:
    """Receive words; the end of the supervisor, however it came, is the end of this process."""
    try:
        while True:
            jobs.put(connection.recv())
    except (EOFError, OSError):
        os._exit(0)


def _work(
    connection: Connection,
    corpus: MappedCorpus,
    settings: AutoencoderSettings,
    jobs: queue.SimpleQueue[WordJob],
) -> None:
    machine = WordTrainer(corpus, settings)
    message = bytearray(HEADER.size + 2 * machine.row_size)
    vector = np.frombuffer(message, dtype=np.int16, offset=HEADER.size)
    connection.send_bytes(HEADER.pack(READY, 0))
    while True:
        job = jobs.get()
        try:
            machine.train(job.target, job.key)
            machine.embedding(vector)
        except (MemoryError, ValueError, RuntimeError) as error:
            problem = f"{type(error).__name__}: {error}"
            connection.send_bytes(HEADER.pack(FAILED, job.row) + problem.encode())
            machine = WordTrainer(corpus, settings)  # the old one may be half-done
        else:
            HEADER.pack_into(message, 0, ROW, job.row)
            connection.send_bytes(message)
