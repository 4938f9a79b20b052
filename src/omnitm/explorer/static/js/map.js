import { h } from "./dom.js";

export function mapView() {
  return h("p", {}, "");
}
