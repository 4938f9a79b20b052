"""Files that are written whole or not at all, and checked when they are read.

`system` is what operating systems do differently, behind one set of names: see `posix` and `windows`.
"""

import sys

if sys.platform == "win32":
    from omnitm.files import windows as system
else:
    from omnitm.files import posix as system

__all__ = ["system"]
