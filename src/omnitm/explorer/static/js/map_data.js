// The points of the map as the server stores them, and quick questions about them.

import { askOnce, bytes } from "./api.js";

const CELLS = 128;

export async function loadMap() {
  const [content, names] = await Promise.all([bytes("map/points"), askOnce("map/words")]);
  const raw = new Uint8Array(content);
  const start = raw.indexOf(10) + 1;
  const header = JSON.parse(new TextDecoder().decode(raw.subarray(0, start)));
  const n = header.n_words;
  return new MapData(header, names, new Float32Array(content, start, 2 * n), raw.subarray(start + 8 * n, start + 9 * n), raw.subarray(start + 9 * n, start + 10 * n));
}

export class MapData {
  constructor(header, names, positions, kept, clusters) {
    Object.assign(this, { header, words: names.words, order: names.order, positions, kept, clusters });
    this.n = header.n_words;
    this.rows = new Map(this.words.map((word, k) => [word, k]));
    this.cells = this.sorted();
  }

  keptShare(row) {
    return this.kept[row] === 255 ? null : this.kept[row] / 200;
  }

  // Points sorted into a grid, as offsets and members.
  sorted() {
    const cell = (k) => Math.min(CELLS - 1, Math.max(0, Math.floor(((this.positions[k] + 1) / 2) * CELLS)));
    const offsets = new Uint32Array(CELLS * CELLS + 1);
    const home = new Uint32Array(this.n);
    for (let row = 0; row < this.n; row += 1) {
      home[row] = cell(2 * row + 1) * CELLS + cell(2 * row);
      offsets[home[row] + 1] += 1;
    }
    for (let k = 0; k < CELLS * CELLS; k += 1) offsets[k + 1] += offsets[k];
    const next = offsets.slice();
    const members = new Uint32Array(this.n);
    for (let row = 0; row < this.n; row += 1) {
      members[next[home[row]]] = row;
      next[home[row]] += 1;
    }
    return { offsets, members };
  }

  nearest(x, y, reach) {
    const bound = (value) => Math.min(CELLS - 1, Math.max(0, Math.floor(((value + 1) / 2) * CELLS)));
    let [found, least] = [-1, reach * reach];
    for (let line = bound(y - reach); line <= bound(y + reach); line += 1) {
      for (let k = this.cells.offsets[line * CELLS + bound(x - reach)]; k < this.cells.offsets[line * CELLS + bound(x + reach) + 1]; k += 1) {
        const row = this.cells.members[k];
        const distance = (this.positions[2 * row] - x) ** 2 + (this.positions[2 * row + 1] - y) ** 2;
        if (distance < least) [found, least] = [row, distance];
      }
    }
    return found;
  }

  inside(polygon) {
    const found = [];
    for (let row = 0; row < this.n; row += 1) {
      if (contains(polygon, this.positions[2 * row], this.positions[2 * row + 1])) found.push(row);
    }
    return found;
  }
}

function contains(polygon, x, y) {
  let within = false;
  for (let k = 0, last = polygon.length - 1; k < polygon.length; last = k, k += 1) {
    const [[x1, y1], [x2, y2]] = [polygon[k], polygon[last]];
    if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) within = !within;
  }
  return within;
}
