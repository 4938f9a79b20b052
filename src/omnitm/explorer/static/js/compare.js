// Two words side by side: which coordinates, or clauses, their similarity is made of.

import { ask } from "./api.js";
import { combobox } from "./combobox.js";
import { count, decimal, h, loading, plural, scoreText, shareText, wordText } from "./dom.js";
import { showTogether } from "./evidence.js";
import { chooseWord, needsIndex, problemCard } from "./problems.js";
import { address, go, wordAddress } from "./state.js";
import { metricName } from "./word.js";

export function compareView(state, model, signal) {
  if (!state.word) return chooseWord(model, state, "Why are two words similar?", "Choose the first word: search it above, or take one of these.");
  const metric = model.comparable.includes(state.metric) ? state.metric : model.compare_by;
  const body = h("div", { class: "result" });
  const element = h("div", {}, form(state, model, metric), body);
  if (state.other) fill(body, { ...state, metric }, model, signal);
  else suggest(body, state, metric, model, signal);
  return element;
}

function form(state, model, metric) {
  const change = (changes) => go({ view: "compare", word: state.word, other: state.other, metric, ...changes });
  const first = combobox({ label: "First word", value: state.word, choose: (word) => change({ word }), name: "first" });
  const second = combobox({ label: "Second word", value: state.other ?? "", placeholder: "another word", choose: (other) => change({ other }), name: "second" });
  const choices = model.comparable.map((name) => h("option", { value: name, selected: name === metric }, metricName(name)));
  return h("form", { class: "pair-form", onsubmit: (event) => event.preventDefault() },
    h("div", {}, h("label", {}, "First word"), first.element),
    h("button", { type: "button", title: "Swap the words", "aria-label": "Swap the words", disabled: !state.other, onclick: () => change({ word: state.other, other: state.word }) }, "⇄"),
    h("div", {}, h("label", {}, "Second word"), second.element),
    h("div", {}, h("label", { for: "metric" }, "Similarity"), h("select", { id: "metric", onchange: (event) => change({ metric: event.target.value }) }, choices)));
}

async function suggest(body, state, metric, model, signal) {
  body.replaceChildren(loading("Looking for words to compare with …"));
  try {
    const by = model.metrics.includes(metric) ? metric : "association";
    const found = await ask("neighbours", { word: state.word, metric: by, k: 16 }, signal);
    body.replaceChildren(h("section", { class: "empty" }, h("h1", {}, "Compare ", wordText(state.word), " with …"),
      h("p", { class: "soft" }, "Type a second word, or take one of its neighbours."),
      h("div", { class: "words" }, found.neighbours.filter((row) => row.trained).map((row) =>
        h("a", { href: address({ view: "compare", word: state.word, other: row.word, metric }), "data-link": true }, row.word)))));
  } catch (problem) {
    if (problem.name !== "AbortError") body.replaceChildren(problemCard(problem, state));
  }
}

async function fill(body, state, model, signal) {
  if (model.need_index.includes(state.metric) && !model.has_index) return body.replaceChildren(needsIndex(model));
  body.replaceChildren(loading("Taking the similarity apart …"));
  try {
    const found = await ask("compare", { word: state.word, other: state.other, metric: state.metric, k: 15 }, signal);
    body.replaceChildren(summary(found, model), found.clauses.length ? clauses(found) : coordinates(found, model));
  } catch (problem) {
    if (problem.name !== "AbortError") body.replaceChildren(problemCard(problem, state, problem.word === state.other ? "other" : "word"));
  }
  return undefined;
}

function summary(found, model) {
  const all = found.total_for - found.total_against;
  const part = (value) => ({ width: `${(100 * value) / (all || 1)}%` });
  const unit = found.clauses.length ? "clause" : "coordinate";
  return h("section", { class: "card" },
    h("div", { class: "head" },
      h("div", {}, h("p", { class: "soft small" }, metricName(found.metric), " of ", wordText(found.word), " and ", wordText(found.other)),
        h("p", { class: "score" }, scoreText(found.score, found.metric))),
      togetherFact(found, model)),
    h("div", { class: "balance", role: "img", "aria-label": `for ${decimal(found.total_for)}, against ${decimal(found.total_against)}` },
      h("i", { class: "for", style: part(found.total_for) }), h("i", { class: "against", style: part(-found.total_against) })),
    h("p", { class: "legend" },
      h("span", {}, h("i", { class: "swatch-for" }), `${plural(found.n_for, unit)} for: +${decimal(found.total_for, 4)}`),
      h("span", {}, h("i", { class: "swatch-against" }), `${plural(found.n_against, unit)} against: ${decimal(found.total_against, 4)}`),
      found.rounding ? h("span", { class: "soft" }, `rounded down: ${decimal(found.rounding)}`) : null,
      h("span", { class: "soft" }, "They add up to the score.")),
    byParts(found),
    Object.entries(found.forms).map(([word, forms]) => speakers(word, forms)));
}

function speakers(word, forms) {
  if (!forms.length) return null;
  return h("p", { class: "small soft" }, "For ", wordText(word), " speak also its forms: ", forms.join(", "), ".");
}

