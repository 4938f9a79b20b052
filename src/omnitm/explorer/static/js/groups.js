// How the use of a word differs between two groups of documents, and which words differ most.

import { ask, tell } from "./api.js";
import { count, h, loading, parted, plural, svg, wordText } from "./dom.js";
import { problemCard } from "./problems.js";
import { address, go } from "./state.js";

const LOOK_AGAIN = 1000; // milliseconds between looks at work in the background
const SHOWN = 100; // words of the list at first

export function groupsView(state, model, signal) {
  if (!model.groupings.length) return problemCard({ message: "The documents of this index are in no groups. In a terminal: omnitm group --help" }, state);
  const chosen = completed(state, model);
  const body = h("div", { class: "result" });
  if (state.word) showWord(body, state, chosen, signal);
  else showChanges(body, state, chosen, signal);
  return h("div", {}, form(state, chosen, model), body);
}

function completed(state, model) {
  const grouping = model.groupings.find((one) => one.name === state.by) ?? model.groupings[0];
  return { by: state.by ?? grouping.name, first: state.first ?? grouping.usual[0], second: state.second ?? grouping.usual[1] };
}

function form(state, chosen, model) {
  const grouping = model.groupings.find((one) => one.name === chosen.by) ?? model.groupings[0];
  const change = (changes) => go({ view: "groups", word: state.word, ...chosen, ...changes });
  const named = grouping.labels.map(([label]) => label);
  const choice = (name, label, value, others) => {
    const listed = [...others.map((text) => [text, null]), ...grouping.labels];
    const options = listed.some(([text]) => text === value) ? listed : [[value, null], ...listed];
    return h("div", {}, h("label", { for: `groups-${name}` }, label), h("select", { id: `groups-${name}`, onchange: (event) => change({ [name]: event.target.value }) },
      options.map(([text, size]) => h("option", { value: text, selected: text === value }, size === null ? text : `${text} (${plural(size, "document")})`))));
  };
  const by = h("select", { id: "groups-by", onchange: (event) => go({ view: "groups", word: state.word, by: event.target.value }) },
    model.groupings.map((one) => h("option", { value: one.name, selected: one.name === chosen.by }, one.name)));
  const canSwap = named.includes(chosen.first);
  return h("form", { class: "pair-form", onsubmit: (event) => event.preventDefault() },
    choice("first", "First group", chosen.first, [grouping.all_others]),
    h("button", { type: "button", title: "Swap the groups", "aria-label": "Swap the groups", disabled: !canSwap, onclick: () => change({ first: chosen.second, second: chosen.first }) }, "⇄"),
    choice("second", "Second group", chosen.second, []),
    h("div", {}, h("label", { for: "groups-by" }, "Grouped by"), by),
    grouping.n_labels > named.length ? h("p", { class: "small soft" }, `The ${count(named.length)} largest of ${count(grouping.n_labels)} groups can be chosen here.`) : null);
}

// Asks again as long as there is work to wait for.
function poll(body, ask_, show, state, signal) {
  const look = async () => {
    try {
      const found = await ask_();
      show(found, look);
      if (found.work && !found.work.problem) setTimeout(() => { if (!signal.aborted && body.isConnected) look(); }, LOOK_AGAIN);
    } catch (problem) {
      if (problem.name !== "AbortError") body.replaceChildren(problemCard(problem, state));
    }
  };
  look();
}

function working({ stage, done, left }) {
  const time = left === null ? "" : left > 90 ? `, about ${plural(Math.round(left / 60), "minute")} left` : `, about ${plural(Math.max(Math.round(left), 1), "second")} left`;
  const text = h("p", { role: "status" }, `${stage[0].toUpperCase()}${stage.slice(1)} …${time}`);
  return [text, h("progress", { max: 1, value: done, "aria-label": "Progress" })];
}

function showWord(body, state, chosen, signal) {
  body.replaceChildren(loading(`Comparing ${state.word} …`));
  poll(body, () => ask("change", { ...chosen, word: state.word }, signal), ({ found, work }) => {
    if (!found) return body.replaceChildren(h("section", { class: "card" }, h("h1", {}, wordText(state.word)), working(work)));
    if (found.word !== state.word) return go({ view: "groups", ...chosen, word: found.word }, true);
    return body.replaceChildren(...wordChange(found, chosen));
  }, { ...state, ...chosen }, signal);
}

