// The map of the vocabulary with its panel: colours, trustworthiness, a chosen word, a lasso.

import { ask, tell } from "./api.js";
import { barList } from "./bars.js";
import { count, decimal, h, loading, percent, plural, wordText } from "./dom.js";
import { colourings, legend, readGroups } from "./map_colours.js";
import { loadMap } from "./map_data.js";
import { Stage } from "./map_stage.js";
import { problemCard } from "./problems.js";
import { VIEWS, address, read, replace } from "./state.js";

const MOST_WORDS = 5000; // in one question, as the server has it
const LONGEST_SHARED = 4000; // characters of groups in the address
const LOOK_AGAIN = 1000; // milliseconds between looks at the work on a map
const MADE_AT_ONCE = 50000; // words; the map of more takes more than a minute or two, and is only made when asked for

export function mapView(state, model, signal) {
  const element = h("div", { class: "map" }, h("div", { class: "map-stage" }, h("p", { class: "map-note" }, loading("Drawing the map …"))), h("aside", { class: "map-panel" }));
  const start = async (event) => {
    try {
      const data = await loadMap();
      if (!signal.aborted) new MapPage(element, data, { ...state, ...(event ? read() : {}) }, model, signal).show(event?.detail);
    } catch (problem) {
      if (!signal.aborted) element.replaceChildren(h("div", { class: "map-problem" }, problemCard(problem, state)));
    }
  };
  element.addEventListener("newmap", start);
  start();
  return element;
}

class MapPage {
  constructor(element, data, state, model, signal) {
    Object.assign(this, { element, data, state, model, signal });
    this.usual = model.groups ? "groups" : "cluster";
    this.colouring = state.colour in colourings ? state.colour : this.usual;
    this.groups = readGroups(state.groups ?? model.groups, data);
    this.selection = null;
    this.stage = new Stage(data, {
      hover: (row) => this.tip(row),
      choose: (row) => this.choose(row),
      lasso: (rows) => this.lasso(rows),
      moved: (camera) => replace({ camera: [camera.x, camera.y, camera.zoom].map((value) => value.toFixed(3)).join(",") }),
      camera: readCamera(state.camera),
    });
    signal.addEventListener("abort", () => this.stage.end());
  }

  // `before`: the places of the points on an older map, from which they move.
  show(before) {
    this.tools();
    this.card = h("div");
    this.lassoCard = h("div");
    this.colourCard = h("section", { class: "card" });
    this.aboutCard = h("section", { class: "card", data: { card: "about" } });
    this.element.classList.toggle("begins", !this.state.word);
    this.element.replaceChildren(this.state.word ? "" : startCard(this.model, this.signal), this.stage.element,
      h("aside", { class: "map-panel", "aria-label": "About the map" }, this.card, this.lassoCard, this.colourCard, this.aboutCard));
    this.recolour();
    if (before) this.stage.moveFrom(before);
    this.showColours();
    this.showAbout();
    if (this.state.word) this.choose(this.data.rows.get(this.state.word) ?? -1, this.state.camera ? 0 : 6, this.state.word);
  }

  tools() {
    const button = (text, title, act) => h("button", { type: "button", title, "aria-label": title, onclick: act }, text);
    this.lassoButton = h("button", { type: "button", "aria-pressed": "false", title: "Draw around words (L)", onclick: () => this.stage.setLasso(!this.stage.lassoing) }, "Lasso");
    this.stage.element.append(h("div", { class: "map-tools" },
      button("+", "Zoom in (+)", () => this.stage.zoomBy(1.6)), button("−", "Zoom out (-)", () => this.stage.zoomBy(1 / 1.6)),
      button("All", "Show all (0)", () => this.stage.showAll()), this.model.is_stored ? "" : this.lassoButton));
  }

  tip(row) {
    const kept = this.data.keptShare(row);
    return `${this.data.words[row]}${kept === null ? "" : ` · ${percent(kept)} of true neighbours kept`}`;
  }

  recolour() {
    const drawn = colourings[this.colouring].paint(this.data, this.groups);
    const inside = this.selection ? new Set(this.selection) : null;
    for (let row = 0; inside && row < this.data.n; row += 1) if (!inside.has(row)) drawn.colours[4 * row + 3] = 50;
    Object.assign(this.stage, { faded: inside, first: this.colouring === "groups" ? [...this.groups.of.keys()] : [] });
    this.stage.colourPoints(drawn);
  }

  showColours() {
    const choices = Object.entries(colourings).map(([name, { title }]) => h("option", { value: name, selected: name === this.colouring }, title));
    const select = h("select", { "aria-label": "Colour by", onchange: (event) => {
      this.colouring = event.target.value;
      replace({ colour: this.colouring === this.usual ? undefined : this.colouring });
      this.recolour();
      this.showColours();
    } }, choices);
    const groups = this.colouring === "groups" ? h("textarea", {
      "aria-label": "Your groups", placeholder: "vehicles: car bus train\nwater: sea river lake", spellcheck: "false",
      oninput: (event) => {
        this.groups = readGroups(event.target.value, this.data);
        replace({ groups: shareable(event.target.value.trim()) });
        this.recolour();
        list.replaceChildren(...legend(this.colouring, this.data, this.groups));
      },
    }, this.groups.text) : null;
    const list = h("div", { class: "legend", tabindex: this.colouring === "cluster" ? "0" : null, role: "group", "aria-label": "Colours" }, legend(this.colouring, this.data, this.groups, (cluster) => this.stage.showPlace(cluster.x, cluster.y, 4)));
    this.colourCard.replaceChildren(h("h2", {}, "Colour"), select, groups ?? "", list);
  }

