// The rules of a word: literals can be switched off, and the counts follow.

import { ask, tell } from "./api.js";
import { count, decimal, h, loading, oneUnit, percent, plural, units, unitsTitle, wordText } from "./dom.js";
import { showMatches } from "./evidence.js";
import { chooseWord, needsIndex, problemCard } from "./problems.js";
import { statePlot } from "./state_plot.js";
import { address, replace, wordAddress } from "./state.js";
import { convincing, literals, ruleFacts } from "./word.js";

const FEW = 4; // literals of a rule that are shown at first, if so many tell documents apart
const PATIENCE = 120; // milliseconds without a click before documents are counted

export function rulesView(state, model, signal) {
  if (!model.has_index && !model.has_rules) return needsIndex(model);
  if (!state.word) return chooseWord(model, state, "What has a word's machine learned?", `Its clauses, as rules that ${units()} satisfy or not. Choose a word.`);
  if (model.is_stored) return storedRules(state, signal);
  const body = h("div", {}, loading(`Training ${state.word} again from its seed …`));
  fill(body, state, model, signal);
  return body;
}

// An exported page has the rules that documents bear out, and no documents.
function storedRules({ word }, signal) {
  return h("div", {}, h("div", { class: "head" }, h("div", {}, h("h1", {}, "Rules of ", wordText(word))),
    h("div", { class: "actions" }, h("a", { class: "button", href: wordAddress(word), "data-link": true }, "Neighbours"))),
  documentRules(word, signal, false), h("p", { class: "soft small spaced" }, "The documents, and the clauses of its machine, are not in this exported page."));
}

async function fill(body, state, model, signal) {
  try {
    const found = await ask("rules", { word: state.word, k: 12 }, signal);
    body.replaceChildren(head(found), h("div", { class: "rules-layout" },
      h("div", {}, documentRules(found.word, signal, true), h("h2", { class: "spaced" }, "What its machine has learned"),
        h("p", { class: "soft small" }, `A clause learns from examples of several ${units()} merged; those that single ${units()} bear out come first. Click a word to leave it out.`), rulesColumn(found, state, model, signal)),
      literalsColumn(found)));
    body.querySelector("[data-chosen]")?.scrollIntoView({ block: "center" });
  } catch (problem) {
    if (problem.name !== "AbortError") body.replaceChildren(problemCard(problem, state));
  }
}

function head(found) {
  const share = found.document_frequency / Math.max(found.n_documents, 1);
  return h("div", { class: "head" }, h("div", {}, h("h1", {}, "Rules of ", wordText(found.word)),
    h("p", { class: "soft" }, `${plural(found.n_clauses, "clause")}, ${count(found.n_positive)} with a positive weight`,
      found.n_empty ? `, ${count(found.n_empty)} of them without a literal` : "", ". ",
      `${percent(share)} of all ${units()} have the word.`)),
  h("div", { class: "actions" }, h("a", { class: "button", href: wordAddress(found.word), "data-link": true }, "Neighbours"),
    h("a", { class: "button", href: address({ view: "compare", word: found.word }), "data-link": true }, "Compare")));
}

// Rules with evidence come first.
function documentRules(word, signal, hasDocuments) {
  const body = h("div", {}, loading(`Counting ${units()} …`));
  ask("document-rules", { word, k: 8 }, signal).then((found) => {
    body.replaceChildren(found.rules.length ? h("ol", { class: "word-rules" }, convincing(found.rules).map((rule) => h("li", { class: "card rule-line" }, literals(rule), ruleFacts(rule, word),
      hasDocuments ? h("button", { class: "quiet small", type: "button", onclick: () => showMatches(word, rule.present, rule.absent) }, unitsTitle()) : null)))
      : h("p", { class: "soft" }, `No rule of at most three words is borne out by five ${units()}.`));
  }).catch((problem) => {
    if (problem.name !== "AbortError") body.replaceChildren(h("p", { role: "alert" }, problem.message));
  });
  return h("section", { data: { part: "document-rules" } }, h("h2", {}, `Rules that single ${units()} bear out`), h("p", { class: "soft small" }, "Distilled from the machine: at most three words each. A fifth of the documents is set aside: rules are not chosen by them."), body);
}

function rulesColumn(found, state, model, signal) {
  if (!found.rules.length) return h("p", { class: "card" }, "No clause with a positive weight includes a literal: the machine has learned no rule.");
  const column = h("div", { class: "rules" });
  const show = (number) => column.replaceChildren(
    ...found.rules.slice(0, number).map((measured) => ruleCard(measured, found, state, model, signal)),
    number < found.rules.length ? h("button", { class: "spaced", type: "button", onclick: () => show(found.rules.length) }, `Show all ${count(found.rules.length)} rules`) : "");
  const chosen = found.rules.findIndex((measured) => measured.rule.clauses.includes(Number(state.clause ?? -1)));
  show(Math.max(8, chosen + 1));
  return column;
}

function ruleCard(measured, found, state, model, signal) {
  const { rule } = measured;
  const chosen = rule.clauses.includes(Number(state.clause ?? -1));
  const facts = h("div", { class: "facts", "aria-live": "polite" });
  const plot = h("div");
  const off = new Set();
  const editable = { measured, off, facts, word: found.word, base: found.document_frequency / Math.max(found.n_documents, 1) };
  const togglePlot = () => {
    const open = !plot.firstChild;
    plot.replaceChildren(open ? clausePlots(found.word, rule.clauses, signal) : "");
    button.setAttribute("aria-pressed", String(open));
    replace({ clause: open ? String(rule.clauses[0]) : undefined });
  };
  const button = h("button", { type: "button", "aria-pressed": "false", onclick: togglePlot }, "States");
  showFacts(editable, measured.match);
  const card = h("article", { class: "card rule", data: { clause: String(rule.clauses[0]), ...(chosen ? { chosen: "1" } : {}) } },
    chips(measured, editable, signal), facts,
    h("div", { class: "actions spaced" },
      h("button", { type: "button", onclick: () => showMatches(found.word, ...active(editable)) }, unitsTitle()), button,
      h("a", { class: "button", href: address({ view: "trace", word: found.word, literal: rule.literals[0].word, negated: rule.literals[0].negated ? "yes" : undefined }), "data-link": true }, "How it was learned")),
    plot);
  if (chosen) {
    plot.replaceChildren(clausePlots(found.word, rule.clauses, signal));
    button.setAttribute("aria-pressed", "true");
  }
  return card;
}

