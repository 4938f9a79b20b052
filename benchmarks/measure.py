"""Measure omnitm's kernel: CPU seconds per word, memory per thread, speed of several threads."""

from __future__ import annotations

import multiprocessing
import statistics
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import corpora
import numpy as np

from omnitm.machine import AutoencoderSettings, word_key
from omnitm.machine.autoencoder import Autoencoder

if TYPE_CHECKING:
    from corpora import CorpusPlan

    from omnitm.corpus import DocumentIndex


def train_seconds(
    index: DocumentIndex, settings: AutoencoderSettings, target: int, n_runs: int, *, read_out: bool = False
) -> float:
    """Median CPU seconds to train a word in a machine that has trained before, as in a long run."""
    machine, out = Autoencoder(index, settings), np.zeros(index.n_words, dtype=np.int16)
    seconds = []
    for seed in range(n_runs + 1):
        start = time.process_time()
        machine.train(target, word_key(seed, index.vocabulary[target]))
        if read_out:
            machine.embedding(out)
        seconds.append(time.process_time() - start)
    return statistics.median(seconds[1:])


def first_word_seconds(
    index: DocumentIndex, settings: AutoencoderSettings, target: int, n_runs: int
) -> float:
    """Median CPU seconds for everything a single word costs: set-up, first pages, training, read-out."""
    seconds = []
    for seed in range(n_runs):
        start = time.process_time()
        machine = Autoencoder(index, settings)
        machine.train(target, word_key(seed, index.vocabulary[target]))
        machine.embedding()
        seconds.append(time.process_time() - start)
    return statistics.median(seconds)


def wall_seconds(
    index: DocumentIndex, settings: AutoencoderSettings, targets: list[int], n_threads: int
) -> float:
    """Seconds on the clock until `n_threads`, each with a machine of its own, have trained all targets."""
    machines = [Autoencoder(index, settings) for _ in range(n_threads)]

    def work(number: int) -> None:
        for target in targets[number::n_threads]:
            machines[number].train(target, word_key(0, index.vocabulary[target]))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(n_threads)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - start


def thread_bytes(plan: CorpusPlan, settings: AutoencoderSettings) -> int:
    """Bytes that a second machine adds while it trains and reads out, measured in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_second_machine_bytes, (plan, settings))


def _second_machine_bytes(plan: CorpusPlan, settings: AutoencoderSettings) -> int:
    index = corpora.read_index(plan)
    target = corpora.example_targets(index)["frequent"]
    first = Autoencoder(index, settings)
    first.train(target, 1)
    first.embedding()
    index.documents_with(target).sum()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the peak so far
    before = _status_bytes("VmRSS")
    second = Autoencoder(index, settings)
    second.train(target, 2)
    second.embedding()
    return _status_bytes("VmHWM") - before


def _status_bytes(field: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(dict(line.split(":", 1) for line in lines)[field].split()[0]) * 1024