  showAbout() {
    const { header, n } = this.data;
    const isFirst = header.method === "PCA";
    const work = h("div");
    const text = isFirst
      ? "This is a sketch along the two main axes; words that are near each other here need not be similar."
      : `Similar words are near each other, as far as a flat map can show that: ${neighboursKept(header.mean_kept)}`;
    this.aboutCard.replaceChildren(h("h2", {}, "How true is this map?"), h("p", { class: "small soft" }, `${plural(n, "word")}. ${text}`), work);
    if (isFirst) this.watch(work, n <= MADE_AT_ONCE);
  }

  // Show how far the work on the full map has come; begin it if that takes little.
  async watch(box, begins = false) {
    try {
      const state = await ask("map", {}, this.signal);
      if (state.method === "t-SNE") return void this.element.dispatchEvent(new CustomEvent("newmap", { detail: this.data.positions }));
      if (state.work && !state.work.problem) {
        const left = state.work.seconds_left;
        box.replaceChildren(h("p", { class: "small", role: "status" }, `A better one is being made: ${state.work.stage}`, left === null ? " …" : `; ${secondsText(left)} left`),
          h("progress", { max: 1, value: state.work.done, "aria-label": "Progress of the map" }));
        setTimeout(() => { if (!this.signal.aborted && box.isConnected) this.watch(box); }, LOOK_AGAIN);
        return undefined;
      }
      if (begins && state.can_compute && !state.work) return void this.compute(box);
      box.replaceChildren(state.work?.problem ? h("p", { class: "small", role: "alert" }, state.work.problem) : "",
        state.can_compute ? h("button", { class: "primary", type: "button", onclick: () => this.compute(box) }, "Make the full map") : h("p", { class: "small" }, "Save the model to a folder and explore that, to have the full map."));
    } catch (problem) {
      if (problem.name !== "AbortError") box.replaceChildren(h("p", { class: "small", role: "alert" }, problem.message));
    }
    return undefined;
  }

  async compute(box) {
    try {
      await tell("map", {}, this.signal);
      this.watch(box);
    } catch (problem) {
      if (problem.name !== "AbortError") box.replaceChildren(h("p", { class: "small", role: "alert" }, problem.message));
    }
  }

  async choose(row, zoom = 0, word = this.data.words[row]) {
    if (row < 0 && word === undefined) return;
    replace({ word });
    if (row < 0) return void this.missing(word);
    if (zoom) this.stage.show(row, zoom);
    Object.assign(this.stage, { lines: [], always: [row] });
    this.stage.repaint();
    const list = h("div", {}, loading("Finding its true neighbours …"));
    const kept = this.data.keptShare(row);
    this.card.replaceChildren(h("section", { class: "card", data: { card: "word" } }, h("h1", { class: "as-h2" }, wordText(word)),
      h("p", { class: "small" }, VIEWS.filter((view) => ["word", "compare", "rules"].includes(view)).map((view, k) => [k ? " · " : "", h("a", { href: address({ view, word }), "data-link": true }, view[0].toUpperCase() + view.slice(1))])),
      kept === null ? null : h("p", { class: "small soft" }, `${percent(kept)} of its ten true neighbours are among its ten nearest here.`), list));
    this.chosen = word;
    await this.trueNeighbours(word, row, list, zoom > 0);
  }

  async trueNeighbours(word, row, list, isSought) {
    try {
      const found = await ask("neighbours", { word, metric: this.data.header.metric, k: 10 }, this.signal);
      if (this.chosen !== word) return;
      const near = new Set(this.nearestHere(row, 10));
      const rows = found.neighbours.map((neighbour) => ({ ...neighbour, row: this.data.rows.get(neighbour.word) }));
      const drawn = rows.filter((neighbour) => neighbour.row !== undefined);
      this.stage.lines = drawn.map((neighbour) => ({ from: row, to: neighbour.row, kept: near.has(neighbour.row) }));
      this.stage.always = [row, ...drawn.map((neighbour) => neighbour.row)];
      if (isSought) this.stage.showAmong(row, drawn.map((neighbour) => neighbour.row));
      else this.stage.repaint();
      list.replaceChildren(h("p", { class: "small soft" }, `True neighbours by ${this.data.header.metric}; dashed lines lead to those that the map puts farther away.`),
        h("ol", { class: "true-neighbours" }, rows.map((neighbour) => h("li", {}, neighbour.row === undefined ? wordText(neighbour.word) : h("a", { href: address({ ...read(), word: neighbour.word, camera: undefined }), "data-link": true }, wordText(neighbour.word)),
          h("span", { class: "small soft" }, neighbour.row === undefined ? "not here" : near.has(neighbour.row) ? "near" : "apart")))));
    } catch (problem) {
      if (problem.name !== "AbortError") list.replaceChildren(h("p", { class: "small", role: "alert" }, problem.message));
    }
  }

