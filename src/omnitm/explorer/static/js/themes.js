// Themes: what the words of the model are about.

import { ask, tell } from "./api.js";
import { barList } from "./bars.js";
import { count, h, loading, percent, themeName, unitsTitle, wordText } from "./dom.js";
import { documentText } from "./evidence.js";
import { problemCard } from "./problems.js";
import { address } from "./state.js";

const LOOK_AGAIN = 1000; // milliseconds between looks at the work on themes
const FOUND_AT_ONCE = 50000; // words; the themes of more take more than a minute, and are only looked for when asked

export function themesView(state, model, signal) {
  const body = h("div", {}, loading("Looking …"));
  const show = async () => {
    try {
      if (state.theme) body.replaceChildren(...oneTheme(await ask("theme", { theme: Number(state.theme) - 1, k: 20 }, signal)));
      else body.replaceChildren(...allThemes(await ask("themes", {}, signal), model, show, body, signal));
    } catch (problem) {
      if (problem.name !== "AbortError") body.replaceChildren(problemCard(problem, state));
    }
  };
  show();
  return body;
}

function allThemes(found, model, show, body, signal) {
  const title = h("div", { class: "head" }, h("h1", {}, "Themes"));
  if (!model.has_themes) return [title, h("p", { class: "card" }, "This model has too few words for themes.")];
  if (!found.ready) return [title, work(found.work, model, show, body, signal)];
  const most = Math.max(...found.themes.map((row) => row.share));
  return [h("div", { class: "head" }, h("div", {}, h("h1", {}, "Themes"),
    h("p", { class: "soft" }, `What the words of this model are about, as ${count(found.themes.length)} patterns of features; the most used first.`))),
    h("ol", { class: "themes card" }, found.themes.map((row) => h("li", {},
      h("a", { href: address({ view: "themes", theme: String(row.theme + 1) }), "data-link": true }, wordText(themeName(row.name))),
      h("span", { class: "track" }, h("span", { class: "bar", style: { width: `${(100 * row.share) / most}%` } })),
      h("span", { class: "number small" }, percent(row.share)))))];
}

function work(state, model, show, body, signal) {
  const start = async () => {
    await tell("themes", {}, signal);
    show();
  };
  if (!state && model.n_words <= FOUND_AT_ONCE) {
    start();
    return loading("Finding the themes …");
  }
  if (state && !state.problem) {
    setTimeout(() => { if (!signal.aborted && body.isConnected) show(); }, LOOK_AGAIN);
    return h("section", { class: "card" }, h("p", { role: "status" }, `Themes are being found: ${state.stage || "starting"} …`), h("progress", { max: 1, value: state.done, "aria-label": "Progress of the themes" }));
  }
  return h("section", { class: "card" },
    state?.problem ? h("p", { role: "alert" }, state.problem) : null,
    h("p", {}, "The themes of this model have not been found yet. That takes some minutes, once; they are kept beside the model. In a terminal: ", h("code", {}, "omnitm themes MODEL")),
    h("p", { class: "spaced" }, h("button", { class: "primary", type: "button", onclick: start }, "Find the themes")));
}

function oneTheme(found) {
  const list = (title, text, rows) => h("section", { class: "card" }, h("h2", {}, title), h("p", { class: "soft small" }, text), barList(rows, { digits: 2 }));
  return [
    h("div", { class: "head" }, h("div", {}, h("p", { class: "soft small" }, h("a", { href: address({ view: "themes" }), "data-link": true }, "All themes"), ` · number ${found.theme + 1} of ${count(found.n_themes)}`),
      h("h1", {}, wordText(themeName(found.name))), h("p", { class: "soft" }, `${percent(found.share)} of what stands out in all words`))),
    h("div", { class: "grid wide-cards" },
      list("Words that have most of it", "How much of the theme is in the word's vector", found.words),
      list("Features that make it", "What these words lean on", found.features)),
    found.documents.length ? h("section", { class: "card spaced", data: { part: "documents" } }, h("h2", {}, `${unitsTitle()} with many of its words`), found.documents.map(documentText)) : "",
  ];
}
