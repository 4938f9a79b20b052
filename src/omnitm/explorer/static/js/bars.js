// Lists of words with bars.

import { decimal, h, percent, scoreText, shareText, wordText } from "./dom.js";
import { address, wordAddress } from "./state.js";

const NARROW = 0.9; // scores within a tenth of each other: bars from zero would all look the same

export function barList(rows, { word, metric, compareBy, largest, total, digits, share }) {
  const most = largest ?? Math.max(1e-12, ...rows.map((row) => Math.abs(row.value)));
  const least = Math.min(...rows.map((row) => row.value));
  const floor = !share && rows.length > 2 && least > NARROW * most ? least - (most - least) / 4 : 0;
  const isRanked = rows.some((row) => typeof row.percentile === "number");
  const list = h("ol", { class: `bars${isRanked ? " with-ranks" : ""}` }, rows.map((row) => bar(row, { word, metric, compareBy, most, floor, total, digits, share })));
  if (isRanked) return h("div", {}, h("p", { class: "bars-head small soft", "aria-hidden": "true" }, h("span", {}, "score"), h("span", { title: "of all pairs of words" }, "nearer than")), list);
  if (!floor) return list;
  return h("div", {}, list, h("p", { class: "small soft" }, `Bars begin at ${decimal(floor, 4)}, not at zero.`));
}

// How many of all pairs of words are less near; the digits after the point grow with the nines.
export function percentileText(percentile) {
  return percentile >= 99.995 ? ">\u00a099.99\u00a0%" : `${percentile.toFixed(percentile > 99 ? 2 : 1)}\u00a0%`;
}

function rank(row) {
  if (typeof row.percentile !== "number") return null;
  return h("span", { class: "number small soft" }, h("span", { class: "visually-hidden" }, "nearer than "), percentileText(row.percentile), h("span", { class: "visually-hidden" }, " of all pairs of words"));
}

function bar(row, { word, metric, compareBy, most, floor, total, digits, share }) {
  const length = (Math.abs(row.value) - floor) / (most - floor || 1);
  const width = `${(100 * Math.min(length, 1)).toFixed(1)}%`;
  const text = share ? percent(row.value) : total ? shareText(row.value, total) : digits !== undefined ? decimal(row.value, digits) : floor ? decimal(row.value, 4) : scoreText(row.value, metric);
  const name = row.href === null || row.trained === false
    ? h("span", { class: "name soft", title: row.trained === false ? `${row.word}: not trained` : row.word }, wordText(row.word))
    : h("a", { class: "name", href: row.href ?? wordAddress(row.word), "data-link": true, title: row.word }, wordText(row.word));
  const compare = word && row.word !== word && row.trained !== false && row.compared !== false ? h("a", {
    class: "quiet", "data-link": true, "aria-label": `Why are ${word} and ${row.word} similar?`,
    title: `Why are ${word} and ${row.word} similar?`,
    href: address({ view: "compare", word, other: row.word, metric: compareBy }),
  }, "⇄") : h("span");
  return h("li", {},
    name,
    h("span", { class: "track" }, h("span", { class: `bar${row.value < 0 ? " against" : ""}`, style: { width } })),
    h("span", { class: "number small" }, text),
    rank(row),
    compare);
}
