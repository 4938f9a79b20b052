// Empty states and errors: what is wrong, and what to do.

import { h } from "./dom.js";
import { address } from "./state.js";

export function problemCard(problem, state, field = "word") {
  const links = problem.near?.length
    ? [h("p", { class: "spaced" }, "Spelled alike:"), h("div", { class: "words left" }, problem.near.map((word) =>
      h("a", { href: address({ ...state, [field]: word }), "data-link": true }, word)))]
    : [];
  return h("section", { class: "card problem", role: "alert", "data-problem": String(problem.status ?? "") },
    h("h1", { class: "as-h2" }, problem.word ? `“${problem.word}” is not here` : "That did not work"),
    h("p", {}, problem.message), links);
}

export function chooseWord(model, state, title, text) {
  return h("section", { class: "empty" },
    h("h1", {}, title),
    h("p", { class: "soft" }, text),
    h("div", { class: "words" }, model.examples.map((word) =>
      h("a", { href: address({ ...state, word }), "data-link": true }, word))));
}

export function needsIndex(model) {
  return h("section", { class: "card problem", "data-problem": "index" },
    h("h1", { class: "as-h2" }, "This needs the index that the model was trained from"),
    h("p", {}, "It is not there. Stop the explorer and start it again with the index:"),
    h("p", { class: "spaced" }, h("code", {}, `omnitm explore ${model.path || "MODEL"} --index INDEX`)),
    h("p", { class: "spaced soft" }, "Neighbours, rows, comparison by cosine and the map work without it."));
}
