// Answers from files, for a page that was exported: the same questions as to the server, as far as files can answer them.

import { Problem } from "./api.js";

const files = new Map();

async function load(name, read = (response) => response.json()) {
  if (!files.has(name)) {
    const promise = fetch(`data/${name}`).then((response) => {
      if (!response.ok) throw new Problem(response.status, { error: `data/${name} is not there; export the page again` });
      return read(response);
    });
    promise.catch(() => files.delete(name));
    files.set(name, promise);
  }
  return files.get(name);
}

export const storedBytes = () => load("map.bin", (response) => response.arrayBuffer());

// What is known of a word, typed as people do.
async function known(typed) {
  const [model, names] = await Promise.all([load("model.json"), load("words.json")]);
  const place = [typed, typed.trim().toLowerCase()].map((text) => names.words.indexOf(text)).find((found) => found >= 0);
  if (place === undefined) throw new Problem(404, { error: `${typed} is not among the ${names.words.length} words of this page`, word: typed, near: nearest(typed, names.words, 4) });
  const word = names.words[place];
  return { word, ...(await load(`words/${Math.floor(place / model.in_a_file)}.json`))[word] };
}

async function complete({ q, k }) {
  const { words } = await load("words.json");
  const text = q.trim().toLowerCase();
  const found = words.filter((word) => word.toLowerCase().startsWith(text));
  found.sort((a, b) => (b.toLowerCase() === text) - (a.toLowerCase() === text));
  const shown = found.length ? found.slice(0, k) : nearest(text, words, 6);
  return { words: shown.map((word) => ({ word, trained: true })), is_near: !found.length };
}

// Words that differ in few letters; of those, the most frequent first.
function nearest(typed, words, number) {
  const text = typed.toLowerCase().slice(0, 40);
  const near = words.filter((word) => Math.abs(word.length - text.length) <= 2).map((word, k) => [edits(text, word.toLowerCase()), k, word]);
  return near.filter(([distance]) => distance <= 2).sort((a, b) => a[0] - b[0] || a[1] - b[1]).slice(0, number).map(([, , word]) => word);
}

// Letters that are inserted, left out, replaced, or swapped with the next one.
function edits(a, b) {
  const table = Array.from({ length: a.length + 1 }, (_, i) => Array.from({ length: b.length + 1 }, (__, j) => (i && j ? 0 : i + j)));
  for (let i = 1; i <= a.length; i += 1) {
    for (let j = 1; j <= b.length; j += 1) {
      const differ = a[i - 1] === b[j - 1] ? 0 : 1;
      table[i][j] = Math.min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + differ);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) table[i][j] = Math.min(table[i][j], table[i - 2][j - 2] + 1);
    }
  }
  return table[a.length][b.length];
}

async function neighbours({ word: typed, metric, k }) {
  const [found, names] = await Promise.all([known(typed), load("words.json")]);
  const here = new Set(names.words);
  const rows = (found.neighbours[metric] ?? []).slice(0, k).map(([word, score, percentile]) => ({ word, score, percentile, trained: true, href: here.has(word) ? undefined : null, compared: word in (found.pairs ?? {}) }));
  return { word: found.word, metric, neighbours: rows, forms: found.forms };
}

async function standingOut({ word: typed, k }) {
  const [found, names] = await Promise.all([known(typed), load("words.json")]);
  const here = new Set(names.words);
  return { word: found.word, features: (found.standing_out ?? []).slice(0, k).map(([word, value]) => ({ word, value, trained: true, href: here.has(word) ? undefined : null })) };
}

async function themes({ word: typed }) {
  const all = (await load("themes.json")).themes;
  if (!typed) return { ready: true, work: null, word: "", themes: all };
  const found = await known(typed);
  return { ready: true, work: null, word: found.word, themes: found.themes.map(([theme, share]) => ({ theme, share, name: all[theme].name })) };
}

// Two words, if one is among the nearest of the other.
async function compare({ word: first, other: second }) {
  const found = await known(first);
  const other = Object.keys(found.pairs ?? {}).find((name) => [second, second.trim().toLowerCase()].includes(name));
  if (other) return { ...pairOf(found.pairs[other], false), word: found.word, other };
  const back = await known(second);
  if (found.word in (back.pairs ?? {})) return { ...pairOf(back.pairs[found.word], true), word: found.word, other: back.word };
  throw new Problem(404, { error: `${found.word} and ${back.word} are not among each other's nearest words, which this exported page compares; for other pairs explore the model itself.` });
}

function pairOf(pair, isSwapped) {
  const rows = (list) => list.map(([feature, share, first, second]) => ({ feature, share, first_value: isSwapped ? second : first, second_value: isSwapped ? first : second }));
  return { ...pair, metric: "similarity", clauses: [], together: null, contributions_for: rows(pair.contributions_for), contributions_against: rows(pair.contributions_against) };
}

async function senses({ word: typed }) {
  const found = await known(typed);
  const pairs = (names) => names.map((name) => [name, 0]);
  return { word: found.word, senses: (found.senses ?? []).map((sense) => ({ share: sense.share, features: pairs(sense.features), neighbours: pairs(sense.neighbours), documents: [] })) };
}

async function documentRules({ word: typed, k }) {
  const found = await known(typed);
  return { word: found.word, rules: (found.rules ?? []).slice(0, k) };
}

const answers = {
  compare,
  senses,
  "document-rules": documentRules,
  model: () => load("model.json"),
  invitations: async () => (await load("model.json")).invitations,
  "map/words": () => load("words.json"),
  map: async () => ({ method: "", can_compute: false, work: null }),
  theme: async ({ theme }) => (await load("themes.json")).themes[theme] ?? Promise.reject(new Problem(404, { error: "There is no such theme." })),
  row: async ({ word: typed }) => {
    const { word, row } = await known(typed);
    return { ...row, word };
  },
  "standing-out": standingOut,
  complete,
  neighbours,
  themes,
};

export async function storedAnswer(name, parameters) {
  if (!(name in answers)) throw new Problem(404, { error: "This page was exported; for this question explore the model itself." });
  return answers[name](parameters);
}
