"""The page in a real browser: what a person would click, and what they would see."""

from __future__ import annotations

import http.server
import re
import shutil
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from explorer_tour import CHROMIUM, DRIVER, PATIENCE, TASKS, Page, Task, look, open_browser
from firefox import FIREFOX, Firefox, NotStartedError
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from omnitm.cli import main
from omnitm.cli.explore import compute_map
from omnitm.explain import Explainer
from omnitm.explorer import ExplorerSettings
from omnitm.explorer.map_file import header_of, read_map
from omnitm.explorer.map_keeper import MapWork

from .conftest import MARKUP, RunningServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="needs Chromium: apt-get install chromium chromium-driver"
)


both = pytest.mark.parametrize("browser", ["chromium", "firefox"], indirect=True)


@pytest.fixture(scope="module")
def browsers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Any]]:
    """Open a browser when it is first asked for."""
    found: dict[str, Any] = {}
    problems: dict[str, str] = {}

    def browser(name: str) -> Any:
        if name not in found and name not in problems:
            try:
                found[name] = open_browser(tmp_path_factory.mktemp(name), name)
            except NotStartedError as problem:
                problems[name] = f"needs Firefox: {problem}"  # once is enough
        if name in problems:
            pytest.skip(problems[name])
        return found[name]

    yield browser
    for one in found.values():
        one.quit()


@pytest.fixture
def browser(browsers: Callable[[str], Any], request: pytest.FixtureRequest) -> Any:
    """Chromium; and Firefox, where a test is for both."""
    name = getattr(request, "param", "chromium")
    if name == "firefox" and FIREFOX is None:
        pytest.skip("needs Firefox: apt-get install firefox-esr")
    return browsers(name)


@pytest.fixture(scope="module")
def small_map(folder: Path) -> None:
    """The map of the small model, so that no test has it change under its hands."""
    assert compute_map(folder, quiet=True) == ""


