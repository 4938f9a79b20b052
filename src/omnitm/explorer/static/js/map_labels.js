// Names on the map: the most frequent words first, as many as fit; more of them appear with every zoom.

import { colour } from "./dom.js";

const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
const [CELL_WIDTH, CELL_HEIGHT] = [24, 17];
const CAPTION_FONT = "650 15px system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
const CAPTIONS_UP_TO = 3; // zoom; nearer, words say more than names of clusters
const MOST_BESIDE_CAPTIONS = 60;
const NARROW = 700; // pixels; there, captions are single words
const [TAKEN, COVERED] = [1, 2];
const MOST = 170;
const LOOKED_AT = 6000;
const CHOOSE_EVERY = 150; // milliseconds
const MOST_SPRITES = 2000;
const [HALO, BESIDE] = [2, 6]; // pixels around a name, and between it and its point
const NEW_PER_FRAME = 10;

export class Labels {
  constructor(canvas, data) {
    this.context = canvas.getContext("2d");
    this.data = data;
    this.widths = new Map();
    this.sprites = new Map();
    this.chosen = [];
    this.captions = [];
    this.chosenAt = -Infinity;
    this.context.font = FONT;
  }

  // Which names there is room for is only looked up now and then while the map moves; drawing them is copying.
  paint(view, { lines, always, first, lasso, faded, isMoving, covered = [] }) {
    const { context } = this;
    context.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    context.clearRect(0, 0, view.width, view.height);
    this.useColours(view);
    this.lasso(lasso);
    this.lines(view, lines);
    const now = performance.now();
    const strong = new Set(always);
    if (!isMoving || now - this.chosenAt > CHOOSE_EVERY) this.choose(view, { always, first, isMoving, covered }, now);
    this.drawable = isMoving ? NEW_PER_FRAME : Infinity;
    for (const row of [...this.chosen].reverse()) if (view.sees(row)) this.label(view, row, strong.has(row), faded && !faded.has(row));
    context.globalAlpha = 1;
    for (const cluster of this.captions) this.caption(view, cluster);
  }

  captionText(view, cluster) {
    return cluster.name.split(", ").slice(0, view.width < NARROW ? 1 : 2).join(" · ");
  }

  captionPlace(view, cluster) {
    const [x, y] = [(cluster.x - view.x) * view.pixels + view.width / 2, (view.y - cluster.y) * view.pixels + view.height / 2];
    this.context.font = CAPTION_FONT;
    const width = this.context.measureText(this.captionText(view, cluster)).width;
    return [Math.min(Math.max(x - width / 2, 4), view.width - width - 4), y, width];
  }

  caption(view, cluster) {
    const [x, y] = this.captionPlace(view, cluster);
    const { context } = this;
    Object.assign(context, { font: CAPTION_FONT, textBaseline: "middle", lineJoin: "round", lineWidth: 5, strokeStyle: this.paper, fillStyle: this.ink });
    const text = this.captionText(view, cluster);
    context.strokeText(text, x, y);
    context.fillText(text, x, y);
  }

  chooseCaptions(view) {
    if (view.pixels > CAPTIONS_UP_TO * 0.47 * Math.min(view.width, view.height)) return [];
    return this.data.header.clusters.filter((cluster) => {
      if (!cluster.name.includes(", ")) return false; // its words have too little in common for a name
      const [x, y, width] = this.captionPlace(view, cluster);
      return y > 0 && y < view.height && this.take(x, y, width, false);
    });
  }

