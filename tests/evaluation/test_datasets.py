from __future__ import annotations

import hashlib
import threading
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from omnitm.errors import FileError, ParameterError
from omnitm.evaluation.datasets import DATA_SETS, PAPER_SETS, cache_folder, data_set, locate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RG = data_set("RG-65")
CONTENT = b"gem\tjewel\t3.94\n"


@pytest.fixture(autouse=True)
def _nothing_around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMNITM_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "www").mkdir()
    (tmp_path / "www" / "rg.txt").write_bytes(CONTENT)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path / "www")) as served:
        thread = threading.Thread(target=served.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{served.server_address[1]}/rg.txt"
        served.shutdown()
        thread.join()


def test_every_set_can_be_found_by_its_names() -> None:
    hashes = [known.sha256 for known in DATA_SETS if known.sha256 and known.lines is None]
    assert len(set(hashes)) == len(hashes)
    for known in DATA_SETS:
        files = known.files if known.lines is None else ()  # a part of a set is known by its own name only
        assert all(data_set(name) is known for name in (known.name, *known.aliases, *files))
        assert known.use.startswith(("tuned on", "report"))
        assert known.citation and known.licence and known.home.startswith("http")  # noqa: PT018
    assert data_set("MTURK_717").name == "MTURK-771"
    assert all(data_set(name).name == name for name in PAPER_SETS)


def test_a_set_without_an_address_says_where_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="nowhere to download in this form; get it from https://pilehvar"):
        locate(data_set("Card-660"), tmp_path)


def test_unknown_set() -> None:
    with pytest.raises(
        ParameterError, match="'WS-999' is neither a known data set nor a file; known are 'WS-353'"
    ):
        data_set("WS-999")


def test_a_folder_and_its_wordsim_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wordsim").mkdir()
    inside = tmp_path / "wordsim" / "EN-RG-65.txt"
    inside.write_bytes(CONTENT)
    assert locate(RG, tmp_path) == inside
    monkeypatch.setenv("OMNITM_DATA", str(tmp_path))
    assert locate(RG) == inside
    (tmp_path / "rg65.csv").write_bytes(CONTENT)
    inside.unlink()
    assert locate(RG) == tmp_path / "rg65.csv"


def test_data_must_be_a_folder(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="nowhere: is not a folder; --data needs the folder"):
        locate(RG, tmp_path / "nowhere")


def test_a_missing_set_is_named_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(
        FileError,
        match=r"RG-65.txt: the data set RG-65 is not here .*\(add --download to fetch it\); .*--data DIR",
    ):
        locate(RG, tmp_path)


def test_installed_packages_are_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "carrier_of_pairs"
    package.mkdir()
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    (package / "rg.tsv").write_bytes(CONTENT)
    monkeypatch.syspath_prepend(tmp_path)
    known = replace(RG, packaged=(("no_such_package_at_all", "x"), ("carrier_of_pairs", "rg.tsv")))
    assert locate(known) == package / "rg.tsv"


def test_download_is_checked_and_kept(server: str) -> None:
    known = replace(RG, address=server, sha256=hashlib.sha256(CONTENT).hexdigest())
    path = locate(known, download=True)
    assert path == cache_folder() / "EN-RG-65.txt"
    assert path.read_bytes() == CONTENT
    assert locate(known) == path
    path.write_bytes(b"damaged")
    with pytest.raises(FileError, match="was not downloaded"):
        locate(known)
    assert locate(known, download=True).read_bytes() == CONTENT
    assert [file.name for file in path.parent.iterdir()] == ["EN-RG-65.txt"]


def test_other_content_is_refused(server: str) -> None:
    with pytest.raises(FileError, match=r"rg.txt cannot be reached \(it gave other content: SHA-256"):
        locate(replace(RG, address=server), download=True)
    assert not cache_folder().exists()


def test_no_network(server: str) -> None:
    with pytest.raises(FileError, match=r"nothing.txt cannot be reached \(File not found\); get it from"):
        locate(replace(RG, address=server.replace("rg.txt", "nothing.txt")), download=True)
    with pytest.raises(FileError, match=r"cannot be reached .*refused"):
        locate(replace(RG, address="http://127.0.0.1:9/"), download=True)


def test_cache_without_xdg(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "omnitm" / "data"
