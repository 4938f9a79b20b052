// What the colours of the map can mean.

import { h, percent, plural, wordText } from "./dom.js";
import { SHAPES } from "./map_points.js";
import { GROUPS, OTHER, onScale, rgb, scaleStops } from "./palette.js";

const TEXT_LIMIT = 1 << 20;

function paint(data, shadeOf, isSmall = () => false) {
  const colours = new Uint8Array(4 * data.n);
  const sizes = new Float32Array(data.n);
  const shapes = new Uint8Array(data.n);
  const size = data.n > 20000 ? 3 : data.n > 4000 ? 4 : 6;
  for (let row = 0; row < data.n; row += 1) {
    const [red, green, blue] = shadeOf(row);
    colours.set([red, green, blue, isSmall(row) ? 90 : 215], 4 * row);
    sizes[row] = isSmall(row) ? size * 0.8 : size;
  }
  return { colours, sizes, shapes };
}

const groupShades = GROUPS.map(rgb);
const shapeOf = (group) => Math.floor(group / GROUPS.length) % SHAPES.length; // colours come again in another shape
const otherShade = rgb(OTHER);

export const colourings = {
  cluster: {
    title: "Cluster",
    paint: (data) => paint(data, (row) => groupShades[data.header.clusters[data.clusters[row]].colour] ?? otherShade),
  },
  honesty: {
    title: "Trustworthiness: true neighbours kept",
    paint: (data) => paint(data, (row) => (data.keptShare(row) === null ? otherShade : onScale(data.keptShare(row)))),
  },
  groups: {
    title: "Your groups",
    paint: (data, groups) => {
      const drawn = paint(data, (row) => (groups.of.has(row) ? groupShades[groups.of.get(row) % GROUPS.length] : otherShade), (row) => !groups.of.has(row));
      for (const [row, group] of groups.of) {
        drawn.sizes[row] *= 3;
        drawn.shapes[row] = shapeOf(group);
      }
      return drawn;
    },
  },
};

// Groups are lines such as `vehicles: car bus train`.
export function readGroups(text, data) {
  const groups = { text: text.slice(0, TEXT_LIMIT), names: [], of: new Map(), unknown: [] };
  for (const line of groups.text.split("\n").filter((row) => row.trim())) {
    const parts = line.split(":");
    const name = parts.length > 1 ? parts.shift().trim() : `group ${groups.names.length + 1}`;
    const words = parts.join(":").split(/[\s,]+/).filter(Boolean);
    for (const word of words) {
      if (data.rows.has(word)) groups.of.set(data.rows.get(word), groups.names.length);
      else groups.unknown.push(word);
    }
    groups.names.push(name);
  }
  return groups;
}

function swatch(hex, shape, ...text) {
  return h("span", {}, h("i", { class: SHAPES[shape], style: { background: hex } }), text);
}

export function legend(colouring, data, groups, show) {
  if (colouring === "cluster") return data.header.clusters.map((cluster) => h("button", { type: "button", class: "quiet", title: "Show on the map", onclick: () => show(cluster) }, swatch(GROUPS[cluster.colour] ?? OTHER, 0, wordText(cluster.name))));
  if (colouring === "groups") {
    const unknown = groups.unknown.length ? [h("span", { class: "small soft" }, `Not on the map: ${groups.unknown.slice(0, 8).join(", ")}${groups.unknown.length > 8 ? " …" : ""}`)] : [];
    if (!groups.names.length) return [h("span", { class: "small soft" }, "One group per line: a name, a colon, words.")];
    return [...groups.names.map((name, k) => swatch(GROUPS[k % GROUPS.length], shapeOf(k), wordText(name), h("span", { class: "soft" }, ` ${plural([...groups.of.values()].filter((group) => group === k).length, "word")}`))), ...unknown];
  }
  if (data.header.mean_kept === null) return [h("span", { class: "small soft" }, "Not measured for the sketch.")];
  return [h("div", { class: "scale", style: { background: `linear-gradient(to right, ${scaleStops().join(", ")})` } }),
    h("div", { class: "scale-ends small soft" }, h("span", {}, "none kept"), h("span", {}, `mean ${percent(data.header.mean_kept)}`), h("span", {}, "all kept"))];
}
