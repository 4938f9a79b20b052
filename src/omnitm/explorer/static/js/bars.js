// Lists of words with bars.

import { h, scoreText, wordText } from "./dom.js";
import { address, wordAddress } from "./state.js";

export function barList(rows, { word, metric, compareBy, largest }) {
  const most = largest ?? Math.max(1e-12, ...rows.map((row) => Math.abs(row.value)));
  return h("ol", { class: "bars" }, rows.map((row) => bar(row, { word, metric, compareBy, most })));
}

function bar(row, { word, metric, compareBy, most }) {
  const width = `${(100 * Math.min(Math.abs(row.value) / most, 1)).toFixed(1)}%`;
  const name = row.href === null || row.trained === false
    ? h("span", { class: "name soft", title: row.trained === false ? `${row.word}: not trained` : row.word }, wordText(row.word))
    : h("a", { class: "name", href: row.href ?? wordAddress(row.word), "data-link": true, title: row.word }, wordText(row.word));
  const compare = word && row.word !== word ? h("a", {
    class: "quiet", "data-link": true, "aria-label": `Why are ${word} and ${row.word} similar?`,
    title: `Why are ${word} and ${row.word} similar?`,
    href: address({ view: "compare", word, other: row.word, metric: compareBy }),
  }, "⇄") : h("span");
  return h("li", {},
    name,
    h("span", { class: "track" }, h("span", { class: `bar${row.value < 0 ? " against" : ""}`, style: { width } })),
    h("span", { class: "number small" }, scoreText(row.value, metric)),
    compare);
}