function wordChange(found, chosen) {
  const [first, second] = found.sides;
  const sure = found.is_sure ? "Its use differs between the groups" : "No difference of its use can be shown";
  const chance = `${found.chance}: how often ${count(found.n_permutations)} shuffled groups differ as much`;
  const rate = found.rate ? `; ${found.rate}: of words with this q or less, the share expected by chance` : "";
  return [
    h("div", { class: "head" }, h("div", {}, h("h1", {}, wordText(found.word), ` by ${found.by}: `, wordText(first.name), " and ", wordText(second.name)),
      h("p", {}, `${sure} (${chance}${rate}). `, h("span", { class: "soft" }, `Distance ${found.distance}: 0 is as shuffled groups, 2 the most there can be.`))),
    h("div", { class: "actions" }, h("a", { class: "button", href: address({ view: "groups", ...chosen }), "data-link": true }, "All words that differ"),
      h("a", { class: "button", href: address({ view: "word", word: found.word }), "data-link": true }, "The word"))),
    h("div", { class: "grid wide-cards" }, sideCard(found, 0), sideCard(found, 1)),
    found.trajectory ? trajectoryCard(found) : "",
    h("p", { class: "soft small spaced" }, "A bar is the share of the whole difference of a word in the same documents, or of what stands beside the word (… is any word). What is more frequent in a group anyway is no change. ",
      "Documents: how many of the word's documents have it, first → second group. Times: how many times as many that is as of the documents without the word."),
  ];
}

function sideCard(found, side) {
  const { name, n_documents: number, n_compared: compared, changes, texts } = found.sides[side];
  const some = compared < number ? `, ${count(compared)} of them compared` : "";
  return h("section", { class: "card", data: { side: side ? "second" : "first" } },
    h("h2", {}, "More in “", wordText(name), "”"), h("p", { class: "soft small" }, `${plural(number, "document")} with ${found.word}${some}`),
    changes.length ? h("ol", { class: "bars changes" }, h("li", { class: "small soft", "aria-hidden": "true" }, h("span"), h("span"), h("span", { class: "number" }, "documents"), h("span", { class: "number" }, "times")),
      changes.map((change) => h("li", { title: change.share },
      h("a", { class: "name", href: address({ view: "word", word: parted(change.name).word }), "data-link": true, title: change.name }, wordText(change.phrase)),
      h("span", { class: "track" }, h("span", { class: `bar${side ? "" : " against"}`, style: { width: `${(100 * change.length).toFixed(1)}%` } })),
      h("span", { class: "number small" }, change.documents), h("span", { class: "number small soft" }, change.lifts))))
      : h("p", { class: "soft" }, "There is nothing that it goes with more here, beyond what shuffled groups would give as well."),
    texts.length ? h("h3", { class: "spaced" }, "Sentences") : null,
    texts.map((text) => h("article", { class: "document" }, h("span", { class: "small soft" }, [`document ${count(text.number)}`, ...(text.phrase ? [text.phrase] : [])].join(", ")),
      text.pieces.map((piece, k) => (k % 2 ? h("mark", {}, wordText(piece)) : piece)))));
}

