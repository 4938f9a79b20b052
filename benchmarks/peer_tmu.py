"""Train words with TMU, the published implementation; run by the interpreter of `.venv-peers` only.

Reads one job as JSON from standard input and prints its result as one line of JSON, so that the benchmarks,
which live in another environment, need to know nothing about TMU. CPU seconds are those of this process.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray

with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    # importing TMU prints a traceback about CUDA
    from tmu.models.autoencoder.autoencoder import TMAutoEncoder
logging.disable(logging.CRITICAL)


def read_corpus(path: str) -> csr_matrix:
    """Read a corpus that `corpora.py` wrote."""
    with np.load(path) as stored:
        offsets, words = (
            stored["document_offsets"].astype(np.int32),
            stored["document_words"].astype(np.int32),
        )
        shape = (len(offsets) - 1, int(stored["n_words"]))
    return csr_matrix((np.ones(len(words), dtype=np.uint32), words, offsets), shape=shape)


def build(target: int, seed: int, settings: dict[str, Any]) -> TMAutoEncoder:
    """Set TMU up so that it does what the paper's published code does for one word."""
    return TMAutoEncoder(
        number_of_clauses=settings["n_clauses"],
        T=settings["threshold"],
        s=settings["specificity"],
        output_active=np.array([target], dtype=np.uint32),
        accumulation=settings["accumulation"],
        feature_negation=True,
        max_included_literals=settings["max_included_literals"],
        output_balancing=settings["output_balancing"],
        number_of_state_bits_ta=settings["state_bits"],
        seed=seed,
    )


def train(corpus: csr_matrix, target: int, seed: int, settings: dict[str, Any]) -> TMAutoEncoder:
    """Train one word from nothing."""
    machine = build(target, seed, settings)
    for _ in range(settings["n_epochs"]):
        machine.fit(corpus, number_of_examples=settings["n_examples"])
    return machine


def states_of(machine: TMAutoEncoder) -> NDArray[np.int64]:
    """All automaton states as clauses x literals, unpacked at once from TMU's bit planes."""
    bank = machine.clause_bank
    shape = (bank.number_of_clauses, bank.number_of_ta_chunks, bank.number_of_state_bits_ta)
    planes = bank.clause_bank.reshape(shape).transpose(0, 2, 1)
    packed = np.ascontiguousarray(planes).view(np.uint8)
    bits = np.unpackbits(packed, axis=-1, bitorder="little")[:, :, : bank.number_of_literals]
    places = 1 << np.arange(bank.number_of_state_bits_ta)
    states: NDArray[np.int64] = np.tensordot(places, bits.astype(np.int64), axes=([0], [1]))
    return states


def mean_difference(machine: TMAutoEncoder) -> tuple[NDArray[np.float64], int]:
    """Algorithm 1 of the paper before rounding, and the number of positive clauses."""
    states, weights = states_of(machine), machine.get_weights(0)
    positive = states[weights > 0]
    n_words = states.shape[1] // 2
    if len(positive) == 0:
        return np.zeros(n_words), 0
    return (positive[:, :n_words] - positive[:, n_words:]).mean(axis=0), len(positive)


def embeddings(job: dict[str, Any]) -> dict[str, Any]:
    """Train every target with every seed; embeddings, positive clauses and weights."""
    corpus = read_corpus(job["corpus"])
    rows: list[list[dict[str, Any]]] = []
    start = time.process_time()
    for target in job["targets"]:
        rows.append([])
        for seed in job["seeds"]:
            machine = train(corpus, target, seed, job["settings"])
            vector, n_positive = mean_difference(machine)
            weights = [int(weight) for weight in machine.get_weights(0)]
            rows[-1].append({"vector": vector.tolist(), "n_positive": n_positive, "weights": weights})
    return {"runs": rows, "seconds": time.process_time() - start}


