"""Where words are trained and compared: one small protocol, one file per engine, and the engines by name."""

from omnitm.engines.processes import ProcessesEngine
from omnitm.engines.protocol import Engine, Failure, Report, WordEngine, WordJob
from omnitm.engines.threads import ThreadsEngine
from omnitm.errors import ParameterError

__all__ = [
    "ENGINES",
    "Engine",
    "Failure",
    "ProcessesEngine",
    "Report",
    "ThreadsEngine",
    "WordEngine",
    "WordJob",
    "make_engine",
]

ENGINES = ("threads", "processes", "ray")


def make_engine(
    name: str, n_jobs: int | None = None, address: str | None = None, *, patience: float | None = None
) -> WordEngine:
    """Make an engine.

    Parameters
    ----------
    name
        "threads", "processes" or "ray".
    n_jobs
        Threads, processes, or cores of a Ray cluster that is started here; None: one per core.
    address
        A running Ray cluster; None: start one here.
    patience
        Seconds without a finished word after which a worker process counts as hung and is replaced;
        None: more than ten minutes, longer for settings that take longer.

    Examples
    --------
    >>> make_engine("processes", 2).n_jobs
    2
    """
    if address is not None and name != "ray":
        raise ParameterError(f"An address is for the engine 'ray', not for {name!r}; leave it out.")
    if patience is not None and name == "threads":
        raise ParameterError("A thread that hangs cannot be replaced; leave out 'patience' or use processes.")
    if name == "threads":
        return ThreadsEngine(n_jobs)
    if name == "processes":
        return ProcessesEngine(n_jobs, patience=patience)
    if name == "ray":
        from omnitm.engines.ray_cluster import RayEngine, reach

        reach(address)  # before anything is made, or replaced, for a model
        return RayEngine(address, n_jobs, patience=patience)
    raise ParameterError(f"The engine must be one of {', '.join(ENGINES)}. Got {name!r}.")
