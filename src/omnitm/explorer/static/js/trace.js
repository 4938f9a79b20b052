import { h } from "./dom.js";

export function traceView() {
  return h("p", {}, "");
}