  choose(view, { always, first, isMoving, covered }, now) {
    this.columns = Math.ceil(view.width / CELL_WIDTH + 1);
    this.taken = new Uint8Array(this.columns * Math.ceil(view.height / CELL_HEIGHT + 1));
    this.chosen = [];
    this.chosenAt = now;
    for (const [left, top, right, bottom] of covered) {
      for (let y = top; y < bottom + CELL_HEIGHT; y += CELL_HEIGHT) this.take(left, y, right - left, true, COVERED);
    }
    this.captions = this.chooseCaptions(view);
    const most = this.captions.length ? MOST_BESIDE_CAPTIONS : MOST;
    always.forEach((row, k) => this.place(view, row, k === 0));
    let [shown, seen] = [0, 0];
    for (const row of first) if (view.sees(row)) this.place(view, row, false);
    for (const row of this.data.order) {
      if (shown >= most || seen >= LOOKED_AT || (isMoving && shown < seen - LOOKED_AT / 4)) break;
      if (!view.sees(row)) continue;
      seen += 1;
      if (this.place(view, row, false)) shown += 1;
    }
  }

  // A name is to the right of its point, or to the left where it would be cut.
  left(view, row) {
    const [x, y] = view.toScreen(row);
    const width = this.width(this.data.words[row]);
    return [x + BESIDE + width < view.width || x - BESIDE - width < 0 ? x + BESIDE : x - BESIDE - width, y, width];
  }

  place(view, row, isStrong) {
    if (!this.take(...this.left(view, row), isStrong)) return false;
    this.chosen.push(row);
    return true;
  }

  useColours(view) {
    const look = [colour("ink"), colour("card"), view.ratio].join();
    if (look === this.look) return;
    this.look = look;
    [this.ink, this.paper] = [colour("ink"), colour("card")];
    this.sprites.clear();
  }

  label(view, row, isStrong, isFaded = false) {
    const [x, y] = this.left(view, row);
    const picture = this.sprite(this.data.words[row], isStrong, view.ratio);
    if (!picture) return;
    this.context.globalAlpha = isFaded && !isStrong ? 0.45 : 1;
    const [left, top] = [x - HALO, y - CELL_HEIGHT / 2].map((value) => Math.round(value * view.ratio) / view.ratio);
    this.context.drawImage(picture, left, top, picture.width / view.ratio, picture.height / view.ratio);
  }

  // A name with its halo, drawn once; nothing yet if enough names are new in this frame.
  sprite(word, isStrong, ratio) {
    const key = isStrong ? `!${word}` : word;
    if (!this.sprites.has(key)) {
      if (this.drawable <= 0) return null;
      this.drawable -= 1;
      if (this.sprites.size >= MOST_SPRITES) this.sprites.delete(this.sprites.keys().next().value);
      const picture = document.createElement("canvas");
      picture.width = Math.ceil((this.width(word) * 1.1 + 2 * HALO) * ratio);
      picture.height = Math.ceil(CELL_HEIGHT * ratio);
      const context = picture.getContext("2d");
      context.scale(ratio, ratio);
      Object.assign(context, { font: isStrong ? `650 ${FONT}` : FONT, textBaseline: "middle", lineJoin: "round", lineWidth: 3, strokeStyle: this.paper, fillStyle: this.ink });
      context.strokeText(word, HALO, CELL_HEIGHT / 2);
      context.fillText(word, HALO, CELL_HEIGHT / 2);
      this.sprites.set(key, picture);
    }
    return this.sprites.get(key);
  }

  // Take room for a name, unless other names are there; a strong one only gives way to buttons.
  take(x, y, width, isStrong, by = TAKEN) {
    const line = Math.floor((y - CELL_HEIGHT / 2) / CELL_HEIGHT);
    const [first, last] = [Math.max(Math.floor(x / CELL_WIDTH), 0), Math.min(Math.floor((x + width) / CELL_WIDTH), this.columns - 1)];
    const least = isStrong ? COVERED : TAKEN;
    for (let row = Math.max(line, 0); by !== COVERED && row <= line + 1; row += 1) {
      for (let column = first; column <= last; column += 1) if (this.taken[row * this.columns + column] >= least) return false;
    }
    for (let row = Math.max(line, 0); row <= line + 1; row += 1) this.taken.fill(by, row * this.columns + first, row * this.columns + last + 1);
    return true;
  }

  width(word) {
    if (!this.widths.has(word)) {
      this.context.font = FONT;
      this.widths.set(word, this.context.measureText(word).width);
    }
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
