// How a literal was learned: its mean state, example by example, and the documents that moved it most.

import { ask } from "./api.js";
import { combobox } from "./combobox.js";
import { colour, count, decimal, h, loading, plural, wordText } from "./dom.js";
import { documentText } from "./evidence.js";
import { chooseWord, needsIndex, problemCard } from "./problems.js";
import { address, go } from "./state.js";

const MARGIN = { left: 40, right: 12, top: 14, bottom: 30 };

export function traceView(state, model, signal) {
  if (!model.has_index) return needsIndex(model);
  if (!state.word) return chooseWord(model, state, "How was it learned?", "Follow one literal of a word's machine through the training. Choose the word.");
  const body = h("div", { class: "result" });
  const element = h("div", {}, form(state), body);
  if (state.literal) fill(body, state, signal);
  else suggest(body, state, signal);
  return element;
}

function form(state) {
  const change = (changes) => go({ view: "trace", word: state.word, literal: state.literal, negated: state.negated, ...changes });
  const word = combobox({ label: "Word", value: state.word, choose: (chosen) => change({ word: chosen }), name: "first" });
  const literal = combobox({ label: "Literal", value: state.literal ?? "", placeholder: "a word of the vocabulary", choose: (chosen) => change({ literal: chosen }), onlyTrained: false, name: "second" });
  const sides = [["occurs", undefined], ["does not occur", "yes"]].map(([text, negated]) =>
    h("button", { type: "button", "aria-pressed": String((state.negated ?? undefined) === negated), onclick: () => change({ negated }) }, text));
  return h("form", { class: "pair-form", onsubmit: (event) => event.preventDefault() },
    h("div", {}, h("label", {}, "The machine of"), word.element), h("span", { class: "soft" }, "and"),
    h("div", {}, h("label", {}, "the literal"), literal.element), h("div", { class: "actions" }, sides));
}

async function suggest(body, state, signal) {
  body.replaceChildren(loading(`Training ${state.word} again from its seed …`));
  try {
    const found = await ask("rules", { word: state.word, k: 12 }, signal);
    const links = [...found.strongest.slice(0, 10), ...found.strongest_negated.slice(0, 4), ...found.weakest.slice(0, 6)].map((literal) => h("a", {
      href: address({ view: "trace", word: state.word, literal: literal.word, negated: literal.negated ? "yes" : undefined }), "data-link": true,
    }, literal.negated ? "NOT " : "", wordText(literal.word)));
    body.replaceChildren(h("section", { class: "empty" }, h("h1", {}, "Which literal?"), h("p", { class: "soft" }, "Type a word, or take one of the strongest and weakest literals."), h("div", { class: "words" }, links)));
  } catch (problem) {
    if (problem.name !== "AbortError") body.replaceChildren(problemCard(problem, state));
  }
}

async function fill(body, state, signal) {
  body.replaceChildren(loading(`Training ${state.word} once more and taking notes …`));
  try {
    const found = await ask("trace", { word: state.word, literal: state.literal, negated: state.negated }, signal);
    body.replaceChildren(plotCard(found), h("div", { class: "grid spaced wide-cards" },
      events("Pushed up most by", found.rewards, found), events("Pushed down most by", found.penalties, found)));
  } catch (problem) {
    if (problem.name !== "AbortError") body.replaceChildren(problemCard(problem, state, problem.word === state.literal ? "literal" : "word"));
  }
}

function literalText(found) {
  return [h("bdi", {}, `“${found.literal}”`), found.negated ? " does not occur" : " occurs"];
}

function plotCard(found) {
  const canvas = h("canvas", { role: "img", tabindex: "0", "aria-label": "Mean state after every example" });
  const tip = h("div", { class: "tip", role: "status", hidden: true });
  const card = h("section", { class: "card" }, h("h1", { class: "as-h2" }, literalText(found), ", in the machine of ", wordText(found.word)),
    h("p", { class: "soft small" }, `Mean state over ${plural(found.positive.length, "positive clause")}, after each of ${count(found.mean.length)} examples. The coordinate became ${decimal(found.coordinate, 0)}.`),
    h("figure", { class: "plot", data: { plot: "trace" } }, canvas, tip, h("figcaption", { class: "legend" },
      h("span", {}, h("i", { class: "swatch-for" }), "the literal"), h("span", {}, h("i", { class: "swatch-against" }), "its negation"),
      h("span", { class: "soft" }, `below: examples in which the word occurs`))));
  const plot = new TracePlot(canvas, found);
  const observer = new ResizeObserver(() => (canvas.isConnected ? plot.paint() : observer.disconnect()));
  observer.observe(canvas);
  let place = 0;
  const name = (example) => {
    place = Math.min(Math.max(example, 0), found.mean.length - 1);
    tip.hidden = false;
    tip.textContent = plot.describe(place);
    plot.paint(place);
    tip.style.left = `${Math.min(plot.x(place) + 10, canvas.clientWidth - tip.offsetWidth - 4)}px`;
    tip.style.top = "4px";
  };
  const hide = () => { tip.hidden = true; plot.paint(); };
  canvas.addEventListener("pointermove", (event) => name(plot.exampleAt(event.offsetX)));
  canvas.addEventListener("pointerleave", hide);
  canvas.addEventListener("blur", hide);
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) { event.preventDefault(); name(place + step); }
  });
  return card;
}

