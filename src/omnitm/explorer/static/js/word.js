// One word: its neighbours by each metric, and its row.

import { ask } from "./api.js";
import { barList } from "./bars.js";
import { count, h, loading, percent, plural } from "./dom.js";
import { showTogether } from "./evidence.js";
import { chooseWord, problemCard } from "./problems.js";
import { address, go, replace } from "./state.js";

const SHOWN = 20;
const METRICS = {
  similarity: ["Both", (word) => `Words that share topics with ${word}, or stand where it stands`],
  related: ["Related", (word) => `What ${word} goes with: words that share its topics`],
  alike: ["Alike", (word) => `What ${word} is like: words that can stand in its place`],
  association: ["Association", (word) => `How much the machine of ${word} leans on a word`],
  "association-symmetric": ["Association, both ways", (word) => `${word} leans on the word, and the word on ${word}`],
  cosine: ["Cosine", (word) => `Words whose whole row, frequent words included, is most like that of ${word}`],
};
const SWITCH = ["similarity", "related", "alike", "association", "cosine"];

export const metricName = (metric) => metric[0].toUpperCase() + metric.slice(1).replace("-", ", ");

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
  const row = rowCard(word, signal, facts, model);
  cards.append(neighboursCard(state, model, signal), standingOutCard(word, signal), row.element);
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

// One list of neighbours; a switch chooses what near means.
function neighboursCard(state, model, signal) {
  const word = state.word;
  const metrics = SWITCH.filter((name) => model.metrics.includes(name));
  let metric = metrics.includes(state.metric) ? state.metric : model.default_metric;
  const explain = h("p", { class: "soft small" });
  const forms = h("p", { class: "small", hidden: true });
  const body = h("div", { "aria-live": "polite" });
  const section = h("section", { class: "card", data: { metric: "neighbours" } });
  const buttons = metrics.map((name) => h("button", { type: "button", class: "quiet", data: { choose: name }, onclick: () => choose(name) }, METRICS[name][0]));
  const fill = async (k) => {
    const asked = metric;
    body.replaceChildren(loading("Looking …"));
    try {
      const found = await ask("neighbours", { word, metric: asked, k }, signal);
      if (asked !== metric) return;
      const rows = found.neighbours.map((row) => ({ ...row, value: row.score }));
      const compareBy = model.comparable.includes(asked) && !model.by_clauses.includes(asked) ? asked : undefined;
      const digits = found.neighbours.some((row) => row.percentile !== null) ? 1 : undefined;
      forms.hidden = !found.forms.length;
      forms.textContent = `Forms of ${word}: ${found.forms.join(", ")}`;
      body.replaceChildren(rows.length ? barList(rows, { word, metric: asked, compareBy, digits }) : h("p", { class: "soft" }, "There is no other word."),
        digits === undefined ? "" : h("p", { class: "small soft" }, "The percentage: so many random pairs of words are less near."),
        k === SHOWN && rows.length === k ? h("button", { class: "quiet more", type: "button", onclick: () => fill(100) }, "Show 100") : "");
    } catch (problem) {
      if (problem.name !== "AbortError") body.replaceChildren(h("p", { role: "alert" }, problem.message));
    }
  };
  const choose = (name) => {
    metric = name;
    buttons.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.choose === metric)));
    explain.textContent = METRICS[metric][1](word);
    replace({ metric: metric === model.default_metric ? undefined : metric });
    fill(SHOWN);
  };
  section.append(h("h2", {}, "Neighbours"), h("div", { class: "switch", role: "group", "aria-label": "What near means" }, buttons), explain, forms, body);
  choose(metric);
  return section;
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