@pytest.fixture
def page(browser: Any, server: RunningServer, small_map: None) -> Iterator[Page]:  # noqa: ARG001 - made before
    """The page; afterwards the browser must not have complained, except about what the server refused."""
    browser.get_log("browser")
    yield Page(browser, server.address)
    complaints = [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert [text for text in complaints if "the server responded with a status of" not in text] == []


@pytest.fixture(scope="module")
def demo_server(demo: Path) -> Iterator[RunningServer]:
    with RunningServer(Explainer.open(demo), ExplorerSettings(port=0)) as running:
        yield running


@pytest.fixture(scope="module")
def exported(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the exported page, in a folder of Python's own web server."""
    root = tmp_path_factory.mktemp("site")
    assert main(["explore", str(demo), "--export", str(root / "words"), "--words", "120"]) == 0
    handler = partial(QuietHandler, directory=str(root))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/words/"
        server.shutdown()
        thread.join()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Python's own web server, without a line per request."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@both
def test_an_exported_page_works_on_any_web_server(browser: Any, exported: str) -> None:
    browser.get_log("browser")
    page = Page(browser, exported)
    page.open()
    page.see(".invitations a", "mean here?")
    page.until(lambda: page.run("return document.querySelector('.map-stage')?.stage?.labels.captions.length"))
    assert [link.text for link in page.all("#views a")] == ["Map", "Word", "Compare", "Themes", "Rules"]
    page.search("Fuction")
    page.see("h1", "function")
    page.see("[data-part=neighbours] .bars li")
    page.see("[data-part=senses] .senses li")
    page.see("[data-part=rules] .word-rules li", "documents")
    page.click("[data-choose=alike]")
    page.see("[data-part=neighbours]", "words that can stand in its place")
    page.click("[data-part=themes] .bars a")
    page.see("h2", "Features that make it")
    page.open("?view=map&word=function")
    page.see("[data-card=word] .true-neighbours li")
    # Which neighbours the map puts near depends on the model, that some of them are on it does not.
    notes = {note.text for note in page.all("[data-card=word] .true-neighbours span")}
    assert notes <= {"near", "apart", "not here"}
    assert notes & {"near", "apart"}
    page.open("?word=fuction")
    page.click("[data-problem='404'] .words a", "function")
    page.see("h1", "function")
    page.open("?view=rules&word=function")
    page.see("h1", "Rules of function")
    page.see(".rule-line", "documents")
    page.open("?view=compare&word=function")
    page.click(".words a")
    page.see("[data-part=score]", "nearer than")
    page.see(".wings .feature")
    page.click("[aria-label='Swap the words']")
    page.see("h1", "and function")
    page.see(".wings .feature")
    page.open("?view=compare&word=function&other=time")
    page.see("[data-problem='404']", "which this exported page compares")
    if AXE.exists():
        assert faults(page) == []
    assert [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


@both
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.title)
def test_the_tour(browser: Any, demo_server: RunningServer, task: Task) -> None:
    task.act(Page(browser, demo_server.address))


def test_themes_are_found_on_the_page_of_a_word(browser: Any, demo: Path, tmp_path: Path) -> None:
    shutil.copytree(demo, tmp_path / "model", ignore=shutil.ignore_patterns("themes-*"))
    with RunningServer(Explainer.open(tmp_path / "model"), ExplorerSettings(port=0)) as running:
        page = Page(browser, running.address)
        page.open("?word=socket")
        page.click("[data-part=themes] button", "Find them")
        page.see("[data-part=themes] .bars li")


def test_themes_are_found_when_their_view_is_opened(browser: Any, demo: Path, tmp_path: Path) -> None:
    shutil.copytree(demo, tmp_path / "model", ignore=shutil.ignore_patterns("themes-*"))
    with RunningServer(Explainer.open(tmp_path / "model"), ExplorerSettings(port=0)) as running:
        page = Page(browser, running.address)
        page.open("?view=themes")
        page.see(".themes li a")
        shares = [float(share.text.split()[0]) for share in page.all(".themes .number")]
        assert shares == sorted(shares, reverse=True)
        page.open("?word=socket")
        page.see("[data-part=themes] .bars li")


def test_a_stop_word_is_called_one_while_it_is_typed(page: Page) -> None:
    page.open()
    page.see("h1", "What do words mean here?")
    page.keys("/", "The")
    page.see("#search .note", "“The” is a stop word: it was left out of the text.")


def test_search_completes_and_shows_neighbours_and_the_row(page: Page) -> None:
    page.open()
    page.see("h1", "What do words mean here?")
    page.keys("/")
    page.keys("whe")
    page.see("#search [role=option]", "wheel")
    page.keys(Keys.ARROW_DOWN, Keys.ENTER)
    page.see("h1", "wheel")
    assert page.query == "?word=wheel"
    page.see("[data-part=neighbours] .bars li")
    page.click("[data-part=row] summary")
    page.see("[data-part=row] .bars li")
    page.click("[data-choose=cosine]")
    page.until(lambda: page.query == "?word=wheel&metric=cosine")
    page.see("[data-choose=cosine][aria-pressed=true]")
    page.click("[data-part=neighbours] .bars a.name")
    page.until(lambda: "wheel" not in page.query)
    page.browser.back()
    page.see("h1", "wheel")


def test_enter_takes_the_first_suggestion(page: Page) -> None:
    page.open()
    page.see("h1", "What do words mean here?")
    page.keys("/", "harbr")
    page.see("#search [role=option]", "harbour")
    page.keys(Keys.ENTER)
    page.see("h1", "harbour")
    page.open("?word=Harbour")
    page.see("h1", "harbour")


EDGES = """
const ranks = [...document.querySelectorAll("[data-part=neighbours] .with-ranks .soft.number")];
return ranks.map((rank) => Math.round(rank.getBoundingClientRect().right));
"""


def test_one_list_of_neighbours_with_a_switch(page: Page) -> None:
    page.open("?word=wheel")
    page.see("[data-part=neighbours] .bars li")
    assert page.run("return document.querySelectorAll('[data-part=neighbours] .bars').length") == 1
    page.click("[data-choose=related]")
    page.see("[data-part=neighbours]", "words that share its topics")
    row = (
        r"\d\.\d\s+nearer than\s+>?\s?\d+\.\d+\s%\s+of all pairs of words"  # the words are for screen readers
    )
    page.until(lambda: re.search(row, page.see("[data-part=neighbours] .bars li").text))
    page.see("[data-part=neighbours] .bars-head", "nearer than")
    assert len(set(page.run(EDGES))) == 1, "percentiles are a column"


def test_two_words_typed_as_one_can_be_followed(page: Page) -> None:
    page.open("?word=Car%20wheel")
    page.see("[data-problem='404']", "is two words here: car, wheel")
    assert "most_similar" not in page.see("[data-problem='404']").text
    page.see("[data-problem] .words a", "Compare car and wheel").click()
    page.see("h1", "car and wheel")


@both
def test_an_unknown_address_is_a_page(page: Page) -> None:
    page.browser.get(f"{page.address}nowhere")
    page.see("h1", "There is nothing at this address")
    page.click("a.button", "To the start")
    page.see("h1", "What do words mean here?")


@both
def test_unknown_words_offer_spellings(page: Page) -> None:
    page.open("?word=whel")
    page.see("[data-problem='404'] h1", "No page for “whel”")
    page.see("[data-problem='404']", "Did you mean:")
    assert page.see("[data-problem='404']").text.count("wheel") == 1
    page.click("[data-problem] .words a", "wheel")
    page.see("h1", "wheel")


def test_compare_adds_up_and_leads_to_documents(page: Page) -> None:
    page.open("?view=compare&word=car&metric=cosine")
    page.see(".words a")
    field = page.see("input[name=second]")
    field.send_keys("wheel", Keys.ENTER)
    page.see(".score")
    assert page.query == "?view=compare&word=car&other=wheel&metric=cosine"
    page.see(".wings .feature")
    page.click(".result .card button", "Read some")
    marks = page.until(lambda: {mark.text.lower() for mark in page.all("#evidence mark")})
    assert {"car", "wheel"} <= marks
    page.keys(Keys.ESCAPE)
    page.until(lambda: not page.all("dialog[open]"))


def test_compare_by_clauses(page: Page) -> None:
    page.open("?view=compare&word=car&other=wheel&metric=association")
    page.see(".table tbody tr")
    page.see("#metric")
    assert page.run("return document.querySelector('#metric').value") == "association"


def test_rules_count_live_and_show_states_and_documents(page: Page) -> None:
    page.open("?view=rules&word=car")
    facts = page.see(".rule .facts").text
    page.click(".rule .chip")
    page.see(".rule .facts", "without 1 literal")
    page.click(".rule .chip")
    page.until(lambda: page.see(".rule .facts").text == facts)
    page.click(".rule button", "States")
    canvas = page.see("[data-plot=states] canvas")
    assert "clause=" in page.query
    canvas.click()
    page.keys(Keys.ARROW_RIGHT)
    page.see(".plot .tip", "state")
    page.click(".rule button", "Documents")
    page.see("#evidence .document mark")


def test_passages_are_named_where_they_are_counted(browser: Any, long_documents: Explainer) -> None:
    with RunningServer(long_documents, ExplorerSettings(port=0)) as running:
        page = Page(browser, running.address)
        page.open("?view=rules&word=car")
        page.see("h2", "Rules that single passages bear out")
        page.see(".rule .facts", "times as often as all passages")
        assert "document" not in page.see("main").text.replace("A fifth of the documents is set aside", "")
        page.click(".rule button", "Passages")
        page.see("#evidence h2", "Passages that satisfy the rule")
        page.see("#evidence .document mark")
        page.open("?view=compare&word=car&other=wheel")
        page.see("main", "passages")
        page.see("main", "Together in")
        assert "document" not in page.see("main").text


def test_hovering_the_states_names_a_word(page: Page) -> None:
    page.open("?view=rules&word=car")
    page.click(".rule button", "States")
    canvas = page.see("[data-plot=states] canvas")
    page.run("document.querySelector('[data-plot=states] canvas').scrollIntoView({ block: 'center' })")
    place = page.run(_A_POINT_OF_THE_PLOT)
    assert place, "no point of the plot was found"
    ActionChains(page.browser, duration=0).move_to_element_with_offset(canvas, *place).perform()
    page.see(".plot .tip", ": state ")


_A_POINT_OF_THE_PLOT = """
const canvas = document.querySelector("[data-plot=states] canvas");
const [box, tip] = [canvas.getBoundingClientRect(), document.querySelector(".plot .tip")];
for (let x = 50; x < box.width; x += 5) {
  for (let y = 10; y < box.height; y += 5) {
    const place = { clientX: box.left + x, clientY: box.top + y };
    canvas.dispatchEvent(new PointerEvent("pointermove", { ...place, bubbles: true }));
    if (!tip.hidden) {
      canvas.dispatchEvent(new PointerEvent("pointerleave"));
      return [x - box.width / 2, y - box.height / 2].map(Math.round);
    }
  }
}
return null;
"""


def test_the_trace_is_drawn_with_its_documents(page: Page) -> None:
    page.open("?view=trace&word=car")
    page.click(".words a")
    page.see("[data-plot=trace] canvas")
    page.see(".event mark")
    page.click("form button", "does not occur")
    page.until(lambda: "negated=yes" in page.query)
    page.see(".result h1", "does not occur")


def test_the_map_is_drawn_searched_and_lassoed(page: Page) -> None:
    page.open("?view=map&word=car")
    page.see("[data-card=word] .true-neighbours li")
    stage = page.see(".map-stage")
    assert page.run("return document.querySelector('.map-stage').stage.painter.name") == "pixels"
    page.click(".map-tools button", "All")
    page.click(".map-tools button", "Lasso")
    left, top, right, bottom = page.run(_AROUND_CARS)
    chain = ActionChains(page.browser, duration=20)
    places = [(left, top), (right, top), (right, bottom), (left, bottom)]
    chain.move_to_element_with_offset(stage, *places[0]).click_and_hold()
    for place in places[1:]:
        chain.move_to_element_with_offset(stage, *place)
    chain.release().perform()
    page.see("[data-card=lasso] h2", "words")
    page.see("[data-card=lasso] .bars li")
    page.keys(Keys.ESCAPE)
    page.until(lambda: not page.all("[data-card=lasso]"))


def test_the_sketch_becomes_the_map(
    browser: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The map is heard of only after the sketch was seen, however soon it is made."""
    seen, read = threading.Event(), MapWork._read
    monkeypatch.setattr(MapWork, "_read", lambda work: (seen.wait(PATIENCE), read(work)))
    model = Path(shutil.copytree(folder, tmp_path / "model", ignore=shutil.ignore_patterns("map.bin")))
    method = "return document.querySelector('.map-stage')?.stage?.data.header.method"
    places = "const { stage } = document.querySelector('.map-stage'); return [...stage.%s.positions]"
    with RunningServer(Explainer.open(model), ExplorerSettings(port=0)) as server:
        page = Page(browser, server.address)
        page.open("?view=map")
        page.until(lambda: page.run(method) == "PCA")
        seen.set()
        page.see("[data-card=about]", "of a word's ten most similar words")
        assert header_of(read_map(model) or b"")["method"] == page.run(method) == "t-SNE"
        page.until(lambda: page.run(places % "painter") == page.run(places % "data"))


_AROUND_CARS = """
const { stage } = document.querySelector(".map-stage");
const rows = ["car", "wheel", "road", "engine"].map((word) => stage.data.rows.get(word));
const points = rows.map((row) => stage.view.toScreen(row));
const [xs, ys] = [0, 1].map((k) => points.map((point) => point[k]));
const middle = [stage.element.clientWidth / 2, stage.element.clientHeight / 2];
return [Math.min(...xs) - middle[0] - 9, Math.min(...ys) - middle[1] - 9,
  Math.max(...xs) - middle[0] + 9, Math.max(...ys) - middle[1] + 9].map(Math.round);
"""


def test_the_map_colours_groups_and_keeps_them_in_the_address(page: Page) -> None:
    page.open("?view=map&colour=groups&groups=land: car road%0Awater: ship nothing")
    legend = page.see(".map-panel .legend", "land")
    assert "land 2 words" in legend.text
    assert "water 1 word" in legend.text
    assert "Not on the map: nothing" in legend.text


def test_the_keyboard_moves_the_map_and_the_views(page: Page) -> None:
    page.open("?view=map")
    page.see(".map-tools")
    page.run("document.querySelector('.map-stage').focus()")
    page.keys("+", "+", Keys.ARROW_RIGHT)
    page.until(lambda: "camera=" in page.query)
    page.run("document.activeElement.blur()")
    page.keys("2")
    page.see("h1", "Every number has a name")
    page.keys("1")
    page.see("h1", "What do words mean here?")
    page.keys("?")
    page.see("#help kbd")
    page.keys(Keys.ESCAPE)


def test_a_moving_map_of_forty_thousand_points_works_once_a_frame(page: Page) -> None:
    """However often it is moved; at most 170 names are drawn, 10 of them for the first time, nothing grows.

    How many frames a second that gives is measured by `benchmarks/explorer.py --frames`.
    """
    page.open("?view=map")
    page.see(".map-tools")
    found = page.browser.execute_async_script(_FRAMES, 30, 40_000)
    assert found["painted"] == [1] * 30
    assert 0 < max(found["named"]) <= 170
    assert max(found["drawn"]) <= 10
    assert sum(found["drawn"]) > 10
    assert found["images"] == 1


_FRAMES = """
const [frames, n, done] = arguments;
(async () => {
  const { MapData } = await import("/js/map_data.js");
  const { Stage } = await import("/js/map_stage.js");
  const { colourings } = await import("/js/map_colours.js");
  const words = Array.from({ length: n }, (_, k) => "word" + k);
  const place = (_, k) => Math.sin(k * 12.9898) * Math.cos(k * 0.37);
  const positions = Float32Array.from({ length: 2 * n }, place);
  const names = { words, order: words.map((_, k) => k) };
  const clusters = Uint8Array.from({ length: n }, (_, k) => k % 7);
  const clustersNamed = Array.from({ length: 7 }, (_, k) => ({ name: "a", x: k / 7, y: 0, colour: k }));
  const header = { n_words: n, clusters: clustersNamed, mean_kept: null };
  const data = new MapData(header, names, positions, new Uint8Array(n).fill(255), clusters);
  const quiet = () => "";
  const stage = new Stage(data, { hover: quiet, choose: quiet, lasso: quiet, moved: quiet });
  document.querySelector(".map").replaceChildren(stage.element);
  stage.colourPoints(colourings.cluster.paint(data));
  stage.settle = quiet; // a map that stands still draws more, and a busy machine may pause that long
  const next = () => new Promise((resolve) => { requestAnimationFrame(resolve); });
  stage.move(0, 0);
  do { await next(); } while (!stage.frames || stage.waiting);
  const [painted, named, drawn, images] = [[], [], [], new Set()];
  for (let frame = 0; frame < frames; frame += 1) {
    const [before, sprites] = [stage.frames, stage.labels.sprites.size];
    for (let k = 0; k < 5; k += 1) {
      Object.assign(stage.camera, { zoom: 1 + frame / 5 + k / 50, x: Math.sin(frame) / 3 });
      stage.move(0, 0);
    }
    await next();
    await next(); // a second painting would come now
    painted.push(stage.frames - before);
    named.push(stage.labels.chosen.length);
    drawn.push(stage.labels.sprites.size - sprites);
    images.add(stage.painter.image);
  }
  stage.end();
  done({ painted, named, drawn, images: images.size });
})();
"""


@pytest.mark.parametrize("by", ["a graphics card", ""])
def test_points_are_drawn_where_they_are_by_webgl_and_pixel_by_pixel(page: Page, by: str) -> None:
    """WebGL is there without a card too, only slow; so both ways can be looked at."""
    page.open()
    found = page.browser.execute_async_script(_TWO_POINTS, by)
    if by and found["name"] != "webgl":
        pytest.skip("this Chromium has no WebGL")
    assert found["name"] == ("webgl" if by else "pixels")
    assert found["calls"] == (1 if by else 0)
    assert found["pixels"] == [[255, 0, 0, 255], [0, 0, 255, 255], [0, 0, 0, 0]]


_TWO_POINTS = """
const [by, done] = arguments;
import("/js/map_points.js").then(({ pointPainter }) => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 100, height: 100 });
  const painter = pointPainter(canvas, by);
  let calls = 0;
  if (painter.gl) {
    const draw = painter.gl.drawArrays.bind(painter.gl);
    painter.gl.drawArrays = (...values) => { calls += 1; draw(...values); };
  }
  const colours = new Uint8Array([255, 0, 0, 255, 0, 0, 255, 255]);
  const [sizes, shapes] = [new Float32Array([9, 9]), new Uint8Array([0, 1])];
  painter.set({ positions: new Float32Array([-0.5, 0.5, 0.5, -0.5]), colours, sizes, shapes });
  painter.paint({ x: 0, y: 0, width: 100, height: 100, pixels: 50, ratio: 1, growth: 1 });
  const flat = document.createElement("canvas").getContext("2d");
  flat.canvas.width = flat.canvas.height = 100;
  flat.drawImage(canvas, 0, 0);
  const pixel = (x, y) => [...flat.getImageData(x, y, 1, 1).data];
  done({ name: painter.name, calls, pixels: [pixel(25, 25), pixel(75, 75), pixel(50, 50)] });
});
"""


@both
@pytest.mark.parametrize("width", [390, 1200, 2560])
def test_no_name_is_under_the_buttons(browser: Any, demo_server: RunningServer, width: int) -> None:
    page = Page(browser, demo_server.address)
    look(page, width, 900)
    try:
        page.open()
        page.until(
            lambda: page.run("return document.querySelector('.map-stage')?.stage?.labels.captions.length")
        )
        for zoom in (1, 2, 5):
            assert page.run(_UNDER_THE_BUTTONS % zoom) == []
    finally:
        look(page)


# The map is moved so that its middle, where most words are, comes to lie under the buttons.
_UNDER_THE_BUTTONS = """
const { stage } = document.querySelector(".map-stage");
const [left, top, right, bottom] = stage.covered()[0];
Object.assign(stage.camera, { x: 0, y: 0, zoom: %d });
const [x, y] = stage.toMap(left, top);
Object.assign(stage.camera, { x: -x, y: -y });
stage.isMoving = false;
stage.always = [0, 1];
stage.paint();
const { labels, view } = stage;
const boxes = [...labels.chosen.map((row) => [...view.toScreen(row), labels.width(stage.data.words[row])]),
  ...labels.captions.map((cluster) => labels.captionPlace(view, cluster))];
