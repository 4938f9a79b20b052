// Two words side by side: which coordinates, or clauses, their similarity is made of.

import { ask } from "./api.js";
import { percentileText } from "./bars.js";
import { combobox } from "./combobox.js";
import { count, decimal, featureText, h, inUnits, loading, parted, plural, scoreText, shareText, units, unitsTitle, wordText } from "./dom.js";
import { showTogether } from "./evidence.js";
import { chooseWord, needsIndex, problemCard } from "./problems.js";
import { address, go, wordAddress } from "./state.js";
import { metricName } from "./word.js";

const POWERS = 5; // of ten, on the scale
const MATTERS = 0.2; // what speaks against is only shown at once if it is that much of what speaks for

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
    const found = await ask("neighbours", { word: state.word, metric: by, k: model.n_compared ?? 16 }, signal);
    body.replaceChildren(h("section", { class: "empty" }, h("h1", {}, "Compare ", wordText(state.word), " with …"),
      h("p", { class: "soft" }, model.is_stored ? "This exported page compares a word with its nearest ones." : "Type a second word, or take one of its neighbours."),
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
  const pair = [wordText(found.word), " and ", wordText(found.other)];
  return h("section", { class: "card", data: { part: "score" } },
    h("div", { class: "head" },
      h("div", {}, h("h1", {}, pair), found.scale ? scaleText(found) : h("p", { class: "score" }, scoreText(found.score, found.metric)),
        found.sentence ? h("p", { class: "spaced" }, `${found.sentence[0].toUpperCase()}${found.sentence.slice(1)}.`) : null),
      togetherFact(found, model)),
    found.scale ? scale(found) : null,
    details(found));
}

function scaleText(found) {
  return h("p", { class: "score-text" }, "nearer than ", h("b", {}, percentileText(found.scale.percentile)), " of all pairs of words");
}

// How few pairs of words are nearer, in powers of ten.
function scale(found) {
  const place = (percentile) => `${Math.min(-Math.log10(Math.max(1 - percentile / 100, 1e-9)) / POWERS, 1) * 100}%`;
  const marks = [50, 90, 99, 99.9, 99.99];
  return h("div", { class: "score-scale", role: "img", "aria-label": `nearer than ${found.scale.percentile.toFixed(2)} percent of all pairs` },
    h("span", { class: "filled", style: { width: place(found.scale.percentile) } }),
    marks.map((percentile) => h("span", { class: "mark", style: { left: place(percentile) } }, h("span", { class: "small soft" }, `${percentile}\u00a0%`))));
}

// What the score is made of, for those who want to add it up.
function details(found) {
  const unit = found.clauses.length ? "clause" : "coordinate";
  const parts = Object.entries(found.parts).filter(([, value]) => value).map(([name, value]) => `${name} ${decimal(value, 1)}`).join(" + ");
  const forms = Object.entries(found.forms).filter(([, names]) => names.length).map(([word, names]) => `${word} (${names.join(", ")})`).join("; ");
  return h("details", { class: "small" }, h("summary", {}, "What the score is made of"),
    h("p", {}, `${plural(found.n_for, unit)} for: +${decimal(found.total_for, 1)}; ${plural(found.n_against, unit)} against: ${decimal(found.total_against, 1)}`,
      found.rounding ? `; rounded down: ${decimal(found.rounding, 1)}` : "", `. They add up to ${found.scale ? `${decimal(found.score, 1)}; a word with itself has ${decimal(found.scale.most, 1)}` : scoreText(found.score, found.metric)}.`),
    parts ? h("p", {}, `By parts: ${parts}.`) : null,
    forms ? h("p", {}, `Compared with their forms: ${forms}.`) : null);
}

function togetherFact(found, model) {
  if (!model.has_index || !found.together) return null;
  const { count: number, expected, lift } = found.together;
  const times = lift === null ? "" : `, ${lift >= 10 ? Math.round(lift) : decimal(lift, 1)} times as many as by chance (${expected >= 10 ? count(Math.round(expected)) : decimal(expected, 1)})`;
  return h("div", {}, h("p", { class: "small" }, `Together in ${inUnits(number)}${times}.`),
    h("button", { type: "button", onclick: () => showTogether([found.word, found.other]) }, "Read some"));
}

function coordinates(found, model) {
  const against = wings("What keeps them apart", found.contributions_against, found, model);
  const matters = -found.total_against > MATTERS * found.total_for;
  return h("div", { class: `grid spaced ${matters ? "wide-cards" : "single"}` },
    wings("What makes them similar", found.contributions_for, found, model, ownRow(found)),
    matters ? against : h("details", { class: "card" }, h("summary", {}, `What keeps them apart: ${shareText(found.total_against, found.score)} of the score`), against));
}

// Coordinates about the two words themselves are one line.
function ownRow(found) {
  if (!found.share_together) return null;
  return h("p", { class: "own-row" }, found.share_together > 0 ? "They occur together: " : "They occur together less than others: ", h("b", {}, shareText(found.share_together, found.score)),
    h("span", { class: "soft small" }, " of the score, from the coordinates about the two words themselves and their forms"));
}

function wings(title, rows, found, model, first = null) {
  const most = Math.max(1, ...found.contributions_for.concat(found.contributions_against).flatMap((row) => [Math.abs(row.first_value), Math.abs(row.second_value)]));
  const shown = (value) => (found.scale ? decimal(value, 1) : scoreText(value, "association"));
  const wing = (value, side) => h("span", { class: `wing ${side}`, role: "cell" }, side === "left" ? h("span", {}, shown(value)) : null,
    h("i", { class: value < 0 ? "against" : "", style: { width: `${(72 * Math.abs(value)) / most}%` } }),
    side === "right" ? h("span", {}, shown(value)) : null);
  if (!rows.length) return h("section", { class: "card" }, h("h2", {}, title), first, h("p", { class: "soft" }, "There are none."));
  return h("section", { class: "card" }, h("h2", {}, title),
    h("p", { class: "soft small" }, found.scale ? "How far each coordinate stands out in both vectors, in deviations from other words, and its part of the score" : "The coordinate in both vectors, and its part of the score"),
    first,
    h("div", { class: "wings", role: "table" },
      h("div", { class: "row", role: "row" },
        h("span", { class: "top number", role: "columnheader" }, found.word), h("span", { class: "top feature", role: "columnheader" }, "both"),
        h("span", { class: "top", role: "columnheader" }, found.other), h("span", { class: "top number", role: "columnheader" }, "part"), h("span", { class: "top documents number", role: "columnheader", title: `${unitsTitle()} that the coordinate shares with each of the two words` }, model.has_index ? units() : "")),
      rows.map((row) => h("div", { class: "row", role: "row" },
        wing(row.first_value, "left"),
        h("span", { class: "feature", role: "cell" }, h("a", { href: wordAddress(parted(row.feature).word), "data-link": true, title: evidenceTitle(row) }, featureText(row.feature))),
        wing(row.second_value, "right"),
        h("span", { class: "number small", role: "cell" }, shareText(row.share, found.score)),
        model.has_index ? evidenceButtons(row, found) : h("span", { class: "documents", role: "cell" })))));
}

function evidenceTitle(row) {
  if (!row.with_first) return row.feature;
  return `${row.feature}: with ${row.with_first.first} in ${inUnits(row.with_first.count)}, with ${row.with_second.first} in ${count(row.with_second.count)}`;
}

function evidenceButtons(row, found) {
  const button = (word, fact) => h("button", {
    class: "quiet small", type: "button", title: `${inUnits(fact.count)} with ${word} and ${row.feature}`,
    "aria-label": `${inUnits(fact.count)} with ${word} and ${row.feature}`,
    onclick: () => showTogether([word, parted(row.feature).word]),
  }, count(fact.count));
  return h("span", { class: "documents number", role: "cell" }, button(found.word, row.with_first), h("span", { class: "soft" }, "·"), button(found.other, row.with_second));
}

function clauses(found) {
  const most = Math.max(1e-12, ...found.clauses.map((row) => Math.abs(row.share)));
  return h("section", { class: "card spaced" }, h("h2", {}, "By clause"),
    h("p", { class: "soft small" }, `State of “the other word occurs” less state of “it does not”, shared among the positive clauses`),
    h("div", { class: "scroll" }, h("table", { class: "table" },
      h("thead", {}, h("tr", {}, ["machine", "clause", "weight", "occurs", "does not", "share"].map((name, k) => h("th", { class: k ? "number" : "" }, name)), h("td"))),
      h("tbody", {}, found.clauses.map((row) => h("tr", {},
        h("td", {}, wordText(row.machine)),
        h("td", { class: "number" }, h("a", { href: address({ view: "rules", word: row.machine, clause: String(row.clause) }), "data-link": true }, String(row.clause))),
        [row.weight, row.present_state, row.absent_state].map((value) => h("td", { class: "number" }, count(value))),
        h("td", { class: "number" }, decimal(row.share)),
        h("td", { class: "share" }, h("span", { class: "track" }, h("span", { class: `bar${row.share < 0 ? " against" : ""}`, style: { width: `${(100 * Math.abs(row.share)) / most}%` } })))))))));
}
