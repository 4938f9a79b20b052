// Names on the map: the most frequent words first, as many as fit; more of them appear with every zoom.

import { colour } from "./dom.js";

const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
const [CELL_WIDTH, CELL_HEIGHT] = [24, 17];
const MOST = 170;
const LOOKED_AT = 6000;

export class Labels {
  constructor(canvas, data) {
    this.context = canvas.getContext("2d");
    this.data = data;
    this.widths = new Map();
  }

  paint(view, { lines, always, lasso, faded }) {
    const { context } = this;
    context.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    context.clearRect(0, 0, view.width, view.height);
    context.font = FONT;
    context.textBaseline = "middle";
    context.lineJoin = "round";
    this.lasso(lasso);
    this.lines(view, lines);
    this.taken = new Uint8Array(Math.ceil(view.width / CELL_WIDTH + 1) * Math.ceil(view.height / CELL_HEIGHT + 1));
    this.columns = Math.ceil(view.width / CELL_WIDTH + 1);
    [this.ink, this.paper, this.pale] = [colour("ink"), colour("card"), colour("soft")];
    for (const row of always) this.label(view, row, true);
    let [shown, seen] = [0, 0];
    for (const row of this.data.order) {
      if (shown >= MOST || seen >= LOOKED_AT) break;
      if (!view.sees(row)) continue;
      seen += 1;
      if (this.label(view, row, false, faded && !faded.has(row))) shown += 1;
    }
  }

  label(view, row, isStrong, isFaded = false) {
    const word = this.data.words[row];
    const [x, y] = view.toScreen(row);
    const width = this.width(word);
    if (!this.take(x + 6, y, width, isStrong)) return false;
    const { context } = this;
    context.globalAlpha = isFaded && !isStrong ? 0.45 : 1;
    context.lineWidth = 3;
    context.strokeStyle = this.paper;
    context.font = isStrong ? `650 ${FONT}` : FONT;
    context.strokeText(word, x + 6, y);
    context.fillStyle = this.ink;
    context.fillText(word, x + 6, y);
    context.globalAlpha = 1;
    return true;
  }

  take(x, y, width, isStrong) {
    const line = Math.floor((y - CELL_HEIGHT / 2) / CELL_HEIGHT);
    const [first, last] = [Math.floor(x / CELL_WIDTH), Math.floor((x + width) / CELL_WIDTH)];
    const cells = [];
    for (let row = Math.max(line, 0); row <= line + 1; row += 1) {
      for (let column = Math.max(first, 0); column <= Math.min(last, this.columns - 1); column += 1) cells.push(row * this.columns + column);
    }
    if (!isStrong && cells.some((cell) => this.taken[cell])) return false;
    cells.forEach((cell) => { this.taken[cell] = 1; });
    return true;
  }

  width(word) {
    if (!this.widths.has(word)) this.widths.set(word, this.context.measureText(word).width);
    return this.widths.get(word);
  }

  lines(view, lines) {
    const { context } = this;
    context.lineWidth = 1.5;
    for (const { from, to, kept } of lines) {
      context.strokeStyle = colour(kept === false ? "against" : "for");
      context.setLineDash(kept === false ? [4, 3] : []);
      context.beginPath();
      context.moveTo(...view.toScreen(from));
      context.lineTo(...view.toScreen(to));
      context.stroke();
    }
    context.setLineDash([]);
  }

  lasso(points) {
    if (points.length < 2) return;
    const { context } = this;
    context.beginPath();
    points.forEach(([x, y], k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.closePath();
    context.globalAlpha = 0.12;
    context.fillStyle = colour("for");
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = colour("for");
    context.lineWidth = 2;
    context.stroke();
  }
}
