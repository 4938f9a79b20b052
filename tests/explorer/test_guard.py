"""The server answers its own page and nobody else, little at a time."""

from __future__ import annotations

import json
import select
import socket
import threading
import urllib.request
from http.client import HTTPConnection
from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from omnitm.errors import ParameterError
from omnitm.explorer import ExplorerSettings
from omnitm.explorer.answers import Answers
from omnitm.explorer.app import listen

from .conftest import RunningServer

if TYPE_CHECKING:
    from omnitm.explain import Explainer


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "", "127.0.0.1@evil"]
)
def test_foreign_hosts_are_refused(client: TestClient, host: str) -> None:
    answer = client.get("/api/model", headers={"Host": host})
    assert answer.status_code == 421
    assert "own address" in answer.json()["error"]


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:9", "[::1]:8765", "LOCALHOST", "[::1]"])
def test_own_hosts_are_not(client: TestClient, host: str) -> None:
    assert client.get("/api/model", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:9999", "file://127.0.0.1:8765"]
)
def test_foreign_origins_are_refused(client: TestClient, origin: str) -> None:
    answer = client.post("/api/common", json={"words": ["car", "wheel"]}, headers={"Origin": origin})
    assert answer.status_code == 403
    assert "another page" in answer.json()["error"]


def test_the_own_origin_is_not(client: TestClient) -> None:
    headers = {"Origin": "http://127.0.0.1:8765"}
    assert client.post("/api/common", json={"words": ["car", "wheel"]}, headers=headers).status_code == 200


def test_other_sites_cannot_embed_answers(client: TestClient) -> None:
    assert client.get("/api/model", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert (
        client.get("/", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200
    )  # a link that was shared


def test_every_answer_has_a_strict_policy(client: TestClient) -> None:
    for path in ("/", "/js/main.js", "/api/model", "/nothing"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers


def test_the_page_loads_nothing_from_elsewhere(client: TestClient) -> None:
    page = client.get("/").text
    assert "http://" not in page
    assert "https://" not in page
    assert "<script>" not in page
    assert "style=" not in page


PATHS = [
    "/../pyproject.toml",
    "/js/../../app.py",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/..%2f..%2fetc/passwd",
    "/js/..%5c..%5capp.py",
    "//etc/passwd",
    "/static/index.html",
    "/js/",
    "/js",
    "/index.html",
    "/api/",
    "/js/main.js/..",
    "/%00",
    "/js/main.js%00.png",
]


def test_path_traversal_gives_404(server: RunningServer) -> None:
    for path in PATHS:
        connection = HTTPConnection("127.0.0.1", server.port, timeout=120)
        connection.putrequest("GET", path, skip_host=False)
        connection.endheaders()
        assert connection.getresponse().status == 404, path
        connection.close()


def test_large_bodies_are_refused_with_and_without_a_length(client: TestClient) -> None:
    big = json.dumps({"words": ["x" * 300_000]}).encode()
    assert client.post("/api/common", content=big).status_code == 413
    assert client.post("/api/common", content=iter([big[:200_000], big[200_000:]])).status_code == 413
    assert client.post("/api/common", content=b"{}", headers={"Content-Length": "-1"}).status_code == 413


def test_methods_that_are_not_offered(client: TestClient) -> None:
    assert client.delete("/api/model").status_code == 405
    assert client.post("/").status_code == 405


def test_a_question_that_takes_too_long_is_given_up(
    explainer: Explainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from omnitm.explorer import create_app

    release = threading.Event()
    monkeypatch.setattr(Answers, "row", lambda *_: release.wait(120))
    app = create_app(explainer, ExplorerSettings(timeout=0.05))
    answer = TestClient(app, base_url="http://localhost").get("/api/row", params={"word": "car"})
    release.set()
    assert answer.status_code == 503
    assert "no answer within 0.05 seconds" in answer.json()["error"]


def test_a_hundred_slow_clients_do_not_block_a_fast_one(
    explainer: Explainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of them never finish their request, the other half ask questions that end after all the others."""
    started, release = threading.Event(), threading.Event()

    def slow(*_: object) -> dict[str, str]:
        started.set()
        release.wait(300)
        return {}

    monkeypatch.setattr(Answers, "rules", slow)
    with RunningServer(explainer, ExplorerSettings(port=0, max_waiting=20, timeout=600)) as server:
        slow_ones = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(100)]
        host = f"Host: 127.0.0.1:{server.port}\r\n"
        for connection in slow_ones[:50]:
            connection.sendall(f"POST /api/common HTTP/1.1\r\n{host}Content-Length: 900\r\n\r\n{{".encode())
        for connection in slow_ones[50:]:
            connection.sendall(f"GET /api/rules?word=car HTTP/1.1\r\n{host}\r\n".encode())
        assert started.wait(120)
        for _ in range(5):
            with urllib.request.urlopen(f"{server.address}api/neighbours?word=car", timeout=120) as answer:  # noqa: S310 - our own
                assert json.load(answer)["neighbours"]
        refused = [connection.recv(100) for connection in select.select(slow_ones[50:], [], [], 300)[0]]
        release.set()
        for connection in slow_ones:
            connection.close()
    assert refused
    assert all(b"503" in answer for answer in refused)


def test_a_port_in_use_says_what_to_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ParameterError, match=rf"Port {port} is in use; choose another with --port"):
            listen(ExplorerSettings(port=port))


def test_an_address_that_is_not_ours() -> None:
    with pytest.raises(ParameterError, match=r"Cannot listen at 192\.0\.2\.1:8765"):
        listen(ExplorerSettings(host="192.0.2.1"))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])  # noqa: S104 - to see them refused
def test_the_whole_network_is_refused(host: str) -> None:
    with pytest.raises(ParameterError, match="must name one address"):
        ExplorerSettings(host=host)


@pytest.mark.parametrize("name", ["port", "max_k", "max_body", "n_quick"])
def test_settings_are_checked(name: str) -> None:
    with pytest.raises(ParameterError, match=f"'{name}' parameter of ExplorerSettings"):
        ExplorerSettings(**{name: -1})  # type: ignore[arg-type]
