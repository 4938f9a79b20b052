"""Options of `omnitm train` that say where words are trained, which of them, and what is written down."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omnitm.engines.registry import ENGINES
from omnitm.errors import ParameterError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from omnitm.engines import Engine
    from omnitm.training.progress import Progress


def add_running_options(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    group = parser.add_argument_group("where to train (docs/engines.md)")
    group.add_argument(
        "--engine",
        choices=ENGINES,
        default="threads",
        help="threads of this process (default), processes that are replaced when they die, or a Ray "
        "cluster: the result is the same, bit for bit",
    )
    group.add_argument(
        "--threads",
        "--workers",
        metavar="N",
        type=int,
        help="threads or worker processes to train in (default: one per core)",
    )
    group.add_argument(
        "--address",
        metavar="HOST:PORT",
        help="a running Ray cluster, or 'auto' (with --engine ray; default: start one here)",
    )
    group.add_argument(
        "--patience",
        metavar="SECONDS",
        type=float,
        help="replace a worker process that has not finished a word for so long "
        "(default: more than ten minutes)",
    )
    group.add_argument(
        "--shard",
        metavar="K/N",
        help="train the K-th of N parts of the words; `omnitm merge` puts the parts together",
    )
    group.add_argument(
        "--log", metavar="FILE", type=Path, help="append progress and failures to this file, as JSON lines"
    )


def chosen_engine(arguments: argparse.Namespace) -> Engine:
    """Make the engine that was asked for."""
    from omnitm.engines.registry import make_engine

    return make_engine(arguments.engine, arguments.threads, arguments.address, patience=arguments.patience)


def check_no_running_options(arguments: argparse.Namespace) -> None:
    """Refuse what only the Omni models, which are trained word by word, can do."""
    for option in ("engine", "address", "patience", "shard", "log"):
        if getattr(arguments, option) not in {None, "threads"}:
            reason = "it is trained in one go"
            raise ParameterError(f"--{option} is for the Omni models, not for {arguments.model}: {reason}.")


@contextlib.contextmanager
def listening(arguments: argparse.Namespace) -> Iterator[Any]:
    """Yield what is told about progress: a bar, a log, both or neither."""
    from omnitm.training.progress import ProgressBar, ProgressLog

    listeners: list[Callable[[Progress], object]] = []

    def tell(state: Progress) -> None:
        for listener in listeners:
            listener(state)

    with contextlib.ExitStack() as stack:
        if not arguments.quiet:
            listeners.append(stack.enter_context(ProgressBar()))
        if arguments.log is not None:
            facts = {"model": str(arguments.output), "engine": arguments.engine}
            listeners.append(stack.enter_context(ProgressLog(arguments.log, facts)))
        yield tell
