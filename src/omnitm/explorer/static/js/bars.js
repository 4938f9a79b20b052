// Lists of words with bars.

import { decimal, h, percent, scoreText, shareText, wordText } from "./dom.js";
import { address, wordAddress } from "./state.js";

const NARROW = 0.9; // scores within a tenth of each other: bars from zero would all look the same

export function barList(rows, { word, metric, compareBy, largest, total, digits, share }) {
  const most = largest ?? Math.max(1e-12, ...rows.map((row) => Math.abs(row.value)));
  const least = Math.min(...rows.map((row) => row.value));
  const floor = !share && rows.length > 2 && least > NARROW * most ? least - (most - least) / 4 : 0;
  const list = h("ol", { class: "bars" }, rows.map((row) => bar(row, { word, metric, compareBy, most, floor, total, digits, share })));
  if (!floor) return list;
  return h("div", {}, list, h("p", { class: "small soft" }, `Bars begin at ${decimal(floor, 4)}, not at zero.`));
}

function percentile(row) {
  if (typeof row.percentile !== "number") return null;
  const digits = row.percentile > 99 ? 2 : 1;
  return h("span", { class: "soft", title: `nearer than ${row.percentile.toFixed(2)} % of random pairs of words` }, ` ${row.percentile.toFixed(digits)}\u00a0%`);
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
    h("span", { class: "number small" }, text, percentile(row)),
    compare);
}
