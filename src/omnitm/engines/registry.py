"""The engines by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnitm.errors import ParameterError

if TYPE_CHECKING:
    from omnitm.engines.protocol import Engine

ENGINES = ("threads", "processes")


def make_engine(name: str, n_jobs: int | None = None) -> Engine:
    """Make an engine.

    Parameters
    ----------
    name
        "threads" or "processes".
    n_jobs
        Threads or processes; None: one per core.

    Examples
    --------
    >>> make_engine("processes", 2).n_jobs
    2
    """
    from omnitm.engines import ProcessesEngine, ThreadsEngine

    if name == "threads":
        return ThreadsEngine(n_jobs)
    if name == "processes":
        return ProcessesEngine(n_jobs)
    raise ParameterError(f"The engine must be one of {', '.join(ENGINES)}. Got {name!r}.")
