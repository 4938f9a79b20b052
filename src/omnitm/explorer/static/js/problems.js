// Empty states and errors: what is wrong, and what to do.

import { ask } from "./api.js";
import { h, wordText } from "./dom.js";
import { address } from "./state.js";

export function problemCard(problem, state, field = "word") {
  const links = problem.near?.length
    ? [h("p", { class: "spaced" }, "Did you mean:"), h("div", { class: "words left" }, problem.near.map((word) =>
      h("a", { href: address({ ...state, [field]: word }), "data-link": true }, wordText(word))))]
    : [];
  const [message] = problem.message.split(/; ask for them together|; spelled like it/); // what follows is for terminals
  const title = problem.word?.trim() ? ["No page for “", wordText(shortened(problem.word)), "”"] : "That did not work";
  return h("section", { class: "card problem", role: "alert", "data-problem": String(problem.status ?? "") },
    h("h1", { class: "as-h2" }, title), h("p", {}, `${message}.`), links, problem.message.includes("; ask for them together") ? parts(problem.word) : null);
}

const shortened = (text) => (text.length > 60 ? `${text.slice(0, 60)} …` : text);

// Several words that were typed as one: each of them, and the two compared.
function parts(typed) {
  const box = h("div", { class: "words left" });
  ask("complete", { q: typed, k: 6 }).then(({ words }) => {
    const names = words.map((row) => row.word);
    box.replaceChildren(...names.map((word) => h("a", { href: address({ view: "word", word }), "data-link": true }, wordText(word))),
      ...(names.length === 2 ? [h("a", { href: address({ view: "compare", word: names[0], other: names[1] }), "data-link": true }, `Compare ${names.join(" and ")}`)] : []));
  }).catch(() => box.remove());
  return box;
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
