// One word, as one story: what it is like, what it means, what it is about, and what that rests on.

import { ask, tell } from "./api.js";
import { barList } from "./bars.js";
import { count, decimal, h, inUnits, loading, percent, plural, themeName, units, wordText } from "./dom.js";
import { documentText, showTogether } from "./evidence.js";
import { chooseWord, problemCard } from "./problems.js";
import { address, go, replace, wordAddress } from "./state.js";

const SHOWN = 20;
const LOOK_AGAIN = 1000; // milliseconds between looks at the work on themes
const FEATURES_OF_A_SENSE = 7;
const METRICS = {
  similarity: ["Similar", (word) => `Both together: words that share topics with ${word}, or stand where it stands`],
  alike: ["Alike", (word) => `What ${word} is like: words that can stand in its place`],
  related: ["Related", (word) => `What ${word} goes with: words that share its topics`],
  association: ["Association", (word) => `How much the machine of ${word} leans on a word`],
  "association-symmetric": ["Association, both ways", (word) => `${word} leans on the word, and the word on ${word}`],
  cosine: ["Cosine", (word) => `Words whose whole row, frequent words included, is most like that of ${word}`],
};
const FIRST = ["similarity", "alike", "related"];
const OTHERS = ["association", "cosine"];

export const metricName = (metric) => METRICS[metric]?.[0] ?? metric;

export function wordView(state, model, signal) {
  if (!state.word) {
    const text = `${count(model.n_words)} words, each a row of ${count(model.n_features)} whole numbers, one for every word of `
      + "the vocabulary. Search a word, or start with one of these.";
    return chooseWord(model, { ...state, view: undefined }, "Every number has a name", text);
  }
  const word = state.word;
  const facts = h("p", { class: "soft" }, "\u00a0");
  const row = rowCard(word, signal, facts, model);
  const isWhole = model.has_index && !model.is_stored;
  const story = h("div", { class: "story" },
    model.default_metric === "similarity" && (!model.is_stored || model.has_senses) ? sensesCard(word, signal) : null,
    model.has_themes ? themesCard(word, signal) : null,
    isWhole || model.has_rules ? rulesCard(word, signal, model) : null,
    isWhole ? sentencesCard(word, signal) : null);
  const numbers = h("div", { class: "numbers" }, model.default_metric === "similarity" ? standingOutCard(word, signal) : null, row.element);
  const element = h("div", {},
    h("div", { class: "head" }, h("div", {}, h("h1", {}, h("bdi", {}, word)), facts), actions(word, model)),
    h("div", { class: "word-layout" }, neighboursCard(state, model, signal), story, numbers));
  row.ready.catch((problem) => {
    if (problem.status !== 404) return;
    element.replaceChildren(problemCard(problem, state));
    if (!model.is_stored) showInferred(element, word, model, signal);
  });
  return element;
}

// A word that was not trained: it is trained now if the text has it, or put together from words that are known.
function showInferred(element, word, model, signal) {
  ask("inferred", { word, k: SHOWN }, signal).then((found) => {
    const rows = found.neighbours.map((row) => ({ ...row, value: row.score, compared: false }));
    element.append(h("section", { class: "card", data: { part: "inferred" } }, h("h2", {}, "Its neighbours all the same"),
      h("p", { class: "soft small" }, h("bdi", {}, found.word), ` was ${found.how}.`),
      barList(rows, { word, metric: found.metric, digits: 1 })));
  }).catch(() => {}); // nothing can be said about it, as the card above says
}

function actions(word, model) {
  const link = (view, text) => h("a", { class: "button", href: address({ view, word }), "data-link": true }, text);
  return h("div", { class: "actions" }, model.comparable.length ? link("compare", "Compare") : null,
    model.groupings.length ? link("groups", "Between groups") : null, link("map", "On the map"));
}

// A card that is filled when the answer comes; `show` returns nothing if there is nothing to say.
function card(name, title, explain, question, show) {
  const body = h("div", {}, loading("Looking …"));
  const element = h("section", { class: "card", data: { part: name } }, h("h2", {}, title), explain ? h("p", { class: "soft small" }, explain) : null, body);
  question.then((found) => {
    const content = show(found, element);
    if (content) body.replaceChildren(...[content].flat());
    else element.remove();
  }).catch((problem) => {
    if (problem.status === 404) element.remove();
    else if (problem.name !== "AbortError") body.replaceChildren(h("p", { role: "alert" }, problem.message));
  });
  return element;
}