function clausePlots(word, clauses, signal) {
  return h("div", {}, clauses.slice(0, 1).map((clause) => statePlot(word, clause, signal)),
    clauses.length > 1 ? h("p", { class: "small soft" }, `The same rule is said by clauses ${clauses.join(", ")}; this is the first.`) : null);
}

function chips({ rule, n_telling }, editable, signal) {
  const box = h("div", { class: "chips" });
  const show = (number) => box.replaceChildren(
    ...rule.literals.slice(0, number).flatMap((literal, k) => [k ? h("span", { class: "and" }, "AND") : null, chip(literal, editable, signal)]).filter(Boolean),
    number < rule.literals.length ? h("button", { class: "quiet", type: "button", onclick: () => show(rule.literals.length) }, restText(rule.literals.slice(number))) : "");
  show(Math.min(FEW, n_telling));
  return box;
}

function restText(literals) {
  const negated = literals.every((literal) => literal.negated) ? "NOT " : "";
  return `and ${negated}${count(literals.length)} ${literals.length === 1 ? "other" : "others"}`;
}

function chip(literal, editable, signal) {
  const key = `${literal.negated ? "!" : ""}${literal.word}`;
  const title = `state ${decimal(literal.state, 0)}, ${decimal(literal.distance, 0)} above the threshold; click to leave it out`;
  const button = h("button", {
    class: `chip${literal.negated ? " not" : ""}`, type: "button", "aria-pressed": String(!editable.off.has(key)), title,
    onclick: () => {
      if (!editable.off.delete(key)) editable.off.add(key);
      button.setAttribute("aria-pressed", String(!editable.off.has(key)));
      recount(editable, signal);
    },
  }, wordText(literal.word));
  return button;
}

function active({ measured, off }) {
  const kept = measured.rule.literals.filter((literal) => !off.has(`${literal.negated ? "!" : ""}${literal.word}`));
  return [false, true].map((negated) => kept.filter((literal) => literal.negated === negated).map((literal) => literal.word));
}

function recount(editable, signal) {
  clearTimeout(editable.timer);
  editable.facts.classList.add("soft");
  editable.timer = setTimeout(async () => {
    const [present, absent] = active(editable);
    const mine = (editable.asked = (editable.asked ?? 0) + 1);
    try {
      const found = editable.off.size ? await tell("matches", { word: editable.word, present, absent }, signal) : editable.measured.match;
      if (mine === editable.asked) showFacts(editable, found);
    } catch (problem) {
      if (problem.name !== "AbortError") editable.facts.replaceChildren(h("span", { role: "alert" }, problem.message));
    }
  }, PATIENCE);
}

function showFacts({ facts, measured, base, off, word }, found) {
  facts.classList.remove("soft");
  const lift = found.precision === null || !base ? null : found.precision / base;
  const fact = (value, text) => h("span", {}, h("b", {}, value), ` ${text}`);
  facts.replaceChildren(
    off.size ? h("span", { class: "soft" }, `without ${plural(off.size, "literal")}`) : fact(count(measured.rule.weight), "weight"),
    fact(count(found.support), found.support === 1 ? `${oneUnit()} satisfies it` : `${units()} satisfy it`),
    fact(percent(found.precision), `of them have ${word}`),
    lift === null ? "" : fact(lift >= 10 ? count(Math.round(lift)) : decimal(lift, 1), `times as often as all ${units()}`),
    off.size || measured.fires_with === null || measured.fires_without === null ? "" : h("span", { class: "soft", title: `In examples drawn as in training, each made of several ${units()}` },
      `holds in ${percent(measured.fires_with)} of examples with the word, ${percent(measured.fires_without)} of those without`));
}

function literalsColumn(found) {
  const list = (literals, title, explain) => {
    const most = Math.max(found.include_from, ...literals.map((literal) => literal.state));
    return h("section", { class: "card" }, h("h2", {}, title), h("p", { class: "soft small" }, explain),
      h("ol", { class: "bars literals" }, literals.map((literal) => h("li", {},
        h("a", { class: "name", href: wordAddress(literal.word), "data-link": true }, literal.negated ? h("span", { class: "not-text" }, "NOT ") : "", wordText(literal.word)),
        h("span", { class: "track" }, h("span", { class: `bar${literal.negated ? " against" : ""}`, style: { width: `${(100 * literal.state) / most}%` } })),
        h("span", { class: "number small" }, decimal(literal.state, 1)),
        h("span", { class: "number small soft", title: "distance to the threshold" }, signed(literal.distance))))));
  };
  return h("aside", { class: "literals-column" },
    list(found.strongest, "Strongest literals", `Mean state over the positive clauses, and how far that is from ${found.include_from}, where literals are included`),
    list(found.strongest_negated, "Strongest negations", "Words whose absence speaks for the word"),
    list(found.weakest, "Weakest literals", "Pushed the farthest away from being included"));
}

const signed = (distance) => `${distance > 0 ? "+" : ""}${decimal(distance, 1)}`;
