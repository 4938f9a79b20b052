// What the page shows is in its address, so that an address can be shared.

const NAMES = ["view", "word", "other", "metric", "theme", "clause", "literal", "negated", "colour", "camera", "groups", "by", "first", "second"];
export const VIEWS = ["map", "word", "compare", "themes", "rules", "trace"];
const usual = (state) => (state.word ? "word" : "map");

export function read() {
  const parameters = new URLSearchParams(location.search);
  const state = {};
  for (const name of NAMES) if (parameters.has(name)) state[name] = parameters.get(name);
  if (!VIEWS.includes(state.view)) state.view = usual(state);
  return state;
}

// Relative, so that the page works in any folder of a web server.
export function address(state) {
  const parameters = new URLSearchParams();
  for (const name of NAMES) {
    if (state[name] && !(name === "view" && state[name] === usual(state))) parameters.set(name, state[name]);
  }
  const text = parameters.toString();
  return text ? `?${text}` : "./";
}

export const wordAddress = (word) => address({ view: "word", word });

export function go(state, inPlace = false) {
  if (inPlace) history.replaceState(null, "", address(state));
  else history.pushState(null, "", address(state));
  dispatchEvent(new Event("statechange"));
}

export function replace(changes) {
  history.replaceState(null, "", address({ ...read(), ...changes }));
}

export function followLinks() {
  addEventListener("popstate", () => dispatchEvent(new Event("statechange")));
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[data-link]");
    if (!link || event.defaultPrevented || event.button !== 0) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    history.pushState(null, "", link.getAttribute("href"));
    dispatchEvent(new Event("statechange"));
  });
}
