"""A Ray cluster of two nodes on this machine, reached by loopback, with a token."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

SRC = str(Path(__file__).parents[2] / "src")


def descendants(parent: int) -> list[int]:
    """Process ids of a process' children, their children, and so on."""
    parents: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(status.parent.name)] = int(status.read_text().rsplit(")", 1)[1].split()[1])
    found: set[int] = set()
    new = {parent}
    while new:
        new = {child for child, of in parents.items() if of in new}
        found |= new
    return sorted(found)


def is_running(pid: int) -> bool:
    """Whether a process is there and has not ended; nobody may have asked yet how it did."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    return False


def is_training(pid: int) -> bool:
    """Whether a process is a worker of Ray with a batch of words in hand."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::train_batch")
    return False


def kill_all(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and all that it started, as a power cut would; by their ids."""
    for pid in (process.pid, *descendants(process.pid)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()


@dataclass
class Cluster:
    """Where a cluster is, and the processes of its nodes."""

    address: str
    folder: Path
    hidden: Path
    """A folder that the second node does not see."""
    is_blind: bool
    """Whether the second node really does not."""
    nodes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, *arguments: str, blind: bool = False) -> None:
        """Start a node."""
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", *arguments]
        command += ["--node-ip-address=127.0.0.1", "--num-cpus=1", "--object-store-memory=80000000"]
        if blind:
            mount = f'mount -t tmpfs none {self.hidden} && exec "$@"'
            command = ["unshare", "-m", "sh", "-c", mount, "", *command]
        with (self.folder / f"node-{len(self.nodes)}.log").open("wb") as log:
            self.nodes.append(subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL))


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """Start a head and a second node; connect this process."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip("Ray is not installed: pip install 'omnitm[ray]'")
    folder = Path(tempfile.mkdtemp(prefix="r", dir="/tmp"))
    hidden = folder / "hidden"
    hidden.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_USAGE_STATS_ENABLED": "0",
            "OMNITM_CACHE": str(folder / "cache"),
            "PYTHONPATH": os.pathsep.join([SRC, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]),
        }.items():
            patch.setenv(name, value)
        import ray  # reads the variables when it is imported

        here = Cluster(f"127.0.0.1:{_free_port()}", folder, hidden, _can_hide(hidden))
        try:
            here.start(
                "--head", f"--port={here.address[10:]}", "--include-dashboard=false", f"--temp-dir={folder}/s"
            )
            _connect(ray, here)
            here.start(f"--address={here.address}", blind=here.is_blind)
            yield here
        finally:
            ray.shutdown()
            _stop(here)
            shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    """Find a port that nobody is given who does not ask for it by its number; others begin elsewhere."""
    for number in range(1_400):
        port = 20_001 + 7 * ((os.getpid() + number) % 1_400)
        with contextlib.suppress(OSError), socket.socket() as free:
            free.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


def _can_hide(folder: Path) -> bool:
    trial = ["unshare", "-m", "mount", "-t", "tmpfs", "none", str(folder)]
    return shutil.which("unshare") is not None and not subprocess.run(trial, check=False).returncode


def _connect(ray: Any, cluster: Cluster) -> None:
    deadline = time.monotonic() + 300
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", int(cluster.address[10:]))):
            break
        assert time.monotonic() < deadline, (cluster.folder / "node-0.log").read_text()
        time.sleep(0.05)
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")


def _stop(cluster: Cluster) -> None:
    for node in cluster.nodes:
        node.send_signal(signal.SIGTERM)
    for node in cluster.nodes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            node.wait(60)
        kill_all(node)


def wait_for_cores(n_cores: int, seconds: float = 300) -> None:
    """Wait until the cluster has as many cores."""
    import ray

    deadline = time.monotonic() + seconds
    while ray.cluster_resources().get("CPU", 0) != n_cores:
        assert time.monotonic() < deadline, ray.cluster_resources()
        time.sleep(0.1)
