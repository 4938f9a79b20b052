// Questions to the server; a refusal becomes a Problem with what the server said.

export class Problem extends Error {
  constructor(status, content) {
    super(content.error ?? "the server did not say what is wrong");
    this.status = status;
    this.word = content.word;
    this.near = content.near ?? [];
  }
}

async function answer(response) {
  if (response.ok) return response;
  let content = {};
  try {
    content = await response.json();
  } catch {
    content = { error: `the server answered with status ${response.status}` };
  }
  throw new Problem(response.status, content);
}

async function send(address, options) {
  let response;
  try {
    response = await fetch(address, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { error: "The server does not answer. Start it again with: omnitm explore MODEL" });
  }
  return answer(response);
}

// An exported page has its answers in files.
const isStored = "stored" in document.documentElement.dataset;

export async function ask(name, parameters = {}, signal = undefined) {
  if (isStored) return (await import("./stored.js")).storedAnswer(name, parameters);
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null);
  const response = await send(`api/${name}?${new URLSearchParams(given)}`, { signal });
  return response.json();
}

export async function tell(name, content = {}, signal = undefined) {
  const headers = { "Content-Type": "application/json" };
  const response = await send(`api/${name}`, { method: "POST", headers, body: JSON.stringify(content), signal });
  return response.json();
}

export async function bytes(name) {
  if (isStored) return (await import("./stored.js")).storedBytes();
  return (await send(`api/${name}`)).arrayBuffer();
}

const kept = new Map();

export function askOnce(name) {
  if (!kept.has(name)) {
    const promise = ask(name);
    promise.catch(() => kept.delete(name));
    kept.set(name, promise);
  }
  return kept.get(name);
}