  nearestHere(row, number) {
    const { positions, n } = this.data;
    const distance = new Float64Array(n).map((_, k) => (positions[2 * k] - positions[2 * row]) ** 2 + (positions[2 * k + 1] - positions[2 * row + 1]) ** 2);
    distance[row] = Infinity;
    return [...distance.keys()].sort((a, b) => distance[a] - distance[b]).slice(0, number);
  }

  async missing(word) {
    this.card.replaceChildren(loading("Looking …"));
    try {
      await ask("row", { word }, this.signal);
    } catch (problem) {
      if (problem.name !== "AbortError") this.card.replaceChildren(problemCard(problem, { ...read(), camera: undefined }));
    }
  }

  async lasso(rows) {
    this.lassoButton.setAttribute("aria-pressed", String(this.stage.lassoing));
    this.selection = rows?.length ? rows : null;
    this.recolour();
    if (rows === null) return void this.lassoCard.replaceChildren();
    const clear = h("button", { class: "quiet small", type: "button", onclick: () => this.stage.setLasso(false) }, "Clear");
    const card = (...content) => this.lassoCard.replaceChildren(h("section", { class: "card", data: { card: "lasso" } }, h("div", { class: "head tight" }, h("h2", {}, `Lasso: ${plural(rows.length, "word")}`), clear), content));
    if (rows.length < 2) return void card(h("p", { class: "small soft" }, "Draw around at least two words."));
    const sample = rows.length > MOST_WORDS ? rows.filter((_, k) => k % Math.ceil(rows.length / MOST_WORDS) === 0) : rows;
    card(loading("What do they have in common?"));
    try {
      const found = await tell("common", { words: sample.map((row) => this.data.words[row]), k: 15 }, this.signal);
      if (this.selection === rows) card(this.common(found, rows.length));
    } catch (problem) {
      if (problem.name !== "AbortError") card(h("p", { class: "small", role: "alert" }, problem.message));
    }
    return undefined;
  }

  common(found, number) {
    if (!found.shares.length) return [h("p", { class: "small soft" }, "They have nothing in common that other words have not. Draw around fewer words.")];
    const rows = found.shares.map((part) => ({ word: part.feature, value: part.share, trained: this.data.rows.has(part.feature) }));
    return [
      h("p", { class: "small" }, "At their middle: ", found.central.map((word, k) => [k ? ", " : "", wordText(word)])),
      h("p", { class: "small soft" }, `They lean on these words more than all words do. Mean similarity above the average: ${decimal(found.mean_similarity, 4)}`,
        found.n_words < number ? `; of a sample of ${count(found.n_words)}` : "", "."),
      barList(rows, { total: found.mean_similarity }),
    ];
  }
}

// The first page: what there is to see, and three questions to begin with.
function startCard(model, signal) {
  const list = h("ul", { class: "invitations" }, h("li", {}, loading("Choosing questions …")));
  ask("invitations", {}, signal).then(({ why, meaning, compare }) => list.replaceChildren(...[
    why && [address({ view: "compare", word: why[0], other: why[1] }), "Why are ", h("em", {}, why[0]), " and ", h("em", {}, why[1]), " alike?"],
    meaning && [address({ word: meaning }), "What does ", h("em", {}, meaning), " mean here?"],
    compare && [address({ view: "compare", word: compare[0] }), "Compare ", h("em", {}, compare[0]), " with another word"],
  ].filter(Boolean).map(([href, ...text]) => h("li", {}, h("a", { href, "data-link": true }, text))))).catch(() => list.remove());
  const documents = model.n_documents ? ` learned from ${plural(model.n_documents, "document")}` : "";
  return h("section", { class: "map-start", data: { card: "start" } }, h("h1", {}, "What do words mean here?"),
    h("p", { class: "soft small" }, `${plural(model.n_words, "word")}${documents}, each described by named coordinates. Search one, choose a point, or begin with a question:`), list);
}

function neighboursKept(share) {
  if (share === null) return "how far was not measured.";
  const number = Math.round(10 * share);
  return `of a word's ten most similar words, ${number} ${number === 1 ? "is" : "are"} among its ten nearest here on average. Choose a word to see its true neighbours.`;
}

const secondsText = (seconds) => (seconds < 90 ? `about ${Math.max(5 * Math.ceil(seconds / 5), 5)} seconds` : `about ${Math.round(seconds / 60)} minutes`);

// Long lists of groups would make an address that nobody can send.
const shareable = (text) => (text && text.length <= LONGEST_SHARED ? text : undefined);

function readCamera(text) {
  const [x, y, zoom] = (text ?? "").split(",").map(Number);
  return [x, y, zoom].every(Number.isFinite) && zoom > 0 ? { x, y, zoom: Math.min(Math.max(zoom, 0.8), 400) } : undefined;
}
