"""Files that are written whole or not at all, and checked when they are read.

`system` is what operating systems do differently, behind one set of names: see `posix` and `windows`.
"""

import os
import sys

if sys.platform == "win32":
    from omnitm.files import windows as system
else:
    from omnitm.files import posix as system

__all__ = ["available_cores", "system"]


def available_cores() -> int:
    """Count the cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