function byParts(found) {
  const parts = Object.entries(found.parts);
  if (!parts.length) return null;
  return h("p", { class: "small soft" }, "By parts: ", parts.map(([name, value]) => `${name} ${decimal(value, 2)}`).join(" + "), ` = ${decimal(found.score, 2)}`);
}

function togetherFact(found, model) {
  if (!model.has_index || !found.together) return null;
  const { count: number, expected, lift } = found.together;
  const times = lift === null ? "" : `, ${lift >= 10 ? Math.round(lift) : decimal(lift, 1)} times as many as by chance (${expected >= 10 ? count(Math.round(expected)) : decimal(expected, 1)})`;
  return h("div", {}, h("p", { class: "small" }, `Together in ${plural(number, "document")}${times}.`),
    h("button", { type: "button", onclick: () => showTogether([found.word, found.other]) }, "Read some"));
}

function coordinates(found, model) {
  return h("div", { class: "grid spaced wide-cards" },
    wings("Shared: these words make them similar", found.contributions_for, found, model),
    wings("Opposing: these words keep them apart", found.contributions_against, found, model));
}

function wings(title, rows, found, model) {
  const most = Math.max(1, ...found.contributions_for.concat(found.contributions_against).flatMap((row) => [Math.abs(row.first_value), Math.abs(row.second_value)]));
  const shown = (value) => (found.metric === "similarity" ? decimal(value, 1) : scoreText(value, "association"));
  const wing = (value, side) => h("span", { class: `wing ${side}` }, side === "left" ? h("span", {}, shown(value)) : null,
    h("i", { class: value < 0 ? "against" : "", style: { width: `${(72 * Math.abs(value)) / most}%` } }),
    side === "right" ? h("span", {}, shown(value)) : null);
  if (!rows.length) return h("section", { class: "card" }, h("h2", {}, title), h("p", { class: "soft" }, "There are none."));
  return h("section", { class: "card" }, h("h2", {}, title),
    h("p", { class: "soft small" }, found.metric === "similarity" ? "How far the coordinate stands out in both vectors, in deviations from other words, and its part of the score" : "The coordinate in both vectors, and its part of the score"),
    h("div", { class: "wings", role: "table" },
      h("div", { class: "row", role: "row" },
        h("span", { class: "top number", role: "columnheader" }, found.word), h("span", { class: "top feature", role: "columnheader" }, "coordinate"),
        h("span", { class: "top", role: "columnheader" }, found.other), h("span", { class: "top number", role: "columnheader" }, "part"), h("span", { class: "top documents number", role: "columnheader", title: "Documents that the coordinate shares with each of the two words" }, model.has_index ? "documents" : "")),
      rows.map((row) => h("div", { class: "row", role: "row" },
        wing(row.first_value, "left"),
        h("a", { class: "feature", href: wordAddress(row.feature), "data-link": true, title: evidenceTitle(row) }, wordText(row.feature)),
        wing(row.second_value, "right"),
        h("span", { class: "number small" }, shareText(row.share, found.score)),
        model.has_index ? evidenceButtons(row, found) : h("span", { class: "documents" })))));
}

function evidenceTitle(row) {
  if (!row.with_first) return row.feature;
  return `${row.feature}: with ${row.with_first.first} in ${plural(row.with_first.count, "document")}, with ${row.with_second.first} in ${count(row.with_second.count)}`;
}

function evidenceButtons(row, found) {
  const button = (word, fact) => h("button", {
    class: "quiet small", type: "button", title: `${plural(fact.count, "document")} with ${word} and ${row.feature}`,
    "aria-label": `${plural(fact.count, "document")} with ${word} and ${row.feature}`,
    onclick: () => showTogether([word, row.feature]),
  }, count(fact.count));
  return h("span", { class: "documents number" }, button(found.word, row.with_first), h("span", { class: "soft" }, "·"), button(found.other, row.with_second));
}

function clauses(found) {
  const most = Math.max(1e-12, ...found.clauses.map((row) => Math.abs(row.share)));
  return h("section", { class: "card spaced" }, h("h2", {}, "By clause"),
    h("p", { class: "soft small" }, `State of “the other word occurs” less state of “it does not”, shared among the positive clauses`),
    h("div", { class: "scroll" }, h("table", { class: "table" },
      h("thead", {}, h("tr", {}, ["machine", "clause", "weight", "occurs", "does not", "share", ""].map((name, k) => h("th", { class: k ? "number" : "" }, name)))),
      h("tbody", {}, found.clauses.map((row) => h("tr", {},
        h("td", {}, wordText(row.machine)),
        h("td", { class: "number" }, h("a", { href: address({ view: "rules", word: row.machine, clause: String(row.clause) }), "data-link": true }, String(row.clause))),
        [row.weight, row.present_state, row.absent_state].map((value) => h("td", { class: "number" }, count(value))),
        h("td", { class: "number" }, decimal(row.share)),
        h("td", { class: "share" }, h("span", { class: "track" }, h("span", { class: `bar${row.share < 0 ? " against" : ""}`, style: { width: `${(100 * Math.abs(row.share)) / most}%` } })))))))));
}
