"""End what a Ray cluster that we started leaves behind when its driver dies; runs alone, with no package.

A watcher is started with the cluster, in a session of its own, and reads from a pipe that only the driver
holds open: the pipe ends with the driver, however that ends. Ray's processes have open log files in the
cluster's folder, which is how they are known (some of them change their command line); where there is no
`/proc`, only the folder is removed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

PREFIX = "omray-"  # of the folders; short, since names of sockets in them are limited to about 100 characters
_OWNER = "driver"  # a file: process id of the driver, and when it was started
_SECONDS_TO_END = 12.0
_USER = os.getuid() if hasattr(os, "getuid") else 0


def new_folder() -> str:
    """Make a folder for a cluster of this process, after removing what dead drivers have left."""
    remove_leftovers()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    (folder / _OWNER).write_text(f"{os.getpid()} {_start_of(os.getpid())}")
    return str(folder)


def remove_leftovers() -> None:
    """End clusters whose driver is no more."""
    for folder in Path(tempfile.gettempdir()).glob(PREFIX + "*"):
        with contextlib.suppress(OSError, ValueError):
            pid, start = (folder / _OWNER).read_text().split()
            if folder.lstat().st_uid == _USER and _start_of(int(pid)) != start:
                end(str(folder))


def members(folder: str) -> list[int]:
    """Find the processes that have a file of the folder open, without this one and a driver that goes on."""
    spared, inside = {os.getpid(), os.getppid()}, os.path.realpath(folder) + os.sep
    found = (process for process in Path("/proc").glob("[0-9]*") if _has_file_in(process, inside))
    return [int(process.name) for process in found if int(process.name) not in spared]


def end(folder: str) -> None:
    """Kill the processes of a cluster until there is none, and remove its folder."""
    deadline = time.monotonic() + _SECONDS_TO_END
    while (found := members(folder)) and time.monotonic() < deadline:
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
    shutil.rmtree(folder, ignore_errors=True)


def _has_file_in(process: Path, folder: str) -> bool:
    with contextlib.suppress(OSError):  # it has ended, or is not ours
        for descriptor in (process / "fd").iterdir():
            with contextlib.suppress(OSError):
                if str(descriptor.readlink()).startswith(folder):
                    return True
    return False


def _start_of(pid: int) -> str:
    """When a process was started, in ticks; "0" if it is not there, or the system does not say."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19]
    except OSError:
        return "0"


if __name__ == "__main__":
    while sys.stdin.read(1):
        pass
    end(sys.argv[1])
