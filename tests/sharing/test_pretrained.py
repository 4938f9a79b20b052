"""Models for a hub: the folder, the card, and the way there and back, without a network."""

from __future__ import annotations

import hashlib
import http.server
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from omnitm.errors import FileError, MissingExtraError, ParameterError
from omnitm.store import ModelRecord
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Iterator

FACTS: dict[str, Any] = {
    "corpus": "All of <Wikipedia>",
    "license": "cc-by-sa-4.0",
    "language": "en",
    "scores": {"WS-353 (Spearman)": 0.7123456},
}


def test_there_and_back(tmp_path: Path, vectors: WordVectors) -> None:
    vectors.save_pretrained(tmp_path / "out" / "news", **FACTS)
    assert sorted(entry.name for entry in (tmp_path / "out" / "news").iterdir()) == [
        "README.md",
        "model.omnitm",
    ]
    for place in (tmp_path / "out" / "news", tmp_path / "out" / "news" / "model.omnitm"):
        again = WordVectors.from_pretrained(place)
        assert_array_equal(again.matrix[:], vectors.matrix)
        assert again.training == vectors.training
    vectors.save_pretrained(tmp_path / "out" / "news")  # replaces


def test_a_plain_model_folder_is_fine_too(tmp_path: Path, vectors: WordVectors) -> None:
    vectors.save(tmp_path / "model")
    assert len(WordVectors.from_pretrained(str(tmp_path / "model"))) == len(vectors)


def test_the_card(tmp_path: Path, vectors: WordVectors) -> None:
    vectors.save_pretrained(tmp_path / "news", **FACTS)
    card = (tmp_path / "news" / "README.md").read_text()
    front = card.split("---\n")[1]
    assert "library_name: omnitm" in front
    assert 'license: "cc-by-sa-4.0"' in front
    for text in ("# news\n", "150 words x 200 coordinates", "All of &#60;Wikipedia&#62;", "0.7123"):
        assert text in card
    assert "| n&#95;clauses | 32 |" in card
    assert "| seed | 3 |" in card
    assert f"`{'0' * 64}`" in card
    assert "| w0 | " in card
    (code,) = [part.split("```")[0] for part in card.split("```python\n")[1:]]
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102 - our own card
    assert names["vectors"].index_to_key == vectors.index_to_key


def test_the_card_of_a_model_about_which_little_is_known(tmp_path: Path) -> None:
    words = ["a|b", "`c`\n", "<script>", "# x"]
    matrix = np.eye(4, dtype=np.float32)
    record = ModelRecord("word2vec", {"window": 5}, 0, "0" * 64)
    words[1] = "`c`"
    WordVectors(matrix, words, None, training=record).save_pretrained(tmp_path / "w")
    card = (tmp_path / "w" / "README.md").read_text()
    assert "Not described by the author" in card
    assert "Not stated by the author" in card
    assert "None known." in card
    assert "Compare them by cosine" in card
    assert "license:" not in card
    assert "<script>" not in card
    assert "| a&#124;b |" in card


def test_the_card_says_what_is_not_kept(tmp_path: Path, vectors: WordVectors) -> None:
    from dataclasses import replace

    record = replace(vectors.training, keep_top=7)  # type: ignore[type-var]
    kept = WordVectors(vectors.matrix, vectors.index_to_key, vectors.feature_names, training=record)
    kept.save_pretrained(tmp_path / "k")
    assert "Only the 7 coordinates of each word" in (tmp_path / "k" / "README.md").read_text()
    assert "keep&#95;top | 7" in (tmp_path / "k" / "README.md").read_text()


def test_what_cannot_be_saved(tmp_path: Path, vectors: WordVectors) -> None:
    with pytest.raises(ParameterError, match="unknown origin"):
        WordVectors(np.zeros((1, 1), np.int16), ["a"], ["a"]).save_pretrained(tmp_path / "n")
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match="save_pretrained needs a folder"):
        vectors.save_pretrained(tmp_path / "file")
    with pytest.raises(ParameterError, match="'scores' parameter must map names to numbers"):
        vectors.save_pretrained(tmp_path / "n", scores={"a": "high"})  # type: ignore[dict-item]
    with pytest.raises(FileError, match=r"does not exist; give a folder, a file, or OWNER/NAME"):
        WordVectors.from_pretrained(tmp_path / "nowhere")
    with pytest.raises(FileError, match="does not exist"):
        WordVectors.from_pretrained("nowhere")


