// A text field that completes words, with the keys that such fields have everywhere.

import { ask } from "./api.js";
import { h } from "./dom.js";

let serial = 0;

export function combobox({ label, placeholder, value = "", choose, onlyTrained = true, name = "word" }) {
  const list = `choices-${(serial += 1)}`;
  const input = h("input", {
    type: "search", name, role: "combobox", "aria-expanded": "false", "aria-controls": list, "aria-autocomplete": "list",
    "aria-label": label, placeholder, autocomplete: "off", autocapitalize: "off", spellcheck: "false", value,
  });
  input.value = value;
  const options = h("ul", { role: "listbox", id: list, "aria-label": label, hidden: true });
  const element = h("div", { class: "combobox" }, input, options);
  let words = [];
  let selected = -1;
  let asked = 0;
  let answered = ""; // the text that the words are suggestions for

  const close = () => {
    asked += 1;
    options.hidden = true;
    selected = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const take = (word) => {
    close();
    input.value = word;
    if (word) choose(word);
  };
  const select = (position) => {
    selected = position;
    [...options.querySelectorAll("[role=option]")].forEach((option, k) => {
      option.setAttribute("aria-selected", String(k === selected));
      if (k === selected) {
        option.scrollIntoView({ block: "nearest" });
        input.setAttribute("aria-activedescendant", option.id);
      }
    });
  };
  const show = (found, text) => {
    answered = text;
    words = found.words.filter((row) => row.trained || !onlyTrained || found.words.length < 4);
    options.replaceChildren(
      ...notes(found, text, words.length).map((note) => h("li", { class: "note", role: "presentation" }, note)),
      ...words.map((row, k) => h("li", {
        role: "option", id: `${list}-${k}`, "aria-selected": "false",
        onpointerdown: (event) => { event.preventDefault(); take(row.word); },
      }, h("bdi", {}, row.word), row.trained ? null : h("span", { class: "soft small" }, "not trained"))),
    );
    options.hidden = false;
    selected = -1;
    input.setAttribute("aria-expanded", "true");
  };
  // Enter takes what is marked, else the word as it is typed if there is such a word, else the first suggestion.
  const enter = () => {
    const typed = input.value.trim();
    if (selected >= 0) return words[selected].word;
    const isListed = words.some((row) => row.word === typed);
    return options.hidden || isListed || !words.length ? typed : words[0].word;
  };
  const complete = async () => {
    const mine = (asked += 1);
    const text = input.value.trim();
    if (!text) return close();
    try {
      const found = await ask("complete", { q: text, k: 12 });
      if (mine === asked) show(found, text);
    } catch {
      if (mine === asked) close();
    }
    return undefined;
  };
  input.addEventListener("input", complete);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (options.hidden) return void complete();
      const step = event.key === "ArrowDown" ? 1 : -1;
      select((selected + step + words.length) % Math.max(words.length, 1));
    } else if (event.key === "Enter") {
      event.preventDefault();
      // who types fast is not given suggestions for half of the word
      if (selected < 0 && input.value.trim() && answered !== input.value.trim()) complete().then(() => take(enter()));
      else take(enter());
    } else if (event.key === "Escape") {
      if (options.hidden) input.blur();
      close();
    }
    return undefined;
  });
  return { element, input };
}

// What is to be said before the suggestions.
function notes(found, text, number) {
  const stop = found.is_stop_word ? [`“${text}” is a stop word: it was left out of the text.`] : [];
  if (!number) return [...stop, "No such word in this model."];
  if (found.is_near) return [...stop, "No word begins like this. Similar spellings:"];
  return stop.length ? [...stop, "Words that begin like it:"] : [];
}
