// The page: header, views, keys.

import { ask } from "./api.js";
import { combobox } from "./combobox.js";
import { compareView } from "./compare.js";
import { countIn, h, loading } from "./dom.js";
import { groupsView } from "./groups.js";
import { showHelp } from "./help.js";
import { mapView } from "./map.js";
import { problemCard } from "./problems.js";
import { rulesView } from "./rules.js";
import { VIEWS, address, followLinks, go, read } from "./state.js";
import { themesView } from "./themes.js";
import { traceView } from "./trace.js";
import { wordView } from "./word.js";

const views = { map: mapView, word: wordView, compare: compareView, themes: themesView, rules: rulesView, trace: traceView, groups: groupsView };
const titles = { map: "Map", word: "Word", compare: "Compare", themes: "Themes", rules: "Rules", trace: "Trace", groups: "Compare groups" };
const main = document.getElementById("main");
let model = null;
let search = null;
let leaving = new AbortController();

function showViews(state) {
  document.getElementById("views").replaceChildren(...VIEWS.map((view, k) => h("a", {
    href: address({ view, word: state.word, other: view === "compare" ? state.other : undefined }), "data-link": true,
    "aria-current": view === state.view ? "page" : null, title: `${titles[view]} (${k + 1})`,
  }, titles[view])));
  document.querySelector("#views [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function show() {
  const state = read();
  leaving.abort();
  leaving = new AbortController();
  document.querySelectorAll("dialog[open]").forEach((dialog) => dialog.close());
  showViews(state);
  search.input.value = state.word ?? "";
  const words = [state.word, state.view === "compare" ? state.other : null].filter(Boolean).join(" and ");
  document.title = [words, titles[state.view], model.name].filter(Boolean).join(" · ");
  main.className = state.view === "map" ? "wide" : "";
  main.replaceChildren(views[state.view](state, model, leaving.signal));
  if (state.view !== "map") scrollTo(0, 0);
}

function showNotice() {
  const notice = document.getElementById("notice");
  notice.hidden = model.has_index || Boolean(model.is_stored);
  notice.textContent = "The index of this model is not there, so rules, documents and traces cannot be shown; everything else works. "
    + `Start again with: omnitm explore ${model.path || "MODEL"} --index INDEX`;
}

function keys(event) {
  const inField = event.target.closest?.("input, textarea, select");
  if (inField || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const links = [...document.querySelectorAll("#views a")];
  if (event.key === "/") {
    event.preventDefault();
    search.input.focus();
    search.input.select();
  } else if (event.key === "?") showHelp();
  else if (links[Number(event.key) - 1]) links[Number(event.key) - 1].click();
}

async function start() {
  main.replaceChildren(loading("Opening the model …"));
  const choose = (word) => {
    const state = read();
    const view = state.view === "themes" || (state.view === "map" && !state.word) ? "word" : state.view;
    const kept = { compare: ["other", "metric"], groups: ["by", "first", "second"] }[view] ?? [];
    go({ ...Object.fromEntries(kept.map((name) => [name, state[name]])), view, word });
  };
  search = combobox({ label: "Search a word", placeholder: "Search a word  ( / )", choose });
  document.getElementById("search").replaceChildren(search.element);
  document.getElementById("help-button").addEventListener("click", showHelp);
  try {
    model = await ask("model");
  } catch (problem) {
    main.replaceChildren(problemCard(problem, {}));
    return;
  }
  countIn(model.unit);
  document.querySelector(".brand span").textContent = model.name === "model" ? "omnitm" : model.name;
  if (model.views) VIEWS.splice(0, VIEWS.length, ...model.views); // an exported page has some of them
  if (model.groupings.length) VIEWS.push("groups");
  showNotice();
  followLinks();
  addEventListener("statechange", show);
  document.addEventListener("keydown", keys);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
}

start();
