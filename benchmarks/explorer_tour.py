"""A tour of the explorer: twelve things that a newcomer does, with what is typed and what is seen.

    omnitm demo
    python benchmarks/explorer_tour.py omnitm-demo/model       # docs/tour.md and its pictures
    python benchmarks/explorer_tour.py wiki.model --pictures   # those of README and docs/explorer.md
    python benchmarks/explorer_tour.py yelp.model --pictures   # that of groups; the index: --group stars

Every task is done in a real browser: by this script in headless Chromium, by the tests in Firefox, too.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import io
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firefox import Firefox
from selenium import webdriver
from selenium.common.exceptions import (
    ElementClickInterceptedException,
    NoSuchElementException,
    StaleElementReferenceException,
)
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DOCS = Path(__file__).parents[1] / "docs"
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--disable-gpu",
    "--window-size=1200,900",
)  # fmt: skip
GROUPS = "music: piano violin jazz%0Aanimals: dog cat lion horse%0Afood: bread rice cheese soup"
PATIENCE = 120  # seconds that are waited for something to be seen
COLOURS = 256  # of a picture: enough for a page, and small


def open_browser(folder: Path, name: str = "chromium") -> Any:
    """Start headless Chromium, or Firefox, with its files in a folder."""
    found: Any = Firefox(folder) if name == "firefox" else open_chromium(folder)
    found.set_script_timeout(PATIENCE)
    return found


def open_chromium(folder: Path) -> Any:
    """Start headless Chromium with its files in a folder."""
    options = webdriver.ChromeOptions()
    for flag in (*FLAGS, f"--user-data-dir={folder}"):
        options.add_argument(flag)
    options.binary_location = str(CHROMIUM)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(str(DRIVER)))


class Page:
    """The browser, with the waiting that pages need."""

    def __init__(self, browser: Any, address: str) -> None:
        self.browser, self.address = browser, address

    def open(self, query: str = "") -> None:
        """Open an address of the page."""
        self.browser.get(f"{self.address}{query}")
        self.see("#views a")

    def until(self, true: Callable[[], Any]) -> Any:
        """Wait until something is true."""
        ignored = (NoSuchElementException, StaleElementReferenceException, IndexError)
        return WebDriverWait(self.browser, PATIENCE, 0.05, ignored).until(lambda _: true())

    def all(self, selector: str) -> list[Any]:
        """All elements that are there now."""
        return list(self.browser.find_elements("css selector", selector))

    def see(self, selector: str, text: str = "") -> Any:
        """Wait for an element that is shown and has this text."""
        return self.until(
            lambda: next(
                e for e in [*self.all(selector), None] if e is None or (e.is_displayed() and text in e.text)
            )
        )

    def click(self, selector: str, text: str = "") -> None:
        """Click an element as soon as it can be clicked."""

        def clicked() -> bool:
            with contextlib.suppress(ElementClickInterceptedException):
                self.see(selector, text).click()
                return True
            return False

        self.until(clicked)

    def settled(self) -> None:
        """Wait until nothing is loading."""
        self.until(lambda: self.all("main *") and not self.all(".loading"))

    def run(self, script: str) -> Any:
        """Run JavaScript."""
        return self.browser.execute_script(script)

    def keys(self, *keys: str) -> None:
        """Press keys."""
        ActionChains(self.browser).send_keys(*keys).perform()

    def search(self, *typed: str) -> None:
        """Type into the search field, wait for suggestions, press Enter."""
        self.run("document.activeElement.blur()")
        self.keys("/")
        self.keys(*typed)
        self.see("#search [role=option]")
        self.keys(Keys.ENTER)

    @property
    def query(self) -> str:
        """What the address says after the question mark."""
        return str(self.run("return decodeURIComponent(location.search)"))


@dataclass(frozen=True)
class Task:
    """One thing to do.

    Attributes
    ----------
    title, typed, seen
        What a newcomer wants, what they type or click, and what they see.
    act
        Does it, and fails if it is not seen.
    """

    title: str
    typed: str
    seen: str
    act: Callable[[Page], None]


def look_around(page: Page) -> None:
    """Open the page."""
    page.open()
    page.see(".invitations li a", "alike?")
    page.until(lambda: page.run("return document.querySelector('.map-stage')?.stage?.labels.captions.length"))
    page.see("[data-card=about]", "of a word's ten most similar words")


def follow_an_invitation(page: Page) -> None:
    """Click the first question."""
    page.open()
    page.click(".invitations a", "alike?")
    page.see("[data-part=score]", "nearer than")
    page.see(".wings .feature")


def search_a_word(page: Page) -> None:
    """Type a word with a capital."""
    page.open()
    page.see(".invitations")
    page.search("Socket")
    page.see("h1", "socket")
    page.see("[data-part=neighbours] .bars li")


def misspell_a_word(page: Page) -> None:
    """Type a word that is not there."""
    page.open()
    page.see(".invitations")
    page.search("sokcet")
    page.see("h1", "socket")


def change_what_near_means(page: Page) -> None:
    """Switch the list of neighbours."""
    page.open("?word=thread")
    page.see("[data-part=neighbours] .bars li")
    page.click("[data-choose=alike]")
    page.see("[data-part=neighbours]", "words that can stand in its place")
    page.see("[data-choose=alike][aria-pressed=true]")
    page.see("[data-part=neighbours] .bars li")


def tell_senses_apart(page: Page) -> None:
    """Read what a word means."""
    page.open("?word=test")
    page.see("[data-part=senses]", "groups of documents")
    page.until(lambda: len(page.all(".senses > li")) > 1)
    page.see(".senses mark")
    page.see("[data-part=sentences] mark")


def find_themes(page: Page) -> None:
    """Look at the themes, and open the one that a word is about."""
    page.open("?view=themes")
    page.see(".themes li a")
    page.open("?word=socket")
    page.click("[data-part=themes] .bars a")
    page.see("h2", "Words that have most of it")
    page.see("h2", "Features that make it")
    page.see("[data-part=documents] mark")


def compare_two_words(page: Page) -> None:
    """Compare, and read documents."""
    page.open("?view=compare&word=server")
    page.see("input[name=second]").send_keys("client")
    page.see(".pair-form [role=option]")
    page.keys(Keys.ENTER)
    page.see("[data-part=score]", "nearer than")
    page.click("[data-part=score] button", "Read some")
    marks = page.until(lambda: {mark.text.lower() for mark in page.all("#evidence mark")})
    if not marks:
        raise NoSuchElementException("no marked word")


def read_rules(page: Page) -> None:
    """Read rules, and the documents behind one."""
    page.open("?view=rules&word=socket")
    page.see("[data-part=document-rules] .rule-line", "times as often as by chance")
    page.click("[data-part=document-rules] button", "Documents")
    page.see("#evidence .document mark")


def follow_the_training(page: Page) -> None:
    """See how a literal was learned."""
    page.open("?view=trace&word=socket")
    page.click(".words a")
    page.see("[data-plot=trace] canvas")
    page.see(".event mark")


def find_a_word_on_the_map(page: Page) -> None:
    """Look for a word on the map, with the keyboard only."""
    page.open("?word=thread")
    page.run("document.activeElement.blur()")
    page.keys("1")
    page.see("[data-card=word] .true-neighbours li")
    page.run("document.querySelector('.map-stage').focus()")
    page.keys("+")
    page.until(lambda: "camera=" in page.query)


AROUND_THE_MIDDLE = """
const { stage } = document.querySelector(".map-stage");
return [stage.element.clientWidth / 5, stage.element.clientHeight / 5].map(Math.round);
"""


def draw_around_words(page: Page) -> None:
    """Draw a lasso."""
    page.open("?view=map")
    page.click(".map-tools button", "Lasso")
    stage = page.see(".map-stage")
    x, y = page.run(AROUND_THE_MIDDLE)
    chain = (
        ActionChains(page.browser, duration=20).move_to_element_with_offset(stage, -x, -y).click_and_hold()
    )
    for place in ((x, -y), (x, y), (-x, y)):
        chain.move_to_element_with_offset(stage, *place)
    chain.release().perform()
    page.see("[data-card=lasso]", "At their middle")


TASKS = (
    Task(
        "Look around",
        "`omnitm demo`, then `omnitm explore omnitm-demo/model`",
        "The map of the vocabulary, with captions that say what its regions are about, and three questions.",
        look_around,
    ),
    Task(
        "Follow a question",
        "Click *Why are … alike?*",
        "How near the two words are; why, in one sentence; and the coordinates that the score is made of.",
        follow_an_invitation,
    ),
    Task(
        "Search a word",
        "`/`, then `Socket` and Enter",
        "The page of *socket*: words are found as people type them.",
        search_a_word,
    ),
    Task(
        "Search a word that is spelled wrongly",
        "`/`, then `sokcet` and Enter",
        "The likely word comes first, and Enter takes it.",
        misspell_a_word,
    ),
    Task(
        "Find words that can stand in its place",
        "On the page of *thread*, click *Alike*",
        "One list of neighbours; the switch chooses what *near* means. Beside each score: how rare it is.",
        change_what_near_means,
    ),
    Task(
        "Find out what a word means here",
        "Open *test*",
        "Its senses, each with its share, features, neighbours and a document; then sentences.",
        tell_senses_apart,
    ),
    Task(
        "Find out what it is about",
        "*Themes*; then, on the page of *socket*, click its first theme",
        "The theme: the words that have most of it, its features, and documents with many of its words.",
        find_themes,
    ),
    Task(
        "Compare two words",
        "On *Compare*, `server` and `client`; then *Read some*",
        "How near they are among all pairs of words, and documents with both.",
        compare_two_words,
    ),
    Task(
        "Check a rule",
        "On *Rules*, `socket`; *Documents* beside the first rule",
        "Rules that hold in single documents, with support and lift, and the documents that satisfy one.",
        read_rules,
    ),
    Task(
        "See how it was learned",
        "On *Trace*, `socket` and one of its literals",
        "The literal's mean state, example by example, and the documents that moved it most.",
        follow_the_training,
    ),
    Task(
        "Find a word on the map without a mouse",
        "On the page of *thread*, press `1`, then `+`",
        "The word among its neighbours; dashed lines lead to true neighbours that the map puts apart.",
        find_a_word_on_the_map,
    ),
    Task(
        "Ask what words have in common",
        "On the map, *Lasso*, and draw around some",
        "The words at their middle, and what they lean on more than all words do.",
        draw_around_words,
    ),
)


def save_picture(page: Page, path: Path) -> None:
    """Save what is seen as a small PNG."""
    from PIL import Image

    page.settled()
    time.sleep(0.5)  # the map draws its names
    data = page.browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"]
    image = Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")
    # Median cut, the default, would make the colours of small clusters one.
    few = image.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def look(page: Page, width: int = 1200, height: int = 900, *, dark: bool = False) -> None:
    """Choose the size of the window, and light or dark."""
    if isinstance(page.browser, Firefox):
        page.browser.look(width, height, dark=dark)
        return
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})


@contextlib.contextmanager
def explored(model: Path) -> Iterator[Page]:
    """Serve a model, and open a browser."""
    command = [sys.executable, "-m", "omnitm.cli", "explore", str(model), "--port", "0", "--no-browser"]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process,
    ):
        assert process.stdout is not None  # noqa: S101 - for the type checker
        address = next(part for line in process.stdout for part in line.split() if part.startswith("http://"))
        browser = open_browser(Path(folder))
        try:
            yield Page(browser, address)
        finally:
            browser.quit()
            process.terminate()


def write_tour(page: Page) -> None:
    """Do every task, and write down what is typed and seen."""
    lines = [
        "# Twelve things to do in the explorer",
        "",
        "Made by `python benchmarks/explorer_tour.py omnitm-demo/model`; the browser tests do the same.",
        "The model is that of `omnitm demo`: 500 words of the documentation inside Python.",
    ]
    look(page, 1120, 720)
    for number, task in enumerate(TASKS, 1):
        task.act(page)
        name = f"tour-{number:02}.png"
        save_picture(page, DOCS / "pictures" / name)
        lines += ["", f"## {number}. {task.title}", "", f"{task.typed}.", "", f"{task.seen}", ""]
        lines += [f"![{task.title}](pictures/{name})"]
        print(f"{number:2} {task.title}", flush=True)
    (DOCS / "tour.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


_HAS_GROUPS = "return [...document.querySelectorAll('#views a')].some((link) => link.href.includes('groups'))"


def write_pictures(page: Page) -> None:
    """Take the pictures of README and docs/explorer.md."""
    page.open()
    has_groups = page.run(_HAS_GROUPS)
    shown = (
        {"explorer-groups": ("?view=groups&word=service", False, 1200, 1000)}
        if has_groups
        else {
            "explorer-map": ("", False, 1200, 800),
            "explorer-map-dark": ("?view=map&word=piano", True, 1200, 800),
            "explorer-map-groups": (f"?view=map&colour=groups&groups={GROUPS}", False, 1200, 800),
            "explorer-word": ("?word=bank", False, 1200, 900),
            "explorer-compare": ("?view=compare&word=king&other=queen", False, 1200, 900),
            "explorer-rules": ("?view=rules&word=bank", False, 1200, 800),
            "explorer-trace": ("?view=trace&word=bank&literal=money", False, 1200, 800),
            "explorer-narrow": ("", False, 390, 844),
        }
    )
    for name, (query, dark, width, height) in shown.items():
        look(page, width, height, dark=dark)
        page.open(query)
        page.see("main *")
        if not query:
            page.see(".invitations li")
        if has_groups:
            page.see("[data-side=first]")
        save_picture(page, DOCS / "pictures" / f"{name}.png")
        print(name, flush=True)


def main() -> None:
    """Take the tour, or the other pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--pictures", action="store_true", help="those of README and docs/explorer.md")
    arguments = parser.parse_args()
    with explored(arguments.model) as page:
        (write_pictures if arguments.pictures else write_tour)(page)


if __name__ == "__main__":
    main()
