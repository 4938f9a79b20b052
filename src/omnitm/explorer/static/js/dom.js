// Elements are built from data; text is always text, never markup.

export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "style") Object.assign(element.style, value);
    else if (name === "data") Object.assign(element.dataset, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// Drawings have names of their own.
export function svg(tag, properties = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(properties)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

export const wordText = (word) => h("bdi", {}, word);
export const themeName = (name) => name.split(" ").join(", "); // its best words

export function percent(share) {
  if (share === null) return "–";
  const value = 100 * share;
  return `${value >= 10 || value === 0 ? value.toFixed(0) : value >= 0.1 ? value.toFixed(1) : "< 0.1"}\u00a0%`;
}

export const count = (number) => number.toLocaleString("en-US");

export function decimal(number, digits = 3) {
  return number.toFixed(digits).replace("-", "−");
}

export function scoreText(number, metric) {
  if (Number.isInteger(number)) return count(number).replace("-", "−");
  return metric && metric.startsWith("association") ? decimal(number, 1) : decimal(number);
}

// A part as a percentage of the whole, with two digits that say something.
export function shareText(part, whole) {
  const value = (100 * part) / (Math.abs(whole) || 1);
  if (value === 0) return "0\u00a0%";
  const digits = Math.min(Math.max(1 - Math.floor(Math.log10(Math.abs(value))), 0), 6);
  return `${decimal(value, digits)}\u00a0%`;
}

// A coordinate as people say it: a word, or where a word stands.
export function featureText(feature) {
  const { place, word } = parted(feature);
  return place ? [h("span", { class: "soft small" }, `${place} `), wordText(word)] : wordText(word);
}

export function parted(feature) {
  const forms = [[/^_ & (.+)$/, "joined with"], [/^(.+) \* _$/, "two after"], [/^(.+) _$/, "after"], [/^_ \* (.+)$/, "two before"], [/^_ (.+)$/, "before"]];
  for (const [form, place] of forms) {
    const found = form.exec(feature);
    if (found) return { place, word: found[1] };
  }
  return { place: "", word: feature };
}

export function loading(text) {
  return h("p", { class: "loading", role: "status" }, text);
}

export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

let counted = "documents"; // what words are counted in, or "passages" of documents

export function countIn(unit) {
  counted = unit;
}

export const units = () => counted;

export const unitsTitle = () => counted[0].toUpperCase() + counted.slice(1);

export const oneUnit = () => counted.slice(0, -1);

export const inUnits = (number) => plural(number, oneUnit());

export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}
