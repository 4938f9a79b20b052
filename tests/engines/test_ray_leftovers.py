"""A Ray cluster that we start ends with its driver; one that is not there is named soon."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from omnitm.cli import main
from omnitm.corpus import build_index
from omnitm.engines import ray_cluster, ray_leftovers
from omnitm.engines.ray_cluster import RayEngine
from omnitm.errors import EngineError
from omnitm.training import train_model, train_vectors

from .conftest import descendants, is_running, is_training

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from omnitm.corpus import DocumentIndex

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None or not Path("/proc/self/fd").exists(),
    reason="needs Ray (pip install 'omnitm[ray]') and /proc",
)
PATIENCE = 300.0  # of these tests on a busy machine; what is promised is asserted of the limits themselves


@pytest.fixture
def folder() -> Iterator[Path]:
    """Make a temporary folder with a short name: Ray puts sockets there."""
    made = Path(tempfile.mkdtemp(prefix="r", dir="/tmp"))
    yield made
    for left in made.glob(ray_leftovers.PREFIX + "*"):
        ray_leftovers.end(str(left))
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(autouse=True)
def hang_up() -> Iterator[None]:
    """Let hanging up end processes, also in `nohup make test`, whose children would not hear it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@contextlib.contextmanager
def training(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Train on a cluster of its own, for days; goes on when a word is being trained."""
    (folder / "text.txt").write_text("road car wheel\nsea ship sail\nroad car driver\n" * 10)
    index = build_index(folder / "text.txt", folder / "index")
    command = [sys.executable, "-m", "omnitm.cli", "train", str(index), "-o", str(folder / "m"), "--quiet"]
    command += ["--n-examples", str(2**30), "--engine", "ray", "--workers", "1"]
    environment = {**os.environ, "TMPDIR": str(folder)}
    environment.pop("RAY_AUTH_MODE", None)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as driver:
        try:
            wait_until(lambda: driver.poll() is not None or any(map(is_training, descendants(driver.pid))))
            assert driver.poll() is None, driver.communicate()[1]
            yield driver
        finally:
            driver.kill()


def wait_until(is_so: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def cluster_of(folder: Path) -> Path:
    (cluster,) = folder.glob(ray_leftovers.PREFIX + "*")
    assert ray_leftovers.members(str(cluster))
    return cluster


def test_limits_are_those_that_are_promised() -> None:
    """15 seconds for an address, and for what a dead driver left; the rest is for Python to start."""
    assert 10 <= ray_cluster._SECONDS_TO_CONNECT <= 13
    assert 10 <= ray_leftovers._SECONDS_TO_END <= 13


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGKILL])
def test_a_cluster_ends_with_its_driver(folder: Path, number: signal.Signals) -> None:
    with training(folder) as driver:
        cluster, started = cluster_of(folder), descendants(driver.pid)
        driver.send_signal(number)
        driver.wait(PATIENCE)
        wait_until(lambda: not cluster.exists())
    assert ray_leftovers.members(str(cluster)) == []
    wait_until(lambda: not any(is_running(pid) for pid in started))


def test_sigterm_ends_with_our_own_line(folder: Path) -> None:
    with training(folder) as driver:
        cluster = cluster_of(folder)
        driver.terminate()
        _, said = driver.communicate(timeout=PATIENCE)
    assert driver.returncode == 130
    assert said.startswith("omnitm: stopped: "), said
    assert "--resume" in said
    assert len(said.splitlines()) == 1, said
    assert not cluster.exists()


def test_the_next_start_removes_what_is_left(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    with training(folder) as driver:
        cluster = cluster_of(folder)
        ray_leftovers.remove_leftovers()
        assert ray_leftovers.members(str(cluster)), "its driver is alive"
        for pid in descendants(driver.pid):
            if ray_leftovers.__file__.encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)
        driver.kill()
        driver.wait()
    assert cluster.exists()
    ray_leftovers.remove_leftovers()
    assert not cluster.exists()
    assert ray_leftovers.members(str(cluster)) == []


@pytest.fixture
def nobody() -> Iterator[int]:
    """Reserve a port on which nobody listens."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        yield int(reserved.getsockname()[1])


@pytest.mark.parametrize("address", ["127.0.0.1:{}", "ray://127.0.0.1:{}", "ray://127.0.0.1:{}/?a=b"])
def test_nothing_listens(topics: DocumentIndex, nobody: int, address: str) -> None:
    with pytest.raises(
        EngineError, match=r"no connection to .*127\.0\.0\.1:\d+.* \(.*refused\); is it running"
    ):
        train_vectors(topics, engine=RayEngine(address.format(nobody)))


def test_a_model_is_not_replaced_before_the_cluster_was_reached(
    topics: DocumentIndex, nobody: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, new = tmp_path / "m", tmp_path / "new"
    train_model(topics, model, ["sea", "ship"])
    before = (model / "manifest.json").read_bytes()
    ray = ["--engine", "ray", "--address", f"127.0.0.1:{nobody}", "--quiet"]
    for output in (["-o", str(model), "--force"], ["-o", str(new)]):
        assert main(["train", str(topics.path), *output, *ray]) == 2
        said = capsys.readouterr().err
        assert said.startswith(f"omnitm: error: Ray: no connection to 127.0.0.1:{nobody} (")
        assert len(said.splitlines()) == 1
    assert (model / "manifest.json").read_bytes() == before
    assert not new.exists()


@pytest.mark.parametrize("address", ["nowhere", "nowhere:x", "ray://", "host:99999999", ":6379"])
def test_no_address(topics: DocumentIndex, address: str) -> None:
    with pytest.raises(EngineError, match=r"\(not an address such as HOST:6379\)"):
        train_vectors(topics, engine=RayEngine(address))


def test_an_unknown_host(topics: DocumentIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(EngineError, match=r"no connection to cluster\.invalid:6379 \(.*not known\)"):
        train_vectors(topics, engine=RayEngine("cluster.invalid:6379"))


def test_a_name_server_or_a_listener_that_never_answers(
    topics: DocumentIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_cluster, "_SECONDS_TO_CONNECT", 0.2)
    answered = threading.Event()

    def silent(*_: object) -> socket.socket:
        answered.wait(60)
        return socket.socket()

    monkeypatch.setattr(socket, "create_connection", silent)
    with pytest.raises(EngineError, match=r"no connection to some\.where:6379 \(no answer in 0 seconds\)"):
        train_vectors(topics, engine=RayEngine("some.where:6379"))
    answered.set()


SETTINGS = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])  # how an HTTP/2 server begins


@contextlib.contextmanager
def listener(answer: bytes | None = None) -> Iterator[int]:
    """Listen at a port; answer the greeting and hang up, but for HTTP/2; None: be silent for good."""
    taken: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0), backlog=50) as server:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    taken.append(server.accept()[0])
                    if answer is not None:
                        taken[-1].recv(33, socket.MSG_WAITALL)
                        taken[-1].sendall(answer)
                    if answer not in {None, SETTINGS}:
                        taken[-1].close()

        thread = threading.Thread(target=serve)
        thread.start()
        yield int(server.getsockname()[1])
        server.shutdown(socket.SHUT_RDWR)  # ends the wait for more of them
        thread.join(PATIENCE)
        for connection in taken:
            connection.close()


