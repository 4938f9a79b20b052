// Documents with the words marked, in a dialog.

import { tell } from "./api.js";
import { count, decimal, h, inUnits, loading, oneUnit, units, unitsTitle, wordText } from "./dom.js";

export function openDialog(dialog, title, body) {
  const name = `${dialog.id}-title`;
  dialog.replaceChildren(
    h("div", { class: "dialog-head" }, h("h2", { id: name }, title),
      h("button", { class: "quiet", type: "button", "aria-label": "Close", onclick: () => dialog.close() }, "✕")),
    h("div", { class: "dialog-body" }, body));
  if (!dialog.open) dialog.showModal();
  dialog.onclick = (event) => { if (event.target === dialog) dialog.close(); };
}

const dialog = () => document.getElementById("evidence");

export async function showTogether(words) {
  const title = `${unitsTitle()} with ${words.join(" and ")}`;
  openDialog(dialog(), title, loading(`Reading ${units()} …`));
  try {
    const found = await tell("evidence", { words, k: 8 });
    openDialog(dialog(), title, together(found));
  } catch (problem) {
    openDialog(dialog(), title, h("p", { role: "alert" }, problem.message));
  }
}

function together(found) {
  const expected = found.words.length > 1
    ? `; ${found.expected >= 10 ? count(Math.round(found.expected)) : decimal(found.expected, 1)} by chance` : "";
  return [
    h("p", { class: "soft" }, `${inUnits(found.count)}${expected}. `,
      found.words.map((word, k) => `${word}: ${count(found.frequencies[k])}`).join(", "), "."),
    found.documents.length ? found.documents.map(documentText)
      : h("p", { class: "spaced" }, `No ${oneUnit()} has all of these words. They are similar through other words.`),
  ];
}

export async function showMatches(word, present, absent) {
  const title = `${unitsTitle()} that satisfy the rule`;
  openDialog(dialog(), title, loading(`Reading ${units()} …`));
  try {
    const found = await tell("matches", { word, present, absent, documents: 6 });
    openDialog(dialog(), title, [
      group(`With ${word} (${count(found.hits)})`, found.examples, "None of them has the word."),
      group(`Without ${word} (${count(found.support - found.hits)})`, found.counterexamples, "All of them have the word."),
    ]);
  } catch (problem) {
    openDialog(dialog(), title, h("p", { role: "alert" }, problem.message));
  }
}

function group(title, documents, none) {
  return [h("h3", { class: "spaced" }, title), documents.length ? documents.map(documentText) : h("p", { class: "soft" }, none)];
}

export function documentText(document) {
  return h("article", { class: "document" },
    h("span", { class: "small soft" }, `document ${count(document.number)}`,
      document.is_text ? "" : " · the text is gone or has changed; its words in the index:"),
    document.cut[0] ? "… " : "",
    document.pieces.map((piece) => (piece.word === null ? piece.text : h("mark", {}, wordText(piece.text)))),
    document.cut[1] ? " …" : "");
}