def replay(job: dict[str, Any]) -> dict[str, Any]:
    """Feed TMU's own feedback functions with given examples and coins; store the states that come out.

    Every coin that TMU would toss is made certain (`update_p=1`) for the clauses that the given coins chose.
    """
    with np.load(job["draws"]) as stored:
        draws = {name: stored[name] for name in stored.files}
    machine = build(int(draws["target"]), 1, job["settings"])
    machine.init(read_corpus(job["corpus"]), Y=None)
    machine.get_weights(0)[:] = draws["initial_weights"]
    literal_active = machine.activate_literals()
    word = int(draws["target"])
    for literal in (word, word + machine.clause_bank.number_of_features):
        literal_active[literal // 32] &= ~(np.uint32(1) << np.uint32(literal % 32))
    for number, label in enumerate(draws["labels"]):
        example = np.ascontiguousarray(draws["literals"][number]).view(np.uint32).reshape(1, -1)
        coins = draws["gates"][number], draws["feedback_coins"][number], draws["weight_coins"][number]
        replay_example(machine, example, label, literal_active, coins)
    np.savez(job["result"], states=states_of(machine), weights=machine.get_weights(0))
    return {}


def replay_example(
    machine: TMAutoEncoder,
    example: NDArray[np.uint32],
    label: bool,
    literal_active: NDArray[np.uint32],
    coins: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
) -> None:
    """Do what `TMAutoEncoder.update` does, with given coins."""
    bank, weights, limit = machine.clause_bank, machine.get_weights(0), machine.T
    gates, feedback_coins, weight_coins = coins
    everything = np.full(bank.number_of_ta_chunks, 2**32 - 1, dtype=np.uint32)
    outputs = bank.calculate_clause_outputs_update(everything, example, 0)
    taking_part = gates < limit - np.minimum(np.abs(weights), limit)
    vote = np.clip(np.dot(taking_part * weights, outputs), -limit, limit)
    chance = limit - vote if label else limit + vote
    chosen = taking_part & (feedback_coins < chance)
    agrees = (weights >= 0) == label
    bank.type_i_feedback(1.0, (chosen & agrees).astype(np.uint32), literal_active, example, 0)
    bank.type_ii_feedback(1.0, (chosen & ~agrees).astype(np.uint32), literal_active, example, 0)
    weighed = (taking_part & (weight_coins < chance)).astype(np.uint32)
    if label:
        machine.weight_banks[0].increment(outputs, 1.0, weighed, positive_weights=True)
    else:
        machine.weight_banks[0].decrement(outputs, 1.0, weighed, negative_weights=True)


def time_training(job: dict[str, Any]) -> dict[str, Any]:
    """CPU seconds to train one word, and to read its embedding out the published way.

    `part` of one epoch's examples is timed and scaled to the whole; with 1, nothing is scaled.
    """
    corpus, settings, part = read_corpus(job["corpus"]), job["settings"], job["part"]
    for _ in range(2):  # the first warms up
        start = time.process_time()
        build(job["target"], job["seed"], settings).fit(corpus, number_of_examples=0)
        set_up = time.process_time() - start
    if part < 1:
        shorter = {**settings, "n_epochs": 1, "n_examples": int(settings["n_examples"] * part)}
    start = time.process_time()
    machine = train(corpus, job["target"], job["seed"], settings if part == 1 else shorter)
    seconds = time.process_time() - start
    if part < 1:
        seconds = settings["n_epochs"] * (set_up + (seconds - set_up) / part)
    result = {"seconds": seconds, "set_up_seconds": settings["n_epochs"] * set_up}
    if job["read_out_words"]:
        result["read_out_seconds"] = time_read_out(machine, job["read_out_words"])
    return result


def time_read_out(machine: TMAutoEncoder, n_timed: int) -> float:
    """CPU seconds of a `get_ta_state` per automaton of positive clauses, scaled from `n_timed` words."""
    n_words = machine.clause_bank.number_of_features
    positive = np.flatnonzero(machine.get_weights(0) > 0).tolist()
    start = time.process_time()
    for clause in positive:
        for word in range(n_timed):
            machine.get_ta_state(clause, word)
            machine.get_ta_state(clause, word + n_words)
    return (time.process_time() - start) * float(n_words) / n_timed


def measure_memory(job: dict[str, Any]) -> dict[str, Any]:
    """Bytes that a second machine adds to this process, next to one that has trained already."""
    corpus, settings = read_corpus(job["corpus"]), {**job["settings"], "n_epochs": 1, "n_examples": 50}
    machines = [train(corpus, job["target"], 1, settings)]
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the peak so far
    before = status_bytes("VmRSS")
    machines.append(train(corpus, job["target"], 2, settings))
    return {"bytes": status_bytes("VmHWM") - before}


def status_bytes(field: str) -> int:
    """Memory of this process: VmRSS now, VmHWM at its peak."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(dict(line.split(":", 1) for line in lines)[field].split()[0]) * 1024


TASKS = {
    "embeddings": embeddings,
    "measure_memory": measure_memory,
    "replay": replay,
    "time_training": time_training,
}


def main() -> int:
    job = json.load(sys.stdin)
    print(json.dumps(TASKS[job["task"]](job)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
