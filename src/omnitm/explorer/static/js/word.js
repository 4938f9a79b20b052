// One word: its neighbours by each metric, and its row.

import { ask } from "./api.js";
import { barList } from "./bars.js";
import { count, h, loading, percent, plural } from "./dom.js";
import { showTogether } from "./evidence.js";
import { chooseWord, problemCard } from "./problems.js";
import { address, go } from "./state.js";

const SHOWN = 20;
const METRICS = {
  association: ["Association", (word) => `How much the machine of ${word} leans on a word`],
  similarity: ["Similarity", (word) => `Words that occur with ${word}, or keep the same company`],
  cosine: ["Cosine", (word) => `Words whose whole row, frequent words included, is most like that of ${word}`],
  "association-symmetric": ["Association, both ways", (word) => `${word} leans on the word, and the word on ${word}`],
};

export const metricName = (metric) => METRICS[metric]?.[0] ?? metric[0].toUpperCase() + metric.slice(1);

export function wordView(state, model, signal) {
  if (!state.word) {
    const text = `${count(model.n_words)} words, each a row of ${count(model.n_features)} whole numbers, one for every word of `
      + "the vocabulary. Search a word, or start with one of these.";
    return chooseWord(model, state, "Every number has a name", text);
  }
  const word = state.word;
  const facts = h("p", { class: "soft" }, " ");
  const cards = h("div", { class: "grid" });
  const element = h("div", {}, h("div", { class: "head" }, h("div", {}, h("h1", {}, h("bdi", {}, word)), facts), actions(word, model)), cards);
  const metrics = [...new Set([model.default_metric, "association", "cosine"])].filter((name) => model.metrics.includes(name));
  const row = rowCard(word, signal, facts, model);
  cards.append(...metrics.map((metric) => neighboursCard(word, metric, model, signal)), standingOutCard(word, signal), row.element);
  row.ready.catch((problem) => {
    if (problem.status === 404) element.replaceChildren(problemCard(problem, state));
  });
  return element;
}

function actions(word, model) {
  return h("div", { class: "actions" },
    h("a", { class: "button", href: address({ view: "compare", word }), "data-link": true }, "Compare"),
    h("a", { class: "button", href: address({ view: "rules", word }), "data-link": true }, "Rules"),
    h("a", { class: "button", href: address({ view: "map", word }), "data-link": true }, "On the map"),
    model.has_index ? h("button", { type: "button", onclick: () => showTogether([word]) }, "Documents") : null);
}

function neighboursCard(word, metric, model, signal) {
  const [name, explain] = METRICS[metric] ?? [metricName(metric), (given) => `Words nearest to ${given}`];
  const body = h("div", {}, loading("Looking …"));
  const fill = async (k) => {
    try {
      const found = await ask("neighbours", { word, metric, k }, signal);
      const rows = found.neighbours.map((row) => ({ ...row, value: row.score }));
      const compareBy = model.comparable.includes(metric) && !model.by_clauses.includes(metric) ? metric : undefined;
      body.replaceChildren(rows.length ? barList(rows, { word, metric, compareBy }) : h("p", { class: "soft" }, "There is no other word."),
        k === SHOWN && rows.length === k ? h("button", { class: "quiet more", type: "button", onclick: () => fill(100) }, "Show 100") : "");
    } catch (problem) {
      if (problem.name !== "AbortError") body.replaceChildren(h("p", { role: "alert" }, problem.message));
    }
  };
  fill(SHOWN);
  const standard = metric === model.default_metric ? h("span", { class: "soft small" }, " · the default") : null;
  return h("section", { class: "card", data: { metric } }, h("h2", {}, "Nearest by ", name.toLowerCase(), standard), h("p", { class: "soft small" }, explain(word)), body);
}

function standingOutCard(word, signal) {
  const body = h("div", {}, loading("Looking …"));
  ask("standing-out", { word, k: SHOWN }, signal).then((found) => {
    body.replaceChildren(found.features.length ? barList(found.features, { word, digits: 1 }) : h("p", { class: "soft" }, "No coordinate stands out."));
  }).catch((problem) => {
    if (problem.name !== "AbortError") body.replaceChildren(h("p", { role: "alert" }, problem.message));
  });
  return h("section", { class: "card", data: { metric: "standing-out" } }, h("h2", {}, "What stands out"),
    h("p", { class: "soft small" }, "Coordinates far above the same coordinate of other words, in deviations"), body);
}

function rowCard(word, signal, facts, model) {
  const body = h("div", {}, loading("Reading the row …"));
  const ready = ask("row", { word, k: SHOWN }, signal).then((row) => {
    if (row.word !== word) go({ view: "word", word: row.word }, true);
    const share = row.n_documents === null ? "" : `in ${plural(row.n_documents, "document")} (${percent(row.n_documents / Math.max(model.n_documents, 1))}) · `;
    facts.textContent = `${share}${count(row.n_positive)} coordinates above zero, ${count(row.n_negative)} below, ${count(row.n_zero)} zero`;
    const most = Math.max(1, ...[...row.positive, ...row.negative].map((part) => Math.abs(part.value)));
    const list = (rows) => barList(rows, { metric: "association", largest: most });
    body.replaceChildren(h("h3", {}, "Highest"), list(row.positive.slice(0, 12)), h("h3", { class: "spaced" }, "Lowest"),
      row.negative.length ? list(row.negative.slice(0, 8)) : h("p", { class: "soft" }, "No coordinate is below zero."));
  });
  ready.catch((problem) => {
    if (problem.name !== "AbortError") body.replaceChildren(h("p", { role: "alert" }, problem.message));
  });
  const element = h("section", { class: "card", data: { metric: "row" } }, h("h2", {}, "The row"),
    h("p", { class: "soft small" }, "State of “occurs” less state of “does not occur”, for each word"), body);
  return { element, ready };
}