// One list of neighbours; a switch chooses what near means.
function neighboursCard(state, model, signal) {
  const word = state.word;
  const has = (name) => model.metrics.includes(name);
  let metric = has(state.metric) ? state.metric : model.default_metric;
  const explain = h("p", { class: "soft small" });
  const forms = h("p", { class: "small", hidden: true });
  const body = h("div", { "aria-live": "polite" });
  const section = h("section", { class: "card", data: { part: "neighbours" } });
  const button = (name) => h("button", { type: "button", class: "quiet", data: { choose: name }, onclick: () => choose(name) }, METRICS[name][0]);
  const buttons = [...FIRST, ...(model.is_stored ? [] : OTHERS)].filter(has).map(button);
  const fill = async (k) => {
    const asked = metric;
    body.replaceChildren(loading("Looking …"));
    try {
      const found = await ask("neighbours", { word, metric: asked, k }, signal);
      if (asked !== metric) return;
      const rows = found.neighbours.map((row) => ({ ...row, value: row.score }));
      const compareBy = model.comparable.includes(asked) && !model.by_clauses.includes(asked) ? asked : undefined;
      const hasPercentiles = found.neighbours.some((row) => row.percentile !== null);
      forms.hidden = !found.forms.length;
      forms.textContent = `Forms of ${word}: ${found.forms.join(", ")}`;
      body.replaceChildren(rows.length ? barList(rows, { word, metric: asked, compareBy, digits: hasPercentiles ? 1 : undefined }) : h("p", { class: "soft" }, "There is no other word."),
        hasPercentiles ? h("p", { class: "small soft" }, "Nearer than so many of all pairs of words. In lists, rare words count less than in a comparison of two.") : "",
        k === SHOWN && rows.length === k && !model.is_stored ? h("button", { class: "quiet more", type: "button", onclick: () => fill(100) }, "Show 100") : "");
    } catch (problem) {
      if (problem.name !== "AbortError") body.replaceChildren(h("p", { role: "alert" }, problem.message));
    }
  };
  const choose = (name) => {
    metric = name;
    buttons.forEach((one) => one.setAttribute("aria-pressed", String(one.dataset.choose === metric)));
    explain.textContent = METRICS[metric][1](word);
    replace({ metric: metric === model.default_metric ? undefined : metric });
    fill(SHOWN);
  };
  section.append(h("h2", {}, "Its neighbours"), h("div", { class: "switch", role: "group", "aria-label": "What near means" }, buttons), explain, forms, body);
  choose(metric);
  return section;
}

function sensesCard(word, signal) {
  return card("senses", "What it means here", null, ask("senses", { word }, signal), (found) => {
    if (!found.senses.some((sense) => sense.features.length)) return null;
    const words = (pairs, number) => pairs.slice(0, number).map(([name], k) => [k ? ", " : "", h("a", { href: wordAddress(name), "data-link": true }, wordText(name))]);
    const order = [...found.senses].sort((a, b) => (b.share ?? 0) - (a.share ?? 0));
    const list = order.map((sense) => h("li", {},
      h("p", {}, sense.share === null || found.senses.length === 1 ? null : h("b", {}, `${percent(sense.share)} `), words(sense.features, FEATURES_OF_A_SENSE)),
      sense.neighbours.length ? h("p", { class: "small soft" }, "near ", words(sense.neighbours, 5)) : null,
      sense.documents.map(documentText)));
    const text = found.senses.length === 1
      ? `One sense: all ${units()} with ${word} have something in common.`
      : `${found.senses.length} groups of ${units()} that have little in common: the share of each, and the words that tell it.`;
    return [h("p", { class: "soft small" }, text), h("ol", { class: "senses" }, list)];
  });
}

function themesCard(word, signal) {
  const question = () => ask("themes", { word, k: 6 }, signal);
  const body = h("div", {});
  const show = (found) => body.replaceChildren(...themesOf(found, again, body, signal));
  const again = () => question().then(show).catch((problem) => {
    if (problem.name !== "AbortError") body.replaceChildren(h("p", { role: "alert" }, problem.message));
  });
  return card("themes", "What it is about", null, question(), (found) => {
    if (found.ready && !found.themes.length) return null;
    show(found);
    return body;
  });
}

function themesOf(found, again, body, signal) {
  if (found.work && !found.work.problem) {
    setTimeout(() => { if (!signal.aborted && body.isConnected) again(); }, LOOK_AGAIN);
    return [h("p", { class: "small", role: "status" }, `The themes of this model are being found: ${found.work.stage || "starting"} …`),
      h("progress", { max: 1, value: found.work.done, "aria-label": "Progress of the themes" })];
  }
  if (!found.ready) {
    const start = async () => {
      body.replaceChildren(loading("Finding the themes …"));
      await tell("themes", {}, signal);
      again();
    };
    return [found.work?.problem ? h("p", { role: "alert" }, found.work.problem) : "",
      h("p", { class: "soft small" }, "The themes of this model have not been found yet. That takes about a minute, once."),
      h("p", { class: "spaced" }, h("button", { type: "button", onclick: start }, "Find them"))];
  }
  const rows = found.themes.map((row) => ({ word: themeName(row.name), value: row.share, href: address({ view: "themes", theme: String(row.theme + 1) }) }));
  return [h("p", { class: "soft small" }, "Themes in its vector, and their shares; a theme is named by its best words."), barList(rows, { share: true })];
}

