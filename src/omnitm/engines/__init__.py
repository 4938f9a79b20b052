"""Where words are trained: one small protocol, one file per engine."""

from omnitm.engines.processes import ProcessesEngine
from omnitm.engines.protocol import Engine, Failure, Report, WordJob
from omnitm.engines.threads import ThreadsEngine

__all__ = ["Engine", "Failure", "ProcessesEngine", "Report", "ThreadsEngine", "WordJob"]
