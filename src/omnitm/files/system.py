"""What operating systems do differently, behind one set of names: see `posix` and `windows`."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from omnitm.files import windows as system
else:
    from omnitm.files import posix as system

__all__ = ["system"]
