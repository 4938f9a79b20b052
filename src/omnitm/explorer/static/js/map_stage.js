// The map's stage: camera, pointer, keys, lasso; draws only when something has changed.

import { h } from "./dom.js";
import { Labels } from "./map_labels.js";
import { pointPainter } from "./map_points.js";

const [NEAREST, FARTHEST] = [0.8, 400]; // zoom
const REACH = 14; // pixels around the pointer in which a point is found
const MOVE = 1500; // milliseconds in which points move to their places on a new map
const CLICK = 5; // pixels that the pointer may move in a click
const MOST = 0.8; // of a word's neighbours are to be seen

export class Stage {
  constructor(data, { hover, choose, lasso, moved, camera }) {
    this.data = data;
    this.calls = { hover, choose, lasso, moved };
    this.camera = camera ?? { x: 0, y: 0, zoom: 1 };
    this.points = h("canvas", { class: "points" });
    this.names = h("canvas", { class: "labels", "aria-hidden": "true" });
    this.tip = h("div", { class: "tip", role: "status", hidden: true });
    this.element = h("div", { class: "map-stage", tabindex: "0", role: "application", "aria-label": "Map of the vocabulary. Arrow keys move, plus and minus zoom, L starts a lasso." }, this.points, this.names, this.tip);
    this.element.stage = this;
    this.painter = pointPainter(this.points);
    this.labels = new Labels(this.names, data);
    this.painter.set({ positions: data.positions });
    Object.assign(this, { lines: [], always: [], first: [], outline: [], lassoing: false, faded: null, frames: 0, pointers: new Map() });
    this.listen();
    this.observer = new ResizeObserver(() => this.repaint());
    this.observer.observe(this.element);
  }

  colourPoints({ colours, sizes, shapes }) {
    this.painter.set({ colours, sizes, shapes });
    this.repaint();
  }

  get view() {
    const [width, height] = [this.element.clientWidth, this.element.clientHeight];
    const pixels = Math.min(width, height) * 0.47 * this.camera.zoom;
    const { positions } = this.data;
    const { x, y } = this.camera;
    const toScreen = (row) => [(positions[2 * row] - x) * pixels + width / 2, (y - positions[2 * row + 1]) * pixels + height / 2];
    const [halfWidth, halfHeight] = [width / 2 / pixels, height / 2 / pixels];
    const sees = (row) => Math.abs(positions[2 * row] - x) < halfWidth && Math.abs(positions[2 * row + 1] - y) < halfHeight;
    const growth = Math.min(1 + 0.35 * Math.log2(Math.max(this.camera.zoom, 1)), 2.6);
    return { x, y, width, height, pixels, ratio: devicePixelRatio || 1, growth, toScreen, sees };
  }