return boxes.filter(([x, y, width]) => x < right && x + width > left && y < bottom && y > top);
"""


@pytest.mark.usefixtures("small_map")
def test_groups_of_the_command_line_colour_the_map(browser: Any, explainer: Explainer) -> None:
    groups = "\n".join([*(f"g{k}: lamp" for k in range(7)), "land: car road", "water: ship nothing"])
    with RunningServer(explainer, ExplorerSettings(port=0), groups) as server:
        page = Page(browser, server.address)
        page.open("?view=map")
        legend = page.see(".map-panel .legend", "land")
        assert "land 2 words" in legend.text
        assert "Not on the map: nothing" in legend.text
        shapes = page.run(
            "return [...document.querySelectorAll('.map-panel .legend i')].map((e) => e.className)"
        )
        assert shapes == ["disc"] * 7 + ["square"] * 2
        assert page.run("return document.querySelector('.map-stage').stage.first.length") == 4


def test_words_are_text_never_markup(page: Page) -> None:
    from urllib.parse import quote

    page.open(f"?word={quote(MARKUP)}")
    page.see("h1", MARKUP)
    page.see("[data-part=neighbours] .bars li")
    page.open(f"?view=rules&word={quote(MARKUP)}")
    page.see(".rule")
    page.open(f"?view=map&word={quote(MARKUP)}")
    page.see("[data-card=word] h1", MARKUP)
    assert page.run("return document.querySelectorAll('main img').length") == 0


def test_a_model_without_its_index_says_so(browser: Any, folder: Path) -> None:
    explainer = Explainer(Explainer.open(folder).vectors)
    with RunningServer(explainer, ExplorerSettings(port=0)) as server:
        page = Page(browser, server.address)
        page.open("?word=car")
        page.see("#notice", "The index of this model is not there")
        page.see("[data-part=neighbours] .bars li")
        page.open("?view=rules&word=car")
        page.see("[data-problem=index]", "--index INDEX")
        page.open("?view=compare&word=car&other=wheel")
        page.see(".score")


@both
@pytest.mark.parametrize("view", ["word", "compare", "themes", "rules", "trace", "map"])
def test_narrow_screens_do_not_scroll_sideways(page: Page, view: str) -> None:
    look(page, 360, 740)
    try:
        page.open(f"?view={view}&word=car&other=wheel&literal=wheel")
        page.see("main .card")
        page.until(lambda: not page.all(".loading"))
        assert page.run("return document.documentElement.scrollWidth") <= 360
    finally:
        look(page)


def test_every_control_has_a_name(page: Page) -> None:
    for view in ("word", "compare", "themes", "rules", "trace", "map"):
        page.open(f"?view={view}&word=car&other=wheel&literal=wheel")
        page.until(lambda: page.all("main .card") and not page.all(".loading"))
        nameless = page.run(
            "return [...document.querySelectorAll('button, a, input, select, textarea')].filter((e) => "
            "!(e.textContent.trim() || e.getAttribute('aria-label') || e.title || e.labels?.length))"
            ".map((e) => e.outerHTML)"
        )
        assert nameless == []


@both
def test_groups_are_compared(browser: Any, grouped: Path, tmp_path: Path) -> None:
    """One word, its trajectory and sentences, and the list of words; by the keyboard, and on a telephone."""
    model = Path(shutil.copytree(grouped.parent, tmp_path / "copy")) / "model"
    with RunningServer(Explainer.open(model), ExplorerSettings(port=0)) as server:
        page = Page(browser, server.address)
        page.open("?word=bank")
        page.click(".actions a", "Between groups")
        page.see("h1", "bank by year: 1990 and 2010")
        page.see("[data-side=first] .bars li")
        assert page.all("[data-side=second] .bars li")
        assert {mark.text.lower() for mark in page.all("[data-side=first] mark")} >= {"bank"}
        assert len(page.all("[data-part=trajectory] polyline")) > 1
        page.click("[data-part=trajectory] summary")
        page.see("[data-part=trajectory] tbody th", "2000")
        page.run("scrollTo(0, 0)")
        page.click("[aria-label='Swap the groups']")
        page.see("h1", "bank by year: 2010 and 1990")
        assert page.query == "?view=groups&word=bank&by=year&first=2010&second=1990"
        page.run("document.activeElement.blur()")
        page.keys("7")
        page.see("h1", "bank by year: 1990 and 2010")
        page.click(".actions a", "All words that differ")
        page.see("button.primary", "Find the words that differ most").send_keys(Keys.ENTER)
        page.see("[data-part=changes] .ranked a", "bank").click()
        page.see("h1", "bank by year: 1990 and 2010")
        page.search("stone")
        page.see("h1", "stone by year: 1990 and 2010")
        page.open("?view=groups&word=bnak")
        page.see("[data-problem='404'] .words a", "bank").click()
        page.see("h1", "bank by year")
        for width, query in ((1200, "?view=groups"), (360, "?view=groups&word=bank"), (360, "?view=groups")):
            look(page, width, 740)
            page.open(query)
            page.see("[data-part=changes], [data-side=first]")
            assert page.run("return document.documentElement.scrollWidth") <= width
            if AXE.exists():
                assert faults(page) == []
        look(page)


ROOT = Path(__file__).parents[2]
AXE = ROOT / "build/npm/node_modules/axe-core/axe.min.js"
_FAULTS = """
const [rules, done] = arguments;
axe.run(document, { runOnly: rules }).then((found) => done(
  found.violations.map((fault) => [fault.id, fault.nodes.map((node) => node.html.slice(0, 160))])));
