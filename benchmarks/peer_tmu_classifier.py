"""Classify with TMU, the published implementation; run by the interpreter of `.venv-peers` only.

Reads one job as JSON from standard input and prints its result as one line of JSON; see `peers.py`.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import sys
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import load_npz

if TYPE_CHECKING:
    from numpy.typing import NDArray

with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    # importing TMU prints a traceback about CUDA
    from tmu.models.classification.vanilla_classifier import TMClassifier
logging.disable(logging.CRITICAL)


def build(settings: dict[str, Any], seed: int) -> TMClassifier:
    return TMClassifier(
        number_of_clauses=settings["n_clauses"],
        T=settings["threshold"],
        s=settings["specificity"],
        clause_drop_p=settings["clause_drop"],
        max_included_literals=settings["max_included_literals"],
        weighted_clauses=True,
        seed=seed,  # not 0: that makes its generator return 0 for ever
    )


def read(job: dict[str, Any], name: str) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Read documents, which TMU wants dense, and labels."""
    documents = load_npz(job[name]).toarray().astype(np.uint32)
    return documents, np.load(job[name + "_labels"]).astype(np.uint32)


def accuracy(job: dict[str, Any]) -> dict[str, Any]:
    """Accuracy after every epoch, for every seed."""
    documents, labels = read(job, "train")
    test_documents, test_labels = read(job, "test")
    runs: list[list[float]] = []
    start = time.process_time()
    for seed in job["seeds"]:
        machine = build(job["settings"], seed)
        runs.append([])
        for epoch in range(job["n_epochs"]):
            machine.fit(documents, labels)
            if epoch >= job["first_epoch"]:
                runs[-1].append(float((machine.predict(test_documents) == test_labels).mean()))
    return {"runs": runs, "seconds": time.process_time() - start}


def time_epoch(job: dict[str, Any]) -> dict[str, Any]:
    """CPU seconds per document, starting from given states and weights: a part in the middle of an epoch."""
    documents, labels = read(job, "train")
    machine = build(job["settings"], 1)
    machine.init(documents, labels)
    with np.load(job["start"]) as stored:
        for label in range(len(stored["weights"])):
            put_states(machine.clause_banks[label], stored[f"states{label}"])
            machine.weight_banks[label].get_weights()[:] = stored["weights"][label]
    few = fit_seconds(machine, documents[:2], labels[:2])
    seconds = [
        fit_seconds(machine, documents[part], labels[part]) for part in parts(len(labels), job["n_fits"])
    ]
    per_document = (sum(seconds) - few * len(seconds)) / (len(labels) - 2 * len(seconds))
    return {"per_document": per_document, "per_fit": few, "seconds": sum(seconds)}


def parts(size: int, count: int) -> list[slice]:
    bounds = np.linspace(0, size, count + 1).astype(int)
    return [slice(first, last) for first, last in pairwise(bounds)]


def fit_seconds(machine: TMClassifier, documents: NDArray[np.uint32], labels: NDArray[np.uint32]) -> float:
    start = time.process_time()
    machine.fit(np.ascontiguousarray(documents), labels)
    return time.process_time() - start


def put_states(bank: Any, states: NDArray[np.uint8]) -> None:
    """Overwrite all automata (clauses x literals), in TMU's bit planes of 32 literals."""
    padding = (0, -states.shape[1] % 32)
    wide = np.pad(states, ((0, 0), padding)).reshape(len(states), -1, 1, 32)
    bits = wide >> np.arange(8, dtype=np.uint8)[:, None] & 1
    bank.clause_bank[:] = np.packbits(bits, axis=-1, bitorder="little").view(np.uint32).reshape(-1)


def states_of(bank: Any) -> NDArray[np.uint8]:
    """Read all automata as clauses x literals."""
    planes = bank.clause_bank.reshape(bank.number_of_clauses, bank.number_of_ta_chunks, 8, 1)
    bits = np.unpackbits(planes.view(np.uint8), axis=-1, bitorder="little")
    places = (1 << np.arange(8)).astype(np.uint8)[:, None]
    states: NDArray[np.uint8] = (bits * places).sum(axis=2, dtype=np.uint8)
    return states.reshape(bank.number_of_clauses, -1)[:, : bank.number_of_literals]


def replay(job: dict[str, Any]) -> dict[str, Any]:
    """Feed TMU's own functions with given examples and coins; store the states and weights that come out.

    Every coin that TMU would toss is made certain (`update_p=1`) for the clauses that the given coins chose.
    """
    documents, labels = read(job, "train")
    with np.load(job["draws"]) as stored:
        draws = {name: stored[name] for name in stored.files}
    machine = build(job["settings"], 1)
    machine.init(documents, labels)
    encoded = machine.clause_banks[0].prepare_X(documents)
    everything = np.full(machine.clause_banks[0].number_of_ta_chunks, 2**32 - 1, dtype=np.uint32)
    for row, document in enumerate(draws["documents"]):
        for role, label in enumerate((draws["targets"][row], draws["others"][row])):
            coins = draws["feedback_coins"][row, role], draws["weight_coins"][row, role]
            example = everything, encoded, int(document)
            teach(machine, int(label), draws["active"][label], coins, example, belongs=role == 0)
    result: dict[str, Any] = {
        f"states{label}": states_of(machine.clause_banks[label]) for label in range(len(draws["active"]))
    }
    weights = [machine.weight_banks[label].get_weights() for label in range(len(draws["active"]))]
    np.savez(job["result"], weights=np.array(weights), **result)
    return {}


def teach(
    machine: TMClassifier,
    label: int,
    active: NDArray[np.bool_],
    coins: tuple[NDArray[np.int64], NDArray[np.int64]],
    example: tuple[NDArray[np.uint32], NDArray[np.uint32], int],
    *,
    belongs: bool,
) -> None:
    """Do what `TMClassifier` does with one class, with given coins."""
    bank, weights, limit = machine.clause_banks[label], machine.weight_banks[label], machine.T
    literal_active, encoded, document = example
    outputs = bank.calculate_clause_outputs_update(literal_active, encoded, document).copy()
    vote = int(np.clip(np.dot(active * weights.get_weights(), outputs.astype(np.int64)), -limit, limit))
    chance = limit - vote if belongs else limit + vote
    taught, weighed = active & (coins[0] < chance), (active & (coins[1] < chance)).astype(np.uint32)
    agrees = (np.arange(len(active)) < len(active) // 2) == belongs
    if belongs:
        weights.increment(outputs, 1.0, weighed, positive_weights=False)
    else:
        weights.decrement(outputs, 1.0, weighed, negative_weights=False)
    bank.type_i_feedback(1.0, (taught & agrees).astype(np.uint32), literal_active, encoded, document)
    bank.type_ii_feedback(1.0, (taught & ~agrees).astype(np.uint32), literal_active, encoded, document)


TASKS = {"accuracy": accuracy, "replay": replay, "time_epoch": time_epoch}


def main() -> int:
    job = json.load(sys.stdin)
    print(json.dumps(TASKS[job["task"]](job)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
