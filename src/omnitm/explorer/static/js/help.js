// What the keys do.

import { h } from "./dom.js";
import { openDialog } from "./evidence.js";
import { VIEWS } from "./state.js";

const keys = () => [
  ["/", "search a word"],
  [`1 – ${VIEWS.length}`, VIEWS.map((view) => (view === "groups" ? "compare groups" : view)).join(", ")],
  ["↑ ↓ Enter", "choose in a list of completions"],
  ["← →", "on a state plot: name the strongest literals"],
  ["arrows, + −", "on the map: move and zoom; 0 shows all"],
  ["L", "on the map: lasso; or hold Shift and draw"],
  ["Esc", "close a dialog, end the lasso"],
];

export function showHelp() {
  openDialog(document.getElementById("help"), "Keys", [
    h("div", { class: "keys" }, keys().flatMap(([key, text]) => [h("kbd", {}, key), h("span", {}, text)])),
    h("p", { class: "soft spaced" }, "What you see is in the address: copy it to share it, or go back with the browser."),
  ]);
}
