"""Where words are trained: one small protocol, one file per engine."""

from omnitm.engines.protocol import Engine, WordJob
from omnitm.engines.threads import ThreadsEngine

__all__ = ["Engine", "ThreadsEngine", "WordJob"]
