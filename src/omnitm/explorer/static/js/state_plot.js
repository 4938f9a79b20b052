// All states of a clause as points, with the threshold; the pointer or the arrow keys name a word.

import { ask, askOnce } from "./api.js";
import { colour, count, h, loading } from "./dom.js";

const MARGIN = { left: 40, right: 12, top: 14, bottom: 30 };
const REACH = 14; // pixels around the pointer in which a point is named

export function statePlot(word, clause, signal) {
  const box = h("figure", { class: "plot", data: { plot: "states" } }, loading("Reading the states …"));
  Promise.all([ask("clause", { word, clause }, signal), askOnce("vocabulary")]).then(([states, vocabulary]) => {
    draw(box, states, vocabulary.words);
  }).catch((problem) => {
    if (problem.name !== "AbortError") box.replaceChildren(h("p", { role: "alert" }, problem.message));
  });
  return box;
}

function draw(box, states, words) {
  const canvas = h("canvas", { tabindex: "0", role: "img", "aria-label": `States of clause ${states.clause}: arrow keys name the strongest literals` });
  const tip = h("div", { class: "tip", role: "status", hidden: true });
  box.replaceChildren(canvas, tip, h("figcaption", { class: "legend" },
    h("span", {}, h("i", { class: "swatch-for" }), "word occurs"), h("span", {}, h("i", { class: "swatch-against" }), "word does not occur"),
    h("span", { class: "soft" }, `clause ${states.clause}, weight ${count(states.weight)}; a point per literal, words from left to right as in the vocabulary`)));
  const plot = new Plot(canvas, states);
  const observer = new ResizeObserver(() => (canvas.isConnected ? plot.paint() : observer.disconnect()));
  observer.observe(canvas);
  const name = (point) => {
    tip.hidden = point === null;
    plot.paint(point);
    if (point === null) return;
    const { x, y } = plot.place(point.column, point.state);
    tip.textContent = `${point.negated ? "NOT " : ""}${words[point.column]}: state ${point.state}${point.state >= states.include_from ? ", included" : ""}`;
    tip.style.left = `${Math.min(Math.max(x + 10, 0), canvas.clientWidth - tip.offsetWidth - 4)}px`;
    tip.style.top = `${Math.max(y - 32, 0)}px`;
  };
  canvas.addEventListener("pointermove", (event) => name(plot.nearest(event.offsetX, event.offsetY)));
  canvas.addEventListener("pointerleave", () => name(null));
  canvas.addEventListener("blur", () => name(null));
  let position = -1;
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step || !states.strongest.length) return;
    event.preventDefault();
    position = (position + step + states.strongest.length) % states.strongest.length;
    const literal = states.strongest[position];
    name({ column: words.indexOf(literal.word), negated: literal.negated, state: literal.state });
  });
}

class Plot {
  constructor(canvas, states) {
    this.canvas = canvas;
    this.states = states;
    this.picture = null;
    const most = Math.max(states.include_from, ...states.strongest.map((literal) => literal.state));
    this.top = Math.min(states.max_state, Math.ceil((most + 8) / 10) * 10);
  }

  place(column, state) {
    const width = this.canvas.clientWidth - MARGIN.left - MARGIN.right;
    const height = this.canvas.clientHeight - MARGIN.top - MARGIN.bottom;
    return {
      x: MARGIN.left + (width * (column + 0.5)) / this.states.present.length,
      y: MARGIN.top + height * (1 - state / this.top),
    };
  }

  nearest(x, y) {
    const { present, absent } = this.states;
    const width = this.canvas.clientWidth - MARGIN.left - MARGIN.right;
    const middle = ((x - MARGIN.left) / width) * present.length;
    const reach = Math.ceil((REACH / width) * present.length) + 1;
    let found = null;
    let least = REACH ** 2;
    for (let column = Math.max(0, Math.floor(middle - reach)); column < Math.min(present.length, middle + reach); column += 1) {
      for (const [negated, side] of [[false, present], [true, absent]]) {
        const place = this.place(column, side[column]);
        const distance = (place.x - x) ** 2 + (place.y - y) ** 2;
        if (distance < least) { least = distance; found = { column, negated, state: side[column] }; }
      }
    }
    return found;
  }

  paint(point = null) {
    const ratio = devicePixelRatio || 1;
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight].map((size) => Math.round(size * ratio));
    if (!width || !height) return;
    if (!this.picture || this.picture.width !== width || this.picture.height !== height) this.picture = this.paintAll(width, height, ratio);
    this.canvas.width = width;
    this.canvas.height = height;
    const context = this.canvas.getContext("2d");
    context.drawImage(this.picture, 0, 0);
    if (!point) return;
    context.scale(ratio, ratio);
    const { x, y } = this.place(point.column, point.state);
    context.beginPath();
    context.arc(x, y, 6, 0, 2 * Math.PI);
    context.lineWidth = 2;
    context.strokeStyle = colour("ink");
    context.stroke();
  }

  paintAll(width, height, ratio) {
    const picture = Object.assign(document.createElement("canvas"), { width, height });
    const context = picture.getContext("2d");
    context.scale(ratio, ratio);
    const { present, absent, include_from: threshold } = this.states;
    this.axes(context, threshold, this.top);
    const size = present.length > 5000 ? 1.6 : 2.6;
    for (const [side, name] of [[absent, "against"], [present, "for"]]) {
      context.fillStyle = colour(name);
      side.forEach((state, column) => {
        const { x, y } = this.place(column, state);
        const radius = state >= threshold ? size * 1.9 : size;
        context.globalAlpha = state >= threshold ? 1 : 0.55;
        context.fillRect(x - radius / 2, y - radius / 2, radius, radius);
      });
    }
    return picture;
  }

  axes(context, threshold, most) {
    const [left, right] = [MARGIN.left, this.canvas.clientWidth - MARGIN.right];
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    for (const state of [0, threshold, most]) {
      const { y } = this.place(0, state);
      const isThreshold = state === threshold;
      context.strokeStyle = colour(isThreshold ? "ink" : "line");
      context.setLineDash(isThreshold ? [5, 4] : []);
      context.beginPath();
      context.moveTo(left, y);
      context.lineTo(right, y);
      context.stroke();
      context.fillStyle = colour("soft");
      context.textAlign = "right";
      context.fillText(String(state), left - 6, y);
    }
    context.setLineDash([]);
    context.textAlign = "right";
    context.fillStyle = colour("ink");
    const { y } = this.place(0, threshold);
    context.fillText("included from here up", right, y - 9);
    context.fillStyle = colour("soft");
    context.textAlign = "center";
    context.fillText("words of the vocabulary", (left + right) / 2, this.canvas.clientHeight - 10);
  }
}