function rulesCard(word, signal, model) {
  return card("rules", "How documents with it are recognised", null, ask("document-rules", { word, k: 4 }, signal), (found) => {
    const all = h("p", { class: "small" }, h("a", { href: address({ view: "rules", word }), "data-link": true }, model.is_stored ? "Its rules on a page" : "All rules that its machine has learned"));
    if (!found.rules.length) return [h("p", { class: "soft small" }, `No rule of at most three words is borne out by five ${units()}.`), all];
    return [h("p", { class: "soft small" }, `Rules of at most three words that ${units()} bear out.`),
      h("ol", { class: "word-rules" }, convincing(found.rules).map((rule) => h("li", {}, literals(rule), ruleFacts(rule, word)))), all];
  });
}

export function literals(rule) {
  const chip = (name, negated) => h("a", { class: `chip${negated ? " not" : ""}`, href: wordAddress(name), "data-link": true }, wordText(name));
  const chips = [...rule.present.map((name) => chip(name, false)), ...rule.absent.map((name) => chip(name, true))];
  return h("div", { class: "chips" }, chips.flatMap((one, k) => (k ? [h("span", { class: "and" }, "AND"), one] : [one])));
}

// Counts of all documents, or passages, and of those that the rule was not chosen by.
export function ruleFacts(rule, word) {
  const [aside, chosen] = [rule.match, rule.chosen];
  const [hits, support] = [aside.hits + chosen.hits, aside.support + chosen.support];
  const lift = chosen.precision && chosen.lift ? (hits / support) * (chosen.lift / chosen.precision) : null;
  const times = lift === null ? "" : `, ${lift >= 10 ? count(Math.round(lift)) : decimal(lift, 1)} times as often as by chance`;
  return h("p", { class: "small" }, `${count(hits)} of ${inUnits(support)} with ${rule.present.length > 1 ? "all of this" : "this"} ${hits === 1 ? "has" : "have"} ${word}${times}. `,
    aside.support ? h("span", { class: "soft" }, `In ${units()} set aside: ${count(aside.hits)} of ${count(aside.support)}.`) : null);
}

// Rules that hold in documents that they were not chosen by come first.
export const convincing = (rules) => [...rules].sort((a, b) => (b.match.hits > 0) - (a.match.hits > 0));

function sentencesCard(word, signal) {
  return card("sentences", "In sentences", null, tell("evidence", { words: [word], k: 3 }, signal), (found) => [
    found.documents.map(documentText),
    found.count > found.documents.length ? h("button", { type: "button", onclick: () => showTogether([word]) }, "Read more") : "",
  ].flat());
}

function standingOutCard(word, signal) {
  return card("standing-out", "What stands out", "The coordinates of its vector that are farthest above those of other words, in deviations",
    ask("standing-out", { word, k: 10 }, signal), (found) => (found.features.length ? barList(found.features, { digits: 1 }) : null));
}

function rowCard(word, signal, facts, model) {
  const body = h("div", {}, loading("Reading the row …"));
  const ready = ask("row", { word, k: SHOWN }, signal).then((row) => {
    if (row.word !== word) go({ view: "word", word: row.word }, true);
    const share = row.n_documents === null ? "" : `in ${plural(row.n_documents, "document")}, ${percent(row.n_documents / Math.max(model.n_documents, 1))} of all`;
    facts.textContent = share || plural(row.n_positive + row.n_negative, "coordinate");
    const most = Math.max(1, ...[...row.positive, ...row.negative].map((part) => Math.abs(part.value)));
    const list = (rows) => barList(rows, { metric: "association", largest: most });
    body.replaceChildren(h("p", { class: "soft small" }, "State of “occurs” less state of “does not occur”, for each word of the vocabulary: ",
      `${count(row.n_positive)} above zero, ${count(row.n_negative)} below, ${count(row.n_zero)} zero.`),
    h("div", { class: "grid" },
      h("div", {}, h("h3", {}, "Highest"), row.positive.length ? list(row.positive.slice(0, 8)) : h("p", { class: "soft" }, "None is above zero.")),
      h("div", {}, h("h3", {}, "Lowest"), row.negative.length ? list(row.negative.slice(0, 8)) : h("p", { class: "soft" }, "None is below zero."))));
  });
  ready.catch((problem) => {
    if (problem.name !== "AbortError") body.replaceChildren(h("p", { role: "alert" }, problem.message));
  });
  return { element: h("details", { class: "card", data: { part: "row" } }, h("summary", {}, "The numbers themselves"), body), ready };
}