function trajectoryCard(found) {
  const { box, lines, ticks, steps } = found.trajectory;
  const kind = (line) => (line.is_gained ? "gained" : "lost");
  const label = `How far features stand out in ${found.word} by ${found.by}: ${lines.map((line) => line.phrase).join(", ")}`;
  return h("section", { class: "card spaced", data: { part: "trajectory" } }, h("h2", {}, `By ${found.by}`),
    h("p", { class: "soft small" }, "How far each feature stands out in the word's profile, trained on equally many documents of every group"),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Picture" }, svg("svg", { viewBox: `0 0 ${box[0]} ${box[1]}`, class: "trajectory", role: "img", "aria-label": label },
      ...lines.flatMap((line) => [svg("polyline", { class: kind(line), points: line.points.map((point) => point.join(",")).join(" ") }),
        svg("text", { class: kind(line), x: line.label[0], y: line.label[1] }, line.phrase)]),
      ...ticks.map((tick) => svg("text", { x: tick.x, y: tick.y, "text-anchor": "middle" }, tick.text)))),
    h("details", { class: "small" }, h("summary", {}, "As a table"), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Table by ${found.by}` }, h("table", { class: "table" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, found.by), h("th", { class: "number", scope: "col" }, "documents"), lines.map((line) => h("th", { class: "number", scope: "col" }, wordText(line.phrase))))),
      h("tbody", {}, steps.map((step) => h("tr", {}, h("th", { scope: "row" }, step.group), h("td", { class: "number" }, count(step.n_documents)), step.values.map((value) => h("td", { class: "number" }, value.replace("-", "−"))))))))));
}

function showChanges(body, state, chosen, signal) {
  body.replaceChildren(loading("Looking …"));
  let shown = SHOWN;
  poll(body, () => ask("changes", { ...chosen, k: shown }, signal), (found, look) => {
    const start = async () => {
      await tell("changes", chosen, signal);
      look();
    };
    const more = () => { shown = found.n_words; look(); };
    body.replaceChildren(h("div", { class: "head" }, h("div", {}, h("h1", {}, `How words differ by ${found.by}: `, wordText(found.first), " and ", wordText(found.second)),
      h("p", { class: "soft" }, "Search a word above to see what it goes with here and there."))),
    begin(found, start), found.n_words ? ranked(found, chosen, more) : "");
  }, { ...state, ...chosen }, signal);
}

function begin(found, start) {
  if (found.work && !found.work.problem) return h("section", { class: "card" }, working(found.work));
  if (found.n_words >= found.n_wanted && found.n_words) return "";
  return h("section", { class: "card" }, found.work?.problem ? h("p", { role: "alert" }, found.work.problem) : null,
    found.n_wanted ? null : h("p", {}, "No word is in enough documents of both groups."),
    h("p", { hidden: !found.n_wanted }, found.n_words ? `${plural(found.n_words, "word")} have been compared so far.` : "Which words differ most has not been computed yet for these groups.",
      ` The ${count(found.n_wanted)} most frequent words take some minutes, once; they are kept beside the model.`),
    h("p", { class: "spaced", hidden: !found.n_wanted }, h("button", { class: "primary", type: "button", onclick: start }, found.n_words ? "Compare the rest" : "Find the words that differ most")));
}

const preview = (phrases) => (phrases.length ? phrases.map((phrase, k) => [k ? ", " : "", wordText(phrase)]) : "–");

function ranked(found, chosen, more) {
  const [first, second] = [found.first, found.second];
  const most = Math.max(0.01, ...found.words.map((row) => Number(row.distance)));
  return h("section", { class: "card spaced", data: { part: "changes" } }, h("h2", {}, "Words that differ, the surest first"),
    h("p", { class: "soft small" }, `${count(found.n_sure)} of ${plural(found.n_words, "word")} differ (q ≤ 0.05: at most one in twenty of them by chance). A bar is how far: the distance, from 0 (as shuffled groups) to 2 at the most.`),
    h("ol", { class: "bars ranked" }, found.words.map((row) => h("li", { class: row.is_sure ? "" : "soft" },
      h("a", { class: "name", href: address({ view: "groups", ...chosen, word: row.word }), "data-link": true }, wordText(row.word)),
      h("span", { class: "track" }, h("span", { class: "bar", style: { width: `${Math.min(Math.max((100 * Number(row.distance)) / most, 0), 100)}%` } })),
      h("span", { class: "number small" }, row.distance), h("span", { class: "number small soft" }, row.rate),
      h("span", { class: "small previews" }, h("span", { class: "lost-text" }, `${first}: `), preview(row.previews[0]), h("span", { class: "gained-text" }, ` ${second}: `), preview(row.previews[1]))))),
    found.words.length < found.n_words ? h("button", { class: "quiet more", type: "button", onclick: more }, `Show all ${count(found.n_words)}`) : null);
}