NOT_RAY = "what listens there is not Ray: it answers"


@pytest.mark.parametrize("scheme", ["", "ray://"])
@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (b"SSH-2.0-OpenSSH_9.6\r\n", f"{NOT_RAY} with b'SSH-2.0-O'"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", f"{NOT_RAY} with b'HTTP/1.1 '"),
        (b"\0\0\0\4", rf"{NOT_RAY} with b'\x00\x00\x00\x04'"),
        (b"", f"{NOT_RAY} by hanging up"),
        (None, "no answer in 0 seconds"),
    ],
)
def test_a_listener_that_is_not_ray(
    topics: DocumentIndex,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    scheme: str,
    answer: bytes | None,
    problem: str,
) -> None:
    if answer is None:
        monkeypatch.setattr(ray_cluster, "_SECONDS_TO_CONNECT", 0.2)
    with listener(answer) as port:
        address = f"{scheme}127.0.0.1:{port}"
        options = ["--engine", "ray", "--address", address]
        assert main(["train", str(topics.path), "-o", str(tmp_path / "m"), *options]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"omnitm: error: Ray: no connection to {address} ({problem}); ")
    assert len(said.splitlines()) == 1
    assert not (tmp_path / "m").exists()


def test_a_listener_that_begins_like_ray(topics: DocumentIndex, tmp_path: Path) -> None:
    """In a process of its own, with the real time limit: Ray tries, and what it writes is not shown."""
    with listener(SETTINGS) as port:
        address = f"127.0.0.1:{port}"
        command = [sys.executable, "-m", "omnitm.cli", "train", str(topics.path), "-o", str(tmp_path / "m")]
        ended = subprocess.run(
            [*command, "--engine", "ray", "--address", address],
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"omnitm: error: Ray: no connection to {address} (")
    assert len(ended.stderr.splitlines()) == 1
    assert not (tmp_path / "m").exists()


def test_an_encrypted_cluster_is_left_to_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_USE_TLS", "1")
    with listener() as port:
        ray_cluster.reach(f"127.0.0.1:{port}")


def test_what_ray_writes_is_shown_if_it_succeeds(capfd: pytest.CaptureFixture[str]) -> None:
    with ray_cluster._unheard_if_it_fails():
        os.write(2, b"a warning\n")
        assert capfd.readouterr().err == ""
    assert capfd.readouterr().err == "a warning\n"
    with contextlib.suppress(EngineError), ray_cluster._unheard_if_it_fails():
        os.write(2, b"a warning\n")
        raise EngineError
    os.write(2, b"what follows\n")
    assert capfd.readouterr().err == "what follows\n"


LATE = """
import os, sys, time
from omnitm.engines import ray_cluster
from omnitm.errors import EngineError

def speak():
    time.sleep(0.3)
    os.write(2, b"late")
    os.write(1, b"said")
    time.sleep(60)

try:
    with ray_cluster._unheard_if_it_fails():
        ray_cluster.within(time.monotonic() + 0.1, "somewhere:1", speak)
except EngineError as error:
    print(error, file=sys.stderr)
while os.fstat(1).st_size == 0:
    time.sleep(0.01)
sys.stderr.flush()
os._exit(0)
"""


def test_what_ray_says_after_we_gave_up_is_unheard(tmp_path: Path) -> None:
    """The attempt goes on in its thread, until the process has ended."""
    with (tmp_path / "said").open("wb") as out:
        done = subprocess.run(
            [sys.executable, "-c", LATE], stdout=out, stderr=subprocess.PIPE, text=True, check=True
        )
    assert (tmp_path / "said").read_bytes() == b"said"
    assert done.stderr.startswith("Ray: no connection to somewhere:1 (no answer in 12 seconds)")
    assert "late" not in done.stderr
    assert len(done.stderr.splitlines()) == 1