  repaint() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.paint();
    });
  }

  paint() {
    const view = this.view;
    if (!view.width || !view.height) return;
    for (const canvas of [this.points, this.names]) {
      const [width, height] = [Math.round(view.width * view.ratio), Math.round(view.height * view.ratio)];
      if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    }
    this.painter.paint(view);
    this.labels.paint(view, { lines: this.lines, always: this.always, first: this.first, lasso: this.outline, faded: this.faded, isMoving: this.isMoving, covered: this.covered() });
    this.frames += 1;
  }

  // Where buttons lie above the map.
  covered() {
    const own = this.element.getBoundingClientRect();
    return [...this.element.querySelectorAll(".map-tools")].map((tools) => {
      const box = tools.getBoundingClientRect();
      return [box.left - own.left, box.top - own.top, box.right - own.left, box.bottom - own.top];
    });
  }

  toMap(x, y) {
    const view = this.view;
    return [(x - view.width / 2) / view.pixels + view.x, view.y - (y - view.height / 2) / view.pixels];
  }

  at(x, y) {
    return this.data.nearest(...this.toMap(x, y), REACH / this.view.pixels);
  }

  zoomBy(factor, x = this.element.clientWidth / 2, y = this.element.clientHeight / 2) {
    const [before, zoom] = [this.toMap(x, y), Math.min(Math.max(this.camera.zoom * factor, NEAREST), FARTHEST)];
    this.camera.zoom = zoom;
    const after = this.toMap(x, y);
    this.move(before[0] - after[0], before[1] - after[1]);
  }

  move(x, y) {
    this.camera.x = Math.min(Math.max(this.camera.x + x, -1.2), 1.2);
    this.camera.y = Math.min(Math.max(this.camera.y + y, -1.2), 1.2);
    this.repaint();
    clearTimeout(this.settling);
    this.isMoving = true;
    this.settling = setTimeout(() => this.settle(), 300);
  }

  settle() {
    this.isMoving = false;
    this.repaint();
    this.calls.moved(this.camera);
  }

  show(row, zoom) {
    this.camera = { x: this.data.positions[2 * row], y: this.data.positions[2 * row + 1], zoom: Math.max(zoom, this.camera.zoom) };
    this.move(0, 0);
  }

  // A point in the middle, as near as most of some others can be seen.
  showAmong(row, others) {
    const { positions } = this.data;
    const away = others.map((other) => Math.max(...[0, 1].map((k) => Math.abs(positions[2 * other + k] - positions[2 * row + k])))).sort((a, b) => a - b);
    const reach = away[Math.floor(MOST * (away.length - 1))] ?? 1;
    this.showPlace(positions[2 * row], positions[2 * row + 1], Math.min(Math.max(0.85 / Math.max(reach, 1e-6), 4), 40));
  }

  showPlace(x, y, zoom) {
    this.camera = { x, y, zoom };
    this.move(0, 0);
  }

  // Let the points move from where they were on an older map.
  moveFrom(before) {
    const after = this.data.positions;
    const began = performance.now();
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const step = (now) => {
      const done = still ? 1 : Math.min(Math.max(now - began, 0) / MOVE, 1);
      const ease = done * done * (3 - 2 * done);
      this.painter.set({ positions: done === 1 ? after : after.map((value, k) => before[k] + (value - before[k]) * ease) });
      this.repaint();
      if (done < 1) this.moving = requestAnimationFrame(step);
    };
    step(began);
  }

  showAll() {
    this.camera = { x: 0, y: 0, zoom: 1 };
    this.move(0, 0);
  }

  setLasso(isOn) {
    this.lassoing = isOn;
    this.outline = [];
    this.element.classList.toggle("lassoing", isOn);
    this.calls.lasso(null);
    this.repaint();
  }

  listen() {
    const { element } = this;
    element.addEventListener("pointerdown", (event) => this.press(event));
    element.addEventListener("pointermove", (event) => this.drag(event));
    for (const name of ["pointerup", "pointercancel"]) element.addEventListener(name, (event) => this.release(event));
    element.addEventListener("pointerleave", () => this.name(-1));
    element.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoomBy(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), ...this.place(event));
    }, { passive: false });
    element.addEventListener("keydown", (event) => this.key(event));
  }

  place(event) {
    const box = this.element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  press(event) {
    if (event.button !== 0 || event.target.closest("button")) return;
    this.element.focus({ preventScroll: true });
    this.element.setPointerCapture(event.pointerId);
    const place = this.place(event);
    this.pointers.set(event.pointerId, { start: place, last: place });
    this.drawing = this.pointers.size === 1 && (this.lassoing || event.shiftKey);
    if (this.drawing) this.outline = [place];
  }

  drag(event) {
    const [x, y] = this.place(event);
    const pointer = this.pointers.get(event.pointerId);
    if (!pointer) return this.name(this.at(x, y), x, y);
    const [dx, dy] = [x - pointer.last[0], y - pointer.last[1]];
    if (this.drawing) {
      this.outline.push([x, y]);
      this.repaint();
    } else if (this.pointers.size === 2) this.pinch(event.pointerId, [x, y]);
    else this.move(-dx / this.view.pixels, dy / this.view.pixels);
    pointer.last = [x, y];
    return undefined;
  }

  pinch(moved, place) {
    const other = [...this.pointers].find(([id]) => id !== moved)[1].last;
    const distance = ([x, y]) => Math.hypot(x - other[0], y - other[1]) || 1;
    const middle = [0, 1].map((k) => (place[k] + other[k]) / 2);
    this.zoomBy(distance(place) / distance(this.pointers.get(moved).last), ...middle);
  }

  release(event) {
    const pointer = this.pointers.get(event.pointerId);
    this.pointers.delete(event.pointerId);
    if (!pointer || event.type === "pointercancel") return;
    const [x, y] = this.place(event);
    if (this.drawing) {
      this.drawing = false;
      const polygon = this.outline.map((point) => this.toMap(...point));
      this.calls.lasso(polygon.length > 2 ? this.data.inside(polygon) : []);
    } else if (Math.hypot(x - pointer.start[0], y - pointer.start[1]) < CLICK) this.calls.choose(this.at(x, y));
  }

  name(row, x = 0, y = 0) {
    this.tip.hidden = row < 0;
    if (row >= 0) {
      this.tip.replaceChildren(this.calls.hover(row));
      this.tip.style.left = `${Math.min(x + 14, this.element.clientWidth - this.tip.offsetWidth - 4)}px`;
      this.tip.style.top = `${Math.max(y - 34, 2)}px`;
    }
  }

  key(event) {
    const step = 60 / this.view.pixels;
    const keys = {
      ArrowLeft: () => this.move(-step, 0), ArrowRight: () => this.move(step, 0), ArrowUp: () => this.move(0, step), ArrowDown: () => this.move(0, -step),
      "+": () => this.zoomBy(1.4), "=": () => this.zoomBy(1.4), "-": () => this.zoomBy(1 / 1.4), 0: () => this.showAll(),
      l: () => this.setLasso(!this.lassoing), L: () => this.setLasso(!this.lassoing), Escape: () => this.setLasso(false),
    };
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    keys[event.key]();
  }

  end() {
    this.observer.disconnect();
    cancelAnimationFrame(this.waiting);
    cancelAnimationFrame(this.moving);
    clearTimeout(this.settling);
  }
}
