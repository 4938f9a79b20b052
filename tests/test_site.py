"""The documentation site builds without warnings, loads nothing from elsewhere, and can be searched."""

from __future__ import annotations

import http.server
import re
import shutil
import subprocess
import sys
import threading
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
OWN_ENVIRONMENT = ROOT / ".venv-docs" / "bin" / "python"
FLAGS = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run")


def interpreter() -> str:
    """Find a Python that has mkdocs: this one, or the one that `make docs` set up."""
    if find_spec("mkdocstrings") and find_spec("material"):
        return sys.executable
    if not OWN_ENVIRONMENT.exists():
        pytest.skip("nothing to build the site with: pip install 'omnitm[docs]', or `make docs` once")
    return str(OWN_ENVIRONMENT)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site."""
    folder = tmp_path_factory.mktemp("site")
    command = [interpreter(), "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {"NO_MKDOCS_2_WARNING": "1", "PATH": "/usr/bin:/bin"}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder


def test_the_site(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        loaded = re.findall(r"<(?:script|img|link)[^>]+(?:src|href)=\"(https?://[^\"]+)", page.read_text())
        assert not loaded, page
    reference = (site / "api" / "word-vectors.html").read_text()
    for name in ("most_similar", "save_word2vec_format", "from_pretrained"):
        assert f'id="omnitm.vectors.word_vectors.WordVectors.{name}"' in reference


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    """Serve the site: browsers let no page that they read from the disk search."""
    handler = partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_words_are_found_on_the_site(address: str) -> None:
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("needs Chromium: apt-get install chromium chromium-driver")
    from selenium import webdriver
    from selenium.webdriver.support.ui import WebDriverWait

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in FLAGS:
        options.add_argument(flag)
    browser = webdriver.Chrome(options, webdriver.ChromeService(driver))
    try:
        browser.get(f"{address}/index.html")
        search = browser.find_element("css selector", ".md-search__input")
        browser.execute_script("document.querySelector('#__search').click()")
        search.send_keys("supervisor")
        found = WebDriverWait(browser, 60).until(
            lambda _: browser.find_elements("css selector", ".md-search-result__link[href*='engines.html']")
        )
        assert "Where words are trained" in (found[0].get_attribute("textContent") or "")
        search.send_keys("xyzzy")
        WebDriverWait(browser, 60).until(
            lambda _: not browser.find_elements("css selector", ".md-search-result__link")
        )
    finally:
        browser.quit()
