"""Measure the training kernel against TMU and against what it has to reach.

CPU seconds in one thread, both measured in this run, on the same generated corpora. TMU is timed as it is
used: a new machine per word, its `fit` once per epoch. Others' work on the machine only ever adds time, so
each side counts its best of the same number of rounds (a round of ours is the median of several runs).
`--quick` takes one round, times half an epoch of TMU and scales that.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import corpora
import measure
from peers import ask_tmu
from report import Row, at_most, faster, keep, show

from omnitm.machine import PAPER, AutoencoderSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from corpora import CorpusPlan

    from omnitm.corpus import DocumentIndex

EXACT = AutoencoderSettings(**PAPER)
FAST = replace(EXACT, algorithm="fast")
COINS = replace(EXACT, specificity=2.0)
MEGABYTE = 1_000_000

#: TMU 0.8.3 does not start with numpy 2, but one `get_ta_state` there takes 3.1 us instead of 14.7 with numpy
#: 1.26, which it needs (both measured here). Its read-out is counted at the speed it could have.
READ_OUT_WITH_NUMPY_2 = 3.1 / 14.7


@dataclass(frozen=True)
class Effort:
    """How much to measure: rounds, runs of ours per round, and the part of an epoch that TMU is timed for."""

    n_rounds: int = 2
    n_runs: int = 7
    part: float = 1.0


@cache
def load(plan: CorpusPlan) -> DocumentIndex:
    return corpora.read_index(plan)


@cache
def time_tmu(
    plan: CorpusPlan, settings: AutoencoderSettings, target: int, part: float, number: int
) -> dict[str, Any]:
    return ask_tmu(
        "time_training",
        corpus=str(corpora.corpus_file(plan)),
        target=target,
        seed=1 + number,
        settings=asdict(settings),
        part=part,
        read_out_words=max(1, plan.n_words // 20),
    )


def compare(
    label: str,
    plan: CorpusPlan,
    effort: Effort,
    *,
    ours: AutoencoderSettings = EXACT,
    theirs: AutoencoderSettings = EXACT,
    reach: float,
    read_out: bool = False,
) -> list[Row]:
    """Train a frequent, a middling and a rare word with both; one row each."""
    rows, index = [], load(plan)
    for name, target in corpora.example_targets(index).items():
        seconds, rounds = [], []
        for number in range(effort.n_rounds):
            rounds.append(time_tmu(plan, theirs, target, effort.part, number))
            seconds.append(measure.train_seconds(index, ours, target, effort.n_runs, read_out=read_out))
        total, set_up, reading = (
            min(tmu[field] for tmu in rounds) for field in ("seconds", "set_up_seconds", "read_out_seconds")
        )
        note = f"{(total - set_up) / min(seconds):.0f}x without TMU's set-up of {set_up:.2f} s"
        if read_out:
            total += reading * READ_OUT_WITH_NUMPY_2
            note = f"TMU: read-out alone took {reading:.1f} s, counted as with numpy 2"
        rows.append(faster(f"{label}, {name} word", total, min(seconds), reach, note))
    return rows


def exact(effort: Effort) -> list[Row]:
    return compare("train, d = 40,000, exact", corpora.sentences(), effort, reach=50)


def fast(effort: Effort) -> list[Row]:
    return compare("train, d = 40,000, fast", corpora.sentences(), effort, ours=FAST, reach=90)


def read_out(effort: Effort) -> list[Row]:
    label = "train + read out, d = 40,000, exact"
    return compare(label, corpora.sentences(), effort, reach=100, read_out=True)


def reviews(effort: Effort) -> list[Row]:
    return compare("train, d = 20,000, long documents, exact", corpora.reviews(), effort, reach=12)


def coins(effort: Effort) -> list[Row]:
    label = "train, d = 40,000, s = 2"
    return compare(label, corpora.sentences(), effort, ours=COINS, theirs=COINS, reach=10)


def memory(_effort: Effort) -> list[Row]:
    plan = corpora.sentences()
    target = corpora.example_targets(load(plan))["frequent"]
    job: dict[str, Any] = {
        "corpus": str(corpora.corpus_file(plan)),
        "target": target,
        "settings": asdict(EXACT),
    }
    tmu = ask_tmu("measure_memory", **job)["bytes"] / MEGABYTE
    rows = []
    for label, settings in (("exact", EXACT), ("fast", FAST), ("s = 2", COINS)):
        ours = measure.thread_bytes(plan, settings) / MEGABYTE
        text = f"memory per thread, d = 40,000, {label}"
        rows.append(at_most(text, (f"{tmu:.0f} MB", f"{ours:.1f} MB"), ours, 16, "MB at the peak"))
    return rows


def threads(effort: Effort) -> list[Row]:
    index = load(corpora.sentences())
    targets = list(
        range(100, 100 + 10 * effort.n_runs)
    )  # enough that the last word of a thread does not decide
    one, two = (
        min(measure.wall_seconds(index, EXACT, targets, number) for _ in range(3)) for number in (1, 2)
    )
    note = f"clock, {len(targets)} words, best of 3; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    speed_up = one / two
    return [Row("2 threads", "", f"{two:.2f} s", f"{speed_up:.2f}x", ">= 1.9x", speed_up >= 1.9, note)]


def growth(effort: Effort) -> list[Row]:
    rows, costs = [], []
    sizes = [10_000, 20_000, 40_000, 80_000]
    for n_words in sizes:
        index = corpora.read_index(corpora.sentences(n_words))
        targets = corpora.example_targets(index).values()
        costs.append(sum(measure.train_seconds(index, EXACT, each, effort.n_runs) for each in targets) / 3)
        rows.append(
            Row(f"train, d = {n_words:,}, exact, mean of three words", "", f"{costs[-1]:.4f} s", "", "", None)
        )
    exponent = math.log(costs[-1] / costs[0]) / math.log(sizes[-1] / sizes[0])
    limit = "< 1"
    rows.append(Row("cost per word grows as d to the power", "", "", f"{exponent:.2f}", limit, exponent < 1))
    return rows


def short(effort: Effort) -> list[Row]:
    index, rows = load(corpora.sentences()), []
    few = replace(EXACT, n_examples=250, n_epochs=1)
    for name, target in corpora.example_targets(index).items():
        whole = measure.train_seconds(index, EXACT, target, effort.n_runs, read_out=True)
        part = measure.first_word_seconds(index, few, target, effort.n_runs)
        label = f"250 examples as part of 8,000, {name} word"
        later = measure.train_seconds(index, few, target, effort.n_runs, read_out=True)
        note = f"in a new machine; {later / whole:.3g} in one that has trained before"
        rows.append(at_most(label, ("", f"{part:.4f} s"), part / whole, 1 / 25, note))
    return rows


MEASURES: dict[str, Callable[[Effort], list[Row]]] = {
    "exact": exact,
    "fast": fast,
    "read-out": read_out,
    "reviews": reviews,
    "coins": coins,
    "memory": memory,
    "threads": threads,
    "growth": growth,
    "short": short,
}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=MEASURES, default=list(MEASURES), help="which measures")
    parser.add_argument("--quick", action="store_true", help="fewer runs, TMU scaled, results not kept")
    options = parser.parse_args(argv)
    effort = Effort(n_rounds=1, n_runs=2, part=0.5) if options.quick else Effort()
    start, rows = time.perf_counter(), []
    for name in options.only:
        rows += MEASURES[name](effort)
        print(f"{name}: measured, {time.perf_counter() - start:.0f} s so far", file=sys.stderr)
    show(rows)
    if not options.quick:
        name = "kernel" if options.only == list(MEASURES) else "kernel-" + "-".join(options.only)
        keep(rows, name, time.perf_counter() - start)
    return 0 if all(row.reached is not False for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