class TracePlot {
  constructor(canvas, found) {
    Object.assign(this, { canvas, found });
    const all = [...found.mean, ...found.opposite_mean, found.include_from];
    this.low = Math.max(0, Math.min(...all) - 6);
    this.high = Math.min(found.max_state, Math.max(...all) + 6);
  }

  x(example) {
    return MARGIN.left + ((this.canvas.clientWidth - MARGIN.left - MARGIN.right) * (example + 0.5)) / this.found.mean.length;
  }

  y(state) {
    return MARGIN.top + (this.canvas.clientHeight - MARGIN.top - MARGIN.bottom) * (1 - (state - this.low) / (this.high - this.low));
  }

  exampleAt(x) {
    return Math.floor(((x - MARGIN.left) / (this.canvas.clientWidth - MARGIN.left - MARGIN.right)) * this.found.mean.length);
  }

  describe(k) {
    const { found } = this;
    return `example ${count(k + 1)} (${found.labels[k] ? "with" : "without"} ${found.word}; ${found.literal} ${found.occurs[k] ? "occurs" : "does not occur"}): state ${decimal(found.mean[k], 1)}, up in ${found.rewarded[k]}, down in ${found.penalised[k]} clauses`;
  }

  paint(chosen = null) {
    const { canvas, found } = this;
    const ratio = devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width) return;
    Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    this.axes(context, width);
    this.rug(context, height);
    this.line(context, found.opposite_mean, "against");
    this.line(context, found.mean, "for");
    if (chosen === null) return;
    context.strokeStyle = colour("ink");
    context.globalAlpha = 0.5;
    context.beginPath();
    context.moveTo(this.x(chosen), MARGIN.top);
    context.lineTo(this.x(chosen), height - MARGIN.bottom);
    context.stroke();
    context.globalAlpha = 1;
  }

  axes(context, width) {
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    for (const state of [Math.ceil(this.low), this.found.include_from, Math.floor(this.high)]) {
      const isThreshold = state === this.found.include_from;
      context.strokeStyle = colour(isThreshold ? "ink" : "line");
      context.setLineDash(isThreshold ? [5, 4] : []);
      context.beginPath();
      context.moveTo(MARGIN.left, this.y(state));
      context.lineTo(width - MARGIN.right, this.y(state));
      context.stroke();
      context.fillStyle = colour("soft");
      context.textAlign = "right";
      context.fillText(String(state), MARGIN.left - 6, this.y(state));
    }
    context.setLineDash([]);
    context.fillStyle = colour("ink");
    context.fillText("included from here up", width - MARGIN.right, this.y(this.found.include_from) - 9);
  }

  rug(context, height) {
    this.found.occurs.forEach((occurs, k) => {
      if (!occurs) return;
      context.fillStyle = colour(this.found.labels[k] ? "for" : "against");
      context.fillRect(this.x(k) - 0.5, height - MARGIN.bottom + 8, 1.5, 9);
    });
  }

  line(context, values, name) {
    context.strokeStyle = colour(name);
    context.lineWidth = 1.8;
    context.beginPath();
    values.forEach((value, k) => (k ? context.lineTo(this.x(k), this.y(value)) : context.moveTo(this.x(k), this.y(value))));
    context.stroke();
  }
}

function events(title, rows, found) {
  if (!rows.length) return h("section", { class: "card" }, h("h2", {}, title), h("p", { class: "soft" }, "No example did."));
  return h("section", { class: "card" }, h("h2", {}, title), rows.map((event) => h("div", { class: "event" },
    h("p", {}, h("b", {}, `Example ${count(event.example + 1)}`), ` ${event.label ? "with" : "without"} `, wordText(found.word), `: ${event.gain > 0 ? "+" : ""}${decimal(event.gain, 2)}`,
      h("span", { class: "soft" }, ` · up in ${event.rewarded}, down in ${plural(event.penalised, "clause")} · `, event.occurs ? `${plural(event.n_carriers, "document")} with ${found.literal}` : `no document with ${found.literal}`)),
    event.documents.map(documentText))));
}