"""
EVERYTHING = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice")
COMPARED = "?view=compare&word=server&other=client"
QUERIES = (
    "", "?word=socket", "?view=word", "?view=themes", COMPARED, f"{COMPARED}&metric=association",
    "?view=compare", "?view=rules&word=socket", "?view=trace&word=socket&literal=port", "?word=whel",
    "?view=map&word=socket&colour=groups", "nowhere",
)  # fmt: skip


def faults(page: Page, rules: tuple[str, ...] = EVERYTHING) -> list[Any]:
    """What axe-core finds on the page as it is now."""
    page.settled()
    page.run(AXE.read_text(encoding="utf-8"))
    found: list[Any] = page.browser.execute_async_script(_FAULTS, list(rules))
    return found


@pytest.mark.skipif(not AXE.exists(), reason=f"needs axe-core: make {AXE.relative_to(ROOT)}")
@pytest.mark.parametrize(
    ("browser", "dark", "rules"),
    [
        ("chromium", False, EVERYTHING),
        ("chromium", True, ("color-contrast",)),
        ("firefox", False, EVERYTHING),
    ],
    indirect=["browser"],
)
def test_axe_finds_no_fault(
    browser: Any, demo_server: RunningServer, dark: bool, rules: tuple[str, ...]
) -> None:
    """Names, roles, contrast (WCAG 2.1 AA) and structure of every view."""
    page, found = Page(browser, demo_server.address), {}
    look(page, 1200, 900, dark=dark)
    try:
        for query in QUERIES[:: 2 if dark or isinstance(browser, Firefox) else 1]:
            browser.get(f"{page.address}{query}")
            found[query] = faults(page, rules)
        page.open()
        page.keys("?")
        page.see("#help kbd")
        found["help"] = faults(page, rules)
    finally:
        look(page)
    assert {query: there for query, there in found.items() if there} == {}


@both
def test_everything_can_be_reached_by_the_keyboard(browser: Any, demo_server: RunningServer) -> None:
    page = Page(browser, demo_server.address)
    page.open("?view=compare&word=server&other=client")
    page.see(".wings .feature")
    page.settled()
    page.run("document.activeElement.blur(); scrollTo(0, 0)")
    page.run(_MARK_WHAT_IS_REACHED)
    unreached = page.run(_UNREACHED)
    assert len(unreached) > 30
    for _ in range(2 * len(unreached)):  # once around; again for what arrived on the way
        page.keys(Keys.TAB)
        if not page.run(_UNREACHED):
            break
    assert page.run(_UNREACHED) == []
    page.open("?word=socket")
    page.see("[data-choose=alike]")
    page.run("document.querySelector('[data-choose=alike]').focus()")
    page.keys(Keys.ENTER)
    page.until(lambda: "metric=alike" in page.query)
    page.keys("3")
    page.see("h1", "Compare socket with")


_MARK_WHAT_IS_REACHED = """
document.addEventListener("focusin", (event) => { event.target.dataset.wasReached = "1"; });
"""
_UNREACHED = """
const seen = (one) => one.checkVisibility({ contentVisibilityAuto: true });
return [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")]
  .filter((one) => !one.disabled && one.tabIndex >= 0 && seen(one) && !one.dataset.wasReached)
  .map((one) => one.outerHTML);
"""