class Hub(http.server.BaseHTTPRequestHandler):
    """As much of the hub as a download needs: one file of one repository."""

    content = b""
    requests: list[str]

    def do_HEAD(self) -> None:
        self.answer(send=False)

    def do_GET(self) -> None:
        self.answer(send=True)

    def answer(self, *, send: bool) -> None:
        self.requests.append(f"{self.command} {self.path}")
        if self.path != "/me/news/resolve/main/model.omnitm":
            self.send_response(404)
            missing = "EntryNotFound" if self.path.startswith("/me/empty/") else "RepoNotFound"
            self.send_header("X-Error-Code", missing)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("ETag", f'"{hashlib.sha256(self.content).hexdigest()}"')
        self.send_header("X-Repo-Commit", "0" * 40)
        self.send_header("Content-Length", str(len(self.content)))
        self.end_headers()
        if send:
            self.wfile.write(self.content)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def hub(tmp_path: Path, vectors: WordVectors, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Serve a model on this machine, and have the real huggingface_hub fetch it from here."""
    real = pytest.importorskip("huggingface_hub")
    vectors.save_pretrained(tmp_path / "served")
    Hub.content, Hub.requests = (tmp_path / "served" / "model.omnitm").read_bytes(), []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    fetch = real.hf_hub_download
    monkeypatch.setattr(real, "hf_hub_download", lambda *a, **k: fetch(*a, endpoint=address, **k))
    yield Hub.requests
    server.shutdown()
    server.server_close()


@pytest.mark.filterwarnings("default")
def test_from_the_hub(tmp_path: Path, vectors: WordVectors, hub: list[str]) -> None:
    cache = tmp_path / "cache"
    with pytest.raises(FileError, match="me/news: is not in the cache"):
        WordVectors.from_pretrained("me/news", cache_dir=cache, local_files_only=True)
    assert not hub
    fetched = WordVectors.from_pretrained("me/news", cache_dir=cache)
    assert_array_equal(fetched.matrix[:], vectors.matrix)
    hub.clear()
    again = WordVectors.from_pretrained("me/news", cache_dir=cache, local_files_only=True)
    assert again.index_to_key == vectors.index_to_key
    assert not hub
    with pytest.raises(FileError, match="me/other: is not on the hub, or needs a token"):
        WordVectors.from_pretrained("me/other", cache_dir=cache)
    with pytest.raises(FileError, match=r"me/empty: has no model\.omnitm"):
        WordVectors.from_pretrained("me/empty", cache_dir=cache)
    with pytest.raises(ParameterError, match="is not the name of a model on the hub"):
        WordVectors.from_pretrained("me/..", cache_dir=cache)


class FakeApi:
    """Remember what would be uploaded."""

    def __init__(self, **settings: Any) -> None:
        self.calls: list[Any] = [settings]
        UPLOADS.append(self.calls)

    def create_repo(self, repo_id: str, **options: Any) -> None:
        if repo_id == "me/refused":
            raise PermissionError("403 Forbidden")
        self.calls.append((repo_id, options))

    def upload_folder(self, *, folder_path: str, **options: Any) -> SimpleNamespace:
        files = {entry.name: entry.read_bytes() for entry in Path(folder_path).iterdir()}
        self.calls.append((files, options))
        return SimpleNamespace(commit_url="https://hub/me/news/commit/1")


UPLOADS: list[list[Any]] = []


def test_to_the_hub(tmp_path: Path, vectors: WordVectors, monkeypatch: pytest.MonkeyPatch) -> None:
    real = pytest.importorskip("huggingface_hub")
    monkeypatch.setattr(real, "HfApi", FakeApi)
    UPLOADS.clear()
    where = vectors.push_to_hub("me/news", private=True, token="t", license="mit")  # noqa: S106 - not one
    assert where == "https://hub/me/news/commit/1"
    ((settings, made, (files, options)),) = UPLOADS
    assert settings == {"token": "t", "library_name": "omnitm"}
    assert made == ("me/news", {"private": True, "exist_ok": True})
    assert options["repo_id"] == "me/news"
    assert set(files) == {"README.md", "model.omnitm"}
    assert "WordVectors.from_pretrained('me/news')" in files["README.md"].decode()
    (tmp_path / "fetched.omnitm").write_bytes(files["model.omnitm"])
    assert_array_equal(WordVectors.load(tmp_path / "fetched.omnitm", verify=True)["w3"], vectors["w3"])
    with pytest.raises(FileError, match="me/refused: the hub refuses or cannot be reached: 403"):
        vectors.push_to_hub("me/refused")


def test_without_the_extra(vectors: WordVectors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'omnitm\[hub\]'"):
        WordVectors.from_pretrained("me/news")
    with pytest.raises(MissingExtraError, match=r"pip install 'omnitm\[hub\]'"):
        vectors.push_to_hub("me/news")
